/* Records GPU activity on the timeline: each launch with its times, shape and counters. A queue
 * keeps a list of its launches in flight; the next thread that submits or waits records those that
 * have completed. */
#ifndef TEGRACL_RUNTIME_TIMELINE_GPU_H
#define TEGRACL_RUNTIME_TIMELINE_GPU_H

#include "runtime/queue/queue.h"

/* Replaces rt_queue_launch while there is a timeline; submit does the actual launch. */
int rt_timeline_launch(struct rt_queue *queue, const struct rt_launch *launch, uint64_t *point,
                       int (*submit)(struct rt_queue *, const struct rt_launch *, uint64_t *));
/* Adds a grid of the launch that is being submitted; descriptor is the GPU address of its QMD. */
void rt_timeline_grid(struct rt_queue *queue, uint64_t descriptor);
/* Record a submission, and a wait that has ended. since_ns is 0 if the wait returned at once. */
void rt_timeline_submit(const struct rt_queue *queue, uint64_t point, uint32_t index,
                        const char *kernel);
void rt_timeline_waited(struct rt_queue *queue, uint64_t point, uint64_t since_ns);

/* Records the completed launches of a context. Must be called before their times are released. */
void rt_timeline_drain_all(struct rt_context *context);

/* Forgets a queue's launches. */
void rt_timeline_queue_end(struct rt_queue *queue);

/* Resets the lock of the timeline's clock in a child of fork. */
void rt_timeline_gpu_forked(void);

#endif
