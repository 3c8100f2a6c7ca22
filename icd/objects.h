/* The OpenCL objects. Comments in each struct say which lock protects which fields. The order of
 * the locks is in base/lock.h.
 */
#ifndef TEGRACL_OBJECTS_H
#define TEGRACL_OBJECTS_H

#include <pthread.h>

#include "base/clock.h"
#include "compiler/compiler.h"
#include "icd/icd.h"
#include "icd/object/deliver.h"
#include "icd/object/lock.h"
#include "runtime/runtime.h"

/* ---- platform and device (static, one of each) -------------------------------------- */

struct _cl_platform_id {
  struct icd_object object;
};

struct _cl_device_id {
  struct icd_object object;
  struct rt_device *rt; /* opened on first use */
  const struct rt_device_info *info;
  struct cc_device cc[2]; /* without and with code for the texture units */
  char name[160];
  struct base_mutex clock_lock;
  uint64_t clock_measured_ns; /* CPU time of the last comparison of the clocks */
  int64_t clock_offset_ns;    /* GPU time minus CPU time */
};

extern struct _cl_platform_id icd_platform;

/* Returns the device and opens it on first use. Reports an error and returns NULL if it cannot
 * be opened. In a child of fork the handle is valid before the device has been opened there. */
cl_device_id icd_device(void);
/* Returns the device without opening it. */
struct icd_object *icd_device_object(void);

/* Makes the platform a valid object in a child of fork. */
void icd_platform_forked(void);

/* Converts a CPU time (CLOCK_MONOTONIC, ns) to the device's clock. */
uint64_t icd_device_clock(cl_device_id device, uint64_t cpu_ns);

/* ---- context -------------------------------------------------------------------- */

/* A released object that work on the GPU may still use (retire.h). It is embedded in its owner. */
struct icd_retired {
  struct icd_retired *next;
  void (*destroy)(void *owner);
  void *owner;
  uint64_t point; /* last point of the current queue for which the object waits */
};

typedef void(CL_CALLBACK *icd_context_notify)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *icd_context_callback)(cl_context, void *);

struct icd_context_destructor {
  struct icd_context_destructor *next;
  icd_context_callback function;
  void *data;
};

typedef void(CL_CALLBACK *icd_print_callback)(const char *, size_t, size_t, void *);

/* The printf output of kernels (icd/context/print.c). */
struct icd_prints {
  icd_print_callback callback; /* CL_PRINTF_CALLBACK_ARM, or NULL for standard output */
  size_t bytes;                /* size of the records in a buffer */
  atomic_uint unwritten;       /* number of launches whose output has not been written */

  struct base_mutex lock;    /* guards what follows */
  pthread_cond_t written;    /* signalled when the output of a launch has been written */
  struct icd_print *pending; /* launches that may print, most recent first */
  struct icd_print *writing; /* launches whose output a thread is writing */
  struct icd_print *idle;    /* buffers to be reused */
  unsigned pending_count;
  uint64_t count; /* number of launches that print, so far */
};

struct _cl_context {
  struct icd_object object;
  cl_device_id device;
  struct rt_context *rt;
  cl_context_properties *properties; /* copy of the list, 0-terminated, or NULL if there is none */
  size_t property_count;             /* length in words including the 0, or 0 if there is no list */
  icd_context_notify notify;
  void *notify_data;
  atomic_bool fault_reported; /* the fault has been reported to notify */
  struct icd_prints prints;
  atomic_uint host_buffers; /* number of buffers that use the host's pages (host_pages.c) */
  cl_context next_with_host_pages;

  /* Protects the fields below and the state of all events of the context. */
  struct base_mutex lock;
  /* signalled when an event has a new status, a worker has another command, or a retired object
   * has been destroyed */
  pthread_cond_t changed;
  uint64_t changes; /* number of the first two kinds of change */
  struct icd_context_destructor *destructors;
  cl_command_queue queues; /* in ascending order of serial */
  uint64_t next_queue;
  size_t retired_count; /* number of objects that wait for a queue (retire.h) */
  /* Retired objects that the GPU no longer uses, in order of release. */
  struct icd_retired *idle, *last_idle;
  atomic_bool any_retired; /* whether there are objects of either kind */
  unsigned reclaiming;     /* number of them that are being destroyed */
  bool has_reclaimer;      /* a thread is waiting for the retired objects */
  cl_event free_events;
  cl_mem *svm; /* allocations of shared virtual memory in ascending order of address (svm.c) */
  size_t svm_count, svm_room;
};

