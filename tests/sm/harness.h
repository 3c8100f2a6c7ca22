/* Runs CUDA C on the interpreter: NVRTC (loaded at run time) compiles it for SM
 * 8.7, a small ELF reader places the code, grids run through sm.h.
 */
#ifndef TEGRACL_TESTS_SM_HARNESS_H
#define TEGRACL_TESTS_SM_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/sm/sm.h"

/* meson's exit code for a test that cannot run here. */
#define HARNESS_SKIP 77

/* False, with a line on stderr, where there is no NVRTC. The folder that
 * TEGRACL_TEST_CUBINS names keeps what was compiled; later runs, and those under an
 * emulated processor, take it from there and need no NVRTC. */
bool harness_available(void);

struct module;
/* Compiles; prints the log and returns NULL if that fails. options is a list
 * ended by NULL, or NULL. */
struct module *module_compile(const char *source, const char *const *options);
void module_free(struct module *m);
/* Drops what was decoded: after a change of sm_core_override. */
void module_forget_code(struct module *m);
/* Grids of the module are watched from now on (what was decoded is dropped). */
void module_watch(struct module *m, const struct sm_watch *watch);
/* Grids of the module run on the SMs of these caches from now on, with one thread. */
void module_cache(struct module *m, struct sm_l1_caches *caches, uint32_t sms);
/* Grids of the module find texture headers and samplers there from now on. */
void module_textures(struct module *m, struct sm_pool headers, struct sm_pool samplers);
/* The machine code of a kernel, which the caller may change before it is decoded; NULL: there is
 * no such kernel. */
uint64_t (*module_code(struct module *m, const char *kernel, size_t *instructions))[2];
/* Address of a __device__ variable. */
uint64_t module_symbol(struct module *m, const char *name);

/* Global memory for kernels; freed with the module. Addresses are GPU virtual
 * addresses; host gives the place. */
uint64_t module_alloc(struct module *m, size_t bytes);
void *module_host(struct module *m, uint64_t address);

struct launch {
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared;
  uint32_t local_bytes; /* more stack than the kernel says; 0: 1024 */
  uint64_t budget;      /* of each turn; 0: plenty */
  uint64_t limit;       /* warp instructions of a CTA before the run is given up; 0: plenty */
  void (*preempted)(struct module *m); /* after each turn; or NULL */
  bool moves;                          /* a CTA goes to another worker after each turn */
  unsigned threads; /* host threads that CTAs run on at the same time, at most 8; 0: one */
  const void *params;
  size_t param_bytes;
};

/* Takes the memory of kernels away from the GPU, and gives it back. */
void module_unmap(struct module *m);
void module_remap(struct module *m);

/* Runs a kernel, CTA after CTA in turns of the budget. SM_PREEMPTED: the limit
 * was reached. *instructions, if not NULL, gets the warp instructions. */
enum sm_result module_run(struct module *m, const char *kernel, const struct launch *launch,
                          struct sm_fault *fault, uint64_t *instructions);

#endif
