/* LLVM IR to CUDA C: prints a module of OpenCL kernels as a source for NVRTC. */
#ifndef TEGRACL_LOWER_H
#define TEGRACL_LOWER_H

#include "base/arena.h"
#include "base/text.h"
#include "compiler/client/binary.h"

/* Metadata of a kernel: one number, of the sub-groups that each of its work-groups must have. */
#define LOWER_SUB_GROUPS "tegracl_sub_groups"

struct lowered {
  struct text cuda;
  struct binary_kernel *kernels; /* these and what they point to live in arena */
  uint32_t kernel_count;
  uint64_t global_bytes; /* of program-scope variables in the global address space */
  struct text places;    /* of a unit: struct binary_place, one after the other */
  struct text files;     /* their names, each with its NUL */
  /* What NVRTC's assembler may refuse: */
  uint64_t local_bytes; /* of __local variables of all kernels */
  bool has_assembly;    /* inline, of the program */
  struct arena arena;
};

/* A module cut into units: a few kernels each, with the functions that they call. */
struct lowered_units {
  struct lowered *at;
  unsigned count;
};

/* Reads LLVM bitcode as optimise_run makes it. arg_info: keep the names and
 * types of kernel arguments. What the printer cannot express gives
 * CC_BUILD_FAILURE and a sentence in log that names the construct. The result
 * must be given to lowered_finish in any case. */
enum cc_status lower_bitcode(const char *bytes, size_t size, bool arg_info, struct lowered *result,
                             struct text *log);
void lowered_finish(struct lowered *result);

/* The same in units, where that pays and the program allows it, else in one unit, as
 * lower_bitcode does it. A unit's source depends on its own functions alone: not on the rest
 * of the program, and not on their lines. The result must be given to lowered_units_finish in
 * any case. */
enum cc_status lower_units(const char *bytes, size_t size, bool arg_info,
                           struct lowered_units *result, struct text *log);
void lowered_units_finish(struct lowered_units *result);

#endif
