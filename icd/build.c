/* Building programs: clBuildProgram, at once or in a thread of its own, and the
 * functions around it.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/objects.h"

typedef void(CL_CALLBACK *build_notify)(cl_program, void *);

/* What a build gives. */
struct outcome {
  cl_int code;
  char *log;
  void *binary; /* of a program made from source */
  size_t binary_size;
  struct icd_module *module;
};

static cl_int status_code(enum cc_status status) {
  switch (status) {
  case CC_OK:
    return CL_SUCCESS;
  case CC_INVALID_OPTIONS:
    return CL_INVALID_BUILD_OPTIONS;
  case CC_NOT_AVAILABLE:
    return CL_COMPILER_NOT_AVAILABLE;
  case CC_OUT_OF_MEMORY:
    return CL_OUT_OF_HOST_MEMORY;
  case CC_INVALID_BINARY:
  case CC_WRONG_DEVICE:
    return CL_INVALID_BINARY;
  case CC_BUILD_FAILURE:
  case CC_INTERNAL_ERROR:
    break;
  }
  return CL_BUILD_PROGRAM_FAILURE;
}

/* Adds a line to the log; without memory the log stays as it is. */
static void add_to_log(struct outcome *outcome, const char *line) {
  const size_t old = outcome->log ? strlen(outcome->log) : 0;
  char *log = realloc(outcome->log, old + strlen(line) + 2);
  if (!log)
    return;
  stpcpy(stpcpy(log + old, line), "\n");
  outcome->log = log;
}

/* Reads a binary and places it in the context's memory. */
static void place(cl_context context, const void *binary, size_t size, struct outcome *outcome) {
  char why[512];
  struct module_code *code = NULL;
  const enum cc_status status = cc_module_read(binary, size, &code, why, sizeof why);
  outcome->code = status_code(status);
  if (status != CC_OK) {
    add_to_log(outcome, why);
    return;
  }
  const int error = icd_module_create(context, code, &outcome->module);
  outcome->code = icd_code(error, CL_OUT_OF_RESOURCES);
  if (error)
    add_to_log(outcome, rt_last_message());
}

static void build_from_source(cl_program program, const char *options, struct outcome *outcome) {
  const struct cc_source source = {program->source, program->source_size};
  const struct cc_job job = {
      .device = &program->context->device->cc,
      .sources = &source,
      .source_count = 1,
      .options = options,
  };
  struct cc_result result;
  const enum cc_status status = cc_build(&job, &result);
  outcome->code = status_code(status);
  outcome->log = result.log;
  result.log = NULL;
  if (status == CC_OK) {
    place(program->context, result.binary, result.binary_size, outcome);
    outcome->binary = result.binary;
    outcome->binary_size = result.binary_size;
    result.binary = NULL;
    if (outcome->code == CL_INVALID_BINARY) /* the user gave a source, not a binary */
      outcome->code = CL_BUILD_PROGRAM_FAILURE;
  }
  cc_result_finish(&result);
}

/* Builds a program whose status is CL_BUILD_IN_PROGRESS and whose options are
 * set; only this build changes it meanwhile. */
static cl_int build(cl_program program) {
  struct outcome outcome = {0};
  const char *options = program->options ? program->options : "";
  if (program->source)
    build_from_source(program, options, &outcome);
  else
    place(program->context, program->binary, program->binary_size, &outcome);

  const bool good = outcome.code == CL_SUCCESS;
  if (!good)
    icd_fail(program->context, outcome.code, "clBuildProgram", "%s",
             outcome.log ? outcome.log : "no memory");
  pthread_mutex_lock(&program->lock);
  program->log = outcome.log;
  program->status = good ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  program->module = outcome.module;
  if (program->source && good) {
    program->binary = outcome.binary;
    program->binary_size = outcome.binary_size;
    program->binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    outcome.binary = NULL;
  }
  pthread_mutex_unlock(&program->lock);
  free(outcome.binary);
  return outcome.code;
}

/* Puts a program into CL_BUILD_IN_PROGRESS and forgets the last build. Takes over
 * options, on failure too. */
