/* Checks for free memory: nvmap's heap and /proc/meminfo. */
#include "runtime/device/available.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/message.h"

enum {
  /* Smaller allocations are summed up and checked together. */
  LARGE_BYTES = 16 << 20,
  /* Kept free for other programs, and for small allocations between two checks. */
  RESERVE_BYTES = 64 << 20,
  /* Page tables of GPU and CPU, nvmap's page list and scatter list: 8 + 8 + 8 + 32 bytes for each
   * page of 4096 bytes. */
  OVERHEAD = 64,
  SMALL_BOARD_GIB = 4,
};

/* Returns MemAvailable in bytes, or UINT64_MAX if it is unknown. */
static uint64_t read_available(const char *file) {
  static const char name[] = "MemAvailable:";
  char text[512] = ""; /* MemAvailable is on the third line */
  const int fd = open(file, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0)
    close(fd);
  const char *at = n > 0 ? strstr(text, name) : NULL;
  char *end = NULL;
  const uint64_t kib = at ? strtoull(at + sizeof(name) - 1, &end, 10) : 0;
  return at && end != at + sizeof(name) - 1 ? kib << 10 : UINT64_MAX;
}

/* Returns the free bytes that nvmap reports: MemAvailable minus CMA pages, which it cannot use
 * (nvmap_ioctl.c, system_heap_free_mem). */
static uint64_t heap_free(const struct rt_device *d) {
  struct nvmap_query_heap_params heap = {.heap_mask = NVMAP_HEAP_IOVMM};
  const int error = d->os->ioctl(d->nvmap_fd, rt_request(d, NVMAP_IOC_QUERY_HEAP_PARAMS), &heap);
  return error || !heap.total ? UINT64_MAX : heap.free;
}

int rt_available_check(struct rt_device *d, uint64_t size) {
  const uint64_t heap = heap_free(d);
  /* The software Orin has its own limit of memory, and uses host memory only for pages that are
   * written. */
  const uint64_t system = d->emulator_fd < 0 ? read_available(d->meminfo) : UINT64_MAX;
  const uint64_t least = heap < system ? heap : system;
  const uint64_t kept = RESERVE_BYTES + size / OVERHEAD;
  if (size <= least && kept <= least - size) {
    atomic_store(&d->unseen_bytes, 0);
    return 0;
  }
  return rt_fail(-ENOMEM,
                 "cannot allocate %" PRIu64 " MiB of memory: %" PRIu64
                 " MiB are free (nvmap's heap; MemAvailable), of which %" PRIu64
                 " MiB must stay free, or Linux kills processes; release buffers, or stop other "
                 "programs (errno %d)",
                 (size + (1 << 20) - 1) >> 20, least >> 20, kept >> 20, ENOMEM);
}

bool rt_available_due(struct rt_device *d, uint64_t size) {
  return size >= LARGE_BYTES || atomic_fetch_add(&d->unseen_bytes, size) + size >= LARGE_BYTES;
}

/* Other drivers of GPUs that share the system's memory use the same fractions. A small board needs
 * half of its memory for the system. */
uint64_t rt_available_share(uint64_t total) {
  const uint64_t small = (uint64_t)SMALL_BOARD_GIB << 30;
  return (total <= small ? total / 2 : total / 4 * 3) / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
}
