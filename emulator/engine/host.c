/* The host methods, class C76F: semaphores, waits and memory operations
 * (docs/hardware/command-stream.md 3). */
#include "emulator/engine/host.h"

#include <string.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/method.h"
#include "emulator/engine/report.h"
#include "emulator/engine/sked.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/tsg.h"
#include "emulator/kernel/watchdog.h"
#include "emulator/modes/inject.h"
#include "gpu/hw/field.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"

/* Returns EMU_NEXT when the channel is idle: its grids and copies have ended. A client that sees a
 * semaphore that is written later also sees what they have written. */
static enum emu_step wait_idle(struct emu_channel *channel, struct emu_fault *fault) {
  enum emu_step step = emu_sked_wait(channel, fault);
  if (step == EMU_NEXT && emu_copies_pending(&channel->engine->copy))
    step = emu_copies_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  channel->engine->copy.pipelined_count = 0;
  return step;
}

static enum emu_step method_fault(struct emu_fault *fault, uint32_t method, uint32_t data,
                                  const char *why) {
  emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, 0,
                "PBDMA METHOD: host method 0x%04x (data 0x%08x): %s", method, data, why);
  return EMU_FAULT;
}

/* Returns a mask of all bits of a field. */
static uint32_t field_mask(unsigned high, unsigned low) {
  return hw_bits(high, low, UINT32_MAX);
}

static bool is_acquired(uint32_t operation, bool wide, uint64_t v, uint64_t p) {
  switch (operation) {
  case SEM_ACQUIRE:
    return v == p;
  case SEM_ACQ_STRICT_GEQ:
    return v >= p;
  case SEM_ACQ_CIRC_GEQ:
    return wide ? (int64_t)(v - p) >= 0 : (int32_t)(uint32_t)(v - p) >= 0;
  case SEM_ACQ_AND:
    return (v & p) != 0;
  default: { /* SEM_ACQ_NOR */
    uint64_t nor = ~(v | p);
    return wide ? nor != 0 : (uint32_t)nor != 0;
  }
  }
}

static enum emu_step semaphore_fault(struct emu_fault *fault, uint64_t address, uint32_t execute,
                                     const char *why) {
  emu_fault_set(fault, NOTIFIER_PBDMA_ERROR, address,
                "PBDMA SEMAPHORE: SEM_EXECUTE 0x%08x at 0x%llx: %s", execute,
                (unsigned long long)address, why);
  return EMU_FAULT;
}

void emu_host_bind(struct emu_channel *channel) {
  enum { ACQUIRE_PERCENT = 80 };
  channel->engine->host.acquire_limit_ns =
      channel->watchdog ? emu_watchdog_limit_ns(channel) / 100 * ACQUIRE_PERCENT : 0;
}

static bool timed_out(struct emu_host_state *h) {
  uint64_t now = emu_time_ns();
  if (!h->waiting_since)
    h->waiting_since = now;
  return h->acquire_limit_ns && now - h->waiting_since > h->acquire_limit_ns;
}

static enum emu_step run_acquire(struct emu_channel *channel, uint32_t operation, uint64_t address,
                                 bool wide, uint64_t payload, struct emu_fault *fault) {
  uint64_t v;
  if (!emu_semaphore_read(channel->as, address, wide, &v, fault))
    return EMU_FAULT;
  const bool passes = is_acquired(operation, wide, v, wide ? payload : (uint32_t)payload);
  if ((passes && !emu_injected(EMU_PLACE_ACQUIRE_STUCK)) || emu_injected(EMU_PLACE_ACQUIRE_EARLY)) {
    channel->engine->host.waiting_since = 0;
    return EMU_NEXT;
  }
  if (timed_out(&channel->engine->host)) {
    emu_fault_set(fault, NOTIFIER_SEMAPHORE_TIMEOUT, address,
                  "PBDMA ACQUIRE: timeout: value 0x%llx at 0x%llx, awaited payload 0x%llx",
                  (unsigned long long)v, (unsigned long long)address, (unsigned long long)payload);
    return EMU_FAULT;
  }
  channel->engine->waiting = true;
  return EMU_AGAIN;
}

