/* One PTX operation in one form, as ptxas encodes it, against the tests' own
 * computation: each form is a kernel that applies the operation to thousands of
 * random and edge operands.
 */
#ifndef TEGRACL_TESTS_SASS_FORMS_H
#define TEGRACL_TESTS_SASS_FORMS_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of operands and results, which say width and what values to try:
 *   i 32-bit integer    l 64-bit integer    s 16-bit integer   n 32-bit, not 0
 *   m 64-bit, not 0     t 16-bit, not 0     c shift count      p 0 or 1
 *   f f32   d f64   h f16   b bf16   H f16x2   B bf16x2 */
struct form {
  char ptx[480]; /* %0 the result, %1 to %3 the operands */
  char in[4], out;
  /* Exactly one of the two. Operands and results are bits, zero-extended. */
  uint64_t (*expect)(const struct form *f, const uint64_t *in);
  bool (*accept)(const struct form *f, const uint64_t *in, uint64_t got);
  /* Instead: a whole warp's results from its operands in[operand][lane]. */
  void (*expect_warp)(const struct form *f, const uint64_t (*in)[32], uint64_t *out);
  int p[6];         /* for them */
  bool vector_only; /* no operand may come from a constant bank or an immediate */
};

/* A new form at the end of the table, its text printed as by printf. */
struct form *form_add(const char *in, char out, const char *ptx, ...)
    __attribute__((format(printf, 3, 4)));

/* Fill the table. */
void forms_integer(void);
void forms_bits(void);
void forms_float(void);
void forms_half(void);
void forms_convert(void);
void forms_special(void);
void forms_warp(void);

uint64_t form_random(void);

#endif
