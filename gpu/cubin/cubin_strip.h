/* Takes debugging sections out of a CUBIN. Only tegraclc links this. */
#ifndef TEGRACL_CUBIN_STRIP_H
#define TEGRACL_CUBIN_STRIP_H

#include "base/text.h"

/* Removes the contents of the sections that only debuggers read: the PTX text, its
 * lines, call frames, names of inlined functions. The line table stays. Anything
 * that is not a sound ELF file is left as it is. */
void cubin_strip(struct text *cubin);

#endif
