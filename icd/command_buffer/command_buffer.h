/* Command buffers: what their files share. */
#ifndef TEGRACL_COMMAND_BUFFER_H
#define TEGRACL_COMMAND_BUFFER_H

#include "icd/command_buffer/command_buffer_api.h"
#include "icd/queue/command.h"

/* Commands that the GPU gets in one piece, up to a launch that prints. That is launched
 * anew each time, as any other that prints: with its own buffer. */
struct icd_part {
  struct icd_part *next;
  struct rt_recording *rt;
  cl_kernel printer; /* held; NULL: none, this is the last part */
};

/* All commands as the GPU gets them. Does not change while it is in flight: a change of
 * the command buffer then writes another one, new or completed. */
struct icd_recording {
  struct icd_recording *next;
  atomic_uint users;     /* enqueues on their way to the GPU */
  struct icd_lock guard; /* of the parts, while there are users */
  struct icd_part first;
};

/* Kernel and range of a launch. The kernel is a clone, with its own arguments, for this launch
 * alone. */
struct icd_dispatch {
  cl_kernel kernel;
  struct icd_range range; /* no global size: nothing */
};

/* One command. The application may have a handle of it, which counts no references. */
struct _cl_mutable_command_khr {
  struct icd_object object;
  cl_command_buffer_khr buffer;
  cl_mutable_command_khr next;
  cl_command_properties_khr *properties; /* as given, with the 0; NULL if none */
  size_t property_count;
  bool waits;                     /* for all commands before it */
  struct icd_operation operation; /* COPY, FILL, MARK; of a LAUNCH the kind. Its mems are held */
  /* Of a LAUNCH: */
  cl_kernel kernel;                      /* as given; held */
  cl_mutable_dispatch_fields_khr fields; /* that may be changed */
  struct icd_dispatch dispatch;
  struct icd_dispatch staged; /* while a change is tried */
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

  struct base_mutex lock; /* guards what follows, and the commands */
  cl_mutable_command_khr first, *end;
  cl_uint count;
  cl_uint settled; /* commands before the last one that waits: complete for all later ones */
  bool finalized;
  struct icd_recording *recordings; /* destroyed with the buffer */

  _Atomic(struct icd_recording *) current; /* one of them; NULL: not executable */
};

#define icd_is_command_buffer(handle)                                                              \
  icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_COMMAND_BUFFER)

/* What may be changed of a launch. */
static inline cl_mutable_dispatch_fields_khr icd_mutable_fields(const struct rt_device_info *info) {
  const cl_mutable_dispatch_fields_khr all =
      CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
      CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
  return info->shared_addresses ? all | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR : all;
}

/* Reads a list of pairs, of which two names are known: CL_INVALID_VALUE for other names,
 * for one given twice and for bits that are not known. */
struct icd_flag_property {
  cl_properties name;
  cl_bitfield known;
  cl_bitfield *value; /* left as it is if the list does not have it */
  bool seen;
};
cl_int icd_read_flags(cl_context context, const cl_properties *list,
                      struct icd_flag_property known[2], size_t *words, const char *call);

/* For icd_launch_begin; the range stays the caller's. */
struct icd_operation icd_recorded_launch(cl_kernel kernel, const struct icd_range *range);

static inline bool icd_is_empty(const struct icd_range *range) {
  return !range->global[0] || !range->global[1] || !range->global[2];
}

/* Writes all commands, with staged changes, into another recording and makes it current. Does
 * nothing while there are arguments to be set. The lock is held. */
cl_int icd_command_buffer_record(cl_command_buffer_khr buffer, const char *call);

/* Frees all parts but the first, and empties that (replay.c, as what follows). */
void icd_recording_clear(struct icd_recording *recording);
/* After the last reference was released. */
void icd_command_buffer_retire(struct icd_object *buffer);
void icd_mutable_command_free(cl_mutable_command_khr command);

#endif
