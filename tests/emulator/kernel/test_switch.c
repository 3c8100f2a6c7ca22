/* TEGRACL_EMULATOR=ctxsw:MS: which grids another TSG waits for in each preemption mode, and the
 * abort of a TSG that lets another one wait too long. The option is read only once, so each client
 * runs in a child process. No result depends on the speed of the machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/kernel/syncpoint.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

enum {
  /* Offsets in the page of results. */
  GATE = 0, /* an endless work-group ends when this word is 1 */
  COUNT = 64,
  FIRST_DONE = 128,
  SECOND_DONE = 192,
  BANK = 0x8000,
  ENDLESS = 0x7fffffff, /* work-groups */
  LATER = 50,           /* turns or work-groups */
};

/* The fixture's channel belongs to the first TSG. */
struct two {
  struct fixture *f;
  struct channel second;
  uint32_t launches; /* of run_first */
};

static uint64_t read_word(const struct two *t, unsigned offset) {
  return __atomic_load_n((uint64_t *)fixture_data(t->f, offset), __ATOMIC_SEQ_CST);
}

static void open_gate(struct two *t, uint64_t value) {
  __atomic_store_n((uint64_t *)fixture_data(t->f, GATE), value, __ATOMIC_SEQ_CST);
}

static struct two two_open(uint32_t mode) {
  void *state;
  fixture_setup(&state);
  struct two t = {.f = state};
  struct client second = t.f->c;
  client_open_tsg(&second);
  channel_open(&second, &t.second, 64, CLASS_COMPUTE);
  push_compute_setup(&t.f->ch);
  if (mode) {
    struct nvgpu_preemption_mode_args args = {.compute_preempt_mode = mode};
    EXPECT(0, t.f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, args);
  }
  return t;
}

static bool is_above(const void *word, uint32_t value) {
  return __atomic_load_n((const uint64_t *)word, __ATOMIC_SEQ_CST) > value;
}

static bool counts_on(struct two *t) {
  const void *count = fixture_data(t->f, COUNT);
  return wait_until(is_above, count, (uint32_t)read_word(t, COUNT) + LATER);
}

