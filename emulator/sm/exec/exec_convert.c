/* Interpreter core: conversions between formats. */
#include "emulator/sm/exec/exec_double.h"
#include "emulator/sm/exec/exec_round.h"

/* Formats in the encoding of the instructions. */
enum { FORMAT_F16 = 1, FORMAT_F32 = 2, FORMAT_F64 = 3, FORMAT_BF16 = 4, FORMAT_TF32 = 5 };

static inline struct sem_format format_of(unsigned code) {
  switch (code) {
  case FORMAT_F16:
    return SEM_FORMAT_F16;
  case FORMAT_F64:
    return SEM_FORMAT_F64;
  case FORMAT_BF16:
    return SEM_FORMAT_BF16;
  case FORMAT_TF32:
    return SEM_FORMAT_TF32;
  default:
    return SEM_FORMAT_F32;
  }
}

/* Reads the float operand of a conversion: its bits in their format, with sign modifiers
 * applied. */
static inline void source_format(const struct sm_warp *w, const struct sm_uop *u,
                                 struct pairs *out) {
  if (u->convert.from == FORMAT_F64) {
    source_f64(w, u, 1, out);
    return;
  }
  struct sm_lanes t;
  const unsigned mods = u->mods >> 2 & 3u;
  if (u->convert.from == FORMAT_F16) {
    const uint32_t *s = source(w, u, 1, &t);
    for (unsigned i = 0; i < SM_LANES; i++) {
      uint32_t h = u->convert.part ? s[i] >> 16 : s[i] & 0xffff;
      h = mods & SM_SRC_ABS ? h & 0x7fff : h;
      out->l[i] = mods & SM_SRC_NEG ? h ^ 0x8000 : h;
    }
    return;
  }
  const uint32_t *s = source_f32(w, u, 1, &t);
  FOR_LANES
  out->l[i] = s[i];
}

EACH_WARP(f2i) {
  struct pairs in, out;
  source_format(w, u, &in);
  const struct sem_format from = format_of(u->convert.from);
  FOR_MASK(i, m)
  out.l[i] =
      sem_to_int(in.l[i], from, u->convert.width, u->convert.is_signed, u->round, u->convert.ntz);
  if (u->convert.width == 64) {
    FOR_MASK(i, ~m)
    out.l[i] = 0;
    put_pairs(w, u, &out, m);
  } else {
    FOR_MASK(i, m)
    REG(u->d)[i] = (uint32_t)out.l[i];
  }
  return DONE;
}

static inline float round_f32(float x, enum sem_round mode) {
  switch (mode) {
  case SEM_RM:
    return __builtin_floorf(x);
  case SEM_RP:
    return __builtin_ceilf(x);
  case SEM_RZ:
    return __builtin_truncf(x);
  default:
    return __builtin_rintf(x);
  }
}

static inline double round_f64(double x, enum sem_round mode) {
  switch (mode) {
  case SEM_RM:
    return __builtin_floor(x);
  case SEM_RP:
    return __builtin_ceil(x);
  case SEM_RZ:
    return __builtin_trunc(x);
  default:
    return __builtin_rint(x);
  }
}

/* Converts a float, which is already rounded to an integer, to 32 bits. unordered is the result for
 * NaN. */
static inline uint32_t float_to_s32(float x, uint32_t unordered) {
  const float limit = 0x1p31f;
  const bool inside = x > -limit && x < limit;
  const int32_t v = (int32_t)(inside ? x : 0);
  const uint32_t edge = x > 0 ? 0x7fffffffu : x < 0 ? 0x80000000u : unordered;
  return inside ? (uint32_t)v : edge;
}

static inline uint32_t float_to_u32(float x, uint32_t unordered) {
  const float half = 0x1p31f; /* hosts convert to signed words */
  const bool inside = x > -1 && x < 2 * half, high = x >= half;
  const int32_t v = (int32_t)(inside ? (high ? x - half : x) : 0);
  const uint32_t edge = x > 0 ? 0xffffffffu : x < 0 ? 0 : unordered;
  return inside ? (uint32_t)v + (high ? 0x80000000u : 0) : edge;
}

