/* Tests which fds a child of fork closes: all that are open, whatever their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "runtime/device/fds.h"

enum { CLOSED_MAX = 16, GREATEST = (1 << 30) - 1 };

static int closed[CLOSED_MAX];
static int closed_count;
static bool starving;

static int note_close(int fd) {
  assert_true(closed_count < CLOSED_MAX);
  closed[closed_count++] = fd;
  return 0;
}

const struct nvgpu_os nvgpu_os_linux = {.close = note_close};

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  return starving ? NULL : __real_calloc(count, size);
}

static void child_closes_fds_of_all_numbers(void **state) {
  static const int fds[] = {0, 3, 65535, 65536, 70000, 1 << 20, GREATEST};
  enum { FDS = sizeof fds / sizeof fds[0] };
  for (int i = 0; i < FDS; i++)
    assert_int_equal(rt_fd_opened(&nvgpu_os_linux, fds[i]), fds[i]);
  assert_int_equal(rt_fd_opened(&nvgpu_os_linux, -EMFILE), -EMFILE);
  closed_count = 0;
  rt_fd_close(&nvgpu_os_linux, 70000);
  rt_fd_close(&nvgpu_os_linux, 3);
  rt_fd_close(&nvgpu_os_linux, -1);
  assert_int_equal(closed_count, 2);
  closed_count = 0;
  rt_fds_close_copies();
  assert_int_equal(closed_count, FDS - 2);
  for (int i = 0, at = 0; i < FDS; i++)
    if (fds[i] != 3 && fds[i] != 70000)
      assert_int_equal(closed[at++], fds[i]);
  closed_count = 0;
  rt_fds_close_copies();
  assert_int_equal(closed_count, 0);
}

/* An fd that cannot be added to the set is closed. */
static void fd_is_closed_without_memory_for_the_set(void **state) {
  closed_count = 0;
  starving = true;
  assert_int_equal(rt_fd_opened(&nvgpu_os_linux, 5), 5);
  assert_int_equal(rt_fd_opened(&nvgpu_os_linux, 2 << 20), -ENOMEM);
  starving = false;
  assert_int_equal(closed_count, 1);
  assert_int_equal(closed[0], 2 << 20);
  rt_fd_close(&nvgpu_os_linux, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(child_closes_fds_of_all_numbers),
                                     cmocka_unit_test(fd_is_closed_without_memory_for_the_set)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
