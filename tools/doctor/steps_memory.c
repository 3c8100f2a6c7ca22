/* Steps about memory and addresses. */
#include <inttypes.h>
#include <string.h>

#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/device.h"
#include "tools/doctor/doctor.h"

static const uint64_t sizes[] = {GPU_PAGE_BYTES, 64 << 10, 1 << 20, 16 << 20};

static const char *const type_names[] = {
    [RT_MEMORY_CACHED] = "cached",
    [RT_MEMORY_WRITE_COMBINE] = "write-combined",
};

/* Checks that new memory is zero and keeps what is written. */
static bool check_memory(struct doctor *d, const struct rt_memory *m) {
  volatile uint64_t *words = m->cpu;
  size_t count = m->size / sizeof(*words);
  for (size_t i = 0; i < count; i++)
    if (words[i]) {
      doctor_say(d, "new memory holds 0x%" PRIx64 " at byte %zu", words[i], i * sizeof(*words));
      return false;
    }
  for (size_t i = 0; i < count; i++)
    words[i] = ~(uint64_t)i;
  for (size_t i = 0; i < count; i++)
    if (words[i] != ~(uint64_t)i) {
      doctor_say(d, "byte %zu reads 0x%" PRIx64 " after 0x%" PRIx64 " was written",
                 i * sizeof(*words), words[i], ~(uint64_t)i);
      return false;
    }
  return true;
}

static bool try_memory(struct doctor *d, int as_fd, uint64_t size, enum rt_memory_type type) {
  struct rt_memory m;
  uint64_t start = base_clock_ns();
  if (rt_memory_create(d->device, as_fd, size, type, &m))
    return doctor_say_failure(d);
  uint64_t made = base_clock_ns();
  bool good = check_memory(d, &m);
  uint64_t end = base_clock_ns();
  doctor_say(d, "%" PRIu64 " KiB %s: made in %.3f ms, written and read in %.3f ms", size >> 10,
             type_names[type], (double)(made - start) / 1e6, (double)(end - made) / 1e6);
  if (m.gpu)
    doctor_say(d, "  at 0x%" PRIx64 " for the GPU, %s for the CPU", m.gpu,
               (uintptr_t)m.cpu == m.gpu ? "the same" : "elsewhere");
  rt_memory_destroy(d->device, &m);
  return good;
}

static bool try_all(struct doctor *d, int as_fd) {
  bool good = true;
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    good &= try_memory(d, as_fd, sizes[i], RT_MEMORY_CACHED);
    good &= try_memory(d, as_fd, sizes[i], RT_MEMORY_WRITE_COMBINE);
  }
  return good;
}

bool step_memory(struct doctor *d) {
  return try_all(d, RT_NO_ADDRESS_SPACE);
}

bool step_addresses(struct doctor *d) {
  struct rt_context *c;
  if (rt_context_create(d->device, &c))
    return doctor_say_failure(d);
  doctor_say(d, "ALLOC_AS, OPEN_TSG and CREATE_SUBCONTEXT succeed; subcontext (VEID) %u",
             c->tsg.veid);
  struct nvgpu_as_va_region region = {0};
  struct nvgpu_as_get_va_regions_args args = {.buf_addr = (uintptr_t)&region,
                                              .buf_size = sizeof(region)};
  int result = d->device->os->ioctl(c->as_fd, NVGPU_AS_IOCTL_GET_VA_REGIONS, &args);
  if (result)
    doctor_say_refusal(d, "GET_VA_REGIONS", result);
  else
    doctor_say(d, "addresses from 0x%" PRIx64 ", %" PRIu64 " pages of %u bytes",
               (uint64_t)region.offset, (uint64_t)region.pages, region.page_size);
  rt_context_destroy(c);
  return result == 0;
}

bool step_mapping(struct doctor *d) {
  struct rt_context *c;
  if (rt_context_create(d->device, &c))
    return doctor_say_failure(d);
  bool good = try_all(d, c->as_fd);
  rt_context_destroy(c);
  return good;
}
