/* Recordings: writing, placing and submitting them. */
#include "runtime/launch/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "runtime/launch/copy.h"
#include "runtime/message.h"

enum {
  WORDS_MAX = 0x1fffff,    /* in one GPFIFO entry; docs/hardware/command-stream.md 1.1 */
  COMMAND_WORDS_MAX = 32,  /* the longest that one grid or transfer needs, and more */
  PAYLOAD_FIRST = 1 << 13, /* bytes to begin with */
  WORDS_FIRST = 1 << 9,
  GRIDS_FIRST = 16,
  LINE_BYTES_MAX = 1 << 30, /* of a copy; the field has 32 bits */
  FILL_SIDE_MAX = 1 << 15,  /* elements of a line, and lines, of a fill: NVK's limit */
  COMPONENT_BYTES = 4,      /* of a fill's patterns of 4 bytes and more */
  CONSTANT_BYTES = 8,       /* that the copy engine repeats by itself */
};

/* LAUNCH_DMA DATA_TRANSFER_TYPE: waits for earlier transfers. */
enum { TRANSFER_NON_PIPELINED = 2 };
/* LAUNCH_DMA *_MEMORY_LAYOUT */
enum { LAYOUT_PITCH = 1 };
/* SET_REMAP_COMPONENTS DST_* */
enum { REMAP_CONST_A = 4, REMAP_CONST_B = 5 };

/* What addresses the pushbuffer has that are still relative. */
struct grid {
  uint32_t payload; /* offset of the QMD */
  uint32_t word;    /* number of the word that names it */
};

enum engine { ENGINE_NONE, ENGINE_COMPUTE, ENGINE_COPY };

struct rt_recording {
  struct rt_context *context;
  struct rt_memory memory;
  struct rt_slice slice; /* all of it */

  const volatile uint64_t *timeline; /* of the last submission; or NULL */
  uint64_t point;

  char *payload;
  size_t payload_bytes, payload_room;
  uint32_t *words;
  size_t word_count, word_room;
  struct grid *grids;
  size_t grid_count, grid_room;

  enum engine last;     /* of what was recorded */
  bool waits;           /* before the next */
  bool copies;          /* the class is bound */
  uint32_t local_bytes; /* most of any grid */
  const char *kernel;   /* the first one's name */
};

/* ---- life ------------------------------------------------------------------------- */

int rt_recording_create(struct rt_context *c, struct rt_recording **recording) {
  *recording = calloc(1, sizeof(**recording));
  if (!*recording)
    return rt_fail(-ENOMEM, "no memory for a recording");
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
  r->last = ENGINE_NONE;
  r->waits = r->copies = false;
  r->local_bytes = 0;
  r->kernel = NULL;
}

/* Makes room for count more elements of a vector. */
static int reserve(void **vector, size_t used, size_t *room, size_t more, size_t element,
                   size_t first) {
  if (*room - used >= more)
    return 0;
  size_t wanted = *room ? *room * 2 : first;
  if (wanted < used + more)
    wanted = used + more;
  void *larger = realloc(*vector, wanted * element);
  if (!larger)
    return rt_fail(-ENOMEM, "no memory for a recording of %zu bytes", wanted * element);
  *vector = larger;
  *room = wanted;
  return 0;
}

/* ---- the pushbuffer ------------------------------------------------------------------ */

static void put(struct rt_recording *r, uint32_t word) {
  r->words[r->word_count++] = word;
}

static void put_copy(struct rt_recording *r, uint32_t method, uint32_t count) {
  put(r, method_header(METHOD_INC, SUBCHANNEL_COPY, method, count));
}

static void put_address(struct rt_recording *r, uint64_t address) {
  put(r, (uint32_t)(address >> 32));
  put(r, (uint32_t)address);
}

/* Between grids the front end waits, and their QMDs' flags do the rest
 * (docs/hardware/command-stream.md 8.4). Where copies take part, host does, and a membar makes
 * their bytes visible (3.2, 7.1). */
