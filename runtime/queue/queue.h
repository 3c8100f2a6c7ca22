/* Queues and their private or shared channels. */
#ifndef TEGRACL_RUNTIME_QUEUE_H
#define TEGRACL_RUNTIME_QUEUE_H

#include "gpu/hw/host.h"
#include "runtime/context/context.h"

enum {
  RT_GPFIFO_ENTRIES = 1024, /* as in CUDA and in the notes of the AGX (docs/hardware/bring-up.md) */
  RT_SLICES_BYTES = 1 << 20,
  RT_ACQUIRES_MAX = 8,
  RT_END_WORDS = 12, /* two semaphore releases */
  /* a cache line, because different threads poll the timelines of different queues */
  RT_TIMELINE_STRIDE = 64,
};

/* A submission. Point p has index (p - first) % entries. */
struct rt_submission {
  uint64_t slice_end; /* end of its slice; free for reuse after completion */
  const char *kernel; /* name of the kernel, or NULL for a marker */
};

/* A channel, its rings, and its timeline. The GPU runs its entries in order. A channel outlives its
 * queues, because opening or closing a channel preempts the whole TSG. It is destroyed with the
 * context. */
struct rt_channel {
  struct rt_context *context;
  struct rt_channel *next; /* next channel of the TSG; constant, protected by context.lock */
  unsigned queues;         /* number of queues; protected by context.channels_lock */

  /* Objects shared with the kernel and the host engine. */
  int fd;
  struct rt_tsg *tsg;  /* the TSG to which it is bound, or NULL */
  bool holds_usermode; /* holds the device's user-mode page; set after SETUP_BIND */
  uint32_t token;
  uint64_t syncpoint_gpu; /* a write here increments the syncpoint; 0 if there is none */
  uint32_t syncpoint_id;
  uint32_t syncpoint_base; /* value before the first submission */
  atomic_bool fences_late; /* a fence did not wake in time, so waits poll */
  struct rt_memory gpfifo;
  struct rt_memory userd;
  struct rt_memory notifier;

  /* If queues share the channel, lock protects the rest. A private channel belongs to one queue at
   * a time, and the queue's user has a lock. */
  bool shared;
  struct base_mutex lock;
  struct rt_memory slices; /* ring of QMDs, constant banks and pushbuffers */
  struct rt_memory ends;   /* end of a replay, per GPFIFO entry; created on first use */
  uint64_t slice_head;     /* bytes used so far, including gaps at the ring's end */
  /* According to the last read of the timeline, slices up to slice_limit and points below
   * point_limit may be submitted. */
  uint64_t slice_limit, point_limit;
  volatile uint64_t *timeline; /* written by the GPU */
  uint64_t first;              /* value before the first submission */
  _Atomic uint64_t submitted;
  uint64_t rung; /* last point for which the doorbell has been rung */
  struct rt_submission submissions[RT_GPFIFO_ENTRIES];
  /* The words that end each submission; only the point in them changes. */
  uint32_t end[RT_END_WORDS];
  unsigned end_words;
  bool due;           /* one of the following must be emitted first: */
  bool set_up;        /* class and windows have been set */
  bool skeds_stale;   /* the slice ring has wrapped since the last submission */
  uint32_t seen_code; /* generations that the channel has seen */
  uint32_t seen_pool;
  bool has_textures; /* has been given the pools of headers and samplers */
};

/* Returns a channel of the TSG for one more queue: an unused one, a new one if the TSG is idle, or
 * a shared one. */
int rt_channel_get(struct rt_context *context, struct rt_tsg *tsg, struct rt_channel **channel);
void rt_channel_put(struct rt_channel *channel);
/* Closes all channels of a TSG, which must not have queues any more. */
void rt_channels_destroy(struct rt_context *context, struct rt_tsg *tsg);
/* Resets the count of channels in a child of fork, which has none of the parent's. */
void rt_channels_forget(void);

/* Opens the kernel's part of a channel. After a failure the caller must close it, but only when the
 * TSG has no running work. */
int rt_channel_open(struct rt_context *context, struct rt_tsg *tsg, struct rt_channel *channel);
/* Does nothing for a zeroed struct with fd -1. */
void rt_channel_close(struct rt_context *context, struct rt_channel *channel);

/* Closes a channel whose work has not ended, and sets its timeline to point. */
void rt_channel_abandon(struct rt_channel *channel, uint64_t point);

/* Create and destroy the part of a channel that ring.c uses. */
int rt_ring_create(struct rt_channel *channel);
void rt_ring_destroy(struct rt_channel *channel);

/* Locks a shared channel. The lock is held while anything is written to the channel's rings. */
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

/* A queue's points are those of its channel's timeline, which counts the submissions of all queues
 * on the channel. An acquire waits only for earlier submissions, so channels cannot wait for each
 * other in a circle. */
