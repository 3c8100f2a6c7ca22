/* Removes debugging sections from a CUBIN. Only tegraclc uses this. */
#ifndef TEGRACL_CUBIN_STRIP_H
#define TEGRACL_CUBIN_STRIP_H

#include "base/text.h"

/* Removes the contents of the sections that only debuggers read: the PTX text, its lines, call
 * frames, names of inlined functions. The line table stays. The CUBIN is one that NVRTC
 * made, not a hostile file. */
void cubin_strip(struct text *cubin);

#endif
