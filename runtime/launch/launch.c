/* Checks launches and writes each grid's QMD, constant bank 0 and pushbuffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "runtime/context/module.h"
#include "runtime/debug/debug.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/launch/recording.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

/* Returns how many warps fit into an SM's register file; docs/hardware/command-stream.md 5.2. */
static uint32_t warps_by_registers(const struct kernel_code *k) {
  uint32_t registers = k->registers > REGISTERS_MIN ? k->registers : REGISTERS_MIN;
  uint32_t warp = (uint32_t)base_round_up((uint64_t)registers * GPU_WARP_SIZE, REGISTER_UNIT);
  return SM_REGISTERS / warp / WARP_UNIT * WARP_UNIT;
}

uint32_t rt_kernel_max_threads(const struct rt_context *c, const struct kernel_code *k) {
  uint32_t threads = warps_by_registers(k) * GPU_WARP_SIZE;
  if (k->max_threads && k->max_threads < threads)
    threads = k->max_threads;
  uint32_t limit = c->device->info.max_threads_per_block;
  return threads < limit ? threads : limit;
}

void rt_kernel_max_grid(const struct rt_context *c, const struct kernel_code *k, uint32_t max[3]) {
  memcpy(max, c->device->info.max_grid, sizeof(c->device->info.max_grid));
  if (k->hidden_offset != UINT32_MAX)
    max[1] = max[2] = max[0];
}

int rt_launch_check(const struct rt_context *c, const struct rt_launch *l) {
  const struct rt_device_info *info = &c->device->info;
  const struct module_code *code = l->module->code;
  if (l->kernel >= code->kernel_count)
    return rt_fail(-EINVAL, "module has no kernel with index %u", l->kernel);
  const struct kernel_code *k = &code->kernels[l->kernel];
  uint64_t threads = 1;
  uint32_t max_grid[3];
  rt_kernel_max_grid(c, k, max_grid);
  for (int i = 0; i < 3; i++) {
    if (l->block[i] == 0 || l->block[i] > info->max_block[i] || l->grid[i] == 0 ||
        l->grid[i] > max_grid[i])
      return rt_fail(-EINVAL, "kernel %s: invalid grid of %u x %u x %u blocks of %u x %u x %u",
                     k->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                     l->block[2]);
    threads *= l->block[i];
  }
  if (threads > info->max_threads_per_block)
    return rt_fail(-EINVAL, "kernel %s: %llu work-items in a block, but at most %u are possible",
                   k->name, (unsigned long long)threads, info->max_threads_per_block);
  if (threads > rt_kernel_max_threads(c, k))
    return rt_fail(-E2BIG,
                   "kernel %s: %llu work-items in a block, but %u registers each or the kernel's "
                   "attributes allow at most %u",
                   k->name, (unsigned long long)threads, k->registers, rt_kernel_max_threads(c, k));
  uint64_t shared = (uint64_t)k->shared_bytes + l->dynamic_shared_bytes;
  if (shared > info->shared_bytes_per_block)
    return rt_fail(-E2BIG, "kernel %s: %llu bytes of local memory, but at most %u are possible",
                   k->name, (unsigned long long)shared, info->shared_bytes_per_block);
  return 0;
}

/* Sets the shared memory of a block and the carve-outs. The minimum fits one block; the target fits
 * as many blocks as the other resources allow (docs/hardware/command-stream.md 5.4). */
static void set_shared(uint32_t *qmd, const struct kernel_code *k, const struct rt_launch *l) {
  uint32_t shared =
      (uint32_t)base_round_up((uint64_t)k->shared_bytes + l->dynamic_shared_bytes, SHARED_UNIT);
  uint32_t threads = l->block[0] * l->block[1] * l->block[2];
  uint32_t warps = (threads - 1) / GPU_WARP_SIZE + 1;
  uint32_t limit = warps_by_registers(k) < SM_WARPS ? warps_by_registers(k) : SM_WARPS;
  uint32_t blocks = limit / warps < SM_BLOCKS ? limit / warps : SM_BLOCKS;
  qmd_set(qmd, QMD_SHARED_MEMORY_SIZE, shared);
  qmd_set(qmd, QMD_MIN_SM_CONFIG_SHARED_MEM_SIZE, shared_carveout_for(shared));
  qmd_set(qmd, QMD_TARGET_SM_CONFIG_SHARED_MEM_SIZE,
          shared_carveout_for((uint64_t)shared * (blocks ? blocks : 1)));
}

