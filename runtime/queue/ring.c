/* The ring of a channel: slices, the words before and after a submission, the doorbell. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "runtime/debug/debug.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/debug/trace.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

enum {
  PUSHBUFFER_BYTES_MAX = 1024, /* upper bound of the words in a pushbuffer */
  SLICE_ALIGN = QMD_ALIGN,
  CLAIM_SLICES = 2, /* slices that are prefetched ahead */
  CACHE_LINE_BYTES = 64,
};

/* ---- words ------------------------------------------------------------------- */

static void put_word(struct rt_slice *s, uint32_t word) {
  *s->at++ = word;
}

/* header, address, payload, execute */
enum { SEMAPHORE_WORDS = 6, SEMAPHORE_PAYLOAD = 3 };

static void put_any_semaphore(struct rt_slice *s, uint64_t address, uint64_t payload,
                              uint32_t execute) {
  put_word(s, method_header(METHOD_INC, 0, NVC76F_SEM_ADDR_LO, SEMAPHORE_WORDS - 1));
  put_word(s, (uint32_t)address);
  put_word(s, (uint32_t)(address >> 32));
  put_word(s, (uint32_t)payload);
  put_word(s, (uint32_t)(payload >> 32));
  put_word(s, execute);
}

static void put_semaphore(struct rt_slice *s, uint64_t address, uint64_t payload,
                          uint32_t execute) {
  put_any_semaphore(s, address, payload, execute | hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1));
}

/* Every 32-bit release to it increments the syncpoint (docs/hardware/kernel-interface.md 6). It
 * follows the timeline's release, which has waited for idle. */
static void put_increment(struct rt_slice *s, uint64_t syncpoint) {
  put_any_semaphore(s, syncpoint, 0, hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE));
}

/* Writes the words that end a submission: the release of its point, and the increment of the
 * syncpoint. */
static void make_end(struct rt_channel *ch) {
  struct rt_slice s = {.at = ch->end};
  put_semaphore(&s, rt_slot_gpu(ch->timeline), 0,
                hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE) |
                    hw_bits(NVC76F_SEM_EXECUTE_RELEASE_WFI, 1));
  if (ch->syncpoint_gpu)
    put_increment(&s, ch->syncpoint_gpu);
  ch->end_words = (unsigned)(s.at - ch->end);
}

/* The point is written into the copy, not into the source: loading words just after storing a part
 * of them would stall the CPU. */
static void put_end(const struct rt_channel *ch, struct rt_slice *s) {
  uint32_t *words = s->at;
  memcpy(words, ch->end, sizeof(ch->end));
  words[SEMAPHORE_PAYLOAD] = (uint32_t)s->point;
  words[SEMAPHORE_PAYLOAD + 1] = (uint32_t)(s->point >> 32);
  s->at = words + ch->end_words;
}

/* ---- creation and destruction ------------------------------------------------ */

int rt_ring_create(struct rt_channel *ch) {
  struct rt_context *c = ch->context;
  void *timeline = NULL;
  int error = rt_slots_get(&c->timelines, &timeline);
  if (error)
    return error;
  /* A timeline continues from its last user's value, so that a late acquire of an old point is
   * still satisfied. */
  ch->timeline = timeline;
  ch->first = ch->rung = *ch->timeline;
  atomic_init(&ch->submitted, ch->first);
  ch->due = true;
  make_end(ch);
  error =
      rt_memory_create(c->device, c->as_fd, RT_SLICES_BYTES, RT_MEMORY_WRITE_COMBINE, &ch->slices);
  if (error == 0)
    rt_memory_drop_fd(c->device, &ch->slices);
  return error;
}

void rt_ring_destroy(struct rt_channel *ch) {
  struct rt_context *c = ch->context;
  rt_memory_destroy(c->device, &ch->ends);
  rt_memory_destroy(c->device, &ch->slices);
  if (ch->timeline)
    rt_slots_put(&c->timelines, (void *)(uintptr_t)ch->timeline);
}

/* ---- submissions --------------------------------------------------------------- */

static struct rt_submission *submission_of(struct rt_channel *ch, uint64_t point) {
  return &ch->submissions[(point - ch->first) % RT_GPFIFO_ENTRIES];
}

static uint64_t last_point(const struct rt_channel *ch) {
  return atomic_load_explicit(&ch->submitted, memory_order_relaxed);
}

static bool code_is_new(const struct rt_channel *ch) {
  return ch->seen_code != atomic_load(&ch->context->code_generation);
}

static void put_compute(struct rt_slice *s, uint32_t method, uint32_t count) {
  put_word(s, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, method, count));
}

