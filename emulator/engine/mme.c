/* The macro engine. A macro may have to wait for an argument or for a method that it emits, so its
 * state is kept between turns. */
#include "emulator/engine/mme.h"

#include <string.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/compute.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/method.h"
#include "emulator/engine/mmu.h"
#include "emulator/kernel/channel.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"

enum {
  INSTRUCTIONS_PER_TURN = 4096,
  BRANCH_OFFSET_BITS = 13,
  BRANCH_EXIT = -0x1000, /* the smallest branch offset ends the macro */
  EXTENDED_BARRIER = 0x1000,
};

/* Fields of the words of MERGE, branches and methods. */
#define MERGE_FROM    4, 0
#define MERGE_BITS    9, 5
#define MERGE_TO      15, 10
#define BRANCH_IF     15, 15
#define JUMP_OFFSET   14, 0
#define METHOD_NUMBER 11, 0
#define METHOD_STEP   15, 12

static uint32_t instruction_bits(const uint32_t words[MME_INSTRUCTION_WORDS], unsigned low,
                                 unsigned count) {
  uint64_t low_half = (uint64_t)words[1] << 32 | words[2];
  uint64_t from = low < 32 ? low_half >> low : ((uint64_t)words[0] << 32 | words[1]) >> (low - 32);
  return (uint32_t)(from & ((UINT64_C(1) << count) - 1));
}

struct mme_instruction mme_decode(const uint32_t words[MME_INSTRUCTION_WORDS]) {
  enum { ALU0 = 10, ALU1 = 46, OUT0 = 82, OUT1 = 89 };
  static const unsigned alu[2] = {ALU0, ALU1}, out[2] = {OUT0, OUT1};
  struct mme_instruction i = {
      .end_next = instruction_bits(words, 0, 1),
      .predicate_mode = (uint8_t)instruction_bits(words, 1, 4),
      .predicate = (uint8_t)instruction_bits(words, 5, 5),
  };
  for (unsigned k = 0; k < 2; k++) {
    i.alu[k].operation = (uint8_t)instruction_bits(words, alu[k], 5);
    i.alu[k].destination = (uint8_t)instruction_bits(words, alu[k] + 5, 5);
    i.alu[k].source[0] = (uint8_t)instruction_bits(words, alu[k] + 10, 5);
    i.alu[k].source[1] = (uint8_t)instruction_bits(words, alu[k] + 15, 5);
    i.alu[k].immediate = (uint16_t)instruction_bits(words, alu[k] + 20, 16);
    i.out[k].method = (uint8_t)instruction_bits(words, out[k], 3);
    i.out[k].emit = (uint8_t)instruction_bits(words, out[k] + 3, 4);
  }
  return i;
}

static bool refuse_macro(struct emu_fault *fault, const struct emu_mme *m, const char *what) {
  emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, 0, "MME: macro at word 0x%x, instruction %u: %s",
                m->start, m->ip, what);
  return false;
}

/* ---- one instruction ---- */

static bool uses_load(const struct mme_instruction *i, enum mme_register source,
                      enum mme_output output) {
  bool found = i->predicate == source;
  for (unsigned k = 0; k < 2; k++)
    found |= i->alu[k].source[0] == source || i->alu[k].source[1] == source ||
             i->out[k].method == output || i->out[k].emit == output;
  return found;
}

/* Loads the arguments of the instruction. Returns false if one has not arrived. */
static bool take_arguments(struct emu_mme *m, const struct mme_instruction *i) {
  const bool wanted[2] = {uses_load(i, MME_LOAD0, MME_OUT_LOAD0),
                          uses_load(i, MME_LOAD1, MME_OUT_LOAD1)};
  for (; m->loaded < 2; m->loaded++) {
    if (!wanted[m->loaded])
      continue;
    if (m->fifo_count) {
      m->load[m->loaded] = m->fifo[m->fifo_first++];
      m->fifo_count--;
    } else if (m->has_argument) {
      m->load[m->loaded] = m->argument;
      m->has_argument = false;
    } else {
      return false;
    }
  }
  return true;
}