static const struct kernel_code *kernel_of(const struct rt_launch *l) {
  return &l->module->code->kernels[l->kernel];
}

/* ---- shapes ---------------------------------------------------------------------- */

static size_t bank_bytes(const struct kernel_code *k) {
  return base_round_up(k->bank0_bytes, 1u << QMD_CONSTANT_SIZE_SHIFT);
}

size_t rt_shape_bytes(const struct kernel_code *k) {
  return sizeof(struct rt_shape) + QMD_BYTES + bank_bytes(k);
}

void *rt_shape_params(struct rt_shape *shape, const struct kernel_code *k) {
  return (char *)shape->words + QMD_BYTES + k->param_offset;
}

static void set_raster(struct rt_shape *shape, const uint32_t count[3]) {
  qmd_set(shape->words, QMD_CTA_RASTER_WIDTH, count[0]);
  qmd_set(shape->words, QMD_CTA_RASTER_HEIGHT, count[1]);
  qmd_set(shape->words, QMD_CTA_RASTER_DEPTH, count[2]);
}

/* Returns whether the launch fits in one grid. The device's limits for y and z are the largest
 * values that fit in the QMD's fields (docs/hardware/command-stream.md 5.2). */
static bool is_one_grid(const struct rt_context *c, const struct rt_launch *l) {
  const uint32_t *most = c->device->info.max_grid;
  return !(l->last_block[0] | l->last_block[1] | l->last_block[2]) && l->grid[1] <= most[1] &&
         l->grid[2] <= most[2];
}

/* Fills the shape with everything that is the same for each launch as one grid. */
__attribute__((cold)) static void make_shape(const struct rt_context *c,
                                             const struct rt_launch *l) {
  const struct rt_kernel *r = &l->module->kernels[l->kernel];
  struct rt_shape *shape = l->shape;
  uint32_t *q = shape->words, *bank0 = q + QMD_WORDS;
  memcpy(q, r->qmd, sizeof(r->qmd));
  set_raster(shape, l->grid);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION0, l->block[0]);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION1, l->block[1]);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION2, l->block[2]);
  set_shared(q, kernel_of(l), l);

  memcpy(bank0, r->bank0, sizeof(r->bank0));
  for (int i = 0; i < 3; i++) {
    bank0[BANK0_BLOCK_X / 4 + i] = l->block[i];
    bank0[BANK0_GRID_X / 4 + i] = l->grid[i];
  }
  bank0[BANK0_DYNAMIC_SHARED / 4] = l->dynamic_shared_bytes;
  shape->one_grid = is_one_grid(c, l);
  shape->local_bytes = r->local_bytes;
  shape->kernel = kernel_of(l);
  shape->bytes = QMD_BYTES + bank_bytes(shape->kernel);
  shape->made = true;
}

/* ---- grids ----------------------------------------------------------------------- */

/* Where grids are written: a queue or a recording. */
struct target {
  struct rt_queue *queue;
  uint64_t *point;                /* receives the last grid's point; may be NULL */
  struct rt_recording *recording; /* if not NULL, used instead of the queue */
};

/* Part of a launch that is submitted as one grid. */
struct part {
  uint32_t first[3], count[3]; /* work-groups */
  bool begins, ends;           /* the launch */
};

static const struct part whole = {.begins = true, .ends = true};

/* Fills in the hidden block: the print buffer of this launch, and the grid's position if it is not
 * at the launch's origin. */
static void write_hidden(char *bank0, const struct rt_launch *l, const struct part *part) {
  const struct kernel_code *k = l->shape->kernel;
  const char *params = rt_shape_params(l->shape, k);
  struct kernel_hidden hidden;
  memcpy(&hidden, params + k->hidden_offset, sizeof(hidden));
  for (int i = 0; i < 3; i++) {
    hidden.first_group[i] = part->first[i];
    hidden.global_offset[i] += (uint64_t)part->first[i] * hidden.group_size[i];
  }
  hidden.print_buffer = l->print_buffer;
  memcpy(bank0 + k->param_offset + k->hidden_offset, &hidden, sizeof(hidden));
}

