/* Check and profile mode of texture and surface instructions: kernels with a mistake, which must be
 * reported, and the same kernels without it, which must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/hw/texture.h"
#include "tests/sm/harness.h"

enum { SIDE = 8, BLOCK = 32, PITCH = SIDE * 4 };

/* t is the handle of an 8 x 8 texture of R32 at p. Work-item i accesses texel i + shift. ptxas
 * would move reads of the texture before stores and barriers, if ZERO did not keep them after. */
static const char source[] =
    "typedef unsigned long long u64; typedef unsigned u32;\n"
    "__device__ u32 fetch(u64 t, int i) { u32 r, g, b, a; asm volatile(\n"
    "  \"tex.2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];\" : \"=r\"(r), \"=r\"(g), \"=r\"(b),\n"
    "  \"=r\"(a) : \"l\"(t), \"r\"(i % 8), \"r\"(i / 8) : \"memory\"); return r; }\n"
    "__device__ u32 sample(u64 t, float x, float y) { u32 r, g, b, a; asm volatile(\n"
    "  \"tex.level.2d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], 0f00000000;\" : \"=r\"(r),\n"
    "  \"=r\"(g), \"=r\"(b), \"=r\"(a) : \"l\"(t), \"f\"(x), \"f\"(y) : \"memory\"); return r; }\n"
    "__device__ u32 load(u64 t, int i) { u32 r; asm volatile(\"suld.b.2d.b32.trap %0, [%1,\"\n"
    "  \"{%2,%3}];\" : \"=r\"(r) : \"l\"(t), \"r\"(i % 8 * 4), \"r\"(i / 8) : \"memory\");\n"
    "  return r; }\n"
    "__device__ void store(u64 t, int i, u32 v) { asm volatile(\"sust.p.2d.b32.trap [%0,\"\n"
    "  \"{%1,%2}], %3;\" :: \"l\"(t), \"r\"(i % 8), \"r\"(i / 8), \"r\"(v) : \"memory\"); }\n"
    "__device__ void add(u64 t, int i, u32 v) { asm volatile(\"sured.p.add.2d.b32.trap [%0,\"\n"
    "  \"{%1,%2}], %3;\" :: \"l\"(t), \"r\"(i % 8), \"r\"(i / 8), \"r\"(v) : \"memory\"); }\n"
    "#define K(name) extern \"C\" __global__ void name(u64 t, u32 *p, u32 *o, int shift)\n"
    "#define I (int)threadIdx.x\n"
    "K(fetched) { o[I] = fetch(t, (I + shift) % 64); }\n"
    "K(loaded) { o[I] = load(t, (I + shift) % 64); }\n"
    "K(sampled) { o[I] = sample(t, I % 8 + 0.5f, 1.0f + shift); }\n"
    "#define ZERO *(volatile int *)(o + 32)\n"
    "K(written) { p[I] = I; __syncthreads(); o[I] = fetch(t, I + shift + ZERO); }\n"
    "K(stored) { store(t, I, I); __syncthreads(); o[I] = fetch(t, I + shift + ZERO); }\n"
    "K(reloaded) { store(t, I, I); if (shift) __syncthreads(); o[I] = load(t, 31 - I); }\n"
    "K(same) { store(t, shift ? I : 0, I + 1); }\n"
    "K(mixed) { if (I) store(t, I, I + 1); else p[shift ? 0 : 1] = 7; }\n"
    "K(reduced) { add(t, 0, I + shift); }\n"
    "K(copied) { store(t, I, p[I + shift]); }\n";

static struct module *module;
static uint64_t texels, out, pool;
static unsigned reports;
static struct sm_fault last;
static struct sm_counts counts;

static bool wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  (void)grid, (void)pc;
  return kind == SM_REPORT_UNDEFINED || kind == SM_REPORT_RACE;
}

static void report(const struct sm_grid *grid, const struct sm_fault *fault) {
  (void)grid;
  if (reports++ == 0)
    last = *fault;
}

static void count(const struct sm_grid *grid, const struct sm_counts *c) {
  (void)grid;
  counts = *c;
}

static const struct sm_watch watch = {
    .check = true, .wanted = wanted, .report = report, .profile = true, .count = count};
static const struct sm_watch without_profile = {.check = true, .wanted = wanted, .report = report};

