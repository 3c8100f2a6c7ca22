/* A runtime in host memory, in which every queue is a thread that does its work in order. It tests
 * the OpenCL layer's ordering, object lifetimes and error paths alone, on a GPU that a test can
 * slow down or break. It aborts if its caller breaks a rule of runtime/runtime.h.
 */
#ifndef TEGRACL_FAKE_RUNTIME_H
#define TEGRACL_FAKE_RUNTIME_H

#include "runtime/runtime.h"

/* fake_pause keeps the GPU from starting new work, and fake_hold from ending work. fake_resume and
 * fake_let_end let it continue. */
void fake_pause(void);
void fake_resume(void);
void fake_hold(void);
void fake_let_end(void);

/* Lets the next `skip` calls that create an object succeed, and fails the `n` after them with
 * -ENOMEM. */
void fake_fail_after(int skip, int n);

/* Limits the number of buffers. 0 means no limit. */
void fake_memory(int buffers);

/* Returns the number of contexts, queues, buffers, modules and times that have not been
 * destroyed. */
int fake_live(void);

/* Number of calls of rt_queue_completed. */
extern _Atomic int fake_looks;

/* The most recent launch. */
struct fake_launch {
  uint32_t grid[3], block[3], dynamic_shared_bytes;
};
extern struct fake_launch fake_last_launch;

/* The kernels of modules from the fake compiler. See fake_compiler.c. */
typedef bool (*fake_kernel)(const unsigned char *params, const struct rt_launch *launch);
fake_kernel fake_find_kernel(const char *name);

/* A source with "#units" is accepted at once, with the kernels "add" in one unit and "missing" in
 * another, which lacks it. Both are built when fake_finish_units has been called.
 * fake_wait_for_caller: until a thread waits for a unit. */
void fake_wait_for_caller(void);
void fake_finish_units(void);
bool fake_was_cancelled(void); /* the last build in units */
/* Returns the directory of the last build, or NULL if none was given. The caller frees it. */
char *fake_take_folder(void);

/* What cc_il_available returns; false by default. */
extern bool fake_il;

#endif
