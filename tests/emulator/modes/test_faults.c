/* Clients that would hang or stall on a board after failures that the kernel may cause: the device
 * reports the rule that they break. Each kind runs in a separate process, because
 * TEGRACL_EMULATOR is read only once.
 *
 * test_faults KIND
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

/* ---- what is printed ---- */

static struct {
  int standard_error;
  FILE *file;
  char text[4096];
} printed;

static void catch_reports(void) {
  printed.file = tmpfile();
  assert_non_null(printed.file);
  printed.standard_error = dup(STDERR_FILENO);
  dup2(fileno(printed.file), STDERR_FILENO);
}

static const char *reports(void) {
  dup2(printed.standard_error, STDERR_FILENO);
  close(printed.standard_error);
  rewind(printed.file);
  size_t n = fread(printed.text, 1, sizeof(printed.text) - 1, printed.file);
  printed.text[n] = 0;
  fclose(printed.file);
  return printed.text;
}

/* ---- fences ---- */

struct fenced {
  struct client c;
  struct channel ch;
  struct buffer data;
  struct nvgpu_get_user_syncpoint_args point;
  int host1x;
};

static void fenced_open(struct fenced *f) {
  client_open(&f->c);
  channel_open(&f->c, &f->ch, 512, CLASS_COMPUTE);
  f->data = buffer_create(&f->c, 4096, true);
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, f->point);
  f->host1x = OS->open(HOST1X_FENCE_NODE, O_RDWR);
  assert_true(f->host1x >= 0);
}

static void fenced_close(struct fenced *f) {
  assert_int_equal(OS->close(f->host1x), 0);
  channel_close(&f->c, &f->ch);
  buffer_destroy(&f->c, &f->data);
  client_close(&f->c);
}

/* Increments the syncpoint and waits only for its fence, an earlier error of tegracl, although
 * memory is written too. Returns poll's result. */
static int wait_once(struct fenced *f, uint32_t value) {
  enum { PATIENCE = 100, SLEPT_PAST_FENCE_US = 60000 };
  const uint32_t release = hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE);
  struct host1x_create_fence fence = {.id = f->point.syncpoint_id,
                                      .threshold = f->point.syncpoint_max + value};
  EXPECT(0, f->host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
  push_semaphore(&f->ch, f->point.gpu_va, 0, release);
  push_semaphore(&f->ch, f->data.va, value, release);
  submit(&f->c, &f->ch);
  struct pollfd p = {.fd = fence.fence_fd, .events = POLLIN};
  const int ready = OS->poll(&p, 1, PATIENCE);
  assert_true(wait_word(f->data.cpu, value));
  usleep(SLEPT_PAST_FENCE_US);
  assert_int_equal(OS->close(fence.fence_fd), 0);
  /* A fence whose point is already reached when it is created is never late. */
  EXPECT(0, f->host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
  p.fd = fence.fence_fd;
  assert_int_equal(OS->poll(&p, 1, PATIENCE_MS), 1);
  assert_int_equal(OS->close(fence.fence_fd), 0);
  return ready;
}

static void lost_fence_is_reported(void **state) {
  (void)state;
  struct fenced f = {.host1x = -1};
  fenced_open(&f);
  catch_reports();
  const int first = wait_once(&f, 1);
  const bool quiet = ftell(printed.file) <= 0;
  const int second = wait_once(&f, 2);
  const char *text = reports();
  assert_int_equal(first, 0);
  assert_int_equal(second, 0);
  assert_true(quiet);
  assert_non_null(strstr(text, "after a late fence, poll the memory"));
  fenced_close(&f);
}

/* ---- preemption ---- */

/* An earlier error of tegracl: it did not use a channel whose preemption mode could not be set. */
static void unused_channel_is_reported(void **state) {
  (void)state;
  struct client c;
  struct channel ch;
  struct nvgpu_preemption_mode_args mode = {.compute_preempt_mode = NVGPU_PREEMPT_COMPUTE_CILP};
  client_open(&c);
  channel_open(&c, &ch, 512, CLASS_COMPUTE);
  EXPECT(-EINVAL, ch.fd, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, mode);
  catch_reports();
  channel_close(&c, &ch);
  assert_non_null(strstr(reports(), "nvgpu_gr_setup_set_preemption_mode"));

  /* A channel that is used is not reported, even if it is closed in the turn that writes the
   * word for which the client waits. */
  struct buffer data = buffer_create(&c, 4096, true);
  catch_reports();
  for (uint32_t i = 1; i <= 100; i++) {
    channel_open(&c, &ch, 512, CLASS_COMPUTE);
    EXPECT(-EINVAL, ch.fd, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, mode);
    push_semaphore(&ch, data.va, i, hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE));
    submit(&c, &ch);
    while (*(volatile uint32_t *)data.cpu != i)
      ; /* wait_word would sleep until the turn has ended */
    channel_close(&c, &ch);
  }
  assert_string_equal(reports(), "");
  buffer_destroy(&c, &data);
  client_close(&c);
}

