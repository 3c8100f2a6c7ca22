/* SPIR-V modules in files, for the end-to-end tests. */
#ifndef TEGRACL_TEST_SPIRV_H
#define TEGRACL_TEST_SPIRV_H

#include <stdint.h>

#include "tests/end_to_end/opencl.h"

struct module {
  uint32_t *words;
  size_t size; /* in bytes */
};

static inline struct module module_read(const char *path) {
  enum { MOST = 1 << 20 };
  struct module module = {.words = malloc(MOST)};
  FILE *file = fopen(path, "rb");
  CHECK(file && module.words);
  module.size = fread(module.words, 1, MOST, file);
  CHECK(module.size > 20 && module.size < MOST);
  fclose(file);
  return module;
}

static inline cl_program module_program(const struct opencl *opencl, const struct module *module) {
  cl_int error;
  cl_program program = clCreateProgramWithIL(opencl->context, module->words, module->size, &error);
  CHECK_CL(error, CL_SUCCESS);
  return program;
}

static inline const char *module_log(const struct opencl *opencl, cl_program program) {
  static char log[65536];
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  return log;
}

static inline void module_build(const struct opencl *opencl, cl_program program,
                                const char *options) {
  const cl_int error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
  if (error)
    fprintf(stderr, "%s\n", module_log(opencl, program));
  CHECK_CL(error, CL_SUCCESS);
}

static inline int module_is_source(const struct module *module) {
  return module->words[0] != 0x07230203;
}

/* Builds the program of a file, which is a module or its source in OpenCL C 3.0. */
static inline cl_program module_or_source(const struct opencl *opencl,
                                          const struct module *module) {
  const char *text = (const char *)module->words;
  cl_int error = CL_SUCCESS;
  cl_program program =
      module_is_source(module)
          ? clCreateProgramWithSource(opencl->context, 1, &text, &module->size, &error)
          : module_program(opencl, module);
  CHECK_CL(error, CL_SUCCESS);
  module_build(opencl, program, module_is_source(module) ? "-cl-std=CL3.0" : "");
  return program;
}

#endif
