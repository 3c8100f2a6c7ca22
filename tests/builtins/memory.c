/* Vector data load and store functions, for halves in all rounding modes (OpenCL C 3.0, 6.15.7),
 * in all address spaces, and shuffles (6.15.13). All results are exact.
 */
#include "tests/builtins/builtins.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

enum { HALFS = 66048 /* all of them, rounded up to a multiple of 32 * 48 */, SHOWN = 4 };

/* Counts the differences between arrays of elements. All NaNs of floating-point types are equal. */
static size_t differences(const char *what, enum type type, unsigned width, const void *got,
                          const void *want, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) {
    struct value g = value_load(type, got, i), w = value_load(type, want, i);
    bool same = g.n == w.n || (types[type].is_float && isnan(g.x) && isnan(w.x));
    if (!same && wrong++ < SHOWN)
      fprintf(stderr, "  %s of %s, width %u, element %zu: %La %lld, not %La %lld\n", what,
              types[type].name, width, i, g.x, (long long)g.n, w.x, (long long)w.n);
  }
  return wrong;
}

/* Adds vloadn and vstoren at addresses with only the alignment of an element: from global and
 * constant to global and local, from local to private, from private to global. */
static void add_moves(struct device_text *text, enum type type, unsigned width) {
  const char *t = types[type].name;
  device_text_add(
      text,
      "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void move_%s_%u(\n"
      "    global const %s *a, constant %s *c, global %s *r) {\n"
      "  local %s cells[%u];\n  %s own[%u];\n"
      "  size_t i = get_global_id(0), l = get_local_id(0), n = get_global_size(0) * %u;\n"
      "  vstore%u(vload%u(i, a + 1), i, r + 1);\n  vstore%u(vload%u(l, c + 1), l, cells + 1);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n  vstore%u(vload%u(%u - l, cells + 1), 0, own + 1);\n"
      "  vstore%u(vload%u(0, own + 1), i, r + 1 + n);\n}\n",
      GROUP, t, width, t, t, t, t, GROUP * width + 1, t, width + 1, width, width, width, width,
      width, width, width, GROUP - 1, width, width);
}

static int test_moves(struct device_cl *cl) {
  struct device_text text = {0};
  size_t wrong = 0, compared = 0;
  bool good = true;
  device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (enum type type = 0; type < TYPES; type++)
    for (unsigned w = 1; w < WIDTHS; w++)
      add_moves(&text, type, widths[w]);
  cl_program program = build_text(cl, &text);
  for (enum type type = 0; type < TYPES && program; type++) {
    const size_t size = types[type].bits / 8, count = value_count(1, type);
    char *in = room((count + 1) * size), *out = room((2 * count + 1) * size);
    char *want = room(2 * count * size);
    for (size_t i = 0; i <= count; i++)
      value_store(type, in, i, test_value(type, 0, 1, i));
    for (unsigned w = 1; w < WIDTHS; w++) {
      const size_t width = widths[w], block = GROUP * width;
      char name[32];
      struct device_array arrays[] = {{in, (count + 1) * size, false},
                                      {in, (block + 1) * size, false},
                                      {out, (2 * count + 1) * size, true}};
      memcpy(want, in + size, count * size);
      for (size_t i = 0; i < count; i += width) /* the group's vectors in reverse order */
        memcpy(want + (count + i) * size, in + (1 + block - width - i % block) * size,
               width * size);
      snprintf(name, sizeof name, "move_%s_%zu", types[type].name, width);
      good = device_cl_run(cl, program, name, count / width, GROUP, arrays, 3) && good;
      wrong += differences("vload and vstore", type, widths[w], out + size, want, 2 * count);
      compared += 2 * count;
    }
    free(in);
    free(out);
    free(want);
  }
  if (program)
    clReleaseProgram(program);
  printf("| vload, vstore | all | %zu | %zu |\n", compared, wrong);
  return !program || !good || wrong;
}

/* Returns the distance between vectors of halves in elements, with or without alignment. */
static unsigned stride(unsigned width, bool aligned) {
  return aligned && width == 3 ? 4 : width;
}
/* Returns a name such as "vload_half4" or "vstorea_half3_rtz". */
static const char *half_name(const char *verb, unsigned width, const char *suffix) {
  static char names[2][40];
  static unsigned turn;
  char *name = names[turn++ % 2], number[16] = "";
  if (width > 1)
    snprintf(number, sizeof number, "%u", width);
  snprintf(name, sizeof names[0], "%s_half%s%s", verb, number, suffix);
  return name;
}

