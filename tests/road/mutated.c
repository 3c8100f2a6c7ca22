/* CUBINs with bits turned over, from the loader to the end of their kernels: each
 * is refused, or fails, or runs; the process goes on, and so does the device.
 *
 *   mutated TEGRACLC SOURCE.cl [count [seed]]
 *
 * Kernels may run for ever: TEGRACL_EMULATOR=check:watchdog=N ends them.
 */
#include "tests/road/offline.h"

#include <stdbool.h>
#include <stdint.h>

enum { DEFAULT_COUNT = 150, KERNELS = 8, GLOBAL = 64 };

static uint64_t state = 88172645463325252ull;
static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* What became of the inputs. */
static struct { unsigned refused, not_built, failed, ran; } counts;

/* Bits anywhere, a byte, or the end. */
static size_t mutate(unsigned char *to, const unsigned char *from, size_t size) {
  memcpy(to, from, size);
  switch (random64() % 8) {
  case 0:
    return (size_t)(random64() % size);
  case 1:
    to[random64() % size] = (unsigned char)random64();
    return size;
  default:
    for (uint64_t flips = 1 + random64() % 8; flips; flips--)
      to[random64() % size] ^= (unsigned char)(1u << random64() % 8);
    return size;
  }
}

/* Small numbers, whatever the arguments' sizes are. */
static void set_arguments(cl_kernel kernel) {
  enum { LARGEST = 256 };
  cl_uint count = 0;
  clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
  for (cl_uint k = 0; k < count; k++) {
    uint64_t value[LARGEST / sizeof(uint64_t)] = {random64() % 4096};
    for (size_t bytes = 1; bytes <= LARGEST; bytes++)
      if (clSetKernelArg(kernel, k, bytes, value) == CL_SUCCESS)
        break;
  }
}

/* False when the context is dead. */
static bool run(const struct road *road, cl_kernel kernel) {
  const size_t global = GLOBAL, local = random64() % 2 ? GLOBAL : GLOBAL / 2;
  set_arguments(kernel);
  const bool enqueued = clEnqueueNDRangeKernel(road->queue, kernel, 1, NULL, &global, &local, 0,
                                               NULL, NULL) == CL_SUCCESS;
  const bool finished = clFinish(road->queue) == CL_SUCCESS;
  if (enqueued && finished)
    counts.ran++;
  else
    counts.failed++;
  return finished;
}

static void try_input(struct road *road, const unsigned char *binary, size_t size) {
  cl_int error, status;
  cl_program program =
      clCreateProgramWithBinary(road->context, 1, &road->device, &size, &binary, &status, &error);
  if (!program) {
    CHECK(error == CL_INVALID_BINARY || error == CL_INVALID_VALUE);
    counts.refused++;
    return;
  }
  cl_kernel kernels[KERNELS];
  cl_uint count = 0;
  if (clBuildProgram(program, 1, &road->device, "", NULL, NULL) != CL_SUCCESS ||
      clCreateKernelsInProgram(program, KERNELS, kernels, &count) != CL_SUCCESS) {
    counts.not_built++;
    count = 0;
  }
  bool alive = true;
  for (cl_uint k = 0; k < count; k++) {
    if (alive)
      alive = run(road, kernels[k]);
    CHECK_CL(clReleaseKernel(kernels[k]), CL_SUCCESS);
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  if (!alive) {
    road_close(road);
    road_open(road);
  }
}

int main(int argc, char **argv) {
  CHECK(argc >= 3);
  size_t size;
  unsigned char *cubin = offline_compile(argv[1], "cubin", argv[2], &size);
  const long count = argc > 3 ? atol(argv[3]) : DEFAULT_COUNT;
  if (argc > 4)
    state ^= strtoull(argv[4], NULL, 0) * 0x9e3779b97f4a7c15ull;
  struct road road;
  road_open(&road);
  unsigned char *input = malloc(size);
  CHECK(input);
  for (long n = 0; n < count; n++) {
    const size_t bytes = mutate(input, cubin, size);
    /* A copy of its own, so that a sanitizer sees its end. */
    unsigned char *exact = malloc(bytes ? bytes : 1);
    CHECK(exact);
    memcpy(exact, input, bytes);
    try_input(&road, exact, bytes);
    free(exact);
  }
  printf("%ld inputs: %u refused, %u not built; kernels: %u failed, %u ran\n", count,
         counts.refused, counts.not_built, counts.failed, counts.ran);
  CHECK(counts.refused && counts.failed && counts.ran);
  free(input);
  free(cubin);
  road_close(&road);
  return 0;
}
