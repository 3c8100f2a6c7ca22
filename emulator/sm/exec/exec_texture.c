/* Interpreter core: texture instructions, which sm_texture executes lane by lane (texture.c). */
#include "emulator/sm/exec/core.h"

HANDLER(texture) {
  const uint32_t m = exec_mask(w, u);
  struct sm_lanes t;
  if (m && !sm_texture(w, u, m, source(w, u, 2, &t)))
    return NULL;
  pred_out(w, u->pd, 0, m); /* all pages are resident */
  return NEXT;
}