/* Maps a reduction of the host to that of report.h (docs/hardware/command-stream.md 3.1). */
static bool find_reduction(uint32_t execute, bool wide, struct emu_report *report) {
  static const uint8_t operations[] = {
      [SEM_RED_MIN] = REPORT_RED_MIN, [SEM_RED_MAX] = REPORT_RED_MAX,
      [SEM_RED_XOR] = REPORT_RED_XOR, [SEM_RED_AND] = REPORT_RED_AND,
      [SEM_RED_OR] = REPORT_RED_OR,   [SEM_RED_ADD] = REPORT_RED_ADD,
      [SEM_RED_INC] = REPORT_RED_INC, [SEM_RED_DEC] = REPORT_RED_DEC,
  };
  uint32_t op = hw_field(execute, NVC76F_SEM_EXECUTE_REDUCTION);
  report->reduce = true;
  report->reduce_signed = hw_field(execute, NVC76F_SEM_EXECUTE_REDUCTION_FORMAT) == SEM_RED_SIGNED;
  if (op > SEM_RED_DEC)
    return false;
  report->reduction = operations[op];
  if (wide && (op == SEM_RED_INC || op == SEM_RED_DEC))
    return false;
  return !(wide && op == SEM_RED_ADD && report->reduce_signed);
}

static enum emu_step execute_semaphore(struct emu_channel *channel, uint32_t execute,
                                       struct emu_fault *fault) {
  const struct emu_host_state *h = &channel->engine->host;
  const uint32_t known =
      field_mask(NVC76F_SEM_EXECUTE_OPERATION) | field_mask(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG) |
      field_mask(NVC76F_SEM_EXECUTE_RELEASE_WFI) | field_mask(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE) |
      field_mask(NVC76F_SEM_EXECUTE_RELEASE_TIMESTAMP) | field_mask(NVC76F_SEM_EXECUTE_REDUCTION) |
      field_mask(NVC76F_SEM_EXECUTE_REDUCTION_FORMAT);
  uint32_t operation = hw_field(execute, NVC76F_SEM_EXECUTE_OPERATION);
  bool wide = hw_field(execute, NVC76F_SEM_EXECUTE_PAYLOAD_SIZE);
  bool timestamp = hw_field(execute, NVC76F_SEM_EXECUTE_RELEASE_TIMESTAMP);
  bool writes = operation == SEM_RELEASE || operation == SEM_REDUCTION;
  uint64_t address =
      (uint64_t)hw_field(h->sem.address_high, NVC76F_SEM_ADDR_HI_OFFSET) << 32 | h->sem.address_low;
  uint64_t payload = (uint64_t)h->sem.payload_high << 32 | h->sem.payload_low;
  if (execute & ~known)
    return semaphore_fault(fault, address, execute, "a reserved bit is set");
  if (operation > SEM_REDUCTION)
    return semaphore_fault(fault, address, execute, "illegal operation");
  struct emu_report report = {
      .address = address,
      .payload = wide ? payload : (uint32_t)payload,
      .wide = wide,
      .timestamp = writes && timestamp,
  };
  if (emu_report_misaligned(&report))
    return semaphore_fault(fault, address, execute, "misaligned address");
  if (!writes)
    return run_acquire(channel, operation, address, wide, payload, fault);
  if (operation == SEM_REDUCTION && !find_reduction(execute, wide, &report))
    return semaphore_fault(fault, address, execute, "illegal reduction");
  if (hw_field(execute, NVC76F_SEM_EXECUTE_RELEASE_WFI)) {
    enum emu_step step = wait_idle(channel, fault);
    if (step != EMU_NEXT)
      return step;
  }
  if (emu_inject_loss(EMU_PLACE_HOST_LOST, NOTIFIER_PBDMA_ERROR, fault))
    return EMU_FAULT;
  return emu_report_write(channel, &report, fault) ? EMU_NEXT : EMU_FAULT;
}

