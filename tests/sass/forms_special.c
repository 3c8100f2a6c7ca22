/* Approximations: results within the error bounds of the PTX manual, exact for special values. */
#include <math.h>
#include <stddef.h>

#include "tests/sass/exact.h"
#include "tests/sass/forms.h"

enum function { RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH, DIV, DIV_FULL };

/* p[0]: function, p[1]: .ftz, p[2]: relative error as tenths of -log2, p[3]: absolute error
 * likewise (0: none allowed), p[4]: 16, 32 or 64 bits */
static const struct format *format_of(const struct form *f) {
  return f->p[4] == 16 ? &FORMAT_F16 : f->p[4] == 32 ? &FORMAT_F32 : &FORMAT_F64;
}

static double of_bits(const struct form *f, uint64_t bits) {
  return (double)exact_of(bits, format_of(f)).v;
}

static double operand(const struct form *f, uint64_t bits) {
  return of_bits(f, f->p[1] ? exact_flush(bits, format_of(f)) : bits);
}

static double value(int function, double x, double y) {
  switch ((enum function)function) {
  case RCP:
    return 1 / x;
  case SQRT:
    return sqrt(x);
  case RSQRT:
    return x == 0 ? copysign(HUGE_VAL, x) : 1 / sqrt(x);
  case SIN:
    return sin(x);
  case COS:
    return cos(x);
  case LG2:
    return log2(x);
  case EX2:
    return exp2(x);
  case TANH:
    return tanh(x);
  case DIV:
    if (fabs(y) > 0x1p126 && isfinite(y)) /* multiplied by a reciprocal that is flushed */
      return !isfinite(x) ? NAN : copysign(0, x) * copysign(1, y);
    return x / y;
  case DIV_FULL:
    return x / y;
  }
  return NAN;
}

/* Returns whether got is close enough to want. */
static bool close(const struct form *f, double want, uint64_t got) {
  const struct format *format = format_of(f);
  const int bias = (1 << (format->exponent - 1)) - 1;
  const double r = of_bits(f, got), least = ldexp(1, 1 - bias);
  const double most = ldexp(2 - ldexp(1, -(int)format->mantissa), bias);
  const double relative = fabs(want) * exp2(-f->p[2] / 10.0);
  const double absolute = f->p[3] ? exp2(-f->p[3] / 10.0) : 0;
  const double subnormal = fabs(want) < least ? ldexp(least, -(int)format->mantissa) : 0;
  if (isnan(want)) /* the NaN of doubles is not known */
    return f->p[4] == 64 ? isnan(r) : got == (1ull << (f->p[4] - 1)) - 1;
  if (signbit(r) != signbit(want) && (r != 0 || fabs(want) > absolute))
    return false;
  if (isinf(want) || want == 0)
    return r == want;
  if (fabs(want) < least * (1 + 0x1p-20) && f->p[1] && r == 0)
    return true;
  if (isinf(r))
    return fabs(want) + relative > most;
  return fabs(r - want) <= fmax(relative, absolute) + subnormal;
}

static bool accept(const struct form *f, const uint64_t *in, uint64_t got) {
  const double x = operand(f, in[0]), y = operand(f, in[1]);
  const bool periodic = f->p[0] == SIN || f->p[0] == COS;
  /* The manual gives no bound outside one period, nor for subnormal divisors. */
  if (periodic && isfinite(x) && fabs(x) > 3.14159)
    return fabs(of_bits(f, got)) <= 1;
  if (f->p[0] == DIV && y != 0 && fabs(y) < 0x1p-126)
    return !isfinite(x) || x == 0 || signbit(of_bits(f, got)) == (signbit(x) != signbit(y));
  return close(f, value(f->p[0], x, y), got);
}

static bool accept_pair(const struct form *f, const uint64_t *in, uint64_t got) {
  const uint64_t low[2] = {in[0] & 0xffff}, high[2] = {in[0] >> 16};
  return accept(f, low, got & 0xffff) && accept(f, high, got >> 16);
}

/* Approximations of doubles: the operation computes a high word from a high word. */
static bool accept_seed(const struct form *f, const uint64_t *in, uint64_t got) {
  const uint64_t high = in[0] & ~0xffffffffull;
  return !(uint32_t)got && close(f, value(f->p[0], operand(f, high), 0), got);
}

void forms_special(void) {
  static const struct {
    const char *name, *type;
    const char *in;
    int function, relative, absolute;
    enum { BOTH, NEVER, ALWAYS } ftz;
  } rows[] = {{"rcp.approx", "f32", "f", RCP, 230, 0, BOTH},
              {"sqrt.approx", "f32", "f", SQRT, 230, 0, BOTH},
              {"rsqrt.approx", "f32", "f", RSQRT, 224, 0, BOTH},
              {"sin.approx", "f32", "f", SIN, 600, 205, BOTH},
              {"cos.approx", "f32", "f", COS, 600, 205, BOTH},
              {"lg2.approx", "f32", "f", LG2, 220, 220, BOTH},
              {"ex2.approx", "f32", "f", EX2, 220, 0, BOTH},
              {"tanh.approx", "f32", "f", TANH, 110, 0, NEVER},
              {"div.approx", "f32", "ff", DIV, 220, 0, BOTH},
              {"div.full", "f32", "ff", DIV_FULL, 220, 0, BOTH},
              {"ex2.approx", "f16", "h", EX2, 99, 0, NEVER},
              {"ex2.approx", "f16x2", "H", EX2, 99, 0, NEVER},
              {"tanh.approx", "f16", "h", TANH, 600, 109, NEVER},
              {"tanh.approx", "f16x2", "H", TANH, 600, 109, NEVER},
              {"rcp.approx", "f64", "d", RCP, 200, 0, ALWAYS},
              {"rsqrt.approx", "f64", "d", RSQRT, 200, 0, ALWAYS},
              {"rsqrt.approx", "f64", "d", RSQRT, 510, 0, NEVER}};
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int ftz = rows[k].ftz == ALWAYS; ftz <= (rows[k].ftz != NEVER); ftz++) {
      const char kind = rows[k].in[0];
      struct form *f = form_add(rows[k].in, kind, "%s%s.%s %%0, %%1%s;", rows[k].name,
                                ftz ? ".ftz" : "", rows[k].type, rows[k].in[1] ? ", %2" : "");
      f->accept = kind == 'H' ? accept_pair : rows[k].ftz == ALWAYS ? accept_seed : accept;
      f->p[0] = rows[k].function, f->p[1] = ftz;
      f->p[2] = rows[k].relative, f->p[3] = rows[k].absolute;
      f->p[4] = kind == 'f' ? 32 : kind == 'd' ? 64 : 16;
    }
}
