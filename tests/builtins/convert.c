/* Explicit conversions between the eleven scalar types, with saturation and in all rounding modes,
 * and as_ operators (OpenCL C 3.0, 6.4.3 and 6.4.4). All results are exact.
 */
#include "tests/builtins/builtins.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

static const struct mode {
  const char *suffix;
  int rounding; /* in fenv.h; -1 means the default of the type */
} modes[] = {
    {"", -1},
    {"_rte", FE_TONEAREST},
    {"_rtz", FE_TOWARDZERO},
    {"_rtp", FE_UPWARD},
    {"_rtn", FE_DOWNWARD},
};
enum { MODES = sizeof modes / sizeof modes[0], FORMS = 2 * MODES, SHOWN = 4 };

static unsigned forms_of(enum type to) {
  return types[to].is_float ? MODES : FORMS;
}
static const char *form_name(enum type to, unsigned width, unsigned form) {
  static char name[48];
  snprintf(name, sizeof name, "convert_%s%s%s", type_name(to, width), form < MODES ? "" : "_sat",
           modes[form % MODES].suffix);
  return name;
}

/* Returns whether the pair is tested with this width. Without --all-widths, only every third pair
 * is tested with a vector width. */
static bool width_here(unsigned index, enum type to, enum type from) {
  return width_wanted(index, from) && (index == 0 || settings.all_widths || (to + from) % 3 == 0);
}

/* The expected result of a conversion. */
struct expected {
  struct value value;
  bool free;
};

static struct expected to_integer(enum type to, enum type from, struct value x, bool saturate,
                                  int rounding) {
  if (!types[from].is_float)
    return (struct expected){{0, saturate ? clip(to, x.n) : wrap(to, x.n)}, false};
  if (isnan(x.x))
    return (struct expected){{0, 0}, !saturate};
  real r = device_round(x.x, rounding < 0 ? FE_TOWARDZERO : rounding);
  bool inside = r >= (real)least_of(to) && r <= (real)most_of(to);
  return (struct expected){{0, inside  ? (wide)r
                               : r < 0 ? least_of(to)
                                       : most_of(to)},
                           !inside && !saturate};
}

static struct expected expect(enum type to, enum type from, struct value x, unsigned form) {
  const int rounding = modes[form % MODES].rounding;
  if (!types[to].is_float)
    return to_integer(to, from, x, form >= MODES, rounding);
  real exact = types[from].is_float ? x.x : (real)x.n;
  return (struct expected){
      value_of_real(to, narrow(to, exact, rounding < 0 ? FE_TONEAREST : rounding)), false};
}

/* For integers, also returns source values near the limits of the result type. */
static struct value convertible(enum type to, enum type from, size_t i) {
  struct value x = test_value(from, 0, 1, i);
  if (i % 4 != 3 || !types[from].is_float)
    return x;
  real power = ldexpl(1, (int)(device_random() % 66)) * (i & 4 ? 1 : -1);
  real offset = (real)(device_random() % 9) / 4 - 1;
  (void)to;
  return value_of_real(from, i & 8 ? power + offset : power * (1 + offset * epsilon(from)));
}

static void add_kernel(struct device_text *text, enum type to, enum type from, unsigned width) {
  char value[96];
  device_text_add(text,
                  "kernel void from_%s_%u(global const %s *a, global %s *r) {\n"
                  "  size_t i = get_global_id(0), n = get_global_size(0) * %u;\n  %s x = ",
                  types[from].name, width, types[from].name, types[to].name, width,
                  type_name(from, width));
  add_load(text, width, "a");
  device_text_add(text, ";\n");
  for (unsigned f = 0; f < forms_of(to); f++) {
    char array[24];
    snprintf(value, sizeof value, "%s(x)", form_name(to, width, f));
    snprintf(array, sizeof array, width == 1 ? "(r + %u * n)" : "r + %u * n", f);
    add_store(text, width, value, array);
  }
  device_text_add(text, "}\n");
}

/* Compares results, and adds to wrong and compared. */
static void check(enum type to, enum type from, unsigned width, size_t count, const void *in,
                  const void *got, const struct expected *expected, size_t *wrong,
                  size_t *compared) {
  for (unsigned f = 0; f < forms_of(to); f++)
    for (size_t i = 0; i < count; i++) {
      const struct expected *want = &expected[f * count + i];
      struct value r = value_load(to, got, f * count + i);
      if (want->free)
        continue;
      ++*compared;
      bool nan = types[to].is_float && isnan(want->value.x);
      if ((nan ? isnan(r.x) : r.n == want->value.n) || ++*wrong > SHOWN)
        continue;
      struct value x = value_load(from, in, i);
      fprintf(stderr, "  %s(%s %La %lld) = %La %lld, not %La %lld\n", form_name(to, width, f),
              types[from].name, x.x, (long long)x.n, r.x, (long long)r.n, want->value.x,
              (long long)want->value.n);
    }
}

