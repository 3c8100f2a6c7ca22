/* Program objects: their creation from source or a program binary, and queries. SPIR-V is in
 * icd/program/il.c, and builds are in icd/program/build.c.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/program/units.h"

static void destroy_program(struct icd_object *object) {
  cl_program program = (cl_program)object;
  cl_context context = program->context;
  icd_module_drop(program->module);
  icd_units_drop(&program->units);
  free(program->source);
  free(program->il);
  free(program->il_words);
  free(program->options);
  free(program->log);
  free(program->binary);
  base_mutex_destroy(&program->lock);
  icd_object_free(ICD_MAGIC_PROGRAM, program);
  icd_context_drop(context);
}

static const struct icd_kind program_kind = {.magic = ICD_MAGIC_PROGRAM,
                                             .destroy = destroy_program};

cl_program icd_program_create(cl_context context) {
  cl_program program = icd_object_new(ICD_MAGIC_PROGRAM, sizeof(*program));
  if (!program)
    return NULL;
  program->context = context;
  program->status = CL_BUILD_NONE;
  program->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  base_mutex_init(&program->lock, BASE_LOCK_PROGRAM);
  icd_context_hold(context);
  icd_object_init(&program->object, &program_kind);
  return program;
}

/* ---- creation ----------------------------------------------------------------- */

static size_t string_length(const char *const *strings, const size_t *lengths, cl_uint i) {
  return lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
}

/* Copies a string except for its NULs, which lengths that count the terminator include. Returns the
 * end of the copy. */
static char *append_without_nuls(char *to, const char *from, size_t length) {
  for (size_t at = 0; at < length; at++) {
    const size_t part = strnlen(from + at, length - at);
    to = mempcpy(to, from + at, part);
    at += part;
  }
  return to;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                              const char **strings,
                                                              const size_t *lengths,
                                                              cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  if (!count || !strings)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                         "count is %u and strings %p; at least one string is required", count,
                         (const void *)strings);
  size_t size = 0;
  for (cl_uint i = 0; i < count; i++) {
    if (!strings[i])
      return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE, "strings[%u] is NULL", i);
    if (__builtin_add_overflow(size, string_length(strings, lengths, i), &size))
      return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY,
                           "the sum of lengths exceeds the address space");
  }
  cl_program program = size < SIZE_MAX ? icd_program_create(context) : NULL;
  if (program)
    program->source = malloc(size + 1);
  if (!program || !program->source) {
    if (program)
      icd_program_drop(program);
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY,
                         "out of host memory for %zu bytes of source", size);
  }
  char *at = program->source;
  for (cl_uint i = 0; i < count; i++)
    at = append_without_nuls(at, strings[i], string_length(strings, lengths, i));
  *at = 0;
  program->source_size = (size_t)(at - program->source);
  return ICD_GIVE(errcode_ret, program);
}

/* Checks the device list of a creation function. */
static cl_int check_devices(cl_context context, cl_uint count, const cl_device_id *devices,
                            const char *call) {
  if (!count || !devices)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "num_devices is %u and device_list %p; at least one device is required", count,
                    (const void *)devices);
  for (cl_uint i = 0; i < count; i++)
    if (devices[i] != context->device)
      return icd_fail(context, CL_INVALID_DEVICE, call, "device_list[%u] is not in the context", i);
  return CL_SUCCESS;
}