/* Adds loads from global and constant memory, and through local and private memory. */
static void add_half_loads(struct device_text *text, unsigned width, bool aligned) {
  const char *load = half_name(aligned ? "vloada" : "vload", width, "");
  const unsigned step = stride(width, aligned);
  char value[64];
  device_text_add(text,
                  "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void %s_test(\n"
                  "    global const half *a, constant half *c, global float *r) {\n"
                  "  local half cells[%u] __attribute__((aligned(32)));\n"
                  "  half own[16] __attribute__((aligned(32)));\n"
                  "  size_t i = get_global_id(0), l = get_local_id(0);\n"
                  "  size_t n = get_global_size(0) * %u;\n"
                  "  for (int k = 0; k < %u; k++)\n"
                  "    cells[l * %u + k] = own[k] = a[i * %u + k];\n"
                  "  barrier(CLK_LOCAL_MEM_FENCE);\n",
                  GROUP, load, GROUP * step, width, step, step, step);
  static const struct {
    const char *offset, *array, *result;
  } places[] = {{"i", "a", "r"},
                {"l", "cells", "(r + n)"},
                {"0", "own", "(r + 2 * n)"},
                {"l", "c", "(r + 3 * n)"}};
  for (unsigned k = 0; k < sizeof places / sizeof places[0]; k++) {
    snprintf(value, sizeof value, "%s(%s, %s)", load, places[k].offset, places[k].array);
    add_store(text, width, value, places[k].result);
  }
  device_text_add(text, "}\n");
}

static size_t check_half_loads(struct device_cl *cl, cl_program program, unsigned width,
                               bool aligned, const uint16_t *halfs, bool *good) {
  const unsigned step = stride(width, aligned);
  const size_t items = HALFS / step, n = items * width;
  float *got = room(4 * n * sizeof *got), *want = room(4 * n * sizeof *want);
  char name[48];
  struct device_array arrays[] = {{(void *)halfs, HALFS * sizeof *halfs, false},
                                  {(void *)halfs, GROUP * 16 * sizeof *halfs, false},
                                  {got, 4 * n * sizeof *got, true}};
  for (size_t i = 0; i < 4 * n; i++) {
    size_t item = i % n / width, from = i / n == 3 ? item % GROUP : item;
    want[i] = (float)device_half_value(halfs[from * step + i % width]);
  }
  snprintf(name, sizeof name, "%s_test", half_name(aligned ? "vloada" : "vload", width, ""));
  *good = device_cl_run(cl, program, name, items, GROUP, arrays, 3) && *good;
  size_t wrong = differences(name, FLOAT, width, got, want, 4 * n);
  free(got);
  free(want);
  return wrong;
}

static const struct {
  const char *suffix;
  int rounding;
} modes[] = {
    {"", FE_TONEAREST},  {"_rte", FE_TONEAREST}, {"_rtz", FE_TOWARDZERO},
    {"_rtp", FE_UPWARD}, {"_rtn", FE_DOWNWARD},
};
enum { MODES = sizeof modes / sizeof modes[0] };

/* Adds stores to global memory in each rounding mode, and to local
 * and private memory in the default mode. */
