/* Launches that differ little from the last one: the software Orin keeps what it decoded, and what
 * the work-items of that launch have left. Programs at the same address, arguments and sizes
 * change, and each launch must use its own. */
#include "tests/end_to_end/opencl.h"

/* More than the launches after which the software Orin stops clearing registers (MANY in
 * emulator/sm/cta.c). */
enum { LAUNCHES = 100, WORDS = 8, ROUNDS = 6, KINDS = 2 };

static const char source[] = "kernel void add(global uint *p, uint at, uint n) {\n"
                             "  uint sum = 0;\n"
                             "  for (uint i = 0; i < n; i++)\n"
                             "    sum += VALUE;\n"
                             "  p[at + get_global_id(0)] += sum;\n"
                             "}\n";

/* Loads the program, launches its kernel many times with changing arguments, and unloads it. */
static void launch_program(const struct opencl *opencl, const unsigned char *binary, size_t size,
                           cl_mem buffer, cl_uint value, cl_uint expected[WORDS]) {
  cl_int error;
  cl_program program =
      clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size, &binary, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "add", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  for (cl_uint i = 0; i < LAUNCHES; i++) {
    const cl_uint at = i % (WORDS - 1), n = i / WORDS;
    const size_t global = 1 + (i % 5 == 4), local = 1;
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof at, &at), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof n, &n), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
             CL_SUCCESS);
    for (size_t item = 0; item < global; item++)
      expected[at + item] += n * value;
  }
  CHECK_CL(clFinish(opencl->queue), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

int main(void) {
  static const char *const options[KINDS] = {"-DVALUE=3", "-DVALUE=1000"};
  static const cl_uint values[KINDS] = {3, 1000};
  struct opencl opencl;
  opencl_open(&opencl);
  unsigned char *binary[KINDS];
  size_t size[KINDS];
  for (unsigned kind = 0; kind < KINDS; kind++)
    binary[kind] = opencl_binary_with(&opencl, source, options[kind], &size[kind]);
  cl_uint expected[WORDS] = {0}, got[WORDS];
  cl_int error;
  cl_mem buffer =
      clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof expected, expected, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned kind = round % KINDS;
    launch_program(&opencl, binary[kind], size[kind], buffer, values[kind], expected);
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK(memcmp(got, expected, sizeof got) == 0);
  }
  for (unsigned kind = 0; kind < KINDS; kind++)
    free(binary[kind]);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&opencl);
}
