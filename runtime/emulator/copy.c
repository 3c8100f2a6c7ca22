/* The copy class, C7B5: pitch copies, fills and semaphores.
 * gpu-command-stream.md 7.
 */
#include <string.h>

#include "runtime/emulator/gpu.h"
#include "runtime/hw/tables.h"

enum { COMPONENTS_MAX = 4, COMPONENT_BYTES_MAX = 4 };

static enum emu_step refuse(struct emu_fault *fault, uint32_t method, uint32_t data,
                            const char *why) {
  const struct hw_method *m = hw_method_find(CLASS_COPY, method, NULL);
  emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, 0, "class 0x%04x method 0x%04x %s, data 0x%08x: %s",
                CLASS_COPY, method, m ? m->name : "(none)", data, why);
  return EMU_FAULT;
}

static uint64_t address(uint32_t high, uint32_t low) {
  return (uint64_t)high << 32 | low;
}

/* memcpy within what the mappings give in one piece. */
static bool copy_line(struct emu_as *as, uint64_t to, uint64_t from, uint64_t bytes,
                      struct emu_fault *fault) {
  enum { PIECE = 1 << 16 };
  uint8_t buffer[PIECE];
  while (bytes) {
    size_t part = bytes < PIECE ? (size_t)bytes : PIECE;
    if (!emu_mmu_read(as, from, buffer, part, fault) || !emu_mmu_write(as, to, buffer, part, fault))
      return false;
    from += part;
    to += part;
    bytes -= part;
  }
  return true;
}

/* The component map of a remap; facts 7.3. */
struct remap {
  unsigned size, sources, destinations;
  unsigned select[COMPONENTS_MAX];
};

static struct remap decode_remap(uint32_t word) {
  struct remap r = {
      .size = hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_COMPONENT_SIZE) + 1,
      .sources = hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_NUM_SRC_COMPONENTS) + 1,
      .destinations = hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_NUM_DST_COMPONENTS) + 1,
      .select = {hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_X),
                 hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_Y),
                 hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_Z),
                 hw_field(word, NVC7B5_SET_REMAP_COMPONENTS_DST_W)},
  };
  return r;
}

static bool remap_element(struct emu_channel *channel, const struct remap *r, uint64_t to,
                          uint64_t from, struct emu_fault *fault) {
  enum { SELECT_CONST_A = 4, SELECT_CONST_B = 5 };
  const struct emu_copy *c = &channel->copy;
  for (unsigned i = 0; i < r->destinations; i++) {
    unsigned select = r->select[i];
    uint8_t value[COMPONENT_BYTES_MAX];
    if (select == SELECT_CONST_A)
      memcpy(value, &c->const_a, sizeof(value));
    else if (select == SELECT_CONST_B)
      memcpy(value, &c->const_b, sizeof(value));
    else if (select < r->sources) {
      if (!emu_mmu_read(channel->as, from + (uint64_t)select * r->size, value, r->size, fault))
        return false;
    } else {
      continue; /* no write */
    }
    if (!emu_mmu_write(channel->as, to + (uint64_t)i * r->size, value, r->size, fault))
      return false;
  }
  return true;
}

static bool transfer(struct emu_channel *channel, uint32_t launch, struct emu_fault *fault) {
  const struct emu_copy *c = &channel->copy;
  uint64_t from = address(c->in_high, c->in_low), to = address(c->out_high, c->out_low);
  bool lines = hw_field(launch, NVC7B5_LAUNCH_DMA_MULTI_LINE_ENABLE);
  uint32_t count = lines ? c->line_count : 1;
  struct remap r = decode_remap(c->components);
  for (uint32_t line = 0; line < count; line++) {
    uint64_t source = from + (uint64_t)line * c->pitch_in;
    uint64_t destination = to + (uint64_t)line * c->pitch_out;
    if (!hw_field(launch, NVC7B5_LAUNCH_DMA_REMAP_ENABLE)) {
      if (!copy_line(channel->as, destination, source, c->line_length, fault))
        return false;
      continue;
    }
    for (uint32_t i = 0; i < c->line_length; i++) {
      if (!remap_element(channel, &r, destination + (uint64_t)i * r.size * r.destinations,
                         source + (uint64_t)i * r.size * r.sources, fault))
        return false;
    }
  }
  return true;
}

/* SEMAPHORE_REDUCTION's codes in the terms of report.c */
static bool reduction(uint32_t code, enum emu_reduction *operation) {
  static const uint8_t operations[] = {
      [SEM_RED_MIN] = EMU_RED_MIN, [SEM_RED_MAX] = EMU_RED_MAX, [SEM_RED_XOR] = EMU_RED_XOR,
      [SEM_RED_AND] = EMU_RED_AND, [SEM_RED_OR] = EMU_RED_OR,   [SEM_RED_ADD] = EMU_RED_ADD,
      [SEM_RED_INC] = EMU_RED_INC, [SEM_RED_DEC] = EMU_RED_DEC,
  };
  if (code > SEM_RED_DEC)
    return false;
  *operation = operations[code];
  return true;
}

