/* Fixture of every test of the OpenCL layer: a context, a queue and a program from the fake
 * compiler. The teardown checks that no objects are left.
 */
#ifndef TEGRACL_TEST_FIXTURE_H
#define TEGRACL_TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "icd/objects.h"
#include "tests/icd/fakes/fake_runtime.h"

struct fixture {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
};

/* Creates the fixture, for cmocka_unit_test_setup_teardown. */
int fixture_setup(void **state);
/* Creates the context with these properties and this notify callback. */
int fixture_setup_with(void **state, const cl_context_properties *properties,
                       icd_context_notify notify);
int fixture_teardown(void **state);

cl_command_queue fixture_queue(struct fixture *fixture, cl_command_queue_properties flags);
cl_kernel fixture_kernel(struct fixture *fixture, const char *name);
cl_mem fixture_buffer(struct fixture *fixture, size_t size);

/* Returns a kernel "add" or "slow_add" with its arguments set: out[i] = in[i] + n. */
cl_kernel fixture_add(struct fixture *fixture, const char *name, cl_mem in, cl_mem out, int n);

/* Sleeps for 3 ms. */
static inline void nap(void) {
  nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

/* Waits up to a minute or more until another thread has made the condition true. */
#define AWAIT(condition)                                                                           \
  do                                                                                               \
    for (int naps = 0; naps < 20000 && !(condition); naps++)                                       \
      nap();                                                                                       \
  while (0)

/* Return the current status of an event, and how often a memory object is mapped. */
cl_int fixture_status(cl_event event);
cl_uint fixture_map_count(cl_mem mem);

#define assert_cl(code) assert_int_equal((code), CL_SUCCESS)

#endif