/* An earlier error of tegracl: it opened and closed channels during a long kernel. */
static void channel_changes_during_kernel_are_reported(void **state) {
  (void)state;
  struct client c;
  struct channel busy, second = {.fd = -1};
  uint32_t qmd[QMD_WORDS];
  client_open(&c);
  channel_open(&c, &busy, 512, CLASS_COMPUTE);
  struct buffer data = buffer_create(&c, 0x4000, true);
  struct fake_program *program = data.cpu;
  volatile uint32_t *gate = (volatile uint32_t *)((char *)data.cpu + 0x1000);
  const volatile uint32_t *turns = gate + 64;
  *program = (struct fake_program){.operation = FAKE_COUNT,
                                   .address = data.va + 0x1000,
                                   .value = 1,
                                   .address2 = data.va + 0x1100};
  qmd_make(qmd, data.va, data.va + 0x3000, 1);
  memcpy((char *)data.cpu + 0x2000, qmd, sizeof(qmd));
  push_compute_setup(&busy);
  push_method(&busy, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, (uint32_t)((data.va + 0x2000) >> 8));
  push_method(&busy, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, 10);
  submit(&c, &busy);
  for (int i = 0; i < PATIENCE_MS && !*turns; i++)
    usleep(1000);
  assert_int_not_equal(*turns, 0); /* it has begun */

  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, open);
  second.fd = open.out.channel_fd;
  struct nvgpu_as_bind_channel_args as = {.channel_fd = (uint32_t)second.fd};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, as);
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = second.fd, .subcontext_id = c.veid};
  EXPECT(0, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  struct nvgpu_alloc_obj_ctx_args object = {.class_num = CLASS_COMPUTE};
  catch_reports();
  const int refused = OS->ioctl(second.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, &object);
  const char *text = reports();
  assert_int_equal(refused, -EBUSY);
  assert_non_null(strstr(text, "nvgpu_fifo_preempt_tsg"));

  /* The close also fails to preempt, and ends the TSG. */
  struct nvgpu_get_param_args dead = {0};
  EXPECT(0, busy.fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, dead);
  assert_int_equal(dead.value, 0);
  catch_reports();
  assert_int_equal(OS->close(second.fd), 0);
  assert_non_null(strstr(reports(), "nvgpu_fifo_preempt_tsg"));
  EXPECT(0, busy.fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, dead);
  assert_int_equal(dead.value, 1);
  *gate = 1;
  channel_close(&c, &busy);
  buffer_destroy(&c, &data);
  client_close(&c);
}

/* ---- another GPU ---- */

/* The fault changes what is copied to the client, and nothing beyond the client's buffer. */
static void characteristics_name_another_gpu(void **state) {
  (void)state;
  struct client c;
  client_open(&c);
  struct nvgpu_gpu_characteristics all = {0}, part = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS,
         (struct nvgpu_gpu_get_characteristics){sizeof(all), (uintptr_t)&all});
  assert_int_equal(all.sm_arch_sm_version, 0x900);
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS,
         (struct nvgpu_gpu_get_characteristics){sizeof(part.arch), (uintptr_t)&part});
  assert_int_equal(part.arch, all.arch);
  assert_int_equal(part.sm_arch_sm_version, 0);
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, (struct nvgpu_gpu_get_characteristics){0});
  client_close(&c);
}

/* ---- signals and busy hardware ---- */

/* With adversarial timing, a client that repeats its calls succeeds. */
static void client_repeats_interrupted_calls(void **state) {
  (void)state;
  enum { POLLS = 300, ROUNDS = 20 };
  struct client c;
  struct channel first;
  int interrupted = 0, over = 0, busy = 0;
  client_open(&c);
  channel_open(&c, &first, 512, CLASS_COMPUTE);
  for (int i = 0; i < POLLS; i++) {
    struct pollfd none = {.fd = -1};
    const int ready = OS->poll(&none, 1, 1);
    assert_true(ready == 0 || ready == -EINTR);
    interrupted += ready != 0;
    over += ready == 0;
    assert_int_equal(OS->poll(&none, 1, 0), 0); /* this call does not sleep */
  }
  assert_true(interrupted > 0 && over > interrupted);

  for (int i = 0; i < ROUNDS; i++) {
    struct channel second;
    int result;
    channel_open(&c, &second, 64, CLASS_COMPUTE);
    while ((result = OS->ioctl(c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, &second.fd)) == -EAGAIN)
      busy++;
    assert_int_equal(result, 0);
    channel_close(&c, &second);
  }
  assert_true(busy > 0);
  channel_close(&c, &first);
  client_close(&c);
}

int main(int argc, char **argv) {
  static const struct {
    const char *kind, *options;
    struct CMUnitTest test;
  } kinds[] = {
      {"refused-preemption", "fault:preemption", cmocka_unit_test(unused_channel_is_reported)},
      {"preemption", "preempt:100", cmocka_unit_test(channel_changes_during_kernel_are_reported)},
      {"interruptions", "adversarial:1", cmocka_unit_test(client_repeats_interrupted_calls)},
      {"lost-fences", "fault:fence-lost", cmocka_unit_test(lost_fence_is_reported)},
      {"other-gpu", "fault:other-gpu", cmocka_unit_test(characteristics_name_another_gpu)},
  };
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    if (argc > 1 && strcmp(argv[1], kinds[i].kind) == 0) {
      const struct CMUnitTest tests[] = {kinds[i].test};
      setenv("TEGRACL_EMULATOR", kinds[i].options, 1);
      return cmocka_run_group_tests(tests, NULL, NULL);
    }
  fprintf(stderr, "test_faults: which kind?\n");
  return 2;
}
