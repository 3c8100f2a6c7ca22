/* LLVM IR to CUDA C: prints a module of OpenCL kernels as a source for NVRTC. */
#ifndef TEGRACL_LOWER_H
#define TEGRACL_LOWER_H

#include "base/arena.h"
#include "base/text.h"
#include "compiler/client/binary.h"

struct lowered {
  struct text cuda;
  struct binary_kernel *kernels; /* these and what they point to live in arena */
  uint32_t kernel_count;
  uint64_t global_bytes; /* of program-scope variables in the global address space */
  struct arena arena;
};

/* Reads LLVM bitcode as optimise_run makes it. arg_info: keep the names and
 * types of kernel arguments. What the printer cannot express gives
 * CC_BUILD_FAILURE and a sentence in log that names the construct. The result
 * must be given to lowered_finish in any case. */
enum cc_status lower_bitcode(const char *bytes, size_t size, bool arg_info, struct lowered *result,
                             struct text *log);
void lowered_finish(struct lowered *result);

#endif
