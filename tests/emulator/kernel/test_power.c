/* Power of the GPU: what keeps it on, what happens to the user-mode page when it goes off,
 * and the mmap in which the kernel would deadlock. Here the GPU goes off 50 ms after the last
 * reference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/emulator/client.h"

static struct client c;
static sigjmp_buf no_page;

static int setup(void **state) {
  (void)state;
  client_open(&c);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  client_close(&c);
  return 0;
}

static void on_sigbus(int signal) {
  siglongjmp(no_page, signal);
}

/* Whether the page is there: an access to one that is not is a SIGBUS. */
static bool page_is_there(const volatile uint32_t *page) {
  struct sigaction old, new = {.sa_handler = on_sigbus};
  volatile bool there = false;
  sigaction(SIGBUS, &new, &old);
  if (!sigsetjmp(no_page, 1)) {
    assert_int_equal(page[0], 0xc461);
    there = true;
  }
  sigaction(SIGBUS, &old, NULL);
  return there;
}

static void pass_ms(unsigned ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* Within some seconds: however slow the machine is. */
static bool page_goes(const volatile uint32_t *page) {
  for (int i = 0; i < 1000 && page_is_there(page); i++)
    pass_ms(10);
  return !page_is_there(page);
}

static void *map_page(int ctrl, int *error) {
  return OS->mmap(NULL, 0x1000, PROT_READ | PROT_WRITE, MAP_SHARED, ctrl, 0, error);
}

static void gpu_time(void) {
  struct nvgpu_gpu_get_gpu_time_args time = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_GPU_TIME, time);
}

/* A request makes the page appear, but only for 50 ms, in which this thread may not run:
 * hence the repetition. */
static bool page_comes(const volatile uint32_t *page) {
  for (int i = 0; i < 1000; i++) {
    gpu_time();
    if (page_is_there(page))
      return true;
  }
  return false;
}

static void the_page_goes_and_comes(void **state) {
  (void)state;
  assert_true(page_goes(c.page));
  struct nvgpu_gpu_num_vsms vsms = {0}; /* takes no reference */
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_NUM_VSMS, vsms);
  assert_false(page_is_there(c.page));
  assert_true(page_comes(c.page));
  assert_true(page_goes(c.page));
}

static void a_channel_keeps_it(void **state) {
  (void)state;
  struct channel channels[2];
  for (int i = 0; i < 2; i++)
    channel_open(&c, &channels[i], 512, 0);
  pass_ms(300);
  assert_true(page_is_there(c.page));
  channel_close(&c, &channels[0]);
  pass_ms(300);
  assert_true(page_is_there(c.page));
  channel_close(&c, &channels[1]);
  assert_true(page_goes(c.page));
}

static void a_channel_may_allow_railgating(void **state) {
  (void)state;
  const uint32_t allow = 1, disallow = 2; /* bits of flags */
  struct channel channel;
  channel_open(&c, &channel, 512, 0);
  int32_t fds[] = {channel.fd};
  struct nvgpu_gpu_set_deterministic_opts_args a = {
      .num_channels = 1, .flags = allow, .channels = (uintptr_t)fds};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, a);
  assert_true(page_goes(c.page));
  a.flags = disallow;
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, a);
  pass_ms(300);
  assert_true(page_is_there(c.page));
  channel_close(&c, &channel);
}

/* What tegracl did until it was found: the page is mapped at the first open, and there is no
 * channel. The report names the rule. */
static void a_second_mapping_would_hang(void **state) {
  (void)state;
  char text[2048] = "";
  int error = 0;
  int second = OS->open("/dev/nvgpu/igpu0/ctrl", O_RDWR);
  assert_true(second >= 0);
  assert_true(page_goes(c.page));
  FILE *file = tmpfile();
  int standard_error = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  void *page = map_page(second, &error);
  dup2(standard_error, STDERR_FILENO);
  close(standard_error);
  rewind(file);
  assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
  fclose(file);
  assert_null(page);
  assert_int_equal(error, -EDEADLK);
  assert_non_null(strstr(text, "the kernel would hang"));
  assert_non_null(strstr(text, "gk20a_ctrl_dev_mmap"));

  /* With a channel it does not: SETUP_BIND has powered the GPU up. */
  struct channel channel;
  channel_open(&c, &channel, 512, 0);
  page = map_page(second, &error);
  assert_non_null(page);
  assert_int_equal(OS->munmap(page, 0x1000), 0);
  channel_close(&c, &channel);
  assert_int_equal(OS->close(second), 0);
}

/* An address that the client has put something else at is the client's. */
static void another_mapping_stays(void **state) {
  (void)state;
  int error;
  struct channel channel; /* keeps the GPU on, in which alone the page can be mapped again */
  int second = OS->open("/dev/nvgpu/igpu0/ctrl", O_RDWR);
  channel_open(&c, &channel, 512, 0);
  char *page = map_page(second, &error);
  assert_non_null(page);
  channel_close(&c, &channel);
  assert_true(mmap(page, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                   -1, 0) == page);
  strcpy(page, "mine");
  assert_true(page_goes(c.page));
  gpu_time();
  assert_string_equal(page, "mine");
  assert_int_equal(OS->munmap(page, 0x1000), 0);
  assert_int_equal(OS->close(second), 0);
}

int main(void) {
  setenv("TEGRACL_EMULATOR", "railgate:50", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_page_goes_and_comes, setup, teardown),
      cmocka_unit_test_setup_teardown(a_channel_keeps_it, setup, teardown),
      cmocka_unit_test_setup_teardown(a_channel_may_allow_railgating, setup, teardown),
      cmocka_unit_test_setup_teardown(a_second_mapping_would_hang, setup, teardown),
      cmocka_unit_test_setup_teardown(another_mapping_stays, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
