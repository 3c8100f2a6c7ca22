/* Buffers: memory in a context's list, which fault messages look through. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/context.h"
#include "runtime/message.h"
#include "runtime/notes.h"

/* Where all ways to a buffer end. Takes the node over, and frees it if making its memory
 * has failed. cpu: of memory that is not mapped for the CPU here. */
static int finish(struct rt_context *c, struct rt_buffer_node *node, int result, uint64_t size,
                  void *cpu, struct rt_buffer **buffer) {
  if (result) {
    free(node);
    return result;
  }
  rt_memory_drop_fd(c->device, &node->memory);
  node->buffer = (struct rt_buffer){.gpu = node->memory.gpu,
                                    .cpu = cpu ? cpu : node->memory.cpu,
                                    .size = size ? size : node->memory.size,
                                    .context = c};
  pthread_mutex_lock(&c->lock);
  node->next = c->buffers;
  if (node->next)
    node->next->previous = node;
  c->buffers = node;
  const unsigned number = ++c->buffers_made;
  pthread_mutex_unlock(&c->lock);
  rt_note_buffer(&node->buffer, number);
  *buffer = &node->buffer;
  return 0;
}

static int make_node(struct rt_buffer_node **node) {
  *node = calloc(1, sizeof(**node));
  return *node ? 0 : rt_fail(-ENOMEM, "no memory for a buffer's record");
}

int rt_buffer_create(struct rt_context *c, uint64_t size, enum rt_memory_type type,
                     struct rt_buffer **buffer) {
  if (size == 0)
    return rt_fail(-EINVAL, "a buffer of 0 bytes");
  struct rt_buffer_node *node;
  int result = make_node(&node);
  if (result == 0)
    result = rt_memory_create(c->device, c->as_fd, size, type, &node->memory);
  return finish(c, node, result, size, NULL, buffer);
}

int rt_buffer_import(struct rt_context *c, int fd, struct rt_buffer **buffer) {
  struct rt_buffer_node *node;
  int result = make_node(&node);
  if (result == 0)
    result = rt_memory_import(c->device, c->as_fd, fd, &node->memory);
  return finish(c, node, result, 0, NULL, buffer);
}

int rt_buffer_import_host(struct rt_context *c, void *pages, uint64_t size,
                          struct rt_buffer **buffer) {
  struct rt_buffer_node *node;
  int result = make_node(&node);
  if (result == 0)
    result = rt_memory_import_host(c->device, c->as_fd, pages, size, &node->memory);
  return finish(c, node, result, size, pages, buffer);
}

int rt_context_renew_host(struct rt_context *c) {
  int result = 0;
  pthread_mutex_lock(&c->lock);
  for (struct rt_buffer_node *n = c->buffers; n; n = n->next) {
    const int renewed =
        n->memory.reserved ? rt_memory_renew_host(c->device, n->buffer.cpu, &n->memory) : 0;
    result = renewed ? renewed : result;
  }
  pthread_mutex_unlock(&c->lock);
  return result;
}

void rt_buffer_destroy(struct rt_buffer *buffer) {
  if (!buffer)
    return;
  struct rt_context *c = buffer->context;
  struct rt_buffer_node *node = (struct rt_buffer_node *)buffer;
  pthread_mutex_lock(&c->lock);
  if (node->previous)
    node->previous->next = node->next;
  else
    c->buffers = node->next;
  if (node->next)
    node->next->previous = node->previous;
  pthread_mutex_unlock(&c->lock);
  rt_memory_destroy(c->device, &node->memory);
  free(node);
}
