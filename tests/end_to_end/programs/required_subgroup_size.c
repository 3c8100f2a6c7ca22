/* cl_intel_required_subgroup_size: a kernel may require sub-groups of 32 work-items. With another
 * size the build fails, with a log that says so.
 */
#include <CL/cl_ext.h>

#include "tests/end_to_end/opencl.h"

enum { SUBGROUP = 32 };

static const char source[] =
    "#ifndef cl_intel_required_subgroup_size\n"
    "#error no macro\n"
    "#endif\n"
    "__attribute__((intel_reqd_sub_group_size(SIZE)))\n"
    "kernel void asks(global uint *out) { out[0] = get_max_sub_group_size(); }\n"
    "kernel void does_not(global uint *out) { out[0] = get_max_sub_group_size(); }\n";

static size_t compile_size(const struct opencl *opencl, cl_kernel kernel) {
  size_t size;
  CHECK_CL(clGetKernelSubGroupInfo(kernel, opencl->device, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL,
                                   0, NULL, sizeof size, &size, NULL),
           CL_SUCCESS);
  return size;
}

static void check_kernel(const struct opencl *opencl, cl_program program, const char *name,
                         size_t asked_for) {
  cl_int error;
  char attributes[256];
  cl_ulong spilled;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK(compile_size(opencl, kernel) == asked_for);
  CHECK_CL(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof attributes, attributes, NULL),
           CL_SUCCESS);
  CHECK(!strcmp(attributes, asked_for ? "intel_reqd_sub_group_size(32)" : ""));
  CHECK_CL(clGetKernelWorkGroupInfo(kernel, opencl->device, CL_KERNEL_SPILL_MEM_SIZE_INTEL,
                                    sizeof spilled, &spilled, NULL),
           CL_SUCCESS);
  CHECK(spilled == 0);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

int main(void) {
  struct opencl opencl;
  size_t sizes[4], bytes;
  char log[1024];
  cl_uint out = 0;
  opencl_open(&opencl);
  CHECK_CL(
      clGetDeviceInfo(opencl.device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes),
      CL_SUCCESS);
  CHECK(bytes == sizeof *sizes && sizes[0] == SUBGROUP);

  cl_program program = opencl_program(&opencl, source);
  CHECK_CL(clBuildProgram(program, 0, NULL, "-DSIZE=32", NULL, NULL), CL_SUCCESS);
  check_kernel(&opencl, program, "asks", SUBGROUP);
  check_kernel(&opencl, program, "does_not", 0);
  opencl_once(&opencl, program, "asks", &out, sizeof out);
  CHECK(out == SUBGROUP || out == 1); /* of a work-group with one work-item */

  program = opencl_program(&opencl, source);
  CHECK_CL(clBuildProgram(program, 0, NULL, "-DSIZE=16", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  CHECK(strstr(log, "the kernel 'asks' requires sub-groups of 16 work-items, "
                    "but the device has sub-groups of 32"));
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
