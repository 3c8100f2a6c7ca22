/* The state after each kind of failure: the TSG's notifiers, its channels, events and syncpoints,
 * the results of later ioctls, and that other clients continue. docs/hardware/kernel-interface.md
 * 7. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/objects.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/exceptions.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

static void compute(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, method, data);
}

static void grid(struct fixture *f, struct fake_program program) {
  program.address = program.address ? program.address : f->data.va;
  uint64_t p = fixture_program(f, 0, &program);
  qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, 20);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_SCHEDULE);
}

/* ---- what goes wrong ---- */

static void mmu_of_grid(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_WRITE_BAD, .value = 0x123456000});
}

static void mmu_of_copy(struct fixture *f) {
  push_method(&f->ch, SUBCHANNEL_COPY, NVC7B5_SET_OBJECT, CLASS_COPY);
  push_method(&f->ch, SUBCHANNEL_COPY, NVC7B5_LINE_LENGTH_IN, 16);
  push_method(&f->ch, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 0x182);
}

static void mmu_of_semaphore(struct fixture *f) {
  push_semaphore(&f->ch, 0x1000, 1, 1);
}

static void misaligned(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_FAULT, .value = SM_FAULT_MISALIGNED});
}

static void illegal_instruction(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_FAULT, .value = SM_FAULT_ILLEGAL_INSTRUCTION});
}

static void shared_range(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_FAULT, .value = SM_FAULT_SHARED_RANGE});
}

static void register_range(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_FAULT, .value = SM_FAULT_REGISTER_RANGE});
}

static void barrier_range(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_FAULT, .value = SM_FAULT_BARRIER_RANGE});
}

static void trap(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_FAULT, .value = SM_FAULT_TRAP});
}

static void illegal_method(struct fixture *f) {
  push_compute_setup(&f->ch);
  compute(f, 0xffc, 0);
}

static void wrong_class(struct fixture *f) {
  push_method(&f->ch, SUBCHANNEL_3D, NVC76F_SET_OBJECT, CLASS_COMPUTE);
}

static void bad_qmd(struct fixture *f) {
  grid(f, (struct fake_program){.operation = FAKE_ADD});
  qmd_set(fixture_qmd(f, 0), QMD_REGISTER_COUNT_V, 0);
}

static void bad_header(struct fixture *f) {
  push(&f->ch, 6u << 29 | 1u << 16);
}

static void bad_entry(struct fixture *f) {
  submit_entry(&f->c, &f->ch, UINT64_C(1) << 32);
}

static void bad_checksum(struct fixture *f) {
  submit_entry(&f->c, &f->ch, UINT64_C(3) << 32);
}

static void bad_put(struct fixture *f) {
  *(uint32_t *)(void *)((char *)f->ch.userd.cpu + USERD_GP_PUT) = 5000;
  OS->doorbell(f->c.page, f->ch.token);
}

/* Gives the channel a limit, which no channel with user-mode submission can have. */
static void acquire_timeout(struct fixture *f) {
  pthread_mutex_lock(&emu_gpu.lock);
  struct emu_channel *channel = emu_table_get_kind(f->ch.fd, EMU_CHANNEL);
  channel->engine->host.acquire_limit_ns = 50000000;
  pthread_mutex_unlock(&emu_gpu.lock);
  push_semaphore(&f->ch, f->data.va, 1, 0);
}

static void forced_reset(struct fixture *f) {
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
}