static uint32_t immediate_32(const struct mme_instruction *i) {
  return (uint32_t)i->alu[0].immediate << 16 | i->alu[1].immediate;
}

static uint32_t read_source(const struct emu_mme *m, const struct mme_instruction *i, unsigned k,
                            unsigned from) {
  switch (from) {
  case MME_IMMEDIATE:
    return (uint32_t)(int16_t)i->alu[k].immediate;
  case MME_IMMEDIATE_PAIR:
    return (uint32_t)(int16_t)i->alu[1 - k].immediate;
  case MME_IMMEDIATE_32:
    return immediate_32(i);
  case MME_LOAD0:
    return m->load[0];
  case MME_LOAD1:
    return m->load[1];
  default:
    return from < MME_REGISTERS ? m->registers[from] : 0;
  }
}

static uint32_t merge_fields(uint32_t x, uint32_t y, uint32_t how) {
  uint64_t mask = (UINT64_C(1) << hw_field(how, MERGE_BITS)) - 1;
  unsigned to = hw_field(how, MERGE_TO);
  uint64_t part = (y >> hw_field(how, MERGE_FROM)) & mask;
  return (uint32_t)((x & ~(mask << to)) | part << to);
}

static bool compare_operands(unsigned operation, uint32_t x, uint32_t y) {
  switch (operation) {
  case MME_SLT:
  case MME_BLT:
    return (int32_t)x < (int32_t)y;
  case MME_SLTU:
  case MME_BLTU:
    return x < y;
  case MME_SLE:
  case MME_BLE:
    return (int32_t)x <= (int32_t)y;
  case MME_SLEU:
  case MME_BLEU:
    return x <= y;
  default:
    return x == y;
  }
}

/* Returns the result of an operation that has no other effect than on carry, which also receives
 * the high half of a product. */
static uint32_t compute_result(struct emu_mme *m, unsigned operation, uint32_t x, uint32_t y,
                               uint32_t immediate) {
  uint64_t wide;
  switch (operation) {
  case MME_ADD:
    m->carry = x + y < x;
    return x + y;
  case MME_ADDC:
    return x + y + m->carry;
  case MME_SUB:
    m->carry = x < y;
    return x - y;
  case MME_SUBB:
    return x - y - m->carry;
  case MME_MUL:
    wide = (uint64_t)((int64_t)(int32_t)x * (int32_t)y);
    m->carry = (uint32_t)(wide >> 32);
    return (uint32_t)wide;
  case MME_MULU:
    wide = (uint64_t)x * y;
    m->carry = (uint32_t)(wide >> 32);
    return (uint32_t)wide;
  case MME_MULH:
    return m->carry;
  case MME_CLZ:
    return x ? (uint32_t)__builtin_clz(x) : 32;
  case MME_SLL:
    return x << (y & 31);
  case MME_SRL:
    return x >> (y & 31);
  case MME_SRA:
    return (uint32_t)((int32_t)x >> (y & 31));
  case MME_AND:
    return x & y;
  case MME_NAND:
    return ~(x & y);
  case MME_OR:
    return x | y;
  case MME_XOR:
    return x ^ y;
  case MME_MERGE:
    return merge_fields(x, y, immediate);
  case MME_STATE:
    return m->shadow[(x + y) % MME_METHODS];
  default:
    return compare_operands(operation, x, y) ? UINT32_MAX : 0;
  }
}

/* Where the macro continues. */
struct flow {
  uint32_t next;
  bool stop;
};

static int32_t branch_offset(uint32_t immediate) {
  uint32_t sign = 1u << (BRANCH_OFFSET_BITS - 1);
  uint32_t low = immediate & (2 * sign - 1);
  return (int32_t)(low ^ sign) - (int32_t)sign;
}

