/* The program binary: a container for one CUBIN and for the properties of OpenCL kernels that a
 * CUBIN cannot express, or for several such units. tegraclc writes it, the disk cache stores it,
 * and clGetProgramInfo(CL_PROGRAM_BINARIES) returns it. binary.c describes the layout.
 */
#ifndef TEGRACL_BINARY_H
#define TEGRACL_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/compiler.h"
#include "gpu/cubin/kernel_code.h"

/* Prefix of kernels' names in the CUBIN: kernel X of the OpenCL program is the symbol k_X. */
#define BINARY_KERNEL_PREFIX "k_"

struct binary_arg {
  const char *name;      /* NULL or "": unknown */
  const char *type_name; /* as written in OpenCL C, e.g. "float4*" */
  enum kernel_arg_kind kind;
  enum kernel_arg_access access;
  uint32_t qualifiers; /* a set of enum kernel_arg_qualifier */
  uint32_t size;       /* bytes in the parameter area; 0 if only the CUBIN determines it */
  uint32_t align;      /* LOCAL: alignment of the memory, a power of two; otherwise 0 */
  uint32_t image;      /* IMAGE: enum kernel_arg_image; otherwise 0 */
};

struct binary_kernel {
  const char *name;              /* name in the OpenCL source */
  const char *attributes;        /* text for CL_KERNEL_ATTRIBUTES; NULL means "" */
  uint32_t required_block[3];    /* reqd_work_group_size; 0 if absent */
  uint32_t hinted_block[3];      /* work_group_size_hint; 0 if absent */
  uint32_t sub_groups;           /* required number in each work-group; 0 if any */
  bool prints;                   /* the kernel or one of its callees calls printf */
  bool uniform;                  /* all work-groups must have the same size */
  bool ignores_groups;           /* it cannot notice which work-items form a work-group */
  const struct binary_arg *args; /* the user's arguments, without the hidden one */
  uint32_t arg_count;
};

struct binary_program {
  unsigned sm; /* 87 */
  const struct binary_kernel *kernels;
  uint32_t kernel_count;
  uint32_t global_bytes; /* size of program-scope variables in the global address space */
  const void *cubin;
  size_t cubin_size;
};

/* A program binary may consist of units: program binaries with some of the kernels each, which are
 * compiled separately. A unit must not depend on the position of its functions in the source. Its
 * line table therefore contains indices into a list of places instead of source lines: line 1 +
 * BINARY_LINES_STEP * i + n, where n < BINARY_LINES_STEP, is n lines after place i. */
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
  const char *files; /* NUL-terminated names */
  size_t files_size;
};

/* Writes the container into malloc'ed memory. Returns 0 or -ENOMEM. */
int cc_binary_write(const struct binary_program *program, void **bytes, size_t *size);

/* Adds the CUBIN to a container without one. Returns 0, -ENOMEM,
 * or -EINVAL for any other container. */
int cc_binary_complete(const void *container, size_t container_size, const void *cubin,
                       size_t cubin_size, void **bytes, size_t *size);

/* Combines the units into one program binary, in malloc'ed memory. Returns 0 or -ENOMEM. */
int cc_binary_join(const struct binary_unit *units, size_t count, void **bytes, size_t *size);

/* Whether bytes begin with the magic number of a container. Nothing else is checked. */
bool cc_binary_is_container(const void *bytes, size_t size);

#endif
