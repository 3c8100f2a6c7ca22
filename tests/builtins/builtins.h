/* The table of OpenCL C's built-in functions, and what the files of its test share:
 * types, values, references in higher precision, and the report.
 */
#ifndef TEGRACL_TESTS_BUILTINS_H
#define TEGRACL_TESTS_BUILTINS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/compiler/device/device_cl.h"

typedef long double real;
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

enum type { CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE, TYPES };
enum {
  FLOATS = 1 << HALF | 1 << FLOAT | 1 << DOUBLE,
  SIGNEDS = 1 << CHAR | 1 << SHORT | 1 << INT | 1 << LONG,
  UNSIGNEDS = SIGNEDS << 1,
  INTEGERS = SIGNEDS | UNSIGNEDS,
  ALL = INTEGERS | FLOATS,
};
struct type_info {
  const char *name;
  unsigned bits;
  bool is_signed, is_float;
  int digits, least, most; /* as FLT_MANT_DIG, FLT_MIN_EXP and FLT_MAX_EXP */
};
extern const struct type_info types[TYPES];

/* Returns the integer type with this number of bits. */
enum type integer_type(unsigned bits, bool is_signed);

/* A number: x for floating-point types, n for integer types. n also
 * contains the bits of a floating-point number. */
struct value {
  real x;
  wide n;
};
struct value value_load(enum type type, const void *array, size_t i);
void value_store(enum type type, void *array, size_t i, struct value value);
struct value value_of_bits(enum type type, uint64_t bits);
/* Rounds x to a floating-point type. */
struct value value_of_real(enum type type, real x);

/* wrap returns the value of n's low bits in an integer type. least_of and
 * most_of return its extremes; clip saturates. */
wide wrap(enum type type, wide n);
wide least_of(enum type type);
wide most_of(enum type type);
wide clip(enum type type, wide n);
/* Rounds x once to a floating-point type, in a rounding mode of fenv.h. */
real narrow(enum type type, real x, int rounding);
/* Difference between 1 and the next larger number. */
real epsilon(enum type type);

enum { ARGUMENTS = 4, WIDTH = 16, WIDTHS = 6, GROUP = 32 };
extern const unsigned widths[WIDTHS]; /* 1, 2, 3, 4, 8, 16 */

/* A call as seen by its reference: the elements of the arguments, and the index of the requested
 * element of the result. A scalar argument of a vector form applies to all elements. */
struct call {
  enum type type;
  unsigned width, element;
  struct value in[ARGUMENTS][WIDTH];
};
/* The expected result. */
struct answer {
  struct value value;
  struct value second;    /* through the pointer */
  real unit;              /* unit of the error; 0 means the last place of the value */
  bool free, second_free; /* any result is allowed */
};

enum {
  ANY_ZERO = 1, /* the sign of a zero result is unspecified */
  NEAR = 2,     /* the error is at most NEAR_ULPS or NEAR_ERROR, whichever is less strict */
  UP_TO_4 = 4,  /* has no vectors of 8 and 16 */
  ONLY_3_4 = 8, /* only has vectors of 3 and 4 */
  VECTORS = 16, /* works on whole vectors, so each width is a different function */
};
#define UNBOUND    (-1.0)
#define NEAR_ULPS  8192
#define NEAR_ERROR 0x1p-16L

/* A row of the table: a function in all its types. Each word of forms is one form,
 * whose letters denote the types of the result and the parameters (letters[] in
 * program.c). The bounds for half, float and double are base + per_element * width, in
 * units in the last place of the true value or in the given unit. */
struct builtin {
  const char *name;
  const char *forms;
  unsigned types;
  void (*reference)(const struct call *, struct answer *);
  double base[3], per_element[3];
  unsigned flags;
  real limit;       /* limit of magnitudes and their inverses; 0 if none */
  const char *unit; /* NULL: ulp */
};
struct builtin_list {
  const char *title;
  const struct builtin *rows;
  size_t count;
};
extern const struct builtin_list math_functions, fast_functions, common_functions,
    geometric_functions, relational_functions, integer_functions;

/* Defines the reference of a row. e is the element; a, b, d are the first
 * arguments as real numbers, i, j, k as integers. */
#define REFERENCE(name, ...)                                                                       \
  static void ref_##name(const struct call *c, struct answer *out) {                               \
    const unsigned e = c->element;                                                                 \
    const real a = c->in[0][e].x, b = c->in[1][e].x, d = c->in[2][e].x;                            \
    const wide i = c->in[0][e].n, j = c->in[1][e].n, k = c->in[2][e].n;                            \
    (void)a, (void)b, (void)d, (void)i, (void)j, (void)k;                                          \
    __VA_ARGS__;                                                                                   \
  }

/* Settings of the test run. */
struct settings {
  size_t values;   /* number of random values for each function */
  bool all_widths; /* otherwise scalars and one vector width, which varies between functions */
  bool relaxed;    /* programs are built with -cl-fast-relaxed-math */
  const char *only;
  FILE *list; /* if not NULL, list the overloads there instead of running them */
};
extern struct settings settings;

/* Whether to test the width with this index in this turn. */
bool width_wanted(unsigned index, unsigned turn);
/* Returns the name of a type with a width, for example "float4" or "float". */
const char *type_name(enum type type, unsigned width);
/* Add code that loads or stores the value of this width for work-item i. */
void add_load(struct device_text *text, unsigned width, const char *array);
void add_store(struct device_text *text, unsigned width, const char *value, const char *array);

/* The test values of a type: special values first, then pairs of them, then random values. */
size_t value_count(unsigned arguments, enum type type);
struct value test_value(enum type type, unsigned argument, unsigned arguments, size_t i);

/* Tests of functions that are not in the table. Each one prints its own table, or the
 * overloads if requested, and returns the number of failures. */
int test_conversions(struct device_cl *cl);
int test_memory(struct device_cl *cl);
int test_shuffles(struct device_cl *cl);

/* Builds and frees the text. Returns NULL on failure. */
cl_program build_text(struct device_cl *cl, struct device_text *text);
/* Allocates zeroed memory. Exits if out of memory. */
void *room(size_t size);

#endif
