/* One Orin GPU as a user-space driver: device, contexts (address space and TSGs), buffers, modules,
 * queues (which use channels), launches, waits.
 *
 * Sizes are in bytes and times in PTIMER nanoseconds unless stated otherwise. Functions that can
 * fail return 0 or -errno. A context, its buffers and modules may be used from several threads. The
 * caller must lock a queue (icd/ has a lock for each command queue) except for rt_queue_completed,
 * rt_queue_submitted and rt_queue_wait. */
#ifndef TEGRACL_RUNTIME_H
#define TEGRACL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/cubin/kernel_code.h"

struct rt_device;
struct rt_context;
struct rt_module;
struct rt_queue;

/* ---- device ------------------------------------------------------------- */

/* Properties reported by the kernel driver, and limits common to all SMs 8.7. */
struct rt_device_info {
  char chip[16];       /* "ga10b" */
  char board[64];      /* e.g. "Jetson AGX Orin 64GB", or "" if unknown */
  char identity[56];   /* unique to the board, or "" if unknown; do not publish it unhashed */
  bool emulated;       /* the software Orin */
  bool checks;         /* the software Orin's check mode, which compares accesses within a grid */
  uint32_t sm_count;   /* NUM_VSMS */
  uint32_t tpc_count;  /* physical TPCs, including disabled ones, for local memory */
  uint32_t sm_version; /* 0x807 */
  uint32_t max_clock_mhz;
  uint32_t warp_size;
  uint32_t blocks_per_sm; /* which run at the same time, at most */
  uint32_t max_threads_per_block;
  uint32_t max_block[3];
  uint32_t max_grid[3];
  uint32_t registers_per_sm;
  uint32_t shared_bytes_per_block; /* available to OpenCL */
  uint64_t l2_bytes;
  uint64_t memory_bytes; /* RAM available to buffers; the rest is left to the system */
  uint64_t max_buffer_bytes;
  uint32_t max_param_bytes; /* including the hidden block */
  uint32_t timer_step_ns;   /* 32 */
  /* Whether buffers have the same address on CPU and GPU. False if this process already uses those
   * addresses. */
  bool shared_addresses;
};

/* Opens the GPU: the real nodes if they exist, else the software Orin
 * (TEGRACL_DEVICE=board|emulator forces one). If there is none, returns -ENODEV, and
 * rt_last_message() says why. */
int rt_device_open(struct rt_device **device);
void rt_device_close(struct rt_device *device);
const struct rt_device_info *rt_device_info(const struct rt_device *device);

/* Closes the child's copies of the parent's fds after a fork, without affecting the parent. Must be
 * called in the child while it has one thread. The child must not use or destroy any of the
 * parent's objects except the device (may be NULL): rt_device_info stays valid, and
 * rt_device_reopen opens the device for the child. */
void rt_device_forked(struct rt_device *device);
int rt_device_reopen(struct rt_device *device);

/* Reads GPU time and, at the same moment, the CPU's CLOCK_MONOTONIC. */
int rt_device_time(struct rt_device *device, uint64_t *gpu_ns, uint64_t *cpu_ns);

/* Returns the number of warp instructions executed so far in *count, or -ENOTSUP on a board. */
int rt_device_warp_instructions(struct rt_device *device, uint64_t *count);

/* ---- contexts -------------------------------------------------------------- */

int rt_context_create(struct rt_device *device, struct rt_context **context);
/* Destroys the context. The caller must have destroyed everything that it created in it. */
void rt_context_destroy(struct rt_context *context);

/* Returns NULL, or a message about the GPU fault (kernel, address, nearest buffer, ...), which the
 * context owns. After a fault every queue of the context is dead and all later calls fail with
 * -EIO; a new context works. */
const char *rt_context_fault(struct rt_context *context);

/* ---- buffers -------------------------------------------------------------- */

struct rt_buffer {
  uint64_t gpu;  /* GPU virtual address */
  void *cpu;     /* CPU mapping, at the same address as gpu if possible */
  uint64_t size; /* as asked for */
};

enum rt_memory_type {
  RT_MEMORY_CACHED,        /* inner-cacheable and I/O-coherent, for data */
  RT_MEMORY_WRITE_COMBINE, /* for memory that the CPU writes once: rings, QMDs */
};

