/* One Orin GPU as a user-space driver: device, contexts (address space and
 * TSG), buffers, modules, queues (places on channels), launches, waits.
 *
 * Sizes are bytes and times PTIMER nanoseconds unless stated. Functions that can
 * fail return 0 or -errno. A context, its buffers and modules may be used from
 * several threads; a queue must be locked by its user (icd/ has a lock for each
 * command queue) except for rt_queue_completed, rt_queue_submitted and rt_queue_wait.
 */
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

/* What the kernel's driver reports of the GPU, and limits that all SMs 8.7 have. */
struct rt_device_info {
  char chip[16];       /* "ga10b" */
  char board[64];      /* e.g. "Jetson AGX Orin 64GB", or "" if unknown */
  char identity[56];   /* differs between boards of one kind, or "" if unknown; not to be shown to
                        * others as it is */
  bool emulated;       /* the software Orin */
  uint32_t sm_count;   /* NUM_VSMS */
  uint32_t tpc_count;  /* maximum physical TPCs, for local memory */
  uint32_t sm_version; /* 0x807 */
  uint32_t max_clock_mhz;
  uint32_t warp_size;
  uint32_t warps_per_sm;
  uint32_t max_threads_per_block;
  uint32_t max_block[3];
  uint32_t max_grid[3];
  uint32_t registers_per_sm;
  uint32_t shared_bytes_per_block; /* what OpenCL may use */
  uint64_t l2_bytes;
  uint64_t memory_bytes; /* of the RAM, what buffers may take: the system needs the rest */
  uint64_t max_buffer_bytes;
  uint32_t max_param_bytes; /* kernel parameters, hidden block included */
  uint32_t timer_step_ns;   /* 32 */
  /* Buffers' CPU addresses are their GPU addresses: those are not taken in this process. */
  bool shared_addresses;
};

/* Opens the GPU: the real nodes where they exist, else the software Orin
 * (TEGRACL_DEVICE=board|emulator forces one). -ENODEV and a message by
 * rt_last_message() otherwise. */
int rt_device_open(struct rt_device **device);
void rt_device_close(struct rt_device *device);
const struct rt_device_info *rt_device_info(const struct rt_device *device);

/* In a child of fork, while it has one thread: closes its copies of the parent's fds, with no
 * other effect on the parent. The child may not use or destroy what the parent has made, but for
 * the device (NULL: there is none): its info stays, and rt_device_reopen opens it for the
 * child. */
void rt_device_forked(struct rt_device *device);
int rt_device_reopen(struct rt_device *device);

/* GPU time now, and the CPU's CLOCK_MONOTONIC of the same moment. */
int rt_device_time(struct rt_device *device, uint64_t *gpu_ns, uint64_t *cpu_ns);

/* Warp instructions executed so far. -ENOTSUP on hardware. */
int rt_device_warp_instructions(struct rt_device *device, uint64_t *count);

/* ---- context: address space, TSG and what lives in them ------------------- */

int rt_context_create(struct rt_device *device, struct rt_context **context);
/* Destroys queues' leftovers too; the caller has destroyed all it created. */
void rt_context_destroy(struct rt_context *context);

/* After a device fault every queue of the context is dead and all later calls
 * fail with -EIO; a new context works. NULL while healthy, else the message
 * (kernel, address, nearest buffer, ...), owned by the context. */
const char *rt_context_fault(struct rt_context *context);

/* ---- buffers -------------------------------------------------------------- */

struct rt_buffer {
  uint64_t gpu;  /* GPU virtual address */
  void *cpu;     /* CPU mapping, the same number where possible */
  uint64_t size; /* as asked for */
};

enum rt_memory_type {
  RT_MEMORY_CACHED,        /* data: inner-cacheable, I/O-coherent */
  RT_MEMORY_WRITE_COMBINE, /* what the CPU writes once: rings, QMDs */
};

/* Zeroed memory in its own whole pages, mapped for GPU and CPU. size > 0. -ENOMEM when there is
 * none. */
int rt_buffer_create(struct rt_context *context, uint64_t size, enum rt_memory_type type,
                     struct rt_buffer **buffer);
/* For data, with undefined contents, at a multiple of 256 bytes: the runtime puts small buffers
 * together in larger allocations (heap.h). */
int rt_buffer_allocate(struct rt_context *context, uint64_t size, struct rt_buffer **buffer);
/* Memory that exists already: a dma-buf, mapped as a whole (size: all of it; the caller
 * keeps the fd), and whole pages of the host, which stay where they are. -EINVAL or
 * -EBADF: there is no such memory. */
int rt_buffer_import(struct rt_context *context, int fd, struct rt_buffer **buffer);
int rt_buffer_import_host(struct rt_context *context, void *pages, uint64_t size,
                          struct rt_buffer **buffer);
/* After a fork, in the parent: makes the GPU see the pages again that buffers were made
 * from by rt_buffer_import_host. The context's work has ended before the fork, and none has
 * been submitted since. Returns the last failure, for example of a buffer whose pages the process
 * has unmapped. */
