/* Declarations for all files about command buffers. */
#ifndef TEGRACL_COMMAND_BUFFER_H
#define TEGRACL_COMMAND_BUFFER_H

#include "icd/command_buffer/command_buffer_api.h"
#include "icd/queue/command.h"

/* Commands that the GPU gets as one piece, up to a kernel that prints. Such a kernel is launched
 * anew on each replay with its own print buffer, like any other launch that prints. */
struct icd_part {
  struct icd_part *next;
  struct rt_recording *rt;
  cl_kernel printer; /* held; NULL in the last part */
};

/* All commands as the GPU gets them. A recording in flight does not change. When the command
 * buffer changes, a new recording or one that has completed is written instead. */
struct icd_recording {
  struct icd_recording *next;
  atomic_uint users;     /* number of replays that have not yet been submitted */
  struct icd_lock guard; /* protects the parts while there are users */
  struct icd_part first;
};

/* Kernel and range of a launch. The kernel is a clone with its own arguments, used only by this
 * launch. */
struct icd_dispatch {
  cl_kernel kernel;
  struct icd_range range; /* global sizes of 0 mean that there is no work */
};

/* A command. The application may have a handle to it, which is not reference counted. */
struct _cl_mutable_command_khr {
  struct icd_object object;
  cl_command_buffer_khr buffer;
  cl_mutable_command_khr next;
  /* copy of the list including the 0; NULL if there is none */
  cl_command_properties_khr *properties;
  size_t property_count;
  bool waits; /* whether it waits for all earlier commands */
  /* a COPY, FILL or MARK, whose mems are held, or the kind LAUNCH */
  struct icd_operation operation;
  /* Of a LAUNCH: */
  cl_kernel kernel;                      /* as passed by the application; held */
  cl_mutable_dispatch_fields_khr fields; /* fields that may be changed */
  struct icd_dispatch dispatch;
  struct icd_dispatch staged; /* used while an update is tried */
};

struct _cl_command_buffer_khr {
  struct icd_object object;
  cl_context context;     /* held */
  cl_command_queue queue; /* held */
  cl_command_buffer_properties_khr *properties;
  size_t property_count;
  cl_command_buffer_flags_khr flags;
  cl_mutable_dispatch_asserts_khr asserts;
  struct icd_retired retired;

  struct base_mutex lock; /* protects the fields below and the commands */
  cl_mutable_command_khr first, *end;
  cl_uint count;
  /* number of commands before the last one that waits; later commands need not wait for them */
  cl_uint settled;
  bool finalized;
  struct icd_recording *recordings; /* destroyed with the buffer */

  _Atomic(struct icd_recording *) current; /* one of them, or NULL if not executable */
};

#define icd_is_command_buffer(handle)                                                              \
  icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_COMMAND_BUFFER)

/* Returns the fields of a launch that may be changed. */
static inline cl_mutable_dispatch_fields_khr icd_mutable_fields(const struct rt_device_info *info) {
  const cl_mutable_dispatch_fields_khr all =
      CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
      CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
  return info->shared_addresses ? all | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR : all;
}

/* Reads a list of property and value pairs with two known properties. Returns CL_INVALID_VALUE
 * if a property is unknown or given twice, or if a value has unknown bits. */
struct icd_flag_property {
  cl_properties name;
  cl_bitfield known;
  cl_bitfield *value; /* not changed if the list lacks the property */
  bool seen;
};
cl_int icd_read_flags(cl_context context, const cl_properties *list,
                      struct icd_flag_property known[2], size_t *words, const char *call);

/* Returns the operation for icd_launch_begin. It refers to *range, which must remain valid. */
struct icd_operation icd_recorded_launch(cl_kernel kernel, const struct icd_range *range);

static inline bool icd_is_empty(const struct icd_range *range) {
  return !range->global[0] || !range->global[1] || !range->global[2];
}

/* Writes all commands, with staged changes, into another recording and makes it current. Does
 * nothing while kernel arguments have not been set. The caller holds the lock. */
cl_int icd_command_buffer_record(cl_command_buffer_khr buffer, const char *call);

/* Frees all parts but the first, and empties that one. Defined in replay.c, like the functions
 * below. */
void icd_recording_clear(struct icd_recording *recording);
/* Destroys the command buffer when the GPU no longer uses it. Called after the last reference was
 * released. */
void icd_command_buffer_retire(struct icd_object *buffer);
void icd_mutable_command_free(cl_mutable_command_khr command);

#endif
