/* Reads the ring and the pushbuffer of a channel: GPFIFO entries, method headers, and the methods
 * of each class (docs/hardware/command-stream.md 1 and 2). */
#include "emulator/engine/pushbuffer.h"

#include <string.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/compute.h"
#include "emulator/engine/copy.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/engine/host.h"
#include "emulator/engine/i2m.h"
#include "emulator/engine/method.h"
#include "emulator/engine/mmu.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/modes/adversary.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"

/* In old header forms, count and address have other bits (docs/hardware/command-stream.md 2.1). */
#define OLD_HEADER_COUNT   28, 18
#define OLD_HEADER_ADDRESS 12, 2
#define SUB_DEVICE_MASK    15, 4

static bool pbdma_fault(struct emu_fault *fault, uint64_t address, const char *what) {
  emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, address, "%s", what);
  return false;
}

static void userd_store(struct emu_channel *channel, unsigned offset, uint32_t value) {
  uint32_t *word = (uint32_t *)(void *)(channel->userd->host + offset);
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* The polynomial is not published, so no client can know the right checksum. */
static void crc_fault(struct emu_fault *fault, uint64_t entry_va, bool pushbuffer) {
  emu_fault_set(fault, pushbuffer ? NOTIFIER_PB_CRC : NOTIFIER_PBDMA_ERROR, entry_va,
                "PBDMA %s: the emulator cannot check CRCs", pushbuffer ? "PBCRC" : "GPCRC");
}

/* Writes the progress to USERD, as the hardware does (docs/hardware/command-stream.md 1.3). */
static void write_back(struct emu_channel *channel) {
  const struct emu_ring *ring = &channel->engine->ring;
  userd_store(channel, USERD_GP_GET, channel->engine->gp_get);
  userd_store(channel, USERD_GET, (uint32_t)ring->segment);
  userd_store(channel, USERD_GET_HI, (uint32_t)(ring->segment >> 32));
  userd_store(channel, USERD_TOP_LEVEL_GET, (uint32_t)ring->main_segment);
  userd_store(channel, USERD_TOP_LEVEL_GET_HI, (uint32_t)(ring->main_segment >> 32));
  channel->engine->adversary.write_progress_at = 0;
  channel->engine->progress_is_late = false;
}

void emu_pushbuffer_write_progress(struct emu_channel *channel) {
  if (channel->engine->progress_is_late)
    write_back(channel);
}

/* Adversarial timing: writes the progress to USERD if it is due. Returns whether nothing is left to
 * write. */
static bool write_back_if_due(struct emu_channel *channel) {
  struct emu_adversary_state *state = &channel->engine->adversary;
  if (state->write_progress_at && emu_time_ns() >= state->write_progress_at)
    write_back(channel);
  return !state->write_progress_at;
}

/* Notes that progress has changed. It is written to USERD later, because the hardware writes it
 * only from time to time (docs/hardware/command-stream.md 1.3): in adversarial mode at any time,
 * else at looks at the clock and at the end of the turn. A client on another core writes GP_PUT to
 * the same line of the host's cache for each entry, so both would wait for that line each time. In
 * rings that the kernel driver writes, which also reads it, it is written at once. */
static void schedule_write_back(struct emu_channel *channel) {
  struct emu_adversary_state *state = &channel->engine->adversary;
  channel->engine->progress_is_late = !emu_adversary.on;
  if (emu_adversary.on && !state->write_progress_at)
    state->write_progress_at = emu_time_ns() + 1 + emu_adversary_delay_ns(&state->random);
  write_back_if_due(channel);
  if (channel->submit)
    emu_pushbuffer_write_progress(channel);
}

static uint32_t read_put(const struct emu_channel *channel) {
  const uint32_t *put = (const uint32_t *)(const void *)(channel->userd->host + USERD_GP_PUT);
  return __atomic_load_n(put, __ATOMIC_ACQUIRE);
}

enum fetch_result { FETCH_WORDS, FETCH_EMPTY, FETCH_LATER, FETCH_FAULT };

/* Reads entries. GP_GET is advanced past them even before the host processes them, and the host may
 * read several ahead (command-stream.md 1.2). */
static enum fetch_result read_entries(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_ring *ring = &channel->engine->ring;
  if (ring->put == channel->engine->gp_get)
    ring->put = read_put(channel);
  const uint32_t put = ring->put;
  if (put == channel->engine->gp_get)
    return FETCH_EMPTY;
  if (put >= channel->entries) {
    emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, 0,
                  "PBDMA GPPTR: GP_PUT %u is not below the number of entries, %u", put,
                  channel->entries);
    return FETCH_FAULT;
  }
  /* The upper half of the address has 8 bits in the channel's record
   * (docs/hardware/kernel-interface.md trap T1). */
  if (channel->gpfifo_mapping->gpu + channel->gpfifo_mapping->size > GPU_VA_END) {
    emu_fault_set(fault, NOTIFIER_MMU_FAULT, channel->gpfifo_mapping->gpu % GPU_VA_END,
                  "read of the ring at 0x%llx: the address has more than 40 bits",
                  (unsigned long long)channel->gpfifo_mapping->gpu);
    return FETCH_FAULT;
  }
  uint32_t most = emu_adversary.on ? 1 + emu_adversary_below(&channel->engine->adversary.random,
                                                             EMU_ENTRIES_AHEAD)
                                   : 1;
  ring->next = ring->count = 0;
  while (ring->count < most && channel->engine->gp_get != put) {
    memcpy(&ring->ahead[ring->count++],
           channel->gpfifo->host + (size_t)channel->engine->gp_get * GP_ENTRY_BYTES,
           GP_ENTRY_BYTES);
    channel->engine->gp_get = (channel->engine->gp_get + 1) & (channel->entries - 1);
  }
  return FETCH_WORDS;
}

