/* A program that loads the driver by its path. secure.py gives it the rights of another user.
 *
 *   secure DRIVER
 *
 * Prints whether the system runs it with more rights than its user has.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>

struct _cl_platform_id {
  cl_icd_dispatch *call;
};

int main(int count, char **words) {
  static const char *const source = "kernel void k(global int *p) { *p = 1; }";
  printf("secure %lu\n", getauxval(AT_SECURE));
  void *driver = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;
  void *(*find)(const char *) = NULL;
  if (driver)
    *(void **)&find = dlsym(driver, "clGetExtensionFunctionAddress");
  cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *) = NULL;
  if (find)
    *(void **)&platforms = find("clIcdGetPlatformIDsKHR");
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  if (!platforms || platforms(1, &platform, NULL) != CL_SUCCESS) {
    fprintf(stderr, "no platform: %s\n", dlerror());
    return 1;
  }
  const cl_icd_dispatch *call = platform->call;
  if (call->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
    return 2;
  cl_context context = call->clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  if (!context)
    return 3;
  cl_program program =
      call->clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
  if (!program)
    return 4;
  /* With any compiler. */
  printf("build %d\n", call->clBuildProgram(program, 1, &device, NULL, NULL, NULL));
  call->clReleaseProgram(program);
  call->clReleaseContext(context);
  return 0;
}
