/* Tests the model of the L1 caches (emulator/sm/l1.h): which instructions may read the old contents
 * of a line, and which may not. The test changes memory between grids of one CTA, as the CPU, a
 * copy engine or another SM would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/sm/harness.h"

enum { SMS = 2, SEEDS = 8, ROUNDS = 40 };

#define LOAD(name, instruction)                                                                    \
  "K " #name "(u32 *p, u32 *o) { u32 v; asm volatile(\"" instruction                               \
  " %0, [%1];\" : \"=r\"(v) : \"l\"(p) : \"memory\"); *o = v; }\n"
#define FENCED(name, fence, instruction)                                                           \
  "K " #name "(u32 *p, u32 *o) { u32 v; asm volatile(\"" fence "\" ::: \"memory\"); asm "          \
  "volatile(\"" instruction " %0, [%1];\" : \"=r\"(v) : \"l\"(p) : \"memory\"); *o = v; }\n"
#define COPY(name, cache, size)                                                                    \
  "K " #name "(u32 *p, u32 *o) { __shared__ __align__(16) u32 s[4]; u32 a = "                      \
  "(u32)__cvta_generic_to_shared(s); asm volatile(\"cp.async." cache                               \
  ".shared.global [%0], [%1], " size "; cp.async.wait_all;\" :: \"r\"(a), \"l\"(p) : "             \
  "\"memory\"); *o = *(volatile u32 *)s; }\n"

static const char source[] = "typedef unsigned u32;\n#define K extern \"C\" __global__ void\n"
    /* clang-format off */
    LOAD(weak, "ld.global.u32")
    LOAD(weak_generic, "ld.u32")
    LOAD(evict_first, "ld.global.cs.u32")
    LOAD(last_use, "ld.global.lu.u32")
    LOAD(of_the_group, "ld.relaxed.cta.global.u32")
    LOAD(acquire_in_the_group, "ld.acquire.cta.global.u32")
    LOAD(constant, "ld.global.nc.u32")
    LOAD(is_volatile, "ld.volatile.global.u32")
    LOAD(volatile_generic, "ld.volatile.u32")
    LOAD(relaxed, "ld.relaxed.gpu.global.u32")
    LOAD(acquire, "ld.acquire.gpu.global.u32")
    LOAD(of_the_system, "ld.relaxed.sys.global.u32")
    LOAD(in_l2, "ld.global.cg.u32")
    FENCED(fenced, "fence.acq_rel.gpu;", "ld.global.u32")
    FENCED(fenced_sc, "membar.gl;", "ld.global.u32")
    FENCED(fenced_system, "membar.sys;", "ld.global.u32")
    FENCED(fenced_in_the_group, "membar.cta;", "ld.global.u32")
    FENCED(constant_fenced, "membar.gl;", "ld.global.nc.u32")
    COPY(copy, "ca", "4")
    COPY(copy_in_l2, "cg", "16")
    "K atomic(u32 *p, u32 *o) { *o = atomicAdd(p, 0); }\n"
    "K after_atomic(u32 *p, u32 *o) { u32 v; atomicAdd(p, 0);\n"
    "  asm volatile(\"ld.global.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p) : \"memory\"); *o = v; }\n"
    "K own_store(u32 *p, u32 *o) { u32 v, w = *(volatile u32 *)p; asm volatile(\"ld.global.u32 %0, "
    "[%1]; st.global.u32 [%1], %2; ld.global.u32 %0, [%1];\" : \"=&r\"(v) : \"l\"(p + 32), "
    "\"r\"(w) : \"memory\"); *o = v; }\n";
/* clang-format on */

static const struct kind {
  const char *kernel;
  bool stale; /* old contents are allowed, and must occur */
} kinds[] = {
    {"weak", true},
    {"weak_generic", true},
    {"evict_first", true},
    {"last_use", true},
    {"of_the_group", true},
    {"acquire_in_the_group", true},
    {"constant", true},
    {"is_volatile", false},
    {"volatile_generic", false},
    {"relaxed", false},
    {"acquire", false},
    {"of_the_system", false},
    {"in_l2", false},
    {"fenced", false},
    {"fenced_sc", false},
    {"fenced_system", false},
    {"fenced_in_the_group", true},
    {"constant_fenced", true},
    {"copy", true},
    {"copy_in_l2", false},
    {"atomic", false},
    {"after_atomic", false},
    {"own_store", false},
};

static struct module *module;
static uint64_t data, result;

/* Counts the grids that have read something other than the current contents. */
static unsigned count_stale(const char *kernel, uint64_t seed, bool invalidate) {
  struct sm_l1_caches *caches = sm_l1_create(SMS, seed);
  assert_non_null(caches);
  module_cache(module, caches, SMS);
  const uint64_t params[] = {data, result};
  const struct launch launch = {
      .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .param_bytes = sizeof params};
  uint32_t *const now = module_host(module, data), *const seen = module_host(module, result);
  unsigned count = 0;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    struct sm_fault fault;
    *now = round;
    if (invalidate)
      sm_l1_invalidate_all(caches);
    if (module_run(module, kernel, &launch, &fault, NULL) != SM_DONE)
      fail_msg("%s: %s", kernel, fault.message);
    assert_true(*seen <= round);
    count += *seen != round;
  }
  module_cache(module, NULL, 0);
  sm_l1_destroy(caches);
  return count;
}

static void only_cached_loads_are_stale(void **state) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    unsigned count = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      count += count_stale(kinds[k].kernel, seed, false);
      assert_int_equal(count_stale(kinds[k].kernel, seed, true), 0);
    }
    print_message("%s: %u of %u\n", kinds[k].kernel, count, SEEDS * ROUNDS);
    if (kinds[k].stale)
      assert_in_range(count, 1, SEEDS * ROUNDS - 1);
    else
      assert_int_equal(count, 0);
  }
}

/* The same seed makes the same choices. */
static void seed_determines_choices(void **state) {
  unsigned first = count_stale("weak", 1, false), others = 0;
  for (uint64_t seed = 2; seed <= SEEDS; seed++)
    others += count_stale("weak", seed, false) != first;
  assert_int_equal(count_stale("weak", 1, false), first);
  assert_true(others > 0);
}

static void memory_is_coherent_without_caches(void **state) {
  const uint64_t params[] = {data, result};
  const struct launch launch = {
      .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .param_bytes = sizeof params};
  for (uint32_t round = 0; round < ROUNDS; round++) {
    *(uint32_t *)module_host(module, data) = round;
    assert_int_equal(module_run(module, "weak", &launch, NULL, NULL), SM_DONE);
    assert_int_equal(*(uint32_t *)module_host(module, result), round);
  }
}

static int set_up(void **state) {
  module = module_compile(source, NULL);
  data = module ? module_alloc(module, 4096) : 0;
  result = module ? module_alloc(module, 4096) : 0;
  return module ? 0 : -1;
}

static int tear_down(void **state) {
  module_free(module);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_cached_loads_are_stale),
      cmocka_unit_test(seed_determines_choices),
      cmocka_unit_test(memory_is_coherent_without_caches),
  };
  if (!harness_available())
    return HARNESS_SKIP;
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
