/* Rings that the driver writes: SETUP_BIND without user-mode submission, ALLOC_GPFIFO_EX,
 * SUBMIT_GPFIFO. docs/hardware/kernel-interface.md 3.4, 6; the order of SUBMIT_GPFIFO's checks, and
 * the entries before and after the client's, come from nvgpu's submit.c of L4T r36.4.3. */
#include "emulator/kernel/submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/engine/engine.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/kernel/watchdog.h"
#include "emulator/objects.h"
#include "gpu/hw/field.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"

enum {
  SYNC_ENTRIES = 2, /* the driver adds a wait and an increment to each submission */
  JOB_ENTRIES =
      3, /* those and one of the client's: common/fifo/channel.c, channel_setup_kernelmode */
  COMMAND_WORDS = 6,
  COMMAND_BYTES = COMMAND_WORDS * sizeof(uint32_t),
};

/* Creates a buffer in the driver's part of the address space. Returns false if memory is exhausted;
 * the caller must drop *dmabuf. */
static bool create_buffer(struct emu_channel *channel, uint64_t size, struct emu_dmabuf **dmabuf,
                          struct emu_mapping **mapping) {
  uint64_t pages = (size + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES;
  *dmabuf = emu_dmabuf_create(pages * GPU_PAGE_BYTES);
  if (!*dmabuf)
    return false;
  (*dmabuf)->allocated = (*dmabuf)->drivers = true;
  *mapping = emu_as_map_kernel(channel->as, *dmabuf, 0, (*dmabuf)->size, false, EMU_NO_SYNCPOINT);
  return *mapping;
}

int emu_submit_setup(struct emu_channel *channel, uint32_t entries, uint32_t jobs) {
  struct emu_submit *s = calloc(1, sizeof(*s));
  if (!s)
    return -ENOMEM;
  channel->submit = s;
  s->syncpoint = emu_syncpoint_take();
  struct emu_dmabuf *points = emu_syncpoint_memory();
  /* Each ring slot has two command slots, because it can be reused while its last commands are
   * still being read. */
  bool good =
      s->syncpoint >= 0 && points &&
      create_buffer(channel, (uint64_t)entries * GP_ENTRY_BYTES, &s->ring, &s->ring_mapping) &&
      create_buffer(channel, (uint64_t)entries * 2 * COMMAND_BYTES, &s->commands,
                    &s->commands_mapping);
  if (good)
    s->window =
        emu_as_map_kernel(channel->as, points, (uint64_t)s->syncpoint * EMU_SYNCPOINT_STRIDE,
                          EMU_SYNCPOINT_STRIDE, true, s->syncpoint);
  s->userd = emu_dmabuf_create(GPU_PAGE_BYTES);
  if (!good || !s->window || !s->userd || emu_dmabuf_host(s->userd) ||
      emu_watchdog_start(channel)) {
    emu_submit_free(channel);
    return -ENOMEM;
  }
  s->target = emu_syncpoint_value(s->syncpoint);
  s->jobs = jobs ? jobs : (entries + JOB_ENTRIES - 1) / JOB_ENTRIES;
  channel->entries = entries;
  channel->gpfifo = s->ring;
  channel->gpfifo_mapping = s->ring_mapping;
  channel->userd = s->userd;
  emu_object_get(&s->ring->object);
  emu_object_get(&s->userd->object);
  return 0;
}

void emu_submit_give_up(struct emu_channel *channel) {
  const struct emu_submit *s = channel->submit;
  emu_syncpoint_raise(s->syncpoint, s->target - emu_syncpoint_value(s->syncpoint));
}

void emu_submit_free(struct emu_channel *channel) {
  struct emu_submit *s = channel->submit;
  struct emu_mapping *mappings[] = {s->ring_mapping, s->commands_mapping, s->window};
  struct emu_dmabuf *buffers[] = {s->ring, s->commands, s->userd};
  emu_watchdog_stop(channel);
  for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
    if (mappings[i])
      emu_as_unmap(channel->as, mappings[i]);
  }
  for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
    if (buffers[i])
      emu_object_put(&buffers[i]->object);
  }
  if (s->syncpoint >= 0) {
    if (channel->gpfifo)
      emu_submit_give_up(channel);
    emu_syncpoints.used[s->syncpoint] = false;
  }
  channel->gpfifo_mapping = NULL;
  channel->submit = NULL;
  free(s);
}

