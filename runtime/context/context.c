/* Contexts: address space, TSGs, the pools of local memory. */
#include "runtime/context/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/number.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/device/fds.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

/* Address ranges. CUDA's begins at 64 MiB and ends at 128 GiB; ours are the first
 * seven multiples of that size, so that several contexts of a process use
 * different addresses and each can map its buffers for the CPU at their GPU
 * address. The last one and the kernel's 4 GiB after it end at 0xe100000000,
 * below the windows and far below 2^40, beyond which the kernel's own mappings
 * would be cut off and the machine freeze (docs/hardware/kernel-interface.md trap T1). */
#ifdef __SANITIZE_THREAD__
enum { RANGES = 4 }; /* beyond 2^39 are its shadows, and who maps something there is ended */
#else
enum { RANGES = 7 };
#endif
#define RANGE_BYTES UINT64_C(0x2000000000)
#define RANGE_FIRST UINT64_C(0x4000000)
_Static_assert(RANGES *RANGE_BYTES + NVGPU_AS_KERNEL_BYTES <= RT_LOCAL_WINDOW,
               "no context's range may reach a window");

static atomic_uint ranges_used;

enum { NO_RANGE = -1 };

/* The lowest free range; the first one again when all are taken (its buffers
 * then have separate CPU addresses). */
static int range_take(void) {
  unsigned used = atomic_load(&ranges_used);
  for (;;) {
    int range = __builtin_ctz(~used);
    if (range >= RANGES)
      return NO_RANGE;
    if (atomic_compare_exchange_weak(&ranges_used, &used, used | 1u << range))
      return range;
  }
}

static void range_put(int range) {
  if (range >= 0)
    atomic_fetch_and(&ranges_used, ~(1u << range));
}

/* Looks at one page in the middle of each. */
bool rt_ranges_are_free(void) {
  for (uint64_t i = 0; i < RANGES; i++) {
    void *wanted = (void *)(uintptr_t)(i * RANGE_BYTES + RANGE_BYTES / 2);
    void *page = mmap(wanted, GPU_PAGE_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page != MAP_FAILED)
      munmap(page, GPU_PAGE_BYTES);
    if (page != wanted)
      return false;
  }
  return true;
}

void rt_ranges_forget(void) {
  atomic_store(&ranges_used, 0);
}

static int alloc_as(struct rt_context *c) {
  uint64_t range = c->range < 0 ? 0 : (uint64_t)c->range;
  struct nvgpu_alloc_as_args args = {.va_range_start = range ? range * RANGE_BYTES : RANGE_FIRST,
                                     .va_range_end = (range + 1) * RANGE_BYTES};
  int result = c->device->os->ioctl(c->device->ctrl_fd, NVGPU_GPU_IOCTL_ALLOC_AS, &args);
  if (result)
    return rt_fail_call(result, "ALLOC_AS from 0x%llx to 0x%llx",
                        (unsigned long long)args.va_range_start,
                        (unsigned long long)args.va_range_end);
  c->as_fd = rt_fd_opened(c->device->os, args.as_fd);
  return c->as_fd < 0 ? rt_fail_call(c->as_fd, "ALLOC_AS") : 0;
}

/* Ranges beyond the first have run on no board; the first one again has the same addresses
 * as another context's. */
static int create_as(struct rt_context *c) {
  struct rt_choices *choices = &c->device->choices;
  int result = alloc_as(c);
  if (!result || c->range <= 0 || !rt_choice_unknown(choices, RT_CHOICE_CONTEXTS))
    return result;
  range_put(c->range);
  c->range = NO_RANGE;
  result = alloc_as(c);
  if (result == 0)
    rt_choice_refused(choices, RT_CHOICE_CONTEXTS,
                      "ALLOC_AS refused a range beyond the first 128 GiB");
  return result;
}

static void close_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  rt_fd_close(c->device->os, tsg->fd);
  tsg->fd = -1;
}

static void init_tsg(struct rt_tsg *tsg) {
  tsg->fd = -1;
  base_rwlock_init(&tsg->pool.lock, BASE_LOCK_RT_POOL);
}

static void destroy_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  rt_channels_destroy(c, tsg);
  close_tsg(c, tsg);
  rt_memory_destroy(c->device, &tsg->pool.memory);
  base_rwlock_destroy(&tsg->pool.lock);
}

/* The one that CREATE_SUBCONTEXT gives first; where that is missing, BIND_CHANNEL_EX takes it. */
enum { FIRST_ASYNC_VEID = 1 };

/* Compute runs in an asynchronous subcontext; on the synchronous one pushbuffers
 * were seen to have no effect (docs/hardware/kernel-interface.md trap T14). */
