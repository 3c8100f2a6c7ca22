/* Linux system calls as struct nvgpu_os. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/hw/host.h"
#include "gpu/nvgpu/os.h"

static int os_open(const char *path, int flags) {
  int fd;
  do
    fd = open(path, flags | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

/* Does not retry: Linux releases the fd even if close fails with EINTR. */
static int os_close(int fd) {
  return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

static int os_ioctl(int fd, unsigned long request, void *argument) {
  int result;
  do
    result = ioctl(fd, request, argument);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : result;
}

static void *os_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset,
                     int *error) {
  void *p = mmap(address, length, protection, flags, fd, offset);
  *error = p == MAP_FAILED ? -errno : 0;
  return p == MAP_FAILED ? NULL : p;
}

static int os_munmap(void *address, size_t length) {
  return munmap(address, length) < 0 ? -errno : 0;
}

static int os_poll(struct pollfd *fds, unsigned count, int timeout_ms) {
  int ready = poll(fds, count, timeout_ms);
  return ready < 0 ? -errno : ready;
}

/* The barrier drains write-combining buffers, which may contain GP_PUT; the store to the device
 * could overtake them. docs/hardware/command-stream.md 1.5 */
static void os_doorbell(void *usermode_page, uint32_t token) {
#if defined(__aarch64__)
  __asm__ volatile("dsb st" ::: "memory");
#elif defined(__x86_64__)
  __asm__ volatile("sfence" ::: "memory");
#else
  __sync_synchronize();
#endif
  volatile uint32_t *bell =
      (volatile uint32_t *)((char *)usermode_page + USERMODE_NOTIFY_CHANNEL_PENDING);
  *bell = token;
}

const struct nvgpu_os nvgpu_os_linux = {
    .name = "linux",
    .open = os_open,
    .close = os_close,
    .ioctl = os_ioctl,
    .mmap = os_mmap,
    .munmap = os_munmap,
    .poll = os_poll,
    .doorbell = os_doorbell,
};
