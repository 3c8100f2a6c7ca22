/* Which registers are cleared for a kernel: those that the cached code may read before it writes
 * them, even if memory has other code by now. */
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

static uint64_t text[SM_PAGE_UOPS][2];

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
      cmocka_unit_test(zero_is_no_instruction),
  };
  return cmocka_run_group_tests_name("code entry", tests, NULL, NULL);
}
