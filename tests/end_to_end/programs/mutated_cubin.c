/* CUBINs with flipped bits, in program binaries with a valid checksum, from the loader to the end
 * of their kernels. Each is refused, fails or runs. The process and the device continue to work.
 *
 *   mutated_cubin TEGRACLC SOURCE.cl [count [seed]]
 *
 * Kernels may run forever: TEGRACL_EMULATOR=check:watchdog=N ends them.
 */
#include "tests/end_to_end/programs/container.h"
#include "tests/end_to_end/programs/mutate.h"
#include "tests/end_to_end/programs/offline.h"

enum { DEFAULT_COUNT = 150, BUFFER_BYTES = 65536 };

static void try_input(struct opencl *opencl, const unsigned char *binary, size_t size) {
  cl_int error, status;
  cl_program program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size,
                                                 &binary, &status, &error);
  if (!program) {
    CHECK(error == CL_INVALID_BINARY || error == CL_INVALID_VALUE);
    counts.refused++;
    return;
  }
  try_program(opencl, program, BUFFER_BYTES);
}

int main(int argc, char **argv) {
  CHECK(argc >= 3);
  size_t size;
  unsigned char *binary = offline_compile(argv[1], "bin", argv[2], &size);
  const size_t cubin = container_word(binary, CUBIN_OFFSET_AT);
  const long count = argc > 3 ? atol(argv[3]) : DEFAULT_COUNT;
  if (argc > 4)
    seed_random(argv[4]);
  struct opencl opencl;
  opencl_open(&opencl);
  unsigned char *input = malloc(size);
  CHECK(input);
  for (long n = 0; n < count; n++) {
    begin_input(n);
    memcpy(input, binary, cubin);
    const size_t bytes = cubin + mutate(input + cubin, binary + cubin, size - cubin);
    container_seal(input, bytes);
    /* A separate copy, so that a sanitizer detects reads beyond its end. */
    unsigned char *exact = malloc(bytes);
    CHECK(exact);
    memcpy(exact, input, bytes);
    try_input(&opencl, exact, bytes);
    free(exact);
  }
  printf("%ld inputs: %u refused, %u not built; kernels: %u failed, %u ran\n", count,
         counts.refused, counts.not_built, counts.failed, counts.ran);
  CHECK(counts.refused && counts.failed && counts.ran);
  free(input);
  free(binary);
  opencl_close(&opencl);
  return 0;
}
