/* TEGRACL_EMULATOR=check, through the loader: each case is a kernel with one
 * mistake, and the report must name the kernel, the work-item and the cause.
 */
#include "tests/road/road.h"

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum { REPORT_BYTES = 1 << 16 };

struct fault_case {
  const char *name;
  const char *options; /* NULL: check */
  const char *source;  /* kernel void k(global int *p, ulong n) */
  cl_ulong n;
  size_t global, local;
  size_t buffer;
  bool ends; /* the context dies of it */
  const char *expected[5];
};

static const struct fault_case cases[] = {
    {"padding",
     NULL,
     "kernel void k(global int *p, ulong n) { p[get_global_id(0)] = (int)n; }",
     7,
     26,
     26,
     100,
     true,
     {"kernel k +0x", "STG", "work-item (25,0,0) of group (0,0,0)",
      "0 bytes behind the end of a buffer of 100 bytes", "padding"}},
    {"beyond",
     NULL,
     "kernel void k(global int *p, ulong n) { p[n] = 1; }",
     1 << 28,
     1,
     1,
     100,
     true,
     {"kernel k +0x", "STG", "work-item (0,0,0)", "not mapped"}},
    {"misaligned",
     NULL,
     "kernel void k(global int *p, ulong n) { *(global int *)((global char *)p + n) = 1; }",
     1,
     1,
     1,
     100,
     true,
     {"kernel k +0x", "STG", "misaligned", "work-item (0,0,0)"}},
    {"shared range",
     NULL,
     "kernel void k(global int *p, ulong n) { local int s[64]; s[get_local_id(0)] = 1;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[0] = s[n]; }",
     100000,
     64,
     64,
     100,
     true,
     {"kernel k +0x", "LDS", "shared memory out of range"}},
    {"private range",
     NULL,
     "kernel void k(global int *p, ulong n) { int a[64]; for (int i = 0; i < 64; i++) a[i] = i;\n"
     "  a[n] = 1; p[0] = a[p[1] & 63]; }",
     1 << 21,
     1,
     1,
     100,
     true,
     {"kernel k +0x", "STL", "local memory out of range"}},
    {"shared never written",
     NULL,
     "kernel void k(global int *p, ulong n) { local int s[64]; if (n) s[get_local_id(0)] = 1;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[63 - get_local_id(0)]; }",
     0,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "STG", "shared memory that nothing has written", "work-item ("}},
    {"private never written",
     NULL,
     "kernel void k(global int *p, ulong n) { int a[64]; for (int i = 0; i < n; i++) a[i] = i;\n"
     "  p[get_global_id(0)] = a[(p[1] + 7) & 63]; }",
     5,
     2,
     2,
     256,
     false,
     {"kernel k +0x", "STG", "private memory that nothing has written", "work-item (0,0,0)"}},
    {"register never written",
     NULL,
     "kernel void k(global int *p, ulong n) { int x;\n"
     "  asm volatile(\"{ .reg .u32 u, v; .reg .pred q; setp.ne.u64 q, %1, 0; @q mov.u32 u, 5;\"\n"
     "    \" bar.warp.sync 0xffffffff; add.u32 %0, u, 1; }\" : \"=r\"(x) : \"l\"(n));\n"
     "  p[get_global_id(0)] = x; }",
     0,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "register that nothing has written"}},
    {"race",
     NULL,
     "kernel void k(global int *p, ulong n) { local int s[64]; int i = get_local_id(0);\n"
     "  s[i] = i + n; p[get_global_id(0)] = s[63 - i]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on shared memory", "not ordered after the write by work-item"}},
    {"race of a write",
     NULL,
     "kernel void k(global int *p, ulong n) { local int s[64]; int i = get_local_id(0);\n"
     "  s[i] = i + n; barrier(CLK_LOCAL_MEM_FENCE); int x = s[63 - i]; s[i] = x * 3 + 1;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[i]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on shared memory", "write by work-item",
      "not ordered after the read by work-item"}},
    {"two writes",
     NULL,
     "kernel void k(global int *p, ulong n) { local int s[1]; s[0] = get_local_id(0) + n;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[0]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on shared memory", "write by work-item",
      "not ordered after the write"}},
    {"barrier of some",
     NULL,
     "kernel void k(global int *p, ulong n) { if (get_local_id(0) >= n) return;\n"
     "  p[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); p[get_global_id(0)] += p[0]; }",
     48,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "BAR", "16 of the 64 work-items", "without reaching this barrier"}},
    {"two barriers",
     NULL,
     "kernel void k(global int *p, ulong n) { int i = get_local_id(0);\n"
     "  if (i < n) { p[i] = 2; barrier(CLK_LOCAL_MEM_FENCE); p[i] += 5; }\n"
     "  else { p[i] = 3; barrier(CLK_LOCAL_MEM_FENCE); p[i] *= 5; } }",
     32,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "BAR", "waits at this barrier, but work-item"}},
    {"warp mask",
     NULL,
     "kernel void k(global int *p, ulong n) { int i = get_local_id(0);\n"
     "  if (i < 8) asm volatile(\"bar.warp.sync %0;\" : : \"r\"((int)n + (i >> 3)));\n"
     "  p[i] = i; }",
     0x7f,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "lane 7 executes this with the mask 0x0000007f", "in which it is not"}},
    {"absent lane",
     NULL,
     "kernel void k(global int *p, ulong n) { int i = get_local_id(0), x = i;\n"
     "  if (i >= n) asm volatile(\"shfl.sync.idx.b32 %0, %0, 0, 31, 0xfffffff0;\" : \"+r\"(x));\n"
     "  p[i] = x; }",
     4,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "a lane that does not take part", "work-item (4,0,0)"}},
    {"endless",
     "check:watchdog=100000",
     "kernel void k(global int *p, ulong n) { volatile global int *q = p; while (q[0] != 1); }",
     0,
     32,
     32,
     256,
     true,
     {"kernel k", "executed 100000 warp instructions", "group (0,0,0)"}},
};

