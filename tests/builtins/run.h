/* One run of one function: what the device computed, how it is judged, what is reported.
 */
#ifndef TEGRACL_TESTS_BUILTINS_RUN_H
#define TEGRACL_TESTS_BUILTINS_RUN_H

#include "tests/builtins/program.h"

/* What came of one function in one type. */
struct outcome {
  double worst;
  size_t failures, judged;
  unsigned worst_width; /* of the bound that worst is measured by */
};

/* The arrays of one function in one type, and its answers element by element. */
struct run {
  const struct builtin *b;
  enum type type;
  const struct form *form;
  unsigned form_index, width;
  size_t count;
  void *in[ARGUMENTS], *result, *second;
  struct answer *answers; /* of the first form in scalars; NULL: not known */
  struct outcome *outcome;
};

/* Judges every result of the run, shows the first that are wrong, and adds to the
 * outcome. */
void check(const struct run *run);

/* The requirement that -cl-fast-relaxed-math puts in the place of a row's bound. */
struct relaxed {
  const char *name;
  real (*allowed)(real x, real y, real result);
  const char *text;
};
/* NULL: the function's ordinary bound applies. */
const struct relaxed *relaxed_row(const struct builtin *b, enum type type);
/* True if the option leaves the result open: an argument or the result is not finite, or not
 * in the function's domain. */
bool relaxed_free(const struct run *run, const struct call *call, const struct answer *want);
/* Makes zeros of subnormal arguments; true if there were any. */
bool relaxed_flush(const struct run *run, struct call *call);
/* The error as a part of what is allowed. */
double relaxed_error(const struct relaxed *row, const struct run *run, const struct call *call,
                     real got, real want);

/* Tables in Markdown: floating-point functions with the bound and the worst error of each
 * type, and functions whose results are exact. Those that were not tested are left out. */
void print_floats(const struct builtin_list *list, struct outcome (*outcomes)[TYPES]);
void print_exact(const struct builtin_list *list, struct outcome (*outcomes)[TYPES]);

#endif
