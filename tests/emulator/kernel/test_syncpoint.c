/* Syncpoints and the objects that wait for them: fds of /dev/host1x-fence, and events of TSGs.
 * docs/hardware/kernel-interface.md 2.6, 3.6, 6. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/hw/field.h"
#include "tests/emulator/client.h"

static int host1x;
static struct nvgpu_get_user_syncpoint_args sync_point;

static int setup(void **state) {
  fixture_setup(state);
  struct fixture *f = *state;
  host1x = OS->open("/dev/host1x-fence", O_RDWR);
  assert_true(host1x >= 0);
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, sync_point);
  return 0;
}

static int teardown(void **state) {
  assert_int_equal(OS->close(host1x), 0);
  return fixture_teardown(state);
}

/* A timer signals a fence shortly after the counter has reached the value. */
static short polled(int fd, int timeout_ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN | POLLPRI};
  int ready = OS->poll(&p, 1, timeout_ms);
  assert_int_equal(ready, p.revents != 0);
  return p.revents;
}

static int fence_of(uint32_t threshold) {
  struct host1x_create_fence fence = {.id = sync_point.syncpoint_id, .threshold = threshold};
  EXPECT(0, host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
  return fence.fence_fd;
}

/* Pushes the increment of docs/hardware/kernel-interface.md 6: a release of 32 bits to the
 * window. */
static void push_increment(struct channel *ch) {
  push_semaphore(ch, sync_point.gpu_va, 0, 1);
}

/* Section 3.6: the checks in their order. */
static void host1x_requests_check_arguments_in_order(void **state) {
  struct fixture *f = *state;
  struct host1x_create_fence fence = {.id = 17, .reserved = {1}};
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
  fence = (struct host1x_create_fence){.id = 1024};
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
  struct host1x_fence_extract_fence pair = {0};
  int fd = fence_of(sync_point.syncpoint_max + 3);
  struct host1x_fence_extract extract = {.fence_fd = fd, .reserved = {0, 1}};
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract);
  extract = (struct host1x_fence_extract){.fence_fd = f->ch.fd};
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract);
  extract.fence_fd = fd;
  EXPECT(0, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract); /* asks for the number */
  assert_int_equal(extract.num_fences, 1);
  EXPECT(-EFAULT, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract);
  extract.fences_ptr = (uintptr_t)&pair;
  EXPECT(0, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract);
  assert_int_equal(pair.id, sync_point.syncpoint_id);
  assert_int_equal(pair.threshold, sync_point.syncpoint_max + 3);
  struct host1x_trigger_pollfd trigger = {.fd = 999, .id = 17};
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger);
  trigger.fd = fd;
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger);
  struct host1x_create_pollfd poll_fd = {.reserved = 7}; /* not checked */
  EXPECT(0, host1x, HOST1X_IOCTL_CREATE_POLLFD, poll_fd);
  trigger = (struct host1x_trigger_pollfd){.fd = poll_fd.fd, .id = 1024};
  EXPECT(-EINVAL, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger);
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  assert_true(fcntl(poll_fd.fd, F_GETFD) & FD_CLOEXEC);
  assert_int_equal(OS->close(poll_fd.fd), 0);
  assert_int_equal(OS->close(fd), 0);
  /* 1.4, host1x-fence column */
  uint64_t word[8] = {0};
  EXPECT(-ENOTTY, host1x, NVMAP_IOC_CREATE, word);
  EXPECT(-ENOTTY, host1x, _IOWR('X', 0, uint32_t), word);
  EXPECT(-ENOTTY, host1x, _IOWR('X', 18, uint32_t), word);
  EXPECT(-ENOTTY, host1x, _IOWR('X', 2, char[64]), word);
  assert_int_equal(OS->ioctl(host1x, _IOWR('X', 3, uint32_t), (void *)16), -ENOTTY);
  assert_int_equal(OS->ioctl(host1x, HOST1X_IOCTL_CREATE_FENCE, (void *)16), -EFAULT);
}