/* From f32 to s32 or u32. */
EACH_WARP(f2i_fast) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source_f32(w, u, 1, &t);
  const uint32_t nan = u->convert.ntz ? 0 : 0x80000000u;
  const enum sem_round mode = u->round;
#define CONVERT(how)                                                                               \
  if (u->convert.is_signed) {                                                                      \
    FOR_LANES                                                                                      \
    r[i] = float_to_s32(round_f32(sem_f32(b[i]), how), nan);                                       \
  } else {                                                                                         \
    FOR_LANES                                                                                      \
    r[i] = float_to_u32(round_f32(sem_f32(b[i]), how), nan);                                       \
  }
  if (mode == SEM_RZ) {
    CONVERT(SEM_RZ)
  } else if (mode == SEM_RM) {
    CONVERT(SEM_RM)
  } else if (mode == SEM_RP) {
    CONVERT(SEM_RP)
  } else {
    CONVERT(SEM_RN)
  }
#undef CONVERT
  RESULT_END;
}

/* From s32 or u32 to f64, which is exact. */
static inline void double_of_word(const struct sm_uop *u, const uint32_t *s, uint64_t *out) {
  if (u->convert.is_signed) {
    FOR_LANES
    out[i] = sem_bits64((double)(int32_t)s[i]);
  } else {
    FOR_LANES
    out[i] = sem_bits64((double)s[i]);
  }
}

EACH_WARP(i2f) {
  struct pairs in, out;
  struct sm_lanes t;
  if (u->convert.width == 32 && u->convert.to == FORMAT_F64) {
    double_of_word(u, source(w, u, 1, &t), out.l);
    put_pairs(w, u, &out, m);
    return DONE;
  }
  if (u->convert.width == 64) {
    struct sm_lanes hi;
    source_pair(w, u, 1, true, t.l, hi.l);
    FOR_LANES
    in.l[i] = sem_pair(t.l[i], hi.l[i]);
  } else {
    const uint32_t *s = source(w, u, 1, &t);
    const unsigned up = 32u - u->convert.width;
    for (unsigned i = 0; i < SM_LANES; i++) {
      uint32_t v = s[i] >> (u->convert.width * u->convert.part & 31) << up;
      in.l[i] = u->convert.is_signed ? (uint64_t)((int32_t)v >> up) : v >> up;
    }
  }
  const struct sem_format to = format_of(u->convert.to);
  for (unsigned i = 0; i < SM_LANES; i++)
    out.l[i] = sem_from_int(in.l[i], u->convert.is_signed, to, u->round);
  if (u->convert.to == FORMAT_F64) {
    put_pairs(w, u, &out, m);
  } else {
    FOR_MASK(i, m)
    REG(u->d)[i] = (uint32_t)out.l[i];
  }
  return DONE;
}

/* From s32 or u32 to f32. */
EACH_WARP(i2f_fast) {
  struct sm_lanes t, out;
  const uint32_t *b = source(w, u, 1, &t);
  uint32_t *r = LIKELY(m == SM_ALL_LANES) ? REG(u->d) : out.l;
  if (u->convert.is_signed) {
    IN_ROUND(u->round, r, b, b, b, FOR_LANES r[i] = sem_bits32((float)(int32_t)b[i]));
  } else {
    IN_ROUND(u->round, r, b, b, b,
             FOR_LANES r[i] = sem_bits32(
                 (float)((double)(int32_t)(b[i] >> 1) * 2 + (double)(int32_t)(b[i] & 1))));
  }
  if (UNLIKELY(m != SM_ALL_LANES))
    sm_blend(REG(u->d), r, m);
  return DONE;
}