static int need_subcontext(struct rt_context *c, struct rt_tsg *tsg) {
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = c->as_fd};
  if (tsg->has_subcontext)
    return 0;
  if (!c->device->release->subcontext_requests) {
    tsg->veid = FIRST_ASYNC_VEID;
    tsg->has_subcontext = true;
    return 0;
  }
  int result = c->device->os->ioctl(tsg->fd, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, &sub);
  if (result)
    return rt_fail_call(result, "CREATE_SUBCONTEXT");
  tsg->veid = sub.veid;
  tsg->has_subcontext = true;
  return 0;
}

static int create_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  struct nvgpu_gpu_open_tsg_args open = {0};
  int result = c->device->os->ioctl(c->device->ctrl_fd,
                                    rt_request(c->device, NVGPU_GPU_IOCTL_OPEN_TSG), &open);
  if (result)
    return rt_fail_call(result, "OPEN_TSG");
  tsg->fd = rt_fd_opened(c->device->os, (int)open.tsg_fd);
  if (tsg->fd < 0)
    return rt_fail_call(tsg->fd, "OPEN_TSG");
  result = need_subcontext(c, tsg);
  if (result) {
    close_tsg(c, tsg);
    return result;
  }
  struct nvgpu_runlist_interleave_args level = {.level = NVGPU_INTERLEAVE_HIGH};
  /* A hint: an administrator's scheduler control may refuse it with EPERM. */
  if (tsg == &c->high_tsg)
    c->device->os->ioctl(tsg->fd, NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, &level);
  return 0;
}

static int bind_channel(struct rt_context *c, struct rt_tsg *tsg, int channel_fd) {
  int result = need_subcontext(c, tsg);
  if (result)
    return result;
  struct nvgpu_tsg_bind_channel_ex_args ex = {.channel_fd = channel_fd, .subcontext_id = tsg->veid};
  result = c->device->os->ioctl(tsg->fd, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, &ex);
  return result ? rt_fail_call(result, "TSG BIND_CHANNEL_EX, subcontext %u", tsg->veid) : 0;
}

/* A new one in the place of one without channels. */
static int replace_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  close_tsg(c, tsg);
  tsg->has_subcontext = tsg->has_mode = tsg->emptied = false;
  return create_tsg(c, tsg);
}

/* A TSG whose last channel was closed has been used again on no board. */
int rt_tsg_bind(struct rt_context *c, struct rt_tsg *tsg, int channel_fd) {
  struct rt_choices *choices = &c->device->choices;
  base_mutex_lock(&c->lock);
  const bool emptied = tsg->emptied;
  int result = 0;
  if (emptied && !rt_choice_may(choices, RT_CHOICE_TSG_REUSE))
    result = replace_tsg(c, tsg);
  if (result == 0)
    result = bind_channel(c, tsg, channel_fd);
  if (result && emptied && rt_choice_unknown(choices, RT_CHOICE_TSG_REUSE)) {
    result = replace_tsg(c, tsg);
    if (result == 0)
      result = bind_channel(c, tsg, channel_fd);
    if (result == 0)
      rt_choice_refused(choices, RT_CHOICE_TSG_REUSE,
                        "a TSG whose last channel had been closed took no other");
  }
  if (result == 0) {
    tsg->channels++;
    tsg->emptied = false;
  }
  base_mutex_unlock(&c->lock);
  return result;
}

/* With the last channel of a subcontext that is closed the kernel deletes it (nvgpu,
 * common/fifo/tsg_subctx.c). */
void rt_tsg_close_channel(struct rt_context *c, struct rt_tsg *tsg, int channel_fd) {
  base_mutex_lock(&c->lock);
  rt_fd_close(c->device->os, channel_fd);
  if (--tsg->channels == 0) {
    tsg->has_subcontext = tsg->has_mode = false;
    tsg->emptied = true;
  }
  base_mutex_unlock(&c->lock);
}

/* nvgpu gives every TSG the lowest interleave level, so low and medium are the
 * same; only high is above other programs. */
int rt_context_tsg(struct rt_context *c, enum rt_priority priority, struct rt_tsg **tsg) {
  const bool high =
      priority == RT_PRIORITY_HIGH && rt_choice_may(&c->device->choices, RT_CHOICE_HIGH_PRIORITY);
  *tsg = high ? &c->high_tsg : &c->tsg;
  base_mutex_lock(&c->lock);
  int result = (*tsg)->fd < 0 ? create_tsg(c, *tsg) : 0;
  base_mutex_unlock(&c->lock);
  return result;
}

