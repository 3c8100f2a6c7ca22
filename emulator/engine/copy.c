/* The copy class, C7B5: copies between pitch and block-linear surfaces, fills, and semaphores
 * (docs/hardware/command-stream.md 7). */
#include "emulator/engine/copy.h"

#include <string.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/condition.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/method.h"
#include "emulator/engine/report.h"
#include "emulator/engine/sked.h"
#include "emulator/engine/surface.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/tsg.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/inject.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/tables.h"

enum {
  COMPONENT_BYTES_MAX = 4,
  ELEMENT_BYTES_MAX = EMU_COPY_COMPONENTS * COMPONENT_BYTES_MAX,
  PIECE = 1 << 16,      /* most bytes moved at once */
  PIECES_PER_CLOCK = 8, /* number of pieces between two reads of the clock */
};

/* Bits of LAUNCH_DMA that belong to no field of the method table. */
#define LAUNCH_RESERVED_HIGH 31, 28
#define LAUNCH_RESERVED_24   24, 24
#define LAUNCH_RESERVED_20   21, 20

static enum emu_step refuse_method(struct emu_fault *fault, uint32_t method, uint32_t data,
                                   const char *why) {
  const struct hw_method *m = hw_method_find(CLASS_COPY, method, NULL);
  emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, 0, "class 0x%04x method 0x%04x %s, data 0x%08x: %s",
                CLASS_COPY, method, m ? m->name : "(none)", data, why);
  return EMU_FAULT;
}

static enum emu_step refuse_launch(struct emu_fault *fault, uint32_t launch, const char *why) {
  return refuse_method(fault, NVC7B5_LAUNCH_DMA, launch, why);
}

/* Returns the last data of a method. */
static uint32_t get_state(const struct emu_copy *c, uint32_t method) {
  return c->state[method / sizeof(uint32_t)];
}

static uint64_t get_address(const struct emu_copy *c, uint32_t upper, uint32_t lower) {
  return (uint64_t)get_state(c, upper) << 32 | get_state(c, lower);
}

/* ---- transfers ---- */

static struct emu_remap decode_remap(const struct emu_copy *c, uint32_t launch) {
  uint32_t word = get_state(c, NVC7B5_SET_REMAP_COMPONENTS);
  if (!hw_field(launch, NVC7B5_LAUNCH_DMA_REMAP_ENABLE))
    return (struct emu_remap){.size = 1, .sources = 1, .destinations = 1};
  return (struct emu_remap){
      .enabled = true,
      .size = hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_COMPONENT_SIZE) + 1,
      .sources = hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_NUM_SRC_COMPONENTS) + 1,
      .destinations = hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_NUM_DST_COMPONENTS) + 1,
      .select = {hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_X),
                 hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_Y),
                 hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_Z),
                 hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_W)},
      .constants = {get_state(c, NVC7B5_SET_REMAP_CONST_A), get_state(c, NVC7B5_SET_REMAP_CONST_B)},
  };
}

/* Returns whether a destination component is written. It is not if it selects none, or a component
 * that the source lacks. */
static bool writes_component(const struct emu_remap *r, unsigned select) {
  return select == REMAP_CONST_A || select == REMAP_CONST_B || select < r->sources;
}

static bool remap_reads(const struct emu_remap *r) {
  for (unsigned i = 0; i < r->destinations; i++) {
    if (r->select[i] < r->sources)
      return true;
  }
  return false;
}

/* Returns the source of a transfer. In methods, widths and origins are in elements
 * (docs/hardware/command-stream.md 7.4). */
static struct emu_surface source_surface(const struct emu_copy *c, uint32_t launch,
                                         unsigned element) {
  return (struct emu_surface){
      .address = get_address(c, NVC7B5_OFFSET_IN_UPPER, NVC7B5_OFFSET_IN_LOWER),
      .pitch = get_state(c, NVC7B5_PITCH_IN),
      .block_linear = hw_field(launch, NVC7B5_LAUNCH_DMA_SRC_MEMORY_LAYOUT) == LAYOUT_BLOCK_LINEAR,
      .width = (uint64_t)get_state(c, NVC7B5_SET_SRC_WIDTH) * element,
      .height = get_state(c, NVC7B5_SET_SRC_HEIGHT),
      .layer = get_state(c, NVC7B5_SET_SRC_LAYER),
      .x = (uint64_t)get_state(c, NVC7B5_SRC_ORIGIN_X) * element,
      .y = get_state(c, NVC7B5_SRC_ORIGIN_Y),
  };
}

