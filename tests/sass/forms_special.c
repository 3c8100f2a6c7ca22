/* Approximations: within the bounds of the PTX manual, and exact at the special
 * values.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/sass/exact.h"
#include "tests/sass/forms.h"

enum function { RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH };

/* p[0]: function, p[1]: .ftz, p[2]: bits of relative error, p[3]: of absolute
 * error (0: none allowed) */
static float of_bits(uint64_t bits) {
  const uint32_t b = (uint32_t)bits;
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}

static double value(int function, double x) {
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
  }
  return NAN;
}

static bool accept(const struct form *f, const uint64_t *in, uint64_t got) {
  const double x = of_bits(f->p[1] ? exact_flush(in[0], &FORMAT_F32) : in[0]);
  const double want = value(f->p[0], x), r = of_bits(got);
  const bool periodic = f->p[0] == SIN || f->p[0] == COS;
  if (periodic && isinf(x))
    return got == 0x7fffffff;
  if (isnan(want))
    return got == 0x7fffffff;
  if (periodic && fabs(x) > 3.14159) /* the bound holds for one period */
    return fabs(r) <= 1;
  if (isinf(want) || want == 0)
    return r == want && signbit(r) == signbit(want);
  const double least = 0x1p-126, most = 0x1.fffffep127;
  if (fabs(want) < least * (1 + 0x1p-20) && f->p[1] && r == 0)
    return signbit(r) == signbit(want);
  if (fabs(want) > most)
    return isinf(r) && signbit(r) == signbit(want);
  const double relative = ldexp(fabs(want), -f->p[2]), absolute = f->p[3] ? ldexp(1, -f->p[3]) : 0;
  const double subnormal = fabs(want) < least ? 0x1p-149 : 0;
  return fabs(r - want) <= fmax(relative, absolute) + subnormal;
}

void forms_special(void) {
  static const struct {
    const char *name;
    int function, relative, absolute;
  } rows[] = {{"rcp.approx", RCP, 23, 0},     {"sqrt.approx", SQRT, 23, 0},
              {"rsqrt.approx", RSQRT, 22, 0}, {"sin.approx", SIN, 60, 20},
              {"cos.approx", COS, 60, 20},    {"lg2.approx", LG2, 22, 22},
              {"ex2.approx", EX2, 22, 0},     {"tanh.approx", TANH, 10, 0}};
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int ftz = 0; ftz < (rows[k].function == TANH ? 1 : 2); ftz++) {
      struct form *f = form_add("f", 'f', "%s%s.f32 %%0, %%1;", rows[k].name, ftz ? ".ftz" : "");
      f->accept = accept;
      f->p[0] = rows[k].function, f->p[1] = ftz;
      f->p[2] = rows[k].relative, f->p[3] = rows[k].absolute;
    }
}