/* MEM_OP_D (docs/hardware/command-stream.md 3.2 and the method table). The kernel driver maintains
 * the TLB. */
static enum emu_step memory_operation(uint32_t data, struct emu_fault *fault) {
  switch (hw_field(data, NVC76F_MEM_OP_D_OPERATION)) {
  case MEM_OP_MEMBAR:
  case MEM_OP_L2_PEERMEM_INVALIDATE:
  case MEM_OP_L2_SYSMEM_INVALIDATE:
  case MEM_OP_L2_CLEAN_COMPTAGS:
  case MEM_OP_L2_FLUSH_DIRTY:
  case MEM_OP_L2_WAIT_FOR_SYS_PENDING_READS:
    atomic_thread_fence(memory_order_seq_cst);
    return EMU_NEXT;
  default:
    return method_fault(fault, NVC76F_MEM_OP_D, data, "privileged or unknown memory operation");
  }
}

static enum emu_step set_reference(struct emu_channel *channel, uint32_t data,
                                   struct emu_fault *fault) {
  enum emu_step step = wait_idle(channel, fault);
  if (step == EMU_NEXT)
    __atomic_store_n((uint32_t *)(void *)(channel->userd->host + USERD_REF), data,
                     __ATOMIC_RELEASE);
  return step;
}

bool emu_host_operands(struct emu_channel *channel, const uint32_t *words) {
  struct emu_host_state *h = &channel->engine->host;
  if (words[0] & 3u)
    return false;
  /* One store: the processor forwards it to the loads of pairs of words. */
  memcpy(&h->sem, words, sizeof h->sem);
  return true;
}

enum emu_step emu_host_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault) {
  struct emu_host_state *h = &channel->engine->host;
  switch (method) {
  case NVC76F_NOP:
  case NVC76F_FB_FLUSH:
  case NVC76F_MEM_OP_A:
  case NVC76F_MEM_OP_B:
  case NVC76F_MEM_OP_C:
    return EMU_NEXT;
  case NVC76F_ILLEGAL:
    return method_fault(fault, method, data, "ILLEGAL");
  case NVC76F_SEMAPHOREA:
  case NVC76F_SEMAPHOREB:
  case NVC76F_SEMAPHOREC:
  case NVC76F_SEMAPHORED:
    /* On a board they have no effect (docs/hardware/bring-up.md trap 3). */
    return method_fault(fault, method, data,
                        "the old semaphore methods do nothing on GA10B; use 0x5c to 0x6c");
  case NVC76F_NON_STALL_INTERRUPT:
    emu_non_stall_interrupt(NULL);
    return EMU_NEXT;
  case NVC76F_MEM_OP_D:
    return memory_operation(data, fault);
  case NVC76F_SET_REFERENCE:
    return set_reference(channel, data, fault);
  case NVC76F_SEM_ADDR_LO:
    h->sem.address_low = data & ~3u;
    return (data & 3u) ? semaphore_fault(fault, data, 0, "misaligned address") : EMU_NEXT;
  case NVC76F_SEM_ADDR_HI:
    h->sem.address_high = data;
    return EMU_NEXT;
  case NVC76F_SEM_PAYLOAD_LO:
    h->sem.payload_low = data;
    return EMU_NEXT;
  case NVC76F_SEM_PAYLOAD_HI:
    h->sem.payload_high = data;
    return EMU_NEXT;
  case NVC76F_SEM_EXECUTE:
    return execute_semaphore(channel, data, fault);
  case NVC76F_WFI:
    return wait_idle(channel, fault);
  case NVC76F_YIELD:
    return hw_field(data, NVC76F_YIELD_OP) == YIELD_TSG ? EMU_YIELD : EMU_NEXT;
  default:
    return method_fault(fault, method, data, "unknown or privileged");
  }
}
