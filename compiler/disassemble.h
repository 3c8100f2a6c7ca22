/* Machine code as text. Only tegraclc links this. */
#ifndef TEGRACL_DISASSEMBLE_H
#define TEGRACL_DISASSEMBLE_H

#include "base/text.h"
#include "gpu/cubin/kernel_code.h"

/* Adds the code of every kernel as `nvdisasm -c` prints it, but for branch targets,
 * which are byte offsets instead of labels, and lines of the source, where known. */
void disassemble_module(const struct module_code *module, struct text *out);

#endif
