/* shuffle and shuffle2 (OpenCL C 3.0, 6.15.13) of every type, between all widths, with
 * masks that are constant at compile time and with variable masks.
 */
#include "tests/builtins/builtins.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTHS = 4, RESULTS = 4 };
static const unsigned lengths[LENGTHS] = {2, 4, 8, 16};

/* Returns element n of the constant mask. */
static unsigned known(unsigned n) {
  return (5 * n + 3) % 16;
}
static enum type mask_type(enum type type) {
  return integer_type(types[type].bits, false);
}
static bool pair_wanted(enum type type, unsigned from, unsigned to) {
  return settings.all_widths || (from + to + type) % LENGTHS == 0;
}
static const char *kernel_name(enum type type, unsigned from, unsigned to) {
  static char name[32];
  snprintf(name, sizeof name, "shuffle_%s_%u_%u", types[type].name, from, to);
  return name;
}

static void add_kernel(struct device_text *text, enum type type, unsigned from, unsigned to) {
  const char *t = types[type].name, *mask = type_name(mask_type(type), to);
  device_text_add(text,
                  "kernel void %s(global const %s *a, global const %s *b, global const %s *m,\n"
                  "    global %s *r) {\n  size_t i = get_global_id(0), n = get_global_size(0);\n"
                  "  %s%u x = vload%u(i, a), y = vload%u(i, b);\n  %s known = (%s)(",
                  kernel_name(type, from, to), t, t, types[mask_type(type)].name, t, t, from, from,
                  from, mask, mask);
  for (unsigned n = 0; n < to; n++)
    device_text_add(text, "%s%u", n ? ", " : "", known(n));
  device_text_add(text,
                  ");\n  vstore%u(shuffle(x, vload%u(i, m)), i, r);\n"
                  "  vstore%u(shuffle2(x, y, vload%u(i, m)), n + i, r);\n"
                  "  vstore%u(shuffle(x, known), 2 * n + i, r);\n"
                  "  vstore%u(shuffle2(x, y, known), 3 * n + i, r);\n}\n",
                  to, to, to, to, to, to);
}

/* Returns element n of a work-item's result k. */
static struct value expect(enum type type, unsigned from, const void *a, const void *b,
                           const void *m, size_t item, size_t to, unsigned k, unsigned n) {
  uint64_t index = k < 2 ? (uint64_t)value_load(mask_type(type), m, item * to + n).n : known(n);
  index %= k % 2 ? 2 * from : from;
  return value_load(type, index < from ? a : b, item * from + index % from);
}

static size_t check(enum type type, unsigned from, unsigned to, size_t items, const void *a,
                    const void *b, const void *m, const void *got) {
  size_t wrong = 0;
  for (unsigned k = 0; k < RESULTS; k++)
    for (size_t item = 0; item < items; item++)
      for (unsigned n = 0; n < to; n++)
        wrong += value_load(type, got, (k * items + item) * to + n).n !=
                 expect(type, from, a, b, m, item, to, k, n).n;
  if (wrong)
    fprintf(stderr, "  %s: %zu results wrong\n", kernel_name(type, from, to), wrong);
  return wrong;
}

static int test_type(struct device_cl *cl, enum type type, size_t *compared, size_t *wrong) {
  struct device_text text = {0};
  const size_t size = types[type].bits / 8, count = value_count(1, type);
  void *a = room(count * size), *b = room(count * size), *m = room(count * size);
  void *r = room(RESULTS * count * size);
  bool good = true;
  device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (unsigned pair = 0; pair < LENGTHS * LENGTHS; pair++)
    if (pair_wanted(type, pair / LENGTHS, pair % LENGTHS))
      add_kernel(&text, type, lengths[pair / LENGTHS], lengths[pair % LENGTHS]);
  cl_program program = build_text(cl, &text);
  for (size_t i = 0; i < count; i++) {
    value_store(type, a, i, test_value(type, 0, 2, i));
    value_store(type, b, i, test_value(type, 1, 2, i));
    value_store(mask_type(type), m, i, (struct value){0, (wide)device_random()});
  }
  for (unsigned pair = 0; pair < LENGTHS * LENGTHS && program; pair++) {
    const unsigned from = lengths[pair / LENGTHS], to = lengths[pair % LENGTHS];
    const size_t items = count / (from > to ? from : to);
    struct device_array arrays[] = {{a, count * size, false},
                                    {b, count * size, false},
                                    {m, count * size, false},
                                    {r, RESULTS * count * size, true}};
    if (!pair_wanted(type, pair / LENGTHS, pair % LENGTHS))
      continue;
    good = device_cl_run(cl, program, kernel_name(type, from, to), items, 0, arrays, 4) && good;
    *wrong += check(type, from, to, items, a, b, m, r);
    *compared += RESULTS * items * to;
  }
  if (program)
    clReleaseProgram(program);
  free(a);
  free(b);
  free(m);
  free(r);
  return !program || !good;
}

static void list_shuffles(void) {
  for (enum type type = 0; type < TYPES; type++)
    for (unsigned pair = 0; pair < LENGTHS * LENGTHS; pair++) {
      const char *x = type_name(type, lengths[pair / LENGTHS]);
      const char *mask = type_name(mask_type(type), lengths[pair % LENGTHS]);
      fprintf(settings.list, "shuffle(%s, %s)\nshuffle2(%s, %s, %s)\n", x, mask, x, x, mask);
    }
}

int test_shuffles(struct device_cl *cl) {
  size_t compared = 0, wrong = 0;
  int failures = 0;
  if (settings.list) {
    list_shuffles();
    return 0;
  }
  for (enum type type = 0; type < TYPES; type++)
    failures += test_type(cl, type, &compared, &wrong);
  printf("| shuffle, shuffle2 | all | %zu | %zu |\n", compared, wrong);
  fflush(stdout);
  return failures || wrong;
}