/* Executes the operation of ALU k. */
static bool run_alu(struct emu_mme *m, const struct mme_instruction *i, unsigned k,
                    struct flow *flow, struct emu_fault *fault) {
  const unsigned operation = i->alu[k].operation;
  const uint32_t immediate = i->alu[k].immediate;
  const uint32_t x = read_source(m, i, k, i->alu[k].source[0]);
  const uint32_t y = read_source(m, i, k, i->alu[k].source[1]);
  uint32_t result = 0;
  switch (operation) {
  case MME_EXTENDED: /* waits for the words of READ_FIFOED, which are always available */
    if (x != EXTENDED_BARRIER)
      return refuse_macro(fault, m, "an unknown EXTENDED operation");
    break;
  case MME_LOOP:
    m->loop_count = x ? x - 1 : 0;
    m->loop_start = m->ip + 1;
    m->loop_end = m->ip + immediate - 1;
    break;
  case MME_JAL:
    flow->next = m->ip + hw_field(immediate, JUMP_OFFSET);
    break;
  case MME_BLT:
  case MME_BLTU:
  case MME_BLE:
  case MME_BLEU:
  case MME_BEQ:
    if (compare_operands(operation, x, y) != hw_field(immediate, BRANCH_IF))
      break;
    flow->stop = branch_offset(immediate) == BRANCH_EXIT;
    flow->next = m->ip + (uint32_t)branch_offset(immediate);
    break;
  case MME_DREAD:
    result = m->data[x % MME_DATA_WORDS];
    break;
  case MME_DWRITE:
    m->data[x % MME_DATA_WORDS] = y;
    break;
  default:
    result = compute_result(m, operation, x, y, immediate);
  }
  m->result[k] = result;
  if (i->alu[k].destination < MME_REGISTERS)
    m->registers[i->alu[k].destination] = result;
  return true;
}

static uint32_t select_output(const struct emu_mme *m, const struct mme_instruction *i,
                              unsigned from) {
  enum { HIGH_SHIFT = 12 };
  switch (from) {
  case MME_OUT_ALU0:
  case MME_OUT_ALU1:
    return m->result[from - MME_OUT_ALU0];
  case MME_OUT_LOAD0:
  case MME_OUT_LOAD1:
    return m->load[from - MME_OUT_LOAD0];
  case MME_OUT_IMMEDIATE0:
  case MME_OUT_IMMEDIATE1:
    return i->alu[from - MME_OUT_IMMEDIATE0].immediate;
  case MME_OUT_HIGH0:
  case MME_OUT_HIGH1:
    return (uint32_t)i->alu[from - MME_OUT_HIGH0].immediate >> HIGH_SHIFT;
  case MME_OUT_IMMEDIATE_32:
    return immediate_32(i);
  default:
    return 0;
  }
}

static void run_output(struct emu_mme *m, const struct mme_instruction *i, unsigned k) {
  if (i->out[k].method != MME_OUT_NONE) {
    uint32_t word = select_output(m, i, i->out[k].method);
    m->method = hw_field(word, METHOD_NUMBER) * (uint32_t)sizeof(uint32_t);
    m->method_step = hw_field(word, METHOD_STEP) * (uint32_t)sizeof(uint32_t);
  }
  if (i->out[k].emit == MME_OUT_NONE)
    return;
  m->emitted[m->emitted_count].method = m->method % METHOD_ADDRESS_END;
  m->emitted[m->emitted_count++].data = select_output(m, i, i->out[k].emit);
  m->method += m->method_step;
}

/* Returns whether a slot (ALU 0, ALU 1, output 0 or output 1) is executed. One marked T is not if
 * the predicate is nonzero, and one marked F is not if it is zero. */
static bool slot_runs(const struct emu_mme *m, const struct mme_instruction *i, unsigned slot) {
  static const char modes[][5] = {"UUUU", "TTTT", "FFFF", "TTUU", "FFUU", "TFUU", "TUUU", "FUUU",
                                  "UUTT", "UUTF", "UUTU", "UUFT", "UUFF", "UUFU", "UUUT", "UUUF"};
  return modes[i->predicate_mode][slot] != (read_source(m, i, 0, i->predicate) ? 'T' : 'F');
}

