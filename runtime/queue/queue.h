/* Queues, and the channels that they have alone or share. */
#ifndef TEGRACL_RUNTIME_QUEUE_H
#define TEGRACL_RUNTIME_QUEUE_H

#include "gpu/hw/host.h"
#include "runtime/context/context.h"

enum {
  RT_GPFIFO_ENTRIES = 1024, /* as CUDA and the AGX notes (docs/hardware/bring-up.md) */
  RT_SLICES_BYTES = 1 << 20,
  RT_ACQUIRES_MAX = 8,
  RT_END_WORDS = 12, /* two semaphore releases */
  /* Timelines of different queues are polled by different threads. */
  RT_TIMELINE_STRIDE = 64,
};

/* One submission that has been made: point p has number (p - first) % entries. */
struct rt_submission {
  uint64_t slice_end; /* the ring is free up to here once it has completed */
  const char *kernel; /* name, NULL for a marker */
};

/* A channel, its rings, and its timeline. The GPU runs its entries in order. It outlives
 * its queues, because creating or closing a channel preempts the whole TSG, and goes with
 * the context. */
struct rt_channel {
  struct rt_context *context;
  struct rt_channel *next; /* of the TSG; guarded by context.lock, and never changes */
  unsigned queues;         /* guarded by context.channels_lock */

  /* What this process shares with the kernel and with host. */
  int fd;
  struct rt_tsg *tsg;  /* to which it is bound; or NULL */
  bool holds_usermode; /* the device's user-mode page, since SETUP_BIND */
  uint32_t token;
  uint64_t syncpoint_gpu; /* where a write counts it up; 0: no syncpoint to wait for */
  uint32_t syncpoint_id;
  uint32_t syncpoint_base; /* its value before the first submission */
  atomic_bool fences_late; /* one did not wake in time: waits poll */
  struct rt_memory gpfifo;
  struct rt_memory userd;
  struct rt_memory notifier;

  /* The lock guards the rest, where queues share the channel. Another channel belongs to
   * one queue at a time, whose user's lock suffices. */
  bool shared;
  struct base_mutex lock;
  struct rt_memory slices; /* ring of QMDs, constant banks, pushbuffers */
  struct rt_memory ends;   /* for each GPFIFO entry the end of a replay; made when needed */
  uint64_t slice_head;     /* bytes ever used, rests at the ring's end included */
  /* Slices up to here, and points below, have room, as the timeline was last looked at. */
  uint64_t slice_limit, point_limit;
  volatile uint64_t *timeline; /* written by the GPU */
  uint64_t first;              /* its value before the first submission */
  _Atomic uint64_t submitted;
  uint64_t rung; /* the last point whose doorbell has been rung */
  struct rt_submission submissions[RT_GPFIFO_ENTRIES];
  /* The words that end each submission, but for its point. */
  uint32_t end[RT_END_WORDS];
  unsigned end_words;
  bool due;           /* state is to be emitted before the next submission: */
  bool set_up;        /* it has its class and windows */
  bool skeds_stale;   /* the slice ring has wrapped since the last submission */
  uint32_t seen_code; /* generations that the channel has got */
  uint32_t seen_pool;
  uint32_t seen_textures;
};

/* A channel of the TSG for one more queue: one that no queue has, a new one if the TSG is idle,
 * or one that others share. */
int rt_channel_get(struct rt_context *context, struct rt_tsg *tsg, struct rt_channel **channel);
void rt_channel_put(struct rt_channel *channel);
/* Closes all of a TSG's. None of its queues is left. */
void rt_channels_destroy(struct rt_context *context, struct rt_tsg *tsg);
/* In a child of fork: the parent's channels are not this process's. */
void rt_channels_forget(void);

/* The kernel's part of a channel. One that could not be opened is closed as well, when its TSG
 * has no running work. */
int rt_channel_open(struct rt_context *context, struct rt_tsg *tsg, struct rt_channel *channel);
/* Harmless on a zeroed struct with fd -1. */
void rt_channel_close(struct rt_context *context, struct rt_channel *channel);

/* Closes the channel before its work has ended: its timeline is set to point. */
void rt_channel_abandon(struct rt_channel *channel, uint64_t point);

/* The ring's part. */
int rt_ring_create(struct rt_channel *channel);
void rt_ring_destroy(struct rt_channel *channel);

/* Held while something is put into the channel's ring. */
static inline void rt_channel_lock(struct rt_channel *channel) {
  if (channel->shared)
    base_mutex_lock(&channel->lock);
}
static inline void rt_channel_unlock(struct rt_channel *channel) {
  if (channel->shared)
    base_mutex_unlock(&channel->lock);
}

struct rt_acquire {
  uint64_t timeline; /* GPU address */
  uint64_t point;
};

/* Its points are those of the channel's timeline, which counts the submissions of all
 * queues that share it. An acquire waits for what had been submitted before it was, so
 * there is no circle of channels that wait for each other. */
