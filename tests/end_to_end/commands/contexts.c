/* Creates and releases a context COUNT times, with a queue, a buffer, a program from its binary and
 * a kernel, some with a launch. No file descriptor, mapping, thread or memory may leak.
 *
 *   contexts COUNT
 */
#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

enum {
  /* contexts that are created before the measurement, until everything that is kept for reuse
   * exists */
  WARM_UP = 150,
  LAUNCH_EACH = 10,
  ITEMS = 64,
  WAIT_MS = 60000, /* tolerance for resources that are released late */
  MORE_MAPPINGS_MAX = 8,
  MORE_BYTES_MAX = 64 << 10,      /* of malloc */
  MORE_KIB_MAX = 4 << 10,         /* memory in use */
  MORE_KIB_SANITIZED = 512 << 10, /* includes the freed memory that a sanitizer keeps */
};

static const char source[] = "kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }";

struct use {
  int fds, mappings, threads;
  size_t bytes;
  long kib;
};

static int entries(const char *path) {
  int count = 0;
  DIR *folder = opendir(path);
  CHECK(folder);
  while (readdir(folder))
    count++;
  closedir(folder);
  return count;
}

static struct use use_now(void) {
  struct use use = {.fds = entries("/proc/self/fd"),
                    .threads = entries("/proc/self/task"),
                    .bytes = mallinfo2().uordblks};
  char line[512];
  FILE *file = fopen("/proc/self/maps", "re");
  CHECK(file);
  while (fgets(line, sizeof line, file))
    use.mappings++;
  fclose(file);
  file = fopen("/proc/self/status", "re");
  CHECK(file);
  while (fgets(line, sizeof line, file))
    sscanf(line, "VmRSS: %ld", &use.kib);
  fclose(file);
  return use;
}

/* Whether the process uses more than before, beyond the variation between runs. */
static bool has_grown(const struct use *use, const struct use *before) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const long kib_max = MORE_KIB_SANITIZED;
#else
  const long kib_max = MORE_KIB_MAX;
#endif
  return use->fds > before->fds || use->mappings > before->mappings + MORE_MAPPINGS_MAX ||
         use->threads > before->threads || use->bytes > before->bytes + MORE_BYTES_MAX ||
         use->kib > before->kib + kib_max;
}

static unsigned char *binary;
static size_t binary_size;

static void build_binary(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  binary = opencl_binary(&opencl, source, &binary_size);
  opencl_close(&opencl);
}

static void run_context(bool launches) {
  struct opencl opencl;
  int values[ITEMS] = {0};
  const int n = 3;
  const size_t items = ITEMS;
  cl_int error;
  opencl_open(&opencl);
  cl_mem buffer =
      clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_program program = clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &binary_size,
                                                 (const unsigned char *[]){binary}, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "add", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof n, &n), CL_SUCCESS);
  if (launches) {
    cl_event event;
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event),
             CL_SUCCESS);
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, sizeof values, values, 1, &event,
                                 NULL),
             CL_SUCCESS);
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
    for (int i = 0; i < ITEMS; i++)
      CHECK(values[i] == n);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&opencl);
}

static void run_contexts(unsigned count) {
  for (unsigned i = 0; i < count; i++)
    run_context(i % LAUNCH_EACH == 0);
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const unsigned count = (unsigned)strtoul(argv[1], NULL, 10);
  /* The number of arenas of the C library depends on how many threads run at the same time. */
  mallopt(M_ARENA_MAX, 1);
  build_binary();
  run_contexts(WARM_UP);
  const struct use before = use_now();
  const double begin = now_ms();
  run_contexts(count);
  const double ms = now_ms() - begin;
  struct use after = use_now();
  /* A joined thread remains in the list for a moment, and a thread of the driver may hold the
   * last reference to a context. */
  for (int i = 0; i < WAIT_MS && has_grown(&after, &before); i++, after = use_now())
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  printf("%u contexts, %.3f ms each; fds %d, then %d; mappings %d, %d; threads %d, %d; "
         "malloc %zu, %zu bytes; resident %ld, %ld KiB\n",
         count, ms / count, before.fds, after.fds, before.mappings, after.mappings, before.threads,
         after.threads, before.bytes, after.bytes, before.kib, after.kib);
  CHECK(!has_grown(&after, &before));
  free(binary);
  return 0;
}