/* Writes the QMD and then bank 0. Values specific to this grid are changed in the copy, not in the
 * template: the CPU would stall on loading words that it has just partly stored. The ring is
 * write-combined and never read. */
static inline void write_grid(const struct rt_slice *s, const struct rt_launch *l,
                              const struct part *part) {
  const uint64_t bank0 = s->gpu + QMD_BYTES;
  const uint32_t *from = l->shape->words;
  uint32_t *q = (uint32_t *)s->cpu, *id = q + QMD_WORDS + BANK0_GRID_ID / 4;
  memcpy(q, from, l->shape->bytes);
  qmd_copy_with(q, from, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)bank0);
  qmd_copy_with(q, from, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)(bank0 >> 32));
  qmd_copy_with(q, from, QMD_DEBUG_ID_LOWER, (uint32_t)s->point);
  id[0] = (uint32_t)s->point;
  id[1] = (uint32_t)(s->point >> 32);
  if (!part->begins || l->print_buffer)
    write_hidden(s->cpu + QMD_BYTES, l, part);
}

static void dump_launch(const struct rt_slice *s, const struct rt_launch *l) {
  const struct kernel_code *k = l->shape->kernel;
  fprintf(stderr,
          "tegracl: launch %s: grid %u x %u x %u, block %u x %u x %u, %u registers, %u + %u bytes "
          "shared, %u bytes local\n QMD at 0x%llx:\n",
          k->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
          k->registers, k->shared_bytes, l->dynamic_shared_bytes, l->shape->local_bytes,
          (unsigned long long)s->gpu);
  rt_dump_qmd(stderr, (const uint32_t *)s->cpu);
  fprintf(stderr, " constant bank 0:\n");
  rt_dump_bank0(stderr, (const uint32_t *)(s->cpu + QMD_BYTES), bank_bytes(k), k->param_offset);
}

__attribute__((cold)) static void show_grid(struct rt_queue *q, const struct rt_slice *s,
                                            const struct rt_launch *l) {
  if (rt_debug_launch())
    dump_launch(s, l);
  if (rt_timeline_on())
    rt_timeline_grid(q, s->gpu);
}

/* This PCAS action has run on a board, and it drops a cached QMD at the same address
 * (docs/hardware/command-stream.md 4.5, 8.3). The previous launch ended with a release that waits
 * for idle, so grids of a queue never overlap. */
static void put_launch(struct rt_slice *s) {
  *s->at++ = method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, 1);
  *s->at++ = (uint32_t)(s->gpu >> QMD_ADDRESS_SHIFT);
  *s->at++ = method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B,
                           PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
}

/* Bytes of a grid's QMD and bank 0 in the ring. */
static uint64_t grid_bytes(const struct rt_shape *shape) {
  return base_round_up(shape->bytes, CONSTANT_BANK_ALIGN);
}

static inline int begin_grid(struct rt_queue *q, const struct rt_launch *l, const struct part *part,
                             struct rt_slice *s) {
  int error = rt_slice_begin(q, grid_bytes(l->shape), s);
  if (error)
    return error;
  write_grid(s, l, part);
  if (l->shape->local_bytes)
    rt_slice_pool(q, s);
  return 0;
}

/* Submits one grid. If it uses local memory, the caller holds the pool's lock for reading. */
static inline int launch_grid(struct rt_queue *q, const struct rt_launch *l,
                              const struct part *part, uint64_t *point) {
  struct rt_slice s;
  int error = begin_grid(q, l, part, &s);
  if (error)
    return error;
  if (l->times && part->begins)
    rt_slice_timestamp(&s, rt_slot_gpu(&l->times->start_mark), false);
  put_launch(&s);
  if (l->times && part->ends)
    rt_slice_timestamp(&s, rt_slot_gpu(&l->times->end_mark), true);
  if (q->shown)
    show_grid(q, &s, l);
  uint64_t reached = rt_slice_put(q, &s, l->shape->kernel->name);
  if (point)
    *point = reached;
  return 0;
}