static const struct failure {
  const char *name;
  void (*cause)(struct fixture *f);
  uint32_t code, warp_error, global_error;
} failures[] = {
    {"MMU fault of a grid", mmu_of_grid, NOTIFIER_MMU_FAULT, WARP_ERROR_MMU_NACK, 0},
    {"MMU fault of a copy", mmu_of_copy, NOTIFIER_MMU_FAULT, 0, 0},
    {"MMU fault of a semaphore", mmu_of_semaphore, NOTIFIER_MMU_FAULT, 0, 0},
    {"misaligned", misaligned, NOTIFIER_GR_EXCEPTION, WARP_ERROR_MISALIGNED_ADDRESS, 0},
    {"instruction", illegal_instruction, NOTIFIER_GR_EXCEPTION, WARP_ERROR_ILLEGAL_INSTRUCTION, 0},
    {"shared memory", shared_range, NOTIFIER_GR_EXCEPTION, WARP_ERROR_ADDRESS_RANGE, 0},
    {"register", register_range, NOTIFIER_GR_EXCEPTION, WARP_ERROR_REGISTER_RANGE, 0},
    {"barrier", barrier_range, NOTIFIER_GR_EXCEPTION, WARP_ERROR_ILLEGAL_PARAMETER, 0},
    {"trap", trap, NOTIFIER_GR_EXCEPTION, 0, GLOBAL_ESR_BPT_INT},
    {"method", illegal_method, NOTIFIER_GR_ILLEGAL_NOTIFY, 0, 0},
    {"class", wrong_class, NOTIFIER_GR_EXCEPTION, 0, 0},
    {"QMD", bad_qmd, NOTIFIER_GR_EXCEPTION, 0, 0},
    {"header", bad_header, NOTIFIER_PBDMA_ERROR, 0, 0},
    {"entry", bad_entry, NOTIFIER_PBDMA_ERROR, 0, 0},
    {"checksum", bad_checksum, NOTIFIER_PB_CRC, 0, 0},
    {"GP_PUT", bad_put, NOTIFIER_PBDMA_ERROR, 0, 0},
    {"acquire", acquire_timeout, NOTIFIER_SEMAPHORE_TIMEOUT, 0, 0},
    {"reset", forced_reset, NOTIFIER_FORCE_RESET, 0, 0},
};

/* ---- what must follow ---- */

/* No request of the dead channel works except closing it. */
static void check_dead(struct client *c, struct channel *ch) {
  struct nvgpu_get_param_args timedout = {0};
  EXPECT(0, ch->fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, timedout);
  assert_int_equal(timedout.value, 1);
  struct nvgpu_submit_gpfifo_args args = {0};
  EXPECT(-ETIMEDOUT, ch->fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args);
  ch->word = ch->push.cpu;
  ch->start = 0;
  push_semaphore(ch, ch->push.va + 0x8000, 77, 1);
  *(uint32_t *)(void *)((char *)ch->push.cpu + 0x8000) = 0;
  submit(c, ch);
  usleep(500);
  assert_int_equal(*(uint32_t *)(void *)((char *)ch->push.cpu + 0x8000), 0);
}

static void check_works(struct client *c, struct channel *ch, struct buffer *data) {
  static uint32_t serial;
  serial++;
  push_semaphore(ch, data->va + 4088, serial, 1);
  submit(c, ch);
  assert_true(wait_word((char *)data->cpu + 4088, serial));
}