void rt_slice_timestamp(struct rt_slice *s, uint64_t address, bool wait_for_idle) {
  put_semaphore(s, address, 1,
                hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE) |
                    hw_bits(NVC76F_SEM_EXECUTE_RELEASE_WFI, wait_for_idle) |
                    hw_bits(NVC76F_SEM_EXECUTE_RELEASE_TIMESTAMP, 1));
}

static void put_set_up(struct rt_slice *s) {
  put_compute(s, NVC7C0_SET_OBJECT, 1);
  put_word(s, CLASS_COMPUTE);
  put_compute(s, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A, 2);
  put_word(s, (uint32_t)(RT_SHARED_WINDOW >> 32));
  put_word(s, (uint32_t)RT_SHARED_WINDOW);
  put_compute(s, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A, 2);
  put_word(s, (uint32_t)(RT_LOCAL_WINDOW >> 32));
  put_word(s, (uint32_t)RT_LOCAL_WINDOW);
}

bool rt_queue_is_due(const struct rt_queue *q) {
  return q->channel->due || q->acquire_count || code_is_new(q->channel);
}

/* Emits the state that must precede the next submission. */
static void put_due(struct rt_queue *q, uint32_t code, struct rt_slice *s) {
  struct rt_channel *ch = q->channel;
  if (!ch->set_up)
    put_set_up(s);
  ch->set_up = true;
  for (unsigned i = 0; i < q->acquire_count; i++)
    put_semaphore(s, q->acquires[i].timeline, q->acquires[i].point,
                  hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQ_CIRC_GEQ) |
                      hw_bits(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG, 1));
  q->acquire_count = 0;
  if (ch->skeds_stale)
    put_word(s, method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SKED_CACHES, 0));
  ch->skeds_stale = false;
  if (ch->seen_code != code) {
    put_compute(s, NVC7C0_INVALIDATE_SHADER_CACHES, 1);
    put_word(s, hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_INSTRUCTION, 1) |
                    hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_DATA, 1) |
                    hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_CONSTANT, 1));
  }
  ch->seen_code = code;
  const struct rt_textures *textures = &q->context->textures;
  if (!ch->has_textures && atomic_load(&textures->ready)) {
    rt_slice_textures(textures, s);
    ch->has_textures = true;
  }
  ch->due = false;
}

/* Waits until a quarter of the work in flight has completed, so that an application which fills the
 * ring does not poll for each launch, or until some of it has and ROOM_NS have passed. */
static int wait_for_room(struct rt_queue *q, uint64_t completed) {
  enum { ROOM_NS = 100000 };
  const uint64_t quarter = (last_point(q->channel) - completed + 3) / 4;
  const int error = rt_queue_wait_point(q, completed + quarter, ROOM_NS);
  if (error != -ETIMEDOUT || rt_queue_completed(q) > completed)
    return error == -ETIMEDOUT ? 0 : error;
  return rt_queue_wait_point(q, completed + 1, UINT64_MAX);
}

/* Reads the timeline and waits until there is room for this many more points, whose slices are from
 * start to end. At most entries - 1 may be in flight, because GP_PUT = GP_GET means empty. */
static int make_room(struct rt_queue *q, uint64_t start, uint64_t end, unsigned points) {
  struct rt_channel *ch = q->channel;
  const uint64_t submitted = last_point(ch);
  for (;;) {
    uint64_t completed = rt_queue_completed(q), tail = start;
    if (completed < submitted)
      tail = completed == ch->first ? 0 : submission_of(ch, completed)->slice_end;
    uint64_t free = tail + RT_SLICES_BYTES;
    ch->point_limit = completed + RT_GPFIFO_ENTRIES;
    if (end <= free && submitted + points < ch->point_limit) {
      uint64_t ring_end = start - start % RT_SLICES_BYTES + RT_SLICES_BYTES;
      ch->slice_limit = free < ring_end ? free : ring_end;
      return 0;
    }
    rt_queue_ring(q);
    if (wait_for_room(q, completed)) {
      rt_context_explain(q->context);
      return -EIO;
    }
  }
}

static void place_slice(const struct rt_channel *ch, uint64_t start, uint64_t payload_bytes,
                        struct rt_slice *s) {
  uint64_t offset = start % RT_SLICES_BYTES;
  s->gpu = ch->slices.gpu + offset;
  s->cpu = (char *)ch->slices.cpu + offset;
  s->bytes = payload_bytes;
  s->start = start;
  s->point = last_point(ch) + 1;
  s->words = (uint32_t *)(s->cpu + payload_bytes);
  s->at = s->words;
}

/* Waits until the self-check of the texture units lets this context submit: at most
 * RT_TEXTURE_CHECK_LIMIT_MS. The self-check makes rt_queue_is_due true for all channels. */
static void wait_for_release(struct rt_context *c) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  while (atomic_load(&c->held))
    nanosleep(&pause, NULL);
}

