/* A placed module: its code and constants in GPU memory, and for each kernel
 * what its launches have in common.
 */
#ifndef TEGRACL_RUNTIME_MODULE_H
#define TEGRACL_RUNTIME_MODULE_H

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/qmd.h"
#include "runtime/context/context.h"

/* A launch copies both templates and changes the few words that differ. */
struct rt_kernel {
  uint32_t qmd[QMD_WORDS];
  uint32_t bank0[BANK0_PARAMS / 4]; /* the driver's words below the parameters */
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

/* The kernel whose text section holds a GPU address, and the offset in that
 * section; NULL if it is in no module. Caller holds context.lock. */
const struct kernel_code *rt_module_kernel_at(const struct rt_context *context, uint64_t address,
                                              uint64_t *offset);

/* The line of the source that the instruction at a GPU address is of; NULL if it is
 * not known. *file is the file's name, "" for the program source itself, and lives
 * as long as the module. Caller holds context.lock. */
const struct module_line *rt_module_line_at(const struct rt_context *context, uint64_t address,
                                            const char **file);

#endif