static void fences_and_merged_fences_are_signalled(void **state) {
  struct fixture *f = *state;
  int one = fence_of(sync_point.syncpoint_max + 1);
  int two = fence_of(sync_point.syncpoint_max + 2);
  assert_int_equal(polled(one, 0), 0);
  push_increment(&f->ch);
  submit(&f->c, &f->ch);
  assert_int_equal(polled(one, PATIENCE_MS), POLLIN);
  assert_int_equal(polled(one, 0), POLLIN); /* stays */
  assert_int_equal(polled(two, 0), 0);
  struct sync_fence_info inner = {0};
  struct sync_file_info info = {.pad = 1};
  EXPECT(-EINVAL, one, SYNC_IOC_FILE_INFO, info);
  info = (struct sync_file_info){.num_fences = 1};
  EXPECT(-EFAULT, one, SYNC_IOC_FILE_INFO, info);
  info.sync_fence_info = (uintptr_t)&inner;
  EXPECT(0, one, SYNC_IOC_FILE_INFO, info);
  assert_int_equal(info.status, 1);
  assert_int_equal(inner.status, 1);
  assert_string_equal(inner.driver_name, "host1x");
  info = (struct sync_file_info){0};
  EXPECT(0, two, SYNC_IOC_FILE_INFO, info);
  assert_int_equal(info.status, 0);
  assert_int_equal(info.num_fences, 1);
  struct sync_merge_data both = {.fd2 = two, .flags = 1};
  EXPECT(-EINVAL, one, SYNC_IOC_MERGE, both);
  both = (struct sync_merge_data){.fd2 = f->ch.fd};
  EXPECT(-ENOENT, one, SYNC_IOC_MERGE, both);
  both.fd2 = two;
  EXPECT(0, two, SYNC_IOC_MERGE, both); /* merges a fence that is not reached with itself */
  int merged = both.fence;
  EXPECT(0, one, SYNC_IOC_MERGE, both); /* one was reached */
  info = (struct sync_file_info){0};
  EXPECT(0, both.fence, SYNC_IOC_FILE_INFO, info);
  assert_int_equal(info.num_fences, 1);
  assert_int_equal(OS->close(both.fence), 0);
  struct host1x_fence_extract_fence pairs[2] = {0};
  struct host1x_fence_extract extract = {
      .fence_fd = merged, .num_fences = 1, .fences_ptr = (uintptr_t)pairs};
  EXPECT(0, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract);
  assert_int_equal(extract.num_fences, 2);
  assert_int_equal(pairs[0].threshold, sync_point.syncpoint_max + 2);
  assert_int_equal(pairs[1].id, 0); /* did not fit */
  info = (struct sync_file_info){.num_fences = 1};
  EXPECT(-EINVAL, merged, SYNC_IOC_FILE_INFO, info);
  assert_int_equal(polled(merged, 0), 0);
  /* Two points in the past, one of them before the counter's wrap: both are reached at once. */
  int past = fence_of(sync_point.syncpoint_max), before = fence_of(sync_point.syncpoint_max - 5);
  assert_int_equal(polled(past, PATIENCE_MS), POLLIN);
  assert_int_equal(polled(before, PATIENCE_MS), POLLIN);
  push_increment(&f->ch);
  submit(&f->c, &f->ch);
  assert_int_equal(polled(two, PATIENCE_MS), POLLIN);
  assert_int_equal(polled(merged, PATIENCE_MS), POLLIN);
  const int fds[] = {one, two, past, before, merged};
  for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
    assert_int_equal(OS->close(fds[i]), 0);
}

