/* Power of the GPU: what keeps it on, what happens to the user-mode page when it is powered off,
 * and the mmap in which the kernel would deadlock. In this test the GPU is powered off 50 ms after
 * the last reference. */
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

/* Returns whether the page is mapped; an access to an unmapped page raises SIGBUS. */
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

/* Returns whether the page is removed; waits several seconds, as the machine may be slow. */
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

/* A request maps the page, but only for 50 ms, during which this thread may not run. The function
 * therefore repeats the request. */
static bool page_comes(const volatile uint32_t *page) {
  for (int i = 0; i < 1000; i++) {
    gpu_time();
    if (page_is_there(page))
      return true;
  }
  return false;
}

static void page_is_removed_and_restored(void **state) {
  (void)state;
  assert_true(page_goes(c.page));
  struct nvgpu_gpu_num_vsms vsms = {0}; /* takes no reference */
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_NUM_VSMS, vsms);
  assert_false(page_is_there(c.page));
  assert_true(page_comes(c.page));
  assert_true(page_goes(c.page));
}

static void open_channel_keeps_page(void **state) {
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

static void channel_may_allow_railgating(void **state) {
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

/* An earlier error of tegracl: a second mapping of the page while there is no channel. The report
 * names the kernel's function. */
static void second_mapping_would_hang(void **state) {
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

  /* With a channel it succeeds, because SETUP_BIND has powered the GPU up. */
  struct channel channel;
  channel_open(&c, &channel, 512, 0);
  page = map_page(second, &error);
  assert_non_null(page);
  assert_int_equal(OS->munmap(page, 0x1000), 0);
  channel_close(&c, &channel);
  assert_int_equal(OS->close(second), 0);
}

/* If the client has mapped something else at the address, the device keeps that mapping. */
static void other_mapping_is_kept(void **state) {
  (void)state;
  int error;
  struct channel channel; /* keeps the GPU on, which is required for mapping the page again */
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
      cmocka_unit_test_setup_teardown(page_is_removed_and_restored, setup, teardown),
      cmocka_unit_test_setup_teardown(open_channel_keeps_page, setup, teardown),
      cmocka_unit_test_setup_teardown(channel_may_allow_railgating, setup, teardown),
      cmocka_unit_test_setup_teardown(second_mapping_would_hang, setup, teardown),
      cmocka_unit_test_setup_teardown(other_mapping_is_kept, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