EACH_WARP(f2f) {
  struct pairs in, out;
  source_format(w, u, &in);
  if (u->convert.from == FORMAT_F32 && u->convert.to == FORMAT_F64) {
    FOR_LANES {
      double x = sem_f32((uint32_t)in.l[i]);
      out.l[i] = x != x ? SEM_F64_NAN : sem_bits64(x);
    }
  } else if (u->convert.from == FORMAT_F64 && u->convert.to == FORMAT_F32 && u->round == SEM_RN) {
    FOR_LANES
    out.l[i] = sem_canonical32(sem_bits32((float)sem_f64(in.l[i])));
  } else {
    const struct sem_format from = format_of(u->convert.from), to = format_of(u->convert.to);
    for (unsigned i = 0; i < SM_LANES; i++)
      out.l[i] = sem_convert(in.l[i], from, to, u->round, false);
  }
  if (u->convert.to == FORMAT_F64) {
    put_pairs(w, u, &out, m);
    return DONE;
  }
  struct sm_lanes r;
  /* tf32 occupies the upper 19 bits; the others are zero. */
  const unsigned up = u->convert.to == FORMAT_TF32 ? 13 : 0;
  FOR_LANES
  r.l[i] = (uint32_t)out.l[i] << up;
  if (u->ftz && u->convert.to == FORMAT_F32) {
    FOR_LANES
    r.l[i] = sem_flush32(r.l[i]);
  }
  sm_blend(REG(u->d), r.l, m);
  return DONE;
}

EACH_WARP(frnd) {
  struct pairs in, out;
  struct sm_lanes r;
  source_format(w, u, &in);
  if (u->convert.from == FORMAT_F32) {
    for (unsigned i = 0; i < SM_LANES; i++)
      r.l[i] = sem_canonical32(sem_bits32(round_f32(sem_f32((uint32_t)in.l[i]), u->round)));
    sm_blend(REG(u->d), r.l, m);
  } else if (u->convert.from == FORMAT_F64) {
    for (unsigned i = 0; i < SM_LANES; i++)
      out.l[i] = sem_bits64(round_f64(sem_f64(in.l[i]), u->round));
    fix_nans(out.l, in.l, in.l, in.l);
    put_pairs(w, u, &out, m);
  } else {
    for (unsigned i = 0; i < SM_LANES; i++)
      r.l[i] = (uint32_t)sem_frnd(in.l[i], format_of(u->convert.from), u->round);
    sm_blend(REG(u->d), r.l, m);
  }
  return DONE;
}

/* Converts a float to the 16-bit format of F2FP. */
static inline uint32_t narrow_float(const struct sm_uop *u, uint32_t a) {
  const struct sem_format to = format_of(u->f2fp.to);
  uint32_t h = (uint32_t)sem_convert(a, SEM_FORMAT_F32, to, u->round, u->f2fp.satfinite);
  bool nan = (h & 0x7fff) > (((1ull << to.exponent) - 1) << to.mantissa);
  return u->f2fp.relu && !nan && h & 0x8000 ? 0 : h;
}

/* With .MERGE_C, the high half of the result is the low half of c, as in F2IP. ptxas packs the
 * halves of a and b with F2FP.MERGE_C R, b, RZ and F2FP.MERGE_C R, a, R, and reads b from R.H1. */
EACH_WARP(f2fp) {
  RESULT(u->d);
  struct sm_lanes ta, tb, tc;
  const uint32_t *a = source(w, u, 0, &ta), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t high = u->f2fp.merge ? c[i] : narrow_float(u, a[i]);
    r[i] = high << 16 | narrow_float(u, b[i]);
  }
  RESULT_END;
}

/* Converts two floats to bytes and inserts them below c, which is shifted left by 16. */
EACH_WARP(f2ip) {
  RESULT(u->d);
  struct sm_lanes tb;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = REG(u->s[2]);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t in[2] = {b[i], a[i]}, out = c[i] << 16;
    for (unsigned k = 0; k < 2; k++) {
      uint64_t v = sem_to_int(in[k], SEM_FORMAT_F32, 8, u->f2ip.is_signed, u->round, u->f2ip.ntz);
      if (u->f2ip.relu && (int64_t)v < 0)
        v = 0;
      out |= (uint32_t)(v & 0xff) << (8 * k);
    }
    r[i] = out;
  }
  RESULT_END;
}