/* Allocates zeroed memory in whole pages, mapped for GPU and CPU. size must not be 0. Returns
 * -ENOMEM if memory is exhausted. */
int rt_buffer_create(struct rt_context *context, uint64_t size, enum rt_memory_type type,
                     struct rt_buffer **buffer);
/* Allocates memory for data, aligned to 256 bytes, with undefined contents. Small buffers share
 * larger allocations (heap.h). */
int rt_buffer_allocate(struct rt_context *context, uint64_t size, struct rt_buffer **buffer);
/* Create buffers from existing memory. rt_buffer_import maps a whole dma-buf, which determines the
 * size; the caller keeps the fd. rt_buffer_import_host maps whole pages of the process in place.
 * Both return -EINVAL or -EBADF if there is no such memory. */
int rt_buffer_import(struct rt_context *context, int fd, struct rt_buffer **buffer);
int rt_buffer_import_host(struct rt_context *context, void *pages, uint64_t size,
                          struct rt_buffer **buffer);
/* Maps the current pages of buffers that rt_buffer_import_host has created, because copy-on-write
 * may have replaced them. Must be called in the parent after a fork. The context's work must have
 * ended before the fork, and no work may have been submitted since. Returns the last
 * error, for example if the process has unmapped pages of a buffer. */
int rt_context_renew_host(struct rt_context *context);
/* Destroys the buffer, which may be NULL. The caller must have waited for all work that uses it. */
void rt_buffer_destroy(struct rt_buffer *buffer);

/* Notes for the software Orin's check mode; ignored otherwise. */
enum rt_buffer_news {
  RT_BUFFER_UNWRITTEN,     /* contents are undefined until written */
  RT_BUFFER_KERNELS_READ,  /* kernels must not write the buffer */
  RT_BUFFER_KERNELS_WRITE, /* kernels must not read the buffer */
};
void rt_buffer_note(const struct rt_buffer *buffer, enum rt_buffer_news news);
/* Notes that the CPU has written size bytes, or may write them at any time from now on. Ignored if
 * the range is not in the buffer. */
void rt_buffer_note_written(const struct rt_buffer *buffer, const void *at, uint64_t size);

/* ---- textures --------------------------------------------------------------- */

/* What the texture units demand, in bytes. CUDA demands it too (docs/hardware/textures.md 1.4). */
enum {
  RT_TEXTURE_BASE_ALIGN = 512, /* of the address of an image, a layer or a slice */
  RT_TEXTURE_PITCH_ALIGN = 32, /* of the distance of rows */
  RT_TEXTURE_BUFFER_ALIGN = 16 /* of the address of an image1d_buffer_t */
};
/* Tests the texture units if that is necessary to decide which images they read: at the first call,
 * and again if the GPU was busy or memory was short. */
void rt_texture_check(struct rt_context *context);
/* Returns whether the texture units may read images of the context now. */
bool rt_texture_may_read(const struct rt_device *device);
/* Returns whether kernels need code for the texture units: true unless it is decided that no image
 * uses them. */
bool rt_texture_needs_code(const struct rt_device *device);
/* Makes headers of an image for the texture units, one for each slice or layer. Stores
 * the value of kernel_image.texture in *texture, or 0 if the texture units are not used. Returns
 * -EINVAL if the texture units cannot read the image, -ENOTSUP if their self-check says that they
 * would not do it right, -EBUSY if they could not be tested yet, and -ENOMEM if there is no room
 * for its headers. */
int rt_texture_create(struct rt_context *context, const struct kernel_image *image,
                      enum kernel_arg_image type, uint32_t *texture);
/* Frees the headers of an image, if it has any. The work that uses them must have completed. */
void rt_texture_destroy(struct rt_context *context, const struct kernel_image *image);

/* ---- modules --------------------------------------------------------------- */

/* Loads a module: places its sections in GPU memory and relocates them. code must outlive the
 * module. */
int rt_module_create(struct rt_context *context, const struct module_code *code,
                     struct rt_module **module);
void rt_module_destroy(struct rt_module *module);

/* Returns the constant or initial data at a GPU address, as it was when the module was loaded, and
 * the number of bytes from there to the end of its section in *size. Returns NULL if there is no
 * such data. Valid as long as the module_code. */
const void *rt_module_data(const struct rt_module *module, uint64_t address, uint64_t *size);

