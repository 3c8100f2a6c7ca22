/* sums: adds up the rows and the columns of a matrix. One of the two kernels is slow.
 *   cc sums.c -o sums -lOpenCL
 */
#include "example.h"

enum { SIDE = 1024, ROUNDS = 10 };

static const char *source =
    "kernel void columns(global const float *matrix, global float *sums, int side) {\n"
    "  int x = get_global_id(0);\n"
    "  float sum = 0;\n"
    "  for (int y = 0; y < side; y++)\n"
    "    sum += matrix[y * side + x];\n"
    "  sums[x] = sum;\n"
    "}\n"
    "kernel void rows(global const float *matrix, global float *sums, int side) {\n"
    "  int y = get_global_id(0);\n"
    "  float sum = 0;\n"
    "  for (int x = 0; x < side; x++)\n"
    "    sum += matrix[y * side + x];\n"
    "  sums[y] = sum;\n"
    "}\n";

static float matrix[SIDE][SIDE], sums[SIDE];

/* The matrix contains small integers, whose sums are exact. */
static int sums_wrong(int by_rows) {
  int wrong = 0;
  for (int i = 0; i < SIDE; i++) {
    float sum = 0;
    for (int k = 0; k < SIDE; k++)
      sum += by_rows ? matrix[i][k] : matrix[k][i];
    wrong += sums[i] != sum;
  }
  return wrong;
}

int main(void) {
  const char *const names[] = {"columns", "rows"};
  const cl_int side = SIDE;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      matrix[y][x] = (float)((7 * y + 3 * x) % 100);

  struct example e = example_open(source);
  cl_mem buffers[] = {example_buffer(&e, sizeof(matrix), matrix),
                      example_buffer(&e, sizeof(sums), NULL)};
  for (int by_rows = 0; by_rows < 2; by_rows++) {
    cl_kernel kernel = example_kernel(&e, names[by_rows]);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffers[0]), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &buffers[1]), "clSetKernelArg");
    check(clSetKernelArg(kernel, 2, sizeof(side), &side), "clSetKernelArg");
    for (int i = 0; i < ROUNDS; i++)
      example_run(&e, kernel, SIDE);
    example_read(&e, buffers[1], sizeof(sums), sums);
    printf("%s %s\n", names[by_rows], sums_wrong(by_rows) ? "wrong" : "right");
    clReleaseKernel(kernel);
  }
  clReleaseMemObject(buffers[0]);
  clReleaseMemObject(buffers[1]);
  example_close(&e);
}
