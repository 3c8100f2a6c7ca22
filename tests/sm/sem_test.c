/* Compares the semantics of single lanes with independent computation: wider types, the host's
 * rounding modes, quadruple precision. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/sm/exec/semantics.h"
#include "tests/sm/quad.h"

#include <cmocka.h>

enum { ROUNDS = 20000 };

static uint64_t state = 88172645463325252ull;
static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static uint32_t edgy32(void) {
  static const uint32_t edges[] = {0,          1,          0x7fffff,   0x800000,   0x3f800000,
                                   0x7f7fffff, 0x7f800000, 0x7fc00000, 0x80000000, 0xff800000,
                                   0xffffffff, 0x7fffffff, 0x4b800000, 0xcf000000, 0x5f800000};
  uint64_t r = random64();
  return r % 4 ? (uint32_t)(r >> 32) : edges[r / 4 % (sizeof edges / sizeof *edges)];
}

static const int host_round[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

static void add3_carries_between_words(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t a = edgy32(), b = edgy32(), c = edgy32(), in = (uint32_t)(random64() % 6), carry;
    uint32_t xa = random64() & 1 ? ~0u : 0, xb = random64() & 1 ? ~0u : 0;
    uint64_t wide = (uint64_t)(a ^ xa) + (b ^ xb) + c + in;
    assert_int_equal(sem_add3(a, b, c, xa, xb, 0, in, &carry), (uint32_t)wide);
    assert_int_equal(carry, wide >> 32);
  }
}

static void mad_wide_carries_between_words(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t a = edgy32(), b = edgy32(), carry;
    uint64_t c = random64();
    bool is_signed = random64() & 1;
    unsigned __int128 product =
        is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
    unsigned __int128 wide = product + c + 1;
    assert_true(sem_mad_wide(a, b, c, is_signed, 1, &carry) == (uint64_t)wide);
    assert_int_equal(carry, (uint64_t)(wide >> 64));
  }
}

static void lop3_follows_truth_table(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t a = edgy32(), b = edgy32(), c = edgy32(), table = (uint32_t)random64() & 0xff;
    uint32_t expected = 0;
    for (unsigned k = 0; k < 32; k++) {
      unsigned index = (a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1);
      expected |= (table >> index & 1) << k;
    }
    assert_int_equal(sem_lop3(a, b, c, sem_lut(table)), expected);
  }
}

static void funnel_shifts_match_wide_shifts(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t lo = edgy32(), hi = edgy32(), count = (uint32_t)random64() % 80;
    bool right = random64() & 1, wrap = random64() & 1, is_signed = random64() & 1;
    bool high = random64() & 1;
    uint32_t width = random64() & 1 ? 32 : 64;
    uint32_t by = wrap ? count % width : count > width ? width : count;
    __int128 pair = is_signed ? (__int128)(int64_t)sem_pair(lo, hi) : (__int128)sem_pair(lo, hi);
    uint64_t out = (uint64_t)(right ? pair >> by : (__int128)((unsigned __int128)pair << by));
    assert_int_equal(sem_shf(lo, count, hi, right, wrap, is_signed, width, high),
                     high ? (uint32_t)(out >> 32) : (uint32_t)out);
  }
}

static void bit_counts_and_reversal_match_loops(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t a = edgy32(), reversed = 0, count = 0;
    int top = -1;
    for (int k = 0; k < 32; k++) {
      reversed |= (a >> k & 1) << (31 - k);
      count += a >> k & 1;
      top = a >> k & 1 ? k : top;
    }
    assert_int_equal(sem_brev(a), reversed);
    assert_int_equal(sem_popc(a), count);
    assert_int_equal((int)sem_flo(a, false, false), top);
    assert_int_equal(sem_flo(a, true, false), sem_flo((int32_t)a < 0 ? ~a : a, false, false));
  }
}

/* Compares packing with the host's conversions in each rounding mode. */
static void conversions_round_in_each_mode(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint64_t bits = random64();
    if (n % 2) /* around the range of f32 */
      bits = (bits & ~(0x7ffull << 52)) | (uint64_t)(1023 - 160 + random64() % 300) << 52;
    double d = sem_f64(bits);
    for (unsigned mode = 0; mode < 4; mode++) {
      fesetround(host_round[mode]);
      volatile double in = d;
      volatile float out = (float)in;
      volatile int64_t in_int = (int64_t)bits;
      volatile float from_int = (float)in_int;
      fesetround(FE_TONEAREST);
      float f = out, g = from_int;
      uint32_t got = (uint32_t)sem_convert(bits, SEM_FORMAT_F64, SEM_FORMAT_F32, mode, false);
      if (d == d)
        assert_int_equal(got, sem_bits32(f));
      else
        assert_int_equal(got, SEM_F32_NAN);
      assert_int_equal((uint32_t)sem_from_int(bits, true, SEM_FORMAT_F32, mode), sem_bits32(g));
    }
  }
}