static char text[REPORT_BYTES];

static FILE *divert(void) {
  FILE *file = tmpfile();
  CHECK(file);
  CHECK(dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
  return file;
}

static void read_back(FILE *file) {
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  printf("%s", text);
  fclose(file);
}

static void expect(const char *what) {
  if (strstr(text, what))
    return;
  printf("the report lacks \"%s\"\n", what);
  exit(1);
}

static void run(const struct fault_case *c) {
  struct road road;
  cl_int error;
  setenv("TEGRACL_EMULATOR", c->options ? c->options : "check", 1);
  FILE *file = divert();
  road_open(&road);
  cl_kernel kernel = road_kernel(&road, c->source, "k");
  cl_mem buffer = clCreateBuffer(road.context, CL_MEM_READ_WRITE, c->buffer, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof c->n, &c->n), CL_SUCCESS);
  CHECK_CL(
      clEnqueueNDRangeKernel(road.queue, kernel, 1, NULL, &c->global, &c->local, 0, NULL, NULL),
      CL_SUCCESS);
  error = clFinish(road.queue);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  road_close(&road);
  read_back(file);
  expect("tegracl: check: ");
  for (size_t k = 0; k < sizeof c->expected / sizeof c->expected[0] && c->expected[k]; k++)
    expect(c->expected[k]);
  if ((error != CL_SUCCESS) != c->ends) {
    printf("clFinish gives %d\n", error);
    exit(1);
  }
}

/* A kernel gets the address of a buffer that is gone. */
static void freed(void) {
  struct road road;
  cl_int error;
  cl_ulong address = 0;
  size_t one = 1;
  setenv("TEGRACL_EMULATOR", "check", 1);
  FILE *file = divert();
  road_open(&road);
  cl_kernel tell =
      road_kernel(&road, "kernel void k(global int *p, global ulong *at) { *at = (ulong)p; }", "k");
  cl_kernel use =
      road_kernel(&road, "kernel void k(ulong at) { *(global int *)(at + 8) = 1; }", "k");
  cl_mem gone = clCreateBuffer(road.context, CL_MEM_READ_WRITE, 5000, NULL, &error);
  cl_mem at = clCreateBuffer(road.context, CL_MEM_READ_WRITE, sizeof address, NULL, &error);
  CHECK_CL(clSetKernelArg(tell, 0, sizeof gone, &gone), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(tell, 1, sizeof at, &at), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(road.queue, tell, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(road.queue, at, CL_TRUE, 0, sizeof address, &address, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseKernel(tell), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(gone), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 0, sizeof address, &address), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(road.queue, use, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
  CHECK(clFinish(road.queue) != CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(at), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(use), CL_SUCCESS);
  road_close(&road);
  read_back(file);
  expect("kernel k +0x");
  expect("8 bytes into a freed buffer of 5000 bytes");
}

/* An unknown word: one message, and no device. */
static void unknown(void) {
  cl_platform_id platform;
  cl_uint count = 0;
  setenv("TEGRACL_EMULATOR", "check,prefile", 1);
  FILE *file = divert();
  if (clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS)
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
  read_back(file);
  expect("\"prefile\" is none of check");
  if (count) {
    printf("there is a device\n");
    exit(1);
  }
}

int main(int argc, char **argv) {
  const char *name = argc == 2 ? argv[1] : "";
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    if (!strcmp(name, cases[k].name)) {
      run(&cases[k]);
      return 0;
    }
  if (!strcmp(name, "freed"))
    freed();
  else if (!strcmp(name, "unknown word"))
    unknown();
  else
    return 2;
  return 0;
}
