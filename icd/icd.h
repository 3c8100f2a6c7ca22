/* Declarations for all files of the OpenCL layer: the header of each object, reference counts,
 * error reporting and info queries. The objects are in icd/objects.h.
 *
 * Functions that applications call have their OpenCL names, are listed in icd/platform/dispatch.c,
 * and are hidden in the library except for those in icd/platform/exports.map. Each makes its checks
 * in the order of the specification's list of errors, and reports why it fails.
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

/* The magic number of each kind of object, so that a foreign or stale handle is an error and not
 * a crash. It is cleared when the object is destroyed. */
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
 * version 1 call through dispatch, and loaders of version 2 use dispatch_data for their own
 * data. */
struct icd_object {
  const cl_icd_dispatch *dispatch;
  void *_Atomic dispatch_data;
  _Atomic uint32_t magic;
  _Atomic uint32_t references; /* references of the application and the driver */
  _Atomic uint32_t handles;    /* references of the application, for *_REFERENCE_COUNT */
};

/* The dispatch table. It has space for functions that later headers append, because loaders do
 * not check its length. */
enum { ICD_TABLE_SLOTS = 512 };
union icd_table {
  cl_icd_dispatch entries;
  void *slots[ICD_TABLE_SLOTS];
};
extern union icd_table icd_dispatch; /* filled by icd/platform/dispatch.c */

/* Sets dispatch_data of objects that are created later, but not of existing ones. For
 * clIcdSetPlatformDispatchDataKHR. */
void icd_objects_set_dispatch_data(void *data);

/* Returns zeroed memory for an object, or NULL if out of memory. The memory of a freed object is
 * only reused for objects of the same kind. */
void *icd_object_new(enum icd_magic kind, size_t size);
void icd_object_free(enum icd_magic kind, void *object); /* NULL is fine */
/* Whether a number, which may have any value, is the handle of a live object of that kind. */
bool icd_object_exists(enum icd_magic kind, uint64_t number);

/* Properties of a kind of object. */
struct icd_kind {
  enum icd_magic magic;
  /* Destroys an object after its last reference was released, when its handle is already
   * invalid. NULL for kinds without reference counts. */
  void (*destroy)(struct icd_object *object);
};

/* Makes a new object valid. It has one reference, which belongs to the application. */
void icd_object_init(struct icd_object *object, const struct icd_kind *kind);

/* References of the driver. icd_object_drop destroys the object if it drops the last reference,
 * and then returns true. */
void icd_object_hold(struct icd_object *object);
/* Returns false if the last reference has been released and the object is about to be destroyed. */
bool icd_object_try_hold(struct icd_object *object);
bool icd_object_drop(struct icd_object *object);

/* References of the application, for clRetain* and clRelease*. icd_object_release returns
 * CL_SUCCESS, or invalid if the application has no reference left (the driver may still hold the
 * object). */
void icd_object_retain(struct icd_object *object);
cl_int icd_object_release(struct icd_object *object, cl_int invalid);

/* Added to the magic numbers of all objects. It differs in each child of fork. */
extern uint32_t icd_generation;
/* Called in a child of fork. Makes the parent's handles invalid and forgets its freed objects. */
void icd_objects_forked(void);

static inline bool icd_object_is(const struct icd_object *object, enum icd_magic magic) {
  return object && atomic_load_explicit(&((struct icd_object *)object)->magic,
                                        memory_order_relaxed) == (uint32_t)magic + icd_generation;
}

/* Return whether the handle is a live object of this kind that this driver has created. */
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

/* Reports an error and returns code. The message goes to stderr if TEGRACL_DEBUG has "api", and
 * to the notify callback of the context if it has one. context may be NULL. */
cl_int icd_fail(cl_context context, cl_int code, const char *call, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
/* Writes a message that is not an error to stderr if TEGRACL_DEBUG has "api". */
void icd_note(const char *call, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* Whether TEGRACL_DEBUG has "build". */
bool icd_debug_build(void);
#define ICD_FAIL(context, code, ...) icd_fail((context), (code), __func__, __VA_ARGS__)

/* Stores code and returns NULL, for functions that return an object. */
static inline void *icd_null(cl_int *errcode_ret, cl_int code) {
  if (errcode_ret)
    *errcode_ret = code;
  return NULL;
}
#define ICD_FAIL_NULL(errcode_ret, context, code, ...)                                             \
  icd_null((errcode_ret), icd_fail((context), (code), __func__, __VA_ARGS__))

/* Stores CL_SUCCESS and returns object. */
#define ICD_GIVE(errcode_ret, object)                                                              \
  (((errcode_ret) ? (void)(*(errcode_ret) = CL_SUCCESS) : (void)0), (object))

/* The notify callback may use any object and wait for threads that do, so it must not be called
 * while this thread holds a lock. Between these two calls, which may be nested, icd_fail keeps
 * its messages. The outermost icd_release_notify delivers them. */
void icd_hold_notify(void);
void icd_release_notify(void);
/* icd_enter locks a mutex and calls icd_hold_notify. icd_leave unlocks it and calls
 * icd_release_notify. */
void icd_enter(struct base_mutex *mutex);
void icd_leave(struct base_mutex *mutex);

/* Converts -errno of the runtime to an OpenCL code. -ENOMEM becomes no_memory. */
cl_int icd_code(int error, cl_int no_memory);

/* ---- info queries --------------------------------------------------------------- */

/* The result parameters of an info query. */
struct icd_answer {
  size_t size;
  void *value;
  size_t *size_ret;
};

/* Writes size bytes of data. Returns CL_SUCCESS, or CL_INVALID_VALUE if the space is too small,
 * which it reports under the name call. */
cl_int icd_answer_bytes(const struct icd_answer *answer, const char *call, const void *data,
                        size_t size);
cl_int icd_answer_string(const struct icd_answer *answer, const char *call, const char *text);
#define ICD_ANSWER(answer, type, expression)                                                       \
  icd_answer_bytes((answer), __func__, &(type){(expression)}, sizeof(type))
#define ICD_ANSWER_STRING(answer, text) icd_answer_string((answer), __func__, (text))

#endif