/* Checks that a binary can be read. The build will read it again. */
static cl_int check_binary(cl_context context, const unsigned char *binary, size_t size,
                           const char *call) {
  const enum cc_binary_kind kind = cc_binary_kind(binary, size);
  if (kind == CC_BINARY_OBJECT || kind == CC_BINARY_LIBRARY)
    return CL_SUCCESS;
  char why[512];
  struct module_code *code = NULL;
  const enum cc_status status = cc_module_read(binary, size, &code, why, sizeof(why));
  const bool bare = status == CC_OK && cc_is_bare_cubin(binary, size, code);
  cc_module_free(code);
  if (bare)
    return icd_fail(context, CL_INVALID_BINARY, call,
                    "this is the CUBIN of an OpenCL program, which does not describe the kernels' "
                    "arguments; use the program binary (tegraclc --emit bin)");
  if (status == CC_OK)
    return CL_SUCCESS;
  return icd_fail(context, status == CC_OUT_OF_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_BINARY,
                  call, "%s", why);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(
    cl_context context, cl_uint num_devices, const cl_device_id *device_list, const size_t *lengths,
    const unsigned char **binaries, cl_int *binary_status, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  cl_int code = check_devices(context, num_devices, device_list, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  if (!lengths || !binaries)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE, "%s is NULL",
                         lengths ? "binaries" : "lengths");
  cl_uint i = 0;
  do {
    cl_int status = CL_INVALID_VALUE;
    if (lengths[i] && binaries[i])
      status = check_binary(context, binaries[i], lengths[i], __func__);
    else
      ICD_FAIL(context, status, "binaries[%u] is NULL or its length is 0", i);
    if (binary_status)
      binary_status[i] = status;
    if (!code)
      code = status;
  } while (++i < num_devices);
  if (code)
    return icd_null(errcode_ret, code);
  cl_program program = icd_program_create(context);
  if (program)
    program->binary = malloc(lengths[0]);
  if (!program || !program->binary) {
    if (program)
      icd_program_drop(program);
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY,
                         "out of host memory for a binary of %zu bytes", lengths[0]);
  }
  memcpy(program->binary, binaries[0], lengths[0]);
  program->binary_size = lengths[0];
  const enum cc_binary_kind kind = cc_binary_kind(binaries[0], lengths[0]);
  program->binary_type = kind == CC_BINARY_OBJECT    ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
                         : kind == CC_BINARY_LIBRARY ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                                                     : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  return ICD_GIVE(errcode_ret, program);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(
    cl_context context, cl_uint num_devices, const cl_device_id *device_list,
    const char *kernel_names, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  const cl_int code = check_devices(context, num_devices, device_list, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                       "the device has no built-in kernels; kernel_names is %s",
                       kernel_names ? kernel_names : "NULL");
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramReleaseCallback(
    cl_program program, void(CL_CALLBACK *pfn_notify)(cl_program, void *), void *user_data) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  return ICD_FAIL(program->context, CL_INVALID_OPERATION,
                  "destructors of program-scope variables are not supported");
}

CL_API_ENTRY cl_int CL_API_CALL clRetainProgram(cl_program program) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  icd_object_retain(&program->object);
  return CL_SUCCESS;
}

static cl_int release_program(cl_program program) {
  icd_program_hold(program);
  const cl_int code = icd_object_release(&program->object, CL_INVALID_PROGRAM);
  if (!code)
    icd_program_released(program);
  icd_program_drop(program);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  if (!icd_is_program(program) || release_program(program) != CL_SUCCESS)
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM,
                    "program %p is not a valid cl_program or was released too often",
                    (void *)program);
  return CL_SUCCESS;
}

/* ---- queries -------------------------------------------------------------------- */

/* Writes the names of the kernels, separated by semicolons. */
static cl_int answer_kernel_names(const struct icd_answer *answer, const char *call,
                                  cl_context context, const struct icd_kernels *kernels) {
  size_t size = 1;
  for (size_t i = 0; i < kernels->count; i++)
    size += strlen(icd_kernels_name(kernels, i)) + 1;
  char *names = calloc(1, size);
  if (!names)
    return icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  char *at = names;
  for (size_t i = 0; i < kernels->count; i++) {
    if (i)
      *at++ = ';';
    at = stpcpy(at, icd_kernels_name(kernels, i));
  }
  const cl_int result = icd_answer_string(answer, call, names);
  free(names);
  return result;
}

static cl_int answer_kernels(const struct icd_answer *answer, const char *call, cl_program program,
                             cl_program_info name) {
  struct icd_kernels kernels;
  if (!icd_kernels_get(program, &kernels))
    return icd_fail(program->context, CL_INVALID_PROGRAM_EXECUTABLE, call,
                    "the program has not been built successfully");
  const cl_int code = name == CL_PROGRAM_NUM_KERNELS
                          ? icd_answer_bytes(answer, call, &kernels.count, sizeof(kernels.count))
                          : answer_kernel_names(answer, call, program->context, &kernels);
  icd_kernels_drop(&kernels);
  return code;
}

