/* The GPU's lanes of the timeline. See timeline_gpu.h. */
#include "runtime/debug/timeline_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/nvgpu/emulator_node.h"
#include "runtime/context/module.h"
#include "runtime/debug/timeline.h"

enum {
  NAME_BYTES = 128,
  GRIDS = 8, /* grids of a launch whose counters are recorded: the main box and all edges */
  CLOCK_VALID_NS = 10000000, /* the two clocks drift apart slowly */
};

struct shown_launch {
  char name[NAME_BYTES];
  uint64_t point, submitted_ns;
  struct rt_times *times;
  bool own_times;
  uint32_t grid[3], block[3], registers, shared, local;
  uint64_t descriptors[GRIDS];
  unsigned grids; /* may be larger than GRIDS */
};

struct rt_timeline_lane {
  int number;
  struct base_mutex lock; /* guards the ring */
  uint64_t first, count;
  struct shown_launch ring[RT_GPFIFO_ENTRIES];
  struct shown_launch making; /* protected by the queue's lock */
};

static struct base_mutex clock_lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_RT_TIMELINE_CLOCK);
static uint64_t clock_measured_ns;
static int64_t clock_offset_ns; /* GPU time minus CPU time */
static atomic_int lanes;

static uint64_t cpu_time(struct rt_device *device, uint64_t gpu_ns) {
  uint64_t gpu, cpu;
  base_mutex_lock(&clock_lock);
  const bool stale = base_clock_ns() - clock_measured_ns > CLOCK_VALID_NS;
  if (stale && rt_device_time(device, &gpu, &cpu) == 0) {
    clock_offset_ns = (int64_t)(gpu - cpu);
    clock_measured_ns = cpu;
  }
  const uint64_t cpu_ns = gpu_ns - (uint64_t)clock_offset_ns;
  base_mutex_unlock(&clock_lock);
  return cpu_ns;
}

void rt_timeline_gpu_forked(void) {
  base_mutex_init(&clock_lock, BASE_LOCK_RT_TIMELINE_CLOCK);
}

/* Returns the queue's lane, or NULL if memory is exhausted; then the queue's launches are not
 * recorded. */
static struct rt_timeline_lane *lane_of(struct rt_queue *q) {
  char name[32];
  if (q->lane)
    return q->lane;
  struct rt_timeline_lane *s = calloc(1, sizeof(*s));
  if (!s)
    return NULL;
  base_mutex_init(&s->lock, BASE_LOCK_RT_TIMELINE_LANE);
  s->number = atomic_fetch_add(&lanes, 1);
  snprintf(name, sizeof(name), "GPU, queue %d", s->number);
  rt_timeline_name_lane(s->number, name);
  q->lane = s;
  return s;
}

static int get_times(struct rt_context *c, struct rt_times **times) {
  void *slot = NULL;
  const int error = rt_slots_get(&c->times, &slot);
  if (error)
    return error;
  *times = slot;
  **times = (struct rt_times){0};
  return 0;
}

/* Adds up the software Orin's counters. Returns false on a board, or if the launch has too many
 * grids. */
static bool count_work(const struct rt_context *c, const struct shown_launch *l,
                       uint64_t *warp_instructions, uint64_t *bytes) {
  const struct rt_device *d = c->device;
  *warp_instructions = *bytes = 0;
  if (d->emulator_fd < 0 || !l->grids || l->grids > GRIDS)
    return false;
  for (unsigned i = 0; i < l->grids; i++) {
    struct emulator_grid g = {.as_fd = c->as_fd, .descriptor = l->descriptors[i]};
    if (d->os->ioctl(d->emulator_fd, EMULATOR_IOCTL_GRID, &g) || !g.known)
      return false;
    *warp_instructions += g.warp_instructions;
    *bytes += g.global_bytes;
  }
  return true;
}

static void put_launch(const struct rt_context *c, int lane, const struct shown_launch *l) {
  char grid[40], block[40];
  uint64_t instructions, bytes;
  /* The conversion between the clocks is inexact, but a launch cannot start before it is
   * submitted. */
  const uint64_t start = cpu_time(c->device, l->times->start_ns);
  const uint64_t begin = start < l->submitted_ns ? l->submitted_ns : start;
  const uint64_t end = begin + (l->times->end_ns - l->times->start_ns);
  snprintf(grid, sizeof(grid), "%u x %u x %u", l->grid[0], l->grid[1], l->grid[2]);
  snprintf(block, sizeof(block), "%u x %u x %u", l->block[0], l->block[1], l->block[2]);
  struct rt_timeline_detail details[] = {
      {"point", l->point, NULL},         {"waited_ns", begin - l->submitted_ns, NULL},
      {"work_groups", 0, grid},          {"work_items", 0, block},
      {"registers", l->registers, NULL}, {"shared_bytes", l->shared, NULL},
      {"local_bytes", l->local, NULL},   {"warp_instructions", 0, NULL},
      {"global_bytes", 0, NULL},
  };
  size_t detail_count = sizeof(details) / sizeof(details[0]);
  if (count_work(c, l, &instructions, &bytes)) {
    details[detail_count - 2].number = instructions;
    details[detail_count - 1].number = bytes;
    detail_count -= !bytes; /* only profile mode counts bytes */
  } else {
    detail_count -= 2;
  }
  rt_timeline_put(&(struct rt_timeline_event){.category = "kernel",
                                              .name = l->name,
                                              .lane = lane,
                                              .begin_ns = begin,
                                              .end_ns = end > begin ? end : begin + 1,
                                              .details = details,
                                              .detail_count = detail_count});
}