static struct emu_surface destination_surface(const struct emu_copy *c, uint32_t launch,
                                              unsigned element) {
  return (struct emu_surface){
      .address = get_address(c, NVC7B5_OFFSET_OUT_UPPER, NVC7B5_OFFSET_OUT_LOWER),
      .pitch = get_state(c, NVC7B5_PITCH_OUT),
      .block_linear = hw_field(launch, NVC7B5_LAUNCH_DMA_DST_MEMORY_LAYOUT) == LAYOUT_BLOCK_LINEAR,
      .width = (uint64_t)get_state(c, NVC7B5_SET_DST_WIDTH) * element,
      .height = get_state(c, NVC7B5_SET_DST_HEIGHT),
      .layer = get_state(c, NVC7B5_SET_DST_LAYER),
      .x = (uint64_t)get_state(c, NVC7B5_DST_ORIGIN_X) * element,
      .y = get_state(c, NVC7B5_DST_ORIGIN_Y),
  };
}

static bool set_blocks(struct emu_surface *s, uint32_t block_size) {
  return emu_surface_set_blocks(s, block_size) &&
         hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_GOB_HEIGHT) == GOB_HEIGHT_8;
}

/* Decodes the transfer that the current state describes. Returns false with *fault set on an
 * error. */
static bool decode_transfer(const struct emu_copy *c, uint32_t launch, struct emu_transfer *t,
                            struct emu_fault *fault) {
  t->remap = decode_remap(c, launch);
  t->source = source_surface(c, launch, t->remap.size * t->remap.sources);
  t->destination = destination_surface(c, launch, t->remap.size * t->remap.destinations);
  t->lines =
      hw_field(launch, NVC7B5_LAUNCH_DMA_MULTI_LINE_ENABLE) ? get_state(c, NVC7B5_LINE_COUNT) : 1;
  t->length = get_state(c, NVC7B5_LINE_LENGTH_IN);
  uint32_t source_blocks = get_state(c, NVC7B5_SET_SRC_BLOCK_SIZE);
  uint32_t destination_blocks = get_state(c, NVC7B5_SET_DST_BLOCK_SIZE);
  if (t->source.block_linear && !set_blocks(&t->source, source_blocks))
    return refuse_method(fault, NVC7B5_SET_SRC_BLOCK_SIZE, source_blocks,
                         "HCE_RE_ILLEGAL_OP: illegal block size") != EMU_FAULT;
  if (t->destination.block_linear && !set_blocks(&t->destination, destination_blocks))
    return refuse_method(fault, NVC7B5_SET_DST_BLOCK_SIZE, destination_blocks,
                         "HCE_RE_ILLEGAL_OP: illegal block size") != EMU_FAULT;
  return true;
}

static bool move_bytes(struct emu_as *as, const struct emu_transfer *t, uint64_t line,
                       uint64_t from, uint64_t bytes, struct emu_fault *fault) {
  uint8_t buffer[PIECE];
  if (!emu_surface_read(as, &t->source, line, from, buffer, bytes, fault))
    return false;
  buffer[bytes / 2] ^= emu_injected(EMU_PLACE_COPY_WRONG);
  return emu_surface_write(as, &t->destination, line, from, buffer, bytes, fault);
}

