/* printf in kernels, from OpenCL C to standard output: all conversions, many work-items, helper
 * functions and loops with divergence, a full buffer, loaded and linked programs, several queues
 * and threads, and command buffers.
 */
#include <pthread.h>
#include <unistd.h>

#include "tests/end_to_end/commands/command_buffer.h"
#include "tests/end_to_end/opencl.h"

#include <CL/cl_ext.h>

enum { OUTPUT_MAX = 1 << 20, SOURCE_MAX = 1 << 14 };

/* ---- what comes out ------------------------------------------------------------ */

static char output[OUTPUT_MAX];
static FILE *capture;
static int saved_stdout;

static void begin(void) {
  capture = tmpfile();
  CHECK(capture);
  fflush(stdout);
  saved_stdout = dup(STDOUT_FILENO);
  CHECK(dup2(fileno(capture), STDOUT_FILENO) >= 0);
}

/* The driver has flushed the C library's buffer, so it is empty. */
static const char *end(void) {
  CHECK(dup2(saved_stdout, STDOUT_FILENO) >= 0);
  close(saved_stdout);
  rewind(capture);
  const size_t size = fread(output, 1, sizeof output - 1, capture);
  output[size] = 0;
  fclose(capture);
  return output;
}

static void expect(const char *expected) {
  const char *got = end();
  if (strcmp(got, expected)) {
    fprintf(stderr, "printed:\n%s\nexpected:\n%s\n", got, expected);
    exit(1);
  }
}

/* ---- running kernels -------------------------------------------------------------- */

static void run(const struct opencl *opencl, cl_kernel kernel, size_t items) {
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFinish(opencl->queue), CL_SUCCESS);
}

static void build_and_run(const struct opencl *opencl, const char *source, const char *options,
                          size_t items) {
  cl_int error;
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  run(opencl, kernel, items);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* ---- conversions ------------------------------------------------------------------- */

static const struct {
  const char *format, *arguments, *expected;
} rows[] = {
    {"plain text, 100%%", "", "plain text, 100%"},
    {"%d %i", "-7, 7", "-7 7"},
    {"%5d|%-5d|%05d|%+d|% d", "1, 2, 3, 4, 5", "    1|2    |00003|+4| 5"},
    {"%.3d|%8.3d|%-8.3d|", "5, 6, 7", "005|     006|007     |"},
    {"%u %o %x %X", "4294967295u, 8u, 255u, 255u", "4294967295 10 ff FF"},
    {"%#o %#x %#X", "8, 255, 255", "010 0xff 0XFF"},
    {"%hhd %hd %hhu %hu", "(char)-1, (short)-2, (uchar)255, (ushort)65535", "-1 -2 255 65535"},
    {"%ld %lu %lx", "-1l, 18446744073709551615ul, 1ul << 40",
     "-1 18446744073709551615 10000000000"},
    {"%f %F %.2f %8.3f|", "1.5f, -2.25f, 3.14159f, 2.5f", "1.500000 -2.250000 3.14    2.500|"},
    {"%e %E %.1e", "12345.678, 0.00012, 9.99", "1.234568e+04 1.200000E-04 1.0e+01"},
    {"%g %G %g", "0.0001, 1e-10, 1e10", "0.0001 1E-10 1e+10"},
    {"%a %A %.1a", "1.0, 255.5, 1.03125", "0x1p+0 0X1.FFP+7 0x1.0p+0"},
    {"%f %F %e %5g|", "INFINITY, -INFINITY, NAN, -INFINITY", "inf -INF nan  -inf|"},
    {"%c%c|%3c|%-3c|", "'a', 'b', 'c', 'd'", "ab|  c|d  |"},
    {"%s|%8s|%-8s|%.2s|", "\"one\", \"two\", \"three\", \"four\"", "one|     two|three   |fo|"},
    {"%s", "get_global_id(0) ? \"other\" : \"first\"", "first"},
    {"%s", "names[get_global_size(0)]", "b"},
    {"%p", "(global int *)0x123456", "0x123456"},
    {"%v2hhd %v3hhu %v4hhx", "(char2)(-1, 2), (uchar3)(1, 2, 255), (uchar4)(16)",
     "-1,2 1,2,255 10,10,10,10"},
    {"%v2hd %v3hd %v8hu", "(short2)(-1, 2), (short3)(1, 2, 3), (ushort8)(65535)",
     "-1,2 1,2,3 65535,65535,65535,65535,65535,65535,65535,65535"},
    {"%v2hld %v3hld %04v4hlx", "(int2)(-1, 2), (int3)(1, 2, 3), (uint4)(1, 2, 3, 4)",
     "-1,2 1,2,3 0001,0002,0003,0004"},
    {"%v2ld %v3lu", "(long2)(-1, 1l << 60), (ulong3)(1, 2, 3)", "-1,1152921504606846976 1,2,3"},
    {"%v16hhd", "(char16)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)",
     "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"},
    {"%v2hlf %v3hlf %5.1v4hlf", "(float2)(1, 2), (float3)(0.5f), (float4)(1, -2, 3, INFINITY)",
     "1.000000,2.000000 0.500000,0.500000,0.500000   1.0, -2.0,  3.0,  inf"},
    {"%v8hlg", "(float8)(1, 2, 3, 4, 5, 6, 7, 8)", "1,2,3,4,5,6,7,8"},
    {"%v2le %v16lg", "(double2)(1, -1e100), (double16)(0.5)",
     "1.000000e+00,-1.000000e+100 "
     "0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5"},
    {"%d %f %s %v2hld %c %ld %d %d %d %d %d %d",
     "1, 2.0f, \"3\", (int2)(4, 5), '6', 7l, 8, 9, 10, 11, 12, 13",
     "1 2.000000 3 4,5 6 7 8 9 10 11 12 13"},
    {"%d", "printf(\"\")", "0"},
};

/* One kernel prints all rows. */
static void conversions(const struct opencl *opencl, const char *options) {
  static char source[SOURCE_MAX], expected[SOURCE_MAX];
  char *at =
      stpcpy(source, "constant char *constant names[] = {\"a\", \"b\"};\nkernel void k() {\n");
  char *out = expected;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    at += sprintf(at, "  printf(\"%s\\n\"%s%s);\n", rows[i].format, *rows[i].arguments ? ", " : "",
                  rows[i].arguments);
    out += sprintf(out, "%s\n", rows[i].expected);
  }
  strcpy(at, "}\n");
  begin();
  build_and_run(opencl, source, options, 1);
  expect(expected);
}