/* Take and drop a reference of the driver to a context. */
static inline void icd_context_hold(cl_context context) {
  icd_object_hold(&context->object);
}
static inline void icd_context_drop(cl_context context) {
  icd_object_drop(&context->object);
}

/* Counts a change and wakes the threads that wait for one. The caller of
 * icd_context_change_locked holds the context's lock. */
void icd_context_change_locked(cl_context context);
void icd_context_change(cl_context context);
/* icd_context_changes returns the number of changes. icd_context_await_change waits until it
 * differs from changes. */
uint64_t icd_context_changes(cl_context context);
void icd_context_await_change(cl_context context, uint64_t changes);

/* Waits for all commands that are in the context's queues now. */
void icd_context_finish(cl_context context);

/* Reports a fault of the context to notify and TEGRACL_DEBUG=api, unless this has been done. */
void icd_context_report_fault(cl_context context);

/* Size in bytes of the records that one launch can write (CL_DEVICE_PRINTF_BUFFER_SIZE), and its
 * minimum, because applications that set a small size count only characters. */
enum { ICD_PRINT_BYTES = 4 << 20, ICD_PRINT_BYTES_MIN = 1024 };

/* icd_print_init must be called after the context's properties have been set. */
void icd_print_init(cl_context context);
void icd_print_finish(cl_context context);

/* Calls rt_queue_launch with a print buffer. The caller holds the queue's lock. */
int icd_print_launch(cl_command_queue queue, cl_kernel kernel, const struct rt_launch *launch);

/* Waits until fewer than PENDING_MAX launches of the context have unwritten output. Must be
 * called without locks before a kernel that prints is launched. */
void icd_print_wait_for_room(cl_context context);

/* Writes the output of all launches that have completed, in the order of submission, and waits
 * for output of the queue that another thread is writing. The thread that finds a command of the
 * queue complete must call this, without locks, before it reports that to the application. */
void icd_print_drain(cl_command_queue queue);

/* ---- memory object ------------------------------------------------------------------ */

typedef void(CL_CALLBACK *icd_mem_callback)(cl_mem, void *);

struct icd_mem_destructor {
  struct icd_mem_destructor *next;
  icd_mem_callback function;
  void *data;
};

/* A box in a memory object. */
struct icd_box {
  size_t offset;                 /* of the first byte, in the object itself and not its parent */
  size_t region[3];              /* bytes, rows, slices */
  size_t row_bytes, slice_bytes; /* pitches */
};

/* A region that the application has mapped. The list of the memory object and each command that
 * maps or unmaps it hold a reference. */
struct icd_mapping {
  struct icd_mapping *next;
  atomic_uint references;
  bool mapped; /* on the list */
  cl_mem mem;
  char *pointer;
  struct icd_box box;
  cl_map_flags flags;
};

/* The format and layout of an image: texels at fixed distances in memory. */
struct icd_image {
  cl_mem_object_type type;
  cl_image_format format;
  /* Numbers of texels, rows and slices. The layers of an array are counted in the dimension
   * after those of a layer. Dimensions that the type lacks have size 1. */
  size_t extent[3];
  size_t element;                /* bytes of a texel */
  size_t row_pitch, slice_pitch; /* bytes, as in OpenCL; slice_pitch is 0 without slices */
  size_t stride[3];              /* bytes to the next texel, row and slice, as counted in extent */
  struct kernel_image kernel;    /* descriptor that kernels get */
};

/* Values for clGetMemAllocInfoINTEL and clGetSVMPointerInfoKHR. */
struct icd_usm {
  /* 0 if not allocated with cl_intel_unified_shared_memory */
  cl_unified_shared_memory_type_intel type;
  cl_uint svm_type; /* index in icd_svm_types */
  cl_mem_alloc_flags_intel flags;
  cl_device_id device;
};