static void check(const struct failure *failure) {
  void *state = NULL;
  fixture_setup(&state);
  struct fixture *f = state;
  struct client bystander = f->c, again = f->c;
  struct channel sibling, other, fresh;
  channel_open(&f->c, &sibling, 64, CLASS_COMPUTE); /* of the same TSG */
  /* Another TSG in the same address space. */
  struct nvgpu_gpu_open_tsg_args tsg = {0};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, tsg);
  bystander.tsg = (int)tsg.tsg_fd;
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = f->c.as};
  EXPECT(0, bystander.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  channel_open(&bystander, &other, 64, CLASS_COMPUTE);
  struct nvgpu_event_id_ctrl_args event = {.cmd = NVGPU_EVENT_CMD_ENABLE,
                                           .event_id = NVGPU_EVENT_BLOCKING_SYNC};
  EXPECT(0, f->c.tsg, NVGPU_IOCTL_TSG_EVENT_ID_CTRL, event);
  struct nvgpu_get_user_syncpoint_args before = {0}, after = {0};
  EXPECT(0, sibling.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, before);
  check_works(&f->c, &sibling, &f->data);

  failure->cause(f);
  if (f->ch.word != f->ch.push.cpu)
    submit(&f->c, &f->ch);
  if (!wait_fault(&f->ch, failure->code))
    print_error("%s: notifier %u\n", failure->name,
                ((struct error_notifier *)f->ch.notifier.cpu)->code);
  assert_true(wait_fault(&f->ch, failure->code));
  assert_true(wait_fault(&sibling, failure->code));
  const struct error_notifier *n = f->ch.notifier.cpu;
  assert_int_equal(n->reserved, 0);
  assert_true(n->time_low || n->time_high);

  struct pollfd p = {.fd = event.event_fd, .events = POLLIN};
  assert_int_equal(OS->poll(&p, 1, 0), 0); /* nvgpu_tsg_abort posts no event */
  EXPECT(0, sibling.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, after);
  assert_int_equal(after.syncpoint_max - before.syncpoint_max, 1000);
  struct nvgpu_tsg_sm_error_state_record record = {0};
  struct nvgpu_tsg_read_single_sm_error_state_args read = {.record_mem = (uintptr_t)&record,
                                                           .record_size = sizeof(record)};
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE, read);
  assert_int_equal(record.warp_esr, failure->warp_error);
  assert_int_equal(record.global_esr, failure->global_error);
  if (failure->warp_error || failure->global_error)
    assert_int_equal(record.warp_esr_pc, f->code.va);
  check_dead(&f->c, &f->ch);
  check_dead(&f->c, &sibling);
  /* Other channels are not affected, and a new TSG in the same address space works. */
  assert_int_equal(((struct error_notifier *)other.notifier.cpu)->status, 0);
  check_works(&bystander, &other, &f->data);
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, tsg);
  again.tsg = (int)tsg.tsg_fd;
  EXPECT(0, again.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  channel_open(&again, &fresh, 64, CLASS_COMPUTE);
  check_works(&again, &fresh, &f->data);
  channel_close(&again, &fresh);
  channel_close(&bystander, &other);
  channel_close(&f->c, &sibling);
  assert_int_equal(OS->close(event.event_fd), 0);
  assert_int_equal(OS->close(again.tsg), 0);
  assert_int_equal(OS->close(bystander.tsg), 0);
  fixture_teardown(&state);
}

static void each_failure_ends_only_its_tsg(void **state) {
  (void)state;
  for (unsigned i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
    check(&failures[i]);
}

/* A dead TSG releases its channels' resources, even after many failures. */
static void dead_tsgs_release_channel_resources(void **state) {
  (void)state;
  for (unsigned i = 0; i < 300; i++) {
    void *own = NULL;
    fixture_setup(&own);
    struct fixture *f = own;
    const struct failure *failure = &failures[i % 16]; /* without the slow failures */
    failure->cause(f);
    if (f->ch.word != f->ch.push.cpu)
      submit(&f->c, &f->ch);
    assert_true(wait_fault(&f->ch, failure->code));
    fixture_teardown(&own);
  }
}

/* The notifier keeps the first error until the client clears its status. */
static void first_error_stays(void **state) {
  struct fixture *f = *state;
  struct error_notifier *n = f->ch.notifier.cpu;
  bad_header(f);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_PBDMA_ERROR));
  forced_reset(f);
  assert_int_equal(n->code, NOTIFIER_PBDMA_ERROR);
  n->status = 0;
  forced_reset(f);
  assert_true(wait_fault(&f->ch, NOTIFIER_FORCE_RESET));
  assert_int_equal(*(uint32_t *)fixture_data(f, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_failure_ends_only_its_tsg),
      cmocka_unit_test(dead_tsgs_release_channel_resources),
      cmocka_unit_test_setup_teardown(first_error_stays, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
