/* Interpreter core: texture and surface instructions, which sm_texture (texture.c) and sm_surface
 * (surface.c) execute lane by lane. */
#include "emulator/sm/exec/core.h"

EACH_WARP(texture) {
  struct sm_lanes t;
  const uint32_t *handles = source(w, u, 2, &t);
  sm_clear_upper_halves();
  if (m && !sm_texture(w, u, m, handles))
    return NULL;
  pred_out(w, u->pd, 0, m); /* all pages are resident */
  return DONE;
}

EACH_WARP(surface) {
  struct sm_lanes t;
  const uint32_t *handles = source(w, u, 2, &t);
  sm_clear_upper_halves();
  if (m && !sm_surface(w, u, m, handles))
    return NULL;
  pred_out(w, u->pd, 0, m); /* as for textures */
  return DONE;
}
