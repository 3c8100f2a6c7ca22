/* The formatter for printf's records: compares each conversion with the C
 * library's printf, and tests vectors and invalid records. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"

enum { BYTES = 1024, TEXT = 1 << 20 };

static char text[TEXT];
static size_t text_size;

static const char *string_at(void *data, uint64_t address) {
  return address ? (const char *)(uintptr_t)address : NULL;
}

static void keep(void *data, const char *bytes, size_t size) {
  assert_true(text_size + size < sizeof text);
  memcpy(text + text_size, bytes, size);
  text_size += size;
  text[text_size] = 0;
}

static const struct cc_print_reader reader = {NULL, string_at, keep};

/* ---- makes records like device/printf.cuh ----------------------------------------- */

struct maker {
  unsigned char types[32], values[BYTES];
  uint32_t count;
  size_t size;
};

static void add(struct maker *maker, enum print_type type, unsigned lanes, const void *values,
                size_t bytes) {
  maker->types[maker->count++] = (unsigned char)(type + lanes * PRINT_LANES);
  memcpy(maker->values + maker->size, values, bytes);
  maker->size += (bytes + PRINT_ALIGN - 1) / PRINT_ALIGN * PRINT_ALIGN;
}

static void add_i32(struct maker *maker, int32_t value) {
  add(maker, PRINT_I32, 1, &value, sizeof value);
}

static void add_i64(struct maker *maker, int64_t value) {
  add(maker, PRINT_I64, 1, &value, sizeof value);
}

static void add_narrow(struct maker *maker, int64_t value) {
  add_i32(maker, (int32_t)value);
}

static void add_double(struct maker *maker, double value) {
  add(maker, PRINT_DOUBLE, 1, &value, sizeof value);
}

static void add_string(struct maker *maker, const char *value) {
  add(maker, PRINT_POINTER, 1, &value, sizeof value);
}

/* Writes the record's bytes to at. Returns its size. */
static size_t finish(const struct maker *maker, const char *format, unsigned char *at) {
  const size_t types = (maker->count + PRINT_ALIGN - 1u) / PRINT_ALIGN * PRINT_ALIGN;
  const struct print_record header = {
      .size = (uint32_t)(sizeof header + types + maker->size),
      .arg_count = maker->count,
      .format = (uintptr_t)format,
  };
  memcpy(at, &header, sizeof header);
  memset(at + sizeof header, 0, types);
  memcpy(at + sizeof header, maker->types, maker->count);
  memcpy(at + sizeof header + types, maker->values, maker->size);
  return header.size;
}

static const char *output(const struct maker *maker, const char *format) {
  unsigned char record[2 * BYTES];
  text_size = 0;
  text[0] = 0;
  assert_true(cc_print(&reader, record, finish(maker, format, record)));
  return text;
}

#define EXPECT(maker, format, ...)                                                                 \
  do {                                                                                             \
    char expected_[TEXT / 8];                                                                      \
    snprintf(expected_, sizeof expected_, __VA_ARGS__);                                            \
    assert_string_equal(output(maker, format), expected_);                                         \
  } while (0)

/* ---- scalars, compared with the C library ------------------------------------------- */

static const char *const flag_sets[] = {"",   "-",  "+",  " ",  "0",  "#",
                                        "-+", "+0", " 0", "#0", "-#", "+#0"};
static const char *const fields[] = {"", "1", "7", "20", ".0", ".3", "10.4", "3.12", "."};

/* Every combination of flags and field widths for a conversion letter. */
#define EACH_FORMAT(format, c_format, length, c_length, letter)                                    \
  for (size_t f_ = 0; f_ < sizeof flag_sets / sizeof *flag_sets; f_++)                             \
    for (size_t w_ = 0; w_ < sizeof fields / sizeof *fields; w_++)                                 \
      if (snprintf(format, sizeof format, "<%%%s%s" length "%c>", flag_sets[f_], fields[w_],       \
                   letter) > 0 &&                                                                  \
          snprintf(c_format, sizeof c_format, "<%%%s%s" c_length "%c>", flag_sets[f_], fields[w_], \
                   letter) > 0)

