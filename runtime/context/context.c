/* Creates and destroys contexts. */
#include "runtime/context/context.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/device/fds.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

static int alloc_as(struct rt_context *c) {
  struct nvgpu_alloc_as_args args = {.va_range_start = rt_range_begin(c->range),
                                     .va_range_end = rt_range_end(c->range)};
  int error = c->device->os->ioctl(c->device->ctrl_fd, NVGPU_GPU_IOCTL_ALLOC_AS, &args);
  if (error)
    return rt_fail_call(error, "ALLOC_AS from 0x%llx to 0x%llx",
                        (unsigned long long)args.va_range_start,
                        (unsigned long long)args.va_range_end);
  c->as_fd = rt_fd_opened(c->device->os, args.as_fd);
  return c->as_fd < 0 ? rt_fail_call(c->as_fd, "ALLOC_AS") : 0;
}

/* No board has run with a range beyond the first. If the kernel refuses one, the context uses the
 * first range, whose addresses another context has too. */
static int create_as(struct rt_context *c) {
  struct rt_choices *choices = &c->device->choices;
  int error = alloc_as(c);
  if (!error || c->range <= 0 || !rt_choice_unknown(choices, RT_CHOICE_CONTEXTS))
    return error;
  rt_range_put(c->range);
  c->range = RT_NO_RANGE;
  error = alloc_as(c);
  if (error == 0)
    rt_choice_refused(choices, RT_CHOICE_CONTEXTS,
                      "ALLOC_AS refused a range beyond the first 128 GiB");
  return error;
}

static void destroy_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  rt_channels_destroy(c, tsg);
  rt_tsg_finish(c, tsg);
}

static void destroy_context(struct rt_context *c) {
  rt_module_destroy(c->copy_module);
  destroy_tsg(c, &c->high_tsg);
  destroy_tsg(c, &c->tsg);
  rt_textures_finish(c->device, c->as_fd, &c->textures);
  rt_heap_destroy(&c->heap);
  rt_slots_destroy(&c->times);
  rt_slots_destroy(&c->timelines);
  rt_fd_close(c->device->os, c->as_fd);
  rt_range_put(c->range);
  base_mutex_destroy(&c->channels_lock);
  base_mutex_destroy(&c->lock);
  free(c->fault_message);
  free(c);
}

/* Creates a context in a range of addresses, or with RT_NO_RANGE. Takes the range. */
static int create_in_range(struct rt_device *device, int range, struct rt_context **context) {
  struct rt_context *c = calloc(1, sizeof(*c));
  if (!c) {
    rt_range_put(range);
    return rt_fail(-ENOMEM, "out of memory while creating a context");
  }
  c->device = device;
  c->as_fd = -1;
  rt_tsg_init(&c->tsg);
  rt_tsg_init(&c->high_tsg);
  c->range = range;
  base_mutex_init(&c->lock, BASE_LOCK_RT_CONTEXT);
  base_mutex_init(&c->channels_lock, BASE_LOCK_RT_CHANNELS);
  rt_textures_init(&c->textures);
  int error = create_as(c);
  if (error == 0) {
    rt_slots_init(&c->timelines, device, c->as_fd, RT_TIMELINE_STRIDE);
    rt_slots_init(&c->times, device, c->as_fd, sizeof(struct rt_times));
    rt_heap_init(&c->heap, device, c->as_fd);
    error = rt_tsg_create(c, &c->tsg);
  }
  if (error) {
    destroy_context(c);
    return error;
  }
  *context = c;
  return 0;
}

int rt_context_create(struct rt_device *device, struct rt_context **context) {
  int range = rt_range_get();
  if (range > 0 && !rt_choice_may(&device->choices, RT_CHOICE_CONTEXTS)) {
    rt_range_put(range);
    range = RT_NO_RANGE;
  }
  const int error = create_in_range(device, range, context);
  if (error)
    return error;
  struct rt_context *c = *context;
  base_mutex_lock(&device->contexts_lock);
  c->next = device->contexts;
  device->contexts = c;
  base_mutex_unlock(&device->contexts_lock);
  return 0;
}

int rt_context_create_scratch(struct rt_device *device, struct rt_context **context) {
  const int error = create_in_range(device, RT_NO_RANGE, context);
  if (error)
    return error;
  (*context)->textures.unchecked = true;
  return 0;
}

void rt_context_destroy_scratch(struct rt_context *c) {
  if (c)
    destroy_context(c);
}

void rt_context_destroy(struct rt_context *c) {
  if (!c)
    return;
  struct rt_device *device = c->device;
  base_mutex_lock(&device->contexts_lock);
  struct rt_context **link = &device->contexts;
  while (*link != c)
    link = &(*link)->next;
  *link = c->next;
  base_mutex_unlock(&device->contexts_lock);
  destroy_context(c);
}

int rt_times_get(struct rt_context *c, struct rt_times **times) {
  void *slot = NULL;
  int error = rt_slots_get(&c->times, &slot);
  if (error)
    return error;
  struct rt_times *t = slot;
  t->start_mark = t->start_ns = t->end_mark = t->end_ns = 0;
  *times = t;
  return 0;
}

void rt_times_put(struct rt_context *c, struct rt_times *times) {
  if (rt_timeline_on())
    rt_timeline_drain_all(c);
  if (times)
    rt_slots_put(&c->times, times);
}
