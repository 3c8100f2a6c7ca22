/* Interpreter core: instructions that open-source compilers emit for compute code, but NVIDIA's
 * compilers, as far as known, do not. */
#include "emulator/sm/exec/exec_mem.h"
#include "emulator/sm/exec/exec_round.h"

/* Binds the bank of an instruction that has a constant by descriptor. The descriptor, in two
 * uniform registers, has the address and the size of the buffer in units of 16 bytes (Mesa,
 * nvk_descriptor_types.h, nvk_bindless_cbuf). */
static inline const struct sm_uop *find_bank(struct sm_warp *w, const struct sm_uop *u) {
  enum { ADDRESS_BITS = 45, UNIT_SHIFT = 4 };
  const uint64_t descriptor = sem_pair(REG(u->descriptor)[0], REG(u->descriptor + SM_REG_BYTES)[0]);
  const uint64_t address = (descriptor & ((1ull << ADDRESS_BITS) - 1)) << UNIT_SHIFT;
  const uint32_t size = (uint32_t)(descriptor >> ADDRESS_BITS) << UNIT_SHIFT;
  const uint32_t m = exec_mask(w, u);
  w->bank[SM_BANKS].size = 0;
  if (m && size) {
    w->bank[SM_BANKS].data = sm_global(w->cta, address, size, false);
    if (!w->bank[SM_BANKS].data)
      return sm_raise(w, u, SM_FAULT_MMU, (uint32_t)__builtin_ctz(m), address, size, false);
    w->bank[SM_BANKS].size = size;
  }
  return DONE;
}

HANDLER(bindless) {
  FOR_WARPS(v) {
    if (!find_bank(v, u))
      return NULL;
  }
  return u->execute(w, u, warps);
}

/* FMUL with a scale of 2^-3 to 2^3, rounded once; SCALE_NONE is 2^0. The scale multiplies the
 * result (Mesa, nv50_ir, postFactor). */
EACH_WARP(fmul_scaled) {
  enum { SCALE_NONE = 4 };
  struct sm_lanes ta, tb, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb), *c = b;
  const double scale = (double)(1u << u->product.scale) / (1 << SCALE_NONE);
  IN_ROUND(u->round, r, a, b, c,
           FOR_LANES r[i] =
               sem_bits32((float)((double)sem_f32(a[i]) * (double)sem_f32(b[i]) * scale)));
  FOR_LANES {
    uint32_t v = sem_canonical32(r[i]);
    v = u->ftz ? sem_flush32(v) : v;
    r[i] = u->sat ? sem_sat32(v) : v;
  }
  sm_blend(REG(u->d), r, m);
  return DONE;
}