uint32_t emu_submit_got(const struct emu_channel *channel) {
  const uint32_t *get = (const uint32_t *)(const void *)(channel->userd->host + USERD_GP_GET);
  return __atomic_load_n(get, __ATOMIC_ACQUIRE);
}

bool emu_submit_pending(const struct emu_channel *channel) {
  const struct emu_submit *s = channel->submit;
  return s && s->userd && emu_syncpoint_value(s->syncpoint) != s->target;
}

static uint32_t free_entries(const struct emu_channel *channel) {
  return (emu_submit_got(channel) - channel->submit->put - 1) & (channel->entries - 1);
}

static void put_entry(struct emu_channel *channel, uint64_t entry) {
  struct emu_submit *s = channel->submit;
  ((uint64_t *)(void *)s->ring->host)[s->put] = entry;
  s->put = (s->put + 1) & (channel->entries - 1);
}

/* Adds an entry whose pushbuffer executes a semaphore method. Section 6, "increment" and "wait" */
static void put_semaphore(struct emu_channel *channel, uint64_t address, uint32_t payload,
                          uint32_t execute) {
  struct emu_submit *s = channel->submit;
  uint64_t offset = s->command_slot * (uint64_t)COMMAND_BYTES;
  const uint32_t words[COMMAND_WORDS] = {method_header(METHOD_INC, 0, NVC76F_SEM_ADDR_LO, 5),
                                         (uint32_t)address,
                                         (uint32_t)(address >> 32),
                                         payload,
                                         0,
                                         execute};
  memcpy(s->commands->host + offset, words, sizeof(words));
  s->command_slot = (s->command_slot + 1) % (channel->entries * 2);
  put_entry(channel, gp_entry(s->commands_mapping->gpu + offset, COMMAND_WORDS, 0));
}

static int check_deterministic(const struct emu_channel *channel, uint32_t flags) {
  if ((flags & NVGPU_SUBMIT_FENCE_GET) && (flags & NVGPU_SUBMIT_SYNC_FENCE))
    return -EINVAL;
  if (!(flags & NVGPU_SUBMIT_SKIP_BUFFER_REFCOUNTING) || channel->watchdog)
    return -EINVAL;
  return channel->railgating_allowed ? -EINVAL : 0;
}

/* The checks of SUBMIT_GPFIFO (3.4) and further ones in the driver's source, in its order. */
static int check_submit(const struct emu_channel *channel,
                        const struct nvgpu_submit_gpfifo_args *a) {
  if (!atomic_load(&channel->serviceable))
    return -ETIMEDOUT;
  if (channel->usermode)
    return -EINVAL;
  if (!channel->submit || (uint64_t)a->num_entries + SYNC_ENTRIES > channel->entries - 1)
    return -ENOMEM;
  if (channel->deterministic && check_deterministic(channel, a->flags))
    return -EINVAL;
  return free_entries(channel) < a->num_entries + SYNC_ENTRIES ? -EAGAIN : 0;
}

/* Returns whether a submission with these flags counts as a job: it increments the syncpoint. On a
 * deterministic channel the syncpoint counts only submissions with fences. */
static bool is_job(const struct emu_channel *channel, uint32_t flags) {
  return !channel->deterministic || (flags & (NVGPU_SUBMIT_FENCE_WAIT | NVGPU_SUBMIT_FENCE_GET));
}

/* common/fifo/job.c, nvgpu_channel_alloc_job */
static bool can_add_job(const struct emu_submit *s) {
  return s->target - emu_syncpoint_value(s->syncpoint) < s->jobs;
}