static void float_to_integer_rounds_and_saturates(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t a = edgy32();
    if (n & 1)
      a = sem_bits32((float)((int64_t)random64() >> (random64() % 64)) * 0.25f);
    float f = sem_f32(a);
    for (unsigned mode = 0; mode < 4; mode++) {
      long double r = mode == SEM_RN   ? rintl(f)
                      : mode == SEM_RM ? floorl(f)
                      : mode == SEM_RP ? ceill(f)
                                       : truncl(f);
      int32_t s = f != f                ? INT32_MIN
                  : r >= 2147483647.0L  ? INT32_MAX
                  : r <= -2147483648.0L ? INT32_MIN
                                        : (int32_t)r;
      uint64_t u = f != f || r <= 0 ? 0 : r >= 18446744073709551615.0L ? UINT64_MAX : (uint64_t)r;
      assert_int_equal((int32_t)sem_to_int(a, SEM_FORMAT_F32, 32, true, mode, false), s);
      assert_true(sem_to_int(a, SEM_FORMAT_F32, 64, false, mode, true) == u);
    }
  }
}

static void half_fma_rounds_once(void **unused) {
#if defined(__FLT16_MAX__)
  for (int n = 0; n < ROUNDS; n++) {
    uint16_t h[3];
    _Float16 v[3];
    for (int k = 0; k < 3; k++) {
      h[k] = (uint16_t)random64();
      memcpy(&v[k], &h[k], 2);
      float f = sem_f16_to_f32(h[k]), expected = (float)v[k];
      assert_true(f == expected || f != f);
      assert_int_equal(f != f, expected != expected);
    }
    /* 113 bits are enough for the exact product and sum. */
    quad exact = (quad)v[0] * (quad)v[1] + (quad)v[2];
    _Float16 out = (_Float16)exact;
    uint16_t expected;
    memcpy(&expected, &out, 2);
    uint32_t got = sem_half_fma(sem_f16_to_f32(h[0]), sem_f16_to_f32(h[1]), sem_f16_to_f32(h[2]),
                                (struct sem_half_mode){0});
    assert_int_equal(got, exact != exact ? SEM_F16_NAN : expected);
  }
#else
  skip(); /* the host compiler has no 16-bit float to compare with */
#endif
}

static void within(uint32_t got, double expected, double ulps) {
  double error = fabs((double)sem_f32(got) - expected);
  double ulp = ldexp(1, ilogb(expected) - 23);
  if (error > ulps * ulp)
    fail_msg("got %a, expected %a", (double)sem_f32(got), expected);
}

