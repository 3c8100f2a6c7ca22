/* Tests loads and stores in a batch of warps that only some lanes execute: rows, equal and other
 * addresses, at the end of memory, and their faults. And such that all execute, with a pattern of
 * addresses for each half of a warp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "tests/sm/harness.h"

#include <cmocka.h>

/* Warp 0 copies within w with all lanes, warp 1 from s to o with the lanes of a mask. */
static const char source[] =
    "#define COPY(name, T) extern \"C\" __global__ void name(T *o, const T *s, T *w, \\\n"
    "    unsigned lanes, int step) { int t = threadIdx.x, lane = t % 32; \\\n"
    "  T *to = t < 32 ? w + t : o + lane; const T *from = t < 32 ? w : s + lane * step; \\\n"
    "  if (t < 32 || lanes >> lane & 1) *to = *from; }\n"
    "COPY(copy1, unsigned char) COPY(copy2, short) COPY(copy4, unsigned) COPY(copy8, uint2)\n"
    "COPY(copy16, uint4)\n"
    /* The halves of each warp read elements at a distance, from global and from local memory, and
     * the first warp writes some of local memory. Only the lanes of a mask access local memory. */
    "#define HALVES(name, T) extern \"C\" __global__ void name(T *o, const T *s, int a, int da, "
    "\\\n"
    "    int b, int db, unsigned lanes) { \\\n"
    "  __shared__ T in[64], out[64]; int t = threadIdx.x, half = t % 16, lane = t % 32; \\\n"
    "  int k = lane < 16 ? a + half * da : b + half * db; in[t] = s[t]; out[t] = s[64 + t]; \\\n"
    "  __syncthreads(); o[t] = s[k]; o[64 + t] = s[64 + t]; if (lanes >> lane & 1) { \\\n"
    "    o[64 + t] = in[k]; if (t < 32) out[k] = s[t]; } __syncthreads(); o[128 + t] = out[t]; }\n"
    "HALVES(halves1, unsigned char) HALVES(halves2, short) HALVES(halves4, unsigned)\n"
    "HALVES(halves8, uint2) HALVES(halves16, uint4)\n";

static const struct {
  const char *kernel, *halves;
  uint32_t bytes;
} sizes[] = {{"copy1", "halves1", 1},
             {"copy2", "halves2", 2},
             {"copy4", "halves4", 4},
             {"copy8", "halves8", 8},
             {"copy16", "halves16", 16}};
enum { SIZES = sizeof sizes / sizeof *sizes, ITEMS = 64, LANES = 32 };
/* A mapping may end between the halves of a block. */
enum { HALF_BYTES = 4096, BLOCK_BYTES = 2 * HALF_BYTES };

static const uint32_t masks[] = {
    0xffffffff, 0xffff, 0xffff0000, 0x7fffffff, 0xfffffffe, 0x3ffffff8, 0x55555555, 0x80000001,
    0x80000000, 1,      0x0ff00ff0, 0xff,       0xffff7fff, 0x00010100, 0xf000000f, 0};
enum { MASKS = sizeof masks / sizeof *masks };

static struct module *m;
/* Blocks of memory, of which the last one ends where the module's memory ends. */
static uint64_t from, whole, border, to; /* a multiple of 4 GiB is in the middle of border */

static enum sm_result copy(unsigned size, uint64_t o, uint64_t s, uint32_t mask, int32_t step,
                           struct sm_fault *fault) {
  const struct {
    uint64_t o, s, w;
    uint32_t mask;
    int32_t step;
  } params = {o, s, whole, mask, step};
  const struct launch launch = {
      .grid = {1, 1, 1}, .block = {ITEMS, 1, 1}, .params = &params, .param_bytes = sizeof params};
  return module_run(m, sizes[size].kernel, &launch, fault, NULL);
}

static uint32_t highest(uint32_t mask) {
  return LANES - 1 - (uint32_t)__builtin_clz(mask);
}

/* Copies elements and compares all bytes of the destination with what lanes should have written. */
static void expect_copy(unsigned size, uint64_t o, uint64_t s, uint32_t mask, int32_t step) {
  enum { UNTOUCHED = 0xee };
  const uint32_t bytes = sizes[size].bytes;
  uint8_t want[BLOCK_BYTES];
  memset(want, UNTOUCHED, sizeof want);
  for (int32_t t = 0; t < LANES; t++)
    if (mask >> t & 1)
      memcpy(want + (o - to) + (uint32_t)t * bytes,
             module_host(m, s + (uint64_t)((int64_t)t * step * bytes)), bytes);
  for (unsigned half = 0; half < 2; half++)
    memset(module_host(m, to + half * HALF_BYTES), UNTOUCHED, HALF_BYTES);
  struct sm_fault fault = {0};
  assert_int_equal(copy(size, o, s, mask, step, &fault), SM_DONE);
  for (unsigned half = 0; half < 2; half++)
    if (memcmp(module_host(m, to + half * HALF_BYTES), want + half * HALF_BYTES, HALF_BYTES) != 0)
      fail_msg("%s, mask %x, step %d", sizes[size].kernel, mask, step);
}