/* The slow path of rt_slice_begin: the queue is dead, state must be emitted first, the context is
 * held, or the ring may be full. */
__attribute__((noinline)) static int begin_slowly(struct rt_queue *q, uint64_t payload_bytes,
                                                  struct rt_slice *s) {
  if (rt_queue_dead(q)) {
    rt_context_explain(q->context);
    return -EIO;
  }
  /* A self-check that begins after the wait makes the channel due again, because it increments the
   * generation that is read here. */
  const uint32_t code = atomic_load(&q->context->code_generation);
  wait_for_release(q->context);
  struct rt_channel *ch = q->channel;
  uint64_t start = ch->slice_head, need = payload_bytes + PUSHBUFFER_BYTES_MAX;
  uint64_t rest = RT_SLICES_BYTES - start % RT_SLICES_BYTES;
  if (need > RT_SLICES_BYTES)
    return rt_fail(-E2BIG, "launch has too many parameter bytes: %llu",
                   (unsigned long long)payload_bytes);
  if (rest < need) {
    start += rest;
    ch->skeds_stale = true;
  }
  int error = make_room(q, start, start + need, 1);
  if (error)
    return error;
  place_slice(ch, start, payload_bytes, s);
  put_due(q, code, s);
  return 0;
}

int rt_slice_begin(struct rt_queue *q, uint64_t payload_bytes, struct rt_slice *s) {
  const struct rt_channel *ch = q->channel;
  uint64_t start = ch->slice_head, end = start + payload_bytes + PUSHBUFFER_BYTES_MAX;
  if (end > ch->slice_limit || last_point(ch) + 1 >= ch->point_limit || rt_queue_is_due(q) ||
      rt_queue_dead(q))
    return begin_slowly(q, payload_bytes, s);
  place_slice(ch, start, payload_bytes, s);
  return 0;
}

/* Orders earlier accesses before later stores, as seen by the GPU, like Linux's dma_mb. Covers
 * write-combined stores, and also loads: the application may have read from a buffer that the GPU
 * writes as soon as it sees GP_PUT. tinygrad and UVM have full barriers here
 * (docs/hardware/command-stream.md 1.5). On a PC the software Orin uses ordinary memory. */
static void submit_barrier(void) {
#if defined(__aarch64__)
  __asm__ volatile("dmb osh" ::: "memory");
#elif defined(__x86_64__)
  atomic_thread_fence(memory_order_release);
#else
  __sync_synchronize();
#endif
}

/* Returns the index of a point's entry in the GPFIFO. */
static uint32_t ring_index(const struct rt_channel *ch, uint64_t point) {
  return (uint32_t)((point - ch->first - 1) % RT_GPFIFO_ENTRIES);
}

static uint64_t ring_entry(const struct rt_slice *s) {
  return gp_entry(s->gpu + s->bytes, (uint32_t)(s->at - s->words), 0);
}

__attribute__((cold)) static void show_submission(const struct rt_queue *q,
                                                  const struct rt_slice *s, const char *kernel) {
  const size_t words = (size_t)(s->at - s->words);
  const uint32_t token = q->channel->token, index = ring_index(q->channel, s->point);
  if (rt_debug_launch()) {
    fprintf(stderr, "tegracl: channel 0x%x, point %" PRIu64 ": pushbuffer at 0x%" PRIx64 "\n",
            token, s->point, s->gpu + s->bytes);
    rt_dump_pushbuffer(stderr, s->words, words);
    rt_dump_gp_entry(stderr, index, ring_entry(s));
  }
  if (rt_timeline_on())
    rt_timeline_submit(q, s->point, index, kernel);
  if (rt_trace_on())
    rt_trace_submit(&(struct rt_trace_submission){.token = token,
                                                  .point = s->point,
                                                  .index = index,
                                                  .entry = ring_entry(s),
                                                  .gpu = s->gpu,
                                                  .data = s->cpu,
                                                  .bytes = s->bytes + words * sizeof(uint32_t)});
}

/* Prefetches the lines that the launch after next will fill if it has the same size. The software
 * Orin's threads have read them, so a store would have to wait until the other core's cache gives
 * them up. A board's ring is write-combined and not cached. */
static inline void prefetch_slices(const struct rt_channel *ch, const struct rt_slice *s) {
#if defined(__x86_64__)
  const uint64_t bytes = ch->slice_head - s->start;
  const char *at = s->cpu + CLAIM_SLICES * bytes, *end = at + bytes;
  if (end > (const char *)ch->slices.cpu + RT_SLICES_BYTES)
    return;
  for (; at < end; at += SLICE_ALIGN)
    for (int i = 0; i < SLICE_ALIGN; i += CACHE_LINE_BYTES)
      __asm__ volatile("prefetchw %0" : : "m"(at[i]));
#else
  (void)ch, (void)s;
#endif
}