static cl_int begin(cl_program program, char *options, const char *call) {
  struct icd_module *old_module = NULL;
  cl_int code = CL_SUCCESS;
  pthread_mutex_lock(&program->lock);
  if (program->status == CL_BUILD_IN_PROGRESS) {
    code = icd_fail(program->context, CL_INVALID_OPERATION, call,
                    "an earlier build of the program is still running");
  } else if (program->kernels) {
    code = icd_fail(program->context, CL_INVALID_OPERATION, call,
                    "the program still has %u kernels", program->kernels);
  } else {
    old_module = program->module;
    program->module = NULL;
    free(program->log);
    program->log = NULL;
    char *old_options = program->options;
    program->options = options;
    options = old_options;
    program->status = CL_BUILD_IN_PROGRESS;
    if (program->source) {
      free(program->binary);
      program->binary = NULL;
      program->binary_size = 0;
      program->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
    }
  }
  pthread_mutex_unlock(&program->lock);
  icd_module_drop(old_module);
  free(options);
  return code;
}

struct background_build {
  cl_program program; /* held */
  build_notify notify;
  void *data;
};

static void *build_in_background(void *argument) {
  struct background_build *job = argument;
  build(job->program);
  job->notify(job->program, job->data);
  icd_program_drop(job->program);
  free(job);
  return NULL;
}

/* Starts a thread for a build that has begun. False if there can be none. */
static bool start_background(cl_program program, build_notify notify, void *data) {
  pthread_t thread;
  struct background_build *job = malloc(sizeof *job);
  if (!job)
    return false;
  *job = (struct background_build){program, notify, data};
  icd_program_hold(program);
  if (pthread_create(&thread, NULL, build_in_background, job) != 0) {
    icd_program_drop(program);
    free(job);
    return false;
  }
  pthread_detach(thread);
  return true;
}

/* The device list and the callback, for all the functions here. */
static cl_int check_target(cl_context context, cl_uint num_devices, const cl_device_id *device_list,
                           build_notify notify, const void *user_data, const char *call) {
  if (!device_list != !num_devices)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "device_list and num_devices contradict each other");
  if (!notify && user_data)
    return icd_fail(context, CL_INVALID_VALUE, call, "user_data without a pfn_notify to get it");
  for (cl_uint i = 0; i < num_devices; i++)
    if (device_list[i] != context->device)
      return icd_fail(context, CL_INVALID_DEVICE, call, "device_list[%u] is not in the context", i);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices,
                                               const cl_device_id *device_list, const char *options,
                                               void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                                               void *user_data) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program is not a program");
  cl_int code =
      check_target(program->context, num_devices, device_list, pfn_notify, user_data, __func__);
  if (code)
    return code;
  char *copy = strdup(options ? options : "");
  if (!copy)
    return ICD_FAIL(program->context, CL_OUT_OF_HOST_MEMORY, "no memory");
  code = begin(program, copy, __func__);
  if (code)
    return code;
  if (pfn_notify && start_background(program, pfn_notify, user_data))
    return CL_SUCCESS;
  code = build(program);
  if (pfn_notify)
    pfn_notify(program, user_data);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(
    cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
    cl_uint num_input_headers, const cl_program *input_headers, const char **header_include_names,
    void(CL_CALLBACK *pfn_notify)(cl_program, void *), void *user_data) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program is not a program");
  const cl_int code =
      check_target(program->context, num_devices, device_list, pfn_notify, user_data, __func__);
  if (code)
    return code;
  if (!num_input_headers != !input_headers || !num_input_headers != !header_include_names)
    return ICD_FAIL(program->context, CL_INVALID_VALUE,
                    "input_headers, header_include_names and num_input_headers contradict "
                    "each other");
  return ICD_FAIL(program->context, CL_COMPILER_NOT_AVAILABLE,
                  "separate compilation is not supported; use clBuildProgram");
}

CL_API_ENTRY cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint num_devices,
                                                  const cl_device_id *device_list,
                                                  const char *options, cl_uint num_input_programs,
                                                  const cl_program *input_programs,
                                                  void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                                                  void *user_data, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT, "context is not a context");
  const cl_int code =
      check_target(context, num_devices, device_list, pfn_notify, user_data, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  if (!num_input_programs || !input_programs)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE, "no programs to link");
  for (cl_uint i = 0; i < num_input_programs; i++)
    if (!icd_is_program(input_programs[i]))
      return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_PROGRAM,
                           "input_programs[%u] is not a program", i);
  return ICD_FAIL_NULL(errcode_ret, context, CL_LINKER_NOT_AVAILABLE,
                       "linking is not supported; use clBuildProgram");
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  if (!icd_is_platform(platform))
    return ICD_FAIL(NULL, CL_INVALID_PLATFORM, "platform is not tegracl");
  return CL_SUCCESS; /* the compiler is never in this process */
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadCompiler(void) {
  return CL_SUCCESS;
}
