/* Checks the semantics of printed code: lower_shared.cl must give the same results on
 * the device and when compiled as C by the host's compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compiler/device/device_cl.h"

typedef unsigned char uchar;
static size_t work_item;
static size_t get_global_id(unsigned dimension) {
  return dimension ? 0 : work_item;
}

#define kernel   static
#define constant const
#define global
/* char is signed in OpenCL C, regardless of the host. */
#define char signed char
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "tests/compiler/device/lower_shared.cl"
#pragma GCC diagnostic pop
#undef char
#undef global
#undef constant
#undef kernel

enum { ITEMS = 4096, GROUP = 64, INPUTS = 3 * ITEMS };

static const struct {
  const char *name;
  void (*host)(const ulong *in, ulong *out);
} kernels[] = {
    {"char_ops", char_ops},     {"uchar_ops", uchar_ops}, {"short_ops", short_ops},
    {"ushort_ops", ushort_ops}, {"int_ops", int_ops},     {"uint_ops", uint_ops},
    {"long_ops", long_ops},     {"ulong_ops", ulong_ops}, {"idioms", idioms},
    {"rotation", rotation},     {"decision", decision},   {"objects", objects},
    {"unaligned", unaligned},   {"reals", reals},         {"halves", halves},
};

static char *read_source(const char *path) {
  FILE *file = fopen(path, "rb");
  struct device_text text = {0};
  char line[512];
  while (file && fgets(line, sizeof line, file))
    device_text_add(&text, "%s", line);
  if (file)
    fclose(file);
  return text.data;
}

static ulong in[INPUTS], want[ITEMS], got[ITEMS];

static bool run(struct device_cl *cl, cl_program program, size_t number) {
  memset(got, 0, sizeof got);
  const struct device_array arrays[] = {{in, sizeof in, false}, {got, sizeof got, true}};
  for (work_item = 0; work_item < ITEMS; work_item++)
    kernels[number].host(in, want);
  if (!device_cl_run(cl, program, kernels[number].name, ITEMS, GROUP, arrays, 2))
    return false;
  size_t wrong = 0;
  for (size_t i = 0; i < ITEMS; i++)
    if (got[i] != want[i] && wrong++ == 0)
      printf("%s: work-item %zu: %lx, not %lx\n", kernels[number].name, i, got[i], want[i]);
  printf("%s: %zu of %d work-items differ\n", kernels[number].name, wrong, ITEMS);
  return wrong == 0;
}

int main(int count, char **words) {
  struct device_cl cl;
  char *source = count == 2 ? read_source(words[1]) : NULL;
  bool good = source != NULL;
  if (!source || !device_cl_open(&cl))
    return EXIT_FAILURE;
  for (size_t i = 0; i < INPUTS; i++)
    in[i] = device_random();
  cl_program program = device_cl_build(&cl, source);
  for (size_t i = 0; program && i < sizeof kernels / sizeof kernels[0]; i++)
    good &= run(&cl, program, i);
  good &= program != NULL;
  if (program)
    clReleaseProgram(program);
  device_cl_close(&cl);
  free(source);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
