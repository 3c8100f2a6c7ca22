/* Queries of points: the last submitted and the last completed one. */
#include "runtime/queue/queue.h"

uint64_t rt_queue_completed(const struct rt_queue *q) {
  return __atomic_load_n(q->timeline, __ATOMIC_ACQUIRE);
}

uint64_t rt_queue_submitted(const struct rt_queue *q) {
  return atomic_load_explicit(&q->submitted, memory_order_acquire);
}

bool rt_timeline_reached(const volatile uint64_t *timeline, uint64_t point) {
  return __atomic_load_n(timeline, __ATOMIC_ACQUIRE) >= point;
}
