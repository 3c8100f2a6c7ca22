/* The OpenCL objects. Each struct's comment says which lock guards which fields; the order of
 * locks is in base/lock.h.
 */
#ifndef TEGRACL_OBJECTS_H
#define TEGRACL_OBJECTS_H

#include <pthread.h>

#include "base/clock.h"
#include "compiler/compiler.h"
#include "icd/icd.h"
#include "icd/object/lock.h"
#include "runtime/runtime.h"

/* ---- platform and device: static, one each ------------------------------------ */

struct _cl_platform_id {
  struct icd_object object;
};

struct _cl_device_id {
  struct icd_object object;
  struct rt_device *rt; /* opened on first use */
  const struct rt_device_info *info;
  struct cc_device cc; /* what the compiler must know */
  char name[160];
  struct base_mutex clock_lock;
  uint64_t clock_measured_ns; /* CPU time of the last comparison */
  int64_t clock_offset_ns;    /* GPU time less CPU time */
};

extern struct _cl_platform_id icd_platform;

/* The device, opened on first use; NULL (with a sentence) if there is none. In a child of
 * fork its handle is valid before it has been opened there. */
cl_device_id icd_device(void);
/* The same without opening it. */
struct icd_object *icd_device_object(void);

/* In a child of fork: makes the platform an object there. */
void icd_platform_forked(void);

/* A CPU time (CLOCK_MONOTONIC ns) on the device's clock. */
uint64_t icd_device_clock(cl_device_id device, uint64_t cpu_ns);

/* ---- context -------------------------------------------------------------------- */

/* An object without references that work on the GPU may still use (retire.h). Embedded in its
 * owner. */
struct icd_retired {
  struct icd_retired *next;
  void (*destroy)(void *owner);
  void *owner;
  uint64_t point; /* of the queue that it waits for */
};

typedef void(CL_CALLBACK *icd_context_notify)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *icd_context_callback)(cl_context, void *);

struct icd_context_destructor {
  struct icd_context_destructor *next;
  icd_context_callback function;
  void *data;
};

typedef void(CL_CALLBACK *icd_print_callback)(const char *, size_t, size_t, void *);

/* printf output of kernels (icd/context/print.c). */
struct icd_prints {
  icd_print_callback callback; /* CL_PRINTF_CALLBACK_ARM; NULL: standard output */
  size_t bytes;                /* of records in a buffer */
  atomic_uint unwritten;       /* launches whose output has not been written */

  struct base_mutex lock;    /* guards what follows */
  pthread_cond_t written;    /* the output of a launch has been written */
  struct icd_print *pending; /* launches that print, the last submitted first */
  struct icd_print *writing; /* those whose output a thread is writing */
  struct icd_print *idle;    /* buffers to be used again */
  unsigned pending_count;
  uint64_t count; /* of launches that print, so far */
};

struct _cl_context {
  struct icd_object object;
  cl_device_id device;
  struct rt_context *rt;
  cl_context_properties *properties; /* as given, 0-terminated; NULL if none */
  size_t property_count;             /* words, with the 0; 0 if none */
  icd_context_notify notify;
  void *notify_data;
  atomic_bool fault_reported; /* the fault's message has gone to notify */
  struct icd_prints prints;
  atomic_uint host_buffers; /* of the host's own pages (host_pages.c) */
  cl_context next_with_host_pages;

  /* Guards everything below and the state of all the context's events. */
  struct base_mutex lock;
  pthread_cond_t changed; /* an event got a new status, a worker another command; or a
                           * retired object has been destroyed */
  uint64_t changes;       /* counts the first two */
  struct icd_context_destructor *destructors;
  cl_command_queue queues; /* by rising serial number */
  uint64_t next_queue;
  size_t retired_count; /* objects that wait for a queue (retire.h) */
  /* Retired objects that the GPU no longer uses, the first released first. */
  struct icd_retired *idle, *last_idle;
  atomic_bool any_retired; /* of both */
  unsigned reclaiming;     /* threads that destroy one of them */
  bool has_reclaimer;      /* a thread waits for the retired */
  cl_event free_events;
  cl_mem *svm; /* allocations of shared virtual memory by rising address (svm.c) */
  size_t svm_count, svm_room;
};

