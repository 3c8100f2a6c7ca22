/* Updates of launches in a finalized command buffer (cl_khr_command_buffer_mutable_dispatch). Every
 * launch has its own kernel. An update changes clones of these kernels with the functions that set
 * arguments of any kernel, and then replaces either all of them or none. A recording in flight does
 * not change; another one is written.
 */
#include <string.h>

#include "icd/command_buffer/command_buffer.h"
#include "icd/memory/svm.h"

#define CALL "clUpdateMutableCommandsKHR"

static cl_int refuse_update(cl_command_buffer_khr buffer, cl_int code, const char *why) {
  return icd_fail(buffer->context, code, CALL, "%s", why);
}

/* ---- checks ------------------------------------------------------------------------- */

static cl_int check_list(cl_command_buffer_khr buffer, cl_uint count, const void *list,
                         const char *name) {
  if (!count == !list)
    return CL_SUCCESS;
  return icd_fail(buffer->context, CL_INVALID_VALUE, CALL,
                  "the number of entries of %s is %u, but the list is %s", name, count,
                  list ? "not NULL" : "NULL");
}

static cl_int check_config(cl_command_buffer_khr buffer,
                           const struct icd_mutable_dispatch_config *config) {
  cl_mutable_command_khr command = config->command;
  if (!icd_object_is((const struct icd_object *)command, ICD_MAGIC_MUTABLE_COMMAND) ||
      command->buffer != buffer || !command->kernel)
    return refuse_update(buffer, CL_INVALID_MUTABLE_COMMAND_KHR,
                         "command is not a launch in command_buffer");
  cl_int code;
  if ((code = check_list(buffer, config->num_args, config->arg_list, "arg_list")) ||
      (code = check_list(buffer, config->num_svm_args, config->arg_svm_list, "arg_svm_list")) ||
      (code = check_list(buffer, config->num_exec_infos, config->exec_info_list, "exec_info_list")))
    return code;
  if (config->work_dim && config->work_dim != command->dispatch.range.work_dim)
    return refuse_update(buffer, CL_INVALID_OPERATION, "work_dim cannot be changed by an update");
  const cl_mutable_dispatch_fields_khr wanted =
      (config->global_work_offset ? CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR : 0) |
      (config->global_work_size ? CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR : 0) |
      (config->local_work_size ? CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR : 0) |
      (config->num_args || config->num_svm_args ? CL_MUTABLE_DISPATCH_ARGUMENTS_KHR : 0) |
      (config->num_exec_infos ? CL_MUTABLE_DISPATCH_EXEC_INFO_KHR : 0);
  if (wanted & ~command->fields)
    return icd_fail(buffer->context, CL_INVALID_OPERATION, CALL,
                    "the command does not allow changes of the fields 0x%llx "
                    "(CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR)",
                    (unsigned long long)(wanted & ~command->fields));
  return CL_SUCCESS;
}

/* ---- updates ------------------------------------------------------------------------ */

static cl_int set_arguments(cl_kernel kernel, const struct icd_mutable_dispatch_config *config) {
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < config->num_args && !code; i++) {
    const cl_mutable_dispatch_arg_khr *arg = &config->arg_list[i];
    code = icd_set_arg(kernel, arg->arg_index, arg->arg_size, arg->arg_value, CALL);
  }
  for (cl_uint i = 0; i < config->num_svm_args && !code; i++)
    code = icd_set_svm_arg(kernel, config->arg_svm_list[i].arg_index,
                           config->arg_svm_list[i].arg_value, CALL);
  for (cl_uint i = 0; i < config->num_exec_infos && !code; i++) {
    const cl_mutable_dispatch_exec_info_khr *info = &config->exec_info_list[i];
    code = icd_set_exec_info(kernel, info->param_name, info->param_value_size, info->param_value,
                             CALL);
  }
  return code;
}

static cl_int set_range(cl_mutable_command_khr command,
                        const struct icd_mutable_dispatch_config *config) {
  struct icd_range *range = &command->staged.range;
  const struct icd_range before = *range;
  const struct icd_given_range given = {
      .work_dim = before.work_dim,
      .offset = config->global_work_offset ? config->global_work_offset : before.offset,
      .global = config->global_work_size ? config->global_work_size : before.global,
      .local = config->local_work_size ? config->local_work_size
               : before.local[0]       ? before.local
                                       : NULL};
  return icd_read_range(command->staged.kernel, &given, range, CALL);
}

/* Whether all work-groups of a launch have the same size. */
static bool is_uniform(const struct icd_range *range) {
  for (int i = 0; i < 3; i++)
    if (range->local[0] && range->global[i] % range->local[i])
      return false;
  return true;
}

