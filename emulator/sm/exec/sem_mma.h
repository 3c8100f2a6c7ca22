/* Arithmetic of the tensor cores of compute capability 8.x.
 *
 * Integers and bits: exact sums. Doubles: a chain of fused multiply-adds in the order of k. Floats:
 * NVIDIA does not document the arithmetic. This follows public measurements, compared bit for bit
 * with chips of this generation: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior
 * of NVIDIA tensor cores" (2021); P. Xie and others, "MMA-Sim" (arXiv 2511.10909), whose model for
 * Ampere this is:
 *
 * - Along k, the products of SEM_MMA_BYTES of each operand are added to the accumulator at once.
 *   The rounded result is the accumulator for the next products.
 * - Products are exact. The exponent of a product is the sum of the exponents of its factors, not
 *   normalised. A subnormal factor has the least exponent of its format.
 * - All terms are aligned to the greatest exponent and truncated to SEM_MMA_FRACTION bits of
 *   fraction. Their sum is exact.
 * - The sum is truncated to f32, or rounded to nearest even f16. Subnormals are kept. An exact zero
 *   is +0, and a NaN is the canonical one.
 * - Only the upper 19 bits of a tf32 operand are used.
 *
 * Two properties have not been measured: in which order the sums of sparse operands are formed
 * (assumed: as if the absent elements did not exist), and whether .SAT of integers clamps more than
 * once (assumed: once). */
#ifndef TEGRACL_SM_SEM_MMA_H
#define TEGRACL_SM_SEM_MMA_H

#include "emulator/sm/exec/sem_float.h"

enum sem_mma_type { SEM_MMA_F16, SEM_MMA_BF16, SEM_MMA_TF32 };

enum {
  SEM_MMA_BYTES = 16,
  SEM_MMA_FRACTION = 24,
  SEM_MMA_NOTHING = -1000, /* the exponent of a factor that is zero */
  SEM_F32_BIAS = 127,
  SEM_F32_LEAST = -126, /* least exponents, those of subnormals */
  SEM_F16_LEAST = -14,
};

static inline int32_t sem_mma_max(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/* Returns an element of a word as f32. */
static inline float sem_mma_element(uint32_t word, unsigned index, enum sem_mma_type type) {
  const uint32_t tf32_bits = 0xffffe000u;
  switch (type) {
  case SEM_MMA_F16:
    return sem_f16_to_f32(word >> 16 * index & 0xffff);
  case SEM_MMA_BF16:
    return sem_bf16_to_f32(word >> 16 * index & 0xffff);
  default:
    return sem_f32(word & tf32_bits);
  }
}

static inline bool sem_mma_finite(float v) {
  return (sem_bits32(v) & SEM_F32_EXP) != SEM_F32_EXP;
}

/* Returns the exponent of a value in a format with the given least exponent. */
static inline int32_t sem_mma_exponent(float v, int32_t least) {
  const int32_t field = (int32_t)((sem_bits32(v) & SEM_F32_EXP) >> 23);
  return v == 0 ? SEM_MMA_NOTHING : sem_mma_max(field - SEM_F32_BIAS, least);
}

/* Returns 2^n, for exponents of normal doubles. */
static inline double sem_mma_power(int32_t n) {
  enum { F64_BIAS = 1023, F64_MANTISSA = 52 };
  return sem_f64((uint64_t)(F64_BIAS + n) << F64_MANTISSA);
}

/* Converts a sum of aligned terms, in units of 2^(top - SEM_MMA_FRACTION), to f32. */
static inline float sem_mma_to_f32(int32_t sum, int32_t top) {
  const uint64_t below_f32 = (1ull << 29) - 1; /* of a double's significand */
  int32_t magnitude = sum < 0 ? -sum : sum;
  if (top == SEM_F32_LEAST)
    magnitude &= ~1; /* drops half of the least subnormal */
  const double cut = sem_f64(sem_bits64((double)magnitude) & ~below_f32);
  const float value = (float)(cut * sem_mma_power(top - SEM_MMA_FRACTION));
  return sum < 0 ? -value : value;
}

/* Rounds the same sum to f16, and returns it as f32. Adding power, whose last place is that of the
 * f16 result, rounds it. */
static inline float sem_mma_to_f16(int32_t sum, int32_t top) {
  enum { F16_MANTISSA = 10, F64_MANTISSA = 52, F64_BIAS = 1023, F64_EXPONENT = 0x7ff };
  const double most = 65504;
  const double value = (double)sum * sem_mma_power(top - SEM_MMA_FRACTION);
  const int32_t exponent = (int32_t)(sem_bits64(value) >> F64_MANTISSA & F64_EXPONENT) - F64_BIAS;
  const double power =
      sem_mma_power(sem_mma_max(exponent, SEM_F16_LEAST) - F16_MANTISSA + F64_MANTISSA);
  const double rounded = (fabs(value) + power) - power;
  const float f = rounded > most ? sem_f32(SEM_F32_EXP) : (float)rounded;
  return sum < 0 ? -f : f;
}

/* Returns the f16 bits of a value that f16 represents exactly. */
static inline uint32_t sem_mma_f16_bits(float v) {
  const uint32_t scale_down = (uint32_t)(SEM_F32_BIAS - 112) << 23; /* exponent bias 127 to 15 */
  const uint32_t sign = sem_bits32(v) >> 16 & 0x8000;
  const uint32_t body = sem_bits32(fabsf(v) * sem_f32(scale_down)) >> 13;
  return v != v ? SEM_F16_NAN : sign | (sem_mma_finite(v) ? body : 0x7c00);
}

#endif