static void special_functions_stay_within_bounds(void **unused) {
  for (int n = 0; n < ROUNDS; n++) {
    float x = (float)ldexp(1 + (double)(random64() >> 12) * 0x1p-52, (int)(random64() % 200) - 100);
    float y = (float)((double)(int64_t)random64() * 0x1p-57);
    within(sem_rcp(sem_bits32(x)), 1 / (double)x, 0.5001);
    within(sem_rsq(sem_bits32(x)), 1 / sqrt(x), 0.5001);
    within(sem_sqrt(sem_bits32(x)), sqrt(x), 0.5001);
    within(sem_ex2(sem_bits32(y)), exp2(y), 0.5001);
    if (x != 1)
      within(sem_lg2(sem_bits32(x)), log2(x), 0.5001);
    double turn = 6.283185307179586 * ((double)y - rint(y));
    assert_true(fabs((double)sem_f32(sem_turn(sem_bits32(y), false)) - sin(turn)) < 0x1p-24);
    assert_true(fabs((double)sem_f32(sem_turn(sem_bits32(y), true)) - cos(turn)) < 0x1p-24);
  }
  const uint32_t inf = SEM_F32_EXP, negative = SEM_F32_SIGN;
  assert_int_equal(sem_rcp(0), inf);
  assert_int_equal(sem_rcp(negative), inf | negative);
  assert_int_equal(sem_rcp(inf), 0);
  assert_int_equal(sem_rcp(1), inf); /* subnormals are zero */
  assert_int_equal(sem_rsq(negative), inf | negative);
  assert_int_equal(sem_rsq(0xbf800000), SEM_F32_NAN);
  assert_int_equal(sem_lg2(0), inf | negative);
  assert_int_equal(sem_lg2(0xbf800000), SEM_F32_NAN);
  assert_int_equal(sem_lg2(inf), inf);
  assert_int_equal(sem_lg2(SEM_F32_ONE), 0);
  assert_int_equal(sem_ex2(inf), inf);
  assert_int_equal(sem_ex2(inf | negative), 0);
  assert_int_equal(sem_ex2(0xc3160000), 0); /* 2^-150 */
  assert_int_equal(sem_ex2(1), SEM_F32_ONE);
  assert_int_equal(sem_turn(inf, false), SEM_F32_NAN);
  assert_int_equal(sem_turn(negative, false), negative);
  assert_int_equal(sem_turn(0, true), SEM_F32_ONE);
  assert_int_equal(sem_seed64(0, false), 0x7ff00000);
}

static void minimum_and_maximum_handle_nan(void **unused) {
  const uint32_t nan = 0x7fc12345, one = SEM_F32_ONE, minus_zero = SEM_F32_SIGN;
  assert_int_equal(sem_minmax32(0, minus_zero, true, false, false), minus_zero);
  assert_int_equal(sem_minmax32(minus_zero, 0, false, false, false), 0);
  assert_int_equal(sem_minmax32(nan, one, true, false, false), one);
  assert_int_equal(sem_minmax32(one, nan, false, false, false), one);
  assert_int_equal(sem_minmax32(one, nan, false, true, false), SEM_F32_NAN);
  assert_int_equal(sem_minmax32(nan, nan, true, false, false), SEM_F32_NAN);
  for (int n = 0; n < ROUNDS; n++) {
    uint32_t a = edgy32(), b = edgy32();
    if (sem_is_nan32(a) || sem_is_nan32(b) || (a | b) << 1 == 0)
      continue;
    assert_true(sem_f32(sem_minmax32(a, b, true, false, false)) == fminf(sem_f32(a), sem_f32(b)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(add3_carries_between_words),
      cmocka_unit_test(mad_wide_carries_between_words),
      cmocka_unit_test(lop3_follows_truth_table),
      cmocka_unit_test(funnel_shifts_match_wide_shifts),
      cmocka_unit_test(bit_counts_and_reversal_match_loops),
      cmocka_unit_test(conversions_round_in_each_mode),
      cmocka_unit_test(float_to_integer_rounds_and_saturates),
      cmocka_unit_test(half_fma_rounds_once),
      cmocka_unit_test(special_functions_stay_within_bounds),
      cmocka_unit_test(minimum_and_maximum_handle_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
