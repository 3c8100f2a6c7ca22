/* product: multiplies matrices of half precision on the tensor cores, with the kernel of
 * product.cl.
 *   cc product.c -o product -lOpenCL
 *   ./product product.cl
 */
#include "example.h"

enum { SIDE = 128, TILE = 64, ITEMS = 128 };

static cl_half a[SIDE][SIDE], b[SIDE][SIDE];
static float c[SIDE][SIDE];

/* The elements are small integers, whose sums are exact. */
static int element_a(int row, int column) {
  return (7 * row + 3 * column) % 16;
}
static int element_b(int row, int column) {
  return (5 * row + 11 * column) % 16;
}

/* Returns an integer from 0 to 2047 in half precision. */
static cl_half half_of(int n) {
  int exponent = 25;
  if (!n)
    return 0;
  for (; n < 1024; n *= 2)
    exponent--;
  return (cl_half)(exponent << 10 | (n & 1023));
}

static int wrong(void) {
  int count = 0;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      int sum = 0;
      for (int k = 0; k < SIDE; k++)
        sum += element_a(y, k) * element_b(k, x);
      count += c[y][x] != (float)sum;
    }
  return count;
}

int main(int argc, char **argv) {
  static char source[10000];
  const cl_uint side = SIDE;
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file || !fread(source, 1, sizeof(source) - 1, file)) {
    fprintf(stderr, "usage: product FILE, the path of product.cl\n");
    return 1;
  }
  fclose(file);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      a[y][x] = half_of(element_a(y, x));
      b[y][x] = half_of(element_b(y, x));
    }

  struct example e = example_open(source);
  cl_mem buffers[] = {example_buffer(&e, sizeof(a), a), example_buffer(&e, sizeof(b), b),
                      example_buffer(&e, sizeof(c), NULL)};
  cl_kernel kernel = example_kernel(&e, "product");
  for (cl_uint i = 0; i < 3; i++)
    check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
  check(clSetKernelArg(kernel, 3, sizeof(side), &side), "clSetKernelArg");
  example_run(&e, kernel, SIDE / TILE * (SIDE / TILE) * ITEMS);
  example_read(&e, buffers[2], sizeof(c), c);
  printf("%s\n", wrong() ? "wrong" : "right");
  clReleaseKernel(kernel);
  for (int i = 0; i < 3; i++)
    clReleaseMemObject(buffers[i]);
  example_close(&e);
  return 0;
}