static bool run_instruction(struct emu_mme *m, const struct mme_instruction *i,
                            struct emu_fault *fault) {
  struct flow flow = {.next = m->ip + 1};
  bool last = m->last;
  for (unsigned k = 0; k < 2; k++) {
    if (slot_runs(m, i, k) && !run_alu(m, i, k, &flow, fault))
      return false;
  }
  for (unsigned k = 0; k < 2; k++) {
    if (slot_runs(m, i, 2 + k))
      run_output(m, i, k);
  }
  m->last = i->end_next;
  if (m->loop_count && m->ip == m->loop_end) {
    m->loop_count--;
    flow.next = m->loop_start;
  }
  m->running = !last && !flow.stop;
  m->ip = flow.next;
  m->loaded = 0;
  return true;
}

/* ---- the macro ---- */

static bool decode_next(const struct emu_mme *m, struct mme_instruction *i,
                        struct emu_fault *fault) {
  uint64_t word = m->start + (uint64_t)m->ip * MME_INSTRUCTION_WORDS;
  if (word + MME_INSTRUCTION_WORDS > MME_CODE_WORDS)
    return refuse_macro(fault, m, "it is outside the instruction memory");
  *i = mme_decode(&m->code[word]);
  return true;
}

/* Runs the macro until it ends or needs another argument. */
static enum emu_step run_macro(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_mme *m = channel->engine->mme;
  for (unsigned done = 0;; done++) {
    while (m->emitted_first < m->emitted_count) {
      uint32_t method = m->emitted[m->emitted_first].method;
      if (method >= NVC7C0_CALL_MME_MACRO(0)) {
        refuse_macro(fault, m, "it calls a macro");
        return EMU_FAULT;
      }
      enum emu_step step =
          emu_compute_method(channel, method, m->emitted[m->emitted_first].data, fault);
      if (step != EMU_NEXT)
        return step;
      m->emitted_first++;
    }
    m->emitted_first = m->emitted_count = 0;
    if (!m->running)
      return EMU_NEXT;
    if (done == INSTRUCTIONS_PER_TURN)
      return EMU_AGAIN;
    struct mme_instruction i;
    if (!decode_next(m, &i, fault))
      return EMU_FAULT;
    if (!take_arguments(m, &i))
      return EMU_NEXT;
    if (!run_instruction(m, &i, fault))
      return EMU_FAULT;
  }
}

static void start_macro(struct emu_mme *m, uint32_t macro) {
  m->start = m->starts[macro];
  m->ip = m->loaded = m->loop_count = m->method = m->method_step = 0;
  m->fifo_first = m->fifo_count = 0;
  m->emitted_first = m->emitted_count = 0;
  m->running = true;
  m->last = false;
  memset(m->registers, 0, sizeof(m->registers));
}

enum emu_step emu_mme_call(struct emu_channel *channel, uint32_t method, uint32_t data,
                           struct emu_fault *fault) {
  enum { BYTES_PER_MACRO = 8 };
  struct emu_mme *m = channel->engine->mme;
  uint32_t offset = method - NVC7C0_CALL_MME_MACRO(0);
  if (!m->busy) {
    if (offset % BYTES_PER_MACRO == 0) {
      if (m->running) {
        refuse_macro(fault, m, "another macro is called while it waits for arguments");
        return EMU_FAULT;
      }
      start_macro(m, offset / BYTES_PER_MACRO);
    }
    m->argument = data;
    m->has_argument = true;
    m->busy = true;
  }
  enum emu_step step = run_macro(channel, fault);
  if (step == EMU_NEXT)
    m->busy = m->has_argument = false; /* a word that no macro takes is dropped */
  return step;
}

/* ---- its other methods ---- */

static enum emu_step read_memory(struct emu_channel *channel, uint32_t *to, uint32_t room,
                                 uint32_t words, struct emu_fault *fault) {
  if (words > room) {
    refuse_macro(fault, channel->engine->mme, "reads more words than the destination can hold");
    return EMU_FAULT;
  }
  return emu_mmu_read(channel->as, channel->engine->mme->memory, to, (size_t)words * sizeof(*to),
                      fault)
             ? EMU_NEXT
             : EMU_FAULT;
}

