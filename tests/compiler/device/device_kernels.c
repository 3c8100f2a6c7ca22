/* Runs the kernels of device_kernels.cl, each in one work-group, and lists the
 * lines of failed checks. usage: device_kernels FILE.cl */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compiler/device/device_cl.h"

enum { LINES = 1024, INPUTS = 64, SCRATCH = 1024, GROUP = 96 };

static char *read_file(const char *name) {
  struct device_text text = {0};
  char line[512];
  FILE *file = fopen(name, "r");
  while (file && fgets(line, sizeof line, file))
    device_text_add(&text, "%s", line);
  if (file)
    fclose(file);
  return text.data;
}

/* Finds the next KERNEL(name at the start of a line. */
static const char *next_kernel(const char *text, char *name, size_t size) {
  static const char mark[] = "\nKERNEL(";
  const char *at = strstr(text, mark);
  if (!at)
    return NULL;
  at += strlen(mark);
  snprintf(name, size, "%.*s", (int)strcspn(at, ")"), at);
  return at;
}

static int run(struct device_cl *cl, cl_program program, const char *name, const float *inputs) {
  static int failed[LINES];
  static uint64_t scratch[SCRATCH];
  int failures = 0;
  memset(failed, 0, sizeof failed);
  memset(scratch, 0, sizeof scratch);
  struct device_array arrays[] = {{(void *)inputs, INPUTS * sizeof *inputs, false},
                                  {failed, sizeof failed, true},
                                  {scratch, sizeof scratch, false}};
  if (!device_cl_run(cl, program, name, GROUP, GROUP, arrays, sizeof arrays / sizeof arrays[0]))
    return 1;
  for (unsigned i = 0; i < LINES; i++)
    if (failed[i]) {
      printf("  check in line %u failed\n", i);
      failures++;
    }
  printf("%-18s%s\n", name, failures ? "FAIL" : "");
  return failures != 0;
}

int main(int argc, char **argv) {
  struct device_cl cl;
  float inputs[INPUTS];
  char name[64], *source = argc > 1 ? read_file(argv[1]) : NULL;
  int failures = 0, kernels = 0;
  if (!source || !device_cl_open(&cl))
    return 1;
  for (unsigned i = 0; i < INPUTS; i++) /* magnitudes from 0.5 to 1.5, both signs */
    inputs[i] = (0.5f + (float)(device_random() >> 40) * 0x1p-24f) * (i % 3 ? 1 : -1);
  inputs[INPUTS - 1] = 1;
  cl_program program = device_cl_build_with(&cl, source, "-cl-std=CL3.0");
  for (const char *at = source; program && (at = next_kernel(at, name, sizeof name)); kernels++)
    failures += run(&cl, program, name, inputs);
  if (program)
    clReleaseProgram(program);
  device_cl_close(&cl);
  free(source);
  printf("%d kernels, %d failed\n", kernels, failures);
  return failures != 0 || kernels == 0;
}
