/* Inputs for the test of built-in functions: special values, all
 * pairs of them, and random values. */
#include "tests/builtins/builtins.h"

#include <float.h>

static const double edges[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    -2.5,
    3.0,
    -3.0,
    10.0,
    -10.0,
    0.25,
    0.75,
    100.5,
    -100.5,
    1e-3,
    -1e-3,
    8388608,
    8388609,
    16777216,
    -16777217.0,
    1e10,
    -1e10,
    88.7,
    -88.7,
    -103.9,
    709.7,
    -745.1,
    127.999,
    -149.5,
    1.5707963267948966,
    3.1415926535897932,
    -0.7853981633974483,
    0.9999999403953552,
    1.0000001192092896,
    -0.99999994,
    FLT_MIN,
    -FLT_MIN,
    FLT_MAX,
    -FLT_MAX,
    0x1p-149,
    -0x1p-149,
    0x1p-140,
    0x1p-14,
    0x1p-24,
    -0x1.8p-24,
    65504,
    -65504,
    65519,
    0x1.ffcp-1,
    DBL_MIN,
    DBL_MAX,
    -DBL_MAX,
    0x1p-1074,
    INFINITY,
    -INFINITY,
    NAN,
};
enum { EDGES = sizeof edges / sizeof edges[0] };

/* Special values in addition to the extremes of the type. wrap() truncates them to the type. */
static const wide integer_edges[] = {0,  1,   -1,   2,   -2,    3,      -3,       7,        -8,
                                     24, 127, -149, 150, -1074, 100001, 16777217, -16777219};
enum { SPECIAL = 6, INTEGER_EDGES = sizeof integer_edges / sizeof integer_edges[0] + SPECIAL };

static wide integer_edge(enum type type, size_t i) {
  const wide special[SPECIAL] = {least_of(type),    least_of(type) + 1, most_of(type),
                                 most_of(type) - 1, most_of(type) / 2,  most_of(type) / 3};
  return i < SPECIAL ? special[i] : wrap(type, integer_edges[i - SPECIAL]);
}

/* Returns the number of values: all pairs of special values for two
 * arguments, with those of a third argument in turn. The count is a multiple
 * of every vector width and of a work-group of 32. */
size_t value_count(unsigned arguments, enum type type) {
  const size_t count = types[type].is_float ? EDGES : INTEGER_EDGES, whole = 32 * 48;
  size_t all = (arguments > 1 ? count * count : count) + settings.values;
  return (all + whole - 1) / whole * whole;
}

/* Returns random bits, or values in three ranges around 0. Half of
 * the vectors contain only one kind. */
static struct value random_number(enum type type, size_t i) {
  uint64_t bits = device_random();
  real unit = (real)(int64_t)bits * 0x1p-63L;
  switch ((i / 48 % 2 ? i / 96 : device_random()) % 4) {
  case 0:
    return value_of_bits(type, bits >> (64 - types[type].bits));
  case 1:
    return value_of_real(type, unit);
  case 2:
    return value_of_real(type, unit * 100);
  default:
    return value_of_real(type, ldexpl(unit, (int)(bits % 41) - (type == HALF ? 24 : 20)));
  }
}

struct value test_value(enum type type, unsigned argument, unsigned arguments, size_t i) {
  const bool is_float = types[type].is_float;
  const size_t count = is_float ? EDGES : INTEGER_EDGES;
  const size_t place = argument == 0 ? i : argument == 1 ? i / count : i * 7 + argument;
  if (i < (arguments > 1 ? count * count : count))
    return is_float ? value_of_real(type, edges[place % count])
                    : (struct value){0, integer_edge(type, place % count)};
  if (is_float)
    return random_number(type, i);
  /* Of all magnitudes. */
  wide n = (wide)(int64_t)device_random() >> device_random() % types[type].bits;
  return (struct value){0, wrap(type, n)};
}
