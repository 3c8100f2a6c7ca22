/* CL_MEM_USE_HOST_PTR and clImportMemoryARM: kernels work in the application's own pages.
 *   host_pages same        without a map, a read or a write
 *   host_pages copied      memory that the GPU cannot use is copied, and the driver says why
 *   host_pages threads     other threads use the same pages meanwhile
 *   host_pages fork        parent and child have the memory that fork promises
 *   host_pages forks       other threads fork while kernels run
 *   host_pages import      fork, with clImportMemoryARM
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "icd/cl_tegracl.h"
#include "tests/end_to_end/opencl.h"

enum { PAGE = 4096, INTS = 3 * PAGE / sizeof(int) };

static const char source[] =
    "kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }\n";

static struct opencl opencl;
static cl_kernel add;

static int *pages(size_t bytes, int flags) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static cl_mem buffer_at(void *p, size_t bytes) {
  cl_int error;
  cl_mem mem = clCreateBuffer(opencl.context, CL_MEM_USE_HOST_PTR, bytes, p, &error);
  CHECK_CL(error, CL_SUCCESS);
  return mem;
}

static void launch(cl_mem mem, int n, size_t items) {
  CHECK_CL(clSetKernelArg(add, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(add, 1, sizeof n, &n), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, add, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
}

static void run(cl_mem mem, int n, size_t items) {
  launch(mem, n, items);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
}

static void fill(int *p, size_t count, int start) {
  for (size_t i = 0; i < count; i++)
    p[i] = start + (int)i;
}

static bool is_filled(const int *p, size_t count, int start) {
  for (size_t i = 0; i < count; i++)
    if (((const volatile int *)p)[i] != start + (int)i)
      return false;
  return true;
}

/* ---- same ------------------------------------------------------------------------------ */

static void same(void) {
  enum { PART = 64 / sizeof(int) };
  int *p = pages(INTS * sizeof *p, MAP_PRIVATE);
  cl_int error;
  fill(p, INTS, 0);
  cl_mem mem = buffer_at(p, INTS * sizeof *p);
  run(mem, 1000, INTS);
  CHECK(is_filled(p, INTS, 1000));
  fill(p, INTS, 5);
  run(mem, 10, INTS);
  CHECK(is_filled(p, INTS, 15));

  /* All other accesses use the same bytes. */
  int *mapped = clEnqueueMapBuffer(opencl.queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                   INTS * sizeof *p, 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK(mapped == p);
  fill(p, INTS, 20);
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, mem, mapped, 0, NULL, NULL), CL_SUCCESS);
  const cl_buffer_region region = {PAGE, PAGE};
  cl_mem part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  CHECK_CL(error, CL_SUCCESS);
  run(part, 1, PAGE / sizeof *p);
  CHECK(is_filled(p, PAGE / sizeof *p, 20));
  CHECK(is_filled(p + PAGE / sizeof *p, PAGE / sizeof *p, 21 + PAGE / sizeof *p));
  int copy[INTS];
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, mem, CL_TRUE, 0, sizeof copy, copy, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK(!memcmp(copy, p, sizeof copy));
  CHECK_CL(clReleaseMemObject(part), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);

  /* After the release the memory belongs to the application again. Part of a page works too. */
  fill(p, INTS, 7);
  mem = buffer_at(p, PART * sizeof *p);
  run(mem, 1, PART);
  CHECK(is_filled(p, PART, 8) && is_filled(p + PART, INTS - PART, 7 + PART));
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK(!munmap(p, INTS * sizeof *p));
}

/* ---- copied ---------------------------------------------------------------------------- */

static const struct {
  const char *why; /* expected in the message of TEGRACL_DEBUG=api */
  int offset, bytes;
  int flags;
  bool two; /* half of it is in another mapping */
} copied_rows[] = {
    {"to avoid the copy", 64, PAGE, MAP_PRIVATE, false},
    {"to avoid the copy", 0, PAGE - 4, MAP_PRIVATE, false},
    {"FROM_VA", 0, 2 * PAGE, MAP_SHARED, false},
    {"FROM_VA", 0, 2 * PAGE, MAP_PRIVATE, true},
};