static void put_wait(struct rt_recording *r, enum engine next) {
  if (r->last == ENGINE_COMPUTE && next == ENGINE_COMPUTE) {
    put(r, method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_WAIT_FOR_IDLE, 0));
    return;
  }
  put(r, method_header(METHOD_IMMD, 0, NVC76F_WFI, 0));
  put(r, method_header(METHOD_INC, 0, NVC76F_MEM_OP_A, 4));
  put(r, 0);
  put(r, 0);
  put(r, 0); /* MEM_OP_C: for the system */
  put(r, hw_bits(NVC76F_MEM_OP_D_OPERATION, MEM_OP_MEMBAR));
}

/* Room for one command, and what comes before it. */
static int begin(struct rt_recording *r, enum engine next) {
  int result = reserve((void **)&r->words, r->word_count, &r->word_room, COMMAND_WORDS_MAX,
                       sizeof(*r->words), WORDS_FIRST);
  if (result)
    return result;
  if (!r->word_count) /* the memory may have held other descriptors:
                         docs/hardware/command-stream.md 8.3 */
    put(r, method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SKED_CACHES, 0));
  if (r->waits && r->last != ENGINE_NONE)
    put_wait(r, next);
  r->waits = false;
  r->last = next;
  if (next == ENGINE_COPY && !r->copies) {
    put_copy(r, NVC76F_SET_OBJECT, 1);
    put(r, CLASS_COPY);
    r->copies = true;
  }
  return 0;
}

void rt_recording_wait(struct rt_recording *r) {
  r->waits = true;
}

/* ---- grids ------------------------------------------------------------------------------ */

int rt_recording_begin_grid(struct rt_recording *r, uint64_t payload, struct rt_slice *s) {
  int result =
      reserve((void **)&r->payload, r->payload_bytes, &r->payload_room, payload, 1, PAYLOAD_FIRST);
  if (!result)
    result = reserve((void **)&r->grids, r->grid_count, &r->grid_room, 1, sizeof(*r->grids),
                     GRIDS_FIRST);
  if (!result)
    result = begin(r, ENGINE_COMPUTE);
  if (result)
    return result;
  *s = (struct rt_slice){.gpu = r->payload_bytes,
                         .cpu = r->payload + r->payload_bytes,
                         .bytes = payload,
                         .words = r->words + r->word_count,
                         .at = r->words + r->word_count};
  return 0;
}

