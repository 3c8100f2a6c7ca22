/* steps: computes for each number the length of its Collatz sequence. It contains a bug.
 *
 * cc steps.c -o steps -lOpenCL */
#include "example.h"

enum { ITEMS = 64 };

static const char *source = "kernel void steps(global int *out) {\n"
                            "  uint n = get_global_id(0), count = 0;\n"
                            "  while (n != 1) {\n"
                            "    n = n % 2 ? 3 * n + 1 : n / 2;\n"
                            "    count++;\n"
                            "  }\n"
                            "  out[get_global_id(0)] = count;\n"
                            "}\n";

int main(void) {
  cl_int out[ITEMS];
  struct example e = example_open(source);
  cl_kernel kernel = example_kernel(&e, "steps");
  cl_mem buffer = example_buffer(&e, sizeof(out), NULL);
  check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer), "clSetKernelArg");
  example_run(&e, kernel, ITEMS);
  example_read(&e, buffer, sizeof(out), out);
  for (int i = 0; i < ITEMS; i++)
    printf("%d: %d\n", i, out[i]);
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  example_close(&e);
}