/* The driver's own reference to a context. */
static inline void icd_context_hold(cl_context context) {
  icd_object_hold(&context->object);
}
static inline void icd_context_drop(cl_context context) {
  icd_object_drop(&context->object);
}

/* Counts a change and wakes the threads that wait for one. _locked: the caller holds the
 * context's lock. */
void icd_context_change_locked(cl_context context);
void icd_context_change(cl_context context);
/* The number of changes so far; and waits until it differs from changes. */
uint64_t icd_context_changes(cl_context context);
void icd_context_await_change(cl_context context, uint64_t changes);

/* Waits for all commands that its queues have now. */
void icd_context_finish(cl_context context);

/* If the context has faulted: reports it once, to notify and TEGRACL_DEBUG=api. */
void icd_context_report_fault(cl_context context);

/* Bytes of records that one launch can leave: CL_DEVICE_PRINTF_BUFFER_SIZE, and the least, because
 * applications that set a small size count characters. */
enum { ICD_PRINT_BYTES = 4 << 20, ICD_PRINT_BYTES_MIN = 1024 };

/* The context's properties have been set. */
void icd_print_init(cl_context context);
void icd_print_finish(cl_context context);

/* rt_queue_launch with a print buffer. The queue's lock is held. */
int icd_print_launch(cl_command_queue queue, cl_kernel kernel, const struct rt_launch *launch);

/* Waits until fewer than PENDING_MAX launches of the context have unwritten output. To be called,
 * without locks, before the launch of a kernel that prints. */
void icd_print_wait_for_room(cl_context context);

/* Writes the output of all launches that have completed, in the order in which they were
 * submitted, and waits for what another thread is writing of the queue's. To be called,
 * without locks, by the thread that found that a command of the queue has completed, before it
 * reports that to the application. */
void icd_print_drain(cl_command_queue queue);

/* ---- buffer ---------------------------------------------------------------------- */

typedef void(CL_CALLBACK *icd_mem_callback)(cl_mem, void *);

struct icd_mem_destructor {
  struct icd_mem_destructor *next;
  icd_mem_callback function;
  void *data;
};

/* A part of a memory object. */
struct icd_box {
  size_t offset;                 /* of its first byte, in the object itself, not its parent */
  size_t region[3];              /* bytes, rows, slices */
  size_t row_bytes, slice_bytes; /* pitches */
};

/* A region that the application has mapped. The list of the memory object and each command that
 * maps or unmaps it have a reference. */
struct icd_mapping {
  struct icd_mapping *next;
  atomic_uint references;
  bool mapped; /* on the list */
  cl_mem mem;
  char *pointer;
  struct icd_box box;
  cl_map_flags flags;
};

/* What makes a memory object an image: texels at fixed distances in its memory. */
struct icd_image {
  cl_mem_object_type type;
  cl_image_format format;
  /* Texels, rows, slices; the layers of an array are the rows or slices after the
   * dimensions of its type. 1 for those that the type lacks. */
  size_t extent[3];
  size_t element;                /* bytes of a texel */
  size_t row_pitch, slice_pitch; /* bytes, as OpenCL means them; slice_pitch 0: no slices */
  size_t stride[3];              /* bytes to the next texel, row, slice as extent counts them */
  struct kernel_image kernel;    /* what a kernel gets */
};

/* An allocation's answers to clGetMemAllocInfoINTEL. */
struct icd_usm {
  cl_unified_shared_memory_type_intel type; /* 0: not from cl_intel_unified_shared_memory */
  cl_mem_alloc_flags_intel flags;
  cl_device_id device;
};