void rt_recording_end_grid(struct rt_recording *r, const struct rt_slice *s, const char *kernel,
                           uint32_t local_bytes) {
  /* The header of SEND_PCAS_A is first. */
  r->grids[r->grid_count++] =
      (struct grid){.payload = (uint32_t)s->gpu, .word = (uint32_t)(r->word_count + 1)};
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

/* ---- copies and fills: docs/hardware/command-stream.md 7
 * ----------------------------------------- */

/* Lines from one place to another. */
struct transfer {
  uint64_t target, source;
  size_t target_pitch, source_pitch;
  size_t length; /* of a line, in elements */
  size_t lines;
  bool remap; /* constants instead of a source */
};

static int put_transfer(struct rt_recording *r, const struct transfer *t) {
  int result = begin(r, ENGINE_COPY);
  if (result)
    return result;
  put_copy(r, NVC7B5_OFFSET_IN_UPPER, 8);
  put_address(r, t->source);
  put_address(r, t->target);
  put(r, (uint32_t)t->source_pitch);
  put(r, (uint32_t)t->target_pitch);
  put(r, (uint32_t)t->length);
  put(r, (uint32_t)t->lines);
  put_copy(r, NVC7B5_LAUNCH_DMA, 1);
  put(r, hw_bits(NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE, TRANSFER_NON_PIPELINED) |
             hw_bits(NVC7B5_LAUNCH_DMA_SRC_MEMORY_LAYOUT, LAYOUT_PITCH) |
             hw_bits(NVC7B5_LAUNCH_DMA_DST_MEMORY_LAYOUT, LAYOUT_PITCH) |
             hw_bits(NVC7B5_LAUNCH_DMA_MULTI_LINE_ENABLE, 1) |
             hw_bits(NVC7B5_LAUNCH_DMA_REMAP_ENABLE, t->remap));
  return 0;
}

/* A rectangle of bytes. */
static int copy_lines(struct rt_recording *r, const struct transfer *whole) {
  const bool pitched = whole->target_pitch <= UINT32_MAX && whole->source_pitch <= UINT32_MAX;
  const size_t most = pitched ? UINT32_MAX : 1;
  int result = 0;
  for (size_t y = 0; y < whole->lines && !result; y += base_min(most, whole->lines - y))
    for (size_t x = 0; x < whole->length && !result; x += LINE_BYTES_MAX) {
      const struct transfer part = {.target = whole->target + y * whole->target_pitch + x,
                                    .source = whole->source + y * whole->source_pitch + x,
                                    .target_pitch = pitched ? whole->target_pitch : 0,
                                    .source_pitch = pitched ? whole->source_pitch : 0,
                                    .length = base_min(LINE_BYTES_MAX, whole->length - x),
                                    .lines = base_min(most, whole->lines - y)};
      result = put_transfer(r, &part);
    }
  return result;
}

/* Until a board has shown that its channels take these methods. Check mode follows the copy
 * engine's bytes without a report where they mean nothing yet; a kernel's loads it reports. */
static bool takes_methods(const struct rt_recording *r) {
  const struct rt_device *d = r->context->device;
  return rt_choice_proven(&d->choices, RT_CHOICE_COPY_METHODS) ||
         (d->notes && rt_choice_may(&d->choices, RT_CHOICE_COPY_METHODS));
}

int rt_recording_copy(struct rt_recording *r, const struct rt_copy *copy) {
  if (!takes_methods(r))
    return rt_copy_by_kernel(r->context, r, copy);
  int result = 0;
  for (size_t z = 0; z < copy->region[2] && !result; z++) {
    struct transfer t = {.target = copy->target + z * copy->target_slice,
                         .source = copy->source + z * copy->source_slice,
                         .target_pitch = copy->target_row,
                         .source_pitch = copy->source_row,
                         .length = copy->region[0],
                         .lines = copy->region[1]};
    if (t.target_pitch == t.length && t.source_pitch == t.length) {
      t.length *= t.lines;
      t.lines = 1;
    }
    result = copy_lines(r, &t);
  }
  return result;
}

/* The constants that the next transfers write. */
static int put_constants(struct rt_recording *r, const unsigned char *pattern, size_t size) {
  uint32_t constants[CONSTANT_BYTES / sizeof(uint32_t)] = {0};
  memcpy(constants, pattern, size);
  const size_t component = base_min(size, COMPONENT_BYTES);
  int result = begin(r, ENGINE_COPY);
  if (result)
    return result;
  put_copy(r, NVC7B5_SET_REMAP_CONST_A, 3);
  put(r, constants[0]);
  put(r, constants[1]);
  put(r, hw_bits(NVC7B5_SET_REMAP_COMPONENTS_DST_X, REMAP_CONST_A) |
             hw_bits(NVC7B5_SET_REMAP_COMPONENTS_DST_Y, REMAP_CONST_B) |
             hw_bits(NVC7B5_SET_REMAP_COMPONENTS_COMPONENT_SIZE, (uint32_t)component - 1) |
             hw_bits(NVC7B5_SET_REMAP_COMPONENTS_NUM_DST_COMPONENTS,
                     (uint32_t)(size / component - 1)));
  return 0;
}

/* Elements of the constants' size, one every pitch bytes: as lines as long as possible
 * if there is nothing between them. */
static int fill_line(struct rt_recording *r, uint64_t target, size_t element, size_t pitch,
                     size_t count) {
  const size_t line = pitch == element ? base_min(count, FILL_SIDE_MAX) : 1;
  int result = 0;
  for (size_t done = 0; done < count && !result;) {
    struct transfer t = {.target = target + done * pitch,
                         .target_pitch = line * pitch,
                         .length = base_min(line, count - done),
                         .lines = 1,
                         .remap = true};
    if (t.length == line)
      t.lines = base_min((count - done) / line, FILL_SIDE_MAX);
    result = put_transfer(r, &t);
    done += t.length * t.lines;
  }
  return result;
}

/* A longer pattern is filled in by columns of as many bytes as the engine repeats. */
int rt_recording_fill(struct rt_recording *r, const struct rt_fill *fill) {
  if (!takes_methods(r))
    return rt_fill_by_kernel(r->context, r, fill);
  const size_t element = base_min(fill->pattern_size, CONSTANT_BYTES);
  const bool packed = fill->row == fill->region[0];
  const size_t rows = packed ? 1 : fill->region[1];
  const size_t row = packed ? fill->region[0] * fill->region[1] : fill->region[0];
  int result = 0;
  for (size_t column = 0; column < fill->pattern_size && !result; column += element) {
    result = put_constants(r, (const unsigned char *)fill->pattern + column, element);
    for (size_t z = 0; z < fill->region[2] && !result; z++)
      for (size_t y = 0; y < rows && !result; y++)
        result = fill_line(r, fill->target + z * fill->slice + y * fill->row + column, element,
                           fill->pattern_size, row / fill->pattern_size);
  }
  return result;
}

/* ---- the finished piece -------------------------------------------------------------------- */

static int make_room(struct rt_recording *r, uint64_t bytes) {
  if (r->memory.size >= bytes)
    return 0;
  struct rt_device *d = r->context->device;
  struct rt_memory memory;
  int result = rt_memory_create(d, r->context->as_fd, bytes, RT_MEMORY_WRITE_COMBINE, &memory);
  if (result)
    return result;
  rt_memory_drop_fd(d, &memory);
  rt_memory_destroy(d, &r->memory);
  r->memory = memory;
  return 0;
}

/* Every relative address becomes one of the piece. */
static void relocate(struct rt_recording *r, uint64_t base) {
  for (size_t i = 0; i < r->grid_count; i++) {
    const struct grid *g = &r->grids[i];
    uint32_t *qmd = (uint32_t *)(r->payload + g->payload);
    const uint64_t bank0 = base + g->payload + QMD_BYTES;
    qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)bank0);
    qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)(bank0 >> 32));
    r->words[g->word] = (uint32_t)((base + g->payload) >> QMD_ADDRESS_SHIFT);
  }
}