static void put_entry(const struct rt_channel *ch, const struct rt_slice *s) {
  volatile uint64_t *ring = ch->gpfifo.cpu;
  ring[ring_index(ch, s->point)] = ring_entry(s);
}

static void publish_point(struct rt_queue *q, uint64_t point) {
  atomic_store_explicit(&q->channel->submitted, point, memory_order_relaxed);
  atomic_store_explicit(&q->submitted, point, memory_order_release);
}

uint64_t rt_slice_put(struct rt_queue *q, struct rt_slice *s, const char *kernel) {
  struct rt_channel *ch = q->channel;
  put_end(ch, s);
  if (q->shown)
    show_submission(q, s, kernel);
  ch->slice_head = s->start + base_round_up((uint64_t)((char *)s->at - s->cpu), SLICE_ALIGN);
  *submission_of(ch, s->point) =
      (struct rt_submission){.slice_end = ch->slice_head, .kernel = kernel};
  put_entry(ch, s);
  publish_point(q, s->point);
  prefetch_slices(ch, s);
  return s->point;
}

void rt_queue_ring(struct rt_queue *q) {
  struct rt_channel *ch = q->channel;
  const uint64_t point = last_point(ch);
  if (ch->rung == point)
    return;
  ch->rung = point;
  submit_barrier();
  *(volatile uint32_t *)((char *)ch->userd.cpu + USERD_GP_PUT) = ring_index(ch, point + 1);
  const struct rt_device *d = q->context->device;
  d->os->doorbell(d->usermode, ch->token);
}

uint64_t rt_slice_submit(struct rt_queue *q, struct rt_slice *s, const char *kernel) {
  const uint64_t point = rt_slice_put(q, s, kernel);
  rt_queue_ring(q);
  return point;
}

/* ---- replays -------------------------------------------------------------------- */

/* The release of the timeline, and two increments of the syncpoint, which counts points. */
enum { REPLAY_END_WORDS = RT_END_WORDS + SEMAPHORE_WORDS };

static int make_ends(struct rt_channel *ch) {
  struct rt_context *c = ch->context;
  int error =
      rt_memory_create(c->device, c->as_fd, RT_GPFIFO_ENTRIES * REPLAY_END_WORDS * sizeof(uint32_t),
                       RT_MEMORY_WRITE_COMBINE, &ch->ends);
  if (error)
    return error;
  rt_memory_drop_fd(c->device, &ch->ends);
  for (uint32_t i = 0; i < RT_GPFIFO_ENTRIES; i++) {
    struct rt_slice s = {.at = (uint32_t *)ch->ends.cpu + i * REPLAY_END_WORDS};
    put_end(ch, &s);
    if (ch->syncpoint_gpu)
      put_increment(&s, ch->syncpoint_gpu);
  }
  return 0;
}

/* The words that end a replay belong to its GPFIFO entry. Only the point in them changes, and they
 * can be reused when the entry can. */
int rt_slice_replay(struct rt_queue *q, const struct rt_slice *s, const char *kernel,
                    uint64_t *point) {
  if (rt_queue_dead(q)) {
    rt_context_explain(q->context);
    return -EIO;
  }
  struct rt_channel *ch = q->channel;
  const uint64_t last = last_point(ch) + 2;
  int error = ch->ends.cpu ? 0 : make_ends(ch);
  if (!error && last >= ch->point_limit)
    error = make_room(q, ch->slice_head, ch->slice_head, 2);
  if (error)
    return error;
  const uint32_t next = ring_index(ch, last);
  uint32_t *words = (uint32_t *)ch->ends.cpu + next * REPLAY_END_WORDS;
  words[SEMAPHORE_PAYLOAD] = (uint32_t)last;
  words[SEMAPHORE_PAYLOAD + 1] = (uint32_t)(last >> 32);
  const struct rt_slice end = {.gpu = ch->ends.gpu + next * REPLAY_END_WORDS * sizeof(uint32_t),
                               .cpu = (char *)words,
                               .point = last,
                               .words = words,
                               .at = words + ch->end_words +
                                     (ch->syncpoint_gpu ? SEMAPHORE_WORDS : 0)};
  struct rt_slice body = *s;
  body.point = last - 1;
  if (q->shown) {
    show_submission(q, &body, kernel);
    show_submission(q, &end, NULL);
  }
  *submission_of(ch, last - 1) = *submission_of(ch, last) =
      (struct rt_submission){.slice_end = ch->slice_head, .kernel = kernel};
  put_entry(ch, &body);
  put_entry(ch, &end);
  publish_point(q, last);
  *point = last;
  return 0;
}
