/* Randomly damaged inputs for the driver, and counts of the outcomes. Kernels from such an input
 * run with a buffer or small numbers as arguments. */
#ifndef TEGRACL_TEST_MUTATE_H
#define TEGRACL_TEST_MUTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/end_to_end/opencl.h"

enum { KERNELS = 8, GLOBAL = 64 };

static uint64_t seed = 88172645463325252ull, state;
static inline uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static inline void seed_random(const char *text) {
  seed ^= strtoull(text, NULL, 0) * 0x9e3779b97f4a7c15ull;
}

/* Restarts the random numbers for each input, so that they do not depend on earlier inputs. */
static inline void begin_input(long number) {
  enum { ROUNDS = 8 };
  state = (seed ^ (uint64_t)(number + 1) * 0x9e3779b97f4a7c15ull) | 1;
  for (int i = 0; i < ROUNDS; i++)
    random64();
}

static const char *build_options = "";

/* The outcomes of the inputs. */
static struct { unsigned refused, not_built, failed, ran; } counts;

/* Truncates, replaces a byte, or flips bits. */
static inline size_t mutate(unsigned char *to, const unsigned char *from, size_t size) {
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

/* Sets an argument to the buffer, a size of local memory or a small number, as it requires.
 * Without a buffer no argument accepts handles, and all get numbers. */
static inline void set_arguments(cl_kernel kernel, cl_mem buffer) {
  enum { LARGEST = 256, LOCAL_BYTES = 256 };
  cl_uint count = 0;
  clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
  for (cl_uint k = 0; k < count; k++) {
    uint64_t value[LARGEST / sizeof(uint64_t)] = {random64() % 4096};
    if (buffer && (clSetKernelArg(kernel, k, sizeof buffer, &buffer) == CL_SUCCESS ||
                   clSetKernelArg(kernel, k, LOCAL_BYTES, NULL) == CL_SUCCESS))
      continue;
    for (size_t bytes = 1; bytes <= LARGEST; bytes++)
      if ((!buffer || bytes != sizeof buffer) &&
          clSetKernelArg(kernel, k, bytes, value) == CL_SUCCESS)
        break;
  }
}

/* Returns false if the context is unusable. */
static inline bool run(const struct opencl *opencl, cl_kernel kernel, cl_mem buffer) {
  const size_t global = GLOBAL, local = random64() % 2 ? GLOBAL : GLOBAL / 2;
  set_arguments(kernel, buffer);
  const bool enqueued = clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0,
                                               NULL, NULL) == CL_SUCCESS;
  const bool finished = clFinish(opencl->queue) == CL_SUCCESS;
  if (enqueued && finished)
    counts.ran++;
  else
    counts.failed++;
  return finished;
}

/* Builds the program, runs its kernels and releases it. Kernels get a buffer of buffer_bytes, or
 * none if that is 0. A context that a kernel has made unusable is replaced. */
static inline void try_program(struct opencl *opencl, cl_program program, size_t buffer_bytes) {
  cl_kernel kernels[KERNELS];
  cl_uint count = 0;
  if (clBuildProgram(program, 1, &opencl->device, build_options, NULL, NULL) != CL_SUCCESS ||
      clCreateKernelsInProgram(program, KERNELS, kernels, &count) != CL_SUCCESS) {
    counts.not_built++;
    count = 0;
  }
  bool alive = true;
  cl_mem buffer =
      buffer_bytes ? clCreateBuffer(opencl->context, 0, buffer_bytes, NULL, NULL) : NULL;
  for (cl_uint k = 0; k < count; k++) {
    if (alive)
      alive = run(opencl, kernels[k], buffer);
    CHECK_CL(clReleaseKernel(kernels[k]), CL_SUCCESS);
  }
  if (buffer)
    CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  if (!alive) {
    opencl_close(opencl);
    opencl_open(opencl);
  }
}

#endif
