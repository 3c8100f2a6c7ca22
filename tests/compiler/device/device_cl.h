/* Shared by the numeric tests of the device library: an OpenCL device from the loader, building
 * a program, launching a kernel on arrays, and counting failures. */
#ifndef TEGRACL_TESTS_DEVICE_CL_H
#define TEGRACL_TESTS_DEVICE_CL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_cl {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
};

/* A kernel argument: a buffer that is initialised with data and,
 * if read is set, read back into it. */
struct device_array {
  void *data;
  size_t size;
  bool read;
};

/* Opens the first device of the first platform. If there is none,
 * prints a message and returns false. */
bool device_cl_open(struct device_cl *cl);
void device_cl_close(struct device_cl *cl);

/* Whether programs are made from SPIR-V, which has no inline PTX. Depends on
 * MAKE_SPIRV, the command line of tests/make_spirv. */
bool device_is_module(void);

/* Returns NULL, after printing the build log, on failure. */
cl_program device_cl_build(struct device_cl *cl, const char *source);
cl_program device_cl_build_with(struct device_cl *cl, const char *source, const char *options);

/* Runs the kernel with the given number of work-items in work-groups of
 * group (0: chosen by the driver), and waits for it. */
bool device_cl_run(struct device_cl *cl, cl_program program, const char *kernel, size_t items,
                   size_t group, const struct device_array *arrays, size_t array_count);

/* A growing text for generated programs. */
struct device_text {
  char *data;
  size_t size;
};
void device_text_add(struct device_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return the value of the bits of a half, and the bits of a value after rounding to a half in a
 * mode of fenv.h. Both support NaN. */
long double device_half_value(unsigned bits);
unsigned device_half_bits(long double x, int rounding);
/* Rounds to an integer in a mode of fenv.h. */
long double device_round(long double x, int rounding);

/* xorshift64*, with the same sequence on every machine. */
uint64_t device_random(void);

#endif
