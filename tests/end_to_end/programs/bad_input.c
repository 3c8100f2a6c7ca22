/* Invalid input from the application. Each must cause the error of the specification and a helpful
 * message, and the application must be able to continue.
 *
 *   bad_input syntax | fault | binary | nvrtc
 */
#include "tests/end_to_end/opencl.h"

#include "icd/cl_tegracl.h"

static const char *build_log(const struct opencl *opencl, cl_program program) {
  static char log[16384];
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  return log;
}

static void expect_in(const char *text, const char *part) {
  if (!strstr(text, part)) {
    fprintf(stderr, "no \"%s\" in: %s\n", part, text);
    exit(1);
  }
}

/* clang's message has the line number of the user's source. */
static void syntax(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  cl_program program = opencl_program(&opencl, "kernel void k(global int *p) {\n"
                                               "  int a = 1;\n"
                                               "  p[0] = a + undeclared_name;\n"
                                               "}\n");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  const char *log = build_log(&opencl, program);
  expect_in(log, ":3:14: error:");
  expect_in(log, "undeclared_name");
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);

  program = opencl_program(&opencl, "kernel void k(global int *p) { p[0] = 1; }\n");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "-cl-no-such-option", NULL, NULL),
           CL_INVALID_BUILD_OPTIONS);
  expect_in(build_log(&opencl, program), "-cl-no-such-option");
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  opencl_close(&opencl);
}

/* A kernel that reads far outside its buffer causes a failed event and a message. A new context
 * works. */
static void fault(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl,
                                   "kernel void stray(global int *p, ulong far) {\n"
                                   "  p[get_global_id(0)] = p[far];\n"
                                   "}\n",
                                   "stray");
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 4096, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_ulong far = 1ull << 30;
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof far, &far), CL_SUCCESS);
  cl_event event;
  size_t global = 64;
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event),
           CL_SUCCESS);
  CHECK_CL(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  cl_int status;
  CHECK_CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
           CL_SUCCESS);
  CHECK(status < 0);
  char message[1024];
  CHECK_CL(
      clGetContextInfo(opencl.context, CL_CONTEXT_FAULT_TEGRACL, sizeof message, message, NULL),
      CL_SUCCESS);
  printf("%s\n", message);
  expect_in(message, "stray"); /* the kernel */
  expect_in(message, "line 2 of the program source");
  expect_in(message, "0x");     /* the address */
  expect_in(message, "buffer"); /* the nearest one */
  CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  CHECK(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL) < 0);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&opencl);

  opencl_open(&opencl);
  kernel = opencl_kernel(&opencl, "kernel void seven(global int *p) { *p = 7; }", "seven");
  buffer = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 4, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  global = 1;
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  cl_int seven = 0;
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, 4, &seven, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK(seven == 7);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&opencl);
}

/* Truncates a program binary to every length, and damages a byte. */
static void binary(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  cl_program program;
  size_t size;
  unsigned char *bytes =
      opencl_binary_with(&opencl, "kernel void k(global int *p) { p[0] = 1; }\n", "", &size);
  const unsigned char *view = bytes;
  cl_int error, status;
  for (size_t length = 1; length < size; length += length < 256 ? 1 : 61) {
    program = clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &length, &view, &status,
                                        &error);
    CHECK(!program);
    CHECK_CL(error, CL_INVALID_BINARY);
    CHECK_CL(status, CL_INVALID_BINARY);
  }
  bytes[size / 2] ^= 1;
  program =
      clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &size, &view, &status, &error);
  CHECK(!program && error == CL_INVALID_BINARY && status == CL_INVALID_BINARY);
  bytes[size / 2] ^= 1;
  program =
      clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &size, &view, &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(status, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(bytes);
  opencl_close(&opencl);
}

/* Without NVRTC the build fails, with a log that says what to install. */
static void nvrtc(void) {
  setenv("TEGRACL_NVRTC", "/nonexistent", 1);
  setenv("TEGRACL_CACHE", "0", 1);
  struct opencl opencl;
  opencl_open(&opencl);
  cl_bool available = CL_TRUE;
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_COMPILER_AVAILABLE, sizeof available,
                           &available, NULL),
           CL_SUCCESS);
  CHECK(!available);
  cl_program program = opencl_program(&opencl, "kernel void k(global int *p) { p[0] = 1; }\n");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_COMPILER_NOT_AVAILABLE);
  const char *log = build_log(&opencl, program);
  expect_in(log, "NVRTC");
  expect_in(log, "nstall");
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  opencl_close(&opencl);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"syntax", syntax}, {"fault", fault}, {"binary", binary}, {"nvrtc", nvrtc}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (argc == 2 && !strcmp(argv[1], cases[i].name)) {
      cases[i].run();
      return 0;
    }
  fprintf(stderr, "usage: bad_input syntax|fault|binary|nvrtc\n");
  return 2;
}