struct rt_queue {
  struct rt_context *context;
  struct rt_channel *channel;
  volatile uint64_t *timeline;                 /* the channel's */
  _Atomic uint64_t submitted;                  /* its last point */
  struct rt_acquire acquires[RT_ACQUIRES_MAX]; /* emitted before the next submission */
  unsigned acquire_count;
  bool shown;                            /* submissions are printed or traced */
  struct rt_timeline_lane *_Atomic lane; /* NULL if the timeline has no events of the queue */
  struct rt_queue *next, *previous;
};

/* Closes the channel of a queue whose work does not end, and marks the work as completed. The queue
 * must have a private channel. It can only be destroyed afterwards. For tools. */
void rt_queue_abandon(struct rt_queue *queue);
/* Does not emit the state of the compute class before the next submission, which contains only
 * methods of the host engine. For tools. */
void rt_queue_skip_setup(struct rt_queue *queue);

/* Returns whether the kernel driver has reported a fault of the channel. Takes no lock. */
static inline bool rt_channel_dead(const struct rt_channel *channel) {
  const struct error_notifier *n = channel->notifier.cpu;
  return __atomic_load_n(&n->status, __ATOMIC_ACQUIRE) == ERROR_NOTIFIER_WRITTEN;
}

/* Returns true if the context or this queue's channel has faulted. Takes no lock. */
static inline bool rt_queue_dead(struct rt_queue *queue) {
  struct rt_context *c = queue->context;
  if (atomic_load_explicit(&c->faulted, memory_order_acquire))
    return true;
  if (!rt_channel_dead(queue->channel))
    return false;
  atomic_store(&c->faulted, true);
  return true;
}

/* Returns 0, -EIO if the queue is dead, or -ETIMEDOUT. Takes no lock, sets no message. */
int rt_queue_wait_point(struct rt_queue *queue, uint64_t point, uint64_t timeout_ns);

/* Waits for all submitted work. Returns 0, or -EIO if the queue is dead. Takes no lock, sets no
 * message. */
int rt_queue_idle(struct rt_queue *queue);

/* Like rt_queue_acquire, for a point that was submitted to a queue with that timeline. The queue
 * may have been destroyed: the timeline's memory stays valid, and its value never decreases. */
int rt_queue_await(struct rt_queue *queue, const volatile uint64_t *timeline, uint64_t point);
bool rt_timeline_reached(const volatile uint64_t *timeline, uint64_t point);
/* Like rt_queue_await, but the CPU waits. Returns 0, or -EIO with the fault as message. */
int rt_timeline_await(struct rt_queue *queue, const volatile uint64_t *timeline, uint64_t point);

/* A submission that is being built. */
struct rt_slice {
  uint64_t gpu; /* GPU address of the slice in the ring */
  char *cpu;
  uint64_t bytes;
  uint64_t start;  /* as counted by slice_head */
  uint64_t point;  /* the point of the submission */
  uint32_t *words; /* the pushbuffer's beginning */
  uint32_t *at;    /* current end of the pushbuffer */
};

/* Submissions. The caller holds the channel's lock from rt_slice_begin until the doorbell. */

/* Allocates payload_bytes (a multiple of 256) and space for a pushbuffer in the ring, waiting if it
 * is full. Begins the pushbuffer with the pending state: class and windows, invalidates,
 * acquires. */
int rt_slice_begin(struct rt_queue *queue, uint64_t payload_bytes, struct rt_slice *slice);

/* Ends the pushbuffer with a release of the timeline, and adds it to the GPFIFO. */
uint64_t rt_slice_put(struct rt_queue *queue, struct rt_slice *slice, const char *kernel);

/* Rings the doorbell for all new entries. Each caller that adds entries must call it before it
 * releases the queue's lock, because nothing else rings the doorbell for them
 * (docs/architecture.md). */
void rt_queue_ring(struct rt_queue *queue);

/* Calls rt_slice_put and rt_queue_ring. */
uint64_t rt_slice_submit(struct rt_queue *queue, struct rt_slice *slice, const char *kernel);

/* Like rt_slice_begin. The payload is a launch's QMD, at the beginning of the slice, and constant
 * bank 0; the pushbuffer sets the local memory that the launch needs. The caller adds the words
 * that start the grid, and holds the pool's lock for reading. */
int rt_launch_begin(struct rt_queue *queue, const struct rt_launch *launch, struct rt_slice *slice);

/* Returns whether state must be emitted before the next submission. rt_slice_begin emits it. */
bool rt_queue_is_due(const struct rt_queue *queue);

/* Like rt_slice_put, for a complete pushbuffer that is not in the ring. The release that ends it
 * has separate memory and a separate entry, so the point increases by two; nothing waits for the
 * first of them. */
int rt_slice_replay(struct rt_queue *queue, const struct rt_slice *slice, const char *kernel,
                    uint64_t *point);

/* Emits the address and the size per TPC of the local memory pool if this channel has not seen
 * them. The caller holds the pool's lock for reading until the doorbell. */
void rt_slice_pool(struct rt_queue *queue, struct rt_slice *slice);

/* Emits a release with a PTIMER timestamp; see struct rt_times. */
void rt_slice_timestamp(struct rt_slice *slice, uint64_t address, bool wait_for_idle);

#endif
