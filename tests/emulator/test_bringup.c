/* The bring-up sequence of docs/hardware/bring-up.md, column A, and basic work after it:
 * semaphores, launches, two channels, faults, ring wrap. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

static void *data_at(struct fixture *f, unsigned offset) {
  return (char *)f->data.cpu + offset;
}

/* test_gpu_submit: payload and time */
static void release_writes_payload_and_time(void **state) {
  struct fixture *f = *state;
  push_semaphore(&f->ch, f->data.va, 0xdeadbeef42, RELEASE_64_WFI_TIME);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 0xbeef42 | 0xad000000));
  assert_true(*(uint64_t *)f->data.cpu == 0xdeadbeef42);
  assert_true(((uint64_t *)f->data.cpu)[1] != 0);
  assert_true(wait_word((char *)f->ch.userd.cpu + USERD_GP_GET, 1));
}

/* Test 13: SET_OBJECT of compute and copy, then a release. */
static void release_works_after_set_object(void **state) {
  struct fixture *f = *state;
  push(&f->ch, 0x20012000);
  push(&f->ch, 0xc7c0);
  push(&f->ch, 0x20018000);
  push(&f->ch, 0xc7b5);
  push_semaphore(&f->ch, f->data.va, 0x42, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 0x42));
}

static void four_launch_actions_run_grids(void **state) {
  struct fixture *f = *state;
  const uint32_t actions[] = {2, 3, 9, 10};
  push_compute_setup(&f->ch);
  for (unsigned i = 0; i < 4; i++) {
    uint64_t p = fixture_program(
        f, i,
        &(struct fake_program){.operation = FAKE_ADD, .address = f->data.va + 64, .value = 1});
    qmd_make(fixture_qmd(f, i), p, f->code.va + 0x8000, 1000);
    fixture_launch(f, i, actions[i]);
  }
  push_semaphore(&f->ch, f->data.va, 0xdead, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 0xdead));
  assert_int_equal(*(uint64_t *)data_at(f, 64), 4000);
}

static void gpfifo_ring_wraps_around(void **state) {
  struct fixture *f = *state;
  for (uint32_t i = 1; i <= 3000; i++) {
    f->ch.word = f->ch.push.cpu;
    f->ch.start = 0;
    push_semaphore(&f->ch, f->data.va, i, RELEASE_64);
    submit(&f->c, &f->ch);
    assert_true(wait_word(f->data.cpu, i));
  }
}

static void launch_without_windows_faults(void **state) {
  struct fixture *f = *state;
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_OBJECT, CLASS_COMPUTE);
  uint64_t p = fixture_program(
      f, 0, &(struct fake_program){.operation = FAKE_ADD, .address = f->data.va, .value = 1});
  qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, 1);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  struct emulator_fault fault = last_fault(&f->c);
  assert_string_equal(fault.message,
                      "SKED ESR bit 24: shared and local memory windows overlap (both 0x0)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(release_writes_payload_and_time, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(release_works_after_set_object, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(four_launch_actions_run_grids, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(gpfifo_ring_wraps_around, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(launch_without_windows_faults, fixture_setup,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