/* Reads entries until one has words (command-stream.md 1.1). */
static enum fetch_result fetch_entry(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_ring *ring = &channel->engine->ring;
  for (;;) {
    if (!ring->count) {
      enum fetch_result result = read_entries(channel, fault);
      if (result != FETCH_WORDS)
        return result;
    }
    uint32_t index = (channel->engine->gp_get - ring->count) & (channel->entries - 1);
    uint64_t entry = ring->ahead[ring->next++];
    uint64_t entry_va = channel->gpfifo_mapping->gpu + (uint64_t)index * GP_ENTRY_BYTES;
    ring->count--;
    uint32_t word0 = (uint32_t)entry, word1 = (uint32_t)(entry >> 32);
    uint32_t words = gp_entry_words(entry);
    uint64_t address = gp_entry_address(entry);
    if (words)
      ring->segment = address;
    if (words && !hw_field(word1, GP_ENTRY1_LEVEL))
      ring->main_segment = address;
    schedule_write_back(channel);
    if (!words) {
      switch (hw_field(word1, GP_ENTRY1_OPCODE)) {
      case GP_CONTROL_NOP:
        continue;
      case GP_CONTROL_GP_CRC:
      case GP_CONTROL_PB_CRC:
        crc_fault(fault, entry_va, hw_field(word1, GP_ENTRY1_OPCODE) == GP_CONTROL_PB_CRC);
        return FETCH_FAULT;
      default:
        emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, entry_va,
                      "PBDMA GPENTRY: entry 0x%016llx has an illegal control opcode",
                      (unsigned long long)entry);
        return FETCH_FAULT;
      }
    }
    if (hw_field(word0, GP_ENTRY0_RESERVED) || hw_field(word1, GP_ENTRY1_RESERVED)) {
      emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, entry_va,
                    "PBDMA GPENTRY: entry 0x%016llx has a reserved bit set",
                    (unsigned long long)entry);
      return FETCH_FAULT;
    }
    if (address + (uint64_t)words * sizeof(uint32_t) >= GPU_VA_END) {
      emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, entry_va,
                    "PBDMA GPENTRY: the segment at 0x%llx exceeds the 40-bit address space",
                    (unsigned long long)address);
      return FETCH_FAULT;
    }
    if (hw_field(word0, GP_ENTRY0_FETCH) && !(channel->engine->subdevice_mask & 1))
      continue;
    channel->engine->fetch = (struct emu_fetch){.gpu = address, .words = words};
    return FETCH_WORDS;
  }
}

