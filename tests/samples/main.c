/* Runs the sample kernels on one OpenCL device and checks each against the CPU.
 *
 *   samples [-o FOLDER] [-p PHOTO.jpg] [-d PLATFORM] [-s FOLDER] [NAME ...]
 *
 * Any OpenCL platform will do (-d takes part of its name); the default is
 * tegracl. With -s the kernels are SPIR-V modules: NAME.spv in that folder. Exit status 1 if a
 * result is wrong or something failed.
 */
#include "samples.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "icd/cl_tegracl.h"

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = NULL;
  size_t size = 0, room = 0;
  do {
    room += 65536;
    char *more = realloc(text, room + 1);
    if (!more)
      break;
    text = more;
    size += fread(text + size, 1, room - size, file);
  } while (size == room);
  fclose(file);
  if (text)
    text[size] = 0;
  *length = size;
  return text;
}

cl_program sample_build(const struct host *host, const char *name) {
  char path[512];
  if (host->modules)
    snprintf(path, sizeof path, "%s/%s.spv", host->modules, name);
  else
    snprintf(path, sizeof path, "%s/%s.cl", SAMPLE_KERNELS, name);
  size_t size;
  char *source = read_file(path, &size);
  if (!source) {
    fprintf(stderr, "cannot read %s\n", path);
    return NULL;
  }
  cl_int error;
  cl_program program =
      host->modules
          ? clCreateProgramWithIL(host->context, source, size, &error)
          : clCreateProgramWithSource(host->context, 1, (const char **)&source, NULL, &error);
  free(source);
  if (error == CL_SUCCESS)
    error = clBuildProgram(program, 1, &host->device, "", NULL, NULL);
  if (error == CL_SUCCESS)
    return program;
  static char log[65536];
  if (program)
    clGetProgramBuildInfo(program, host->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "%s: build error %d\n%s\n", path, error, log);
  return NULL;
}

cl_mem sample_buffer(const struct host *host, size_t size, const void *data) {
  cl_int error;
  cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);
  cl_mem buffer = clCreateBuffer(host->context, flags, size, (void *)data, &error);
  if (error != CL_SUCCESS)
    fprintf(stderr, "clCreateBuffer(%zu): error %d\n", size, error);
  return error == CL_SUCCESS ? buffer : NULL;
}

/* Returns the number of warp instructions executed so far, or 0 on platforms other than tegracl. */
static cl_ulong warp_instructions(const struct host *host) {
  cl_ulong count = 0;
  if (clGetDeviceInfo(host->device, CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL, sizeof count, &count,
                      NULL) != CL_SUCCESS)
    return 0;
  return count;
}

static cl_ulong kernel_number(const struct host *host, cl_kernel kernel, cl_uint what) {
  cl_ulong value = 0;
  if (clGetKernelWorkGroupInfo(kernel, host->device, what, sizeof value, &value, NULL) !=
      CL_SUCCESS)
    return 0;
  return value;
}

static size_t binary_bytes(cl_program program) {
  size_t size = 0;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
  return size;
}

bool sample_run(const struct host *host, cl_program program, const char *name, cl_uint dims,
                const size_t *global, const size_t *local, ...) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  if (error != CL_SUCCESS) {
    fprintf(stderr, "clCreateKernel(%s): error %d\n", name, error);
    return false;
  }
  va_list arguments;
  va_start(arguments, local);
  for (cl_uint i = 0;; i++) {
    size_t size = va_arg(arguments, size_t);
    if (size == SAMPLE_END)
      break;
    const void *value = va_arg(arguments, const void *);
    error = clSetKernelArg(kernel, i, size, value);
    if (error != CL_SUCCESS) {
      fprintf(stderr, "clSetKernelArg(%s, %u, %zu): error %d\n", name, i, size, error);
      break;
    }
  }
  va_end(arguments);
  clFinish(host->queue);
  cl_ulong before = warp_instructions(host);
  double start = now_ms();
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(host->queue, kernel, dims, NULL, global, local, 0, NULL, NULL);
  if (error == CL_SUCCESS)
    error = clFinish(host->queue);
  if (error != CL_SUCCESS) {
    fprintf(stderr, "%s: error %d\n", name, error);
    clReleaseKernel(kernel);
    return false;
  }
  double end = now_ms();
  size_t items = 1;
  for (cl_uint i = 0; i < dims; i++)
    items *= global[i];
  printf("  %-12s %9zu work-items %4llu registers %7zu bytes %12llu warp instructions %9.2f ms\n",
         name, items, (unsigned long long)kernel_number(host, kernel, CL_KERNEL_REGISTERS_TEGRACL),
         binary_bytes(program), (unsigned long long)(warp_instructions(host) - before),
         end - start);
  fflush(stdout);
  clReleaseKernel(kernel);
  return true;
}

