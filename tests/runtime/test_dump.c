/* Tests that dumps describe every word, using the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/host.h"
#include "gpu/hw/qmd.h"
#include "runtime/debug/debug.h"

static char *text;
static size_t size;

static FILE *start(void) {
  free(text);
  text = NULL;
  return open_memstream(&text, &size);
}

static void assert_says(const char *words) {
  if (!strstr(text, words))
    fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void dumps_every_pushbuffer_word(void **state) {
  (void)state;
  /* Test 15 of docs/hardware/bring-up.md 7, shortened; an immediate; a header of the old form; a
   * method that no class defines. */
  static const uint32_t words[] = {0x20012000, 0x0000c7c0, 0x200120ad, 0x12345678, 0x800a20b0,
                                   0x20050017, 0x1000,     1,          0xdead,     0,
                                   0x03100001, 0,          0x20012fff, 5};
  FILE *out = start();
  rt_dump_pushbuffer(out, words, sizeof(words) / sizeof(words[0]));
  fclose(out);
  assert_says("C7C0.SET_OBJECT CLASS_ID=0xc7c0");
  assert_says("C7C0.SEND_PCAS_A QMD_ADDRESS_SHIFTED8=0x12345678");
  assert_says("C7C0.SEND_SIGNALING_PCAS2_B PCAS_ACTION=PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE");
  assert_says("C76F.SEM_ADDR_HI OFFSET=0x1");
  assert_says("C76F.SEM_PAYLOAD_LO PAYLOAD=0xdead");
  assert_says("C76F.SEM_EXECUTE OPERATION=SEM_RELEASE RELEASE_WFI=0x1 PAYLOAD_SIZE=0x1 "
              "RELEASE_TIMESTAMP=0x1");
  assert_says("c7c0.3ffc (not in the table)");
}

/* A header may announce more words than there are; they must not be read. */
static void stops_at_end_of_truncated_pushbuffer(void **state) {
  (void)state;
  uint32_t *words = malloc(8);
  words[0] = 0x3fff20c8;
  words[1] = 77;
  FILE *out = start();
  rt_dump_pushbuffer(out, words, 2);
  fclose(out);
  free(words);
  assert_says("LOAD_INLINE_QMD_DATA(0) V=0x4d");
}

static void dumps_nonzero_qmd_fields_and_bank_words(void **state) {
  (void)state;
  uint32_t qmd[QMD_WORDS] = {0};
  qmd_set(qmd, QMD_REGISTER_COUNT_V, 40);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_VALID(3), 1);
  FILE *out = start();
  rt_dump_qmd(out, qmd);
  fclose(out);
  assert_string_equal(text, "  CONSTANT_BUFFER_VALID_3 = 0x1\n  REGISTER_COUNT_V = 0x28\n");

  uint32_t bank[0x170 / 4] = {0};
  bank[BANK0_BLOCK_X / 4] = 64;
  bank[BANK0_STACK_POINTER / 4] = STACK_POINTER_START;
  bank[0x164 / 4] = 9;
  out = start();
  rt_dump_bank0(out, bank, sizeof(bank), BANK0_PARAMS);
  fclose(out);
  assert_says("c[0][0x0] = 0x00000040  block x\n");
  assert_says("c[0][0x28] = 0x00fffdc0  stack pointer\n");
  assert_says("c[0][0x164] = 0x00000009  parameter byte 4\n");

  out = start();
  rt_dump_gp_entry(out, 5, gp_entry(0xffffa01000, 6, 1));
  fclose(out);
  assert_says("GPFIFO entry 5 = 0x800018ffffa01000: GET=0xffffa01000 LENGTH=6 SYNC=1");
  free(text);
  text = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dumps_every_pushbuffer_word),
      cmocka_unit_test(stops_at_end_of_truncated_pushbuffer),
      cmocka_unit_test(dumps_nonzero_qmd_fields_and_bank_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