/* Adds entries that wait for the submission's fence. Returns 0 or -errno. */
static int wait_for_fence(struct emu_channel *channel, const struct nvgpu_submit_gpfifo_args *a) {
  const struct emu_point single = {a->fence.id, a->fence.value};
  const struct emu_point *points = &single;
  uint32_t count = 1;
  uint64_t base = emu_as_syncpoints(channel->as);
  if (a->flags & NVGPU_SUBMIT_SYNC_FENCE) {
    const struct emu_waiter *w = emu_table_get_kind((int)a->fence.id, EMU_SYNC_FILE);
    if (!w)
      return -EINVAL;
    points = w->points;
    count = w->count;
  } else if (single.id >= EMU_SYNCPOINTS) {
    return -EINVAL;
  }
  if (!base)
    return -ENOMEM;
  /* SYNC_ENTRIES includes one of the waits. */
  if (free_entries(channel) < (uint64_t)a->num_entries + SYNC_ENTRIES + count - 1)
    return -EAGAIN;
  for (uint32_t i = 0; i < count; i++)
    put_semaphore(channel, base + (uint64_t)points[i].id * EMU_SYNCPOINT_STRIDE,
                  points[i].threshold,
                  hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQ_CIRC_GEQ) |
                      hw_bits(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG, 1));
  return 0;
}

/* Copies the client's entries to the ring at index put. Returns 0 or -EFAULT. */
static int copy_entries(struct emu_channel *channel, uint64_t user, uint32_t count) {
  const struct emu_submit *s = channel->submit;
  uint32_t first = channel->entries - s->put < count ? channel->entries - s->put : count;
  uint64_t *ring = (uint64_t *)(void *)s->ring->host;
  if (emu_copy_from_user(&ring[s->put], user, (size_t)first * GP_ENTRY_BYTES))
    return -EFAULT;
  return emu_copy_from_user(ring, user + (uint64_t)first * GP_ENTRY_BYTES,
                            (size_t)(count - first) * GP_ENTRY_BYTES);
}

int emu_submit_gpfifo(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = (struct emu_channel *)object;
  struct nvgpu_submit_gpfifo_args *a = argument;
  int error = check_submit(channel, a);
  if (error)
    return error;
  struct emu_submit *s = channel->submit;
  const bool job = is_job(channel, a->flags);
  if (job && !can_add_job(s))
    return -EAGAIN;
  emu_watchdog_submit(channel);
  const struct emu_submit before = *s;
  bool wait = a->flags & NVGPU_SUBMIT_FENCE_WAIT, get = a->flags & NVGPU_SUBMIT_FENCE_GET;
  error = wait ? wait_for_fence(channel, a) : 0;
  if (error)
    return error;
  error = copy_entries(channel, a->gpfifo, a->num_entries);
  if (!error) {
    s->put = (s->put + a->num_entries) & (channel->entries - 1);
    if (job) {
      bool wfi = !(a->flags & NVGPU_SUBMIT_SUPPRESS_WFI);
      put_semaphore(channel, s->window->gpu, 0,
                    hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE) |
                        hw_bits(NVC76F_SEM_EXECUTE_RELEASE_WFI, wfi));
      s->target++;
    }
    if (get && (a->flags & NVGPU_SUBMIT_SYNC_FENCE)) {
      int fence = emu_sync_file_open(&(struct emu_point){(uint32_t)s->syncpoint, s->target}, 1);
      error = fence < 0 ? fence : 0;
      a->fence.id = (uint32_t)fence;
    } else if (get) {
      a->fence.id = (uint32_t)s->syncpoint;
      a->fence.value = s->target;
    }
  }
  if (error) {
    *s = before;
    return error;
  }
  uint32_t *put_word = (uint32_t *)(void *)(channel->userd->host + USERD_GP_PUT);
  __atomic_store_n(put_word, s->put, __ATOMIC_RELEASE);
  emu_doorbell(channel->id);
  return 0;
}
