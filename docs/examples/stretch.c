/* stretch [ITEMS]: writes each of ITEMS numbers twice. It contains a bug.
 *
 * cc stretch.c -o stretch -lOpenCL */
#include "example.h"

static const char *source = "kernel void stretch(global const int *in, global int *out) {\n"
                            "  int i = get_global_id(0);\n"
                            "  out[2 * i] = in[i];\n"
                            "  out[2 * i + 1] = in[i];\n"
                            "}\n";

int main(int argc, char **argv) {
  const size_t items = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;
  const size_t in_bytes = items * sizeof(cl_int);
  const size_t out_bytes = items * sizeof(cl_int);
  cl_int *in = malloc(in_bytes), *out = malloc(out_bytes);
  if (items < 5 || !in || !out)
    return 1;
  for (size_t i = 0; i < items; i++)
    in[i] = (cl_int)i;

  struct example e = example_open(source);
  cl_kernel kernel = example_kernel(&e, "stretch");
  cl_mem buffers[] = {example_buffer(&e, in_bytes, in), example_buffer(&e, out_bytes, NULL)};
  for (cl_uint i = 0; i < 2; i++)
    check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
  example_run(&e, kernel, items);
  example_read(&e, buffers[1], out_bytes, out);
  printf("%d %d %d %d %d\n", out[0], out[1], out[2], out[3], out[4]);

  clReleaseMemObject(buffers[0]);
  clReleaseMemObject(buffers[1]);
  clReleaseKernel(kernel);
  example_close(&e);
  free(in);
  free(out);
}