/* Redirects stderr to a pipe during the call. */
static void copied(void) {
  char said[1 << 14];
  int ends[2];
  CHECK(!pipe2(ends, O_NONBLOCK)); /* do not wait if the message is missing */
  const int errors = dup(2), file = memfd_create("half", 0);
  CHECK(errors >= 0 && file >= 0 && !ftruncate(file, PAGE));
  for (size_t i = 0; i < sizeof copied_rows / sizeof *copied_rows; i++) {
    const int flags = copied_rows[i].flags, bytes = copied_rows[i].bytes;
    const size_t count = (size_t)bytes / sizeof(int);
    int *p = pages(3 * PAGE, flags), *at = p + copied_rows[i].offset / (int)sizeof *p;
    cl_int error;
    if (copied_rows[i].two)
      CHECK(mmap((char *)p + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file,
                 0) != MAP_FAILED);
    fill(at, count, 0);
    CHECK(dup2(ends[1], 2) == 2);
    cl_mem mem = buffer_at(at, (size_t)bytes);
    CHECK(dup2(errors, 2) == 2);
    const ssize_t length = read(ends[0], said, sizeof said - 1);
    CHECK(length > 0);
    said[length] = 0;
    CHECK(strstr(said, "clCreateBuffer") && strstr(said, "is copied"));
    CHECK(strstr(said, copied_rows[i].why));
    run(mem, 100, count);
    int *mapped = clEnqueueMapBuffer(opencl.queue, mem, CL_TRUE, CL_MAP_READ, 0, (size_t)bytes, 0,
                                     NULL, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK(mapped == at && is_filled(at, count, 100));
    CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, mem, mapped, 0, NULL, NULL), CL_SUCCESS);
    CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
    CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
    CHECK(!munmap(p, 3 * PAGE));
  }
  CHECK(!close(ends[0]) && !close(ends[1]) && !close(errors) && !close(file));
}

/* ---- other threads --------------------------------------------------------------------- */

struct other_thread {
  volatile uint64_t count;
  atomic_bool stop;
};

static void *count_up(void *data) {
  struct other_thread *n = data;
  uint64_t count = 0;
  while (!atomic_load(&n->stop))
    n->count = ++count;
  return (void *)(uintptr_t)count;
}

static void with_threads(void) {
  enum { TIMES = 500, PART = 64 / sizeof(int) };
  int *p = pages(PAGE, MAP_PRIVATE);
  struct other_thread *n = (struct other_thread *)(void *)(p + 2 * PART);
  pthread_t thread;
  void *count;
  CHECK(!pthread_create(&thread, NULL, count_up, n));
  for (int i = 0; i < TIMES; i++) {
    cl_mem mem = buffer_at(p, PART * sizeof *p);
    fill(p, PART, i);
    run(mem, 1, PART);
    CHECK(is_filled(p, PART, i + 1));
    CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  }
  atomic_store(&n->stop, true);
  CHECK(!pthread_join(thread, &count));
  CHECK(n->count == (uintptr_t)count);
  CHECK(!munmap(p, PAGE));
}

/* ---- fork ------------------------------------------------------------------------------ */

static cl_mem import(int *p, size_t bytes) {
  cl_int error;
  cl_mem (*function)(cl_context, cl_mem_flags, const cl_import_properties_arm *, void *, size_t,
                     cl_int *) =
      (cl_mem(*)(cl_context, cl_mem_flags, const cl_import_properties_arm *, void *, size_t,
                 cl_int *))clGetExtensionFunctionAddressForPlatform(opencl.platform,
                                                                    "clImportMemoryARM");
  CHECK(function);
  cl_mem mem = function(opencl.context, CL_MEM_READ_WRITE, NULL, p, bytes, &error);
  CHECK_CL(error, CL_SUCCESS);
  return mem;
}