struct _cl_mem {
  struct icd_object object;
  cl_context context;
  union {
    struct icd_usm usm;
    struct icd_retired retired; /* after the last reference was released */
  };
  struct icd_image *image; /* NULL: a buffer */
  cl_mem parent;           /* of a sub-buffer, or an image in other memory; else NULL */
  cl_mem svm;              /* the allocation that CL_MEM_USE_HOST_PTR pointed into, held; or NULL */
  size_t origin;           /* in the parent */
  size_t size;
  cl_mem_flags flags;
  void *host_ptr;           /* CL_MEM_USE_HOST_PTR */
  struct rt_buffer *buffer; /* the parent's for a sub-buffer */
  uint64_t gpu;             /* address of the first byte, what a kernel gets */
  char *cpu;                /* the same byte for the CPU */
  cl_mem_properties *properties;
  bool host_pages;     /* the buffer is of the host's own pages: counted by the context */
  bool device_address; /* may be queried: cl_ext_buffer_device_address */
  cl_uint property_count;

  struct icd_lock lock; /* guards what follows, and the map counts of the object's parts */
  cl_uint map_count;
  struct icd_mapping *mappings; /* of an object without parent: its own and those of its parts */
  struct icd_mem_destructor *destructors;
};
_Static_assert(BASE_LOCK_ORDER || sizeof(struct _cl_mem) <= 192,
               "three cache lines for each memory object");

static inline void icd_mem_hold(cl_mem mem) {
  icd_object_hold(&mem->object);
}
static inline void icd_mem_drop(cl_mem mem) {
  icd_object_drop(&mem->object);
}

/* A new memory object: in its own memory (svm NULL), or at place, which is in an
 * allocation of shared virtual memory, whose reference it takes over on success. The caller has
 * checked the flags. NULL, with *code and a sentence. */
cl_mem icd_mem_create(cl_context context, cl_mem_flags flags, size_t size, cl_mem svm, char *place,
                      cl_int *code, const char *call);

/* CL_INVALID_VALUE for unknown flags and for those that exclude each other. */
cl_int icd_check_mem_flags(cl_context context, cl_mem_flags flags, cl_mem_flags known,
                           const char *call);

/* The same at a byte offset of a buffer of the runtime, which it takes over, on failure too. */
cl_mem icd_mem_wrap(cl_context context, cl_mem_flags flags, size_t size, struct rt_buffer *buffer,
                    size_t offset, cl_int *code, const char *call);

/* The same in a dma-buf, whose fd stays the caller's. size may be
 * CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM. refused: the code if fd is no dma-buf; small: if it has
 * fewer bytes. */
cl_mem icd_mem_import(cl_context context, cl_mem_flags flags, size_t size, int dma_buf,
                      cl_int refused, cl_int small, cl_int *code, const char *call);

/* The value of a property in a list, or NULL. */
const cl_mem_properties *icd_find_mem_property(const cl_mem_properties *properties,
                                               cl_mem_properties name);

/* The allocation of shared virtual memory that a pointer lies in, held; NULL if there is
 * none. One past its end counts as inside. */
cl_mem icd_svm_find(cl_context context, const void *pointer);

/* ---- sampler -------------------------------------------------------------------------- */

struct _cl_sampler {
  struct icd_object object;
  cl_context context; /* held */
  cl_bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
  uint32_t bits;                       /* enum kernel_sampler: what a kernel gets */
  cl_sampler_properties properties[7]; /* as given: three pairs and the 0 */
  size_t property_count;               /* words, with the 0; 0 if none were given */
};

/* ---- program and kernel (icd/program/program.c, build.c, kernel.c) ------------------------- */

/* The code of one build, placed in the context's memory. Programs and kernels
 * refer to it; when nothing does any more it stays until the GPU's work that was
 * submitted by then has completed. */
struct icd_module {
  _Atomic uint32_t references;
  struct icd_retired retired;
  cl_context context; /* held */
  struct module_code *code;
  struct rt_module *rt;
};

/* Takes over code, on failure too. 0 or -errno with rt_last_message. The caller
 * has the only reference. */
int icd_module_create(cl_context context, struct module_code *code, struct icd_module **module);
/* Reads a program binary and places it in the context's memory. CC_OK if it could be read; then
 * *code is CL_SUCCESS, with *module, or why it could not be placed. why: either reason in words. */
enum cc_status icd_module_place(cl_context context, const void *binary, size_t size,
                                struct icd_module **module, cl_int *code, char *why,
                                size_t why_size);
