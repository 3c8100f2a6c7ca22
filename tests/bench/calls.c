/* Measures the cost of single calls to the calling thread, on any OpenCL platform.
 *
 *   calls [-p PLATFORM] [-n CALLS] [CASE ...]
 *
 * Prints for each case the calling thread's CPU time per call in ns. With callgrind and
 * --toggle-collect=repeat, the program's total is the number of instructions of all calls; calls.py
 * uses that. "first use" and "build" are elapsed times. "of memcpy's speed" is the CPU time of the
 * fastest memcpy divided by that of the fastest transfer, in all threads, measured alternately.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  BATCH = 200,
  WARM_UP = 8 * BATCH,
  ITEMS = 64,
  SMALL = 64,
  MAPPED = 1 << 20,
  LARGE = 64 << 20,
  RECORDED = 10
};

static const char source[] =
    "kernel void k(global float *a, global const float *b, float c, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) a[i] = b[i] * c;\n"
    "}\n";

static const char image_source[] =
    "kernel void copy(read_only image2d_t from, write_only image2d_t to) {\n"
    "  int2 at = (int2)(get_global_id(0), 0);\n"
    "  write_imagef(to, at, read_imagef(from, at));\n"
    "}\n";

struct bench {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel, copy;
  cl_mem a, b, large, images[2];
  cl_event last; /* of a chain */
  unsigned number;
  struct recorded *recorded; /* NULL if command buffers are not supported */
  cl_int (*replay)(cl_uint, cl_command_queue *, struct recorded *, cl_uint, const cl_event *,
                   cl_event *);
  cl_int (*release)(struct recorded *);
};

static void check(cl_int error, const char *what) {
  if (error == CL_SUCCESS)
    return;
  fprintf(stderr, "calls: %s: error %d\n", what, error);
  exit(1);
}

static double now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the calls --------------------------------------------------------------------------- */

static cl_int set_argument(struct bench *b) {
  const float value = (float)b->number;
  return clSetKernelArg(b->kernel, 2, sizeof value, &value);
}

static cl_int enqueue(struct bench *b) {
  const size_t items = ITEMS;
  return clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &items, &items, 0, NULL, NULL);
}

static cl_int enqueue_images(struct bench *b) {
  const size_t items = ITEMS;
  return clEnqueueNDRangeKernel(b->queue, b->copy, 1, NULL, &items, &items, 0, NULL, NULL);
}

static cl_int enqueue_event(struct bench *b) {
  const size_t items = ITEMS;
  cl_event event;
  cl_int error =
      clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &items, &items, 0, NULL, &event);
  return error ? error : clReleaseEvent(event);
}

static cl_int enqueue_chain(struct bench *b) {
  const size_t items = ITEMS;
  cl_event event;
  cl_int error = clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &items, &items,
                                        b->last ? 1 : 0, b->last ? &b->last : NULL, &event);
  if (!error && b->last)
    error = clReleaseEvent(b->last);
  b->last = event;
  return error;
}

static cl_int read_small(struct bench *b) {
  char bytes[SMALL];
  return clEnqueueReadBuffer(b->queue, b->a, CL_TRUE, 0, sizeof bytes, bytes, 0, NULL, NULL);
}

static cl_int write_small(struct bench *b) {
  const char bytes[SMALL] = {0};
  return clEnqueueWriteBuffer(b->queue, b->a, CL_TRUE, 0, sizeof bytes, bytes, 0, NULL, NULL);
}