#define INTEGERS(length, c_length, type, utype, value)                                             \
  for (const char *letter = "dioxXu"; *letter; letter++) {                                         \
    char format[32], c_format[32];                                                                 \
    EACH_FORMAT(format, c_format, length, c_length, *letter) {                                     \
      struct maker maker = {0};                                                                    \
      (sizeof(type) == 8 ? add_i64 : add_narrow)(&maker, value);                                   \
      if (letter[0] == 'd' || letter[0] == 'i')                                                    \
        EXPECT(&maker, format, c_format, (type)(value));                                           \
      else                                                                                         \
        EXPECT(&maker, format, c_format, (utype)(value));                                          \
    }                                                                                              \
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void prints_integers_like_c(void **state) {
  static const int64_t values[] = {
      0,     1,      -1,    10,        127,       128,        -128,      255,       256,
      32767, -32768, 65535, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, 1ll << 40};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    INTEGERS("hh", "hh", signed char, unsigned char, values[i])
    INTEGERS("h", "h", short, unsigned short, values[i])
    INTEGERS("", "", int, unsigned, values[i])
    INTEGERS("l", "ll", long long, unsigned long long, values[i])
  }
}

static void prints_floats_like_c(void **state) {
  static const double values[] = {0.0,        -0.0,      1.0,       -1.5,  0.1,
                                  123456.789, 1e10,      1e-10,     1e300, -1e-300,
                                  5e-324,     INFINITY,  -INFINITY, 0.5,   2.5,
                                  99999.95,   0x1.fffp9, 1e15,      1e16,  3.14159265358979};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    for (const char *letter = "fFeEgGaA"; *letter; letter++) {
      char format[32], c_format[32];
      EACH_FORMAT(format, c_format, "", "", *letter) {
        struct maker maker = {0};
        add_double(&maker, values[i]);
        EXPECT(&maker, format, c_format, values[i]);
      }
    }
  struct maker maker = {0};
  add_double(&maker, (double)NAN);
  add_double(&maker, (double)NAN);
  assert_string_equal(output(&maker, "%f %5G"), "nan   NAN");
}

static void prints_characters_and_strings_like_c(void **state) {
  static const char *const strings[] = {"", "a", "hello", "a longer string, %d, of some words"};
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    static const char *const formats[] = {"%s", "%10s", "%-10s|", "%.3s", "%10.3s", "%-10.0s|"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
      struct maker maker = {0};
      add_string(&maker, strings[i]);
      EXPECT(&maker, formats[k], formats[k], strings[i]);
    }
  }
  struct maker maker = {0};
  for (const char *c = "xyz"; *c; c++)
    add_i32(&maker, *c);
  assert_string_equal(output(&maker, "%c%5c%-3c|%%"), "x    yz  |%");
  struct maker pointer = {0};
  add_string(&pointer, (const char *)0x1234);
  assert_string_equal(output(&pointer, "%p"), "0x1234");
  struct maker null = {0};
  add_string(&null, NULL);
  assert_string_equal(output(&null, "%s"), "(null)");
  assert_string_equal(output(&(struct maker){0}, "100%%, and no arguments\n"),
                      "100%, and no arguments\n");
}

#pragma GCC diagnostic pop

/* All halves, converted to float by the host's compiler. */
static void prints_all_halves(void **state) {
  for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
    const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 31  ? (mantissa ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(mantissa, -24)
                                   : ldexp(mantissa + 1024, (int)exponent - 25);
    const uint16_t half = (uint16_t)bits;
    struct maker maker = {0};
    add(&maker, PRINT_HALF, 1, &half, sizeof half);
    if (bits >> 15)
      value = -value;
    EXPECT(&maker, "%a", "%a", value);
  }
}

/* ---- vectors ------------------------------------------------------------------------- */