/* Copies words of the pushbuffer. The host reads it in batches, so it may miss later stores
 * (command-stream.md 1.2). */
static void read_ahead(struct emu_channel *channel) {
  struct emu_fetch *f = &channel->engine->fetch;
  uint32_t *words = channel->engine->ring.words;
  if (f->host_words > EMU_WORDS_AHEAD)
    f->host_words = EMU_WORDS_AHEAD;
  memcpy(words, f->host, f->host_words * sizeof(words[0]));
  f->host = words;
}

static bool has_read_ahead(const struct emu_channel *channel) {
  const uint32_t *host = channel->engine->fetch.host, *words = channel->engine->ring.words;
  return host >= words && host < words + EMU_WORDS_AHEAD;
}

/* Moves the next segment, the descriptor that it probably launches, and what is between them, such
 * as parameters, into the host's cache if they are in the same memory after the present word, not
 * where a ring of segments wraps. A client on another core has written them, and the engine would
 * wait for each as long as for some methods. Always inline, because GCC drops calls of a function
 * that only prefetches. */
static inline __attribute__((always_inline)) void prefetch_next(const struct emu_channel *channel,
                                                                uint64_t left) {
  enum { LINE = 64, LINES = 16 };
  const struct emu_ring *ring = &channel->engine->ring;
  const struct emu_fetch *f = &channel->engine->fetch;
  uint64_t entry;
  if (channel->engine->gp_get == ring->put)
    return;
  memcpy(&entry, channel->gpfifo->host + (size_t)channel->engine->gp_get * GP_ENTRY_BYTES,
         sizeof entry);
  const uint64_t next = gp_entry_address(entry) - f->gpu;
  const uint64_t end = next + gp_entry_words(entry) * sizeof(uint32_t);
  uint64_t at = next + ring->to_descriptor;
  if (next >= left || end > left)
    return;
  if (at > next || next - at > LINE * LINES)
    at = next;
  for (unsigned k = 0; k < LINES && at < end; k++, at += LINE)
    __builtin_prefetch((const uint8_t *)f->host + at);
}

/* Makes the next words of the segment accessible at fetch.host. */
static bool fetch_words(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_fetch *f = &channel->engine->fetch;
  uint64_t left;
  f->host = (const uint32_t *)(const void *)emu_mmu_span(channel->as, f->gpu, &left);
  if (!f->host) {
    emu_fault_set(fault, NOTIFIER_MMU_FAULT, f->gpu, "read of a pushbuffer at 0x%llx: no mapping",
                  (unsigned long long)f->gpu);
    fault->record.access_bytes = sizeof(uint32_t);
    return false;
  }
  const uint64_t words = left / sizeof(uint32_t);
  f->host_words = words < f->words ? (uint32_t)words : f->words;
  prefetch_next(channel, left);
  if (emu_adversary.on && emu_adversary_one_in(&channel->engine->adversary.random, 2))
    read_ahead(channel);
  return true;
}

/* Drops the pointer into the pushbuffer, whose memory may move while it is not pinned. */
static void drop_host_words(struct emu_channel *channel) {
  if (!has_read_ahead(channel))
    channel->engine->fetch.host_words = 0;
}

/* Returns whether the fetch must wait. A pushbuffer may remain unread for any time after GP_GET has
 * passed its entry (docs/hardware/command-stream.md 1.2). Chooses a delay before each segment and
 * before some headers. */
static bool fetch_is_delayed(struct emu_channel *channel, bool segment) {
  enum { HEADERS = 16 };
  struct emu_adversary_state *state = &channel->engine->adversary;
  const bool header = !channel->engine->run.count && !state->fetch_at;
  if (segment || (header && emu_adversary_one_in(&state->random, HEADERS)))
    state->fetch_at = emu_time_ns() + emu_adversary_delay_ns(&state->random);
  if (emu_time_ns() < state->fetch_at)
    return true;
  state->fetch_at = 0;
  return false;
}

