/* Grows pools of local memory and sends their new addresses to channels. */
#include <errno.h>
#include <inttypes.h>

#include "base/number.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

/* Waits until the queue is idle. Its work may wait for that of a queue in the other TSG. Caller
 * holds context.lock. */
static int wait_idle(struct rt_context *c, struct rt_queue *q) {
  enum { LOOK_NS = 10000000 };
  int error;
  do {
    rt_context_find_fault(c);
    error = rt_queue_wait_point(q, rt_queue_submitted(q), LOOK_NS);
  } while (error == -ETIMEDOUT);
  return error;
}

/* Sizes: docs/hardware/command-stream.md 4.3. Every queue of the TSG may be using the old pool, so
 * the function waits until all are idle. New launches wait for the lock. */
int rt_pool_grow(struct rt_context *c, struct rt_tsg *tsg, uint32_t thread_bytes) {
  int error = 0;
  struct rt_pool *pool = &tsg->pool;
  base_rwlock_write(&pool->lock);
  if (pool->thread_bytes >= thread_bytes)
    goto out;
  uint64_t warp = base_round_up((uint64_t)thread_bytes * GPU_WARP_SIZE, LOCAL_WARP_UNIT);
  uint64_t tpc = base_round_up(warp * SM_WARPS * SMS_PER_TPC, LOCAL_TPC_UNIT);
  uint64_t total = base_round_up(tpc * c->device->info.tpc_count, LOCAL_POOL_UNIT);
  if (thread_bytes > SHADER_WINDOW_BYTES || total > c->device->info.max_buffer_bytes) {
    error = rt_fail(-ENOMEM,
                    "%u bytes of private memory for each work-item are too many: all that can "
                    "run at once would take %" PRIu64 " bytes",
                    thread_bytes, total);
    goto out;
  }
  base_mutex_lock(&c->lock);
  for (struct rt_queue *q = c->queues; q && error == 0; q = q->next)
    if (q->channel->tsg == tsg)
      error = wait_idle(c, q);
  base_mutex_unlock(&c->lock);
  if (error) {
    rt_context_explain(c);
    goto out;
  }
  struct rt_memory memory;
  error = rt_memory_create(c->device, c->as_fd, total, RT_MEMORY_CACHED, &memory);
  if (error)
    goto out;
  rt_memory_drop_fd(c->device, &memory);
  rt_memory_destroy(c->device, &pool->memory);
  pool->memory = memory;
  pool->tpc_bytes = tpc;
  pool->thread_bytes = thread_bytes;
  pool->generation++;
out:
  base_rwlock_unlock(&pool->lock);
  return error;
}

int rt_pool_hold(struct rt_context *c, struct rt_tsg *tsg, uint32_t thread_bytes) {
  struct rt_pool *pool = &tsg->pool;
  base_rwlock_read(&pool->lock);
  while (pool->thread_bytes < thread_bytes) {
    base_rwlock_unlock(&pool->lock);
    int error = rt_pool_grow(c, tsg, thread_bytes);
    if (error)
      return error;
    base_rwlock_read(&pool->lock);
  }
  return 0;
}

/* Set only while the front end is idle (docs/hardware/command-stream.md 4.3). */
void rt_slice_pool(struct rt_queue *q, struct rt_slice *s) {
  struct rt_channel *ch = q->channel;
  const struct rt_pool *pool = &ch->tsg->pool;
  if (ch->seen_pool == pool->generation)
    return;
  ch->seen_pool = pool->generation;
  *s->at++ = method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_WAIT_FOR_IDLE, 0);
  *s->at++ = method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_A, 2);
  *s->at++ = (uint32_t)(pool->memory.gpu >> 32);
  *s->at++ = (uint32_t)pool->memory.gpu;
  *s->at++ = method_header(METHOD_INC, SUBCHANNEL_COMPUTE,
                           NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A, 3);
  *s->at++ = (uint32_t)(pool->tpc_bytes >> 32);
  *s->at++ = (uint32_t)pool->tpc_bytes;
  *s->at++ = LOCAL_MAX_SM_COUNT;
}