static cl_int map_unmap(const struct bench *b, cl_mem buffer, size_t size) {
  cl_int error;
  void *at =
      clEnqueueMapBuffer(b->queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
  return error ? error : clEnqueueUnmapMemObject(b->queue, buffer, at, 0, NULL, NULL);
}

static cl_int map_small(struct bench *b) {
  return map_unmap(b, b->a, SMALL);
}

static cl_int map_large(struct bench *b) {
  return map_unmap(b, b->large, LARGE);
}

static cl_int marker(struct bench *b) {
  return clEnqueueMarkerWithWaitList(b->queue, 0, NULL, NULL);
}

static cl_int replay(struct bench *b) {
  return b->replay(0, NULL, b->recorded, 0, NULL, NULL);
}

static cl_int finish_idle(struct bench *b) {
  return clFinish(b->queue);
}

static cl_int nothing(struct bench *b) {
  return b->queue ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static const struct test {
  const char *name;
  cl_int (*call)(struct bench *);
} tests[] = {
    {"set argument", set_argument},
    {"enqueue", enqueue},
    {"enqueue, 2 images", enqueue_images},
    {"enqueue, event", enqueue_event},
    {"enqueue, chain of events", enqueue_chain},
    {"read 64 bytes", read_small},
    {"write 64 bytes", write_small},
    {"map and unmap 64 bytes", map_small},
    {"map and unmap 64 MiB", map_large},
    {"marker", marker},
    {"replay of 10 kernels", replay},
    {"finish, idle", finish_idle},
    {"nothing", nothing},
};

/* callgrind collects only inside this function. */
__attribute__((noinline)) void repeat(struct bench *b, const struct test *test, unsigned count);
__attribute__((noinline)) void repeat(struct bench *b, const struct test *test, unsigned count) {
  for (b->number = 0; b->number < count; b->number++)
    check(test->call(b), test->name);
}

static void finish(struct bench *b) {
  check(clFinish(b->queue), "clFinish");
  if (b->last)
    check(clReleaseEvent(b->last), "clReleaseEvent");
  b->last = NULL;
}

/* Returns the CPU time of this thread per call in ns, after a warm-up. */
static double measure(struct bench *b, const struct test *test, unsigned calls) {
  double sum = 0;
  for (int i = 0; i < WARM_UP; i++) {
    check(test->call(b), test->name);
    if (i % BATCH == BATCH - 1)
      finish(b);
  }
  for (unsigned done = 0; done < calls; done += BATCH) {
    const double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    repeat(b, test, BATCH);
    sum += now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    finish(b);
  }
  return sum / calls;
}

/* ---- set-up ------------------------------------------------------------------------------ */

static cl_device_id find_device(const char *platform) {
  cl_platform_id platforms[16];
  cl_uint count;
  check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < count && i < 16; i++) {
    char name[128];
    check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL),
          "clGetPlatformInfo");
    cl_device_id device;
    if (strstr(name, platform) &&
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
      return device;
  }
  fprintf(stderr, "calls: no platform whose name contains '%s'\n", platform);
  exit(1);
}

static cl_program build(const struct bench *b, const char *text) {
  cl_int error;
  cl_program program = clCreateProgramWithSource(b->context, 1, &text, NULL, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &b->device, "", NULL, NULL), "clBuildProgram");
  return program;
}

/* Creates a command buffer with some kernels, if the platform has the extension. It uses only what
 * all drafts of cl_khr_command_buffer have in common. */
static void record(struct bench *b) {
  cl_platform_id platform;
  check(clGetDeviceInfo(b->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL),
        "clGetDeviceInfo");
#define FIND(name) clGetExtensionFunctionAddressForPlatform(platform, #name)
  struct recorded *(*create)(cl_uint, const cl_command_queue *, const void *, cl_int *) =
      FIND(clCreateCommandBufferKHR);
  cl_int (*launch)(struct recorded *, cl_command_queue, const void *, cl_kernel, cl_uint,
                   const size_t *, const size_t *, const size_t *, cl_uint, const void *, void *,
                   void *) = FIND(clCommandNDRangeKernelKHR);
  cl_int (*finalize)(struct recorded *) = FIND(clFinalizeCommandBufferKHR);
  b->replay = FIND(clEnqueueCommandBufferKHR);
  b->release = FIND(clReleaseCommandBufferKHR);
#undef FIND
  /* CL_COMMAND_BUFFER_FLAGS_KHR: SIMULTANEOUS_USE. Older drafts require it for a replay while a
   * previous one is still running. */
  const cl_ulong properties[] = {0x1293, 1, 0};
  const size_t items = ITEMS;
  cl_int error;
  if (!create || !launch || !finalize || !b->replay || !b->release)
    return;
  b->recorded = create(1, &b->queue, properties, &error);
  check(error, "clCreateCommandBufferKHR");
  for (int i = 0; i < RECORDED; i++)
    check(launch(b->recorded, NULL, NULL, b->kernel, 1, NULL, &items, &items, 0, NULL, NULL, NULL),
          "clCommandNDRangeKernelKHR");
  check(finalize(b->recorded), "clFinalizeCommandBufferKHR");
  check(replay(b), "clEnqueueCommandBufferKHR");
}

static void set_up(struct bench *b, const char *platform) {
  cl_int error;
  b->device = find_device(platform);
  b->context = clCreateContext(NULL, 1, &b->device, NULL, NULL, &error);
  check(error, "clCreateContext");
  b->queue = clCreateCommandQueue(b->context, b->device, 0, &error);
  check(error, "clCreateCommandQueue");
  b->program = build(b, source);
  b->kernel = clCreateKernel(b->program, "k", &error);
  check(error, "clCreateKernel");
  b->a = clCreateBuffer(b->context, CL_MEM_READ_WRITE, MAPPED, NULL, &error);
  check(error, "clCreateBuffer");
  b->b = clCreateBuffer(b->context, CL_MEM_READ_WRITE, MAPPED, NULL, &error);
  check(error, "clCreateBuffer");
  b->large = clCreateBuffer(b->context, CL_MEM_READ_WRITE, LARGE, NULL, &error);
  check(error, "clCreateBuffer");
  cl_program program = build(b, image_source);
  b->copy = clCreateKernel(program, "copy", &error);
  check(error, "clCreateKernel");
  clReleaseProgram(program);
  for (cl_uint i = 0; i < 2; i++) {
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = ITEMS, .image_height = 1};
    b->images[i] = clCreateImage(b->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    check(error, "clCreateImage");
    check(clSetKernelArg(b->copy, i, sizeof(cl_mem), &b->images[i]), "clSetKernelArg");
  }
  const cl_int n = ITEMS;
  check(clSetKernelArg(b->kernel, 0, sizeof b->a, &b->a), "clSetKernelArg");
  check(clSetKernelArg(b->kernel, 1, sizeof b->b, &b->b), "clSetKernelArg");
  check(set_argument(b), "clSetKernelArg");
  check(clSetKernelArg(b->kernel, 3, sizeof n, &n), "clSetKernelArg");
  record(b);
}