/* ---- many work-items --------------------------------------------------------------- */

/* The lines of each work-item are complete and in order, with other lines between them. */
static void items(const struct opencl *opencl) {
  enum { ITEMS = 2000, LINES = 4 };
  static int next[ITEMS];
  begin();
  build_and_run(opencl,
                "static void helper(int item, int i) {\n"
                "  if (item & 1) printf(\"odd %d %d\\n\", item, i);\n"
                "  else printf(\"even %d %d\\n\", item, i);\n"
                "}\n"
                "kernel void k() {\n"
                "  const int item = get_global_id(0);\n"
                "  for (int i = 0; i < (item % 3 ? 4 : 2); i++) helper(item, i);\n"
                "  if (item % 3 == 0) { helper(item, 2); helper(item, 3); }\n"
                "}\n",
                "", ITEMS);
  int lines = 0;
  for (const char *line = end(); *line; lines++) {
    char parity[8], newline;
    int item, i, size = 0;
    CHECK(sscanf(line, "%7s %d %d%c%n", parity, &item, &i, &newline, &size) == 4);
    CHECK(newline == '\n' && item >= 0 && item < ITEMS);
    CHECK(!strcmp(parity, item & 1 ? "odd" : "even") && next[item] == i);
    next[item]++;
    line += size;
  }
  CHECK(lines == ITEMS * LINES);
}

/* ---- a full buffer -------------------------------------------------------------------- */

static struct {
  char text[OUTPUT_MAX], message[256];
  size_t size;
  unsigned ends;
} called;

static void CL_CALLBACK take(const char *text, size_t size, size_t complete, void *data) {
  CHECK(data == &called && called.size + size < sizeof called.text);
  memcpy(called.text + called.size, text, size);
  called.size += size;
  called.ends += complete != 0;
}

static void CL_CALLBACK notify(const char *message, const void *info, size_t size, void *data) {
  strncpy(called.message, message, sizeof called.message - 1);
}

/* Calls that do not fit in the buffer return -1 and print nothing. The others print everything.
 * cl_arm_printf sets the size of the buffer. */
