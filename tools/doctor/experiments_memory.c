/* Experiments with memory: imports, local and shared memory, atomics. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/hw/memory.h"
#include "runtime/context/context.h"
#include "tools/doctor/experiments.h"

/* ---- memory of others -------------------------------------------------------------------------
 */

/* A kernel writes to it, and the CPU reads that where it has it. */
static bool written(struct setup *b, const char *what, uint64_t gpu, const uint32_t *cpu) {
  struct doctor *d = b->doctor;
  uint64_t point = 0;
  if (start_kernel(b, b->queue, KERNEL_NUMBER, 1, gpu, 11, &point))
    return say_failure(d);
  if (!setup_wait(b, point))
    return false;
  for (uint32_t i = 0; i < EXPERIMENT_BLOCK; i++)
    if (cpu[i] != 11 + i) {
      say(d, "%s: word %u is %u instead of %u", what, i, cpu[i], 11 + i);
      return false;
    }
  say(d, "%s: what a kernel writes is there", what);
  return true;
}

static bool import_dmabuf(struct setup *b) {
  struct doctor *d = b->doctor;
  struct rt_memory memory;
  struct rt_buffer *buffer = NULL;
  if (rt_memory_create(d->device, RT_NO_ADDRESS_SPACE, GPU_PAGE_BYTES, RT_MEMORY_CACHED, &memory))
    return say_failure(d);
  const bool good = (rt_buffer_import(b->context, memory.fd, &buffer) == 0 || say_failure(d)) &&
                    written(b, "a dma-buf", buffer->gpu, memory.cpu);
  rt_buffer_destroy(buffer);
  rt_memory_destroy(d->device, &memory);
  return good;
}

static bool import_pages(struct setup *b) {
  struct doctor *d = b->doctor;
  struct rt_buffer *buffer = NULL;
  void *pages =
      mmap(NULL, GPU_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    say(d, "mmap: %s", strerror(errno));
    return false;
  }
  memset(pages, 0, GPU_PAGE_BYTES);
  const bool good =
      (rt_buffer_import_host(b->context, pages, GPU_PAGE_BYTES, &buffer) == 0 || say_failure(d)) &&
      written(b, "pages of the program (FROM_VA)", buffer->gpu, pages);
  rt_buffer_destroy(buffer);
  munmap(pages, GPU_PAGE_BYTES);
  return good;
}

bool step_import(struct doctor *d) {
  struct setup b;
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  bool good = import_dmabuf(&b);
  good = import_pages(&b) && good;
  setup_close(&b);
  return good;
}

/* ---- local memory ------------------------------------------------------------------------------
 */

/* Small, large, small again, with nothing between them that waits. */
bool step_grow(struct doctor *d) {
  enum { GROUPS = 8, TABLE = 64, TABLE_SUM = TABLE * (TABLE - 1) / 2, RUNS = 3 };
  static const enum doctor_kernel kernels[RUNS] = {KERNEL_PRIVATE_SUM, KERNEL_PRIVATE_MORE,
                                                   KERNEL_PRIVATE_SUM};
  struct setup b;
  uint64_t point = 0;
  bool good = true;
  if (!setup_open(d, RUNS * GPU_PAGE_BYTES, &b))
    return false;
  for (int r = 0; r < RUNS && good; r++)
    good = start_kernel(&b, b.queue, kernels[r], GROUPS, b.data->gpu + (uint64_t)r * GPU_PAGE_BYTES,
                        0, &point) == 0 ||
           say_failure(d);
  good = good && setup_wait(&b, point);
  const struct rt_pool *pool = &b.queue->channel->tsg->pool;
  say(d, "pool of %" PRIu64 " KiB for %u bytes per work-item", pool->memory.size >> 10,
      pool->thread_bytes);
  for (int r = 0; r < RUNS && good; r++)
    for (uint32_t i = 0; i < GROUPS * EXPERIMENT_BLOCK && good; i++) {
      const uint32_t got =
          ((const uint32_t *)b.data->cpu)[(size_t)r * GPU_PAGE_BYTES / sizeof(uint32_t) + i];
      if (got != TABLE_SUM + TABLE * i) {
        say(d, "kernel %d of %d: item %u has the sum %u instead of %u", r + 1, (int)RUNS, i, got,
            TABLE_SUM + TABLE * i);
        good = false;
      }
    }
  setup_close(&b);
  return good;
}

/* ---- shared memory
 * -------------------------------------------------------------------------------- */

/* What KERNEL_CROWD leaves of each work-group. */
struct crowd {
  uint32_t sm, begin, end, wrong;
};

/* The most work-groups of one SM whose times overlap with one of them. */
static uint32_t together(const struct crowd *all, uint32_t count) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t here = 0;
    for (uint32_t k = 0; k < count; k++)
      here += all[k].sm == all[i].sm && all[k].begin - all[i].begin < all[i].end - all[i].begin;
    most = here > most ? here : most;
  }
  return most;
}

bool step_crowd(struct doctor *d) {
  enum { PER_SM = 4 };
  struct setup b;
  uint64_t point = 0;
  const uint32_t groups = PER_SM * rt_device_info(d->device)->sm_count;
  const uint32_t rounds = rt_device_info(d->device)->emulated ? 1 : 64;
  if (!setup_open(d, groups * sizeof(struct crowd), &b))
    return false;
  const struct crowd *all = b.data->cpu;
  bool good = (start_kernel(&b, b.queue, KERNEL_CROWD, groups, b.data->gpu, rounds, &point) == 0 ||
               say_failure(d)) &&
              setup_wait(&b, point);
  for (uint32_t i = 0; i < groups && good; i++)
    if (all[i].wrong) {
      say(d, "work-group %u, on SM %u: %u words of its 48 KiB changed", i, all[i].sm, all[i].wrong);
      good = false;
    }
  if (good) {
    const uint32_t most = together(all, groups);
    say(d, "%u work-groups of 48 KiB; at most %u at the same time on an SM", groups, most);
    measured(d, MEASURE_GROUPS, most);
  }
  setup_close(&b);
  return good;
}

/* ---- atomics of both sides
 * --------------------------------------------------------------------------- */

bool step_atomics(struct doctor *d) {
  struct setup b;
  uint64_t point = 0;
  const uint32_t groups = 4, rounds = rt_device_info(d->device)->emulated ? 64 : 4096;
  uint32_t ours = 0;
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  uint32_t *word = b.data->cpu;
  bool good = start_kernel(&b, b.queue, KERNEL_COUNT, groups, b.data->gpu, rounds, &point) == 0 ||
              say_failure(d);
  const uint64_t end = base_clock_ns() + d->options.timeout_ns;
  while (good && rt_queue_completed(b.queue) < point && base_clock_ns() < end) {
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    ours++;
  }
  good = good && setup_wait(&b, point);
  const uint32_t sum = groups * EXPERIMENT_BLOCK * rounds + ours;
  if (good)
    say(d, "GPU and CPU added %u to one word, %u of them the CPU; it holds %u", sum, ours, *word);
  good = good && *word == sum;
  setup_close(&b);
  return good;
}
