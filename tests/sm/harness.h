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

/* False, with a message on stderr, if there is no NVRTC. The folder that
 * TEGRACL_TEST_CUBINS names keeps the CUBINs. Later runs, and those under an
 * emulated processor, use these and need no NVRTC. */
bool harness_available(void);

struct module;
/* Compiles a source. Prints the log and returns NULL if that fails. options is a list
 * that ends with NULL, or NULL. */
struct module *module_compile(const char *source, const char *const *options);
void module_free(struct module *m);
/* Drops the decoded code. Call after a change of the code or of sm_core_override. */
void module_forget_code(struct module *m);
/* Later grids of the module are watched. Drops the decoded code. */
void module_watch(struct module *m, const struct sm_watch *watch);
/* Later grids of the module run on the SMs of these caches, on one thread. */
void module_cache(struct module *m, struct sm_l1_caches *caches, uint32_t sms);
/* Sets the texture headers and samplers of later grids. */
void module_textures(struct module *m, struct sm_pool headers, struct sm_pool samplers);
/* The machine code of a kernel, which the caller may change before it is decoded; NULL: there is
 * no such kernel. */
uint64_t (*module_code(struct module *m, const char *kernel, size_t *instructions))[2];
/* The address of a __device__ variable or a kernel; 0: there is none. */
uint64_t module_symbol(struct module *m, const char *name);

/* Allocates global memory, which is freed with the module. Addresses are GPU virtual
 * addresses; module_host returns the host address. */
uint64_t module_alloc(struct module *m, size_t bytes);
void *module_host(struct module *m, uint64_t address);

struct launch {
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared;
  uint32_t local_bytes; /* stack beyond what the kernel states; 0: 1024 */
  uint64_t budget;      /* warp instructions of each turn; 0: as many as limit */
  uint64_t limit;       /* warp instructions of a CTA, after which the run ends; 0: 2^40 */
  void (*preempted)(struct module *m); /* called after each turn; or NULL */
  bool moves;                          /* a CTA changes its worker after each turn */
  unsigned threads; /* host threads that run CTAs at the same time, at most 8; 0: one */
  const void *params;
  size_t param_bytes;
};

/* Unmaps the memory of the module, and maps it again. */
void module_unmap(struct module *m);
void module_remap(struct module *m);

/* Runs the CTAs of a kernel, each in turns of the budget. SM_PREEMPTED: the limit
 * was reached. *instructions, if not NULL, gets the number of warp instructions. */
enum sm_result module_run(struct module *m, const char *kernel, const struct launch *launch,
                          struct sm_fault *fault, uint64_t *instructions);

#endif
