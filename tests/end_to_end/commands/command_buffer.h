/* The functions of cl_khr_command_buffer and cl_khr_command_buffer_mutable_dispatch, from
 * clGetExtensionFunctionAddressForPlatform.
 */
#ifndef TEGRACL_TESTS_COMMAND_BUFFER_H
#define TEGRACL_TESTS_COMMAND_BUFFER_H

#include "icd/command_buffer/command_buffer_api.h"
#include "tests/end_to_end/opencl.h"

#define AS_MEMBER(name) __typeof__(icd_##name) *name;
struct command_buffer_functions {
  COMMAND_BUFFER_FUNCTIONS(AS_MEMBER)
};

static inline void find_functions(const struct opencl *opencl, struct command_buffer_functions *f) {
#define FIND(name)                                                                                 \
  f->name =                                                                                        \
      (__typeof__(icd_##name) *)clGetExtensionFunctionAddressForPlatform(opencl->platform, #name); \
  CHECK(f->name);
  COMMAND_BUFFER_FUNCTIONS(FIND)
#undef FIND
}

#endif
