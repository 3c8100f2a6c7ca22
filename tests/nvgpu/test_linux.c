/* Tests the Linux implementation of struct nvgpu_os with failing system calls: which calls are
 * retried after a signal, and what each errno is converted to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "gpu/nvgpu/os.h"

/* ---- the C library ------------------------------------------------------------------ */

static struct {
  int error;         /* errno of the calls that fail */
  unsigned failures; /* how many fail */
  unsigned calls;
  int result; /* of the others */
  int open_flags;
} library;

static int result(void) {
  if (++library.calls > library.failures)
    return library.result;
  errno = library.error;
  return -1;
}

/* The names required by the linker's --wrap, with and without 64-bit file offsets.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t length);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_open(const char *path, int flags, ...) {
  library.open_flags = flags;
  return result();
}

int __wrap_open64(const char *path, int flags, ...) {
  return __wrap_open(path, flags);
}

int __wrap_close(int fd) {
  return result();
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
  return result();
}

void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return result() < 0 ? MAP_FAILED : address;
}

void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return __wrap_mmap(address, length, protection, flags, fd, offset);
}

int __wrap_munmap(void *address, size_t length) {
  return result();
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  return result();
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- the calls, each of which returns an int --------------------------------------------- */

static int call_open(void) {
  return nvgpu_os_linux.open("/dev/nvmap", O_RDWR);
}

static int call_close(void) {
  return nvgpu_os_linux.close(5);
}

static int call_ioctl(void) {
  return nvgpu_os_linux.ioctl(5, 1, NULL);
}

static int call_mmap(void) {
  static char page[1];
  int error = 1;
  void *p =
      nvgpu_os_linux.mmap(page, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0, &error);
  assert_ptr_equal(p, error ? NULL : page);
  return error;
}

static int call_munmap(void) {
  static char page[1];
  return nvgpu_os_linux.munmap(page, sizeof(page));
}

static int call_poll(void) {
  struct pollfd p = {.fd = 5, .events = POLLIN};
  return nvgpu_os_linux.poll(&p, 1, 1);
}

static const struct {
  const char *name;
  int (*call)(void);
  int good;            /* successful result of the C library and of our function */
  int interrupted;     /* our result after three EINTRs */
  unsigned interrupts; /* expected number of calls of the C library */
} calls[] = {
    {"open", call_open, 7, 7, 4},
    {"close", call_close, 0, 0, 1}, /* never retried: the fd is already closed */
    {"ioctl", call_ioctl, 24, 24, 4},
    {"mmap", call_mmap, 0, -EINTR, 1},
    {"munmap", call_munmap, 0, -EINTR, 1},
    {"poll", call_poll, 1, -EINTR, 1}, /* not retried: the caller checks its time limit */
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static int try(unsigned call, int error, unsigned failures) {
  library.error = error;
  library.failures = failures;
  library.calls = 0;
  library.result = calls[call].good;
  return calls[call].call();
}

/* ---- tests -------------------------------------------------------------------------- */

static void every_errno_is_returned(void **state) {
  static const int errors[] = {EPERM,  ENOENT, EIO,    ENXIO,  EBADF,    EAGAIN, ENOMEM,
                               EACCES, EFAULT, EBUSY,  EEXIST, ENODEV,   EINVAL, ENFILE,
                               EMFILE, ENOTTY, ENOSPC, ENOSYS, ETIMEDOUT};
  for (unsigned c = 0; c < CALLS; c++) {
    assert_int_equal(try(c, 0, 0), calls[c].good);
    assert_int_equal(library.calls, 1);
    for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
      assert_int_equal(try(c, errors[e], 1), -errors[e]);
      if (library.calls != 1)
        fail_msg("%s: %u calls at errno %d", calls[c].name, library.calls, errors[e]);
    }
  }
}

static void interrupted_calls_are_retried_or_reported(void **state) {
  for (unsigned c = 0; c < CALLS; c++) {
    assert_int_equal(try(c, EINTR, 3), calls[c].interrupted);
    if (library.calls != calls[c].interrupts)
      fail_msg("%s: %u calls instead of %u", calls[c].name, library.calls, calls[c].interrupts);
  }
}

static void fds_are_close_on_exec(void **state) {
  try(0, 0, 0);
  assert_int_equal(library.open_flags, O_RDWR | O_CLOEXEC);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_errno_is_returned),
      cmocka_unit_test(interrupted_calls_are_retried_or_reported),
      cmocka_unit_test(fds_are_close_on_exec),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