/* Copies elements of a line through the component map. */
static bool move_elements(struct emu_as *as, const struct emu_transfer *t, uint64_t line,
                          uint64_t from, uint64_t count, struct emu_fault *fault) {
  const struct emu_remap *r = &t->remap;
  const uint64_t in = (uint64_t)r->size * r->sources, out = (uint64_t)r->size * r->destinations;
  uint8_t input[PIECE], output[PIECE];
  bool all = true;
  if (remap_reads(r) &&
      !emu_surface_read(as, &t->source, line, from * in, input, count * in, fault))
    return false;
  for (unsigned i = 0; i < r->destinations; i++) {
    unsigned select = r->select[i];
    all &= writes_component(r, select);
    for (uint64_t e = 0; writes_component(r, select) && e < count; e++) {
      const void *value = select < r->sources ? (const void *)(input + e * in + select * r->size)
                                              : (const void *)&r->constants[select - REMAP_CONST_A];
      memcpy(output + e * out + i * r->size, value, r->size);
    }
  }
  if (all)
    return emu_surface_write(as, &t->destination, line, from * out, output, count * out, fault);
  for (uint64_t e = 0; e < count; e++) {
    for (unsigned i = 0; i < r->destinations; i++) {
      uint64_t at = e * out + i * r->size;
      if (writes_component(r, r->select[i]) &&
          !emu_surface_write(as, &t->destination, line, from * out + at, output + at, r->size,
                             fault))
        return false;
    }
  }
  return true;
}

static bool write_posted(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_posted *p = &channel->engine->copy.posted;
  const uint64_t bytes = p->bytes;
  p->bytes = 0;
  return !bytes ||
         emu_surface_write(channel->as, &p->destination, p->line, p->column, p->data, bytes, fault);
}

/* Moves bytes, but writes the last ones later: without FLUSH_ENABLE, a semaphore does not wait
 * until all bytes are in memory (see the method table and docs/hardware/command-stream.md 7.1). */
static bool move_and_post(struct emu_channel *channel, const struct emu_transfer *t, uint64_t from,
                          uint64_t bytes, struct emu_fault *fault) {
  struct emu_posted *p = &channel->engine->copy.posted;
  const uint64_t tail = bytes < EMU_COPY_POSTED ? bytes : EMU_COPY_POSTED;
  if (bytes > tail && !move_bytes(channel->as, t, t->line, from, bytes - tail, fault))
    return false;
  p->destination = t->destination;
  p->line = t->line;
  p->column = from + bytes - tail;
  p->bytes = tail;
  p->due = emu_time_ns() + emu_adversary_delay_ns(&channel->engine->adversary.random);
  return emu_surface_read(channel->as, &t->source, p->line, p->column, p->data, tail, fault);
}

static bool move_part(struct emu_channel *channel, const struct emu_transfer *t, uint64_t part,
                      struct emu_fault *fault) {
  const bool last = t->line == t->lines - 1 && t->done + part == t->length;
  if (t->remap.enabled)
    return move_elements(channel->as, t, t->line, t->done, part, fault);
  if (emu_adversary.on && last)
    return move_and_post(channel, t, t->done, part, fault);
  return move_bytes(channel->as, t, t->line, t->done, part, fault);
}

/* Continues a transfer until it is complete (EMU_NEXT) or the turn ends. */
static enum emu_step advance_transfer(struct emu_channel *channel, struct emu_transfer *t,
                                      struct emu_fault *fault) {
  const uint64_t most = t->remap.enabled ? PIECE / ELEMENT_BYTES_MAX : PIECE;
  if (!t->length)
    return EMU_NEXT;
  if (!write_posted(channel, fault))
    return EMU_FAULT;
  for (unsigned pieces = 0; t->line < t->lines;) {
    uint64_t part = t->length - t->done < most ? t->length - t->done : most;
    if (!move_part(channel, t, part, fault))
      return EMU_FAULT;
    t->done += part;
    if (t->done == t->length) {
      t->done = 0;
      t->line++;
    }
    if ((emu_adversary.on || ++pieces % PIECES_PER_CLOCK == 0) && t->line < t->lines &&
        emu_time_ns() > channel->engine->turn_end)
      return EMU_AGAIN;
  }
  return EMU_NEXT;
}

/* Returns the index of a transfer that may run now, or transfer_count if there is none. A pipelined
 * transfer may overlap earlier ones; others wait for them (docs/hardware/command-stream.md 7.1). */
static unsigned choose_transfer(struct emu_channel *channel) {
  const struct emu_copy *c = &channel->engine->copy;
  unsigned chosen = c->transfer_count, count = 0;
  const uint64_t now = emu_time_ns();
  for (unsigned i = 0; i < c->transfer_count && (i == 0 || c->transfers[i].pipelined); i++)
    if (now >= c->transfers[i].not_before &&
        emu_adversary_one_in(&channel->engine->adversary.random, ++count))
      chosen = i;
  return chosen;
}