static int record_grid(struct rt_recording *recording, const struct rt_launch *l,
                       const struct part *part) {
  struct rt_slice s;
  int error = rt_recording_begin_grid(recording, grid_bytes(l->shape), &s);
  if (error)
    return error;
  s.point = rt_recording_grids(recording);
  write_grid(&s, l, part);
  put_launch(&s);
  if (rt_debug_launch())
    dump_launch(&s, l);
  rt_recording_end_grid(recording, &s, l->shape->kernel->name, l->shape->local_bytes);
  return 0;
}

static int put_grid(const struct target *target, const struct rt_launch *l,
                    const struct part *part) {
  return target->recording ? record_grid(target->recording, l, part)
                           : launch_grid(target->queue, l, part, target->point);
}

/* Submits the grids of a box of equal work-groups, starting at the position in cut. A box is one
 * grid unless its y or z exceeds the QMD's fields (docs/hardware/command-stream.md 5.2). At the end
 * of the box the position is reset to 0. */
static int launch_box(const struct target *target, const struct rt_launch *l,
                      const struct part *box, struct rt_cut *cut, uint64_t *left) {
  const uint32_t *most = l->module->context->device->info.max_grid, *count = box->count;
  for (; cut->z < count[2]; cut->z += base_min(most[2], count[2] - cut->z), cut->y = 0) {
    for (; cut->y < count[1]; cut->y += base_min(most[1], count[1] - cut->y)) {
      const uint32_t y = cut->y, z = cut->z;
      struct part part = {
          .first = {box->first[0], box->first[1] + y, box->first[2] + z},
          .count = {count[0], base_min(most[1], count[1] - y), base_min(most[2], count[2] - z)},
      };
      part.begins = box->begins && !y && !z;
      part.ends = box->ends && y + part.count[1] == count[1] && z + part.count[2] == count[2];
      if (!*left)
        return 0;
      --*left;
      set_raster(l->shape, part.count);
      int error = put_grid(target, l, &part);
      if (error)
        return error;
    }
  }
  cut->z = 0;
  return 0;
}

/* Computes the box of work-groups that are last in exactly the dimensions of the bit set edges,
 * considering only dimensions with smaller last work-groups. Returns false if the box is empty. */
static bool edge_box(const struct rt_launch *l, unsigned edges, struct part *box,
                     uint32_t block[3]) {
  bool any = true;
  for (int i = 0; i < 3; i++) {
    const bool smaller = l->last_block[i], edge = edges >> i & 1;
    box->first[i] = edge ? l->grid[i] - 1 : 0;
    box->count[i] = edge ? 1 : l->grid[i] - smaller;
    block[i] = edge ? l->last_block[i] : l->block[i];
    any = any && box->count[i] && block[i];
  }
  return any;
}

enum { EDGES = 1 << 3 }; /* sets of dimensions */

/* Submits a launch of any form as one box, or up to eight if the last work-groups are smaller in
 * some dimensions. All boxes use the launch's shape one after the other. */
__attribute__((noinline)) static int launch_boxes(const struct target *target,
                                                  const struct rt_launch *l) {
  unsigned ends = 0;
  uint64_t left = l->cut ? RT_GRIDS_AT_ONCE : UINT64_MAX;
  struct rt_cut whole_launch = {0}, *cut = l->cut ? l->cut : &whole_launch;
  struct part box;
  struct rt_launch piece = *l;
  for (unsigned edges = 0; edges < EDGES; edges++)
    if (edge_box(l, edges, &box, piece.block))
      ends = edges;
  for (; cut->edges <= ends && left; cut->edges++) {
    if (!edge_box(l, cut->edges, &box, piece.block))
      continue;
    box.begins = !cut->begun;
    box.ends = cut->edges == ends;
    cut->begun = true;
    make_shape(l->module->context, &piece);
    int error = launch_box(target, &piece, &box, cut, &left);
    if (error)
      return error;
    if (cut->y | cut->z)
      return 0;
  }
  cut->over = cut->edges > ends;
  return 0;
}