/* The child has the memory as it was at the fork, with the results of a kernel that was still
 * running. In the parent, stores of the host and the GPU still go to the same memory. Done
 * twice. */
static void forked(bool imported) {
  int *p = pages(INTS * sizeof *p, MAP_PRIVATE);
  fill(p, INTS, 0);
  /* An address that is free at the fork and lower than the one in use. */
  int *q = pages(INTS * sizeof *q, MAP_PRIVATE);
  cl_mem gone = buffer_at(q, INTS * sizeof *q);
  cl_mem mem = imported ? import(p, INTS * sizeof *p) : buffer_at(p, INTS * sizeof *p);
  CHECK_CL(clReleaseMemObject(gone), CL_SUCCESS);
  CHECK(!munmap(q, INTS * sizeof *q));
  for (int round = 0; round < 2; round++) {
    int ends[2], status;
    char byte = 0;
    CHECK(!pipe(ends));
    fill(p, INTS, 100);
    launch(mem, 10, INTS);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
      close(ends[1]);
      const bool before = is_filled(p, INTS, 110);
      const ssize_t length = read(ends[0], &byte, 1);
      const bool after = is_filled(p, INTS, 110);
      p[0] = -1; /* in the child's copy */
      _exit(before && after && length == 1 ? 0 : 1);
    }
    CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
    CHECK(is_filled(p, INTS, 110));
    fill(p, INTS, 1000);
    run(mem, 1, INTS);
    CHECK(is_filled(p, INTS, 1001));
    CHECK(write(ends[1], &byte, 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
    run(mem, 1, INTS);
    CHECK(is_filled(p, INTS, 1002));
    CHECK(!close(ends[0]) && !close(ends[1]));
  }
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK(!munmap(p, INTS * sizeof *p));
}

/* ---- forks by another thread -------------------------------------------------------- */

static void *fork_often(void *data) {
  atomic_bool *stop = data;
  uintptr_t forks = 0;
  while (!atomic_load(stop)) {
    int status;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
      _exit(0);
    CHECK(waitpid(child, &status, 0) == child);
    forks++;
  }
  return (void *)forks;
}

static void forks(void) {
  enum { TIMES = 200 };
  int *p = pages(INTS * sizeof *p, MAP_PRIVATE);
  atomic_bool stop = false;
  pthread_t thread;
  void *count;
  fill(p, INTS, 0);
  cl_mem mem = buffer_at(p, INTS * sizeof *p);
  CHECK(!pthread_create(&thread, NULL, fork_often, &stop));
  for (int i = 1; i <= TIMES; i++) {
    launch(mem, 1, INTS);
    launch(mem, 1, INTS);
    run(mem, -1, INTS);
    CHECK(is_filled(p, INTS, i));
    cl_mem other = buffer_at(p, PAGE);
    CHECK_CL(clReleaseMemObject(other), CL_SUCCESS);
  }
  atomic_store(&stop, true);
  CHECK(!pthread_join(thread, &count));
  CHECK(count);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK(!munmap(p, INTS * sizeof *p));
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  if (!strcmp(argv[1], "copied"))
    setenv("TEGRACL_DEBUG", "api", 1);
  opencl_open(&opencl);
  add = opencl_kernel(&opencl, source, "add");
  if (!strcmp(argv[1], "same"))
    same();
  else if (!strcmp(argv[1], "copied"))
    copied();
  else if (!strcmp(argv[1], "threads"))
    with_threads();
  else if (!strcmp(argv[1], "fork"))
    forked(false);
  else if (!strcmp(argv[1], "import"))
    forked(true);
  else if (!strcmp(argv[1], "forks"))
    forks();
  else
    return 2;
  CHECK_CL(clReleaseKernel(add), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
