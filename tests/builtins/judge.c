/* Compares results with their references; implements check of run.h. */
#include "tests/builtins/run.h"

#include <fenv.h>
#include <float.h>
#include <string.h>

enum { SHOWN = 4 };

static double bound_of(const struct builtin *b, enum type type, unsigned width) {
  if (relaxed_row(b, type))
    return 1;
  return types[type].is_float ? b->base[type - HALF] + b->per_element[type - HALF] * width : 0;
}

/* Returns the distance of a result from the true value in the given unit, or
 * INFINITY if an infinity, NaN or sign of zero is wrong. */
static double error_of(real got, real want, real unit, enum type type, bool zero_sign) {
  const struct type_info *t = &types[type];
  const real last = ldexpl(1, t->most - t->digits), largest = ldexpl(1, t->most) - last;
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got) ? 0 : INFINITY;
  if (got == want)
    return zero_sign && got == 0 && signbit(got) != signbit(want) ? INFINITY : 0;
  if (isinf(want))
    return INFINITY;
  if (unit != 0)
    return (double)(fabsl(got - want) / unit);
  int exponent = want == 0 ? t->least : ilogbl(want) + 1;
  if (exponent < t->least)
    exponent = t->least;
  real ulp = ldexpl(1, exponent - t->digits);
  if (isinf(got)) /* treat infinity like the next number after the largest */
    got = copysignl(largest + last, got);
  if (fabsl(want) > largest) {
    want = copysignl(largest + last, want);
    ulp = last;
  }
  return (double)(fabsl(got - want) / ulp);
}

/* Returns the error of one result or second result, whose type the letter denotes. */
static double judge(const struct run *run, const struct call *call, char letter, struct value got,
                    struct value want, real unit, double bound) {
  const enum type type = letter_type(letter, run->type, run->width);
  if (!types[type].is_float)
    return got.n == want.n ? 0 : INFINITY;
  const struct relaxed *relaxed = relaxed_row(run->b, type);
  if (relaxed)
    return relaxed_error(relaxed, run, call, got.x, want.x);
  if (settings.relaxed && type == FLOAT) { /* results may be flushed to zero */
    if (fabsl(want.x) < FLT_MIN && fabsl(got.x) <= FLT_MIN)
      return 0;
    unit = unit == 0 ? 0 : fmaxl(unit, FLT_MIN);
  }
  bool zero_sign = run->b->limit == 0 && !(run->b->flags & ANY_ZERO) && !settings.relaxed;
  real exact = bound == 0 ? narrow(type, want.x, FE_TONEAREST) : want.x;
  double error = error_of(got.x, exact, unit, type, zero_sign);
  if (!(run->b->flags & NEAR) || !isfinite(got.x))
    return error;
  /* The errors of sine and cosine are amplified by their quotient. */
  real near = strcmp(run->b->name, "native_tan") == 0 ? 1 + exact * exact : 1;
  return fmin(error / NEAR_ULPS, (double)(fabsl(got.x - exact) / (NEAR_ERROR * near)));
}

static void print_values(const struct run *run, const struct call *call, struct value got,
                         const struct answer *want, struct value got_second, double error) {
  fprintf(stderr, "  %s %s(", types[run->type].name, run->b->name);
  for (unsigned k = 0; k < run->form->arguments; k++) {
    const char letter = run->form->letters[1 + k];
    bool is_float = types[letter_type(letter, run->type, run->width)].is_float;
    bool whole = (run->b->flags & VECTORS) != 0;
    for (unsigned e = whole ? 0 : call->element; e < (whole ? run->width : call->element + 1); e++)
      if (is_float)
        fprintf(stderr, "%s%La", k || (whole && e) ? ", " : "", call->in[k][e].x);
      else
        fprintf(stderr, "%s%lld", k || (whole && e) ? ", " : "", (long long)call->in[k][e].n);
  }
  fprintf(stderr, ") in width %u, element %u = %La %lld", run->width, call->element, got.x,
          (long long)got.n);
  if (run->form->has_second)
    fprintf(stderr, ", %La %lld", got_second.x, (long long)got_second.n);
  fprintf(stderr, "; not %La %lld", want->value.x, (long long)want->value.n);
  if (run->form->has_second)
    fprintf(stderr, ", %La %lld", want->second.x, (long long)want->second.n);
  fprintf(stderr, ": error %g of %g\n", error, bound_of(run->b, run->type, run->width));
}

