/* CUBINs from nvcc, passed to clCreateProgramWithBinary without a compiler: names and arguments of
 * their kernels. Other files are refused with a message.
 *
 *   raw RAW.cubin SM90.cubin
 */
#include "tests/end_to_end/opencl.h"

enum { COUNT = 256, SKIP = 77 /* for meson */ };

static char said[512]; /* the last message of the context's callback */

static void CL_CALLBACK listen(const char *words, const void *info, size_t size, void *data) {
  (void)info, (void)size, (void)data;
  snprintf(said, sizeof said, "%s", words);
}

struct file {
  unsigned char *bytes;
  size_t size;
};

static struct file read_file(const char *name) {
  FILE *file = fopen(name, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  struct file read = {.size = (size_t)ftell(file)};
  rewind(file);
  read.bytes = malloc(read.size);
  CHECK(read.bytes && fread(read.bytes, 1, read.size, file) == read.size);
  fclose(file);
  return read;
}

static cl_program load(const struct opencl *opencl, const void *bytes, size_t size, cl_int *error) {
  const unsigned char *binary = bytes;
  cl_int status;
  cl_program program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size,
                                                 &binary, &status, error);
  CHECK(status == *error);
  return program;
}

static cl_mem floats(const struct opencl *opencl, cl_mem_flags flags, float *data) {
  cl_int error;
  cl_mem mem = clCreateBuffer(opencl->context, flags, COUNT * sizeof *data, data, &error);
  CHECK_CL(error, CL_SUCCESS);
  return mem;
}

static cl_kernel kernel_of(cl_program program, const char *name) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  return kernel;
}

#define SET(kernel, i, value) CHECK_CL(clSetKernelArg(kernel, i, sizeof value, &value), CL_SUCCESS)

static void launch(const struct opencl *opencl, cl_kernel kernel, size_t threads) {
  CHECK_CL(
      clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &threads, &threads, 0, NULL, NULL),
      CL_SUCCESS);
}

static void read(const struct opencl *opencl, cl_mem mem, size_t size, void *to) {
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, size, to, 0, NULL, NULL),
           CL_SUCCESS);
}

/* ---- kernels and arguments ----------------------------------------------------------- */

static void test_names(cl_program program) {
  char names[256];
  size_t count;
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL),
           CL_SUCCESS);
  CHECK(count == 4);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL),
           CL_SUCCESS);
  CHECK(strstr(names, "scale") && strstr(names, "count") && strstr(names, "is_null") &&
        strstr(names, "_Z4axpydPKdPd"));
}