static void pollfd_reports_once(void **state) {
  struct fixture *f = *state;
  struct host1x_create_pollfd poll_fd = {0};
  EXPECT(0, host1x, HOST1X_IOCTL_CREATE_POLLFD, poll_fd);
  struct host1x_trigger_pollfd trigger = {
      .fd = poll_fd.fd, .id = sync_point.syncpoint_id, .threshold = sync_point.syncpoint_max + 1};
  EXPECT(0, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger);
  trigger.threshold++;
  EXPECT(0, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger);
  assert_int_equal(polled(poll_fd.fd, 0), 0);
  push_increment(&f->ch);
  push_increment(&f->ch);
  push_semaphore(&f->ch, f->data.va, 1, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 1));
  /* Both waits form one batch, which is reported once and then removed. */
  assert_int_equal(polled(poll_fd.fd, PATIENCE_MS), POLLIN | POLLPRI);
  assert_int_equal(polled(poll_fd.fd, 0), 0);
  EXPECT(0, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger); /* reached before */
  assert_int_equal(polled(poll_fd.fd, 0), POLLIN | POLLPRI);
  /* The fd is closed while a wait is outstanding. */
  trigger.threshold += 5;
  EXPECT(0, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger);
  assert_int_equal(OS->close(poll_fd.fd), 0);
}

/* poll reports only the requested events. For fds of other files it reports what Linux reports. */
static void poll_reports_requested_events(void **state) {
  int pipes[2];
  struct host1x_create_pollfd poll_fd = {0};
  (void)state;
  EXPECT(0, host1x, HOST1X_IOCTL_CREATE_POLLFD, poll_fd);
  struct host1x_trigger_pollfd trigger = {
      .fd = poll_fd.fd, .id = sync_point.syncpoint_id, .threshold = sync_point.syncpoint_max};
  assert_int_equal(pipe(pipes), 0);
  assert_int_equal(write(pipes[1], "", 1), 1);
  struct pollfd fds[] = {{.fd = poll_fd.fd, .events = POLLPRI},
                         {.fd = pipes[0], .events = POLLPRI}};
  assert_int_equal(OS->poll(fds, 2, 0), 0);
  EXPECT(0, host1x, HOST1X_IOCTL_TRIGGER_POLLFD, trigger); /* reached before */
  assert_int_equal(OS->poll(fds, 2, PATIENCE_MS), 1);
  assert_int_equal(fds[0].revents, POLLPRI);
  assert_int_equal(fds[1].revents, 0);
  fds[1].events = POLLIN | POLLPRI;
  assert_int_equal(OS->poll(fds, 2, PATIENCE_MS), 1);
  assert_int_equal(fds[0].revents, 0);
  assert_int_equal(fds[1].revents, POLLIN);
  assert_int_equal(fds[0].events, POLLPRI);
  assert_int_equal(OS->close(poll_fd.fd), 0);
  close(pipes[0]);
  close(pipes[1]);
}

/* A reset increases the counter by 1000, which wakes all waiters; so does a close. Section 7. */
static void reset_wakes_waiters(void **state) {
  struct fixture *f = *state;
  int fd = fence_of(sync_point.syncpoint_max + 1000),
      more = fence_of(sync_point.syncpoint_max + 1001);
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
  assert_int_equal(polled(fd, PATIENCE_MS), POLLIN);
  assert_int_equal(polled(more, 0), 0);
  channel_close(&f->c, &f->ch);
  assert_int_equal(polled(more, PATIENCE_MS), POLLIN);
  channel_open(&f->c, &f->ch, 1024, CLASS_COMPUTE);
  assert_int_equal(OS->close(fd), 0);
  assert_int_equal(OS->close(more), 0);
}

static int event_of(int tsg, uint32_t id) {
  struct nvgpu_event_id_ctrl_args event = {.cmd = 1, .event_id = id};
  EXPECT(0, tsg, NVGPU_IOCTL_TSG_EVENT_ID_CTRL, event);
  return event.event_fd;
}