/* Reads the next word of the pushbuffer without consuming it. */
static enum fetch_result peek_word(struct emu_channel *channel, uint32_t *word,
                                   struct emu_fault *fault) {
  struct emu_fetch *f = &channel->engine->fetch;
  const bool segment = !f->words;
  if (segment) {
    enum fetch_result result = fetch_entry(channel, fault);
    if (result != FETCH_WORDS)
      return result;
  }
  if (emu_adversary.on && fetch_is_delayed(channel, segment))
    return FETCH_LATER;
  if (!f->host_words && !fetch_words(channel, fault))
    return FETCH_FAULT;
  *word = *f->host;
  return FETCH_WORDS;
}

static void consume_words(struct emu_fetch *f, uint32_t words) {
  f->gpu += (uint64_t)words * sizeof(uint32_t);
  f->words -= words;
  f->host += words;
  f->host_words -= words;
}

/* Executes SET_OBJECT. Each subchannel has a fixed class (command-stream.md 2.2). */
static enum emu_step set_object(struct emu_channel *channel, uint32_t subchannel, uint32_t data,
                                struct emu_fault *fault) {
  static const uint16_t classes[] = {
      [SUBCHANNEL_3D] = CLASS_3D,       [SUBCHANNEL_COMPUTE] = CLASS_COMPUTE,
      [SUBCHANNEL_I2M] = EMU_CLASS_I2M, [SUBCHANNEL_2D] = EMU_CLASS_2D,
      [SUBCHANNEL_COPY] = CLASS_COPY,
  };
  uint32_t class = hw_field(data, NVC76F_SET_OBJECT_NVCLASS);
  if (class != classes[subchannel]) {
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, 0,
                  "FE CLASS_SUBCH_MISMATCH: class 0x%04x on subchannel %u, which is for 0x%04x",
                  class, subchannel, classes[subchannel]);
    return EMU_FAULT;
  }
  switch (subchannel) {
  case SUBCHANNEL_COMPUTE:
    return emu_compute_bind(channel, fault) ? EMU_NEXT : EMU_FAULT;
  case SUBCHANNEL_I2M:
    channel->engine->i2m_bound = true;
    break;
  case SUBCHANNEL_COPY:
    emu_copy_bind(&channel->engine->copy);
    break;
  default:
    break; /* methods of 2D and 3D are rejected when they arrive */
  }
  return EMU_NEXT;
}

static enum emu_step dispatch_method(struct emu_channel *channel, uint32_t subchannel,
                                     uint32_t method, uint32_t data, struct emu_fault *fault) {
  if (method < METHOD_HOST_END && method != NVC76F_SET_OBJECT)
    return emu_host_method(channel, method, data, fault);
  if (subchannel > SUBCHANNEL_COPY) {
    emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, 0,
                  "PBDMA DEVICE: method 0x%04x on subchannel %u, which has no engine", method,
                  subchannel);
    return EMU_FAULT;
  }
  if (!channel->has_object) {
    emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, 0,
                  "PBDMA CTXNOTVALID: method 0x%04x on subchannel %u of a channel without "
                  "ALLOC_OBJ_CTX",
                  method, subchannel);
    return EMU_FAULT;
  }
  /* The host waits for idle when it switches from copies to another class
   * (docs/hardware/command-stream.md 2.2). */
  if (subchannel != SUBCHANNEL_COPY && emu_copies_pending(&channel->engine->copy)) {
    enum emu_step step = emu_copies_run(channel, fault);
    if (step != EMU_NEXT)
      return step;
  }
  if (method == NVC76F_SET_OBJECT)
    return set_object(channel, subchannel, data, fault);
  if (subchannel == SUBCHANNEL_COMPUTE && channel->engine->compute.bound)
    return emu_compute_method(channel, method, data, fault);
  if (subchannel == SUBCHANNEL_COPY && channel->engine->copy.bound)
    return emu_copy_method(channel, method, data, fault);
  if (subchannel == SUBCHANNEL_I2M && channel->engine->i2m_bound && emu_i2m_owns(method))
    return emu_i2m_method(channel, &channel->engine->i2m, method, data, fault);
  /* A board silently drops such methods, but they can only be a mistake. */
  emu_fault_set(fault, NOTIFIER_GR_ILLEGAL_NOTIFY, 0,
                "method 0x%04x (data 0x%08x) on subchannel %u, to which no class that the "
                "emulator supports is bound",
                method, data, subchannel);
  return EMU_FAULT;
}