static void overflow(struct opencl *opencl) {
  enum { ITEMS = 4096, BYTES = 65536 };
  const cl_context_properties properties[] = {CL_PRINTF_CALLBACK_ARM, (cl_context_properties)take,
                                              CL_PRINTF_BUFFERSIZE_ARM, BYTES, 0};
  struct opencl own = *opencl;
  cl_int error;
  own.context = clCreateContext(properties, 1, &opencl->device, notify, &called, &error);
  CHECK_CL(error, CL_SUCCESS);
  own.queue = clCreateCommandQueueWithProperties(own.context, own.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = opencl_kernel(&own,
                                   "kernel void k(global int *counts) {\n"
                                   "  const int r = printf(\"%s %d\\n\", \"line\", 7);\n"
                                   "  atomic_inc(&counts[r == 0 ? 0 : r == -1 ? 1 : 2]);\n"
                                   "}\n",
                                   "k");
  cl_mem counts = clCreateBuffer(own.context, CL_MEM_READ_WRITE, 12, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof counts, &counts), CL_SUCCESS);
  for (int again = 0; again < 2; again++) {
    int results[3], lines = 0;
    char dropped[64];
    memset(&called, 0, sizeof called);
    CHECK_CL(clEnqueueFillBuffer(own.queue, counts, &lines, 4, 0, 12, 0, NULL, NULL), CL_SUCCESS);
    run(&own, kernel, ITEMS);
    CHECK_CL(clEnqueueReadBuffer(own.queue, counts, CL_TRUE, 0, 12, results, 0, NULL, NULL),
             CL_SUCCESS);
    for (const char *line = called.text; *line; lines++, line += 7)
      CHECK(!strncmp(line, "line 7\n", 7));
    CHECK(lines == results[0] && results[0] + results[1] == ITEMS && results[2] == 0);
    CHECK(results[0] > 1000 && results[1] > 100 && called.ends == 1);
    snprintf(dropped, sizeof dropped, "printf: %d calls of kernel k were dropped", results[1]);
    CHECK(!strncmp(called.message, dropped, strlen(dropped)));
  }
  CHECK_CL(clReleaseMemObject(counts), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  opencl_close(&own);
}

/* ---- programs made otherwise ------------------------------------------------------------- */

static void loaded_binary(const struct opencl *opencl) {
  cl_int error, status;
  size_t size;
  unsigned char *binary = opencl_binary_with(
      opencl, "kernel void k() { printf(\"from %s\\n\", \"a binary\"); }", "", &size);
  cl_program program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size,
                                                 (const unsigned char **)&binary, &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  free(binary);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  begin();
  run(opencl, kernel, 1);
  expect("from a binary\n");
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* A kernel that only prints through a library function. */
static void linked_library(const struct opencl *opencl) {
  cl_program parts[] = {
      opencl_program(opencl, "void say(int n) { printf(\"a library says %d\\n\", n); }"),
      opencl_program(opencl, "void say(int n); kernel void k() { say(42); }")};
  cl_int error;
  for (int i = 0; i < 2; i++)
    CHECK_CL(clCompileProgram(parts[i], 1, &opencl->device, "", 0, NULL, NULL, NULL, NULL),
             CL_SUCCESS);
  cl_program library = clLinkProgram(opencl->context, 1, &opencl->device, "-create-library", 1,
                                     &parts[0], NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_program inputs[] = {parts[1], library};
  cl_program program =
      clLinkProgram(opencl->context, 1, &opencl->device, "", 2, inputs, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  begin();
  run(opencl, kernel, 1);
  expect("a library says 42\n");
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  const cl_program all[] = {parts[0], parts[1], library, program};
  for (int i = 0; i < 4; i++)
    CHECK_CL(clReleaseProgram(all[i]), CL_SUCCESS);
}

/* ---- several queues and threads ------------------------------------------------------------ */

static const char numbered[] = "kernel void k(int n) { printf(\"launch %d\\n\", n); }";

/* After a wait for the end of a chain across two queues, its output is complete and in order. */
static void two_queues(const struct opencl *opencl) {
  enum { LAUNCHES = 20 };
  cl_int error;
  cl_kernel kernel = opencl_kernel(opencl, numbered, "k");
  cl_command_queue other =
      clCreateCommandQueueWithProperties(opencl->context, opencl->device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  char expected[1024], *at = expected;
  const size_t one = 1;
  cl_event before = NULL;
  begin();
  for (int i = 0; i < LAUNCHES; i++) {
    cl_event event;
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof i, &i), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(i % 2 ? other : opencl->queue, kernel, 1, NULL, &one, NULL,
                                    before != NULL, before ? &before : NULL, &event),
             CL_SUCCESS);
    if (before)
      CHECK_CL(clReleaseEvent(before), CL_SUCCESS);
    before = event;
    at += sprintf(at, "launch %d\n", i);
  }
  CHECK_CL(clWaitForEvents(1, &before), CL_SUCCESS);
  expect(expected);
  CHECK_CL(clReleaseEvent(before), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(other), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Launches that print keep their order among the others in every replay. */
static void command_buffer(const struct opencl *opencl) {
  static const char counts[] = "kernel void k(global int *p) { printf(\"%d \", p[0]++); }\n",
                    doubles[] = "kernel void k(global int *p) { p[0] *= 2; }\n";
  const size_t one = 1;
  struct command_buffer_functions f;
  cl_int error;
  int value = 1;
  find_functions(opencl, &f);
  cl_mem mem = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof value, &value, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_command_buffer_khr buffer = f.clCreateCommandBufferKHR(1, &opencl->queue, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernels[] = {opencl_kernel(opencl, counts, "k"), opencl_kernel(opencl, doubles, "k")};
  for (int i = 0; i < 4; i++) {
    cl_kernel kernel = kernels[i % 2];
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
    CHECK_CL(f.clCommandNDRangeKernelKHR(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL,
                                         NULL, NULL),
             CL_SUCCESS);
  }
  CHECK_CL(f.clFinalizeCommandBufferKHR(buffer), CL_SUCCESS);
  begin();
  for (int i = 0; i < 2; i++)
    CHECK_CL(f.clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(f.clReleaseCommandBufferKHR(buffer), CL_SUCCESS);
  CHECK_CL(clFinish(opencl->queue), CL_SUCCESS);
  expect("1 4 10 22 ");
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseKernel(kernels[i]), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
}

enum { THREADS = 4, LAUNCHES_OF_EACH = 25 };

struct printer {
  struct opencl opencl;
  int number;
};

static void *print_from_thread(void *data) {
  struct printer *printer = data;
  cl_int error;
  printer->opencl.queue = clCreateCommandQueueWithProperties(printer->opencl.context,
                                                             printer->opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = opencl_kernel(&printer->opencl, numbered, "k");
  for (int i = 0; i < LAUNCHES_OF_EACH; i++) {
    const int n = printer->number * LAUNCHES_OF_EACH + i;
    const size_t one = 1;
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof n, &n), CL_SUCCESS);
    CHECK_CL(
        clEnqueueNDRangeKernel(printer->opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
        CL_SUCCESS);
    if (i % 5 == 0)
      CHECK_CL(clFinish(printer->opencl.queue), CL_SUCCESS);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(printer->opencl.queue), CL_SUCCESS);
  return NULL;
}

static void threads(const struct opencl *opencl) {
  struct printer printers[THREADS];
  pthread_t ids[THREADS];
  int next[THREADS] = {0}, lines = 0;
  begin();
  for (int i = 0; i < THREADS; i++) {
    printers[i] = (struct printer){*opencl, i};
    CHECK(pthread_create(&ids[i], NULL, print_from_thread, &printers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(ids[i], NULL);
  for (const char *line = end(); *line; lines++) {
    int n, size = 0;
    CHECK(sscanf(line, "launch %d\n%n", &n, &size) == 1 && n >= 0);
    CHECK(n / LAUNCHES_OF_EACH < THREADS && next[n / LAUNCHES_OF_EACH]++ == n % LAUNCHES_OF_EACH);
    line += size;
  }
  CHECK(lines == THREADS * LAUNCHES_OF_EACH);
}

int main(void) {
  struct opencl opencl;
  size_t bytes;
  opencl_open(&opencl);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof bytes, &bytes, NULL),
           CL_SUCCESS);
  CHECK(bytes >= 1 << 20);
  conversions(&opencl, "");
  conversions(&opencl, "-cl-opt-disable");
  conversions(&opencl, "-cl-std=CL3.0");
  items(&opencl);
  overflow(&opencl);
  loaded_binary(&opencl);
  linked_library(&opencl);
  two_queues(&opencl);
  command_buffer(&opencl);
  threads(&opencl);
  opencl_close(&opencl);
  return 0;
}