/* Buffers, sub-buffers and 8-byte numbers as arguments. A buffer lives as long as the launch. */
static void test_buffers(const struct opencl *opencl, cl_program program) {
  float data[COUNT], out[COUNT];
  cl_int error;
  for (int i = 0; i < COUNT; i++)
    data[i] = (float)i;
  cl_mem in = floats(opencl, CL_MEM_COPY_HOST_PTR, data), to = floats(opencl, 0, NULL);
  const float factor = 3;
  const cl_ulong half = COUNT / 2;
  const cl_buffer_region region = {half * sizeof *data, half * sizeof *data};
  cl_mem part = clCreateSubBuffer(in, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = kernel_of(program, "scale");
  SET(kernel, 0, part);
  SET(kernel, 1, to);
  SET(kernel, 2, factor);
  SET(kernel, 3, half);
  launch(opencl, kernel, COUNT);
  CHECK_CL(clReleaseMemObject(part), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(in), CL_SUCCESS);
  read(opencl, to, sizeof out, out);
  for (cl_ulong i = 0; i < half; i++)
    CHECK(out[i] == 3 * data[half + i]);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_uint), &half), CL_INVALID_ARG_SIZE);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof to, &to), CL_INVALID_ARG_SIZE);
  CHECK_CL(clReleaseMemObject(to), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void test_doubles(const struct opencl *opencl, cl_program program) {
  double x[COUNT], y[COUNT];
  const double a = 0.5;
  cl_int error;
  for (int i = 0; i < COUNT; i++)
    x[i] = i, y[i] = -i;
  cl_mem in = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof x, x, &error),
         out = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof y, y, &error);
  cl_kernel kernel = kernel_of(program, "_Z4axpydPKdPd");
  SET(kernel, 0, a);
  SET(kernel, 1, in);
  SET(kernel, 2, out);
  launch(opencl, kernel, COUNT);
  read(opencl, out, sizeof y, y);
  for (int i = 0; i < COUNT; i++)
    CHECK(y[i] == -0.5 * i);
  CHECK_CL(clReleaseMemObject(in), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Pointers in structs work with shared virtual memory. */
static void test_pointers(const struct opencl *opencl, cl_program program, int *counter) {
  CHECK_CL(clEnqueueSVMMap(opencl->queue, CL_TRUE, CL_MAP_WRITE, counter, sizeof *counter, 0, NULL,
                           NULL),
           CL_SUCCESS);
  *counter = 1;
  CHECK_CL(clEnqueueSVMUnmap(opencl->queue, counter, 0, NULL, NULL), CL_SUCCESS);
  const struct {
    cl_long count;
    int *at;
  } pair = {2, counter};
  void *used[] = {counter};
  cl_kernel kernel = kernel_of(program, "count");
  SET(kernel, 0, pair);
  CHECK_CL(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof used, used),
           CL_SUCCESS);
  launch(opencl, kernel, 32);
  CHECK_CL(clFinish(opencl->queue), CL_SUCCESS);
  CHECK(*counter == 65);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Sets an argument to NULL, to an SVM pointer if these are supported, to a number, and to a
 * buffer. The last call wins. */
static void test_null(const struct opencl *opencl, cl_program program, const int *pointer) {
  cl_kernel kernel = kernel_of(program, "is_null");
  cl_mem nothing = NULL, out = floats(opencl, 0, NULL);
  const cl_ulong number = 1;
  int result[3] = {0};
  SET(kernel, 1, out);
  SET(kernel, 0, nothing);
  launch(opencl, kernel, 1);
  read(opencl, out, sizeof result[0], &result[0]);
  if (pointer) {
    CHECK_CL(clSetKernelArgSVMPointer(kernel, 0, pointer), CL_SUCCESS);
    launch(opencl, kernel, 1);
    read(opencl, out, sizeof result[1], &result[1]);
  }
  SET(kernel, 0, out);
  SET(kernel, 0, number);
  launch(opencl, kernel, 1);
  read(opencl, out, sizeof result[2], &result[2]);
  CHECK(result[0] == 1 && result[1] == 0 && result[2] == 0);
  const cl_image_format format = {CL_R, CL_FLOAT};
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 4};
  cl_int error;
  cl_mem image = clCreateImage(opencl->context, 0, &format, &desc, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_INVALID_MEM_OBJECT);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* ---- what is refused ------------------------------------------------------------------ */

static void refuse(const struct opencl *opencl, const void *bytes, size_t size, const char *words) {
  cl_int error;
  said[0] = 0;
  CHECK(!load(opencl, bytes, size, &error));
  CHECK_CL(error, CL_INVALID_BINARY);
  if (!strstr(said, words)) {
    fprintf(stderr, "no \"%s\" in: %s\n", words, said);
    exit(1);
  }
}

static void test_refused(const struct opencl *opencl, const struct file *cubin, const char *sm90) {
  static const char fatbin[] = "\x50\xed\x55\xba\1\0\x10\0", spirv[] = "\3\2\x23\7\0\0\1\0",
                    ptx[] = "//\n.version 8.0\n.target sm_87\n.address_size 64\n",
                    bitcode[] = "BC\xc0\xde\x35\x14", text[] = "kernel void k() {}";
  refuse(opencl, fatbin, sizeof fatbin, "a fatbin");
  refuse(opencl, spirv, sizeof spirv, "clCreateProgramWithIL");
  refuse(opencl, ptx, sizeof ptx, "PTX");
  refuse(opencl, bitcode, sizeof bitcode, "LLVM bitcode");
  refuse(opencl, text, sizeof text, "not a tegracl program binary or CUBIN");
  struct file other = read_file(sm90), own = read_file("/proc/self/exe");
  refuse(opencl, other.bytes, other.size, "unsupported CUBIN for sm_90; this device runs");
  refuse(opencl, own.bytes, own.size, "not a CUBIN (nvcc -cubin -arch=sm_87), but an ELF file");
  for (size_t size = 4; size < cubin->size; size += cubin->size / 8)
    refuse(opencl, cubin->bytes, size, "CUBIN");
  free(other.bytes);
  free(own.bytes);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  setenv("TEGRACL_COMPILER", "/nonexistent", 1);
  struct opencl opencl;
  cl_int error;
  cl_device_svm_capabilities svm;
  opencl_open_with_notify(&opencl, listen);
  struct file cubin = read_file(argv[1]);
  cl_program program = load(&opencl, cubin.bytes, cubin.size, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  test_names(program);
  test_buffers(&opencl, program);
  test_doubles(&opencl, program);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL),
           CL_SUCCESS);
  int *counter = svm ? clSVMAlloc(opencl.context, 0, sizeof *counter, 0) : NULL;
  CHECK(!counter == !svm);
  if (counter)
    test_pointers(&opencl, program, counter);
  test_null(&opencl, program, counter);
  clSVMFree(opencl.context, counter);
  test_refused(&opencl, &cubin, argv[2]);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(cubin.bytes);
  opencl_close(&opencl);
  if (svm)
    return 0;
  /* Under AddressSanitizer, whose shadow uses the addresses. */
  printf("no shared virtual memory here: all but pointers was tested\n");
  return SKIP;
}