static enum emu_step run_transfers(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_copy *c = &channel->engine->copy;
  while (c->transfer_count) {
    const unsigned i = emu_adversary.on ? choose_transfer(channel) : 0;
    if (i == c->transfer_count) {
      channel->engine->waiting = true;
      return EMU_AGAIN;
    }
    enum emu_step step = advance_transfer(channel, &c->transfers[i], fault);
    if (step != EMU_NEXT)
      return step;
    c->transfer_count--;
    memmove(&c->transfers[i], &c->transfers[i + 1],
            (c->transfer_count - i) * sizeof(c->transfers[0]));
  }
  return EMU_NEXT;
}

enum emu_step emu_copies_run(struct emu_channel *channel, struct emu_fault *fault) {
  enum emu_step step = run_transfers(channel, fault);
  if (step != EMU_NEXT || !channel->engine->copy.posted.bytes)
    return step;
  if (emu_time_ns() < channel->engine->copy.posted.due) {
    channel->engine->waiting = true;
    return EMU_AGAIN;
  }
  return write_posted(channel, fault) ? EMU_NEXT : EMU_FAULT;
}

/* ---- pipelined transfers ---- */

static bool ranges_overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

/* Returns whether a pipelined transfer depends on another one that it may overlap: those since the
 * last transfer that was not pipelined (command-stream.md 7.1). Only linear copies are checked. A
 * board would silently produce wrong data. */
static bool depends_on_pipelined(struct emu_copy *c, uint32_t launch) {
  if (hw_field(launch, NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE) == COPY_NON_PIPELINED)
    c->pipelined_count = 0;
  if (hw_field(launch, NVC7B5_LAUNCH_DMA_MULTI_LINE_ENABLE) ||
      hw_field(launch, NVC7B5_LAUNCH_DMA_REMAP_ENABLE))
    return false;
  struct emu_span now = {
      .from = get_address(c, NVC7B5_OFFSET_IN_UPPER, NVC7B5_OFFSET_IN_LOWER),
      .to = get_address(c, NVC7B5_OFFSET_OUT_UPPER, NVC7B5_OFFSET_OUT_LOWER),
      .bytes = get_state(c, NVC7B5_LINE_LENGTH_IN),
  };
  unsigned known =
      c->pipelined_count < EMU_COPY_PIPELINED ? c->pipelined_count : (unsigned)EMU_COPY_PIPELINED;
  for (unsigned i = 0; i < known; i++) {
    const struct emu_span *before = &c->pipelined[i];
    if (ranges_overlap(now.from, now.bytes, before->to, before->bytes) ||
        ranges_overlap(now.to, now.bytes, before->to, before->bytes) ||
        ranges_overlap(now.to, now.bytes, before->from, before->bytes))
      return true;
  }
  c->pipelined[c->pipelined_count++ % EMU_COPY_PIPELINED] = now;
  return false;
}

/* ---- semaphores ---- */

/* Maps a code of SEMAPHORE_REDUCTION to that of report.h. */
static bool find_reduction(uint32_t code, bool wide, unsigned *operation) {
  static const uint8_t operations[] = {
      [SEM_RED_MIN] = REPORT_RED_MIN, [SEM_RED_MAX] = REPORT_RED_MAX,
      [SEM_RED_XOR] = REPORT_RED_XOR, [SEM_RED_AND] = REPORT_RED_AND,
      [SEM_RED_OR] = REPORT_RED_OR,   [SEM_RED_ADD] = REPORT_RED_ADD,
      [SEM_RED_INC] = REPORT_RED_INC, [SEM_RED_DEC] = REPORT_RED_DEC,
  };
  if (code == SEM_RED_FLOAT_ADD && !wide) {
    *operation = EMU_REDUCTION_FLOAT_ADD;
    return true;
  }
  if (code > SEM_RED_DEC)
    return false;
  *operation = operations[code];
  return true;
}

