/* LLVM IR to CUDA C: prints a module of OpenCL kernels as a source for NVRTC. */
#ifndef TEGRACL_LOWER_H
#define TEGRACL_LOWER_H

#include "base/arena.h"
#include "base/text.h"
#include "compiler/client/binary.h"

/* Metadata of a kernel: one number, the required number of sub-groups in each work-group. */
#define LOWER_SUB_GROUPS "tegracl_sub_groups"

struct lowered {
  struct text cuda;
  struct binary_kernel *kernels; /* these and what they point to are in arena */
  uint32_t kernel_count;
  uint64_t global_bytes; /* size of program-scope variables in the global address space */
  struct text places;    /* of a unit: array of struct binary_place */
  struct text files;     /* of a unit: NUL-terminated file names */
  /* Possible causes of a refusal by NVRTC's assembler: */
  uint64_t local_bytes; /* size of all kernels' __local variables */
  bool has_assembly;    /* the program contains inline assembly */
  struct arena arena;
};

/* A module cut into units. Each has a few kernels and the functions that they call. */
struct lowered_units {
  struct lowered *at;
  unsigned count;
  bool in_units; /* each is a unit: there may be only one, if the program is small */
};

struct lower_options {
  bool arg_info; /* keep the names and types of kernel arguments */
  bool textures; /* print kernels that read images in two versions: with texture reads, and without
                  */
};

/* Reads LLVM bitcode from optimise_run. If CUDA C cannot express a construct, returns
 * CC_BUILD_FAILURE and writes a message that names the construct to log. The caller passes the
 * result to lowered_finish in any case. */
enum cc_status lower_bitcode(const char *bytes, size_t size, const struct lower_options *options,
                             struct lowered *result, struct text *log);
void lowered_finish(struct lowered *result);

/* Like lower_bitcode, but in units if the program allows this and is large enough, else as a
 * whole. A unit's source depends only on its own functions: not on the rest of the program,
 * nor on line numbers. The caller passes the result to lowered_units_finish in any case. */
enum cc_status lower_units(const char *bytes, size_t size, const struct lower_options *options,
                           struct lowered_units *result, struct text *log);
void lowered_units_finish(struct lowered_units *result);

#endif