static void prints_vectors(void **state) {
  const int8_t chars[16] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16};
  const int16_t shorts[4] = {-1, 2, 300, -32768};
  const int32_t ints[8] = {1, -2, 3, -4, 5, -6, 7, INT32_MIN};
  const int64_t longs[2] = {-1, INT64_MAX};
  const uint16_t half_bits[3] = {0x3c00, 0xc000, 0x7c00};
  const float singles[4] = {1.5f, -2.0f, 0.1f, INFINITY};
  const double doubles[2] = {1.0 / 3, -1e100};
  const struct {
    enum print_type type;
    unsigned lanes;
    const void *values;
    size_t bytes;
    const char *format, *expected;
  } rows[] = {
      {PRINT_I8, 16, chars, 16, "%v16hhd", "1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16"},
      {PRINT_I8, 4, chars, 4, "%v4hhx", "1,fe,3,fc"},
      {PRINT_I8, 2, chars, 2, "%+4v2hhi", "  +1,  -2"},
      {PRINT_I16, 4, shorts, 8, "%v4hd", "-1,2,300,-32768"},
      {PRINT_I16, 3, shorts, 6, "%v3hu", "65535,2,300"},
      {PRINT_I32, 8, ints, 32, "%v8hld", "1,-2,3,-4,5,-6,7,-2147483648"},
      {PRINT_I32, 2, ints, 8, "%#05v2hlX", "0X001,0XFFFFFFFE"},
      {PRINT_I32, 4, ints, 16, "%-4v4hlo|", "1   ,37777777776,3   ,37777777774|"},
      {PRINT_I64, 2, longs, 16, "%v2ld", "-1,9223372036854775807"},
      {PRINT_I64, 2, longs, 16, "%v2lx", "ffffffffffffffff,7fffffffffffffff"},
      {PRINT_HALF, 3, half_bits, 6, "%v3hf", "1.000000,-2.000000,inf"},
      {PRINT_FLOAT, 4, singles, 16, "%v4hlf", "1.500000,-2.000000,0.100000,inf"},
      {PRINT_FLOAT, 4, singles, 16, "%6.2v4hlF", "  1.50, -2.00,  0.10,   INF"},
      {PRINT_FLOAT, 2, singles, 8, "%v2hla", "0x1.8p+0,-0x1p+1"},
      {PRINT_DOUBLE, 2, doubles, 16, "%v2le", "3.333333e-01,-1.000000e+100"},
      {PRINT_DOUBLE, 2, doubles, 16, "%.3v2lg", "0.333,-1e+100"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct maker maker = {0};
    add(&maker, rows[i].type, rows[i].lanes, rows[i].values, rows[i].bytes);
    assert_string_equal(output(&maker, rows[i].format), rows[i].expected);
  }
}

/* Cases that C leaves undefined: the argument's own width is used, missing arguments are
 * not read, and invalid conversions are printed unchanged. */
static void prints_arguments_unlike_conversions(void **state) {
  struct maker wide = {0}, real = {0}, one = {0};
  add_i64(&wide, 1ll << 40);
  assert_string_equal(output(&wide, "%d"), "1099511627776");
  assert_string_equal(output(&wide, "%zu"), "1099511627776");
  assert_string_equal(output(&wide, "%f"), "1099511627776.000000");
  assert_string_equal(output(&wide, "%s"), "(null)");
  add_double(&real, 2.75);
  assert_string_equal(output(&real, "%d"), "2");
  add_i32(&one, 5);
  assert_string_equal(output(&one, "%d %d %v4hld %s"), "5 %d %v4hld %s");
  assert_string_equal(output(&one, "%v4hld"), "5");
  assert_string_equal(output(&one, "%y %n %d %"), "%y %n 5 %");
  assert_string_equal(output(&one, "%*d|"), "%*d|");
  add_i32(&one, 7);
  assert_string_equal(output(&one, "%*d|"), "    7|");
  output(&one, "%999999999d"); /* excessive widths are limited */
  assert_true(text_size >= 4095 && text_size < TEXT);
}

/* printf writes the decimal point of the C locale. */
static void ignores_locale(void **state) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (setlocale(LC_ALL, names[i]))
      break;
  const locale_t before = uselocale((locale_t)0);
  struct maker maker = {0};
  add_double(&maker, 1234567.5);
  assert_string_equal(output(&maker, "%f"), "1234567.500000");
  assert_ptr_equal(uselocale((locale_t)0), before);
  setlocale(LC_ALL, "C");
}

