/* What the GPU does, on the timeline: each launch with its times, shape and counters.
 * A queue remembers its launches until they have completed; a thread that submits or waits
 * next writes them down.
 */
#ifndef TEGRACL_RUNTIME_TIMELINE_GPU_H
#define TEGRACL_RUNTIME_TIMELINE_GPU_H

#include "runtime/queue/queue.h"

/* rt_queue_launch while there is a timeline; submit does the launch itself. */
int rt_timeline_launch(struct rt_queue *queue, const struct rt_launch *launch, uint64_t *point,
                       int (*submit)(struct rt_queue *, const struct rt_launch *, uint64_t *));
/* A grid of the launch that is being submitted has its descriptor there. */
void rt_timeline_grid(struct rt_queue *queue, uint64_t descriptor);
/* A submission, and a wait that has ended; since 0: there was nothing to wait for. */
void rt_timeline_submit(const struct rt_queue *queue, uint64_t point, uint32_t index,
                        const char *kernel);
void rt_timeline_waited(struct rt_queue *queue, uint64_t point, uint64_t since_ns);

/* Writes the launches of a context down that have completed, before their times are given
 * back. */
void rt_timeline_drain_all(struct rt_context *context);

/* Forgets a queue's launches. */
void rt_timeline_queue_end(struct rt_queue *queue);

/* In a child of fork: as rt_timeline_forked. */
void rt_timeline_gpu_forked(void);

#endif
