/* Disassembly of machine code. Only tegraclc links this. */
#ifndef TEGRACL_DISASSEMBLE_H
#define TEGRACL_DISASSEMBLE_H

#include "base/text.h"
#include "gpu/cubin/kernel_code.h"

/* Adds the code of all kernels to out in the format of `nvdisasm -c`. Differences: branch targets
 * are byte offsets instead of labels, and there are source lines if they are known. */
void disassemble_module(const struct module_code *module, struct text *out);

#endif