/* Reads a header and sets up its methods (command-stream.md 2.1). */
static bool decode_header(struct emu_channel *channel, uint32_t word, uint64_t at,
                          struct emu_fault *fault) {
  struct emu_run *run = &channel->engine->run;
  struct emu_fetch *f = &channel->engine->fetch;
  uint32_t op = hw_field(word, METHOD_HEADER_SEC_OP);
  uint32_t tert = hw_field(word, METHOD_HEADER_TERT_OP);
  *run = (struct emu_run){.op = op, .subchannel = hw_field(word, METHOD_HEADER_SUBCHANNEL)};
  consume_words(f, 1);
  switch (op) {
  case METHOD_GRP0_USE_TERT:
    switch (tert) {
    case METHOD_TERT_SET_SUB_DEV_MASK:
      channel->engine->subdevice_mask = hw_field(word, SUB_DEVICE_MASK);
      return true;
    case METHOD_TERT_STORE_SUB_DEV_MASK:
      channel->engine->stored_subdevice_mask = hw_field(word, SUB_DEVICE_MASK);
      return true;
    case METHOD_TERT_USE_SUB_DEV_MASK:
      channel->engine->subdevice_mask = channel->engine->stored_subdevice_mask;
      return true;
    default:
      run->op = METHOD_INC;
      break;
    }
    run->count = hw_field(word, OLD_HEADER_COUNT);
    run->method = hw_field(word, OLD_HEADER_ADDRESS) << 2;
    break;
  case METHOD_GRP2_USE_TERT:
    run->op = METHOD_NON_INC;
    run->count = hw_field(word, OLD_HEADER_COUNT);
    run->method = hw_field(word, OLD_HEADER_ADDRESS) << 2;
    if (tert != METHOD_TERT_INC)
      return pbdma_fault(fault, at, "PBDMA PBENTRY: reserved form of an old header");
    break;
  case METHOD_INC:
  case METHOD_NON_INC:
  case METHOD_ONE_INC:
  case METHOD_IMMD:
    if (hw_field(word, METHOD_HEADER_RESERVED)) {
      emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, at,
                    "PBDMA PBENTRY: header 0x%08x has its reserved bit 12 set", word);
      return false;
    }
    run->count = hw_field(word, METHOD_HEADER_COUNT);
    run->method = hw_field(word, METHOD_HEADER_ADDRESS) << 2;
    if (op == METHOD_IMMD) {
      run->immediate = run->count;
      run->count = 1;
    }
    break;
  case METHOD_END_PB_SEGMENT:
    consume_words(f, f->host_words);
    f->gpu += (uint64_t)f->words * sizeof(uint32_t);
    f->words = 0;
    return true;
  default:
    emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, at, "PBDMA PBENTRY: header 0x%08x is reserved",
                  word);
    return false;
  }
  return true;
}

/* Executes one method of the run. */
static enum emu_step run_step(struct emu_channel *channel, uint32_t data, struct emu_fault *fault) {
  struct emu_run *run = &channel->engine->run;
  if (run->method >= METHOD_ADDRESS_END) {
    emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, channel->engine->fetch.gpu,
                  "PBDMA PBENTRY: the methods of a header exceed the last method address");
    return EMU_FAULT;
  }
  enum emu_step step = EMU_NEXT;
  if (channel->engine->subdevice_mask & 1)
    step = dispatch_method(channel, run->subchannel, run->method, data, fault);
  if (step != EMU_NEXT && step != EMU_YIELD)
    return step;
  run->count--;
  if (run->op == METHOD_INC || (run->op == METHOD_ONE_INC && !run->incremented))
    run->method += sizeof(uint32_t);
  run->incremented = true;
  return step;
}