static void lanes_copy_their_elements(void **unused) {
  static const int32_t steps[] = {1, 0, 3, -1, 2};
  const uint64_t middle = from + HALF_BYTES;
  for (unsigned size = 0; size < SIZES; size++)
    for (unsigned k = 0; k < MASKS; k++)
      for (unsigned n = 0; n < sizeof steps / sizeof *steps; n++)
        expect_copy(size, to + 64, middle, masks[k], steps[n]);
}

/* Copies from and to addresses before and after the middle of two blocks. */
static void copy_around_middle(uint64_t source_block, unsigned lanes_before) {
  static const int32_t steps[] = {1, 0, 3, -1};
  for (unsigned size = 0; size < SIZES; size++)
    for (unsigned k = 0; k < MASKS; k++)
      for (unsigned n = 0; n < sizeof steps / sizeof *steps; n++) {
        const uint64_t before = HALF_BYTES - (uint64_t)lanes_before * sizes[size].bytes;
        expect_copy(size, to + before, source_block + before, masks[k], steps[n]);
      }
}

static void lanes_copy_across_a_multiple_of_4_gib(void **unused) {
  assert_int_equal((border + HALF_BYTES) % (UINT64_C(1) << 32), 0);
  const uint64_t saved = to;
  for (unsigned lanes = 0; lanes <= LANES; lanes += 4)
    copy_around_middle(border, lanes);
  to = border;
  for (unsigned lanes = 0; lanes <= LANES; lanes += 4)
    copy_around_middle(from, lanes);
  to = saved;
}

static void lanes_copy_across_two_mappings(void **unused) {
  const uint64_t blocks[] = {from, to};
  for (unsigned i = 0; i < 2; i++) {
    module_split(m, blocks[i] + HALF_BYTES);
    for (unsigned lanes = 0; lanes <= LANES; lanes += 4)
      copy_around_middle(from, lanes);
  }
  module_split(m, 0);
}

/* The highest lane of the mask accesses the last element of memory, or the first one after it. */
static void rows_end_with_memory(void **unused) {
  const uint64_t end = to + BLOCK_BYTES;
  for (unsigned size = 0; size < SIZES; size++)
    for (unsigned k = 0; k < MASKS; k++) {
      const uint32_t bytes = sizes[size].bytes, mask = masks[k];
      if (!mask)
        continue;
      const uint64_t row = end - (highest(mask) + 1) * bytes;
      struct sm_fault fault = {0};
      expect_copy(size, row, from, mask, 1);
      assert_int_equal(copy(size, from + HALF_BYTES, row, mask, 1, &fault), SM_DONE);
      for (unsigned write = 0; write < 2; write++) {
        assert_int_equal(write ? copy(size, row + bytes, from, mask, 1, &fault)
                               : copy(size, to, row + bytes, mask, 1, &fault),
                         SM_FAULTED);
        assert_int_equal(fault.kind, SM_FAULT_MMU);
        assert_int_equal(fault.tid[0], LANES + highest(mask));
        assert_int_equal(fault.address, end);
        assert_int_equal(fault.is_write, write);
        assert_int_equal(fault.access_bytes, bytes);
      }
    }
}

static void misaligned_rows_name_the_first_lane(void **unused) {
  for (unsigned size = 1; size < SIZES; size++)
    for (unsigned k = 0; k < MASKS; k++) {
      if (!masks[k])
        continue;
      const uint32_t bytes = sizes[size].bytes, lane = (uint32_t)__builtin_ctz(masks[k]);
      const uint64_t at = from + HALF_BYTES + bytes / 2;
      for (unsigned write = 0; write < 2; write++) {
        struct sm_fault fault = {0};
        assert_int_equal(copy(size, write ? at : to, write ? from : at, masks[k], 1, &fault),
                         SM_FAULTED);
        assert_int_equal(fault.kind, SM_FAULT_MISALIGNED);
        assert_int_equal(fault.tid[0], LANES + lane);
        assert_int_equal(fault.address, at + lane * bytes);
        assert_int_equal(fault.is_write, write);
      }
    }
}