/* Launches a grid of the first TSG and returns when it has begun. */
static void run_first(struct two *t, const struct fake_program *program, uint32_t ctas) {
  const uint64_t before = read_word(t, COUNT);
  qmd_make(fixture_qmd(t->f, 0), fixture_program(t->f, 0, program), t->f->code.va + BANK, ctas);
  fixture_launch(t->f, 0, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
  push_semaphore(&t->f->ch, t->f->data.va + FIRST_DONE, ++t->launches, RELEASE_64_WFI);
  submit(&t->f->c, &t->f->ch);
  assert_true(wait_until(is_above, fixture_data(t->f, COUNT), (uint32_t)before));
}

/* Launches a work-group that runs until the gate has the value. */
static void run_endless_group(struct two *t, uint64_t gate) {
  run_first(t,
            &(struct fake_program){.operation = FAKE_COUNT,
                                   .address = t->f->data.va + GATE,
                                   .value = gate,
                                   .address2 = t->f->data.va + COUNT},
            1);
}

/* Launches so many work-groups that the grid does not end, although each group does. Some of them
 * always run, unless no group may start. */
static void run_endless_grid(struct two *t) {
  enum { TURNS = 300 };
  run_first(t,
            &(struct fake_program){
                .operation = FAKE_TURNS, .address = t->f->data.va + COUNT, .value = TURNS},
            ENDLESS);
}

static void submit_second(struct two *t, uint64_t value) {
  push_semaphore(&t->second, t->f->data.va + SECOND_DONE, value, RELEASE_64);
  submit(&t->f->c, &t->second);
}

static bool second_runs(struct two *t, uint32_t value) {
  return wait_word(fixture_data(t->f, SECOND_DONE), value);
}

static bool is_dead(struct two *t) {
  struct nvgpu_get_param_args dead = {0};
  EXPECT(0, t->f->ch.fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, dead);
  return dead.value;
}

/* ---- which work another TSG waits for ---- */

static void waits_for_grid(const void *mode) {
  struct two t = two_open(*(const uint32_t *)mode);
  run_endless_group(&t, 1);
  submit_second(&t, 1);
  assert_true(counts_on(&t));
  assert_int_equal(read_word(&t, SECOND_DONE), 0);
  open_gate(&t, 1);
  assert_true(second_runs(&t, 1));
  assert_false(is_dead(&t));
}

static void waits_for_all_groups(const void *unused) {
  struct two t = two_open(NVGPU_PREEMPT_COMPUTE_WFI);
  run_endless_grid(&t);
  submit_second(&t, 1);
  assert_true(counts_on(&t) && counts_on(&t));
  assert_int_equal(read_word(&t, SECOND_DONE), 0);
}

static void waits_for_running_groups(const void *unused) {
  struct two t = two_open(NVGPU_PREEMPT_COMPUTE_CTA);
  run_endless_grid(&t);
  submit_second(&t, 1);
  assert_true(second_runs(&t, 1));
  assert_true(counts_on(&t)); /* the grid continues */
  assert_int_equal(read_word(&t, FIRST_DONE), 0);
}

static void waits_for_nothing(const void *unused) {
  struct two t = two_open(NVGPU_PREEMPT_COMPUTE_CILP);
  run_endless_group(&t, 1);
  for (uint32_t round = 1; round < 10; round++) {
    submit_second(&t, round);
    assert_true(second_runs(&t, round));
    assert_true(counts_on(&t));
  }
  assert_false(is_dead(&t));
  open_gate(&t, 1);
  assert_true(wait_word(fixture_data(t.f, FIRST_DONE), 1));
}

static void wfi_waits_for_grids(void **state) {
  const uint32_t mode = NVGPU_PREEMPT_COMPUTE_WFI;
  with_emulator("ctxsw:0", waits_for_grid, &mode);
  with_emulator("ctxsw:0", waits_for_all_groups, NULL);
}

static void cta_waits_for_running_groups(void **state) {
  const uint32_t mode = NVGPU_PREEMPT_COMPUTE_CTA;
  with_emulator("ctxsw:0", waits_for_grid, &mode);
  with_emulator("ctxsw:0", waits_for_running_groups, NULL);
  with_emulator("ctxsw:0,adversarial:3", waits_for_running_groups, NULL);
}

static void cilp_waits_for_nothing(void **state) {
  with_emulator("ctxsw:30", waits_for_nothing, NULL);
}

/* ---- the end ---- */

/* The first TSG is aborted with a report, and the second continues. */
static void ends(struct two *t) {
  submit_second(t, 1);
  assert_true(wait_fault(&t->f->ch, NOTIFIER_IDLE_TIMEOUT));
  assert_true(second_runs(t, 1));
  assert_true(is_dead(t));
}

static void ends_group(const void *mode) {
  struct two t = two_open(*(const uint32_t *)mode);
  FILE *diverted = tmpfile();
  const int standard_error = dup(STDERR_FILENO);
  assert_true(diverted && dup2(fileno(diverted), STDERR_FILENO) >= 0);
  run_endless_group(&t, 1);
  ends(&t);
  dup2(standard_error, STDERR_FILENO);
  char text[1024] = "";
  rewind(diverted);
  text[fread(text, 1, sizeof(text) - 1, diverted)] = 0;
  assert_non_null(strstr(text, "nvgpu_tsg_check_ctxsw_timeout"));
}

static void ends_grid(const void *unused) {
  struct two t = two_open(0);
  run_endless_grid(&t);
  ends(&t);
}

/* A TSG is not aborted while no other TSG waits, or before its own limit. */
static void is_not_ended(const void *limit) {
  enum { LIMIT_US = 30000 };
  struct two t = two_open(0);
  if (limit)
    EXPECT(0, t.f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_TIMEOUT, *(struct nvgpu_set_timeout_args *)limit);
  run_endless_group(&t, 1);
  if (limit)
    submit_second(&t, 1);
  usleep(4 * LIMIT_US);
  assert_false(is_dead(&t));
  open_gate(&t, 1);
  submit_second(&t, 2);
  assert_true(second_runs(&t, 2));
}

/* For a client that writes its own ring, each TSG has one limit for its whole lifetime. */
static void adds_up(const void *unused) {
  enum { ROUNDS = 1000, LATE_US = 20000 };
  struct two t = two_open(0);
  uint32_t round = 1;
  for (; round < ROUNDS && !is_dead(&t); round++) {
    run_endless_group(&t, round);
    submit_second(&t, round);
    usleep(LATE_US);
    open_gate(&t, round);
    assert_true(second_runs(&t, round));
    while (read_word(&t, FIRST_DONE) < round && !is_dead(&t))
      usleep(1);
  }
  assert_true(round < ROUNDS);
}

static void late_tsg_is_aborted(void **state) {
  const uint32_t modes[] = {0, NVGPU_PREEMPT_COMPUTE_CTA};
  with_emulator("ctxsw:30", ends_group, &modes[0]);
  with_emulator("ctxsw:30", ends_group, &modes[1]);
  with_emulator("ctxsw:30", ends_grid, NULL);
}

static void lone_tsg_is_not_aborted(void **state) {
  struct nvgpu_set_timeout_args limit = {.timeout = UINT32_MAX / 2};
  with_emulator("ctxsw:30", is_not_ended, NULL);
  with_emulator("ctxsw:30", is_not_ended, &limit);
}

static void late_periods_add_up(void **state) {
  with_emulator("ctxsw:300", adds_up, NULL);
}

/* ---- requests that preempt ---- */

static int open_beside(struct two *t) {
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  EXPECT(0, t->f->c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, open);
  struct nvgpu_as_bind_channel_args as = {.channel_fd = (uint32_t)open.out.channel_fd};
  EXPECT(0, t->f->c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, as);
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = open.out.channel_fd,
                                                .subcontext_id = t->f->c.veid};
  EXPECT(0, t->f->c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  struct nvgpu_alloc_obj_ctx_args object = {.class_num = CLASS_COMPUTE};
  return OS->ioctl(open.out.channel_fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, &object);
}

static void between_groups(const void *unused) {
  struct two t = two_open(NVGPU_PREEMPT_COMPUTE_CTA);
  run_endless_grid(&t);
  assert_int_equal(open_beside(&t), 0);
}

static void beside_a_group(const void *unused) {
  struct two t = two_open(NVGPU_PREEMPT_COMPUTE_CTA);
  run_endless_group(&t, 1);
  assert_int_equal(open_beside(&t), -EBUSY);
}

/* common/fifo/tsg.c, nvgpu_tsg_unbind_channel: a failed preemption aborts the TSG with the channel,
 * which raises its syncpoint. channel_free_invoke_sync_destroy does not raise it again. */
static void leaves_beside_a_group(const void *closes) {
  struct two t = two_open(NVGPU_PREEMPT_COMPUTE_CTA);
  struct channel ch;
  struct nvgpu_get_user_syncpoint_args syncpoint = {0};
  channel_open(&t.f->c, &ch, 64, CLASS_COMPUTE);
  EXPECT(0, ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, syncpoint);
  run_endless_group(&t, 1);
  const int id = (int)syncpoint.syncpoint_id;
  const uint32_t before = emu_syncpoint_value(id);
  if (*(const bool *)closes)
    assert_int_equal(OS->close(ch.fd), 0);
  else
    EXPECT(-EBUSY, t.f->c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, ch.fd);
  assert_true(is_dead(&t));
  assert_int_equal(emu_syncpoint_value(id) - before, EMU_SYNCPOINT_SAFE_STEP);
}

static void failed_preemption_raises_syncpoint_once(void **state) {
  with_emulator("preempt:10", leaves_beside_a_group, &(bool){false});
  with_emulator("preempt:10", leaves_beside_a_group, &(bool){true});
}

static void requests_preempt_between_groups(void **state) {
  with_emulator("preempt:60000", between_groups, NULL);
  with_emulator("preempt:10", beside_a_group, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wfi_waits_for_grids),
      cmocka_unit_test(cta_waits_for_running_groups),
      cmocka_unit_test(cilp_waits_for_nothing),
      cmocka_unit_test(late_tsg_is_aborted),
      cmocka_unit_test(lone_tsg_is_not_aborted),
      cmocka_unit_test(late_periods_add_up),
      cmocka_unit_test(requests_preempt_between_groups),
      cmocka_unit_test(failed_preemption_raises_syncpoint_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