static void add_half_stores(struct device_text *text, enum type from, unsigned width,
                            bool aligned) {
  const char *verb = aligned ? "vstorea" : "vstore";
  const unsigned step = stride(width, aligned);
  device_text_add(text,
                  "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void %s_%s(\n"
                  "    global const %s *a, global half *r) {\n"
                  "  local half cells[%u] __attribute__((aligned(32)));\n"
                  "  half own[16] __attribute__((aligned(32)));\n"
                  "  size_t i = get_global_id(0), l = get_local_id(0);\n"
                  "  size_t n = get_global_size(0) * %u;\n  %s x = ",
                  GROUP, half_name(verb, width, ""), types[from].name, types[from].name,
                  GROUP * step, step, type_name(from, width));
  add_load(text, width, "a");
  device_text_add(text, ";\n");
  for (unsigned m = 0; m < MODES; m++)
    device_text_add(text, "  %s(x, i, r + %u * n);\n", half_name(verb, width, modes[m].suffix), m);
  device_text_add(text,
                  "  %s(x, l, cells);\n  %s(x, 0, own);\n  barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "  for (int k = 0; k < %u; k++) {\n"
                  "    r[%u * n + i * %u + k] = cells[l * %u + k];\n"
                  "    r[%u * n + i * %u + k] = own[k];\n  }\n}\n",
                  half_name(verb, width, ""), half_name(verb, width, ""), width, MODES, step, step,
                  MODES + 1, step);
}

/* Returns values close to halves, between two halves, and out of their range. */
static struct value storable(enum type from, size_t i) {
  real x = device_half_value((unsigned)(device_random() % 0x7c00));
  real unit = (real)(int64_t)device_random() * 0x1p-63L;
  if (i % 4 == 3)
    return test_value(from, 0, 1, i);
  if (i % 4 == 1)
    x *= 1 + unit * 0x1p-10L;
  else if (i % 4 == 2)
    x += ldexpl(1, ilogbl(x + 0x1p-24L) - types[HALF].digits);
  return value_of_real(from, i % 8 < 4 ? x : -x);
}

static size_t check_half_stores(struct device_cl *cl, cl_program program, enum type from,
                                unsigned width, bool aligned, size_t *compared, bool *good) {
  enum { PARTS = MODES + 2 };
  const unsigned step = stride(width, aligned);
  const size_t count = value_count(1, from), n = count / width * step, size = types[from].bits / 8;
  char *in = room(count * size), name[48];
  uint16_t *got = room(PARTS * n * sizeof *got), *want = room(PARTS * n * sizeof *want);
  struct device_array arrays[] = {{in, count * size, false}, {got, PARTS * n * sizeof *got, true}};
  for (size_t i = 0; i < count; i++) {
    struct value x = storable(from, i);
    value_store(from, in, i, x);
    for (unsigned m = 0; m < PARTS; m++)
      want[m * n + i / width * step + i % width] =
          (uint16_t)device_half_bits(x.x, m < MODES ? modes[m].rounding : FE_TONEAREST);
  }
  snprintf(name, sizeof name, "%s_%s", half_name(aligned ? "vstorea" : "vstore", width, ""),
           types[from].name);
  *good = device_cl_run(cl, program, name, count / width, GROUP, arrays, 2) && *good;
  /* The function may leave the fourth element of a vector of three unwritten. */
  for (size_t i = 0; step > width && i < PARTS * n; i += step)
    got[i + width] = 0;
  size_t wrong = differences(name, HALF, width, got, want, PARTS * n);
  *compared += PARTS * count;
  free(in);
  free(got);
  free(want);
  return wrong;
}

static int test_halfs(struct device_cl *cl) {
  struct device_text text = {0};
  uint16_t *halfs = room(HALFS * sizeof *halfs);
  size_t loads = 0, wrong_loads = 0, stores = 0, wrong_stores = 0;
  bool good = true;
  for (size_t i = 0; i < HALFS; i++)
    halfs[i] = (uint16_t)i;
  device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (unsigned k = 0; k < 2 * WIDTHS; k++)
    if (k != 1) { /* vloada_half does not exist for scalars */
      add_half_loads(&text, widths[k / 2], k % 2);
      add_half_stores(&text, FLOAT, widths[k / 2], k % 2);
      add_half_stores(&text, DOUBLE, widths[k / 2], k % 2);
    }
  cl_program program = build_text(cl, &text);
  for (unsigned k = 0; k < 2 * WIDTHS && program; k++)
    if (k != 1) {
      const unsigned width = widths[k / 2];
      const bool aligned = k % 2;
      wrong_loads += check_half_loads(cl, program, width, aligned, halfs, &good);
      loads += 4 * HALFS / stride(width, aligned) * width;
      for (enum type from = FLOAT; from <= DOUBLE; from++)
        wrong_stores += check_half_stores(cl, program, from, width, aligned, &stores, &good);
    }
  if (program)
    clReleaseProgram(program);
  free(halfs);
  printf("| vload_half, vloada_half | every half | %zu | %zu |\n", loads, wrong_loads);
  printf("| vstore_half, vstorea_half | float double, 5 modes | %zu | %zu |\n", stores,
         wrong_stores);
  return !program || !good || wrong_loads || wrong_stores;
}

static void list_memory(void) {
  for (unsigned w = 0; w < WIDTHS; w++) {
    const unsigned width = widths[w];
    for (enum type type = 0; type < TYPES && width > 1; type++) {
      fprintf(settings.list, "vload%u(ulong, %s *)\n", width, types[type].name);
      fprintf(settings.list, "vstore%u(%s, ulong, %s *)\n", width, type_name(type, width),
              types[type].name);
    }
    for (unsigned aligned = 0; aligned < (width == 1 ? 1 : 2); aligned++) {
      fprintf(settings.list, "%s(ulong, half *)\n",
              half_name(aligned ? "vloada" : "vload", width, ""));
      for (unsigned m = 0; m < 2 * MODES; m++)
        fprintf(settings.list, "%s(%s, ulong, half *)\n",
                half_name(aligned ? "vstorea" : "vstore", width, modes[m % MODES].suffix),
                type_name(m < MODES ? FLOAT : DOUBLE, width));
    }
  }
}

int test_memory(struct device_cl *cl) {
  if (settings.list) {
    list_memory();
    return 0;
  }
  printf("\n## Vector loads and stores\n\n"
         "| function | types | results compared | wrong |\n|---|---|---|---|\n");
  int failures = test_moves(cl) + test_halfs(cl);
  fflush(stdout);
  return failures;
}