struct rt_queue {
  struct rt_context *context;
  struct rt_channel *channel;
  volatile uint64_t *timeline;                 /* the channel's */
  _Atomic uint64_t submitted;                  /* its last point */
  struct rt_acquire acquires[RT_ACQUIRES_MAX]; /* go in front of the next submission */
  unsigned acquire_count;
  bool shown;                            /* submissions are printed or traced */
  struct rt_timeline_lane *_Atomic lane; /* NULL: nothing of it is on a timeline */
  struct rt_queue *next, *previous;
};

/* For tools. Closes the channel of a queue whose work does not end, which counts as completed
 * from then on. The queue has the channel alone, and can only be destroyed afterwards. */
void rt_queue_abandon(struct rt_queue *queue);
/* For tools. The next submission has only methods of the host engine: it begins without the
 * state of the compute class. */
void rt_queue_skip_setup(struct rt_queue *queue);

/* True if this queue's channel, or the context, is dead. Takes no lock. */
static inline bool rt_queue_dead(struct rt_queue *queue) {
  struct rt_context *c = queue->context;
  if (atomic_load_explicit(&c->faulted, memory_order_acquire))
    return true;
  const struct error_notifier *n = queue->channel->notifier.cpu;
  if (__atomic_load_n(&n->status, __ATOMIC_ACQUIRE) != ERROR_NOTIFIER_WRITTEN)
    return false;
  atomic_store(&c->faulted, true);
  return true;
}

/* 0, -EIO if the queue is dead, -ETIMEDOUT. Takes no lock, sets no message. */
int rt_queue_wait_point(struct rt_queue *queue, uint64_t point, uint64_t timeout_ns);

/* Waits for all submitted work; -EIO if dead. Takes no lock, sets no message. */
int rt_queue_idle(struct rt_queue *queue);

/* rt_queue_acquire of a point that has been submitted to a queue with that timeline, which
 * may have been destroyed: the timeline's memory stays, and its value never falls. */
int rt_queue_await(struct rt_queue *queue, const volatile uint64_t *timeline, uint64_t point);
bool rt_timeline_reached(const volatile uint64_t *timeline, uint64_t point);
/* The same by the CPU: waits here. 0, or -EIO with the fault as message. */
int rt_timeline_await(struct rt_queue *queue, const volatile uint64_t *timeline, uint64_t point);

/* A submission in the making. */
struct rt_slice {
  uint64_t gpu; /* of the piece of the ring */
  char *cpu;
  uint64_t bytes;
  uint64_t start;  /* in the count of slice_head */
  uint64_t point;  /* that will be reached */
  uint32_t *words; /* the pushbuffer's beginning */
  uint32_t *at;    /* and its end so far */
};

/* The channel's lock is held, here and by what follows, until the doorbell. */

/* Takes payload_bytes (a multiple of 256) and room for a pushbuffer from the
 * ring, waiting if it is full, and begins the pushbuffer with what is due: class
 * and windows, invalidates, acquires. */
int rt_slice_begin(struct rt_queue *queue, uint64_t payload_bytes, struct rt_slice *slice);

/* Ends the pushbuffer with the timeline's release, and makes it the GPFIFO's next entry. */
uint64_t rt_slice_put(struct rt_queue *queue, struct rt_slice *slice, const char *kernel);

/* One doorbell for all entries that have none. A caller that puts entries calls it before the
 * queue's lock is free: nothing else would ring for them (docs/architecture.md). */
void rt_queue_ring(struct rt_queue *queue);

/* Both. */
uint64_t rt_slice_submit(struct rt_queue *queue, struct rt_slice *slice, const char *kernel);

/* As rt_slice_begin, with a launch's QMD (at the slice's beginning) and constant bank
 * 0 as payload, and the local memory that it needs in the pushbuffer. What starts
 * the grid is the caller's part; it holds the pool's lock for reading. */
int rt_launch_begin(struct rt_queue *queue, const struct rt_launch *launch, struct rt_slice *slice);

/* True if state is to be emitted before the next submission; rt_slice_begin does it. */
bool rt_queue_is_due(const struct rt_queue *queue);

/* As rt_slice_put, of a slice that is no part of the ring, finished but for the release
 * after it, which has its own memory. The point is two further on: nothing waits for
 * the one between. */
int rt_slice_replay(struct rt_queue *queue, const struct rt_slice *slice, const char *kernel,
                    uint64_t *point);

/* The local memory pool's address and size per TPC, if this channel does not know them
 * yet. The caller holds the pool's lock for reading until the doorbell. */
void rt_slice_pool(struct rt_queue *queue, struct rt_slice *slice);

/* A release with PTIMER time; see struct rt_times. */
void rt_slice_timestamp(struct rt_slice *slice, uint64_t address, bool wait_for_idle);

#endif