bool sample_fetch(const struct host *host, cl_mem buffer, size_t size, void *data) {
  cl_int error = clEnqueueReadBuffer(host->queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL);
  clReleaseMemObject(buffer);
  if (error != CL_SUCCESS)
    fprintf(stderr, "clEnqueueReadBuffer(%zu): error %d\n", size, error);
  return error == CL_SUCCESS;
}

bool sample_verdict(const char *name, bool ok, const char *format, ...) {
  printf("%s %s: ", ok ? "ok   " : "WRONG", name);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
  return ok;
}

static bool open_device(struct host *host, const char *wanted) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  clGetPlatformIDs(16, platforms, &count);
  for (cl_uint i = 0; i < count && i < 16; i++) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (!strcasestr(name, wanted) ||
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &host->device, NULL) != CL_SUCCESS)
      continue;
    char device[256] = "";
    clGetDeviceInfo(host->device, CL_DEVICE_NAME, sizeof device, device, NULL);
    printf("%s: %s\n", name, device);
    cl_int error;
    host->context = clCreateContext(NULL, 1, &host->device, NULL, NULL, &error);
    if (error == CL_SUCCESS)
      host->queue = clCreateCommandQueueWithProperties(host->context, host->device, NULL, &error);
    if (error != CL_SUCCESS)
      fprintf(stderr, "no context or queue on %s: error %d\n", name, error);
    return error == CL_SUCCESS;
  }
  fprintf(stderr, "no OpenCL platform with \"%s\" in its name (is OCL_ICD_VENDORS set?)\n", wanted);
  return false;
}

static const struct {
  const char *name;
  bool (*run)(const struct host *host);
} samples[] = {
    {"vadd", sample_vadd},     {"mandelbrot", sample_mandelbrot},
    {"matmul", sample_matmul}, {"histogram", sample_histogram},
    {"nbody", sample_nbody},   {"sha256", sample_sha256},
    {"edges", sample_edges},   {"convolution", sample_convolution},
};
#define SAMPLES (sizeof samples / sizeof samples[0])

static bool wanted(const char *name, int count, char **names) {
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i], name))
      return true;
  return count == 0;
}

int main(int argc, char **argv) {
  struct host host = {.pictures = "."};
  const char *platform = "tegracl";
  int option;
  while ((option = getopt(argc, argv, "o:p:d:s:")) != -1) {
    switch (option) {
    case 'o':
      host.pictures = optarg;
      break;
    case 'p':
      host.photo = optarg;
      break;
    case 'd':
      platform = optarg;
      break;
    case 's':
      host.modules = optarg;
      break;
    default:
      fprintf(stderr, "usage: samples [-o FOLDER] [-p PHOTO.jpg] [-d PLATFORM] [-s FOLDER] "
                      "[NAME ...]\n");
      return 2;
    }
  }
  for (int i = optind; i < argc; i++) {
    size_t k = 0;
    while (k < SAMPLES && strcmp(samples[k].name, argv[i]) != 0)
      k++;
    if (k == SAMPLES) {
      fprintf(stderr, "no sample is called %s\n", argv[i]);
      return 2;
    }
  }
  if (!open_device(&host, platform))
    return 1;
  int failures = 0;
  for (size_t i = 0; i < SAMPLES; i++)
    if (wanted(samples[i].name, argc - optind, argv + optind) && !samples[i].run(&host))
      failures++;
  clReleaseCommandQueue(host.queue);
  clReleaseContext(host.context);
  return failures ? 1 : 0;
}
