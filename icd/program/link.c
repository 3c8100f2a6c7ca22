/* Separate compilation: clCompileProgram and clLinkProgram. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "icd/program/build.h"

/* Adds header programs to the build, which holds them. */
static cl_int add_headers(cl_context context, struct icd_build *build, cl_uint count,
                          const cl_program *programs, const char **names) {
  build->headers = calloc(count + 1, sizeof(*build->headers));
  build->header_programs = calloc(count + 1, sizeof(*build->header_programs));
  if (!build->headers || !build->header_programs)
    return icd_fail(context, CL_OUT_OF_HOST_MEMORY, build->call, "out of host memory");
  for (cl_uint i = 0; i < count; i++) {
    if (!icd_is_program(programs[i]))
      return icd_fail(context, CL_INVALID_PROGRAM, build->call,
                      "input_headers[%u] is not a valid cl_program", i);
    if (programs[i]->context != context)
      return icd_fail(context, CL_INVALID_CONTEXT, build->call,
                      "input_headers[%u] and program belong to different contexts", i);
    if (!programs[i]->source)
      return icd_fail(context, CL_INVALID_PROGRAM, build->call,
                      "input_headers[%u] was not created from source", i);
    if (!names[i])
      return icd_fail(context, CL_INVALID_VALUE, build->call, "header_include_names[%u] is NULL",
                      i);
    char *name = strdup(names[i]);
    if (!name)
      return icd_fail(context, CL_OUT_OF_HOST_MEMORY, build->call, "out of host memory");
    icd_program_hold(programs[i]);
    build->header_programs[i] = programs[i];
    build->headers[i] = (struct cc_header){name, programs[i]->source};
    build->header_count++;
  }
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(
    cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
    cl_uint num_input_headers, const cl_program *input_headers, const char **header_include_names,
    void(CL_CALLBACK *pfn_notify)(cl_program, void *), void *user_data) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  cl_context context = program->context;
  cl_int code = icd_build_check(context, num_devices, device_list, pfn_notify, user_data, __func__);
  if (code)
    return code;
  if (program->il)
    num_input_headers = 0; /* headers are ignored */
  else if (!num_input_headers != !input_headers || !num_input_headers != !header_include_names)
    return ICD_FAIL(
        context, CL_INVALID_VALUE,
        "num_input_headers is %u, but input_headers is %p and header_include_names is %p",
        num_input_headers, (const void *)input_headers, (const void *)header_include_names);
  if (!program->source && !program->il)
    return ICD_FAIL(context, CL_INVALID_OPERATION,
                    "the program was not created from source or SPIR-V");
  struct icd_build build = {.action = CC_COMPILE, .call = __func__};
  code = add_headers(context, &build, num_input_headers, input_headers, header_include_names);
  if (code) {
    icd_build_finish(&build);
    return code;
  }
  return icd_build_run(program, options, &build, pfn_notify, user_data);
}

static bool has_word(const char *words, const char *wanted) {
  const size_t size = strlen(wanted);
  for (const char *at = words; (at = strstr(at, wanted)); at += size)
    if ((at == words || isspace((unsigned char)at[-1])) &&
        (!at[size] || isspace((unsigned char)at[size])))
      return true;
  return false;
}

/* Copies an object or library into the build. */
static cl_int add_object(cl_context context, struct icd_build *build, cl_uint i,
                         cl_program program) {
  if (!icd_is_program(program))
    return icd_fail(context, CL_INVALID_PROGRAM, build->call,
                    "input_programs[%u] is not a valid cl_program", i);
  if (program->context != context)
    return icd_fail(context, CL_INVALID_CONTEXT, build->call,
                    "input_programs[%u] belongs to another context", i);
  cl_int code = CL_SUCCESS;
  icd_enter(&program->lock);
  if (program->binary_type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT &&
      program->binary_type != CL_PROGRAM_BINARY_TYPE_LIBRARY) {
    code = icd_fail(context, CL_INVALID_OPERATION, build->call,
                    "input_programs[%u] is neither a compiled object nor a library", i);
  } else {
    char *copy = malloc(program->binary_size);
    if (copy) {
      memcpy(copy, program->binary, program->binary_size);
      build->sources[build->source_count++] = (struct cc_source){copy, program->binary_size};
    } else {
      code = icd_fail(context, CL_OUT_OF_HOST_MEMORY, build->call, "out of host memory");
    }
  }
  icd_leave(&program->lock);
  return code;
}

CL_API_ENTRY cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint num_devices,
                                                  const cl_device_id *device_list,
                                                  const char *options, cl_uint num_input_programs,
                                                  const cl_program *input_programs,
                                                  void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                                                  void *user_data, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  cl_int code = icd_build_check(context, num_devices, device_list, pfn_notify, user_data, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  if (!num_input_programs || !input_programs)
    return ICD_FAIL_NULL(
        errcode_ret, context, CL_INVALID_VALUE,
        "num_input_programs is %u and input_programs %p; at least one program is required",
        num_input_programs, (const void *)input_programs);
  const bool library = options && has_word(options, "-create-library");
  struct icd_build build = {.action = library ? CC_LINK_LIBRARY : CC_LINK, .call = __func__};
  build.sources = calloc(num_input_programs, sizeof(*build.sources));
  if (!build.sources)
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  for (cl_uint i = 0; i < num_input_programs && !code; i++)
    code = add_object(context, &build, i, input_programs[i]);
  cl_program program = code ? NULL : icd_program_create(context);
  if (!program) {
    icd_build_finish(&build);
    return code ? icd_null(errcode_ret, code)
                : ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  }
  program->linked = true;
  code = icd_build_run(program, options, &build, pfn_notify, user_data);
  /* A failed link still returns a program, whose log has the errors. One that could not begin does
   * not. */
  if (code && (code != CL_LINK_PROGRAM_FAILURE || pfn_notify)) {
    icd_program_drop(program);
    return icd_null(errcode_ret, code);
  }
  if (errcode_ret)
    *errcode_ret = code;
  return program;
}