/* Outside its limit a function may return anything. */
static bool out_of_domain(const struct run *run, const struct call *call) {
  const real limit = run->b->limit;
  bool whole = (run->b->flags & VECTORS) != 0;
  for (unsigned k = 0; limit != 0 && k < run->form->arguments; k++)
    for (unsigned e = whole ? 0 : call->element; e < (whole ? run->width : call->element + 1);
         e++) {
      real x = fabsl(call->in[k][e].x);
      if (!(x < limit) || (x != 0 && x < 1 / limit))
        return true;
    }
  return false;
}

static void load_call(const struct run *run, size_t item, struct call *call) {
  for (unsigned k = 0; k < run->form->arguments; k++) {
    const char letter = run->form->letters[1 + k];
    for (unsigned e = 0; e < run->width; e++)
      call->in[k][e] = value_load(letter_type(letter, run->type, run->width), run->in[k],
                                  item * run->width + (letter_is_vector(letter) ? e : 0));
  }
}

/* Returns the larger of the errors of the result and of the second result. */
static double error_of_call(const struct run *run, const struct call *call, struct value got,
                            struct value second, const struct answer *want, double bound) {
  const char *letters = run->form->letters;
  double error = judge(run, call, letters[0], got, want->value, want->unit, bound);
  if (run->form->has_second && !want->second_free)
    error = fmax(
        error, judge(run, call, letters[1 + run->form->arguments], second, want->second, 0, bound));
  return error;
}

/* Returns the error of a call with --relaxed, where subnormal arguments may be flushed to zero. */
static double relaxed_error_of_call(const struct run *run, const struct call *call,
                                    struct value got, struct value second, double bound) {
  struct call flushed = *call;
  struct answer want = {{0, 0}, {0, 0}, 0, false, false};
  if (!relaxed_flush(run, &flushed))
    return INFINITY;
  run->b->reference(&flushed, &want);
  return want.free || relaxed_free(run, &flushed, &want)
             ? 0
             : error_of_call(run, &flushed, got, second, &want, bound);
}

static void check_element(const struct run *run, size_t at, const struct call *call) {
  const char *letters = run->form->letters;
  struct outcome *outcome = run->outcome;
  struct answer own = {{0, 0}, {0, 0}, 0, false, false}, *want = &own;
  const bool by_element = !(run->b->flags & VECTORS) && letters[0] != 'r' &&
                          !strpbrk(letters + 1, "sjkux") && run->form_index == 0;
  if (by_element)
    want = &run->answers[at];
  if (!by_element || run->width == 1)
    run->b->reference(call, want);
  if (want->free || out_of_domain(run, call) || (settings.relaxed && relaxed_free(run, call, want)))
    return;
  const double bound = bound_of(run->b, run->type, run->width);
  struct value got = value_load(letter_type(letters[0], run->type, run->width), run->result, at);
  struct value second = {0, 0};
  if (run->form->has_second)
    second = value_load(letter_type(letters[1 + run->form->arguments], run->type, run->width),
                        run->second, at);
  double error = error_of_call(run, call, got, second, want, bound);
  if (settings.relaxed && error > bound)
    error = fmin(error, relaxed_error_of_call(run, call, got, second, bound));
  outcome->judged++;
  if (error < INFINITY && (error > outcome->worst || outcome->worst_width == 0)) {
    outcome->worst = error;
    outcome->worst_width = run->width;
  }
  if (bound < 0 ? error == INFINITY : error > bound)
    if (outcome->failures++ < SHOWN)
      print_values(run, call, got, want, second, error);
}

void check(const struct run *run) {
  struct call call = {.type = run->type, .width = run->width};
  const unsigned results = letter_is_vector(run->form->letters[0]) ? run->width : 1;
  for (size_t item = 0; item < run->count / run->width; item++) {
    load_call(run, item, &call);
    for (call.element = 0; call.element < results; call.element++)
      check_element(run, item * results + call.element, &call);
  }
}