int rt_recording_end(struct rt_recording *r) {
  int result = r->word_count ? 0 : begin(r, ENGINE_NONE);
  if (result)
    return result;
  if (r->word_count > WORDS_MAX)
    return rt_fail(-E2BIG, "a recording of %zu words is too long", r->word_count);
  const size_t bytes = r->word_count * sizeof(*r->words);
  result = make_room(r, base_round_up(r->payload_bytes + bytes, QMD_ALIGN));
  if (result)
    return result;
  relocate(r, r->memory.gpu);
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

/* A slice of its own for what must come before the recording, or after it. */
static int put_slice(struct rt_queue *q, const struct rt_recording *r, volatile uint64_t *time,
                     bool behind, uint64_t *point) {
  struct rt_slice s;
  int result = rt_slice_begin(q, 0, &s);
  if (result)
    return result;
  if (r->local_bytes)
    rt_slice_pool(q, &s);
  if (time)
    rt_slice_timestamp(&s, rt_slot_gpu(time), behind);
  *point = rt_slice_put(q, &s, NULL);
  return 0;
}

static int replay(struct rt_queue *q, struct rt_recording *r, struct rt_times *times) {
  uint64_t point = 0;
  int result = 0;
  const bool pool_is_new =
      r->local_bytes && q->channel->seen_pool != q->channel->tsg->pool.generation;
  if (!result && (times || pool_is_new || rt_queue_is_due(q)))
    result = put_slice(q, r, times ? &times->start_mark : NULL, false, &point);
  if (!result)
    result = rt_slice_replay(q, &r->slice, r->kernel, &point);
  if (!result && times)
    result = put_slice(q, r, &times->end_mark, true, &point);
  if (result)
    return result;
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
  int result = r->local_bytes ? rt_pool_hold(q->context, q->channel->tsg, r->local_bytes) : 0;
  if (result)
    return result;
  if (r->timeline && r->timeline != q->timeline)
    result = rt_queue_await(q, r->timeline, r->point);
  if (result == 0) {
    rt_channel_lock(q->channel);
    result = replay(q, r, times);
    rt_queue_ring(q);
    rt_channel_unlock(q->channel);
  }
  if (r->local_bytes)
    base_rwlock_unlock(&q->channel->tsg->pool.lock);
  if (!result && point)
    *point = r->point;
  return result;
}
