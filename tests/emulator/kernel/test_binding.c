/* Channels that leave their TSG or lose it, and what their classes allow.
 * docs/hardware/kernel-interface.md 3.3 UNBIND_CHANNEL, 3.4, 7. The functions in the comments are
 * nvgpu's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

/* by which the driver raises a user syncpoint: common/sync/channel_user_syncpt.c */
enum { SAFE_STEP = 1000 };

static struct fixture *f;
static int host1x;

static int setup(void **state) {
  int result = fixture_setup(state);
  f = *state;
  host1x = OS->open("/dev/host1x-fence", O_RDWR);
  assert_true(host1x >= 0);
  return result;
}

static int teardown(void **state) {
  assert_int_equal(OS->close(host1x), 0);
  return fixture_teardown(state);
}

static struct nvgpu_get_user_syncpoint_args syncpoint_of(const struct channel *ch) {
  struct nvgpu_get_user_syncpoint_args args = {0};
  EXPECT(0, ch->fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, args);
  return args;
}

/* Returns an fd that is readable when the syncpoint has risen by this much. */
static int fence_at(const struct nvgpu_get_user_syncpoint_args *before, uint32_t rise) {
  struct host1x_create_fence fence = {.id = before->syncpoint_id,
                                      .threshold = before->syncpoint_max + rise};
  EXPECT(0, host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
  return fence.fence_fd;
}

static bool is_readable(int fd, int timeout_ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  const int ready = OS->poll(&p, 1, timeout_ms);
  return ready == 1 && p.revents == POLLIN;
}

static bool is_dead(const struct channel *ch) {
  struct nvgpu_get_param_args timedout = {0};
  EXPECT(0, ch->fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, timedout);
  return timedout.value;
}

static bool can_run(struct channel *ch) {
  static uint32_t turn;
  push_semaphore(ch, f->data.va, ++turn, 1);
  submit(&f->c, ch);
  return wait_word(f->data.cpu, turn);
}

/* common/fifo/tsg.c, nvgpu_tsg_unbind_channel_common: the syncpoint is raised, and the channel is
 * removed from the runlist, into which only SETUP_BIND puts it: common/fifo/channel.c,
 * nvgpu_channel_setup_bind */
static void unbound_channel_never_runs_again(void **state) {
  struct channel ch;
  channel_open(&f->c, &ch, 64, CLASS_COMPUTE);
  assert_true(can_run(&ch));
  const struct nvgpu_get_user_syncpoint_args before = syncpoint_of(&ch);
  const int fence = fence_at(&before, SAFE_STEP);
  int result;
  /* The semaphore is written before the channel is idle, and until then nvgpu returns EAGAIN. */
  while ((result = OS->ioctl(f->c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, &ch.fd)) == -EAGAIN)
    usleep(100);
  assert_int_equal(result, 0);
  assert_true(is_readable(fence, PATIENCE_MS));
  assert_int_equal(syncpoint_of(&ch).syncpoint_max - before.syncpoint_max, SAFE_STEP);
  assert_true(is_dead(&ch));
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL, ch.fd);
  assert_false(is_dead(&ch));
  EXPECT(-EEXIST, ch.fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND,
         (struct nvgpu_channel_setup_bind_args){.num_gpfifo_entries = 64});
  *(uint32_t *)fixture_data(f, 64) = 0;
  push_semaphore(&ch, f->data.va + 64, 1, 1);
  submit(&f->c, &ch);
  assert_true(can_run(&f->ch));
  usleep(1000);
  assert_int_equal(*(uint32_t *)fixture_data(f, 64), 0);
  channel_close(&f->c, &ch);
  assert_int_equal(OS->close(fence), 0);
}

/* A channel that works is raised when it leaves its TSG and when it is closed
 * (common/fifo/channel.c, channel_free_invoke_sync_destroy), an aborted one only by the abort and
 * when it leaves. */
static void closing_raises_the_syncpoint_twice(void **state) {
  for (int aborted = 0; aborted < 2; aborted++) {
    struct client c = f->c;
    struct channel ch;
    client_open_tsg(&c);
    channel_open(&c, &ch, 64, CLASS_COMPUTE);
    const struct nvgpu_get_user_syncpoint_args before = syncpoint_of(&ch);
    const int last = fence_at(&before, 2 * SAFE_STEP),
              beyond = fence_at(&before, 2 * SAFE_STEP + 1);
    if (aborted)
      assert_int_equal(OS->ioctl(ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
    assert_false(is_readable(last, 0));
    channel_close(&c, &ch);
    assert_true(is_readable(last, PATIENCE_MS));
    assert_false(is_readable(beyond, 0));
    assert_int_equal(OS->close(last), 0);
    assert_int_equal(OS->close(beyond), 0);
    assert_int_equal(OS->close(c.tsg), 0);
  }
}

/* nvgpu_tsg_unbind_channel_common enables the rest of the TSG. */
static void closing_enables_disabled_channels_of_the_tsg(void **state) {
  struct channel ch;
  channel_open(&f->c, &ch, 64, CLASS_COMPUTE);
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_DISABLE, NULL), 0);
  *(uint32_t *)fixture_data(f, 64) = 0;
  push_semaphore(&f->ch, f->data.va + 64, 1, 1);
  submit(&f->c, &f->ch);
  usleep(1000);
  assert_int_equal(*(uint32_t *)fixture_data(f, 64), 0);
  channel_close(&f->c, &ch);
  assert_true(wait_word(fixture_data(f, 64), 1));
}