static enum emu_step write_semaphore(struct emu_channel *channel, uint32_t launch,
                                     struct emu_fault *fault) {
  const struct emu_copy *c = &channel->engine->copy;
  uint32_t type = hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_TYPE);
  if (type == COPY_SEMAPHORE_NONE)
    return EMU_NEXT;
  if (type != COPY_SEMAPHORE_ONE_WORD && type != COPY_SEMAPHORE_FOUR_WORDS)
    return refuse_launch(fault, launch, "SEMAPHORE_TYPE 3 is not documented");
  bool wide = hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_PAYLOAD_SIZE);
  struct emu_report report = {
      .address = get_address(c, NVC7B5_SET_SEMAPHORE_A, NVC7B5_SET_SEMAPHORE_B),
      .payload =
          wide ? get_address(c, NVC7B5_SET_SEMAPHORE_PAYLOAD_UPPER, NVC7B5_SET_SEMAPHORE_PAYLOAD)
               : get_state(c, NVC7B5_SET_SEMAPHORE_PAYLOAD),
      .wide = wide,
      .timestamp = type == COPY_SEMAPHORE_FOUR_WORDS,
      .reduce = hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_REDUCTION_ENABLE),
      .reduce_signed =
          hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_REDUCTION_SIGN) == SEM_RED_SIGNED,
  };
  if (report.reduce && !find_reduction(hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_REDUCTION),
                                       wide, &report.reduction))
    return refuse_launch(fault, launch, "HCE_RE_ILLEGAL_OP: illegal reduction");
  if (emu_report_misaligned(&report))
    return refuse_launch(fault, launch, "HCE_RE_ALIGNB: misaligned semaphore");
  return emu_report_write(channel, &report, fault) ? EMU_NEXT : EMU_FAULT;
}

/* ---- methods ---- */

static enum emu_step check_launch(struct emu_copy *c, uint32_t launch, struct emu_fault *fault) {
  uint32_t type = hw_field(launch, NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE);
  if (hw_field(launch, NVC7B5_LAUNCH_DMA_SRC_TYPE) == COPY_ADDRESS_PHYSICAL ||
      hw_field(launch, NVC7B5_LAUNCH_DMA_DST_TYPE) == COPY_ADDRESS_PHYSICAL)
    return refuse_launch(fault, launch, "HCE_PRIV: physical addresses are privileged");
  if (hw_field(launch, NVC7B5_LAUNCH_DMA_VPRMODE))
    return refuse_launch(fault, launch, "HCE_PRIV: protected memory is privileged");
  if (hw_field(launch, LAUNCH_RESERVED_HIGH) || hw_field(launch, LAUNCH_RESERVED_24) ||
      hw_field(launch, LAUNCH_RESERVED_20))
    return refuse_launch(fault, launch, "a reserved bit is set");
  if (type > COPY_NON_PIPELINED)
    return refuse_launch(fault, launch, "HCE_RE_ILLEGAL_OP: illegal DATA_TRANSFER_TYPE");
  if (type && depends_on_pipelined(c, launch))
    return refuse_launch(fault, launch, "a pipelined transfer depends on an earlier one");
  return EMU_NEXT;
}

/* Begins a launch, and sets launched if its condition holds. */
static enum emu_step begin_launch(struct emu_channel *channel, uint32_t launch,
                                  struct emu_fault *fault) {
  struct emu_copy *c = &channel->engine->copy;
  /* The host waits for idle when it switches from compute to copies
   * (docs/hardware/command-stream.md 2.2). */
  enum emu_step step = emu_sked_wait(channel, fault);
  if (step == EMU_NEXT && emu_injected(EMU_PLACE_COPY_STUCK)) {
    channel->engine->waiting = true;
    return EMU_AGAIN;
  }
  if (emu_inject_loss(EMU_PLACE_COPY_LOST, NOTIFIER_COPY_ENGINE, fault) ||
      (channel->engine->compute.pcas_address &&
       emu_inject_loss(EMU_PLACE_COPY_COMPUTE, NOTIFIER_FECS_METHOD, fault)))
    return EMU_FAULT;
  if (step == EMU_NEXT && c->transfer_count == EMU_COPY_TRANSFERS)
    step = emu_copies_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  const struct emu_condition condition = {
      .address = get_address(c, NVC7B5_SET_RENDER_ENABLE_A, NVC7B5_SET_RENDER_ENABLE_B),
      .mode = hw_field(get_state(c, NVC7B5_SET_RENDER_ENABLE_C), NVC7B5_SET_RENDER_ENABLE_C_MODE),
  };
  bool holds;
  if (!emu_condition_holds(channel->as, &condition, &holds, fault))
    return EMU_FAULT;
  if (!holds)
    return EMU_NEXT;
  step = check_launch(c, launch, fault);
  c->launched = step == EMU_NEXT;
  uint32_t type = hw_field(launch, NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE);
  if (!c->launched || !type)
    return step;
  struct emu_transfer *t = &c->transfers[c->transfer_count++];
  *t = (struct emu_transfer){.pipelined = type == COPY_PIPELINED};
  if (emu_adversary.on)
    t->not_before = emu_time_ns() + emu_adversary_delay_ns(&channel->engine->adversary.random);
  return decode_transfer(c, launch, t, fault) ? EMU_NEXT : EMU_FAULT;
}