uint64_t rt_launch_grids(const struct rt_context *c, const struct rt_launch *l) {
  const uint32_t *most = c->device->info.max_grid;
  uint64_t grids = 0;
  struct part box;
  uint32_t block[3];
  for (unsigned edges = 0; edges < EDGES; edges++)
    if (edge_box(l, edges, &box, block))
      grids += ((uint64_t)(box.count[1] - 1) / most[1] + 1) *
               ((uint64_t)(box.count[2] - 1) / most[2] + 1);
  return grids;
}

/* Submits a launch as one or more grids. The caller has made sure that the local memory pool is
 * large enough. */
static inline int submit_launch(struct rt_queue *q, const struct rt_launch *l, uint64_t *point) {
  rt_channel_lock(q->channel);
  const int error = l->shape->one_grid
                        ? launch_grid(q, l, &whole, point)
                        : launch_boxes(&(struct target){.queue = q, .point = point}, l);
  rt_queue_ring(q);
  rt_channel_unlock(q->channel);
  return error;
}

__attribute__((noinline)) static int launch_local(struct rt_queue *q, const struct rt_launch *l,
                                                  uint64_t *point) {
  int error = rt_pool_hold(q->context, q->channel->tsg, l->shape->local_bytes);
  if (error)
    return error;
  error = submit_launch(q, l, point);
  base_rwlock_unlock(&q->channel->tsg->pool.lock);
  return error;
}

/* Copies the launch and gives the copy its own shape, which the caller frees. */
static int copy_with_shape(const struct rt_context *c, const struct rt_launch *l,
                           struct rt_launch *copy) {
  int error = rt_launch_check(c, l);
  if (error)
    return error;
  const struct kernel_code *k = kernel_of(l);
  *copy = *l;
  copy->shape = calloc(1, rt_shape_bytes(k));
  if (!copy->shape)
    return rt_fail(-ENOMEM, "out of memory while launching kernel %s", k->name);
  if (k->param_bytes)
    memcpy(rt_shape_params(copy->shape, k), l->params, k->param_bytes);
  make_shape(c, copy);
  return 0;
}

static inline int launch_made(struct rt_queue *q, const struct rt_launch *l, uint64_t *point) {
  return l->shape->local_bytes ? launch_local(q, l, point) : submit_launch(q, l, point);
}

__attribute__((cold)) static int launch_shapeless(struct rt_queue *q, const struct rt_launch *l,
                                                  uint64_t *point) {
  struct rt_launch copy;
  int error = copy_with_shape(q->context, l, &copy);
  if (error)
    return error;
  error = launch_made(q, &copy, point);
  free(copy.shape);
  return error;
}

int rt_launch_begin(struct rt_queue *q, const struct rt_launch *l, struct rt_slice *s) {
  struct rt_launch copy;
  int error = copy_with_shape(q->context, l, &copy);
  if (error)
    return error;
  error = begin_grid(q, &copy, &whole, s);
  free(copy.shape);
  return error;
}

int rt_recording_launch(struct rt_recording *recording, const struct rt_launch *l) {
  struct rt_launch copy;
  int error = copy_with_shape(l->module->context, l, &copy);
  if (error)
    return error;
  error = copy.shape->one_grid ? record_grid(recording, &copy, &whole)
                               : launch_boxes(&(struct target){.recording = recording}, &copy);
  free(copy.shape);
  return error;
}

static inline int submit_shaped(struct rt_queue *q, const struct rt_launch *l, uint64_t *point) {
  if (!l->shape)
    return launch_shapeless(q, l, point);
  if (!l->shape->made) {
    int error = rt_launch_check(q->context, l);
    if (error)
      return error;
    make_shape(q->context, l);
  }
  return launch_made(q, l, point);
}

int rt_queue_launch(struct rt_queue *q, const struct rt_launch *l, uint64_t *point) {
  return rt_timeline_on() ? rt_timeline_launch(q, l, point, submit_shaped)
                          : submit_shaped(q, l, point);
}