/* ---- queues ---------------------------------------------------------------- */

enum rt_priority { RT_PRIORITY_LOW, RT_PRIORITY_MEDIUM, RT_PRIORITY_HIGH };

int rt_queue_create(struct rt_context *context, enum rt_priority priority, struct rt_queue **queue);
/* Waits until the queue's work has completed or the context has faulted. Accepts NULL. */
void rt_queue_destroy(struct rt_queue *queue);

/* GPU times of a launch, which the GPU writes as two 16-byte semaphore releases: mark, then time. A
 * time is 0 until it is reached. The struct is in GPU memory: allocate it before the launch, and
 * release it after the launch has completed. */
struct rt_times {
  volatile uint64_t start_mark; /* 1 when start_ns is valid */
  volatile uint64_t start_ns;
  volatile uint64_t end_mark;
  volatile uint64_t end_ns;
};
int rt_times_get(struct rt_context *context, struct rt_times **times);
void rt_times_put(struct rt_context *context, struct rt_times *times);

/* Prepared launches of one kernel in the GPU's formats: QMD and constant bank 0. The caller writes
 * the parameters. A launch that finds made false computes the rest; the caller clears made when
 * grid, block, last_block or dynamic_shared_bytes change. The caller allocates the zeroed memory
 * (rt_shape_bytes) and protects it. */
struct rt_shape {
  bool made;
  bool one_grid;        /* the launch is one grid with blocks of equal size */
  uint32_t local_bytes; /* local memory per thread */
  const struct kernel_code *kernel;
  size_t bytes; /* of words */
  uint32_t words[];
};
size_t rt_shape_bytes(const struct kernel_code *kernel);
/* Returns the shape's kernel parameters, param_bytes of the kernel. */
void *rt_shape_params(struct rt_shape *shape, const struct kernel_code *kernel);

/* Progress of a launch with very many grids; zeroed before the first call. */
struct rt_cut {
  uint32_t edges, y, z; /* position of the next grid */
  bool begun, over;
  struct rt_times *times; /* the caller's times, kept between the first and the last call */
};

/* Maximum number of grids that one call of rt_queue_launch submits if the launch has a cut: far
 * fewer than fit in a queue. */
enum { RT_GRIDS_AT_ONCE = 16 };

struct rt_launch {
  struct rt_module *module;
  uint32_t kernel;               /* index into module_code.kernels */
  uint32_t grid[3];              /* CTAs */
  uint32_t block[3];             /* work-items in a CTA */
  uint32_t last_block[3];        /* in the last CTA of each dimension; 0 if the same as block */
  uint32_t dynamic_shared_bytes; /* in addition to the kernel's static shared memory */
  const void *params;            /* param_bytes of the kernel, hidden block included; read before
                                    rt_queue_launch returns. With a shape: the shape's parameters */
  struct rt_times *times;        /* NULL if not profiled */
  uint64_t print_buffer;         /* GPU address for the hidden block; 0 if there is none */
  struct rt_shape *shape;        /* shape of the kernel; NULL to use a temporary one */
  struct rt_cut *cut; /* NULL to submit all grids at once; else rt_queue_launch is called repeatedly
                         until over is set */
};

/* Returns the number of grids into which a launch is split. */
uint64_t rt_launch_grids(const struct rt_context *context, const struct rt_launch *launch);

/* Returns the maximum number of work-groups in each dimension for a launch of this kernel. It
 * exceeds the device's max_grid if the kernel has a hidden block, because such a launch can be
 * split into several grids. */
void rt_kernel_max_grid(const struct rt_context *context, const struct kernel_code *kernel,
                        uint32_t max[3]);

/* rt_launch_check checks a launch against the device's limits without submitting it. It returns 0,
 * -EINVAL (invalid grid or block), or -E2BIG (registers or shared memory do not fit).
 * rt_kernel_max_threads returns the largest block in work-items for a kernel. */
int rt_launch_check(const struct rt_context *context, const struct rt_launch *launch);
uint32_t rt_kernel_max_threads(const struct rt_context *context, const struct kernel_code *kernel);
/* Returns the local (private) memory in bytes that a launch reserves for each work-item. */
uint32_t rt_kernel_local_bytes(const struct kernel_code *kernel);

