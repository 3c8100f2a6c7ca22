/* A test run of one function: the device's results, their
 * comparison with the bounds, and the report.
 */
#ifndef TEGRACL_TESTS_BUILTINS_RUN_H
#define TEGRACL_TESTS_BUILTINS_RUN_H

#include "tests/builtins/program.h"

/* The results of one function in one type. */
struct outcome {
  double worst;
  size_t failures, judged;
  unsigned worst_width; /* width whose bound worst refers to */
};

/* The arrays for one function in one type, and the answers for each element. */
struct run {
  const struct builtin *b;
  enum type type;
  const struct form *form;
  unsigned form_index, width;
  size_t count;
  void *in[ARGUMENTS], *result, *second;
  struct answer *answers; /* answers of the first form in scalars; NULL if unknown */
  struct outcome *outcome;
};

/* Checks every result of the run, prints the first wrong ones, and updates the outcome. */
void check(const struct run *run);

/* A requirement that replaces a row's bound with -cl-fast-relaxed-math. */
struct relaxed {
  const char *name;
  real (*allowed)(real x, real y, real result);
  const char *text;
};
/* Returns the requirement, or NULL if the function's ordinary bound applies. */
const struct relaxed *relaxed_row(const struct builtin *b, enum type type);
/* Whether the option leaves the result undefined, because an argument or the
 * result is not finite or is outside the function's domain. */
bool relaxed_free(const struct run *run, const struct call *call, const struct answer *want);
/* Flushes subnormal arguments to zero. Returns whether there were any. */
bool relaxed_flush(const struct run *run, struct call *call);
/* Returns the error as a fraction of the allowed error. */
double relaxed_error(const struct relaxed *row, const struct run *run, const struct call *call,
                     real got, real want);

/* Print Markdown tables: of floating-point functions with the bound and the worst error for each
 * type, and of functions whose results are exact. Functions that were not tested are omitted. */
void print_floats(const struct builtin_list *list, struct outcome (*outcomes)[TYPES]);
void print_exact(const struct builtin_list *list, struct outcome (*outcomes)[TYPES]);

#endif
