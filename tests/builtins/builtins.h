/* The table of OpenCL C's built-in functions and what the test of them shares: types,
 * values, references in higher precision, and the report.
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
  int digits, least, most; /* of floating-point types, as FLT_MANT_DIG, FLT_MIN_EXP, FLT_MAX_EXP */
};
extern const struct type_info types[TYPES];

/* The integer type of so many bits. */
enum type integer_type(unsigned bits, bool is_signed);

/* A number: x of a floating-point type, n of an integer one; n also holds the bits of a
 * floating-point number. */
struct value {
  real x;
  wide n;
};
struct value value_load(enum type type, const void *array, size_t i);
void value_store(enum type type, void *array, size_t i, struct value value);
struct value value_of_bits(enum type type, uint64_t bits);
/* Of a floating-point type: x rounded to it. */
struct value value_of_real(enum type type, real x);

/* The value that the low bits of n have in an integer type, and its extremes. */
wide wrap(enum type type, wide n);
wide least_of(enum type type);
wide most_of(enum type type);
wide clip(enum type type, wide n);
/* x in a floating-point type, rounded once in a mode of fenv.h. */
real narrow(enum type type, real x, int rounding);
/* The first number above 1, less 1. */
real epsilon(enum type type);

enum { ARGUMENTS = 4, WIDTH = 16, WIDTHS = 6, GROUP = 32 };
extern const unsigned widths[WIDTHS]; /* 1, 2, 3, 4, 8, 16 */

/* One call as its reference sees it: the arguments' elements, and which element of the
 * result is asked for. A scalar argument beside vectors counts for every element. */
struct call {
  enum type type;
  unsigned width, element;
  struct value in[ARGUMENTS][WIDTH];
};
/* What must come out. */
struct answer {
  struct value value;
  struct value second;    /* through the pointer */
  real unit;              /* of the error; 0: the last place of the value */
  bool free, second_free; /* any result is allowed */
};

enum {
  ANY_ZERO = 1, /* the sign of a zero is free */
  NEAR = 2,     /* the error is in NEAR_ULPS or in NEAR_ERROR, whichever is less */
  UP_TO_4 = 4,  /* no vectors of 8 and 16 */
  ONLY_3_4 = 8, /* vectors of 3 and 4 alone */
  VECTORS = 16, /* of whole vectors: another width is another function */
};
#define UNBOUND    (-1.0)
#define NEAR_ULPS  8192
#define NEAR_ERROR 0x1p-16L

/* One row: a function in all its types. The forms are result and parameters by letters
 * (letters[] in program.c), one word for each form. The bounds are those of half, float
 * and double: base + per_element * width, in the last place of the true value or in the
 * unit named. */
struct builtin {
  const char *name;
  const char *forms;
  unsigned types;
  void (*reference)(const struct call *, struct answer *);
  double base[3], per_element[3];
  unsigned flags;
  real limit;       /* of magnitudes and their inverses; 0: none */
  const char *unit; /* NULL: ulp */
};
struct builtin_list {
  const char *title;
  const struct builtin *rows;
  size_t count;
};
extern const struct builtin_list math_functions, fast_functions, common_functions,
    geometric_functions, relational_functions, integer_functions;

/* The reference of a row: e is the element, a, b, d its first arguments as real numbers,
 * i, j, k as integers. */
#define REFERENCE(name, ...)                                                                       \
  static void ref_##name(const struct call *c, struct answer *out) {                               \
    const unsigned e = c->element;                                                                 \
    const real a = c->in[0][e].x, b = c->in[1][e].x, d = c->in[2][e].x;                            \
    const wide i = c->in[0][e].n, j = c->in[1][e].n, k = c->in[2][e].n;                            \
    (void)a, (void)b, (void)d, (void)i, (void)j, (void)k;                                          \
    __VA_ARGS__;                                                                                   \
  }

/* Settings of the run. */
struct settings {
  size_t values;   /* random ones of each function */
  bool all_widths; /* else scalars and one vector width, another for each function */
  bool relaxed;    /* programs are built with -cl-fast-relaxed-math */
  const char *only;
  FILE *list; /* not NULL: list the overloads instead of running them */
};
extern struct settings settings;

/* True if the width with this index is to be tested in this turn. */
bool width_wanted(unsigned index, unsigned turn);
/* The name of a type in a width: "float4", "float". */
const char *type_name(enum type type, unsigned width);
/* Text that loads or stores the work-item i's value of the width. */
void add_load(struct device_text *text, unsigned width, const char *array);
void add_store(struct device_text *text, unsigned width, const char *value, const char *array);

/* Values of a type: edges first, pairs of them, then random ones. */
size_t value_count(unsigned arguments, enum type type);
struct value test_value(enum type type, unsigned argument, unsigned arguments, size_t i);

/* What has no row in the table: each function prints its own table, or the overloads
 * if they are asked for, and gives the number of failures. */
int test_conversions(struct device_cl *cl);
int test_memory(struct device_cl *cl);
int test_shuffles(struct device_cl *cl);

/* Builds and frees the text; NULL on failure. */
cl_program build_text(struct device_cl *cl, struct device_text *text);
/* Zeros; ends the program if there is no memory. */
void *room(size_t size);

#endif
