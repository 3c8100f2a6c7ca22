/* Redirected functions that take file descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator/descriptors.h"
#include "emulator/emulator.h"
#include "emulator/preload/next.h"

REDIRECT int close(int fd) {
  if (emulator_hides(fd))
    return next_result(-EBADF);
  return emulator_owns(fd) ? next_result(nvgpu_os_emulator.close(fd)) : NEXT(close)(fd);
}

static void close_owned(unsigned first, unsigned last) {
  int fd = first < EMU_FDS ? emulator_owns_next((int)first) : -1;
  for (; fd >= 0 && (unsigned)fd <= last; fd = emulator_owns_next(fd))
    nvgpu_os_emulator.close(fd);
}

/* Closes all fds in a range except those that are hidden from the program. */
REDIRECT int close_range(unsigned first, unsigned last, int flags) {
  if (flags == 0 && first <= last)
    close_owned(first, last);
  int hidden = first < EMU_FDS ? emulator_hides_next((int)first) : -1;
  while (hidden >= 0 && (unsigned)hidden < last) {
    if ((unsigned)hidden > first && NEXT(close_range)(first, (unsigned)hidden - 1, flags))
      return -1;
    first = (unsigned)hidden + 1;
    hidden = emulator_hides_next((int)first);
  }
  if (hidden >= 0 && (unsigned)hidden == last) {
    if (first == last)
      return 0;
    last--;
  }
  return NEXT(close_range)(first, last, flags);
}

REDIRECT void closefrom(int first) {
  if (close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0))
    NEXT(closefrom)(first);
}

REDIRECT int dup(int fd) {
  return emulator_owns(fd) ? next_result(emulator_dup(fd, 0, 0)) : NEXT(dup)(fd);
}

static bool owns_one(int fd, int target) {
  return fd != target && (emulator_owns(fd) || emulator_owns(target));
}

REDIRECT int dup2(int fd, int target) {
  return owns_one(fd, target) ? next_result(emulator_dup_onto(fd, target, 0))
                              : NEXT(dup2)(fd, target);
}

REDIRECT int dup3(int fd, int target, int flags) {
  return owns_one(fd, target) ? next_result(emulator_dup_onto(fd, target, flags))
                              : NEXT(dup3)(fd, target, flags);
}

REDIRECT int fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && emulator_owns(fd))
    return next_result(
        emulator_dup(fd, (int)(intptr_t)argument, command == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0));
  return NEXT(fcntl)(fd, command, argument);
}
REDIRECT_ALIAS(fcntl) int fcntl64(int fd, int command, ...);

REDIRECT int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (!emulator_owns(fd))
    return NEXT(ioctl)(fd, request, argument);
  emulator_wake_engine();
  return next_result(nvgpu_os_emulator.ioctl(fd, request, argument));
}

REDIRECT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_ANONYMOUS) || !emulator_owns(fd))
    return NEXT(mmap)(address, length, protection, flags, fd, offset);
  int error;
  void *mapping = nvgpu_os_emulator.mmap(address, length, protection, flags, fd, offset, &error);
  if (error)
    errno = -error;
  return error ? MAP_FAILED : mapping;
}
REDIRECT_ALIAS(mmap)
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);

REDIRECT int munmap(void *address, size_t length) {
  return emulator_is_mapped() ? next_result(nvgpu_os_emulator.munmap(address, length))
                              : NEXT(munmap)(address, length);
}

/* The fd of a node is a memfd, but the program must see a character device. */
REDIRECT int fstat(int fd, struct stat *status) {
  return emulator_owns(fd) && emulator_fd_status(fd, status) ? 0 : NEXT(fstat)(fd, status);
}
REDIRECT_ALIAS(fstat) int fstat64(int fd, struct stat64 *status);