/* Submits a launch, ordered after all earlier work in this queue. *point receives the timeline
 * value that is reached when the launch has completed and its writes are visible. In the steady
 * state it makes no system call and, with a shape, allocates no memory. If the launch ring is full,
 * it waits. */
int rt_queue_launch(struct rt_queue *queue, const struct rt_launch *launch, uint64_t *point);

/* Returns a point that is reached when everything submitted so far has completed. times is as in
 * struct rt_launch, for markers and barriers; may be NULL. */
int rt_queue_marker(struct rt_queue *queue, struct rt_times *times, uint64_t *point);

/* Writes the start time before, or if end is set the end time after, a series of submissions. */
int rt_queue_timestamp(struct rt_queue *queue, struct rt_times *times, bool end);

/* Makes later work in queue wait on the GPU (semaphore acquire) until other has reached point,
 * which must have been submitted. Both queues must be in the same context. */
int rt_queue_acquire(struct rt_queue *queue, struct rt_queue *other, uint64_t point);

/* Return the last completed and the last submitted point. rt_queue_completed is one load. Queues
 * can share a channel and its points, so the points of one queue need not be consecutive, and the
 * completed point can be beyond the last one that the queue submitted. */
uint64_t rt_queue_completed(const struct rt_queue *queue);
uint64_t rt_queue_submitted(const struct rt_queue *queue);

/* Waits until point is reached. Returns 0, -ETIMEDOUT after timeout_ns (UINT64_MAX: no limit), or
 * -EIO if the context faulted before. Spins briefly, then sleeps. Thread-safe. */
int rt_queue_wait(struct rt_queue *queue, uint64_t point, uint64_t timeout_ns);

/* Returns in *fd a sync fd, owned by the caller, that is signalled when the queue has reached
 * point, which must have been submitted. If a thread waits for it for 30 s, the kernel gives up and
 * signals it with an error (docs/hardware/kernel-interface.md 3.6). Returns -ENOTSUP if the queue
 * has no syncpoint. */
int rt_queue_fence(struct rt_queue *queue, uint64_t point, int *fd);

/* ---- recordings: work that is recorded once and submitted many times --------------- */

struct rt_recording; /* the user must serialise calls */

/* A copy of a box of bytes, and a fill of a box with a repeated pattern. The size of the pattern is
 * a power of two from 1 to 128 and divides region[0]. Addresses are GPU addresses. */
struct rt_copy {
  uint64_t target, source;
  size_t region[3]; /* bytes, rows, slices */
  /* Pitches. */
  size_t target_row_bytes, target_slice_bytes, source_row_bytes, source_slice_bytes;
};
struct rt_fill {
  uint64_t target;
  size_t region[3];
  size_t row_bytes, slice_bytes;
  const void *pattern;
  size_t pattern_size;
};

/* Creates an empty recording. */
int rt_recording_create(struct rt_context *context, struct rt_recording **recording);
/* A recording must not be destroyed or reset while it is in flight. rt_recording_reset makes it
 * empty; rt_recording_destroy accepts NULL. */
void rt_recording_destroy(struct rt_recording *recording);
void rt_recording_reset(struct rt_recording *recording);
bool rt_recording_in_flight(const struct rt_recording *recording);

/* Add commands to a recording. Commands may run in any order and at the same time unless there is a
 * rt_recording_wait between them. times and shape of a launch are ignored. Return -ENOMEM, and the
 * errors of rt_launch_check. */
int rt_recording_launch(struct rt_recording *recording, const struct rt_launch *launch);
int rt_recording_copy(struct rt_recording *recording, const struct rt_copy *copy);
int rt_recording_fill(struct rt_recording *recording, const struct rt_fill *fill);
void rt_recording_wait(struct rt_recording *recording);

/* Completes the recording for submission. Returns -ENOMEM, or -E2BIG if it is too large for a
 * pushbuffer. */
int rt_recording_end(struct rt_recording *recording);

/* Submits the whole recording like rt_queue_launch. Two submissions of a recording never run at the
 * same time: a submission to another queue waits on the GPU for the previous one. */
int rt_queue_replay(struct rt_queue *queue, struct rt_recording *recording, struct rt_times *times,
                    uint64_t *point);

/* ---- messages ---------------------------------------------------------------- */

/* Returns a sentence about this thread's last failure: what was wrong, with which value, and what
 * to do. Never NULL. */
const char *rt_last_message(void);

#endif