/* Passes several words of inline data at once. */
static enum emu_step run_bulk(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_run *run = &channel->engine->run;
  struct emu_fetch *f = &channel->engine->fetch;
  struct emu_i2m *i2m =
      run->subchannel == SUBCHANNEL_COMPUTE ? &channel->engine->compute.i2m : &channel->engine->i2m;
  uint32_t words = run->count < f->host_words ? run->count : f->host_words;
  enum emu_step step = emu_i2m_data(channel, i2m, f->host, words, fault);
  if (step == EMU_NEXT) {
    consume_words(f, words);
    run->count -= words;
  }
  return step;
}

static bool is_bulk(const struct emu_channel *channel) {
  const struct emu_run *run = &channel->engine->run;
  bool fixed = run->op == METHOD_NON_INC || (run->op == METHOD_ONE_INC && run->incremented);
  return fixed && run->count > 1 && run->method == NVC7C0_LOAD_INLINE_DATA &&
         (channel->engine->subdevice_mask & 1) &&
         ((run->subchannel == SUBCHANNEL_COMPUTE && channel->engine->compute.bound) ||
          (run->subchannel == SUBCHANNEL_I2M && channel->engine->i2m_bound));
}

/* Executes the next method of the run, whose word is accessible. */
static enum emu_step run_method(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_fetch *f = &channel->engine->fetch;
  const struct emu_run *run = &channel->engine->run;
  const bool immediate = run->op == METHOD_IMMD;
  if (!run->count)
    return EMU_NEXT;
  const enum emu_step step = run_step(channel, immediate ? run->immediate : *f->host, fault);
  if ((step == EMU_NEXT || step == EMU_YIELD) && !immediate)
    consume_words(f, 1);
  return step;
}

/* Executes whole headers of the usual forms, increasing or immediate, whose data is accessible, and
 * stops before others. If a method must wait or fails, it and the methods after it become the run.
 * There must be no run before. */
static enum emu_step run_headers(struct emu_channel *channel, struct emu_fault *fault) {
  enum { HEADERS = 8, METHODS = 64 };
  enum { OPERANDS = (NVC76F_SEM_EXECUTE - NVC76F_SEM_ADDR_LO) / 4 };
  struct emu_fetch *f = &channel->engine->fetch;
  enum emu_step step = EMU_NEXT;
  for (unsigned k = 0; k < HEADERS && f->host_words && step == EMU_NEXT; k++) {
    const uint32_t header = *f->host, *data = f->host + 1;
    const uint32_t op = hw_field(header, METHOD_HEADER_SEC_OP);
    const uint32_t value = hw_field(header, METHOD_HEADER_COUNT);
    const uint32_t subchannel = hw_field(header, METHOD_HEADER_SUBCHANNEL);
    const uint32_t method = hw_field(header, METHOD_HEADER_ADDRESS) << 2;
    const bool immediate = op == METHOD_IMMD;
    const uint32_t count = immediate ? 1 : value;
    uint32_t done = 0;
    if (!(immediate || (op == METHOD_INC && count <= METHODS && count < f->host_words)) ||
        hw_field(header, METHOD_HEADER_RESERVED) || method + count * 4 > METHOD_ADDRESS_END ||
        !(channel->engine->subdevice_mask & 1))
      break;
    if (method == NVC76F_SEM_ADDR_LO && count > OPERANDS && emu_host_operands(channel, data))
      done = OPERANDS;
    while (done < count && step == EMU_NEXT &&
           atomic_load_explicit(&channel->serviceable, memory_order_relaxed)) {
      step = dispatch_method(channel, subchannel, method + done * 4, immediate ? value : data[done],
                             fault);
      done += step == EMU_NEXT || step == EMU_YIELD;
    }
    consume_words(f, immediate ? 1 : 1 + done);
    channel->engine->steps += 1 + done;
    if (done < count) {
      channel->engine->run = (struct emu_run){.op = op,
                                              .subchannel = subchannel,
                                              .method = method + done * 4,
                                              .count = count - done,
                                              .immediate = value,
                                              .incremented = done != 0};
      return step;
    }
  }
  return step;
}

/* Reads the next word, which is a header or the data of a method, and executes methods. Returns
 * EMU_AGAIN with *empty set if the ring is empty. */