/* Tests a pair of types in all requested widths. */
static bool test_pair(struct device_cl *cl, cl_program program, enum type to, enum type from,
                      size_t *wrong, size_t *compared) {
  const size_t count = value_count(1, from), results = forms_of(to) * count;
  void *in = room(count * sizeof(uint64_t)), *out = room(results * sizeof(uint64_t));
  struct expected *expected = room(results * sizeof *expected);
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    struct value x = convertible(to, from, i);
    value_store(from, in, i, x);
    for (unsigned f = 0; f < forms_of(to); f++)
      expected[f * count + i] = expect(to, from, x, f);
  }
  for (unsigned w = 0; w < WIDTHS; w++)
    if (width_here(w, to, from)) {
      char name[32];
      struct device_array arrays[] = {{in, count * sizeof(uint64_t), false},
                                      {out, results * sizeof(uint64_t), true}};
      snprintf(name, sizeof name, "from_%s_%u", types[from].name, widths[w]);
      memset(out, 0, results * sizeof(uint64_t));
      good = device_cl_run(cl, program, name, count / widths[w], 0, arrays, 2) && good;
      check(to, from, widths[w], count, in, out, expected, wrong, compared);
    }
  free(in);
  free(out);
  free(expected);
  return good;
}

static int test_conversions_to(struct device_cl *cl, enum type to) {
  struct device_text text = {0};
  size_t wrong = 0, compared = 0;
  device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (enum type from = 0; from < TYPES; from++)
    for (unsigned w = 0; w < WIDTHS; w++)
      if (width_here(w, to, from))
        add_kernel(&text, to, from, widths[w]);
  cl_program program = build_text(cl, &text);
  bool good = program != NULL;
  for (enum type from = 0; from < TYPES && program; from++)
    good = test_pair(cl, program, to, from, &wrong, &compared) && good;
  if (program)
    clReleaseProgram(program);
  printf("| convert_%s | all, %u forms | %zu | %zu |\n", types[to].name, forms_of(to), compared,
         wrong);
  return !good || wrong;
}

/* as_ converts to any type of the same size; vectors of three only to other vectors of three. The
 * results are stored one after another, and each must be equal to the input. */
static unsigned width_as(enum type to, enum type from, unsigned width) {
  unsigned bits = types[from].bits * width, n = bits / types[to].bits;
  if (width == 3)
    return types[to].bits == types[from].bits ? 3 : 0;
  return n * types[to].bits == bits && n <= WIDTH ? n : 0;
}

static int test_as(struct device_cl *cl) {
  struct device_text text = {0};
  size_t wrong = 0, compared = 0;
  bool good = true;
  device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (enum type from = 0; from < TYPES; from++)
    for (unsigned w = 0; w < WIDTHS; w++) {
      unsigned place = 0;
      device_text_add(&text,
                      "kernel void as_%s_%u(global const %s *a, global char *r) {\n"
                      "  size_t i = get_global_id(0), n = get_global_size(0) * %u;\n  %s x = ",
                      types[from].name, widths[w], types[from].name,
                      widths[w] * types[from].bits / 8, type_name(from, widths[w]));
      add_load(&text, widths[w], "a");
      device_text_add(&text, ";\n");
      for (enum type to = 0; to < TYPES; to++) {
        unsigned width = width_as(to, from, widths[w]);
        char value[32], array[48];
        snprintf(value, sizeof value, "as_%s(x)", type_name(to, width));
        snprintf(array, sizeof array, "((global %s *)(r + %u * n))", types[to].name, place);
        if (width) {
          add_store(&text, width, value, array);
          place++;
        }
      }
      device_text_add(&text, "}\n");
    }
  cl_program program = build_text(cl, &text);
  for (enum type from = 0; from < TYPES && program; from++) {
    const size_t size = types[from].bits / 8, count = value_count(1, from);
    char *in = room(count * size), *out = room(TYPES * count * size);
    for (size_t i = 0; i < count; i++)
      value_store(from, in, i, test_value(from, 0, 1, i));
    for (unsigned w = 0; w < WIDTHS; w++) {
      struct device_array arrays[] = {{in, count * size, false}, {out, TYPES * count * size, true}};
      char name[32];
      snprintf(name, sizeof name, "as_%s_%u", types[from].name, widths[w]);
      memset(out, 0, TYPES * count * size);
      good = device_cl_run(cl, program, name, count / widths[w], 0, arrays, 2) && good;
      unsigned place = 0;
      for (enum type to = 0; to < TYPES; to++)
        if (width_as(to, from, widths[w])) {
          bool same = memcmp(in, out + place++ * count * size, count * size) == 0;
          compared += count;
          wrong += !same;
          if (!same)
            fprintf(stderr, "  as_%s of %s%u is wrong\n", types[to].name, types[from].name,
                    widths[w]);
        }
    }
    free(in);
    free(out);
  }
  if (program)
    clReleaseProgram(program);
  printf("| as_ | all | %zu | %zu |\n", compared, wrong);
  return !program || !good || wrong;
}

static void list_conversions(void) {
  for (enum type to = 0; to < TYPES; to++)
    for (enum type from = 0; from < TYPES; from++)
      for (unsigned w = 0; w < WIDTHS; w++)
        for (unsigned f = 0; f < forms_of(to); f++)
          fprintf(settings.list, "%s(%s)\n", form_name(to, widths[w], f),
                  type_name(from, widths[w]));
}

int test_conversions(struct device_cl *cl) {
  int failures = 0;
  if (settings.list) {
    list_conversions();
    return 0;
  }
  printf("\n## Conversions\n\n| function | from | results compared | wrong |\n|---|---|---|---|\n");
  for (enum type to = 0; to < TYPES; to++)
    failures += test_conversions_to(cl, to);
  failures += test_as(cl);
  fflush(stdout);
  return failures;
}