struct _cl_mem {
  struct icd_object object;
  cl_context context;
  union {
    struct icd_usm usm;
    struct icd_retired retired;   /* used after the last reference was released */
    struct icd_delivery delivery; /* used after that if it has destructors */
  };
  struct icd_image *image; /* NULL for a buffer */
  cl_mem parent;           /* the parent of a sub-buffer or of an image in other memory, or NULL */
  cl_mem svm;              /* held; the allocation that contains CL_MEM_USE_HOST_PTR, or NULL */
  size_t origin;           /* in the parent */
  size_t size;
  cl_mem_flags flags;
  void *host_ptr;           /* for CL_MEM_USE_HOST_PTR */
  struct rt_buffer *buffer; /* the parent's for a sub-buffer */
  uint64_t gpu;             /* GPU address of the first byte, passed to kernels */
  char *cpu;                /* CPU address of the same byte */
  cl_mem_properties *properties;
  bool host_pages;     /* uses the host's pages, and is counted by the context */
  bool device_address; /* the address may be queried (cl_ext_buffer_device_address) */
  cl_uint property_count;

  struct icd_lock lock; /* protects the fields below and the map counts of the object's parts */
  cl_uint map_count;
  /* regions of this object and its parts; only in objects without a parent */
  struct icd_mapping *mappings;
  struct icd_mem_destructor *destructors;
};
_Static_assert(BASE_LOCK_ORDER || sizeof(struct _cl_mem) <= 192,
               "a memory object has at most three cache lines");

static inline void icd_mem_hold(cl_mem mem) {
  icd_object_hold(&mem->object);
}
static inline void icd_mem_drop(cl_mem mem) {
  icd_object_drop(&mem->object);
}
/* For clReleaseMemObject. */
cl_int icd_mem_release(cl_mem mem);

/* Creates a memory object in new memory (svm is NULL), or at place in an allocation of shared
 * virtual memory, whose reference it takes over on success. The caller has checked the flags. On
 * failure sets *code, reports the error under the name call and returns NULL. */
cl_mem icd_mem_create(cl_context context, cl_mem_flags flags, size_t size, cl_mem svm, char *place,
                      cl_int *code, const char *call);

/* Returns CL_INVALID_VALUE if flags are unknown or mutually exclusive. */
cl_int icd_check_mem_flags(cl_context context, cl_mem_flags flags, cl_mem_flags known,
                           const char *call);

/* Creates a memory object at a byte offset of a buffer of the runtime. Takes ownership of the
 * buffer even on failure. */
cl_mem icd_mem_wrap(cl_context context, cl_mem_flags flags, size_t size, struct rt_buffer *buffer,
                    size_t offset, cl_int *code, const char *call);

/* Creates a memory object in a dma-buf. The caller keeps the file descriptor. size may be
 * CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM. The error code is refused if the file descriptor is not
 * a dma-buf, and small if the dma-buf has fewer bytes. */
cl_mem icd_mem_import(cl_context context, cl_mem_flags flags, size_t size, int dma_buf,
                      cl_int refused, cl_int small, cl_int *code, const char *call);

/* Returns the value of a property in a list, or NULL. */
const cl_mem_properties *icd_find_mem_property(const cl_mem_properties *properties,
                                               cl_mem_properties name);

/* Returns the allocation of shared virtual memory that contains pointer, with a reference, or
 * NULL. The end of an allocation counts as inside. */
cl_mem icd_svm_find(cl_context context, const void *pointer);

/* ---- sampler -------------------------------------------------------------------------- */

struct _cl_sampler {
  struct icd_object object;
  cl_context context; /* held */
  cl_bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
  uint32_t bits;                       /* bits of enum kernel_sampler, passed to kernels */
  cl_sampler_properties properties[7]; /* as passed by the application: three pairs and the 0 */
  /* length in words including the 0, or 0 if there is no list */
  size_t property_count;
};

/* ---- program and kernel (icd/program/program.c, build.c, kernel.c) ------------------------- */

/* The code of one build, in the context's memory. Programs and kernels hold references to it.
 * After the last is released it remains until the GPU has completed all work that has been
 * submitted by then. */
struct icd_module {
  _Atomic uint32_t references;
  struct icd_retired retired;
  cl_context context; /* held */
  struct module_code *code;
  struct rt_module *rt;
};

/* Takes over code, even on failure. Returns 0, or -errno with rt_last_message. The caller gets
 * the only reference. */
int icd_module_create(cl_context context, struct module_code *code, struct icd_module **module);
/* Reads a program binary and loads it into the context's memory. Returns CC_OK if it could be
 * read. *code is then CL_SUCCESS and *module is set, or *code is the reason why it could not be
 * loaded. Writes a message to why in both cases of failure. */
