/* The bring-up of orin-bringup-lessons.md, column A, and the basic work after
 * it: semaphores, launches, two channels, faults, ring wrap.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

struct fixture {
  struct client c;
  struct channel ch;
  struct buffer data; /* semaphores and results */
  struct buffer code; /* programs at 0, QMDs at 0x1000, bank at 0x8000 */
};

static int setup(void **state) {
  static struct fixture f;
  client_open(&f.c);
  channel_open(&f.c, &f.ch, 1024, CLASS_COMPUTE);
  f.data = buffer_create(&f.c, 4096, true);
  f.code = buffer_create(&f.c, 0x10000, true);
  *state = &f;
  return 0;
}

static int teardown(void **state) {
  struct fixture *f = *state;
  buffer_destroy(&f->c, &f->data);
  buffer_destroy(&f->c, &f->code);
  channel_close(&f->c, &f->ch);
  client_close(&f->c);
  return 0;
}

static void *data_at(struct fixture *f, unsigned offset) {
  return (char *)f->data.cpu + offset;
}

static uint64_t program(struct fixture *f, unsigned slot, struct fake_program p) {
  memcpy((char *)f->code.cpu + slot * 128, &p, sizeof(p));
  return f->code.va + slot * 128;
}

static uint32_t *qmd(struct fixture *f, unsigned slot) {
  return (uint32_t *)(void *)((char *)f->code.cpu + 0x1000 + slot * QMD_BYTES);
}

static void push_launch(struct fixture *f, unsigned slot, uint32_t action) {
  uint64_t va = f->code.va + 0x1000 + slot * QMD_BYTES;
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, (uint32_t)(va >> 8));
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, action);
}

/* test_gpu_submit: payload and time */
static void release_with_time(void **state) {
  struct fixture *f = *state;
  push_semaphore(&f->ch, f->data.va, 0xdeadbeef42, RELEASE_64_WFI_TIME);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 0xbeef42 | 0xad000000));
  assert_true(*(uint64_t *)f->data.cpu == 0xdeadbeef42);
  assert_true(((uint64_t *)f->data.cpu)[1] != 0);
  assert_true(wait_word((char *)f->ch.userd.cpu + USERD_GP_GET, 1));
}

/* test 13: SET_OBJECT of compute and copy, then a release */
static void test_13(void **state) {
  struct fixture *f = *state;
  push(&f->ch, 0x20012000);
  push(&f->ch, 0xc7c0);
  push(&f->ch, 0x20018000);
  push(&f->ch, 0xc7b5);
  push_semaphore(&f->ch, f->data.va, 0x42, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 0x42));
}

static void launch(void **state) {
  struct fixture *f = *state;
  const uint32_t actions[] = {2, 3, 9, 10};
  push_compute_setup(&f->ch);
  for (unsigned i = 0; i < 4; i++) {
    uint64_t p = program(
        f, i, (struct fake_program){.operation = FAKE_ADD, .address = f->data.va + 64, .value = 1});
    qmd_make(qmd(f, i), p, f->code.va + 0x8000, 1000);
    push_launch(f, i, actions[i]);
  }
  push_semaphore(&f->ch, f->data.va, 0xdead, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 0xdead));
  assert_int_equal(*(uint64_t *)data_at(f, 64), 4000);
}

static void ring_wrap(void **state) {
  struct fixture *f = *state;
  for (uint32_t i = 1; i <= 3000; i++) {
    f->ch.word = f->ch.push.cpu;
    f->ch.start = 0;
    push_semaphore(&f->ch, f->data.va, i, RELEASE_64);
    submit(&f->c, &f->ch);
    assert_true(wait_word(f->data.cpu, i));
  }
}

static void windows_unset(void **state) {
  struct fixture *f = *state;
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_OBJECT, CLASS_COMPUTE);
  uint64_t p = program(
      f, 0, (struct fake_program){.operation = FAKE_ADD, .address = f->data.va, .value = 1});
  qmd_make(qmd(f, 0), p, f->code.va + 0x8000, 1);
  push_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  struct emulator_fault fault = last_fault(&f->c);
  assert_string_equal(fault.message,
                      "SKED ESR bit 24: shared and local memory windows overlap (both 0x0)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(release_with_time, setup, teardown),
      cmocka_unit_test_setup_teardown(test_13, setup, teardown),
      cmocka_unit_test_setup_teardown(launch, setup, teardown),
      cmocka_unit_test_setup_teardown(ring_wrap, setup, teardown),
      cmocka_unit_test_setup_teardown(windows_unset, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
