/* See device_cl.h. */
#include "tests/compiler/device/device_cl.h"

#include <fenv.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS_MAX = 8 };

bool device_cl_open(struct device_cl *cl) {
  cl_platform_id platform;
  char name[128] = "";
  cl_int status = clGetPlatformIDs(1, &platform, NULL);
  if (!status)
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl->device, NULL);
  if (status) {
    printf("no OpenCL device (%d)\n", status);
    return false;
  }
  clGetDeviceInfo(cl->device, CL_DEVICE_NAME, sizeof name, name, NULL);
  cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
  if (!status)
    cl->queue = clCreateCommandQueue(cl->context, cl->device, 0, &status);
  printf("device %s: %d\n", name, status);
  return status == CL_SUCCESS;
}

void device_cl_close(struct device_cl *cl) {
  clReleaseCommandQueue(cl->queue);
  clReleaseContext(cl->context);
}

cl_program device_cl_build(struct device_cl *cl, const char *source) {
  return device_cl_build_with(cl, source, "");
}

bool device_is_module(void) {
  return getenv("MAKE_SPIRV") != NULL;
}

/* Creates a program from a module of the source, compiled as by other compilers. */
static cl_program module_of(struct device_cl *cl, const char *source, const char *maker,
                            cl_int *status) {
  enum { MOST = 1 << 24 };
  char folder[] = "/tmp/tegracl-device-XXXXXX", path[64], command[1024];
  void *words = malloc(MOST);
  cl_program program = NULL;
  *status = CL_INVALID_OPERATION;
  if (!words || !mkdtemp(folder))
    goto done;
  snprintf(path, sizeof path, "%s/k.cl", folder);
  FILE *file = fopen(path, "w");
  if (!file || fputs(source, file) < 0 || fclose(file))
    goto done;
  snprintf(command, sizeof command, "%s %s %s/k.spv 1.4 -O1 -Xclang -disable-llvm-passes", maker,
           path, folder);
  if (system(command) == 0) {
    snprintf(path, sizeof path, "%s/k.spv", folder);
    file = fopen(path, "rb");
    const size_t size = file ? fread(words, 1, MOST, file) : 0;
    if (file)
      fclose(file);
    program = clCreateProgramWithIL(cl->context, words, size, status);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command))
    *status = CL_INVALID_OPERATION;

done:
  free(words);
  return program;
}

cl_program device_cl_build_with(struct device_cl *cl, const char *source, const char *options) {
  cl_int status;
  const char *maker = getenv("MAKE_SPIRV");
  cl_program program = maker ? module_of(cl, source, maker, &status)
                             : clCreateProgramWithSource(cl->context, 1, &source, NULL, &status);
  if (maker && !status) /* the module determines the language */
    options = "";
  if (!status)
    status = clBuildProgram(program, 1, &cl->device, options, NULL, NULL);
  if (!status)
    return program;
  if (!program) {
    printf("no program (%d)\n", status);
    return NULL;
  }
  size_t size = 0;
  clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = calloc(1, size + 1);
  if (log)
    clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  printf("build failed (%d):\n%s\n", status, log ? log : "");
  free(log);
  clReleaseProgram(program);
  return NULL;
}

bool device_cl_run(struct device_cl *cl, cl_program program, const char *name, size_t items,
                   size_t group, const struct device_array *arrays, size_t array_count) {
  cl_mem buffers[ARRAYS_MAX] = {NULL};
  cl_int status;
  cl_kernel kernel = clCreateKernel(program, name, &status);
  for (size_t i = 0; !status && i < array_count && i < ARRAYS_MAX; i++) {
    buffers[i] = clCreateBuffer(cl->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                arrays[i].size, arrays[i].data, &status);
    if (!status)
      status = clSetKernelArg(kernel, (cl_uint)i, sizeof buffers[i], &buffers[i]);
  }
  if (!status)
    status = clEnqueueNDRangeKernel(cl->queue, kernel, 1, NULL, &items, group ? &group : NULL, 0,
                                    NULL, NULL);
  for (size_t i = 0; !status && i < array_count; i++)
    if (arrays[i].read)
      status = clEnqueueReadBuffer(cl->queue, buffers[i], CL_TRUE, 0, arrays[i].size,
                                   arrays[i].data, 0, NULL, NULL);
  if (!status)
    status = clFinish(cl->queue);
  for (size_t i = 0; i < ARRAYS_MAX; i++)
    if (buffers[i])
      clReleaseMemObject(buffers[i]);
  if (kernel)
    clReleaseKernel(kernel);
  if (status)
    printf("kernel %s failed (%d)\n", name, status);
  return status == CL_SUCCESS;
}

void device_text_add(struct device_text *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int size = vsnprintf(NULL, 0, format, list);
  va_end(list);
  char *data = realloc(text->data, text->size + (size_t)size + 1);
  if (!data)
    abort();
  va_start(list, format);
  vsnprintf(data + text->size, (size_t)size + 1, format, list);
  va_end(list);
  text->data = data;
  text->size += (size_t)size;
}

uint64_t device_random(void) {
  static uint64_t state = 0x9e3779b97f4a7c15u;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1du;
}

enum { HALF_DIGITS = 11, HALF_LEAST_EXPONENT = -14, HALF_BIAS = 15 };

long double device_round(long double x, int rounding) {
  return rounding == FE_TONEAREST    ? rintl(x)
         : rounding == FE_TOWARDZERO ? truncl(x)
         : rounding == FE_UPWARD     ? ceill(x)
                                     : floorl(x);
}

long double device_half_value(unsigned h) {
  int exponent = (h >> 10) & 31;
  long double fraction = h & 1023;
  long double x = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                  : exponent == 0 ? ldexpl(fraction, HALF_LEAST_EXPONENT - 10)
                                  : ldexpl(1024 + fraction, exponent - HALF_BIAS - 10);
  return h >> 15 ? -x : x;
}

/* Returns the bits of x as a half: rounds to a multiple of the last place. Values beyond the
 * largest half become the largest half or infinity, depending on the mode. */
unsigned device_half_bits(long double x, int rounding) {
  const long double largest = 65504;
  unsigned sign = signbit(x) ? 0x8000 : 0;
  if (isnan(x))
    return sign | 0x7e00;
  if (isinf(x))
    return sign | 0x7c00;
  int exponent = x == 0 ? HALF_LEAST_EXPONENT : ilogbl(x);
  if (exponent < HALF_LEAST_EXPONENT)
    exponent = HALF_LEAST_EXPONENT;
  long double place = ldexpl(1, exponent - HALF_DIGITS + 1);
  long double r = fabsl(device_round(x / place, rounding) * place);
  bool down = rounding == FE_TOWARDZERO || (rounding == FE_UPWARD && sign) ||
              (rounding == FE_DOWNWARD && !sign);
  if (r > largest)
    return sign | (down ? 0x7bff : 0x7c00);
  unsigned low = 0, high = 0x7bff; /* halves are ordered */
  while (low < high) {
    unsigned middle = (low + high + 1) / 2;
    if (device_half_value(middle) <= r)
      low = middle;
    else
      high = middle - 1;
  }
  return sign | low;
}