int rt_context_create(struct rt_device *device, struct rt_context **context) {
  struct rt_context *c = calloc(1, sizeof(*c));
  if (!c)
    return rt_fail(-ENOMEM, "no memory for a context's record");
  c->device = device;
  c->as_fd = -1;
  init_tsg(&c->tsg);
  init_tsg(&c->high_tsg);
  c->range = range_take();
  if (c->range > 0 && !rt_choice_may(&device->choices, RT_CHOICE_CONTEXTS)) {
    range_put(c->range);
    c->range = NO_RANGE;
  }
  base_mutex_init(&c->lock, BASE_LOCK_RT_CONTEXT);
  base_mutex_init(&c->channels_lock, BASE_LOCK_RT_CHANNELS);
  int result = create_as(c);
  if (result == 0) {
    rt_slots_init(&c->timelines, device, c->as_fd, RT_TIMELINE_STRIDE);
    rt_slots_init(&c->times, device, c->as_fd, sizeof(struct rt_times));
    rt_heap_init(&c->heap, device, c->as_fd);
    result = create_tsg(c, &c->tsg);
  }
  if (result) {
    rt_context_destroy(c);
    return result;
  }
  *context = c;
  return 0;
}

void rt_context_destroy(struct rt_context *c) {
  if (!c)
    return;
  rt_module_destroy(c->copy_module);
  destroy_tsg(c, &c->high_tsg);
  destroy_tsg(c, &c->tsg);
  rt_heap_destroy(&c->heap);
  rt_slots_destroy(&c->times);
  rt_slots_destroy(&c->timelines);
  rt_fd_close(c->device->os, c->as_fd);
  range_put(c->range);
  base_mutex_destroy(&c->channels_lock);
  base_mutex_destroy(&c->lock);
  free(c->fault_message);
  free(c);
}

/* Until the queue is idle, which may wait for one of the other TSG. Caller holds
 * context.lock. */
static int wait_idle(struct rt_context *c, struct rt_queue *q) {
  enum { LOOK_NS = 10000000 };
  int result;
  do {
    rt_context_look(c);
    result = rt_queue_wait_point(q, rt_queue_submitted(q), LOOK_NS);
  } while (result == -ETIMEDOUT);
  return result;
}

/* Sizes: docs/hardware/command-stream.md 4.3. The old pool may be in use by every queue of
 * the TSG, so all of them become idle first; new launches wait at the lock. */
int rt_pool_grow(struct rt_context *c, struct rt_tsg *tsg, uint32_t thread_bytes) {
  int result = 0;
  struct rt_pool *pool = &tsg->pool;
  base_rwlock_write(&pool->lock);
  if (pool->thread_bytes >= thread_bytes)
    goto out;
  uint64_t warp = base_round_up((uint64_t)thread_bytes * GPU_WARP_SIZE, LOCAL_WARP_UNIT);
  uint64_t tpc = base_round_up(warp * SM_WARPS * SMS_PER_TPC, LOCAL_TPC_UNIT);
  uint64_t total = base_round_up(tpc * c->device->info.tpc_count, LOCAL_POOL_UNIT);
  if (thread_bytes > SHADER_WINDOW_BYTES || total > c->device->info.max_buffer_bytes) {
    result =
        rt_fail(-ENOMEM,
                "%u bytes of private memory for each work-item are too many: those that run at "
                "a time would take %" PRIu64 " bytes",
                thread_bytes, total);
    goto out;
  }
  base_mutex_lock(&c->lock);
  for (struct rt_queue *q = c->queues; q && result == 0; q = q->next)
    if (q->channel->tsg == tsg)
      result = wait_idle(c, q);
  base_mutex_unlock(&c->lock);
  if (result) {
    rt_context_explain(c);
    goto out;
  }
  struct rt_memory memory;
  result = rt_memory_create(c->device, c->as_fd, total, RT_MEMORY_CACHED, &memory);
  if (result)
    goto out;
  rt_memory_drop_fd(c->device, &memory);
  rt_memory_destroy(c->device, &pool->memory);
  pool->memory = memory;
  pool->tpc_bytes = tpc;
  pool->thread_bytes = thread_bytes;
  pool->generation++;
out:
  base_rwlock_unlock(&pool->lock);
  return result;
}

int rt_pool_hold(struct rt_context *c, struct rt_tsg *tsg, uint32_t thread_bytes) {
  struct rt_pool *pool = &tsg->pool;
  base_rwlock_read(&pool->lock);
  while (pool->thread_bytes < thread_bytes) {
    base_rwlock_unlock(&pool->lock);
    int result = rt_pool_grow(c, tsg, thread_bytes);
    if (result)
      return result;
    base_rwlock_read(&pool->lock);
  }
  return 0;
}

int rt_times_get(struct rt_context *c, struct rt_times **times) {
  void *slot = NULL;
  int result = rt_slots_get(&c->times, &slot);
  if (result)
    return result;
  struct rt_times *t = slot;
  t->start_mark = t->start_ns = t->end_mark = t->end_ns = 0;
  *times = t;
  return 0;
}

void rt_times_put(struct rt_context *c, struct rt_times *times) {
  if (rt_timeline_on())
    rt_timeline_drain_all(c);
  if (times)
    rt_slots_put(&c->times, times);
}
