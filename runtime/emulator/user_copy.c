/* Copies between the emulator and its caller's memory. They go through the
 * kernel, so that a bad pointer is EFAULT, as it is for a real ioctl.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/emulator/gpu.h"

/* A sandbox may forbid process_vm_readv; then a bad pointer faults as in any
 * other code of the process. */
static bool refused(ssize_t result) {
  return result < 0 && (errno == ENOSYS || errno == EPERM);
}

int emu_copy_from_user(void *to, uint64_t user, size_t bytes) {
  if (!bytes)
    return 0;
  struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)user, bytes};
  ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (done == (ssize_t)bytes)
    return 0;
  if (!refused(done))
    return -EFAULT;
  memcpy(to, (const void *)(uintptr_t)user, bytes);
  return 0;
}

int emu_copy_to_user(uint64_t user, const void *from, size_t bytes) {
  if (!bytes)
    return 0;
  struct iovec local = {(void *)(uintptr_t)from, bytes};
  struct iovec remote = {(void *)(uintptr_t)user, bytes};
  ssize_t done = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
  if (done != (ssize_t)bytes && !refused(done))
    return -EFAULT;
  /* Once more where tools that watch this process's stores can see it. */
  memcpy((void *)(uintptr_t)user, from, bytes);
  return 0;
}