static void tear_down(const struct bench *b) {
  if (b->recorded)
    check(b->release(b->recorded), "clReleaseCommandBufferKHR");
  clReleaseMemObject(b->a);
  clReleaseMemObject(b->b);
  clReleaseMemObject(b->large);
  clReleaseMemObject(b->images[0]);
  clReleaseMemObject(b->images[1]);
  clReleaseKernel(b->copy);
  clReleaseKernel(b->kernel);
  clReleaseProgram(b->program);
  clReleaseCommandQueue(b->queue);
  clReleaseContext(b->context);
}

/* ---- transfers --------------------------------------------------------------------------- */

static void measure_transfers(const struct bench *b) {
  enum { ROUNDS = 25, COPY, READ, WRITE, KINDS };
  char *host = malloc(LARGE), *other = malloc(LARGE);
  if (!host || !other)
    check(CL_OUT_OF_HOST_MEMORY, "malloc");
  memset(host, 1, LARGE);
  memset(other, 2, LARGE);
  for (size_t size = MAPPED; size <= LARGE; size *= 8) {
    double best[KINDS] = {0};
    for (int round = 0; round < ROUNDS; round++)
      for (int kind = COPY; kind < KINDS; kind++) {
        const double start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        if (kind == COPY)
          memcpy(other, host, size);
        else if (kind == READ)
          check(clEnqueueReadBuffer(b->queue, b->large, CL_TRUE, 0, size, host, 0, NULL, NULL),
                "clEnqueueReadBuffer");
        else
          check(clEnqueueWriteBuffer(b->queue, b->large, CL_TRUE, 0, size, host, 0, NULL, NULL),
                "clEnqueueWriteBuffer");
        const double ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
        if (!round || ns < best[kind])
          best[kind] = ns;
      }
    printf("read %zu MiB, of memcpy's speed: %.2f\n", size >> 20, best[COPY] / best[READ]);
    printf("write %zu MiB, of memcpy's speed: %.2f\n", size >> 20, best[COPY] / best[WRITE]);
  }
  free(host);
  free(other);
}

/* ---- builds -------------------------------------------------------------------------------- */

/* Measures the build of a source that is in no cache, and a second build of it, in ms. */
static void measure_builds(const struct bench *b) {
  enum { BUILDS = 10 };
  double cold = 0, cached = 0;
  for (int i = 0; i < BUILDS; i++) {
    char text[sizeof source + 64];
    snprintf(text, sizeof text, "%sconstant int number = %d, time = %ld;\n", source, i,
             (long)now_ns(CLOCK_REALTIME));
    for (int again = 0; again < 2; again++) {
      const double start = now_ns(CLOCK_MONOTONIC);
      cl_program program = build(b, text);
      *(again ? &cached : &cold) += (now_ns(CLOCK_MONOTONIC) - start) / BUILDS;
      clReleaseProgram(program);
    }
  }
  printf("build, cold: %.0f\nbuild, cached: %.0f\n", cold, cached);
}

int main(int count, char **words) {
  const char *platform = "tegracl";
  unsigned calls = 20 * BATCH;
  int option;
  while ((option = getopt(count, words, "p:n:")) != -1) {
    if (option == 'p')
      platform = optarg;
    else if (option == 'n')
      calls = (unsigned)strtoul(optarg, NULL, 0) / BATCH * BATCH;
    else
      return 2;
  }
  const double start = now_ns(CLOCK_MONOTONIC);
  struct bench b = {0};
  set_up(&b, platform);
  check(enqueue(&b), "enqueue");
  check(read_small(&b), "read");
  const double first = now_ns(CLOCK_MONOTONIC) - start;

  if (optind == count)
    printf("first use: %.0f\n", first);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    bool wanted = optind == count;
    for (int w = optind; w < count; w++)
      wanted |= !strcmp(words[w], tests[i].name);
    if (wanted && (tests[i].call != replay || b.recorded))
      printf("%s: %.0f\n", tests[i].name, measure(&b, &tests[i], calls));
  }
  if (optind == count) {
    measure_transfers(&b);
    measure_builds(&b);
  }
  tear_down(&b);
  return 0;
}
