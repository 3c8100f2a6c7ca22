/* Writes, places and submits recordings. */
#include "runtime/launch/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "runtime/message.h"

enum {
  WORDS_MAX = 0x1fffff,    /* maximum in one GPFIFO entry; docs/hardware/command-stream.md 1.1 */
  COMMAND_WORDS_MAX = 32,  /* upper bound for one grid or transfer */
  PAYLOAD_FIRST = 1 << 13, /* initial capacity in bytes */
  WORDS_FIRST = 1 << 9,
  GRIDS_FIRST = 16,
};

/* A grid in the recording whose addresses are still relative. */
struct grid {
  uint32_t qmd_offset;
  uint32_t word; /* index of the word with the QMD's address */
};

struct rt_recording {
  struct rt_context *context;
  struct rt_memory memory;
  struct rt_slice slice; /* all of it */

  const volatile uint64_t *timeline; /* timeline of the last submission, or NULL */
  uint64_t point;

  char *payload;
  size_t payload_bytes, payload_room;
  uint32_t *words;
  size_t word_count, word_room;
  struct grid *grids;
  size_t grid_count, grid_room;

  enum rt_engine last;  /* engine of the last command */
  bool waits;           /* before the next */
  bool copies;          /* the copy class is bound */
  uint32_t local_bytes; /* largest amount needed by a grid */
  const char *kernel;   /* name of the first kernel */
};

/* ---- creation and destruction ------------------------------------------------------ */

int rt_recording_create(struct rt_context *c, struct rt_recording **recording) {
  *recording = calloc(1, sizeof(**recording));
  if (!*recording)
    return rt_fail(-ENOMEM, "out of memory while creating a recording");
  (*recording)->context = c;
  return 0;
}

void rt_recording_destroy(struct rt_recording *r) {
  if (!r)
    return;
  rt_memory_destroy(r->context->device, &r->memory);
  free(r->payload);
  free(r->words);
  free(r->grids);
  free(r);
}

void rt_recording_reset(struct rt_recording *r) {
  r->payload_bytes = r->word_count = r->grid_count = 0;
  r->last = RT_ENGINE_NONE;
  r->waits = r->copies = false;
  r->local_bytes = 0;
  r->kernel = NULL;
}

/* Makes room for more elements in a growing array. */
static int reserve_elements(void **vector, size_t used, size_t *room, size_t more, size_t element,
                            size_t first) {
  if (*room - used >= more)
    return 0;
  size_t wanted = *room ? *room * 2 : first;
  if (wanted < used + more)
    wanted = used + more;
  void *larger = realloc(*vector, wanted * element);
  if (!larger)
    return rt_fail(-ENOMEM, "out of memory: a recording needs %zu bytes", wanted * element);
  *vector = larger;
  *room = wanted;
  return 0;
}

/* ---- the pushbuffer ------------------------------------------------------------------ */

void rt_recording_put(struct rt_recording *r, uint32_t word) {
  r->words[r->word_count++] = word;
}

/* Between grids the front end waits for idle, and the QMDs invalidate the caches
 * (docs/hardware/command-stream.md 8.4). Before or after copies host waits, and a membar makes the
 * copied bytes visible (3.2, 7.1). */
static void put_wait(struct rt_recording *r, enum rt_engine next) {
  if (r->last == RT_ENGINE_COMPUTE && next == RT_ENGINE_COMPUTE) {
    rt_recording_put(r, method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_WAIT_FOR_IDLE, 0));
    return;
  }
  rt_recording_put(r, method_header(METHOD_IMMD, 0, NVC76F_WFI, 0));
  rt_recording_put(r, method_header(METHOD_INC, 0, NVC76F_MEM_OP_A, 4));
  rt_recording_put(r, 0);
  rt_recording_put(r, 0);
  rt_recording_put(r, 0); /* MEM_OP_C: system scope */
  rt_recording_put(r, hw_bits(NVC76F_MEM_OP_D_OPERATION, MEM_OP_MEMBAR));
}

int rt_recording_begin(struct rt_recording *r, enum rt_engine next) {
  int error = reserve_elements((void **)&r->words, r->word_count, &r->word_room, COMMAND_WORDS_MAX,
                               sizeof(*r->words), WORDS_FIRST);
  if (error)
    return error;
  if (!r->word_count) /* the memory may have contained other QMDs:
                         docs/hardware/command-stream.md 8.3 */
    rt_recording_put(
        r, method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SKED_CACHES, 0));
  if (r->waits && r->last != RT_ENGINE_NONE)
    put_wait(r, next);
  r->waits = false;
  r->last = next;
  if (next == RT_ENGINE_COPY && !r->copies) {
    rt_recording_put(r, method_header(METHOD_INC, SUBCHANNEL_COPY, NVC76F_SET_OBJECT, 1));
    rt_recording_put(r, CLASS_COPY);
    r->copies = true;
  }
  return 0;
}

struct rt_context *rt_recording_context(const struct rt_recording *r) {
  return r->context;
}

void rt_recording_wait(struct rt_recording *r) {
  r->waits = true;
}

/* ---- grids ------------------------------------------------------------------------------ */

int rt_recording_begin_grid(struct rt_recording *r, uint64_t payload_bytes, struct rt_slice *s) {
  int error = reserve_elements((void **)&r->payload, r->payload_bytes, &r->payload_room,
                               payload_bytes, 1, PAYLOAD_FIRST);
  if (!error)
    error = reserve_elements((void **)&r->grids, r->grid_count, &r->grid_room, 1, sizeof(*r->grids),
                             GRIDS_FIRST);
  if (!error)
    error = rt_recording_begin(r, RT_ENGINE_COMPUTE);
  if (error)
    return error;
  *s = (struct rt_slice){.gpu = r->payload_bytes,
                         .cpu = r->payload + r->payload_bytes,
                         .bytes = payload_bytes,
                         .words = r->words + r->word_count,
                         .at = r->words + r->word_count};
  return 0;
}