/* Pushes a release of the compute class with an awaken. */
static void push_awaken(struct channel *ch, uint64_t va) {
  push_compute_setup(ch);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_LOWER, (uint32_t)va);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER,
              (uint32_t)(va >> 32));
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_REPORT_SEMAPHORE_EXECUTE,
              hw_bits(NVC7C0_REPORT_SEMAPHORE_EXECUTE_AWAKEN_ENABLE, 1) |
                  hw_bits(NVC7C0_REPORT_SEMAPHORE_EXECUTE_STRUCTURE_SIZE, REPORT_ONE_WORD));
}

/* Section 6, "Events without syncpoints": an interrupt of an engine raises BLOCKING_SYNC once for
 * each TSG with a channel in the runlist, and only a compute class's awaken raises
 * GR_SEMAPHORE_WRITE_AWAKEN, for its own TSG. nvgpu, common/fifo/channel.c,
 * nvgpu_channel_semaphore_wakeup; common/gr/gr_intr.c, nvgpu_gr_intr_handle_semaphore_pending */
static void tsg_events_are_reported_once(void **state) {
  enum { SYNC, SAME_SYNC, AWAKEN, OTHER_EVENT, EMPTY_SYNC, OTHER_SYNC, OTHER_AWAKEN, EVENTS };
  struct fixture *f = *state;
  struct client empty = f->c, other = f->c;
  struct nvgpu_gpu_open_channel_args unready = {.in.runlist_id = NVGPU_RUNLIST_GR};
  struct channel ch;
  client_open_tsg(&empty);
  client_open_tsg(&other);
  channel_open(&other, &ch, 64, CLASS_COMPUTE);
  /* A channel without SETUP_BIND is in no runlist. */
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, unready);
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_BIND_CHANNEL,
         (struct nvgpu_as_bind_channel_args){(uint32_t)unready.out.channel_fd});
  EXPECT(0, empty.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL, unready.out.channel_fd);
  const int fds[EVENTS] = {[SYNC] = event_of(f->c.tsg, NVGPU_EVENT_BLOCKING_SYNC),
                           [SAME_SYNC] = event_of(f->c.tsg, NVGPU_EVENT_BLOCKING_SYNC),
                           [AWAKEN] = event_of(f->c.tsg, NVGPU_EVENT_GR_SEMAPHORE_WRITE_AWAKEN),
                           [OTHER_EVENT] = event_of(f->c.tsg, 3),
                           [EMPTY_SYNC] = event_of(empty.tsg, NVGPU_EVENT_BLOCKING_SYNC),
                           [OTHER_SYNC] = event_of(other.tsg, NVGPU_EVENT_BLOCKING_SYNC),
                           [OTHER_AWAKEN] =
                               event_of(other.tsg, NVGPU_EVENT_GR_SEMAPHORE_WRITE_AWAKEN)};
  for (int awaken = 0; awaken < 2; awaken++) {
    for (int i = 0; i < EVENTS; i++)
      assert_int_equal(polled(fds[i], 0), 0);
    if (awaken)
      push_awaken(&f->ch, f->data.va);
    else
      push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC76F_NON_STALL_INTERRUPT, 0);
    submit(&f->c, &f->ch);
    assert_int_equal(polled(fds[awaken ? AWAKEN : SYNC], PATIENCE_MS), POLLIN | POLLPRI);
    for (int i = awaken ? SYNC : SAME_SYNC; i < EVENTS; i++) {
      const bool expected = i == SYNC || i == SAME_SYNC || i == OTHER_SYNC;
      assert_int_equal(polled(fds[i], 0), expected ? POLLIN | POLLPRI : 0);
    }
  }
  /* An aborted TSG gets none: common/fifo/tsg.c, nvgpu_tsg_abort. */
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
  for (int i = 0; i < EVENTS; i++)
    assert_int_equal(polled(fds[i], 0), 0);
  channel_close(&other, &ch);
  assert_int_equal(OS->close(unready.out.channel_fd), 0);
  assert_int_equal(OS->close(empty.tsg), 0);
  assert_int_equal(OS->close(other.tsg), 0);
  for (int i = 0; i < EVENTS; i++)
    assert_int_equal(OS->close(fds[i]), 0);
}

