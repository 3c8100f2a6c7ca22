/* Calls of the C library's functions that this library replaces. The emulator in this library must
 * call them instead of our redirections, so the linker's --wrap (meson.build) turns a call of NAME
 * in this library into one of __wrap_NAME. */
#include "emulator/preload/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *next_function(_Atomic(void *) *found, const char *name) {
  void *function = atomic_load_explicit(found, memory_order_relaxed);
  if (!function) {
    function = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(found, function, memory_order_relaxed);
  }
  return function;
}

int next_result(int result) {
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap___open64_2(const char *path, int flags); /* called where _FORTIFY_SOURCE is defined */
int __wrap_access(const char *path, int mode);      /* called by gcov to record coverage */
int __wrap_close(int fd);
int __wrap_dup3(int fd, int target, int flags);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t length);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_fstat(int fd, struct stat *status);
/* Names for 64-bit file offsets, which the emulator is compiled with. */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));
int __wrap_fcntl64(int fd, int command, ...) __attribute__((alias("__wrap_fcntl")));
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("__wrap_mmap")));
int __wrap_fstat64(int fd, struct stat *status) __attribute__((alias("__wrap_fstat")));

int __wrap_open(const char *path, int flags, ...) {
  return NEXT(open)(path, flags, OPEN_MODE(flags));
}

int __wrap___open64_2(const char *path, int flags) {
  return NEXT(open)(path, flags, 0);
}

int __wrap_access(const char *path, int mode) {
  return NEXT(access)(path, mode);
}

int __wrap_close(int fd) {
  return NEXT(close)(fd);
}

int __wrap_dup3(int fd, int target, int flags) {
  return NEXT(dup3)(fd, target, flags);
}

int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  long argument = command == F_GETFD || command == F_GETFL ? 0 : va_arg(arguments, long);
  va_end(arguments);
  return NEXT(fcntl)(fd, command, argument);
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return NEXT(ioctl)(fd, request, argument);
}

void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return NEXT(mmap)(address, length, protection, flags, fd, offset);
}

int __wrap_munmap(void *address, size_t length) {
  return NEXT(munmap)(address, length);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  return NEXT(poll)(fds, count, timeout_ms);
}

int __wrap_fstat(int fd, struct stat *status) {
  return NEXT(fstat)(fd, status);
}
