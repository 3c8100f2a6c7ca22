/* Interpreter core: access to global memory through the L1 cache of the SM (l1.h). Code that is
 * lowered for cached grids has these handlers in place of those of exec_mem.c and exec_atom.c. */
#include "emulator/sm/exec/exec_mem.h"
#include "emulator/sm/l1.h"

static inline const struct sm_uop *access_l1(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                             bool generic, bool write) {
  struct addresses a;
  struct sm_l1 *l1 = sm_l1_of(w);
  const void *space = w->cta->grid->memory.space;
  const uint32_t bytes = size_bytes[u->memory.size];
  addresses_of(w, u, m, &a);
  if (UNLIKELY(address_bits(&a) & (bytes - 1)))
    return raise_misaligned(w, u, m, a.l, bytes, write);
  FOR_MASK(i, m) {
    struct place place = generic ? generic_place(w, u, i, a.l[i], bytes, write)
                                 : global_place(w, u, i, a.l[i], bytes, write);
    if (!place.p)
      return NULL;
    const bool global = !generic || !in_windows(w, a.l[i]);
    const uint8_t *memory = place.p;
    if (global && !write)
      place.p =
          sm_l1_read(l1, space, a.l[i], place.p, u->load.is_constant ? SM_L1_CONSTANT : SM_L1_DATA);
    move_lane(w, u, i, place, write);
    if (global && write)
      sm_l1_written(l1, space, a.l[i], memory, bytes);
  }
  return DONE;
}

EACH_WARP(l1_ld_global) {
  return access_l1(w, u, m, false, false);
}
EACH_WARP(l1_ld_generic) {
  return access_l1(w, u, m, true, false);
}
EACH_WARP(l1_st_global) {
  return access_l1(w, u, m, false, true);
}
EACH_WARP(l1_st_generic) {
  return access_l1(w, u, m, true, true);
}

/* The L2 cache executes atomics, so L1 drops its copy. */
HANDLER(l1_atom) {
  FOR_WARPS(v) {
    const uint32_t m = exec_mask(v, u);
    struct addresses a;
    if (m)
      addresses_of(v, u, m, &a);
    FOR_MASK(i, m)
    sm_l1_drop(sm_l1_of(v), v->cta->grid->memory.space, a.l[i]);
  }
  return SM_NAME(atom)(w, u, warps);
}

/* CCTL.IVALL, .IVALLP and .IV. */
EACH_WARP(l1_invalidate) {
  if (m)
    sm_l1_invalidate(sm_l1_of(w));
  return DONE;
}