/* CL_PROGRAM_BINARIES: param_value is an array with a pointer for each device. NULL pointers are
 * skipped. */
static cl_int answer_binaries(const struct icd_answer *answer, const char *call,
                              cl_program program) {
  if (answer->size_ret)
    *answer->size_ret = sizeof(unsigned char *);
  if (!answer->value)
    return CL_SUCCESS;
  if (answer->size < sizeof(unsigned char *))
    return icd_fail(program->context, CL_INVALID_VALUE, call,
                    "param_value_size is %zu; an array of one pointer has %zu bytes", answer->size,
                    sizeof(unsigned char *));
  unsigned char *place = *(unsigned char **)answer->value;
  if (place && program->binary_size)
    memcpy(place, program->binary, program->binary_size);
  return CL_SUCCESS;
}

static cl_int answer_program(const struct icd_answer *answer, const char *call, cl_program program,
                             cl_program_info name) {
  cl_uint number;
  switch (name) {
  case CL_PROGRAM_REFERENCE_COUNT:
    number = atomic_load(&program->object.handles);
    return icd_answer_bytes(answer, call, &number, sizeof(number));
  case CL_PROGRAM_CONTEXT:
    return icd_answer_bytes(answer, call, &program->context, sizeof(cl_context));
  case CL_PROGRAM_NUM_DEVICES:
    number = 1;
    return icd_answer_bytes(answer, call, &number, sizeof(number));
  case CL_PROGRAM_DEVICES:
    return icd_answer_bytes(answer, call, &program->context->device, sizeof(cl_device_id));
  case CL_PROGRAM_SOURCE:
    return icd_answer_bytes(answer, call, program->source ? program->source : "",
                            program->source_size + 1);
  case CL_PROGRAM_BINARY_SIZES:
    return icd_answer_bytes(answer, call, &program->binary_size, sizeof(program->binary_size));
  case CL_PROGRAM_BINARIES:
    return answer_binaries(answer, call, program);
  case CL_PROGRAM_NUM_KERNELS:
  case CL_PROGRAM_KERNEL_NAMES:
    return answer_kernels(answer, call, program, name);
  case CL_PROGRAM_IL:
    return icd_answer_bytes(answer, call, program->il, program->il_size);
  case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
  case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
    return icd_answer_bytes(answer, call, &(cl_bool){CL_FALSE}, sizeof(cl_bool));
  default:
    return icd_fail(program->context, CL_INVALID_VALUE, call, "unknown param_name 0x%x", name);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  icd_program_settle(program,
                     param_name == CL_PROGRAM_BINARY_SIZES || param_name == CL_PROGRAM_BINARIES);
  icd_enter(&program->lock);
  const cl_int code = answer_program(&answer, __func__, program, param_name);
  icd_leave(&program->lock);
  return code;
}

static cl_int answer_build(const struct icd_answer *answer, const char *call, cl_program program,
                           cl_program_build_info name) {
  switch (name) {
  case CL_PROGRAM_BUILD_STATUS:
    return icd_answer_bytes(answer, call, &program->status, sizeof(program->status));
  case CL_PROGRAM_BUILD_OPTIONS:
    return icd_answer_string(answer, call, program->options ? program->options : "");
  case CL_PROGRAM_BUILD_LOG:
    return icd_answer_string(answer, call, program->log ? program->log : "");
  case CL_PROGRAM_BINARY_TYPE:
    return icd_answer_bytes(answer, call, &program->binary_type, sizeof(program->binary_type));
  case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: {
    const size_t bytes = program->module ? program->module->code->global_bytes : 0;
    return icd_answer_bytes(answer, call, &bytes, sizeof(bytes));
  }
  default:
    return icd_fail(program->context, CL_INVALID_VALUE, call, "unknown param_name 0x%x", name);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                      cl_program_build_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  if (device != program->context->device)
    return ICD_FAIL(program->context, CL_INVALID_DEVICE, "device %p is not a device of the program",
                    (void *)device);
  icd_program_settle(program, false);
  icd_enter(&program->lock);
  const cl_int code = answer_build(&answer, __func__, program, param_name);
  icd_leave(&program->lock);
  return code;
}