/* Returns whether the launch must wait for its transfer. Semaphores and interrupts wait for it,
 * later methods do not. */
static bool must_wait(uint32_t launch) {
  return !emu_adversary.on || hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_TYPE) ||
         hw_field(launch, NVC7B5_LAUNCH_DMA_INTERRUPT_TYPE);
}

static enum emu_step launch_dma(struct emu_channel *channel, uint32_t launch,
                                struct emu_fault *fault) {
  struct emu_copy *c = &channel->engine->copy;
  enum emu_step step = EMU_NEXT;
  if (!c->launched)
    step = begin_launch(channel, launch, fault);
  if (step == EMU_NEXT && c->launched && must_wait(launch))
    step = hw_field(launch, NVC7B5_LAUNCH_DMA_FLUSH_ENABLE) ? emu_copies_run(channel, fault)
                                                            : run_transfers(channel, fault);
  if (step != EMU_NEXT || !c->launched)
    return step;
  c->launched = false;
  step = write_semaphore(channel, launch, fault);
  if (step == EMU_NEXT && hw_field(launch, NVC7B5_LAUNCH_DMA_INTERRUPT_TYPE))
    emu_non_stall_interrupt(NULL);
  return step;
}

static void set_state(struct emu_copy *c, uint32_t method, uint32_t data) {
  if (method / sizeof(uint32_t) < EMU_COPY_STATE_WORDS)
    c->state[method / sizeof(uint32_t)] = data;
}

enum emu_step emu_copy_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault) {
  struct emu_copy *c = &channel->engine->copy;
  switch (method) {
  case NVC7B5_LAUNCH_DMA:
    return launch_dma(channel, data, fault);
  case NVC7B5_SET_SRC_PHYS_MODE:
  case NVC7B5_SET_DST_PHYS_MODE:
    return refuse_method(fault, method, data, "HCE_PRIV: physical addresses are privileged");
  case NVC7B5_SET_SRC_ORIGIN:
    set_state(c, NVC7B5_SRC_ORIGIN_X, hw_field(data, NVC7B5_SET_SRC_ORIGIN_X));
    set_state(c, NVC7B5_SRC_ORIGIN_Y, hw_field(data, NVC7B5_SET_SRC_ORIGIN_Y));
    return EMU_NEXT;
  case NVC7B5_SET_DST_ORIGIN:
    set_state(c, NVC7B5_DST_ORIGIN_X, hw_field(data, NVC7B5_SET_DST_ORIGIN_X));
    set_state(c, NVC7B5_DST_ORIGIN_Y, hw_field(data, NVC7B5_SET_DST_ORIGIN_Y));
    return EMU_NEXT;
  default:
    if (!hw_method_find(CLASS_COPY, method, NULL))
      return refuse_method(fault, method, data, "HCE_ILLEGAL_MTHD");
    set_state(c, method, data);
    return EMU_NEXT;
  }
}

void emu_copy_bind(struct emu_copy *c) {
  if (!c->bound)
    set_state(c, NVC7B5_SET_RENDER_ENABLE_C, RENDER_ENABLE_ALWAYS);
  c->bound = true;
}