/* ---- many records and invalid ones ------------------------------------------------------ */

static void emits_many_records(void **state) {
  enum { RECORDS = 20000 };
  unsigned char *records = malloc(RECORDS * 64), *at = records;
  text_size = 0;
  for (int i = 0; i < RECORDS; i++) {
    struct maker maker = {0};
    add_i32(&maker, i);
    at += finish(&maker, "%d\n", at);
  }
  memset(at, 0, 64); /* a reservation without a record */
  assert_true(cc_print(&reader, records, (size_t)(at - records) + 64));
  char *line = text;
  for (long i = 0; i < RECORDS; i++)
    assert_int_equal(strtol(line, &line, 10), i);
  assert_string_equal(line, "\n");
  free(records);
}

static void expect_nothing_read(void *data, const char *bytes, size_t size) {}

static const char *no_string(void *data, uint64_t address) {
  static const char format[] = "%d %s %f %v16hhd %c %p %*.*lf %v4hlx\n";
  return address % 3 ? format : NULL;
}

/* A short format can print a lot of text for few arguments: the output comes
 * in pieces, and no field is wider than C requires. */
static size_t largest_piece, sum_of_pieces;

static void measure(void *data, const char *bytes, size_t size) {
  largest_piece = size > largest_piece ? size : largest_piece;
  sum_of_pieces += size;
}

static void limits_size_of_pieces(void **state) {
  enum { VECTORS = 400, LANES = 16, WIDEST = 4095, PIECE_MAX = 1 << 17 };
  static const char conversion[] = "%65535v16hhx";
  static const struct cc_print_reader counter = {NULL, string_at, measure};
  char *format = calloc(VECTORS, sizeof conversion);
  unsigned char *record = calloc(1, sizeof(struct print_record) + VECTORS * (LANES + 1));
  assert_true(format && record);
  for (int i = 0; i < VECTORS; i++) {
    strcat(format, conversion);
    record[sizeof(struct print_record) + i] = PRINT_I8 + LANES * PRINT_LANES;
  }
  const struct print_record header = {.size = sizeof header + VECTORS * (LANES + 1),
                                      .arg_count = VECTORS,
                                      .format = (uintptr_t)format};
  memcpy(record, &header, sizeof header);
  assert_true(cc_print(&counter, record, header.size));
  assert_int_equal(sum_of_pieces, (size_t)VECTORS * (LANES * WIDEST + LANES - 1));
  assert_true(largest_piece <= PIECE_MAX);
  free(format);
  free(record);
}

/* Random words, and valid records with random changes. The memory ends
 * after them, so AddressSanitizer detects overruns. */
static void refuses_broken_records(void **state) {
  const struct cc_print_reader careless = {NULL, no_string, expect_nothing_read};
  uint32_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    unsigned char good[2 * BYTES];
    struct maker maker = {0};
    add_i32(&maker, round);
    add_string(&maker, "x");
    add_double(&maker, round);
    add(&maker, PRINT_I8, 16, "0123456789abcdef", 16);
    size_t size = finish(&maker, "", good);
    size += finish(&maker, "", good + size);
    unsigned char *bytes = malloc(size);
    memcpy(bytes, good, size);
    for (int changes = 0; changes < 1 + round % 8; changes++) {
      seed = seed * 1664525u + 1013904223u;
      bytes[(seed >> 8) % (round % 2 ? size : 32)] = (unsigned char)(seed >> 24);
    }
    if (round % 5 == 0)
      for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
    assert_true(cc_print(&careless, bytes, size - (round % 7 == 0 ? 5u : 0u)));
    free(bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prints_integers_like_c),
      cmocka_unit_test(prints_floats_like_c),
      cmocka_unit_test(prints_characters_and_strings_like_c),
      cmocka_unit_test(prints_all_halves),
      cmocka_unit_test(prints_vectors),
      cmocka_unit_test(prints_arguments_unlike_conversions),
      cmocka_unit_test(ignores_locale),
      cmocka_unit_test(emits_many_records),
      cmocka_unit_test(refuses_broken_records),
      cmocka_unit_test(limits_size_of_pieces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