void icd_module_hold(struct icd_module *module);
void icd_module_drop(struct icd_module *module); /* NULL is fine */

/* A build in the background of a program in units (icd/program/units.h). */
struct icd_units {
  struct cc_background *background; /* held; NULL: none */
  struct icd_module **modules;      /* by unit; NULL: not needed yet */
  size_t count;
  bool settled;                       /* the program has the result of the build */
  cl_program_binary_type binary_type; /* of the program's binary until then */
};

struct _cl_program {
  struct icd_object object;
  cl_context context; /* held */
  char *source;       /* concatenated, NUL-terminated; NULL if made from something else */
  size_t source_size; /* without the NUL */
  void *il;           /* SPIR-V as it was given; NULL if made from something else */
  size_t il_size;

  struct base_mutex lock; /* guards what follows */
  uint32_t *il_words;     /* il in this machine's byte order, with its constants' values */
  char *options;          /* of the last build; NULL: "" */
  char *log;              /* of the last build; NULL: "" */
  cl_build_status status;
  cl_program_binary_type binary_type;
  void *binary; /* program binary: given at creation or built; else NULL */
  size_t binary_size;
  struct icd_module *module; /* of the whole program; NULL if not built, or in units */
  struct icd_units units;
  cl_uint kernels; /* kernels which the application has */
};

/* A program without source and binary. NULL: no memory. */
cl_program icd_program_create(cl_context context);
static inline void icd_program_hold(cl_program program) {
  icd_object_hold(&program->object);
}
static inline void icd_program_drop(cl_program program) {
  icd_object_drop(&program->object);
}

/* The work-items of a launch; the dimensions after work_dim are 1, offset 0. */
struct icd_range {
  cl_uint work_dim;
  size_t offset[3], global[3];
  size_t local[3]; /* 0, 0, 0: the driver chooses */
};

struct _cl_kernel {
  struct icd_object object;
  cl_program program;       /* held */
  struct icd_module *owner; /* held: what code and module belong to */
  const struct kernel_code *code;
  uint32_t index; /* of code in module_code.kernels */
  struct rt_module *module;
  uint32_t max_threads; /* rt_kernel_max_threads */
  uint32_t local_args;  /* number of arguments of kind KERNEL_ARG_LOCAL */
  atomic_bool detached; /* the application has released it */

  /* Guards what follows. icd_launch_prepare writes the hidden block and the offsets of
   * local arguments into params. */
  struct icd_lock guard;
  struct rt_shape *shape;
  unsigned char *params; /* the shape's: code->param_bytes */
  uint32_t *local_sizes; /* by argument: bytes given for KERNEL_ARG_LOCAL */
  cl_mem *buffers;       /* by argument: the buffer given, or NULL; not held,
                          * as the specification requires */
  bool *set;             /* by argument: has been given */
  uint32_t unset;        /* arguments not yet given */
  /* The last launch: if it is ready, another one over the same range needs nothing
   * but the shape's copy. */
  struct icd_range range;
  struct rt_launch launch; /* checked; the places of local blocks are in params */
  struct rt_cut cut;       /* the launch's, if it has very many grids */
  bool ready;
};

static inline void icd_kernel_hold(cl_kernel kernel) {
  icd_object_hold(&kernel->object);
}
static inline void icd_kernel_drop(cl_kernel kernel) {
  icd_object_drop(&kernel->object);
}

/* A copy of a kernel and its arguments, which program.kernels does not count. The caller has its
 * only reference. kind: of its lock. NULL: no memory. */
cl_kernel icd_kernel_clone(cl_kernel kernel, enum base_lock_kind kind);
/* CL_INVALID_KERNEL_ARGS if an argument was not given. The kernel's lock is held. */
cl_int icd_check_arguments(cl_kernel kernel, const char *call);

/* ---- event -------------------------------------------------------------------------- */

typedef void(CL_CALLBACK *icd_event_notify)(cl_event, cl_int, void *);

struct icd_event_callback {
  struct icd_event_callback *next;
  cl_int status; /* CL_SUBMITTED, CL_RUNNING or CL_COMPLETE */
  icd_event_notify function;
  void *data;
};