int rt_context_renew_host(struct rt_context *context);
/* NULL is fine. The caller has waited for work that uses it. */
void rt_buffer_destroy(struct rt_buffer *buffer);

/* For the software Orin's check mode; otherwise the calls do nothing. */
enum rt_buffer_news {
  RT_BUFFER_UNWRITTEN,     /* its contents mean nothing until they are written */
  RT_BUFFER_KERNELS_READ,  /* kernels must not write it */
  RT_BUFFER_KERNELS_WRITE, /* kernels must not read it */
};
void rt_buffer_note(const struct rt_buffer *buffer, enum rt_buffer_news news);
/* The CPU writes, or may from now on write, size bytes at an address. Ignored if they are not all
 * in the buffer. */
void rt_buffer_note_written(const struct rt_buffer *buffer, const void *at, uint64_t size);

/* ---- textures --------------------------------------------------------------- */

/* Makes headers of an image for the texture units, one for each slice or layer. Returns what
 * kernels get of them, kernel_image.texture. 0: the texture units cannot read the image, or are not
 * used. */
uint32_t rt_texture_create(struct rt_context *context, const struct kernel_image *image,
                           enum kernel_arg_image type);
/* What addresses and pitches of images should be multiples of, in bytes, to have headers. 1 if the
 * texture units are not used. */
uint32_t rt_texture_pitch_align(const struct rt_context *context);
/* The work that uses the image has completed. Harmless if it has no headers. */
void rt_texture_destroy(struct rt_context *context, const struct kernel_image *image);

/* ---- modules --------------------------------------------------------------- */

/* Places and relocates a module's sections in GPU memory. The module_code must
 * outlive the rt_module. */
int rt_module_create(struct rt_context *context, const struct module_code *code,
                     struct rt_module **module);
void rt_module_destroy(struct rt_module *module);

/* The module's constant or initial data at a GPU address, as it was before any kernel ran,
 * and how much follows in *size. NULL if there is none. Lives as long as module_code. */
const void *rt_module_data(const struct rt_module *module, uint64_t address, uint64_t *size);

/* ---- queues ---------------------------------------------------------------- */

enum rt_priority { RT_PRIORITY_LOW, RT_PRIORITY_MEDIUM, RT_PRIORITY_HIGH };

int rt_queue_create(struct rt_context *context, enum rt_priority priority, struct rt_queue **queue);
/* Waits first until its work has completed, or the context has faulted. NULL is fine. */
void rt_queue_destroy(struct rt_queue *queue);

/* GPU times of one launch, written by the GPU; 0 while not yet reached. Lives
 * in GPU memory: get it before, put it back after the launch has completed.
 * Two 16-byte semaphore releases: payload, then time. */
struct rt_times {
  volatile uint64_t start_mark; /* 1 once start_ns is there */
  volatile uint64_t start_ns;
  volatile uint64_t end_mark;
  volatile uint64_t end_ns;
};
int rt_times_get(struct rt_context *context, struct rt_times **times);
void rt_times_put(struct rt_context *context, struct rt_times *times);

/* A kernel's launches as the GPU reads them: QMD and constant bank 0, of which the
 * parameters are the caller's. The rest is worked out by a launch that finds made false:
 * so it must be at first, and whenever grid, block, last_block or dynamic_shared_bytes have
 * changed. The caller has the memory, rt_shape_bytes, cleared at first, and guards it. */
struct rt_shape {
  bool made;
  bool one_grid;        /* whole, with blocks of one size */
  uint32_t local_bytes; /* per thread, of the context's pool */
  const struct kernel_code *kernel;
  size_t bytes; /* of words */
  uint32_t words[];
};
size_t rt_shape_bytes(const struct kernel_code *kernel);
/* The param_bytes of the kernel in it. */
void *rt_shape_params(struct rt_shape *shape, const struct kernel_code *kernel);

/* How far a launch of very many grids has come; cleared before the first call. */
struct rt_cut {
  uint32_t edges, y, z; /* where the next grid begins */
  bool begun, over;
  struct rt_times *times; /* the caller's, from the first call to the last */
};

/* Grids that a call of rt_queue_launch submits of a launch that is cut: far fewer than a queue
 * has room for. */
enum { RT_GRIDS_AT_ONCE = 16 };

struct rt_launch {
  struct rt_module *module;
  uint32_t kernel;               /* index in module_code.kernels */
  uint32_t grid[3];              /* CTAs */
  uint32_t block[3];             /* work-items in a CTA */
  uint32_t last_block[3];        /* in the last CTA of the dimension; 0: as in the others */
  uint32_t dynamic_shared_bytes; /* after the kernel's static shared memory */
  const void *params;            /* param_bytes of the kernel, hidden block included, read before
                                  * rt_queue_launch returns; with a shape: its own */
  struct rt_times *times;        /* NULL: do not profile */
  uint64_t print_buffer;         /* GPU address; written into the hidden block. 0: none */
  struct rt_shape *shape;        /* of the kernel; NULL: one for this launch alone */
  struct rt_cut *cut; /* NULL: all grids at once; else rt_queue_launch is called until it is
                       * over */
};

