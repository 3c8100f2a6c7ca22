/* Runs one product of halves, of bytes and of doubles on the tensor cores, for profile.py. */
#include "tests/end_to_end/opencl.h"

enum { LANES = 32, VECTOR_BYTES = 32 };

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "kernel void halves(global half8 *a, global float8 *d) {\n"
    "  uint i = get_local_id(0);\n"
    "  d[i] = tegracl_matrix_mad_f16(a[i], a[i], d[i]);\n"
    "}\n"
    "kernel void bytes(global char16 *a, global int8 *d) {\n"
    "  uint i = get_local_id(0);\n"
    "  d[i] = tegracl_matrix_mad_i8(a[i], a[i], d[i]);\n"
    "}\n"
    "kernel void doubles(global double *a, global double2 *d) {\n"
    "  uint i = get_local_id(0);\n"
    "  double x, y;\n"
    "  asm volatile(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 \"\n"
    "               \"{%0, %1}, {%2}, {%2}, {%3, %4};\"\n"
    "               : \"=d\"(x), \"=d\"(y) : \"d\"(a[i]), \"d\"(d[i].x), \"d\"(d[i].y));\n"
    "  d[i] = (double2)(x, y);\n"
    "}\n";

int main(void) {
  static const char *const names[] = {"halves", "bytes", "doubles"};
  static char zeros[LANES * VECTOR_BYTES];
  const size_t items = LANES;
  struct opencl opencl;
  cl_int error;
  opencl_open(&opencl);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    cl_kernel kernel = opencl_kernel(&opencl, source, names[i]);
    cl_mem mems[2];
    for (cl_uint k = 0; k < 2; k++) {
      mems[k] = clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &error);
      CHECK_CL(error, CL_SUCCESS);
      CHECK_CL(clSetKernelArg(kernel, k, sizeof(cl_mem), &mems[k]), CL_SUCCESS);
    }
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
    for (int k = 0; k < 2; k++)
      CHECK_CL(clReleaseMemObject(mems[k]), CL_SUCCESS);
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  }
  opencl_close(&opencl);
  return 0;
}
