/* The program binary: what tegraclc writes, the disk cache keeps and
 * clGetProgramInfo(CL_PROGRAM_BINARIES) gives out. A small container around one
 * CUBIN with what a CUBIN cannot say about OpenCL kernels. Layout in binary.c.
 */
#ifndef TEGRACL_BINARY_H
#define TEGRACL_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/compiler.h"
#include "gpu/cubin/kernel_code.h"

/* Kernel X of the OpenCL program is the entry symbol k_X of the CUBIN. */
#define BINARY_KERNEL_PREFIX "k_"

struct binary_arg {
  const char *name;      /* NULL or "": unknown */
  const char *type_name; /* as OpenCL C spells it, e.g. "float4*" */
  enum kernel_arg_kind kind;
  enum kernel_arg_access access;
  uint32_t qualifiers; /* enum kernel_arg_qualifier */
  uint32_t size;       /* bytes in the parameter area; 0: as the CUBIN says */
  uint32_t align;      /* LOCAL: alignment of the block, power of two, else 0 */
  uint32_t image;      /* IMAGE: enum kernel_arg_image, else 0 */
};

struct binary_kernel {
  const char *name;              /* as in the OpenCL source */
  const char *attributes;        /* CL_KERNEL_ATTRIBUTES text; NULL = "" */
  uint32_t required_block[3];    /* reqd_work_group_size, 0 = none */
  uint32_t hinted_block[3];      /* work_group_size_hint, 0 = none */
  bool prints;                   /* it, or a function that it calls, calls printf */
  bool uniform;                  /* its work-groups must all have the same size */
  const struct binary_arg *args; /* the user's; the hidden block is not listed */
  uint32_t arg_count;
};

struct binary_program {
  unsigned sm; /* 87 */
  const struct binary_kernel *kernels;
  uint32_t kernel_count;
  uint32_t global_bytes; /* of program-scope variables in the global address space */
  const void *cubin;
  size_t cubin_size;
};

/* Writes the container into malloc'ed memory. 0 or -ENOMEM. */
int cc_binary_write(const struct binary_program *program, void **bytes, size_t *size);

/* Whether bytes start like a container (not whether it is sound). */
bool cc_binary_is_container(const void *bytes, size_t size);

#endif