static void make_textures(void) {
  uint32_t *h = module_host(module, pool), *s = module_host(module, pool + TEXTURE_BYTES);
  memset(h, 0, 2 * TEXTURE_BYTES);
  hw_set(h, TIC_COMPONENTS, TIC_COMPONENTS_R32);
  hw_set(h, TIC_R_DATA_TYPE, TIC_R_DATA_TYPE_NUM_FLOAT);
  hw_set(h, TIC_X_SOURCE, TIC_X_SOURCE_IN_R);
  hw_set(h, TIC_HEADER_VERSION, TIC_HEADER_VERSION_SELECT_PITCH);
  hw_set(h, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP);
  hw_set(h, TIC_ADDRESS_BITS31TO5, (uint32_t)texels >> 5);
  hw_set(h, TIC_ADDRESS_BITS48TO32, (uint32_t)(texels >> 32));
  hw_set(h, TIC_PITCH_BITS20TO5, PITCH >> 5);
  hw_set(h, TIC_WIDTH_MINUS_ONE, SIDE - 1);
  hw_set(h, TIC_HEIGHT_MINUS_ONE, SIDE - 1);
  hw_set(h, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(h, TIC_NORMALIZED_COORDS, 1);
  hw_set(s, TSC_ADDRESS_U, TSC_ADDRESS_U_CLAMP_TO_EDGE);
  hw_set(s, TSC_ADDRESS_V, TSC_ADDRESS_U_CLAMP_TO_EDGE);
  hw_set(s, TSC_ADDRESS_P, TSC_ADDRESS_U_CLAMP_TO_EDGE);
  hw_set(s, TSC_MAG_FILTER, TSC_MAG_FILTER_MAG_LINEAR);
  hw_set(s, TSC_MIN_FILTER, TSC_MIN_FILTER_MIN_LINEAR);
  hw_set(s, TSC_FLOAT_COORD_NORMALIZATION, 1);
}

/* Runs a kernel, and returns the number of reports. */
static unsigned run_block(const char *kernel, int shift, uint32_t block) {
  struct {
    uint64_t handle, texels, out;
    int shift;
  } parameters = {0, texels, out, shift};
  const struct launch l = {.grid = {1, 1, 1},
                           .block = {block, 1, 1},
                           .params = &parameters,
                           .param_bytes = sizeof parameters};
  struct sm_fault fault = {0};
  reports = 0;
  last = (struct sm_fault){0};
  if (module_run(module, kernel, &l, &fault, NULL) != SM_DONE)
    fail_msg("%s: %s", kernel, fault.message);
  return reports;
}

static unsigned run(const char *kernel, int shift) {
  return run_block(kernel, shift, BLOCK);
}

/* Each row: a kernel with one shift, which is reported, and with another, which is not. Texels from
 * 32 on have never been written. */
static void reports_unwritten_texels_and_races(void **state) {
  (void)state;
  static const char unwritten[] = "uninitialised global memory";
  static const char unseen[] = "the texture units read memory at";
  const struct {
    const char *kernel;
    int wrong, right;
    enum sm_fault_kind kind;
    const char *words;
  } rows[] = {
      {"fetched", 1, 0, SM_REPORT_UNDEFINED, unwritten},
      {"loaded", 1, 0, SM_REPORT_UNDEFINED, unwritten},
      {"sampled", 3, 2, SM_REPORT_UNDEFINED, unwritten},
      {"copied", 1, 0, SM_REPORT_UNDEFINED, unwritten},
      {"written", 0, 32, SM_REPORT_RACE, unseen},
      {"stored", 0, 32, SM_REPORT_RACE, unseen},
      {"reloaded", 0, 1, SM_REPORT_RACE, "data race on global memory"},
      {"same", 0, 1, SM_REPORT_RACE, "data race on global memory"},
      {"mixed", 0, 1, SM_REPORT_RACE, "data race on global memory"},
  };
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
    for (unsigned right = 0; right < 2; right++) {
      const bool unordered = rows[k].kind == SM_REPORT_RACE;
      memset(module_host(module, texels), 0xff, SIDE * PITCH);
      module_mark(module, texels, SIDE * PITCH, true);
      module_mark(module, texels + SIDE * PITCH / 2, SIDE * PITCH / 2, unordered);
      const unsigned found = run(rows[k].kernel, right ? rows[k].right : rows[k].wrong);
      if (right != (found == 0))
        fail_msg("%s, %s: %u reports, the first: %s", rows[k].kernel, right ? "right" : "wrong",
                 found, last.message);
      if (!right && (last.kind != rows[k].kind || !strstr(last.message, rows[k].words)))
        fail_msg("%s: \"%s\" has no \"%s\"", rows[k].kernel, last.message, rows[k].words);
    }
  assert_int_equal(run("reduced", 1), 0); /* atomics do not race */
}

/* The warps of a batch have their registers' records in common, until one of them reads unwritten
 * texels. */
static void reports_the_warp_that_reads_unwritten_texels(void **state) {
  (void)state;
  module_watch(module, &without_profile);
  module_mark(module, texels, SIDE * PITCH, true);
  module_mark(module, texels + SIDE * PITCH / 2, SIDE * PITCH / 2, false);
  assert_true(run_block("fetched", 0, 2 * BLOCK) > 0);
  assert_int_equal(last.tid[0], BLOCK);
  module_watch(module, &watch);
}

static void counts_samples_texels_and_sectors(void **state) {
  (void)state;
  const struct {
    const char *kernel;
    unsigned samples, texels, sectors;
  } rows[] = {
      {"fetched", BLOCK, BLOCK, BLOCK / SIDE}, /* a row of texels is a sector */
      {"sampled", BLOCK, 2 * BLOCK, 2},        /* the others have no weight */
      {"loaded", BLOCK, BLOCK, BLOCK / SIDE},
      {"same", BLOCK, BLOCK, 1},
  };
  module_mark(module, texels, SIDE * PITCH, true);
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    counts = (struct sm_counts){0};
    run(rows[k].kernel, 0);
    assert_int_equal(counts.texture_requests, 1);
    assert_int_equal(counts.texture_samples, rows[k].samples);
    assert_int_equal(counts.texels, rows[k].texels);
    assert_int_equal(counts.texture_sectors, rows[k].sectors);
  }
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  module = module_compile(source, NULL);
  if (!module)
    return 1;
  texels = module_alloc(module, SIDE * PITCH);
  out = module_alloc(module, 2 * BLOCK * sizeof(uint32_t));
  pool = module_alloc(module, 2 * TEXTURE_BYTES);
  make_textures();
  module_textures(module, (struct sm_pool){pool, 0}, (struct sm_pool){pool + TEXTURE_BYTES, 0});
  module_watch(module, &watch);
  if (!module_record(module))
    return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(reports_unwritten_texels_and_races),
                                     cmocka_unit_test(reports_the_warp_that_reads_unwritten_texels),
                                     cmocka_unit_test(counts_samples_texels_and_sectors)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  module_free(module);
  return failures;
}