static _Atomic int told;

static void *wait_for_event(void *fd) {
  struct pollfd p = {.fd = *(const int *)fd, .events = POLLIN | POLLPRI};
  const bool right = OS->poll(&p, 1, PATIENCE_MS) == 1 && p.revents == (POLLIN | POLLPRI);
  told++;
  return right ? fd : NULL;
}

static bool told_so_often(const void *unused, uint32_t times) {
  (void)unused;
  return told == (int)times;
}

/* When two threads wait at one fd, each event wakes one of them; the other continues to wait. */
static void event_wakes_one_thread(void **state) {
  struct fixture *f = *state;
  int event = event_of(f->c.tsg, NVGPU_EVENT_BLOCKING_SYNC);
  pthread_t thread[2];
  told = 0;
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, wait_for_event, &event), 0);
  for (uint32_t i = 1; i <= 2; i++) {
    usleep(20000); /* by now both threads are likely to sleep */
    push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC76F_NON_STALL_INTERRUPT, 0);
    submit(&f->c, &f->ch);
    assert_true(wait_until(told_so_often, NULL, i));
  }
  for (int i = 0; i < 2; i++) {
    void *right;
    pthread_join(thread[i], &right);
    assert_non_null(right);
  }
  assert_int_equal(OS->close(event), 0);
}

enum { WAITS = 400, WAITERS = 3 };

static void *wait_all(void *reached) {
  for (uint32_t i = 1; i <= WAITS; i++) {
    int fd = fence_of(sync_point.syncpoint_max + i);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (OS->poll(&p, 1, PATIENCE_MS) == 1)
      __atomic_fetch_add((int *)reached, 1, __ATOMIC_SEQ_CST);
    OS->close(fd);
  }
  return NULL;
}

/* No increment is missed, whichever thread is first. */
static void no_increment_is_missed(void **state) {
  struct fixture *f = *state;
  pthread_t thread[WAITERS];
  int reached = 0;
  for (int i = 0; i < WAITERS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, wait_all, &reached), 0);
  for (int i = 0; i < WAITS; i++) {
    push_increment(&f->ch);
    submit(&f->c, &f->ch);
    usleep(i % 50);
  }
  for (int i = 0; i < WAITERS; i++)
    pthread_join(thread[i], NULL);
  assert_int_equal(reached, WAITS * WAITERS);
}

/* A merge whose result cannot be copied out leaves no fd. */
static void failed_merge_leaves_no_fd_open(void **state) {
  const int one = fence_of(sync_point.syncpoint_max + 1);
  struct sync_merge_data *merge =
      mmap(NULL, sizeof(*merge), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(merge != MAP_FAILED);
  merge->fd2 = one;
  assert_int_equal(mprotect(merge, sizeof(*merge), PROT_READ), 0);
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  assert_int_equal(close(lowest), 0);
  assert_int_equal(OS->ioctl(one, SYNC_IOC_MERGE, merge), -EFAULT);
  assert_int_equal(fcntl(lowest, F_GETFD), -1);
  assert_int_equal(munmap(merge, sizeof(*merge)), 0);
  assert_int_equal(OS->close(one), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(host1x_requests_check_arguments_in_order, setup, teardown),
      cmocka_unit_test_setup_teardown(fences_and_merged_fences_are_signalled, setup, teardown),
      cmocka_unit_test_setup_teardown(failed_merge_leaves_no_fd_open, setup, teardown),
      cmocka_unit_test_setup_teardown(pollfd_reports_once, setup, teardown),
      cmocka_unit_test_setup_teardown(poll_reports_requested_events, setup, teardown),
      cmocka_unit_test_setup_teardown(reset_wakes_waiters, setup, teardown),
      cmocka_unit_test_setup_teardown(tsg_events_are_reported_once, setup, teardown),
      cmocka_unit_test_setup_teardown(event_wakes_one_thread, setup, teardown),
      cmocka_unit_test_setup_teardown(no_increment_is_missed, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
