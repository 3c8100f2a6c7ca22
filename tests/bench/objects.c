/* Measures the cost of creating and releasing buffers, on any OpenCL platforms.
 *
 *   objects [-b BYTES] [-r ROUNDS] [-s] [-p PLATFORM]... [COUNT...]
 *
 * For each count and platform, prints the calling thread's CPU time in ns of one clCreateBuffer and
 * one clReleaseMemObject while COUNT buffers exist: the minimum of several rounds, in which the
 * platforms alternate. -s releases the buffers in random order. By default the counts are 1000 to
 * 1000000 and BYTES is 4096.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PLATFORMS = 8, COUNTS = 16 };

struct times {
  double create, release;
};

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool find_context(const char *platform, cl_context *context) {
  cl_platform_id platforms[PLATFORMS];
  cl_uint count = 0;
  clGetPlatformIDs(PLATFORMS, platforms, &count);
  for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
    char name[128] = "";
    cl_device_id device;
    cl_int error;
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (!strstr(name, platform) ||
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL))
      continue;
    *context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    return !error;
  }
  return false;
}

/* Returns a pseudo-random number below count, the same in each run. */
static size_t draw(uint64_t *state, size_t count) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (size_t)((*state >> 33) % count);
}

static void shuffle(cl_mem *mems, size_t count) {
  uint64_t state = 1;
  for (size_t i = count - 1; i > 0; i--) {
    const size_t other = draw(&state, i + 1);
    const cl_mem mem = mems[i];
    mems[i] = mems[other];
    mems[other] = mem;
  }
}

/* callgrind can collect only inside this function. Returns false if a buffer could not be
 * created. */
__attribute__((noinline)) bool create_all(cl_context context, size_t bytes, cl_mem *mems,
                                          size_t count);
__attribute__((noinline)) bool create_all(cl_context context, size_t bytes, cl_mem *mems,
                                          size_t count) {
  cl_int error = CL_SUCCESS;
  for (size_t i = 0; i < count && !error; i++)
    mems[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  return !error;
}

__attribute__((noinline)) void release_all(cl_mem *mems, size_t count);
__attribute__((noinline)) void release_all(cl_mem *mems, size_t count) {
  for (size_t i = 0; i < count && mems[i]; i++)
    clReleaseMemObject(mems[i]);
}

static bool measure(cl_context context, size_t bytes, size_t count, bool shuffled,
                    struct times *best) {
  cl_mem *mems = calloc(count, sizeof *mems);
  if (!mems)
    return false;
  double start = now_ns();
  const bool good = create_all(context, bytes, mems, count);
  const double create = (now_ns() - start) / (double)count;
  if (good && shuffled)
    shuffle(mems, count);
  start = now_ns();
  release_all(mems, count);
  const double release = (now_ns() - start) / (double)count;
  free(mems);
  if (!best->create || create + release < best->create + best->release)
    *best = (struct times){create, release};
  return good;
}

int main(int words, char **word) {
  static const size_t usual[] = {1000, 10000, 100000, 1000000};
  const char *platforms[PLATFORMS] = {"tegracl"};
  size_t counts[COUNTS], bytes = 4096, count = 0, named = 0, rounds = 3;
  bool shuffled = false;
  int option;
  while ((option = getopt(words, word, "b:r:sp:")) != -1)
    if (option == 'b')
      bytes = strtoul(optarg, NULL, 0);
    else if (option == 'r')
      rounds = strtoul(optarg, NULL, 0);
    else if (option == 's')
      shuffled = true;
    else if (option == 'p' && named < PLATFORMS)
      platforms[named++] = optarg;
    else
      return 2;
  for (; optind < words && count < COUNTS; optind++)
    counts[count++] = strtoul(word[optind], NULL, 0);
  if (!count)
    for (; count < sizeof usual / sizeof usual[0]; count++)
      counts[count] = usual[count];
  named += !named;
  cl_context contexts[PLATFORMS];
  for (size_t p = 0; p < named; p++)
    if (!find_context(platforms[p], &contexts[p])) {
      fprintf(stderr, "objects: no platform whose name contains '%s'\n", platforms[p]);
      return 1;
    }
  int failures = 0;
  for (size_t c = 0; c < count; c++) {
    struct times best[PLATFORMS] = {{0}};
    bool good[PLATFORMS] = {false};
    for (size_t round = 0; round < rounds; round++)
      for (size_t p = 0; p < named; p++)
        good[p] = measure(contexts[p], bytes, counts[c], shuffled, &best[p]);
    for (size_t p = 0; p < named; p++) {
      printf("%zu %s: ", counts[c], platforms[p]);
      if (good[p])
        printf("create %.0f, release %.0f\n", best[p].create, best[p].release);
      else
        printf("failed\n");
      failures += !good[p];
    }
    fflush(stdout);
  }
  for (size_t p = 0; p < named; p++)
    clReleaseContext(contexts[p]);
  return failures != 0;
}
