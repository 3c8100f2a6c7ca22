/* Program-scope variables of OpenCL C 3.0: initial values of every kind, pointers to other
 * variables, values that a launch leaves for the next one, static variables in functions, queries
 * of sizes, and a program from a binary, which starts with the initial values.
 */
#include "tests/end_to_end/opencl.h"

static const char source[] =
    "typedef struct { int number; float real; global int *place; constant int *fixed; } record;\n"
    "constant int table[3] = {10, 20, 30};\n"
    "int x = 5;\n"
    "global int zero, many[100];\n"
    "static global uchar small = 250;\n"
    "global double reals[3] = {0.5, 1.5, 2.5};\n"
    "global int *pointer = &many[7];\n"
    "record records[2] = {{1, 2.0f, &x, &table[1]}, {3, 4.0f, &many[1], table}};\n"
    "int next(void) {\n"
    "  static global int calls = 100;\n"
    "  return calls++;\n"
    "}\n"
    "constant struct { constant int *place; int count; } fixed = {table, 3};\n"
    "kernel void k(global int *out) {\n"
    "  int i = 0;\n"
    "  out[i++] = x++;\n"
    "  out[i++] = zero--;\n"
    "  out[i++] = small += 3;\n"
    "  out[i++] = (int)(reals[2] * 2);\n"
    "  out[i++] = *pointer;\n"
    "  out[i++] = records[0].number + (int)records[1].real;\n"
    "  out[i++] = *records[0].place;\n"
    "  out[i++] = *records[0].fixed + fixed.place[2] + fixed.place[(x + fixed.count) % 3] % 10;\n"
    "  out[i++] = next();\n"
    "  many[7] += 11;\n"
    "  *records[1].place = 4;\n"
    "  reals[2] += 1;\n"
    "  pointer = records[1].place;\n"
    "}\n"
    "kernel void other(global int *out) { out[0] = x; out[1] = many[1]; }\n";

enum { RESULTS = 9 };
static const int launches[][RESULTS] = {
    {5, 0, 253, 5, 0, 5, 6, 50, 100}, {6, -1, 0, 7, 4, 5, 7, 50, 101}, /* 253 + 3 in a uchar */
};

static void check(const struct opencl *opencl, cl_program program) {
  cl_int error, results[RESULTS];
  cl_mem buffer = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, sizeof results, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const char *const names[] = {"k", "k", "other"};
  for (int i = 0; i < 3; i++) {
    const size_t one = 1;
    cl_kernel kernel = clCreateKernel(program, names[i], &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clEnqueueReadBuffer(opencl->queue, buffer, CL_TRUE, 0, sizeof results, results, 0,
                                 NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
    for (int k = 0; i < 2 && k < RESULTS; k++)
      if (results[k] != launches[i][k]) {
        fprintf(stderr, "launch %d, result %d: %d instead of %d\n", i, k, results[k],
                launches[i][k]);
        exit(1);
      }
  }
  CHECK(results[0] == 7 && results[1] == 4);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
}

int main(void) {
  struct opencl opencl;
  size_t most, preferred, total, size;
  cl_int error, status;
  opencl_open(&opencl);
  CHECK_CL(
      clGetDeviceInfo(opencl.device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof most, &most, NULL),
      CL_SUCCESS);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE,
                           sizeof preferred, &preferred, NULL),
           CL_SUCCESS);
  CHECK(most >= 65536 && preferred >= most);

  cl_program program = opencl_program(&opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "-cl-std=CL3.0 -cl-opt-disable", NULL, NULL),
           CL_SUCCESS);
  check(&opencl, program);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "-cl-std=CL3.0", NULL, NULL), CL_SUCCESS);
  CHECK_CL(clGetProgramBuildInfo(program, opencl.device,
                                 CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof total, &total,
                                 NULL),
           CL_SUCCESS);
  /* x, zero, many, small, reals, pointer, records, calls */
  CHECK(total == 4 + 4 + 400 + 1 + 24 + 8 + 48 + 4);
  check(&opencl, program);

  unsigned char *binary = opencl_binary_of(program, &size);
  cl_program loaded = clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &size,
                                                (const unsigned char **)&binary, &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(loaded, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  check(&opencl, loaded);
  free(binary);
  CHECK_CL(clReleaseProgram(loaded), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
