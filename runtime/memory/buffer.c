/* Buffers. A buffer has separate memory and is in the context's list, or it is part of the
 * context's heap. Fault messages look for an address in both. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/context/context.h"
#include "runtime/context/notes.h"
#include "runtime/message.h"

/* Common end of all functions that create a buffer with separate memory. Takes ownership of own,
 * and frees it if error is set. cpu is the address of memory that was not mapped here for the CPU,
 * else NULL. */
static int finish_buffer(struct rt_context *c, struct rt_own_buffer *own, int error, uint64_t size,
                         void *cpu, struct rt_buffer **buffer) {
  if (error) {
    free(own);
    return error;
  }
  rt_memory_drop_fd(c->device, &own->memory);
  own->context = c;
  own->node.buffer = (struct rt_buffer){.gpu = own->memory.gpu,
                                        .cpu = cpu ? cpu : own->memory.cpu,
                                        .size = size ? size : own->memory.size};
  base_mutex_lock(&c->lock);
  own->next = c->buffers;
  if (own->next)
    own->next->previous = own;
  c->buffers = own;
  const unsigned number = ++c->buffers_made;
  base_mutex_unlock(&c->lock);
  rt_note_buffer_name(own, number);
  *buffer = &own->node.buffer;
  return 0;
}

static int make_record(struct rt_own_buffer **own) {
  *own = calloc(1, sizeof(**own));
  return *own ? 0 : rt_fail(-ENOMEM, "out of memory while creating a buffer");
}

int rt_buffer_create(struct rt_context *c, uint64_t size, enum rt_memory_type type,
                     struct rt_buffer **buffer) {
  if (size == 0)
    return rt_fail(-EINVAL, "a buffer of 0 bytes");
  struct rt_own_buffer *own;
  int error = make_record(&own);
  if (error == 0)
    error = rt_memory_create(c->device, c->as_fd, size, type, &own->memory);
  if (error == -ENOMEM && own && rt_heap_trim(&c->heap))
    error = rt_memory_create(c->device, c->as_fd, size, type, &own->memory);
  return finish_buffer(c, own, error, size, NULL, buffer);
}

int rt_buffer_allocate(struct rt_context *c, uint64_t size, struct rt_buffer **buffer) {
  /* Even if there is no memory for another block, there may be enough for this buffer. */
  int error = -ENOMEM;
  if (c->device->suballocation && size && size <= RT_HEAP_BUFFER)
    error = rt_heap_allocate(&c->heap, size, buffer);
  return error == -ENOMEM ? rt_buffer_create(c, size, RT_MEMORY_CACHED, buffer) : error;
}

int rt_buffer_import(struct rt_context *c, int fd, struct rt_buffer **buffer) {
  struct rt_own_buffer *own;
  int error = make_record(&own);
  if (error == 0)
    error = rt_memory_import(c->device, c->as_fd, fd, &own->memory);
  return finish_buffer(c, own, error, 0, NULL, buffer);
}

int rt_buffer_import_host(struct rt_context *c, void *pages, uint64_t size,
                          struct rt_buffer **buffer) {
  struct rt_own_buffer *own;
  int error = make_record(&own);
  if (error == 0)
    error = rt_memory_import_host(c->device, c->as_fd, pages, size, &own->memory);
  return finish_buffer(c, own, error, size, pages, buffer);
}

int rt_context_renew_host(struct rt_context *c) {
  int error = 0;
  base_mutex_lock(&c->lock);
  for (struct rt_own_buffer *n = c->buffers; n; n = n->next) {
    const int renewed =
        n->memory.reserved ? rt_memory_renew_host(c->device, n->node.buffer.cpu, &n->memory) : 0;
    error = renewed ? renewed : error;
  }
  base_mutex_unlock(&c->lock);
  return error;
}

void rt_buffer_destroy(struct rt_buffer *buffer) {
  if (!buffer)
    return;
  struct rt_own_buffer *own = (struct rt_own_buffer *)buffer;
  if (own->node.block) {
    rt_heap_release(buffer);
    return;
  }
  struct rt_context *c = own->context;
  base_mutex_lock(&c->lock);
  if (own->previous)
    own->previous->next = own->next;
  else
    c->buffers = own->next;
  if (own->next)
    own->next->previous = own->previous;
  base_mutex_unlock(&c->lock);
  rt_memory_destroy(c->device, &own->memory);
  free(own);
}
