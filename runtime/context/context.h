/* A context: one GPU address space, its TSGs, and lists of its buffers, modules and queues. */
#ifndef TEGRACL_RUNTIME_CONTEXT_H
#define TEGRACL_RUNTIME_CONTEXT_H

#include <stdatomic.h>

#include "base/lock.h"
#include "runtime/context/textures.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/ranges.h"
#include "runtime/memory/slots.h"

/* Backing store of local memory, with a slot for each warp of an SM. Each TSG has its own: with
 * CILP the kernel driver switches TSGs in the middle of their grids and does not save this
 * memory. */
struct rt_pool {
  /* Protects the fields below. A launch holds it for reading until it has rung its doorbell. */
  struct base_rwlock lock;
  struct rt_memory memory;
  uint64_t tpc_bytes;
  uint32_t thread_bytes; /* local memory per thread */
  uint32_t generation;   /* incremented when the pool changes; compared by channels */
};

/* Channels of one priority, with one subcontext. context.lock protects fd and all fields after it
 * except the pool. context.channels_lock protects has_mode. Changing first_channel requires both
 * locks. */
struct rt_tsg {
  int fd; /* -1 if not open */
  uint32_t veid;
  bool has_subcontext;
  bool has_mode;     /* SET_PREEMPTION_MODE has been called */
  bool emptied;      /* the last channel has been closed */
  unsigned channels; /* bound to it */
  struct rt_channel *first_channel;
  /* A channel whose setup failed while queues used other channels. It is closed with the TSG,
   * which opens no further channels. Protected by context.channels_lock. */
  struct rt_channel *half_open;
  struct rt_pool pool;
};

/* A buffer that does not come from the heap. */
struct rt_own_buffer {
  struct rt_buffer_node node; /* must be first: users have a pointer to it */
  struct rt_context *context;
  struct rt_memory memory;
  struct rt_own_buffer *next, *previous;
};

struct rt_context {
  struct rt_device *device;
  struct rt_context *next; /* in the device's list; protected by device.contexts_lock */
  int as_fd;
  int range;              /* index of the address range, or RT_NO_RANGE */
  struct rt_tsg tsg;      /* for medium and low priority */
  struct rt_tsg high_tsg; /* opened by the first queue of high priority */
  struct rt_slots timelines;
  struct rt_slots times;
  struct rt_heap heap; /* unused unless device.suballocation is set */
  struct rt_textures textures;

  struct base_mutex channels_lock; /* protects the assignment of channels to queues */
  struct base_mutex lock;          /* protects the lists, high_tsg and fault_message */
  struct rt_own_buffer *buffers;   /* excluding those in the heap */
  unsigned buffers_made;           /* number of buffers created, used to number them in reports */
  struct rt_module *modules;
  struct rt_queue *queues;
  struct rt_module *_Atomic copy_module; /* copy.c; NULL until first needed */
  char *fault_message;

  atomic_bool faulted;
  atomic_bool acquired;        /* a queue has waited for another one on the GPU */
  atomic_bool held;            /* by the self-check of the texture units: nothing is submitted */
  atomic_uint code_generation; /* number of uploads of code and constants; also counts
                                  the creation of texture pools and self-checks of textures */
};

/* Creates a context for the self-check of the texture units, for rt_context_destroy_scratch. It has
 * no range of addresses, and is not in the device's list. */
int rt_context_create_scratch(struct rt_device *device, struct rt_context **context);
/* Accepts NULL. */
void rt_context_destroy_scratch(struct rt_context *context);

/* Initialises the struct only; rt_tsg_create opens the TSG. */
void rt_tsg_init(struct rt_tsg *tsg);
int rt_tsg_create(struct rt_context *context, struct rt_tsg *tsg);
/* Closes the TSG. Its channels must have been destroyed. */
void rt_tsg_finish(struct rt_context *context, struct rt_tsg *tsg);

/* Returns the TSG for a priority in *tsg, and opens it if necessary. */
int rt_context_tsg(struct rt_context *context, enum rt_priority priority, struct rt_tsg **tsg);

/* Binds a channel to the TSG. The channel must already be bound to the context's address space.
 * rt_tsg_close_channel closes a channel that rt_tsg_bind has bound. */
int rt_tsg_bind(struct rt_context *context, struct rt_tsg *tsg, int channel_fd);
void rt_tsg_close_channel(struct rt_context *context, struct rt_tsg *tsg, int channel_fd);

/* Returns 0, or -EIO if the context has faulted; rt_last_message() then describes the fault. Takes
 * context.lock. */
int rt_context_check(struct rt_context *context);
/* Sets rt_last_message() to the fault of a context that has faulted. */
void rt_context_explain(struct rt_context *context);
/* Checks the error notifiers of all channels. Returns a channel that has faulted and marks the
 * context as faulted, or returns NULL. Caller holds context.lock. */
struct rt_channel *rt_context_find_fault(struct rt_context *context);

/* Grows a TSG's pool to at least thread_bytes of local memory per thread. Caller holds no lock. */
int rt_pool_grow(struct rt_context *context, struct rt_tsg *tsg, uint32_t thread_bytes);
/* Like rt_pool_grow, and returns with the pool's lock held for reading. */
int rt_pool_hold(struct rt_context *context, struct rt_tsg *tsg, uint32_t thread_bytes);

#endif