static cl_int stage_changes(const struct icd_mutable_dispatch_config *config) {
  cl_mutable_command_khr command = config->command;
  cl_command_buffer_khr buffer = command->buffer;
  if (!command->staged.kernel)
    command->staged =
        (struct icd_dispatch){icd_kernel_clone(command->dispatch.kernel, BASE_LOCK_RECORDED_KERNEL),
                              command->dispatch.range};
  if (!command->staged.kernel)
    return refuse_update(buffer, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  cl_int code = set_arguments(command->staged.kernel, config);
  if (!code)
    code = set_range(command, config);
  if (!code && is_uniform(&command->staged.range) != is_uniform(&command->dispatch.range))
    code = refuse_update(
        buffer, CL_INVALID_OPERATION,
        "an update must not change a launch from uniform to non-uniform work-groups or back");
  return code;
}

/* Replaces the launches by the staged ones if good is true, else drops the staged ones. */
static void settle_changes(cl_command_buffer_khr buffer, bool good) {
  for (cl_mutable_command_khr command = buffer->first; command; command = command->next) {
    if (!command->staged.kernel)
      continue;
    icd_kernel_drop(good ? command->dispatch.kernel : command->staged.kernel);
    if (good)
      command->dispatch = command->staged;
    command->staged.kernel = NULL;
  }
}

/* Applies all updates, or none on failure. The caller holds the buffer's lock. */
static cl_int update_commands(cl_command_buffer_khr buffer, cl_uint count, const void **configs) {
  if (!buffer->finalized)
    return refuse_update(buffer, CL_INVALID_OPERATION, "command_buffer has not been finalized");
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < count && !code; i++) {
    code = check_config(buffer, configs[i]);
    if (!code)
      code = stage_changes(configs[i]);
  }
  if (!code)
    code = icd_command_buffer_record(buffer, CALL);
  settle_changes(buffer, !code);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clUpdateMutableCommandsKHR(
    cl_command_buffer_khr buffer, cl_uint config_count,
    const cl_command_buffer_update_type_khr *types, const void **configs) {
  cl_int code;
  if (!icd_is_command_buffer(buffer))
    return icd_fail(NULL, CL_INVALID_COMMAND_BUFFER_KHR, CALL,
                    "command_buffer %p is not a valid cl_command_buffer_khr", (void *)buffer);
  if (!(buffer->flags & CL_COMMAND_BUFFER_MUTABLE_KHR))
    return refuse_update(buffer, CL_INVALID_OPERATION,
                         "command_buffer was created without CL_COMMAND_BUFFER_MUTABLE_KHR");
  if ((code = check_list(buffer, config_count, types, "config_types")) ||
      (code = check_list(buffer, config_count, configs, "configs")))
    return code;
  for (cl_uint i = 0; i < config_count; i++)
    if (types[i] != ICD_MUTABLE_DISPATCH_CONFIG || !configs[i])
      return icd_fail(buffer->context, CL_INVALID_VALUE, CALL,
                      "configs[%u] is NULL or its type 0x%x is unknown", i, types[i]);
  icd_enter(&buffer->lock);
  code = update_commands(buffer, config_count, configs);
  icd_leave(&buffer->lock);
  return code;
}

/* ---- queries ------------------------------------------------------------------------ */

static cl_int answer_sizes(const struct icd_answer *answer, cl_mutable_command_khr command,
                           const size_t sizes[3], const char *call) {
  size_t copy[3];
  cl_command_buffer_khr buffer = command->buffer;
  base_mutex_lock(&buffer->lock);
  memcpy(copy, sizes, sizeof(copy));
  base_mutex_unlock(&buffer->lock);
  return icd_answer_bytes(answer, call, copy, command->dispatch.range.work_dim * sizeof(*copy));
}

CL_API_ENTRY cl_int CL_API_CALL icd_clGetMutableCommandInfoKHR(
    cl_mutable_command_khr command, cl_mutable_command_info_khr param_name, size_t param_value_size,
    void *param_value, size_t *param_value_size_ret) {
  static const char call[] = "clGetMutableCommandInfoKHR";
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_object_is((const struct icd_object *)command, ICD_MAGIC_MUTABLE_COMMAND))
    return icd_fail(NULL, CL_INVALID_MUTABLE_COMMAND_KHR, call,
                    "command %p is not a valid cl_mutable_command_khr", (void *)command);
  const struct icd_range *range = &command->dispatch.range;
  switch (param_name) {
  case CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR:
    return ICD_ANSWER(&answer, cl_command_queue, command->buffer->queue);
  case CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR:
    return ICD_ANSWER(&answer, cl_command_buffer_khr, command->buffer);
  case CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR:
    return ICD_ANSWER(&answer, cl_command_type, command->operation.type);
  case CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR:
    return icd_answer_bytes(&answer, call, command->properties,
                            command->property_count * sizeof(*command->properties));
  /* Only launches have handles, so these queries are always valid. */
  case CL_MUTABLE_DISPATCH_KERNEL_KHR:
    return ICD_ANSWER(&answer, cl_kernel, command->kernel);
  case CL_MUTABLE_DISPATCH_DIMENSIONS_KHR:
    return ICD_ANSWER(&answer, cl_uint, range->work_dim);
  case CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR:
    return answer_sizes(&answer, command, range->offset, call);
  case CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR:
    return answer_sizes(&answer, command, range->global, call);
  case CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR:
    return answer_sizes(&answer, command, range->local, call);
  default:
    return icd_fail(command->buffer->context, CL_INVALID_VALUE, call, "unknown param_name 0x%x",
                    param_name);
  }
}