/* SETUP_BIND enables its channel in a disabled TSG (hal/fifo/channel_ga10b_fusa.c,
 * ga10b_channel_bind), and ALLOC_OBJ_CTX enables the whole TSG (common/gr/gr_setup.c,
 * nvgpu_gr_setup_alloc_obj_ctx). */
static void new_channels_end_a_disabled_tsg(void **state) {
  struct channel ch;
  assert_int_equal(OS->ioctl(f->c.tsg, NVGPU_IOCTL_TSG_DISABLE, NULL), 0);
  channel_open(&f->c, &ch, 64, 0);
  assert_true(can_run(&ch));
  *(uint32_t *)fixture_data(f, 64) = 0;
  push_semaphore(&f->ch, f->data.va + 64, 1, 1);
  submit(&f->c, &f->ch);
  usleep(1000);
  assert_int_equal(*(uint32_t *)fixture_data(f, 64), 0);
  struct nvgpu_alloc_obj_ctx_args object = {.class_num = CLASS_COMPUTE};
  EXPECT(0, ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
  assert_true(wait_word(fixture_data(f, 64), 1));
  channel_close(&f->c, &ch);
}

/* nvgpu_tsg_bind_channel does not look at the TSG's past. */
static void aborted_tsg_takes_new_channels(void **state) {
  struct channel ch;
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
  assert_true(is_dead(&f->ch));
  channel_open(&f->c, &ch, 64, CLASS_COMPUTE);
  assert_false(is_dead(&ch));
  assert_true(can_run(&ch));
  assert_true(is_dead(&f->ch));
  channel_close(&f->c, &ch);
}

static void set_modes(int result, uint32_t graphics, uint32_t compute) {
  struct nvgpu_preemption_mode_args args = {graphics, compute};
  EXPECT(result, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, args);
}

/* common/gr/gr_setup.c, nvgpu_gr_setup_validate_preemption_mode; common/gr/ctx.c,
 * nvgpu_gr_ctx_check_valid_preemption_mode; common/gr/obj_ctx.c,
 * nvgpu_gr_obj_ctx_set_compute_preemption_mode */
static void preemption_modes_are_checked_if_they_change(void **state) {
  const uint32_t gfxp = NVGPU_PREEMPT_GRAPHICS_GFXP, cilp = NVGPU_PREEMPT_COMPUTE_CILP;
  const uint32_t cta = NVGPU_PREEMPT_COMPUTE_CTA;
  struct nvgpu_alloc_obj_ctx_args copy = {.class_num = 0xc7b5}, compute = {.class_num = 0xc7c0};
  set_modes(0, 0, 0);
  set_modes(0, NVGPU_PREEMPT_GRAPHICS_WFI, NVGPU_PREEMPT_COMPUTE_WFI); /* the current ones */
  set_modes(-EINVAL, gfxp, cilp);
  set_modes(-EINVAL, 0, 8);
  set_modes(-EINVAL, 8, 0);
  /* The class of the last ALLOC_OBJ_CTX counts, and only for a change. */
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, copy);
  set_modes(-EINVAL, 0, cta);
  set_modes(0, 0, NVGPU_PREEMPT_COMPUTE_WFI);
  /* A copy class ignores the flags. */
  copy.flags = 1 << 1 | 1 << 2;
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, copy);
  compute.flags = copy.flags;
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, compute);
  set_modes(0, 0, cta);
  set_modes(-EINVAL, 0, NVGPU_PREEMPT_COMPUTE_WFI);
  /* Only two modes in one request exclude each other. */
  set_modes(0, gfxp, 0);
  set_modes(0, gfxp, cilp);
  set_modes(0, gfxp, cilp);
}

/* common/fifo/tsg.c, nvgpu_tsg_validate_class_veid_pbdma, and hal/class/class_ga10b.c: the 2D class
 * is not a graphics class. */
static void two_d_class_is_allowed_in_async_subcontexts(void **state) {
  struct nvgpu_alloc_obj_ctx_args object = {.class_num = 0x902d};
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
  object.class_num = 0xc797;
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(unbound_channel_never_runs_again, setup, teardown),
      cmocka_unit_test_setup_teardown(closing_raises_the_syncpoint_twice, setup, teardown),
      cmocka_unit_test_setup_teardown(closing_enables_disabled_channels_of_the_tsg, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(new_channels_end_a_disabled_tsg, setup, teardown),
      cmocka_unit_test_setup_teardown(aborted_tsg_takes_new_channels, setup, teardown),
      cmocka_unit_test_setup_teardown(preemption_modes_are_checked_if_they_change, setup, teardown),
      cmocka_unit_test_setup_teardown(two_d_class_is_allowed_in_async_subcontexts, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
