/* What every file of the OpenCL layer shares: the header at the front of each
 * object, reference counts, the error helper, the writers of info queries.
 * The objects themselves are in icd/objects.h.
 *
 * Entry points have their OpenCL names (hidden in the library except for those
 * of icd/platform/exports.map) and are gathered in icd/platform/dispatch.c. Each checks in the
 * order of the specification's error lists and says why it refuses.
 */
#ifndef TEGRACL_ICD_H
#define TEGRACL_ICD_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

/* ---- objects ---------------------------------------------------------------- */

/* One word for each kind of object, so that a foreign or stale handle is an
 * error and not a crash. Cleared when the object is destroyed. */
enum icd_magic {
  ICD_MAGIC_PLATFORM = 0x7C1A0001,
  ICD_MAGIC_DEVICE,
  ICD_MAGIC_CONTEXT,
  ICD_MAGIC_QUEUE,
  ICD_MAGIC_MEM,
  ICD_MAGIC_PROGRAM,
  ICD_MAGIC_KERNEL,
  ICD_MAGIC_EVENT,
  ICD_MAGIC_SAMPLER,
  ICD_MAGIC_SEMAPHORE,
  ICD_MAGIC_COMMAND_BUFFER,
  ICD_MAGIC_MUTABLE_COMMAND,
  ICD_MAGIC_END,
};

/* The first member of every object. cl_khr_icd requires its first two members: loaders of
 * version 1 call through dispatch, those of version 2 through their own data at dispatch_data. */
struct icd_object {
  const cl_icd_dispatch *dispatch;
  void *_Atomic dispatch_data;
  _Atomic uint32_t magic;
  _Atomic uint32_t references; /* all: the application's and the driver's own */
  _Atomic uint32_t handles;    /* the application's: what *_REFERENCE_COUNT says */
};

/* The dispatch table, with room for the functions that later headers append: loaders made with
 * them do not check the length. */
enum { ICD_TABLE_SLOTS = 512 };
union icd_table {
  cl_icd_dispatch entries;
  void *slots[ICD_TABLE_SLOTS];
};
extern union icd_table icd_dispatch; /* filled by icd/platform/dispatch.c */

/* For clIcdSetPlatformDispatchDataKHR: dispatch_data of the objects made from now on. Live objects
 * keep theirs. */
void icd_objects_set_dispatch_data(void *data);

/* Cleared memory for an object. NULL: no memory. The memory of a freed object is only used for
 * later objects of its kind. */
void *icd_object_new(enum icd_magic kind, size_t size);
void icd_object_free(enum icd_magic kind, void *object); /* NULL is fine */
/* Whether a number, which may be anything, is the handle of a live object of that kind. */
bool icd_object_exists(enum icd_magic kind, uint64_t number);

/* What differs between the kinds of objects. All objects of a kind have the same one. */
struct icd_kind {
  enum icd_magic magic;
  /* Destroys an object whose last reference was released: its handle is invalid already. NULL for
   * a kind whose objects are not counted. */
  void (*destroy)(struct icd_object *object);
};

/* Makes a new object valid with one reference, the application's handle. */
void icd_object_init(struct icd_object *object, const struct icd_kind *kind);

/* The driver's own references. icd_object_drop destroys the object with the last reference, and
 * is true then. */
void icd_object_hold(struct icd_object *object);
/* False if the object is about to be destroyed: its last reference was released. */
bool icd_object_try_hold(struct icd_object *object);
bool icd_object_drop(struct icd_object *object);

/* The application's references, for clRetain* and clRelease*.
 * icd_object_release gives CL_SUCCESS, or invalid if the application has no
 * handle left to release (the driver may still hold the object). */
void icd_object_retain(struct icd_object *object);
cl_int icd_object_release(struct icd_object *object, cl_int invalid);

/* Added to the numbers of all objects: another one in each child of fork. */
extern uint32_t icd_generation;
/* In a child of fork: makes the parent's handles invalid and forgets its freed objects. */
void icd_objects_forked(void);

static inline bool icd_object_is(const struct icd_object *object, enum icd_magic magic) {
  return object && atomic_load_explicit(&((struct icd_object *)object)->magic,
                                        memory_order_relaxed) == (uint32_t)magic + icd_generation;
}

/* True if the handle is a live object of that kind of ours. */
#define icd_is_platform(handle)                                                                    \
  icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_PLATFORM)
#define icd_is_device(handle)  icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_DEVICE)
#define icd_is_context(handle) icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_CONTEXT)
#define icd_is_queue(handle)   icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_QUEUE)
#define icd_is_mem(handle)     icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_MEM)
#define icd_is_program(handle) icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_PROGRAM)
#define icd_is_kernel(handle)  icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_KERNEL)
#define icd_is_event(handle)   icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_EVENT)
#define icd_is_sampler(handle) icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_SAMPLER)

/* ---- errors ----------------------------------------------------------------- */

/* Returns code. The sentence goes to stderr if TEGRACL_DEBUG has "api", and to
 * the notify callback of the context if there is one (context may be NULL). */
cl_int icd_fail(cl_context context, cl_int code, const char *call, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
/* A message that is no error, to stderr if TEGRACL_DEBUG has "api". */
void icd_note(const char *call, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* TEGRACL_DEBUG=build. */
bool icd_debug_build(void);
#define ICD_FAIL(context, code, ...) icd_fail((context), (code), __func__, __VA_ARGS__)

/* The same for entry points that return an object: stores the code, gives NULL. */
static inline void *icd_null(cl_int *errcode_ret, cl_int code) {
  if (errcode_ret)
    *errcode_ret = code;
  return NULL;
}
#define ICD_FAIL_NULL(errcode_ret, context, code, ...)                                             \
  icd_null((errcode_ret), icd_fail((context), (code), __func__, __VA_ARGS__))

/* Stores CL_SUCCESS and evaluates to object. */
#define ICD_GIVE(errcode_ret, object)                                                              \
  (((errcode_ret) ? (void)(*(errcode_ret) = CL_SUCCESS) : (void)0), (object))

/* The notify callback may use any object, and wait for other threads that do, so it must not
 * be called while this thread holds a lock. Between these two calls, which may be nested,
 * icd_fail keeps its messages; the outermost icd_release_notify delivers them. */
void icd_hold_notify(void);
void icd_release_notify(void);
/* The same with a mutex. */
void icd_enter(struct base_mutex *mutex);
void icd_leave(struct base_mutex *mutex);

/* The OpenCL code for a -errno of the runtime: -ENOMEM gives no_memory. */
cl_int icd_code(int error, cl_int no_memory);

/* ---- info queries --------------------------------------------------------------- */

/* The caller's place for one answer. */
struct icd_answer {
  size_t size;
  void *value;
  size_t *size_ret;
};

/* Writes size bytes of data: CL_SUCCESS, or CL_INVALID_VALUE (with a sentence
 * under the name of call) if the place is too small. */
cl_int icd_answer_bytes(const struct icd_answer *answer, const char *call, const void *data,
                        size_t size);
cl_int icd_answer_string(const struct icd_answer *answer, const char *call, const char *text);
#define ICD_ANSWER(answer, type, expression)                                                       \
  icd_answer_bytes((answer), __func__, &(type){(expression)}, sizeof(type))
#define ICD_ANSWER_STRING(answer, text) icd_answer_string((answer), __func__, (text))

#endif
