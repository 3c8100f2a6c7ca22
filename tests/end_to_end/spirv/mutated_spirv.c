/* SPIR-V modules with flipped bits, from the loader to the end of their kernels. Each is refused,
 * fails or runs. The process and the device continue to work.
 *
 *   mutated_spirv MODULE count [seed]
 *
 * Kernels may run forever: TEGRACL_EMULATOR=check:watchdog=N ends them.
 */
#include "tests/end_to_end/programs/mutate.h"
#include "tests/end_to_end/spirv/spirv.h"

enum { BUFFER_BYTES = 65536 };

static void try_module(struct opencl *opencl, const void *il, size_t size) {
  cl_int error;
  cl_program program = clCreateProgramWithIL(opencl->context, il, size, &error);
  if (!program) {
    CHECK_CL(error, CL_INVALID_VALUE);
    counts.refused++;
    return;
  }
  const uint64_t value = random64();
  for (cl_uint id = 0; id < 20; id++)
    clSetProgramSpecializationConstant(program, id, (size_t)1 << random64() % 4, &value);
  try_program(opencl, program, BUFFER_BYTES);
}

int main(int argc, char **argv) {
  CHECK(argc >= 3);
  struct module module = module_read(argv[1]);
  const long count = atol(argv[2]);
  if (argc > 3)
    seed_random(argv[3]);
  struct opencl opencl;
  opencl_open(&opencl);
  unsigned char *input = malloc(module.size);
  CHECK(input);
  begin_input(-1);
  try_module(&opencl, module.words, module.size);
  for (long n = 0; n < count; n++) {
    begin_input(n);
    const size_t bytes = mutate(input, (const unsigned char *)module.words, module.size);
    /* A separate copy, so that a sanitizer detects reads beyond its end. */
    unsigned char *exact = malloc(bytes ? bytes : 1);
    CHECK(exact);
    memcpy(exact, input, bytes);
    try_module(&opencl, exact, bytes);
    free(exact);
  }
  printf("%ld inputs: %u refused, %u not built; kernels: %u failed, %u ran\n", count,
         counts.refused, counts.not_built, counts.failed, counts.ran);
  CHECK(counts.refused && counts.not_built && counts.failed + counts.ran);
  free(input);
  free(module.words);
  opencl_close(&opencl);
  return 0;
}
