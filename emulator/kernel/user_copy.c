/* Copies between the emulator's memory and its caller's. Linux makes the copies, so that a bad
 * pointer returns EFAULT as in a real ioctl. */
#include "emulator/kernel/user_copy.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"

/* Sandboxes forbid process_vm_readv, and qemu-user does not implement it. */
static bool is_unavailable(ssize_t result) {
  return result < 0 && (errno == ENOSYS || errno == EPERM);
}

/* Copies through a file, because read and write also report bad pointers. Slow. */
static int copy_through_file(void *to, const void *from, size_t bytes) {
  int fd = memfd_create("tegracl-copy", MFD_CLOEXEC);
  if (fd < 0)
    return -errno;
  bool done =
      base_write(fd, from, bytes) == (ssize_t)bytes && pread(fd, to, bytes, 0) == (ssize_t)bytes;
  close(fd);
  return done ? 0 : -EFAULT;
}

int emu_copy_from_user(void *to, uint64_t user, size_t bytes) {
  if (!bytes)
    return 0;
  struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)user, bytes};
  ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (done == (ssize_t)bytes)
    return 0;
  if (!is_unavailable(done))
    return -EFAULT;
  return copy_through_file(to, (const void *)(uintptr_t)user, bytes);
}

int emu_copy_to_user(uint64_t user, const void *from, size_t bytes) {
  if (!bytes)
    return 0;
  struct iovec local = {(void *)(uintptr_t)from, bytes};
  struct iovec remote = {(void *)(uintptr_t)user, bytes};
  ssize_t done = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
  int result = done == (ssize_t)bytes ? 0 : -EFAULT;
  if (is_unavailable(done))
    result = copy_through_file((void *)(uintptr_t)user, from, bytes);
  if (result)
    return result;
  /* Copy again with plain stores, which sanitizers and valgrind see. */
  memcpy((void *)(uintptr_t)user, from, bytes);
  return 0;
}
