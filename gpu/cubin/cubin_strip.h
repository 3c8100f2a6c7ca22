/* Removes debugging sections from a CUBIN. Only tegraclc uses this. */
#ifndef TEGRACL_CUBIN_STRIP_H
#define TEGRACL_CUBIN_STRIP_H

#include "base/text.h"

/* Removes the contents of sections that only debuggers read: PTX text and its lines, call frames,
 * names of inlined functions. The line table is kept. The CUBIN must come from NVRTC; its format is
 * not checked. */
void cubin_strip(struct text *cubin);

#endif