static enum emu_step advance_stream(struct emu_channel *channel, bool *empty,
                                    struct emu_fault *fault) {
  struct emu_run *run = &channel->engine->run;
  if (!run->count || run->op != METHOD_IMMD) {
    uint32_t word;
    switch (peek_word(channel, &word, fault)) {
    case FETCH_EMPTY:
      *empty = true;
      return EMU_AGAIN;
    case FETCH_LATER:
      channel->engine->waiting = true;
      return EMU_AGAIN;
    case FETCH_FAULT:
      return EMU_FAULT;
    case FETCH_WORDS:
      break;
    }
    if (!run->count) {
      const uint32_t left = channel->engine->fetch.words;
      const enum emu_step step = emu_adversary.on ? EMU_NEXT : run_headers(channel, fault);
      if (channel->engine->fetch.words != left)
        return step;
      if (!decode_header(channel, word, channel->engine->fetch.gpu, fault))
        return EMU_FAULT;
      if (emu_adversary.on || !channel->engine->fetch.host_words)
        return EMU_NEXT; /* the fetch may be delayed, or has not reached the data */
    }
    if (is_bulk(channel))
      return run_bulk(channel, fault);
  }
  return run_method(channel, fault);
}

enum emu_outcome emu_pushbuffer_run(struct emu_channel *channel) {
  struct emu_fault fault;
  enum { STEPS_PER_CLOCK = 128, INSTRUCTIONS_PER_CLOCK = 10000, PROGRESS_NS = 20000 };
  const uint64_t end = emu_turn_end(channel);
  uint64_t looked = atomic_load(&emu_engine.instructions);
  uint32_t steps = channel->engine->steps; /* at the last look at the clock */
  uint64_t write_at = 0;
  enum emu_step step = EMU_NEXT;
  bool empty = false;
  channel->engine->turn_end = end;
  channel->engine->waiting = false;
  if (!channel->engine->pin.held)
    drop_host_words(channel);
  emu_pin(channel->as, &channel->engine->pin);
  while (atomic_load_explicit(&channel->serviceable, memory_order_relaxed)) {
    step = advance_stream(channel, &empty, &fault);
    if (step != EMU_NEXT)
      break;
    const uint64_t executed = atomic_load_explicit(&emu_engine.instructions, memory_order_relaxed);
    if (++channel->engine->steps - steps < STEPS_PER_CLOCK &&
        executed - looked < INSTRUCTIONS_PER_CLOCK)
      continue;
    steps = channel->engine->steps;
    looked = executed;
    const uint64_t now = emu_time_ns();
    if (now > write_at) {
      emu_pushbuffer_write_progress(channel);
      write_at = now + PROGRESS_NS;
    }
    if (now > end && emu_engine_others_wait(channel))
      break;
  }
  emu_pushbuffer_write_progress(channel);
  /* When the stream has nothing to do, work that was launched continues. */
  if (step == EMU_AGAIN && (empty || channel->engine->waiting)) {
    const bool waiting = channel->engine->waiting;
    channel->engine->waiting = false;
    enum emu_step ran = emu_grids_run(channel, &fault);
    if (ran == EMU_NEXT)
      ran = emu_copies_run(channel, &fault);
    if (ran != EMU_NEXT) {
      step = ran;
    } else if (empty && write_back_if_due(channel)) {
      step = EMU_NEXT;
    } else {
      channel->engine->waiting = waiting || empty;
    }
  }
  enum emu_outcome outcome = EMU_MORE;
  if (!atomic_load(&channel->serviceable)) {
    outcome = EMU_IDLE;
  } else if (step == EMU_FAULT) {
    emu_fault_raise(channel, &fault);
    outcome = EMU_IDLE;
  } else if (step == EMU_NEXT && empty) {
    /* Work that has been submitted meanwhile has rung the doorbell. */
    outcome = EMU_IDLE;
  } else if (step == EMU_AGAIN && channel->engine->waiting) {
    outcome = EMU_BLOCKED;
  } else if (step == EMU_YIELD) {
    outcome = EMU_GAVE_UP;
  }
  if (!channel->engine->grids && !emu_copies_pending(&channel->engine->copy)) {
    emu_unpin(channel->as, &channel->engine->pin, false);
    drop_host_words(channel);
  }
  return outcome;
}
