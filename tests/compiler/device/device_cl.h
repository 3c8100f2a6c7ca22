/* What the device library's numeric tests share: an OpenCL device from the
 * loader, a program, one launch over arrays, and the counting of failures. */
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

/* One kernel argument: a buffer filled from data and, if read is set, read back
 * into it. */
struct device_array {
  void *data;
  size_t size;
  bool read;
};

/* The first device of the first platform. False, with a message, if there is
 * none. */
bool device_cl_open(struct device_cl *cl);
void device_cl_close(struct device_cl *cl);

/* Whether programs are made from SPIR-V, which has no inline PTX: MAKE_SPIRV is set, to
 * tests/make_spirv with what it runs. */
bool device_is_module(void);

/* NULL, with the build log printed, on failure. */
cl_program device_cl_build(struct device_cl *cl, const char *source);
cl_program device_cl_build_with(struct device_cl *cl, const char *source, const char *options);

/* Runs the kernel over so many work-items, in work-groups of group (0: the
 * driver chooses), and waits. */
bool device_cl_run(struct device_cl *cl, cl_program program, const char *kernel, size_t items,
                   size_t group, const struct device_array *arrays, size_t array_count);

/* Text that grows; the pieces of a generated program. */
struct device_text {
  char *data;
  size_t size;
};
void device_text_add(struct device_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Halfs: the value of the bits, and the bits of a value rounded in a mode of fenv.h;
 * NaN is one of them. */
long double device_half_value(unsigned bits);
unsigned device_half_bits(long double x, int rounding);
/* To an integer in a mode of fenv.h. */
long double device_round(long double x, int rounding);

/* xorshift64*: the same numbers on every machine. */
uint64_t device_random(void);

#endif