/* An event is tracked once its command has been submitted to the GPU: from then
 * on the queue's timeline says whether it has completed, and status follows
 * when it is queried. Other events get their status from a thread. */
struct _cl_event {
  struct icd_object object;
  cl_context context;
  cl_command_queue queue; /* NULL: user event */
  cl_command_type type;
  atomic_int status; /* CL_QUEUED ... CL_COMPLETE or negative */
  atomic_bool tracked;
  uint64_t point; /* of queue; valid once tracked */
  bool profiled;
  struct rt_times *times;               /* tracked and profiled, until completion */
  uint64_t queued_ns, submit_ns;        /* CPU clock */
  uint64_t start_ns, end_ns;            /* GPU clock; valid once CL_COMPLETE */
  struct icd_event_callback *callbacks; /* context lock */
  struct icd_retired retired;
  cl_event next_free;
  cl_event next_watched; /* icd/queue/watcher.c */
  bool watched;          /* has been given to it; context lock */
};

/* A new event of a queue, in state CL_QUEUED; NULL if there is no memory. The
 * caller has the only reference, which is a handle. */
cl_event icd_event_create(cl_context context, cl_command_queue queue, cl_command_type type);
static inline void icd_event_hold(cl_event event) {
  icd_object_hold(&event->object);
}
static inline void icd_event_drop(cl_event event) {
  icd_object_drop(&event->object);
}

/* State now, looking at the GPU's timeline. */
cl_int icd_event_status(cl_event event);

/* Moves the event on: CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or negative. Runs
 * callbacks. The caller holds no lock. start and end are times on the device's
 * clock, used with CL_COMPLETE only. */
void icd_event_set(cl_event event, cl_int status, uint64_t start_ns, uint64_t end_ns);

/* The same in two steps: the second runs the callbacks that the first found. */
struct icd_event_callback *icd_event_move(cl_event event, cl_int status, uint64_t start_ns,
                                          uint64_t end_ns);
void icd_event_call(cl_event event, cl_int status, struct icd_event_callback *callbacks);

/* The end of a user event, with its callbacks. False if it has ended before. */
bool icd_user_event_end(cl_event event, cl_int status);

/* The command has been submitted and completes when the queue reaches point.
 * times: what the GPU writes, owned by the event from now on; may be NULL. The
 * callbacks for CL_SUBMITTED are left to the caller as by icd_event_move. */
struct icd_event_callback *icd_event_track(cl_event event, uint64_t point, struct rt_times *times);

/* If the event is tracked and has callbacks, makes a thread wait for it that calls them. To be
 * called, without locks, when the event has become tracked or has got a callback. */
void icd_event_watch(cl_event event);

/* Waits until the event is complete: CL_COMPLETE or its negative status.
 * icd_event_await_submission: until it is tracked or complete. */
cl_int icd_event_wait(cl_event event);
void icd_event_await_submission(cl_event event);

/* ---- command queue -------------------------------------------------------------------- */

struct icd_command;

struct _cl_command_queue {
  struct icd_object object;
  cl_context context;
  cl_device_id device;
  cl_command_queue_properties flags;
  cl_queue_properties *properties; /* as given, 0-terminated; NULL if none */
  size_t property_count;
  struct rt_queue *rt;
  uint64_t serial;          /* of the context */
  _Atomic uint64_t barrier; /* point of the last barrier: what a queue out of order waits for */
  cl_command_queue next;    /* in the context's list */
  /* What waits for its work, by rising point; context lock. */
  struct icd_retired *retired, *last_retired;

  struct icd_lock lock;             /* guards rt and what follows */
  struct icd_condition work;        /* for the worker: there is a command, or stop is set */
  struct icd_condition done;        /* the worker has done a command */
  struct icd_command *first, *last; /* deferred commands in the order of their enqueueing */
  uint64_t deferred;                /* commands so far */
  pthread_t worker;
  bool has_worker, stop;
};

static inline void icd_queue_hold(cl_command_queue queue) {
  icd_object_hold(&queue->object);
}
static inline void icd_queue_drop(cl_command_queue queue) {
  icd_object_drop(&queue->object);
}

#endif
