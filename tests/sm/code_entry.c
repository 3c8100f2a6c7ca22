/* The start of a kernel. Which registers are cleared for it: those that the cached code may read
 * before it writes them, even if memory has other code by now. And the sequence that clears the
 * barriers, which is executed at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emulator/sm/lower/entry.h"
#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"

enum { PROGRAM = 0x10000, REGISTERS = 16 };

static const uint64_t add[2] = {0x000000030a0a7210, 0x000fc80007ffe0ff}; /* R10 = R10 + R3 */
static const uint64_t leave[2] = {0x000000000000794d, 0x000fea0003800000};

static uint64_t text[2 * SM_PAGE_UOPS][2];

static bool find_text(void *space, uint64_t address, struct sm_range *range) {
  (void)space;
  *range = (struct sm_range){.gpu = PROGRAM, .size = sizeof text, .host = (uint8_t *)text};
  return address - PROGRAM < sizeof text;
}

static void put_text(const uint64_t first[2]) {
  memcpy(text[0], first, sizeof text[0]);
  memcpy(text[1], leave, sizeof text[1]);
}

static bool clears(const struct sm_entry *entry, unsigned slot) {
  for (uint32_t i = 0; i < entry->run_count; i++)
    if (slot - entry->run[i].slot < entry->run[i].count)
      return true;
  return false;
}

static void cached_code_decides(void **state) {
  (void)state;
  const struct sm_memory memory = {.find = find_text};
  struct sm_code *code = sm_code_create(&memory);
  assert_non_null(code);
  put_text(add);
  /* Another kernel in this page is executed. */
  assert_non_null(sm_code_page(code, PROGRAM, REGISTERS));
  put_text(leave);
  const struct sm_entry *entry = sm_code_entry(code, PROGRAM, REGISTERS);
  assert_non_null(entry);
  assert_true(clears(entry, SM_SLOT_R + 3) && clears(entry, SM_SLOT_R + 10));
  assert_false(clears(entry, SM_SLOT_R + 4));
  sm_code_invalidate(code);
  entry = sm_code_entry(code, PROGRAM, REGISTERS);
  assert_non_null(entry);
  assert_int_equal(entry->run_count, 0);
  sm_code_destroy(code);
}

/* Writes what NVRTC writes at the start of each kernel: BMOV.32 B0, -1; BMOV.32.CLEAR B1, B0; up to
 * B15; BMOV.32 B15, 0. Then the kernel ends. */
static void put_barriers(uint64_t (*words)[2]) {
  static const uint64_t first[2] = {0xffffffff00007956, 0x000fe80000000000};
  static const uint64_t last[2] = {0x000000000f007956, 0x000fe80000000000};
  memcpy(words[0], first, sizeof first);
  for (uint64_t k = 1; k < SM_BARRIERS; k++) {
    words[k][0] = 0x7f55 | k << 16 | (k - 1) << 24;
    words[k][1] = 0x000fe80000100000;
  }
  memcpy(words[SM_BARRIERS], last, sizeof last);
  memcpy(words[SM_BARRIERS + 1], leave, sizeof leave);
}

/* Also if a page ends within the sequence. */
static void barriers_are_cleared_at_once(void **state) {
  (void)state;
  const struct sm_memory memory = {.find = find_text};
  const struct sm_core *core = sm_core();
  struct sm_worker *worker = sm_worker_create(0);
  for (unsigned start = SM_PAGE_UOPS - SM_BARRIERS - 2; start <= SM_PAGE_UOPS; start++) {
    struct sm_code *code = sm_code_create(&memory);
    struct sm_grid grid = {.code = code,
                           .memory = memory,
                           .program = PROGRAM + start * SM_INSN_BYTES,
                           .grid = {1, 1, 1},
                           .block = {2 * SM_LANES, 1, 1},
                           .registers = REGISTERS,
                           .sm_count = 1};
    const uint64_t before = sm_worker_instructions(worker);
    struct sm_fault fault;
    memset(text, 0, sizeof text);
    put_barriers(&text[start]);
    struct sm_cta *cta = sm_cta_start(worker, &grid, 0, 0, 0);
    assert_non_null(cta);
    assert_int_equal(sm_cta_run(worker, cta, 1000, &fault), SM_DONE);
    assert_int_equal(sm_worker_instructions(worker) - before, 2 * (SM_BARRIERS + 2));
    assert_int_equal(sm_warp_at(cta, 0)->breg_used, 0);
    sm_cta_finish(worker, cta);
    const unsigned page = start / SM_PAGE_UOPS * SM_PAGE_BYTES;
    const sm_handler handler =
        sm_code_page(code, PROGRAM + page, REGISTERS)->uop[start % SM_PAGE_UOPS].handler;
    assert_true(handler == core->handler[SM_H_clear_barriers] ||
                handler == core->handler[SM_H_clear_barriers_far]);
    sm_code_destroy(code);
  }
  sm_worker_destroy(worker);
}

/* Memory without code has words that are no instructions. */
static void zero_is_no_instruction(void **state) {
  (void)state;
  const uint64_t zero[2] = {0};
  struct sm_insn insn;
  assert_false(sm_decode(zero, &insn));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cached_code_decides),
      cmocka_unit_test(barriers_are_cleared_at_once),
      cmocka_unit_test(zero_is_no_instruction),
  };
  return cmocka_run_group_tests_name("code entry", tests, NULL, NULL);
}
