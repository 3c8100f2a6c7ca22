/* Experiments with memory: imports, private and local memory, atomics. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/hw/memory.h"
#include "runtime/context/context.h"
#include "tools/doctor/experiments.h"

/* ---- imports ------------------------------------------------------------------------------ */

/* Checks that the CPU reads at cpu what a kernel has written at gpu. */
static bool check_kernel_writes(struct setup *setup, const char *what, uint64_t gpu,
                                const uint32_t *cpu) {
  struct doctor *d = setup->doctor;
  uint64_t point = 0;
  if (start_kernel(setup, setup->queue, KERNEL_NUMBER, 1, gpu, 11, &point))
    return doctor_say_failure(d);
  if (!setup_wait(setup, point))
    return false;
  for (uint32_t i = 0; i < EXPERIMENT_BLOCK; i++)
    if (cpu[i] != 11 + i) {
      doctor_say(d, "%s: word %u is %u instead of %u", what, i, cpu[i], 11 + i);
      return false;
    }
  doctor_say(d, "%s: the CPU reads what a kernel wrote", what);
  return true;
}

static bool import_dmabuf(struct setup *setup) {
  struct doctor *d = setup->doctor;
  struct rt_memory memory;
  struct rt_buffer *buffer = NULL;
  if (rt_memory_create(d->device, RT_NO_ADDRESS_SPACE, GPU_PAGE_BYTES, RT_MEMORY_CACHED, &memory))
    return doctor_say_failure(d);
  const bool good =
      (rt_buffer_import(setup->context, memory.fd, &buffer) == 0 || doctor_say_failure(d)) &&
      check_kernel_writes(setup, "a dma-buf", buffer->gpu, memory.cpu);
  rt_buffer_destroy(buffer);
  rt_memory_destroy(d->device, &memory);
  return good;
}

static bool import_pages(struct setup *setup) {
  struct doctor *d = setup->doctor;
  struct rt_buffer *buffer = NULL;
  void *pages =
      mmap(NULL, GPU_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    doctor_say(d, "mmap: %s", strerror(errno));
    return false;
  }
  memset(pages, 0, GPU_PAGE_BYTES);
  const bool good =
      (rt_buffer_import_host(setup->context, pages, GPU_PAGE_BYTES, &buffer) == 0 ||
       doctor_say_failure(d)) &&
      check_kernel_writes(setup, "pages of the program (FROM_VA)", buffer->gpu, pages);
  rt_buffer_destroy(buffer);
  munmap(pages, GPU_PAGE_BYTES);
  return good;
}

bool step_import(struct doctor *d) {
  struct setup setup;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  bool good = import_dmabuf(&setup);
  good = import_pages(&setup) && good;
  setup_close(&setup);
  return good;
}

/* ---- private memory ----------------------------------------------------------------------- */

/* Runs kernels with small, large and small private arrays without waiting between them. */
bool step_grow(struct doctor *d) {
  enum { GROUPS = 8, TABLE = 64, TABLE_SUM = TABLE * (TABLE - 1) / 2, RUNS = 3 };
  static const enum doctor_kernel kernels[RUNS] = {KERNEL_PRIVATE_SUM, KERNEL_PRIVATE_MORE,
                                                   KERNEL_PRIVATE_SUM};
  struct setup setup;
  uint64_t point = 0;
  bool good = true;
  if (!setup_open(d, RUNS * GPU_PAGE_BYTES, &setup))
    return false;
  for (int r = 0; r < RUNS && good; r++)
    good = start_kernel(&setup, setup.queue, kernels[r], GROUPS,
                        setup.data->gpu + (uint64_t)r * GPU_PAGE_BYTES, 0, &point) == 0 ||
           doctor_say_failure(d);
  good = good && setup_wait(&setup, point);
  const struct rt_pool *pool = &setup.queue->channel->tsg->pool;
  doctor_say(d, "pool of %" PRIu64 " KiB for %u bytes per work-item", pool->memory.size >> 10,
             pool->thread_bytes);
  for (int r = 0; r < RUNS && good; r++)
    for (uint32_t i = 0; i < GROUPS * EXPERIMENT_BLOCK && good; i++) {
      const uint32_t got =
          ((const uint32_t *)setup.data->cpu)[(size_t)r * GPU_PAGE_BYTES / sizeof(uint32_t) + i];
      if (got != TABLE_SUM + TABLE * i) {
        doctor_say(d, "kernel %d of %d: the sum of work-item %u is %u instead of %u", r + 1,
                   (int)RUNS, i, got, TABLE_SUM + TABLE * i);
        good = false;
      }
    }
  setup_close(&setup);
  return good;
}

/* ---- local memory ------------------------------------------------------------------------- */

/* Results of KERNEL_CROWD for one work-group. */
struct crowd {
  uint32_t sm, begin, end, wrong;
};

/* Returns the largest number of work-groups that ran on an SM at the same time. */
static uint32_t count_concurrent(const struct crowd *all, uint32_t count) {
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
  struct setup setup;
  uint64_t point = 0;
  const uint32_t groups = PER_SM * rt_device_info(d->device)->sm_count;
  const uint32_t rounds = rt_device_info(d->device)->emulated ? 1 : 64;
  if (!setup_open(d, groups * sizeof(struct crowd), &setup))
    return false;
  const struct crowd *all = setup.data->cpu;
  bool good = (start_kernel(&setup, setup.queue, KERNEL_CROWD, groups, setup.data->gpu, rounds,
                            &point) == 0 ||
               doctor_say_failure(d)) &&
              setup_wait(&setup, point);
  for (uint32_t i = 0; i < groups && good; i++)
    if (all[i].wrong) {
      doctor_say(d, "work-group %u on SM %u: %u words of its 48 KiB changed", i, all[i].sm,
                 all[i].wrong);
      good = false;
    }
  if (good) {
    const uint32_t most = count_concurrent(all, groups);
    doctor_say(d, "%u work-groups of 48 KiB; at most %u at the same time on an SM", groups, most);
    doctor_record(d, MEASURE_GROUPS, most);
  }
  setup_close(&setup);
  return good;
}

/* ---- atomics on GPU and CPU ---------------------------------------------------------------- */

bool step_atomics(struct doctor *d) {
  struct setup setup;
  uint64_t point = 0;
  const uint32_t groups = 4, rounds = rt_device_info(d->device)->emulated ? 64 : 4096;
  uint32_t ours = 0;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  uint32_t *word = setup.data->cpu;
  bool good = start_kernel(&setup, setup.queue, KERNEL_COUNT, groups, setup.data->gpu, rounds,
                           &point) == 0 ||
              doctor_say_failure(d);
  const uint64_t end = base_clock_ns() + d->options.timeout_ns;
  while (good && rt_queue_completed(setup.queue) < point && base_clock_ns() < end) {
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    ours++;
  }
  good = good && setup_wait(&setup, point);
  const uint32_t sum = groups * EXPERIMENT_BLOCK * rounds + ours;
  if (good)
    doctor_say(d, "GPU and CPU together added %u to one word, the CPU %u of them; its value is %u",
               sum, ours, *word);
  good = good && *word == sum;
  setup_close(&setup);
  return good;
}