static enum emu_step do_dma(struct emu_channel *channel, uint32_t method, uint32_t words,
                            struct emu_fault *fault) {
  struct emu_mme *m = channel->engine->mme;
  uint32_t first = m->data_pointer % MME_DATA_WORDS;
  enum emu_step step;
  switch (method) {
  case NVC7C0_MME_DMA_READ:
    return read_memory(channel, m->data + first, MME_DATA_WORDS - first, words, fault);
  case NVC7C0_MME_DMA_READ_FIFOED:
    step = read_memory(channel, m->fifo, MME_FIFO_WORDS, words, fault);
    m->fifo_first = 0;
    m->fifo_count = step == EMU_NEXT ? words : 0;
    return step;
  case NVC7C0_MME_DMA_WRITE:
    if (words > MME_DATA_WORDS - first) {
      refuse_macro(fault, m, "writes more words than the data memory has");
      return EMU_FAULT;
    }
    return emu_mmu_write(channel->as, m->memory, m->data + first,
                         (size_t)words * sizeof(m->data[0]), fault)
               ? EMU_NEXT
               : EMU_FAULT;
  case NVC7C0_MME_DMA_REDUCTION:
    refuse_macro(fault, m, "MME_DMA_REDUCTION is not documented");
    return EMU_FAULT;
  default: /* SYSMEMBAR, SYNC: earlier methods are already complete */
    return EMU_NEXT;
  }
}

bool emu_mme_owns(uint32_t method) {
  return (method >= NVC7C0_LOAD_MME_INSTRUCTION_RAM_POINTER &&
          method <= NVC7C0_SET_MME_SHADOW_RAM_CONTROL) ||
         (method >= NVC7C0_SET_MME_MEM_ADDRESS_A && method <= NVC7C0_MME_DMA_SYNC);
}

enum emu_step emu_mme_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                             struct emu_fault *fault) {
  struct emu_mme *m = channel->engine->mme;
  switch (method) {
  case NVC7C0_LOAD_MME_INSTRUCTION_RAM_POINTER:
    m->code_pointer = data;
    return EMU_NEXT;
  case NVC7C0_LOAD_MME_INSTRUCTION_RAM:
    m->code[m->code_pointer++ % MME_CODE_WORDS] = data;
    return EMU_NEXT;
  case NVC7C0_LOAD_MME_START_ADDRESS_RAM_POINTER:
    m->start_pointer = data;
    return EMU_NEXT;
  case NVC7C0_LOAD_MME_START_ADDRESS_RAM:
    m->starts[m->start_pointer++ % MME_MACROS] = data;
    return EMU_NEXT;
  case NVC7C0_SET_MME_SHADOW_RAM_CONTROL:
    m->shadow_mode = hw_field(data, NVC7C0_SET_MME_SHADOW_RAM_CONTROL_MODE);
    return EMU_NEXT;
  case NVC7C0_SET_MME_MEM_ADDRESS_A:
    emu_set_high(&m->memory, hw_field(data, NVC7C0_SET_MME_MEM_ADDRESS_A_UPPER));
    return EMU_NEXT;
  case NVC7C0_SET_MME_MEM_ADDRESS_B:
    emu_set_low(&m->memory, data);
    return EMU_NEXT;
  case NVC7C0_SET_MME_DATA_RAM_ADDRESS:
    m->data_pointer = data;
    return EMU_NEXT;
  default:
    return do_dma(channel, method, data, fault);
  }
}

uint32_t emu_mme_shadow(struct emu_mme *m, uint32_t method, uint32_t data) {
  uint32_t *shadow = &m->shadow[method / sizeof(uint32_t)];
  if (method == NVC7C0_SET_MME_SHADOW_RAM_CONTROL || method >= NVC7C0_CALL_MME_MACRO(0))
    return data;
  if (m->shadow_mode == MME_SHADOW_REPLAY)
    return *shadow;
  if (m->shadow_mode != MME_SHADOW_PASS_THROUGH)
    *shadow = data;
  return data;
}

void emu_mme_drop(struct emu_mme *m) {
  if (m)
    m->running = m->busy = false;
}