/* Grids that a launch becomes. */
uint64_t rt_launch_grids(const struct rt_context *context, const struct rt_launch *launch);

/* Work-groups that a launch of this kernel can have in each dimension. More than the
 * device's max_grid if the kernel has a hidden block: such a launch becomes several
 * grids. */
void rt_kernel_max_grid(const struct rt_context *context, const struct kernel_code *kernel,
                        uint32_t max[3]);

/* Checks a launch against the device's limits without submitting it: 0, or
 * -EINVAL (block), -E2BIG (registers or shared memory do not fit). Also gives
 * the largest block (work-items) this kernel can have, if wanted. */
int rt_launch_check(const struct rt_context *context, const struct rt_launch *launch);
uint32_t rt_kernel_max_threads(const struct rt_context *context, const struct kernel_code *kernel);
/* Bytes of local (private) memory per work-item that a launch reserves. */
uint32_t rt_kernel_local_bytes(const struct kernel_code *kernel);

/* Submits a launch, ordered after everything in this queue. *point is the
 * queue's timeline value that is reached when it has completed and its writes
 * are visible. No system call and, with a shape, no allocation in the steady state;
 * waits for room if the launch ring is full. */
int rt_queue_launch(struct rt_queue *queue, const struct rt_launch *launch, uint64_t *point);

/* A point reached when everything submitted so far has completed. times as in
 * rt_launch (for markers and barriers); NULL allowed. */
int rt_queue_marker(struct rt_queue *queue, struct rt_times *times, uint64_t *point);

/* One of the times of several submissions, before the first or after the last. */
int rt_queue_timestamp(struct rt_queue *queue, struct rt_times *times, bool end);

/* Later work of queue starts only when other has reached point (a semaphore
 * acquire on the GPU). point must have been submitted; same context. */
int rt_queue_acquire(struct rt_queue *queue, struct rt_queue *other, uint64_t point);

/* Points: completed so far (one load); last submitted. Queues may share a channel and its
 * points, so a queue's own need not follow each other, and completed may be beyond its last. */
uint64_t rt_queue_completed(const struct rt_queue *queue);
uint64_t rt_queue_submitted(const struct rt_queue *queue);

/* Waits until point is reached: 0; -ETIMEDOUT after timeout_ns (UINT64_MAX: no
 * limit); -EIO when the context has faulted before it was reached. Spins
 * briefly, then sleeps. Thread-safe. */
int rt_queue_wait(struct rt_queue *queue, uint64_t point, uint64_t timeout_ns);

/* A sync fd, the caller's, that is signalled once the queue has reached point, which has
 * been submitted. While a thread waits for it the kernel gives up after 30 s and signals it
 * with an error (docs/hardware/kernel-interface.md 3.6). -ENOTSUP: the queue has no syncpoint. */
int rt_queue_fence(struct rt_queue *queue, uint64_t point, int *fd);

/* ---- recordings: work that is written down once and submitted many times ---------- */

struct rt_recording; /* guarded by its user */

/* A box of bytes, and one that repeats a pattern (1 to 128 bytes, a power of two, of which
 * region[0] is a multiple). Addresses are the GPU's. */
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

/* Empty. */
int rt_recording_create(struct rt_context *context, struct rt_recording **recording);
/* Not while it is in flight. reset empties it; for destroy NULL is fine. */
void rt_recording_destroy(struct rt_recording *recording);
void rt_recording_reset(struct rt_recording *recording);
bool rt_recording_in_flight(const struct rt_recording *recording);

/* What is recorded may run in any order, at the same time, except for what is on the
 * two sides of a wait. Of a launch, times and shape are ignored. -ENOMEM, and the errors
 * of rt_launch_check. */
int rt_recording_launch(struct rt_recording *recording, const struct rt_launch *launch);
int rt_recording_copy(struct rt_recording *recording, const struct rt_copy *copy);
int rt_recording_fill(struct rt_recording *recording, const struct rt_fill *fill);
void rt_recording_wait(struct rt_recording *recording);

/* Makes it ready for submission. -ENOMEM; -E2BIG: more than a pushbuffer can be. */
int rt_recording_end(struct rt_recording *recording);

/* Submits all of it, as rt_queue_launch does. Two submissions of a recording never run at
 * the same time: one to another queue waits for the last one on the GPU. */
int rt_queue_replay(struct rt_queue *queue, struct rt_recording *recording, struct rt_times *times,
                    uint64_t *point);

/* ---- messages ---------------------------------------------------------------- */

/* One sentence about the last failure in this thread: what was wrong, with
 * which value, what to do. Never NULL. */
const char *rt_last_message(void);

#endif
