/* A context: one GPU address space, its TSGs, and the lists of what lives in it. */
#ifndef TEGRACL_RUNTIME_CONTEXT_H
#define TEGRACL_RUNTIME_CONTEXT_H

#include <stdatomic.h>

#include "base/lock.h"
#include "runtime/context/textures.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/ranges.h"
#include "runtime/memory/slots.h"

/* Backing store of local memory, with a place for each warp of an SM. Each TSG has one: with CILP
 * the kernel's driver switches TSGs in the middle of their grids, and does not save this memory
 * with them. */
struct rt_pool {
  /* Guards the rest. A launch holds it for reading until its doorbell. */
  struct base_rwlock lock;
  struct rt_memory memory;
  uint64_t tpc_bytes;
  uint32_t thread_bytes; /* what it suffices for */
  uint32_t generation;   /* counts changes, so that channels get the new addresses */
};

/* Channels of one priority, with one subcontext. fd and what follows it, but for the
 * pool, under context.lock; has_mode under context.channels_lock, and first_channel is changed
 * under both. */
struct rt_tsg {
  int fd; /* -1 while there is none */
  uint32_t veid;
  bool has_subcontext;
  bool has_mode;     /* SET_PREEMPTION_MODE was done */
  bool emptied;      /* its last channel was closed */
  unsigned channels; /* bound to it */
  struct rt_channel *first_channel;
  /* One that could not be opened, while queues had others; no more is opened then. Guarded by
   * context.channels_lock. */
  struct rt_channel *half_open;
  struct rt_pool pool;
};

/* A buffer with its own memory. */
struct rt_own_buffer {
  struct rt_buffer_node node; /* first: what the user holds */
  struct rt_context *context;
  struct rt_memory memory;
  struct rt_own_buffer *next, *previous;
};

struct rt_context {
  struct rt_device *device;
  int as_fd;
  int range;              /* number of its address range */
  struct rt_tsg tsg;      /* medium and low priority */
  struct rt_tsg high_tsg; /* created when a queue first needs it */
  struct rt_slots timelines;
  struct rt_slots times;
  struct rt_heap heap; /* unused unless device.suballocation */
  struct rt_textures textures;

  struct base_mutex channels_lock; /* which queue has which channel */
  struct base_mutex lock;          /* the lists, high_tsg and fault_message */
  struct rt_own_buffer *buffers;   /* without those in the heap */
  unsigned buffers_made;           /* numbers them, for reports */
  struct rt_module *modules;
  struct rt_queue *queues;
  struct rt_module *_Atomic copy_module; /* copy.c; NULL until it is needed */
  char *fault_message;

  atomic_bool faulted;
  atomic_bool acquired;        /* a queue has waited for another on the GPU */
  atomic_uint code_generation; /* counts uploads of code and constants, and pools of textures */
};

/* init: without a TSG of the kernel, which create opens. */
void rt_tsg_init(struct rt_tsg *tsg);
int rt_tsg_create(struct rt_context *context, struct rt_tsg *tsg);
/* Its channels have been destroyed. */
void rt_tsg_finish(struct rt_context *context, struct rt_tsg *tsg);

/* The TSG for a priority, made if need be. */
int rt_context_tsg(struct rt_context *context, enum rt_priority priority, struct rt_tsg **tsg);

/* Binds a channel, which has the context's address space, to the TSG; closes one that was
 * bound. */
int rt_tsg_bind(struct rt_context *context, struct rt_tsg *tsg, int channel_fd);
void rt_tsg_close_channel(struct rt_context *context, struct rt_tsg *tsg, int channel_fd);

/* -EIO with the fault as message if the context has faulted, else 0. Takes
 * context.lock. */
int rt_context_check(struct rt_context *context);
/* Leaves the fault of a context that is known to have faulted as message. */
void rt_context_explain(struct rt_context *context);
/* Looks at the notifiers of all channels, and returns one that has faulted, or NULL.
 * Then the context is known to have. Caller holds context.lock. */
struct rt_channel *rt_context_find_fault(struct rt_context *context);

/* Makes a TSG's pool of local memory suffice for thread_bytes. Caller holds no lock. */
int rt_pool_grow(struct rt_context *context, struct rt_tsg *tsg, uint32_t thread_bytes);
/* The same, and takes the pool's lock for reading. */
int rt_pool_hold(struct rt_context *context, struct rt_tsg *tsg, uint32_t thread_bytes);

#endif