void rt_recording_end_grid(struct rt_recording *r, const struct rt_slice *s, const char *kernel,
                           uint32_t local_bytes) {
  /* The first word is the header of SEND_PCAS_A; the QMD's address follows it. */
  r->grids[r->grid_count++] =
      (struct grid){.qmd_offset = (uint32_t)s->gpu, .word = (uint32_t)(r->word_count + 1)};
  r->payload_bytes += s->bytes;
  r->word_count += (size_t)(s->at - s->words);
  if (local_bytes > r->local_bytes)
    r->local_bytes = local_bytes;
  if (!r->kernel)
    r->kernel = kernel;
}

uint32_t rt_recording_grids(const struct rt_recording *r) {
  return (uint32_t)r->grid_count;
}

/* ---- the finished piece -------------------------------------------------------------------- */

static int make_room(struct rt_recording *r, uint64_t bytes) {
  if (r->memory.size >= bytes)
    return 0;
  struct rt_device *d = r->context->device;
  struct rt_memory memory;
  int error = rt_memory_create(d, r->context->as_fd, bytes, RT_MEMORY_WRITE_COMBINE, &memory);
  if (error)
    return error;
  rt_memory_drop_fd(d, &memory);
  rt_memory_destroy(d, &r->memory);
  r->memory = memory;
  return 0;
}

/* Adds the recording's base address to all relative addresses. */
static void relocate_grids(struct rt_recording *r, uint64_t base) {
  for (size_t i = 0; i < r->grid_count; i++) {
    const struct grid *g = &r->grids[i];
    uint32_t *qmd = (uint32_t *)(r->payload + g->qmd_offset);
    const uint64_t bank0 = base + g->qmd_offset + QMD_BYTES;
    qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)bank0);
    qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)(bank0 >> 32));
    r->words[g->word] = (uint32_t)((base + g->qmd_offset) >> QMD_ADDRESS_SHIFT);
  }
}

int rt_recording_end(struct rt_recording *r) {
  int error = r->word_count ? 0 : rt_recording_begin(r, RT_ENGINE_NONE);
  if (error)
    return error;
  if (r->word_count > WORDS_MAX)
    return rt_fail(-E2BIG, "recording is too long for a pushbuffer: %zu words", r->word_count);
  const size_t bytes = r->word_count * sizeof(*r->words);
  error = make_room(r, base_round_up(r->payload_bytes + bytes, QMD_ALIGN));
  if (error)
    return error;
  relocate_grids(r, r->memory.gpu);
  char *cpu = r->memory.cpu;
  if (r->payload_bytes)
    memcpy(cpu, r->payload, r->payload_bytes);
  memcpy(cpu + r->payload_bytes, r->words, bytes);
  uint32_t *words = (uint32_t *)(cpu + r->payload_bytes);
  r->slice = (struct rt_slice){.gpu = r->memory.gpu,
                               .cpu = cpu,
                               .bytes = r->payload_bytes,
                               .words = words,
                               .at = words + r->word_count};
  return 0;
}

/* ---- submission ------------------------------------------------------------------------------ */

/* Submits a slice before the recording, or after it if end is set, with a timestamp if time is not
 * NULL. */
static int put_slice(struct rt_queue *q, const struct rt_recording *r, volatile uint64_t *time,
                     bool end, uint64_t *point) {
  struct rt_slice s;
  int error = rt_slice_begin(q, 0, &s);
  if (error)
    return error;
  if (r->local_bytes)
    rt_slice_pool(q, &s);
  if (time)
    rt_slice_timestamp(&s, rt_slot_gpu(time), end);
  *point = rt_slice_put(q, &s, NULL);
  return 0;
}

static int submit_recording(struct rt_queue *q, struct rt_recording *r, struct rt_times *times) {
  uint64_t point = 0;
  int error = 0;
  const bool pool_is_new =
      r->local_bytes && q->channel->seen_pool != q->channel->tsg->pool.generation;
  if (!error && (times || pool_is_new || rt_queue_is_due(q)))
    error = put_slice(q, r, times ? &times->start_mark : NULL, false, &point);
  if (!error)
    error = rt_slice_replay(q, &r->slice, r->kernel, &point);
  if (!error && times)
    error = put_slice(q, r, &times->end_mark, true, &point);
  if (error)
    return error;
  r->timeline = q->timeline;
  r->point = point;
  return 0;
}

bool rt_recording_in_flight(const struct rt_recording *r) {
  return r->timeline && !rt_timeline_reached(r->timeline, r->point) &&
         !rt_context_fault(r->context);
}

int rt_queue_replay(struct rt_queue *q, struct rt_recording *r, struct rt_times *times,
                    uint64_t *point) {
  int error = rt_pool_hold(q->context, q->channel->tsg, r->local_bytes);
  if (error)
    return error;
  if (r->timeline && r->timeline != q->timeline)
    error = rt_queue_await(q, r->timeline, r->point);
  if (error == 0) {
    rt_channel_lock(q->channel);
    error = submit_recording(q, r, times);
    rt_queue_ring(q);
    rt_channel_unlock(q->channel);
  }
  base_rwlock_unlock(&q->channel->tsg->pool.lock);
  if (!error && point)
    *point = r->point;
  return error;
}
