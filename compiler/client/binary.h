/* The program binary, which tegraclc writes, the disk cache keeps and
 * clGetProgramInfo(CL_PROGRAM_BINARIES) returns: a container for one CUBIN and for what a
 * CUBIN cannot say about OpenCL kernels, or for several such units. Layout in binary.c.
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
  uint32_t sub_groups;           /* of each work-group, 0 = any */
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

/* A program binary may be made of units: program binaries of some of the kernels each, compiled
 * separately. A unit must not depend on where in the source its functions are, so its line table
 * has no lines of the source but indices into a list of places: line
 * 1 + BINARY_LINES_STEP * i + n, with n < BINARY_LINES_STEP, is n lines after place i. */
enum { BINARY_LINES_STEP = 64 };

struct binary_place {
  uint32_t line;
  uint32_t file; /* number */
};

struct binary_unit {
  const void *binary;
  size_t size;
  const struct binary_place *places;
  size_t place_count;
  const char *files; /* names, each with its NUL */
  size_t files_size;
};

/* Writes the container into malloc'ed memory. 0 or -ENOMEM. */
int cc_binary_write(const struct binary_program *program, void **bytes, size_t *size);

/* Adds the CUBIN to a container without one. 0, -ENOMEM, or -EINVAL if it is no such container. */
int cc_binary_complete(const void *container, size_t container_size, const void *cubin,
                       size_t cubin_size, void **bytes, size_t *size);

/* The program binary that is made of the units, in malloc'ed memory. 0 or -ENOMEM. */
int cc_binary_join(const struct binary_unit *units, size_t count, void **bytes, size_t *size);

/* Whether bytes begin with a container's magic; nothing else is checked. */
bool cc_binary_is_container(const void *bytes, size_t size);

#endif