/* Records the launches of a queue that have completed. */
static void drain_queue(struct rt_queue *q) {
  struct rt_timeline_lane *s = q->lane;
  if (!s)
    return;
  const uint64_t completed = rt_queue_completed(q);
  base_mutex_lock(&s->lock);
  for (; s->first < s->count; s->first++) {
    const struct shown_launch *l = &s->ring[s->first % RT_GPFIFO_ENTRIES];
    if (l->point > completed)
      break;
    put_launch(q->context, s->number, l);
    if (l->own_times)
      rt_slots_put(&q->context->times, l->times);
  }
  base_mutex_unlock(&s->lock);
}

void rt_timeline_drain_all(struct rt_context *c) {
  base_mutex_lock(&c->lock);
  for (struct rt_queue *q = c->queues; q; q = q->next)
    drain_queue(q);
  base_mutex_unlock(&c->lock);
}

void rt_timeline_queue_end(struct rt_queue *q) {
  struct rt_context *c = q->context;
  struct rt_timeline_lane *s = q->lane;
  if (!s)
    return;
  drain_queue(q);
  base_mutex_lock(&c->lock); /* other threads may be in rt_timeline_drain_all */
  q->lane = NULL;
  base_mutex_unlock(&c->lock);
  for (; s->first < s->count; s->first++) {
    const struct shown_launch *l = &s->ring[s->first % RT_GPFIFO_ENTRIES];
    if (l->own_times)
      rt_slots_put(&c->times, l->times);
  }
  base_mutex_destroy(&s->lock);
  free(s);
}

void rt_timeline_grid(struct rt_queue *q, uint64_t descriptor) {
  struct shown_launch *l = q->lane ? &q->lane->making : NULL;
  if (!l)
    return;
  if (l->grids < GRIDS)
    l->descriptors[l->grids] = descriptor;
  l->grids++;
}

static void describe_launch(struct shown_launch *l, const struct rt_launch *launch) {
  const struct kernel_code *k = &launch->module->code->kernels[launch->kernel];
  snprintf(l->name, sizeof(l->name), "%s", k->name);
  memcpy(l->grid, launch->grid, sizeof(l->grid));
  memcpy(l->block, launch->block, sizeof(l->block));
  l->registers = k->registers;
  l->shared = k->shared_bytes + launch->dynamic_shared_bytes;
  l->local = launch->module->kernels[launch->kernel].local_bytes;
  l->grids = 0;
}

int rt_timeline_launch(struct rt_queue *q, const struct rt_launch *launch, uint64_t *point,
                       int (*submit)(struct rt_queue *, const struct rt_launch *, uint64_t *)) {
  struct rt_timeline_lane *s = lane_of(q);
  struct rt_launch timed = *launch;
  uint64_t reached;
  drain_queue(q);
  if (!s || launch->kernel >= launch->module->code->kernel_count ||
      (!timed.times && get_times(q->context, &timed.times)))
    return submit(q, launch, point);
  struct shown_launch *l = &s->making;
  describe_launch(l, launch);
  l->times = timed.times;
  l->own_times = !launch->times;
  l->submitted_ns = 0;
  const int error = submit(q, &timed, &reached);
  if (error) {
    if (l->own_times)
      rt_slots_put(&q->context->times, l->times);
    return error;
  }
  l->point = reached;
  if (point)
    *point = reached;
  base_mutex_lock(&s->lock);
  /* No more launches can be in flight than the ring has entries, so draining frees a slot once some
   * have completed. */
  while (s->count - s->first == RT_GPFIFO_ENTRIES) {
    base_mutex_unlock(&s->lock);
    drain_queue(q);
    base_mutex_lock(&s->lock);
  }
  s->ring[s->count++ % RT_GPFIFO_ENTRIES] = *l;
  base_mutex_unlock(&s->lock);
  return 0;
}

void rt_timeline_submit(const struct rt_queue *q, uint64_t point, uint32_t index,
                        const char *kernel) {
  const uint64_t now = base_clock_ns();
  if (q->lane && !q->lane->making.submitted_ns) /* first grid of the launch */
    q->lane->making.submitted_ns = now;
  const struct rt_timeline_detail details[] = {
      {"queue", q->lane ? (uint64_t)q->lane->number : 0, NULL},
      {"point", point, NULL},
      {"gpfifo_entry", index, NULL},
      {"kernel", 0, kernel ? kernel : "none"},
  };
  rt_timeline_put(
      &(struct rt_timeline_event){.category = "submission",
                                  .name = "submission",
                                  .lane = RT_LANE_THREAD,
                                  .begin_ns = now,
                                  .end_ns = now,
                                  .details = details,
                                  .detail_count = sizeof(details) / sizeof(details[0])});
}

void rt_timeline_waited(struct rt_queue *q, uint64_t point, uint64_t since_ns) {
  const struct rt_timeline_detail detail = {"point", point, NULL};
  if (since_ns)
    rt_timeline_span("wait", "wait for the GPU", since_ns, &detail, 1);
  drain_queue(q);
}
