/* The lifecycle of a context: it is created, used by all calls that reach the kernel driver, and
 * released. For programs that use failing_os.c.
 */
#ifndef TEGRACL_TEST_LIFECYCLE_H
#define TEGRACL_TEST_LIFECYCLE_H

#include <stdbool.h>

#include "tests/end_to_end/opencl.h"

enum lifecycle_step {
  DEVICE,
  CONTEXT,
  QUEUE,
  BUFFER,
  PROGRAM,
  BUILD,
  KERNEL,
  LAUNCH,
  WAIT,
  TIMES,
  READ,
  FINISH
};

enum { LIFECYCLE_ITEMS = 64, LIFECYCLE_KERNELS = 3 };

struct lifecycle {
  cl_context context;
  cl_command_queue queue;
  cl_mem buffer;
  cl_program program;
  cl_kernel kernels[LIFECYCLE_KERNELS];
  cl_event gate, events[LIFECYCLE_KERNELS];
  enum lifecycle_step step; /* the last one */
};

/* Set by the program. */
extern cl_platform_id lifecycle_platform;
extern cl_device_id lifecycle_device;

/* A kernel of the program that faults. */
extern const char lifecycle_faulty[];

/* Builds the program that all lifecycles use; lifecycle_free_program frees it. */
void lifecycle_compile(void);
void lifecycle_free_program(void);
bool lifecycle_is_compiled(void);

/* Runs the steps until the first error and returns its code. */
cl_int lifecycle_run(struct lifecycle *lifecycle);
cl_int lifecycle_launch(struct lifecycle *lifecycle, unsigned kernel, cl_event gate,
                        cl_event *event);
/* Releases the objects that exist. */
void lifecycle_release(struct lifecycle *lifecycle);

/* Checks a complete lifecycle in which no call is refused. */
void lifecycle_check(void);

#endif
