/* A runtime in host memory: every queue is a thread that does its work in order.
 * With it the OpenCL layer's ordering, lifetimes and error paths are tested alone, on a GPU
 * that a test can slow down or break. It aborts when its user breaks a rule of
 * runtime/runtime.h.
 */
#ifndef TEGRACL_FAKE_RUNTIME_H
#define TEGRACL_FAKE_RUNTIME_H

#include "runtime/runtime.h"

/* The GPU begins no new work between these two. */
void fake_pause(void);
void fake_resume(void);

/* Of the calls that create something, `skip` pass and `n` after them fail with
 * -ENOMEM. */
void fake_fail_after(int skip, int n);

/* The most buffers that there is memory for; 0: any number. */
void fake_memory(int buffers);

/* Things created and not destroyed: contexts, queues, buffers, modules, times. */
int fake_live(void);

/* Calls of rt_queue_completed. */
extern _Atomic int fake_looks;

/* The last launch that ran. */
struct fake_launch {
  uint32_t grid[3], block[3], dynamic_shared_bytes;
};
extern struct fake_launch fake_last_launch;

/* Kernels that the fake compiler's modules have; see fake_compiler.c. */
typedef bool (*fake_kernel)(const unsigned char *params, const struct rt_launch *launch);
fake_kernel fake_find_kernel(const char *name);

#endif
