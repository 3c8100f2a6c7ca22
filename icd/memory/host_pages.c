/* Fork and buffers that use pages of the host (CL_MEM_USE_HOST_PTR, clImportMemoryARM).
 *
 * A fork marks the pages copy-on-write, and the process that stores first gets a new page. The
 * kernel driver still has the old page, so the GPU would miss the parent's stores. Therefore the
 * handlers wait before a fork until the GPU is idle, and afterwards import the parent's current
 * pages again. The child has the memory as it was at the fork.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fork.h"
#include "icd/memory/memory.h"

enum {
  PAUSE_US = 100,
  WAIT_MS = 10000, /* for work that may not complete, and for locks, as a callback may fork */
  NS_PER_MS = 1000000,
};

/* A queue that must not submit work during a fork. */
struct stopped {
  cl_command_queue queue;
  bool locked;
};

static struct {
  struct base_mutex lock;
  cl_context contexts; /* contexts that have had such buffers */
  struct stopped *queues;
  size_t count, room;
} forks = {.lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_HOST_PAGES)};

/* ---- the fork ---------------------------------------------------------------------- */

/* Adds the queue to those that are stopped during the fork. If out of memory, it is not stopped. */
static void stop_queue(cl_command_queue queue) {
  if (forks.count == forks.room) {
    const size_t room = forks.room ? 2 * forks.room : 16;
    struct stopped *larger = realloc(forks.queues, room * sizeof(*larger));
    if (!larger)
      return;
    forks.queues = larger;
    forks.room = room;
  }
  if (icd_object_try_hold(&queue->object))
    forks.queues[forks.count++] = (struct stopped){.queue = queue};
}

static bool lock_for_fork(struct icd_lock *lock) {
  for (int tries = WAIT_MS * 1000 / PAUSE_US; tries; tries--) {
    if (icd_try_lock(lock))
      return true;
    usleep(PAUSE_US);
  }
  return false;
}

static void prepare_fork(void) {
  base_mutex_lock(&forks.lock);
  for (cl_context context = forks.contexts; context; context = context->next_with_host_pages) {
    if (!atomic_load(&context->host_buffers))
      continue;
    base_mutex_lock(&context->lock);
    for (cl_command_queue queue = context->queues; queue; queue = queue->next)
      stop_queue(queue);
    base_mutex_unlock(&context->lock);
  }
  for (size_t i = 0; i < forks.count; i++) {
    struct stopped *s = &forks.queues[i];
    s->locked = lock_for_fork(&s->queue->lock);
    rt_queue_wait(s->queue->rt, rt_queue_submitted(s->queue->rt), (uint64_t)WAIT_MS * NS_PER_MS);
  }
}

static void forked_parent(void) {
  for (cl_context context = forks.contexts; context; context = context->next_with_host_pages)
    if (atomic_load(&context->host_buffers) && rt_context_renew_host(context->rt))
      icd_note("fork",
               "the GPU cannot see later stores to CL_MEM_USE_HOST_PTR and imported memory: %s",
               rt_last_message());
  struct stopped *queues = forks.queues;
  const size_t count = forks.count;
  forks.queues = NULL;
  forks.count = forks.room = 0;
  for (size_t i = 0; i < count; i++)
    if (queues[i].locked)
      icd_unlock(&queues[i].queue->lock);
  base_mutex_unlock(&forks.lock);
  for (size_t i = 0; i < count; i++) /* each may be the last reference */
    icd_queue_drop(queues[i].queue);
  free(queues);
}

/* The parent's objects are invalid in the child (icd/platform/device.c). */
static void forked_child(void) {
  free(forks.queues);
  forks.queues = NULL;
  forks.count = forks.room = 0;
  forks.contexts = NULL;
  base_mutex_init(&forks.lock, BASE_LOCK_HOST_PAGES);
}

/* ---- contexts and buffers ------------------------------------------------------------ */

static void enlist_context(cl_context context) {
  cl_context other = forks.contexts;
  while (other && other != context)
    other = other->next_with_host_pages;
  if (other)
    return;
  context->next_with_host_pages = forks.contexts;
  forks.contexts = context;
}

/* The lock keeps a fork from happening between the import and the entry in the list. */
int icd_host_pages_import(cl_context context, void *memory, size_t size,
                          struct rt_buffer **buffer) {
  static const struct base_fork_handlers handlers = {prepare_fork, forked_parent, forked_child};
  const size_t offset = (uintptr_t)memory % ICD_PAGE_BYTES;
  const size_t pages = (offset + size + ICD_PAGE_BYTES - 1) / ICD_PAGE_BYTES * ICD_PAGE_BYTES;
  if (base_fork_watch(BASE_FORK_HOST_PAGES, &handlers))
    return -ENOMEM;
  base_mutex_lock(&forks.lock);
  const int error = rt_buffer_import_host(context->rt, (char *)memory - offset, pages, buffer);
  if (!error) {
    enlist_context(context);
    atomic_fetch_add(&context->host_buffers, 1);
  }
  base_mutex_unlock(&forks.lock);
  return error;
}

void icd_host_pages_remove_context(cl_context context) {
  base_mutex_lock(&forks.lock);
  for (cl_context *link = &forks.contexts; *link; link = &(*link)->next_with_host_pages)
    if (*link == context) {
      *link = context->next_with_host_pages;
      break;
    }
  base_mutex_unlock(&forks.lock);
}

void icd_host_pages_release(cl_context context) {
  atomic_fetch_sub(&context->host_buffers, 1);
}
