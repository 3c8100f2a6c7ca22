/* Creates buffers until memory is exhausted, on a board with little memory (TEGRACL_EMULATOR). The
 * driver must report this with sizes before Linux would kill the process. After some buffers are
 * released, others can be created.
 */
#include "tests/end_to_end/opencl.h"

enum { MIB = 1 << 20, BUFFERS = 4096 };

static cl_mem buffers[BUFFERS];
static char told[1024];

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *user) {
  snprintf(told, sizeof told, "%s", text);
}

/* Creates buffers until the memory is full. Returns their number. */
static unsigned fill(cl_context context, size_t size) {
  cl_int error = CL_SUCCESS;
  unsigned n = 0;
  for (; n < BUFFERS; n++) {
    buffers[n] = clCreateBuffer(context, 0, size, NULL, &error);
    if (error)
      break;
  }
  CHECK_CL(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  return n;
}

static void release(unsigned count) {
  while (count)
    CHECK_CL(clReleaseMemObject(buffers[--count]), CL_SUCCESS);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const cl_ulong memory = strtoull(argv[1], NULL, 0) * MIB; /* of the board */
  cl_ulong global, most;
  struct opencl opencl;
  opencl_open_with_notify(&opencl, tell);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global, &global, NULL),
           CL_SUCCESS);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL),
           CL_SUCCESS);
  CHECK(global == memory / 2);
  CHECK(most == memory / 4);
  /* The largest size that the queries allow. */
  unsigned count = fill(opencl.context, most);
  CHECK(count * most >= global && count * most < memory);
  CHECK(strstr(told, "MiB of memory: "));
  CHECK(strstr(told, "MiB are free (nvmap's heap; MemAvailable), of which "));
  release(count);
  for (unsigned round = 0; round < 2; round++) {
    count = fill(opencl.context, MIB); /* too small to be checked one by one */
    CHECK(count * (cl_ulong)MIB >= global && count * (cl_ulong)MIB < memory);
    release(count);
  }
  opencl_close(&opencl);
  return 0;
}
