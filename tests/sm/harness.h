/* Runs CUDA C on the interpreter: NVRTC (loaded at run time) compiles it for SM 8.7, a small ELF
 * reader places the code, and sm.h runs the grids. */
#ifndef TEGRACL_TESTS_SM_HARNESS_H
#define TEGRACL_TESTS_SM_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/sm/sm.h"

/* Meson's exit code for a skipped test. */
#define HARNESS_SKIP 77

/* Returns false, with a message on stderr, if there is no NVRTC. CUBINs are kept in the directory
 * TEGRACL_TEST_CUBINS. Later runs, and runs under an emulated processor, use these files and need
 * no NVRTC. */
bool harness_available(void);

struct module;
/* Compiles a source. options ends with NULL, or is NULL. Returns NULL and prints the log if
 * compilation fails. */
struct module *module_compile(const char *source, const char *const *options);
void module_free(struct module *m);
/* Drops the decoded code. Call after changing the code or sm_core_override. */
void module_forget_code(struct module *m);
/* Makes later grids of the module be watched. Drops the decoded code. */
void module_watch(struct module *m, const struct sm_watch *watch);
/* Makes watched grids of the module record which bytes of its memory are written, and who accesses
 * them. All bytes count as written at first. Returns false if out of memory. */
bool module_record(struct module *m);
/* Makes bytes count as written, or as never written. */
void module_mark(struct module *m, uint64_t address, size_t bytes, bool written);
/* Makes later grids of the module run on the SMs of these caches, on one thread. */
void module_cache(struct module *m, struct sm_l1_caches *caches, uint32_t sms);
/* Sets the texture headers and samplers of later grids. */
void module_textures(struct module *m, struct sm_pool headers, struct sm_pool samplers);
/* Returns the machine code of a kernel, or NULL if there is no such kernel. The caller may change
 * the code before it is decoded. */
uint64_t (*module_code(struct module *m, const char *kernel, size_t *instructions))[2];
/* Returns the address of a __device__ variable or a kernel, or 0 if there is none. */
uint64_t module_symbol(struct module *m, const char *name);

/* Allocates global memory, which is freed with the module, and returns its GPU virtual address.
 * module_host converts that to a host address. */
uint64_t module_alloc(struct module *m, size_t bytes);
void *module_host(struct module *m, uint64_t address);

struct launch {
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared;
  uint32_t local_bytes; /* stack beyond what the kernel declares; 0 means 1024 */
  uint64_t budget;      /* warp instructions per turn; 0 means limit */
  uint64_t limit;       /* warp instructions of a CTA after which the run ends; 0 means 2^40 */
  void (*preempted)(struct module *m); /* called after each turn, unless NULL */
  bool moves;                          /* move the CTA to another worker after each turn */
  unsigned threads; /* host threads that run CTAs concurrently, at most 8; 0 means 1 */
  const void *params;
  size_t param_bytes;
};

/* module_unmap unmaps the memory of the module. module_remap maps it again. */
void module_unmap(struct module *m);
void module_remap(struct module *m);
/* Makes the memory of the module two mappings with adjacent GPU virtual addresses, of which the
 * second one begins at the address; their host addresses are not adjacent.
 * If the address is 0, the memory is one mapping again. Not for modules that record. */
void module_split(struct module *m, uint64_t address);

/* Runs the CTAs of a kernel, each in turns of budget instructions. Returns SM_PREEMPTED if the
 * limit was reached. Sets *instructions to the number of warp instructions unless it is NULL. */
enum sm_result module_run(struct module *m, const char *kernel, const struct launch *launch,
                          struct sm_fault *fault, uint64_t *instructions);

#endif