/* The first element of half a warp, and the distance of the others. */
struct stride {
  int32_t first, step;
};

static int32_t element_of(uint32_t t, struct stride a, struct stride b) {
  const int32_t half = (int32_t)t % (LANES / 2);
  return t % LANES < LANES / 2 ? a.first + half * a.step : b.first + half * b.step;
}

static void expect_halves(unsigned size, struct stride a, struct stride b, uint32_t lanes) {
  const uint32_t bytes = sizes[size].bytes;
  const uint8_t *in = module_host(m, from), *got = module_host(m, to);
  const struct {
    uint64_t o, s;
    struct stride a, b;
    uint32_t lanes;
  } params = {to, from, a, b, lanes};
  const struct launch launch = {
      .grid = {1, 1, 1}, .block = {ITEMS, 1, 1}, .params = &params, .param_bytes = sizeof params};
  struct sm_fault fault = {0};
  uint32_t writers[ITEMS] = {0}, writer[ITEMS];
  assert_int_equal(module_run(m, sizes[size].halves, &launch, &fault, NULL), SM_DONE);
  for (uint32_t t = 0; t < ITEMS; t++) {
    const uint32_t element = (uint32_t)element_of(t, a, b);
    const bool executes = lanes >> t % LANES & 1;
    if (memcmp(got + t * bytes, in + element * bytes, bytes) != 0 ||
        memcmp(got + (ITEMS + t) * bytes, in + (executes ? element : ITEMS + t) * bytes, bytes) !=
            0)
      fail_msg("%s, %d %d, %d %d, lanes %x: %u", sizes[size].halves, a.first, a.step, b.first,
               b.step, lanes, t);
    if (t < LANES && executes)
      writers[element]++, writer[element] = t;
  }
  for (uint32_t t = 0; t < ITEMS; t++) {
    const uint8_t *want = in + (writers[t] ? writer[t] : ITEMS + t) * bytes;
    /* If several lanes write an element, any of them may be the last. */
    if (writers[t] <= 1 && memcmp(got + (2 * ITEMS + t) * bytes, want, bytes) != 0)
      fail_msg("%s, %d %d, %d %d, lanes %x: store %u", sizes[size].halves, a.first, a.step, b.first,
               b.step, lanes, t);
  }
}

static void halves_have_their_own_patterns(void **unused) {
  static const struct stride strides[] = {{0, 1}, {16, 1}, {3, 1}, {0, 0},  {16, 0},
                                          {5, 0}, {0, 2},  {1, 2}, {63, -1}};
  static const uint32_t lanes[] = {UINT32_MAX, 0xffff, 0xffff0000, 0xfffe};
  enum { STRIDES = sizeof strides / sizeof *strides };
  for (unsigned size = 0; size < SIZES; size++)
    for (unsigned a = 0; a < STRIDES; a++)
      for (unsigned b = 0; b < STRIDES; b++)
        for (unsigned k = 0; k < sizeof lanes / sizeof *lanes; k++)
          expect_halves(size, strides[a], strides[b], lanes[k]);
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_copy_their_elements),
      cmocka_unit_test(lanes_copy_across_a_multiple_of_4_gib),
      cmocka_unit_test(lanes_copy_across_two_mappings),
      cmocka_unit_test(rows_end_with_memory),
      cmocka_unit_test(misaligned_rows_name_the_first_lane),
      cmocka_unit_test(halves_have_their_own_patterns),
  };
  int failed = 0;
  for (unsigned k = 0; k < SM_CORE_BUILDS; k++) {
    if (!(sm_core_override = sm_core_build(k)))
      continue;
    if (!(m = module_compile(source, NULL)))
      return 1;
    from = module_alloc(m, BLOCK_BYTES);
    whole = module_alloc(m, BLOCK_BYTES);
    uint8_t *host = module_host(m, from);
    for (uint32_t i = 0; i < BLOCK_BYTES; i++)
      host[i] = (uint8_t)(i * 37 + i / 251);
    struct sm_fault fault = {0};
    if (copy(0, from, from, 0, 0, &fault) != SM_DONE) /* allocates the constant bank */
      return 1;
    const uint64_t here = module_alloc(m, 0), middle = (here | UINT32_MAX) + 1;
    border = middle - HALF_BYTES;
    if (!module_alloc(m, border - here) || module_alloc(m, BLOCK_BYTES) != border)
      return 1;
    to = module_alloc(m, BLOCK_BYTES);
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    module_free(m);
  }
  return failed;
}
