/* A module in GPU memory: its code and constants, and a launch template for each kernel. */
#ifndef TEGRACL_RUNTIME_MODULE_H
#define TEGRACL_RUNTIME_MODULE_H

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/qmd.h"
#include "runtime/context/context.h"

/* Templates: a launch copies both and changes the few words that differ. */
struct rt_kernel {
  uint32_t qmd[QMD_WORDS];
  uint32_t bank0[BANK0_PARAMS / 4]; /* the driver's words, which precede the parameters */
  uint64_t entry;                   /* GPU address */
  uint32_t local_bytes;
};

struct rt_module {
  struct rt_context *context;
  const struct module_code *code;
  struct rt_memory memory;
  uint64_t *addresses; /* of each section */
  struct rt_kernel *kernels;
  struct rt_module *next, *previous;
};

/* Returns the kernel whose text section contains a GPU address, and the offset in that section, or
 * NULL if no module contains the address. Caller holds context.lock. */
const struct kernel_code *rt_module_kernel_at(const struct rt_context *context, uint64_t address,
                                              uint64_t *offset);

/* Returns the source line of the instruction at a GPU address, or NULL if it is unknown. *file is
 * the file name, or "" for the program source itself, and is valid as long as the module. Caller
 * holds context.lock. */
const struct module_line *rt_module_line_at(const struct rt_context *context, uint64_t address,
                                            const char **file);

#endif