enum cc_status icd_module_place(cl_context context, const void *binary, size_t size,
                                struct icd_module **module, cl_int *code, char *why,
                                size_t why_size);
void icd_module_hold(struct icd_module *module);
void icd_module_drop(struct icd_module *module); /* NULL is allowed */

/* The background build of a program in units (icd/program/units.h). */
struct icd_units {
  struct cc_background *background; /* held; NULL if there is none */
  struct icd_module **modules;      /* by unit; NULL if not needed so far */
  size_t count;
  bool settled;                       /* the program has the result of the build */
  cl_program_binary_type binary_type; /* of the program's binary until then */
};

struct _cl_program {
  struct icd_object object;
  cl_context context; /* held */
  char *source;       /* concatenated and NUL-terminated; NULL if created from something else */
  size_t source_size; /* without the NUL */
  void *il;           /* SPIR-V as passed by the application; NULL if created from something else */
  size_t il_size;
  bool linked; /* created by clLinkProgram */

  struct base_mutex lock; /* protects the fields below */
  /* il in native byte order, with the values of its specialization constants */
  uint32_t *il_words;
  char *options; /* of the last build; NULL means "" */
  char *log;     /* of the last build; NULL means "" */
  cl_build_status status;
  cl_program_binary_type binary_type;
  void *binary; /* program binary, from the application or a build; else NULL */
  size_t binary_size;
  struct icd_module *module; /* of the whole program; NULL if not built, or built in units */
  struct icd_units units;
  cl_uint kernels; /* number of kernels that the application holds */
};

/* Creates a program without source and binary. Returns NULL if out of memory. */
cl_program icd_program_create(cl_context context);
static inline void icd_program_hold(cl_program program) {
  icd_object_hold(&program->object);
}
static inline void icd_program_drop(cl_program program) {
  icd_object_drop(&program->object);
}

/* The range of a launch. After work_dim the offset is 0 and the sizes are 1. */
struct icd_range {
  cl_uint work_dim;
  size_t offset[3], global[3];
  size_t local[3]; /* all 0 if the driver chooses */
};

struct _cl_kernel {
  struct icd_object object;
  cl_program program;       /* held */
  struct icd_module *owner; /* held; has code and module */
  const struct kernel_code *code;
  uint32_t index; /* of code in module_code.kernels */
  struct rt_module *module;
  uint32_t max_threads; /* from rt_kernel_max_threads */
  uint32_t local_args;  /* number of arguments of kind KERNEL_ARG_LOCAL */
  atomic_bool detached; /* the application has released the kernel */

  /* Protects the fields below. icd_launch_prepare writes the hidden block and the offsets of
   * local arguments into params. */
  struct icd_lock guard;
  struct rt_shape *shape;
  unsigned char *params; /* in shape; code->param_bytes */
  uint32_t *local_sizes; /* by argument: size of a KERNEL_ARG_LOCAL */
  /* by argument: the buffer, or NULL; not held, as the specification requires */
  cl_mem *buffers;
  bool *set;      /* by argument: whether it has been set */
  uint32_t unset; /* number of arguments that have not been set */
  /* The last launch. If ready, another launch over the same range only needs a copy of the
   * shape. */
  struct icd_range range;
  struct rt_launch launch; /* checked; the offsets of local blocks are in params */
  struct rt_cut cut;       /* of the launch, if it has very many grids */
  bool ready;
};

static inline void icd_kernel_hold(cl_kernel kernel) {
  icd_object_hold(&kernel->object);
}
static inline void icd_kernel_drop(cl_kernel kernel) {
  icd_object_drop(&kernel->object);
}

/* Copies a kernel and its arguments. program.kernels does not count the copy. kind is the kind
 * of its lock. The caller gets the only reference. Returns NULL if out of memory. */
cl_kernel icd_kernel_clone(cl_kernel kernel, enum base_lock_kind kind);
/* Returns CL_INVALID_KERNEL_ARGS if an argument has not been set. The caller holds the kernel's
 * lock. */
cl_int icd_check_arguments(cl_kernel kernel, const char *call);

/* ---- event -------------------------------------------------------------------------- */

typedef void(CL_CALLBACK *icd_event_notify)(cl_event, cl_int, void *);