static enum emu_step semaphore(struct emu_channel *channel, uint32_t launch,
                               struct emu_fault *fault) {
  enum { SEMAPHORE_ONE_WORD = 1, SEMAPHORE_FOUR_WORDS = 2 };
  const struct emu_copy *c = &channel->copy;
  uint32_t type = hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_TYPE);
  if (!type)
    return EMU_NEXT;
  if (type != SEMAPHORE_ONE_WORD && type != SEMAPHORE_FOUR_WORDS)
    return refuse(fault, NVC7B5_LAUNCH_DMA, launch, "this SEMAPHORE_TYPE is not emulated");
  bool wide = hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_PAYLOAD_SIZE);
  struct emu_report report = {
      .address = address(c->semaphore_high, c->semaphore_low),
      .payload = wide ? address(c->payload_high, c->payload) : c->payload,
      .wide = wide,
      .timestamp = type == SEMAPHORE_FOUR_WORDS,
      .reduce = hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_REDUCTION_ENABLE),
      .reduce_signed = !hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_REDUCTION_SIGN),
  };
  if (report.reduce &&
      !reduction(hw_field(launch, NVC7B5_LAUNCH_DMA_SEMAPHORE_REDUCTION), &report.reduction))
    return refuse(fault, NVC7B5_LAUNCH_DMA, launch, "HCE_RE_ILLEGAL_OP");
  unsigned align = report.timestamp ? sizeof(struct semaphore_report)
                   : wide           ? sizeof(uint64_t)
                                    : sizeof(uint32_t);
  if (report.address % align)
    return refuse(fault, NVC7B5_LAUNCH_DMA, launch, "HCE_RE_ALIGNB: misaligned semaphore");
  return emu_report_write(channel->as, &report, fault) ? EMU_NEXT : EMU_FAULT;
}

static enum emu_step launch_dma(struct emu_channel *channel, uint32_t launch,
                                struct emu_fault *fault) {
  /* Host waits for idle when it turns from compute to copies; facts 2.2. */
  enum emu_step step = emu_grids_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  if (hw_field(launch, NVC7B5_LAUNCH_DMA_SRC_TYPE) || hw_field(launch, NVC7B5_LAUNCH_DMA_DST_TYPE))
    return refuse(fault, NVC7B5_LAUNCH_DMA, launch, "HCE_PRIV: physical addresses");
  if (hw_field(launch, NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE)) {
    if (!hw_field(launch, NVC7B5_LAUNCH_DMA_SRC_MEMORY_LAYOUT) ||
        !hw_field(launch, NVC7B5_LAUNCH_DMA_DST_MEMORY_LAYOUT))
      return refuse(fault, NVC7B5_LAUNCH_DMA, launch, "block-linear layout is not emulated");
    if (!transfer(channel, launch, fault))
      return EMU_FAULT;
  }
  step = semaphore(channel, launch, fault);
  if (step == EMU_NEXT && hw_field(launch, NVC7B5_LAUNCH_DMA_INTERRUPT_TYPE))
    emu_non_stall_interrupt();
  return step;
}

enum emu_step emu_copy_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault) {
  struct emu_copy *c = &channel->copy;
  const struct {
    uint32_t method;
    uint32_t *word;
  } words[] = {
      {NVC7B5_SET_SEMAPHORE_A, &c->semaphore_high},
      {NVC7B5_SET_SEMAPHORE_B, &c->semaphore_low},
      {NVC7B5_SET_SEMAPHORE_PAYLOAD, &c->payload},
      {NVC7B5_SET_SEMAPHORE_PAYLOAD_UPPER, &c->payload_high},
      {NVC7B5_OFFSET_IN_UPPER, &c->in_high},
      {NVC7B5_OFFSET_IN_LOWER, &c->in_low},
      {NVC7B5_OFFSET_OUT_UPPER, &c->out_high},
      {NVC7B5_OFFSET_OUT_LOWER, &c->out_low},
      {NVC7B5_PITCH_IN, &c->pitch_in},
      {NVC7B5_PITCH_OUT, &c->pitch_out},
      {NVC7B5_LINE_LENGTH_IN, &c->line_length},
      {NVC7B5_LINE_COUNT, &c->line_count},
      {NVC7B5_SET_REMAP_CONST_A, &c->const_a},
      {NVC7B5_SET_REMAP_CONST_B, &c->const_b},
      {NVC7B5_SET_REMAP_COMPONENTS, &c->components},
  };
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    if (words[i].method == method) {
      *words[i].word = data;
      return EMU_NEXT;
    }
  }
  switch (method) {
  case NVC7B5_LAUNCH_DMA:
    return launch_dma(channel, data, fault);
  case NVC7B5_SET_SRC_PHYS_MODE:
  case NVC7B5_SET_DST_PHYS_MODE:
    return refuse(fault, method, data, "HCE_PRIV: physical addresses");
  default:
    if (!hw_method_find(CLASS_COPY, method, NULL))
      return refuse(fault, method, data, "HCE_ILLEGAL_MTHD");
    return EMU_NEXT; /* the block-linear surfaces, which LAUNCH_DMA refuses */
  }
}
