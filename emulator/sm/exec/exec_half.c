/* Interpreter core: half precision and bfloat16, two values in a register. */
#include "emulator/sm/exec/exec_round.h"

/* Converts both halves of an operand to floats. */
static inline void source_half(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                               float *low, float *high) {
  struct sm_lanes t;
  const uint32_t *s = source(w, u, slot, &t);
  const unsigned select = u->half.select >> (2 * slot) & 3u, mods = u->mods >> (2 * slot) & 3u;
  const bool bf16 = u->half.bf16, ftz = u->ftz;
  for (unsigned i = 0; i < SM_LANES; i++) {
    if (select == SM_HALF_SINGLE) {
      low[i] = high[i] = sem_f32(ftz ? sem_flush32(s[i]) : s[i]);
    } else {
      uint32_t l = select == SM_HALF_HIGH ? s[i] >> 16 : s[i] & 0xffff;
      uint32_t h = select == SM_HALF_LOW ? s[i] & 0xffff : s[i] >> 16;
      if (ftz)
        l = sem_half_flush(l, bf16), h = sem_half_flush(h, bf16);
      low[i] = sem_half_to_f32(l, bf16);
      high[i] = sem_half_to_f32(h, bf16);
    }
    uint32_t keep = mods & SM_SRC_ABS ? ~SEM_F32_SIGN : ~0u;
    uint32_t flip = mods & SM_SRC_NEG ? SEM_F32_SIGN : 0;
    low[i] = sem_f32((sem_bits32(low[i]) & keep) ^ flip);
    high[i] = sem_f32((sem_bits32(high[i]) & keep) ^ flip);
  }
}

/* .H0_NH1, for products of complex numbers: exchanges the halves and negates the new low one. Only
 * the second operand of HFMA2 can have it. */
static inline void exchange_halves(float *low, float *high) {
  for (unsigned i = 0; i < SM_LANES; i++) {
    const float h0 = low[i];
    low[i] = sem_f32(sem_bits32(high[i]) ^ SEM_F32_SIGN);
    high[i] = h0;
  }
}

/* HADD2.F32 of -RZ and one half (is_conversion in specialise.c). */
EACH_WARP(half_to_f32) {
  RESULT(u->d);
  const uint32_t *s = REG(u->s[1]);
  const unsigned shift = (u->half.select >> 2 & 3u) == SM_HALF_HIGH ? 16 : 0, mods = u->mods >> 2;
  const uint32_t keep = mods & SM_SRC_ABS ? ~SEM_F32_SIGN : ~0u;
  const uint32_t flip = mods & SM_SRC_NEG ? SEM_F32_SIGN : 0;
  FOR_LANES {
    const uint32_t value = sem_bits32(sem_f16_to_f32(s[i] >> shift & 0xffff));
    r[i] = sem_canonical32((value & keep) ^ flip);
  }
  RESULT_END;
}

/* HADD2, HMUL2 and HFMA2 */
EACH_WARP(hfma2) {
  RESULT(u->d);
  float a[2][SM_LANES], b[2][SM_LANES], c[2][SM_LANES];
  const struct sem_half_mode mode = {
      .bf16 = u->half.bf16, .ftz = u->ftz, .fmz = u->half.fmz, .sat = u->sat, .relu = u->half.relu};
  source_half(w, u, 0, a[0], a[1]);
  source_half(w, u, 1, b[0], b[1]);
  if (u->half.exchange)
    exchange_halves(b[0], b[1]);
  if (u->half.operation == SM_HALF_FMA)
    source_half(w, u, 2, c[0], c[1]);
  for (unsigned k = 0; k < 2; k++)
    for (unsigned i = 0; i < SM_LANES; i++) {
      if (u->half.operation == SM_HALF_ADD)
        c[k][i] = b[k][i], b[k][i] = 1;
      else if (u->half.operation == SM_HALF_MUL)
        c[k][i] = -0.0f;
    }
  for (unsigned i = 0; i < SM_LANES; i++) {
    if (u->half.f32_result) {
      double exact = sem_odd_add((double)a[0][i] * (double)b[0][i], c[0][i]);
      uint32_t out = sem_canonical32(sem_bits32((float)exact));
      out = u->ftz ? sem_flush32(out) : out;
      r[i] = u->sat ? sem_sat32(out) : out;
    } else {
      uint32_t low = sem_half_fma(a[0][i], b[0][i], c[0][i], mode);
      uint32_t high = sem_half_fma(a[1][i], b[1][i], c[1][i], mode);
      r[i] = low | high << 16;
    }
  }
  RESULT_END;
}

static inline uint32_t half_of(float f, bool bf16) {
  return f != f ? SEM_F16_NAN : bf16 ? sem_f32_to_bf16(f) : sem_f32_to_f16(f);
}

EACH_WARP(hmnmx2) {
  RESULT(u->d);
  float a[2][SM_LANES], b[2][SM_LANES];
  const bool bf16 = u->half.bf16;
  const uint32_t min = PP;
  source_half(w, u, 0, a[0], a[1]);
  source_half(w, u, 1, b[0], b[1]);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t out[2];
    for (unsigned k = 0; k < 2; k++)
      out[k] = sem_minmax32(sem_bits32(a[k][i]), sem_bits32(b[k][i]), min >> i & 1, u->half.nan,
                            u->half.xor_sign);
    if (u->half.f32_result)
      r[i] = out[0];
    else
      r[i] = half_of(sem_f32(out[0]), bf16) | half_of(sem_f32(out[1]), bf16) << 16;
  }
  RESULT_END;
}

static inline void compare_half(const struct sm_warp *w, const struct sm_uop *u, uint32_t p[2]) {
  float a[2][SM_LANES], b[2][SM_LANES];
  source_half(w, u, 0, a[0], a[1]);
  source_half(w, u, 1, b[0], b[1]);
  for (unsigned k = 0; k < 2; k++) {
    p[k] = 0;
    for (unsigned i = 0; i < SM_LANES; i++)
      p[k] |= (sem_compare_f32(sem_bits32(a[k][i]), sem_bits32(b[k][i]), u->half.compare) & 1) << i;
  }
}

EACH_WARP(hset2) {
  RESULT(u->d);
  uint32_t p[2];
  compare_half(w, u, p);
  const uint32_t q = PP, yes = u->half.wide ? (u->half.bf16 ? 0x3f80u : 0x3c00u) : 0xffffu;
  p[0] = sem_bop(u->half.combine, p[0], q);
  p[1] = sem_bop(u->half.combine, p[1], q);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = (p[0] >> i & 1 ? yes : 0) | (p[1] >> i & 1 ? yes << 16 : 0);
  RESULT_END;
}

EACH_WARP(hsetp2) {
  const uint32_t q = PP;
  uint32_t p[2];
  compare_half(w, u, p);
  if (u->half.wide) {
    p[0] &= p[1];
    p[1] = ~p[0];
  }
  pred_out(w, u->pd, sem_bop(u->half.combine, p[0], q), m);
  pred_out(w, u->pe, sem_bop(u->half.combine, p[1], q), m);
  return DONE;
}