struct icd_event_callback {
  struct icd_event_callback *next;
  struct icd_delivery delivery;
  cl_event event; /* held from when the callback is due */
  cl_int status;  /* CL_SUBMITTED, CL_RUNNING or CL_COMPLETE; the one to pass when it is due */
  icd_event_notify function;
  void *data;
};

/* An event is tracked once its command has been submitted to the GPU. From then on the queue's
 * timeline shows whether the command has completed, and a query updates status. A thread sets
 * the status of other events. */
struct _cl_event {
  struct icd_object object;
  cl_context context;
  cl_command_queue queue; /* NULL for a user event */
  cl_command_type type;
  atomic_int status; /* CL_QUEUED to CL_COMPLETE, or an error */
  atomic_bool tracked;
  uint64_t point; /* of queue; valid if tracked */
  bool profiled;
  struct rt_times *times;               /* tracked and profiled events only, until completion */
  uint64_t queued_ns, submit_ns;        /* CPU clock */
  uint64_t start_ns, end_ns;            /* GPU clock; valid after completion */
  struct icd_event_callback *callbacks; /* protected by the context's lock */
  /* held user events that end with this event; protected by the context's lock */
  cl_event promises, next_promise;
  struct icd_retired retired;
  cl_event next_free;
  cl_event next_watched; /* icd/queue/watcher.c */
  bool watched;          /* has been passed to the watcher; protected by the context's lock */
};

/* Creates an event of a queue in state CL_QUEUED. The caller gets the only reference, which
 * belongs to the application. Returns NULL if out of memory. */
cl_event icd_event_create(cl_context context, cl_command_queue queue, cl_command_type type);
static inline void icd_event_hold(cl_event event) {
  icd_object_hold(&event->object);
}
static inline void icd_event_drop(cl_event event) {
  icd_object_drop(&event->object);
}

/* Returns the current status, after reading the GPU's timeline. */
cl_int icd_event_status(cl_event event);

/* Changes the status to CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or an error. Another thread calls the
 * callbacks. start_ns and end_ns are on the device's clock and are only used with CL_COMPLETE.
 * Returns false if the event has already ended. */
bool icd_event_set(cl_event event, cl_int status, uint64_t start_ns, uint64_t end_ns);

/* Adds a callback, which is called at once if it is already due. icd_deliver_later has been called
 * for it. The caller calls icd_event_watch. */
void icd_event_add_callback(cl_event event, struct icd_event_callback *callback);
/* Makes a user event end with the event. Takes over the caller's reference to it, and the caller
 * calls icd_event_watch. */
void icd_event_promise(cl_event event, cl_event promise);

/* Marks an event as submitted. Its command completes when the queue reaches point. The event
 * takes ownership of times, which the GPU writes and which may be NULL. */
void icd_event_track(cl_event event, uint64_t point, struct rt_times *times);

/* Starts a thread that waits for the event if it is tracked and has callbacks or promises. Must be
 * called without locks after the event has become tracked or has got one of them. */
void icd_event_watch(cl_event event);

/* icd_event_wait waits until the event has ended, and returns CL_COMPLETE or an error.
 * icd_event_await_submission waits until the event is tracked or has ended. */
cl_int icd_event_wait(cl_event event);
void icd_event_await_submission(cl_event event);

/* ---- command queue -------------------------------------------------------------------- */

struct icd_command;

struct _cl_command_queue {
  struct icd_object object;
  cl_context context;
  cl_device_id device;
  cl_command_queue_properties flags;
  cl_queue_properties *properties; /* copy of the list, 0-terminated, or NULL if there is none */
  size_t property_count;
  struct rt_queue *rt;
  uint64_t serial; /* number in the context */
  /* point of the last barrier, for which later commands of an out-of-order queue wait */
  _Atomic uint64_t barrier;
  cl_command_queue next; /* in the context's list */
  /* Retired objects that wait for this queue, in ascending order of point. Protected by the
   * context's lock. */
  struct icd_retired *retired, *last_retired;

  struct icd_lock lock; /* protects rt and the fields below */
  /* signalled for the worker when there is a command or stop is set */
  struct icd_condition work;
  struct icd_condition done;        /* signalled when the worker has completed a command */
  struct icd_command *first, *last; /* deferred commands in order of enqueueing */
  uint64_t deferred;                /* number of commands deferred so far */
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
