/* Semaphore writes of the engines: one word, two words, or four words with the time, as a store or
 * as an atomic operation (docs/hardware/command-stream.md 3.1, 4.7). */
#include "emulator/engine/report.h"

#include <string.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/mmu.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/inject.h"
#include "gpu/hw/host.h"

static bool is_less(uint64_t a, uint64_t b, bool is_signed, bool wide) {
  if (!is_signed)
    return a < b;
  return wide ? (int64_t)a < (int64_t)b : (int32_t)a < (int32_t)b;
}

static uint32_t float_add(uint32_t v, uint32_t p) {
  float a, b;
  memcpy(&a, &v, sizeof(a));
  memcpy(&b, &p, sizeof(b));
  a += b;
  memcpy(&v, &a, sizeof(v));
  return v;
}

static uint64_t reduce_value(const struct emu_report *r, uint64_t v) {
  uint64_t p = r->payload;
  switch (r->reduction) {
  case REPORT_RED_ADD:
    return v + p;
  case REPORT_RED_MIN:
    return is_less(p, v, r->reduce_signed, r->wide) ? p : v;
  case REPORT_RED_MAX:
    return is_less(v, p, r->reduce_signed, r->wide) ? p : v;
  case REPORT_RED_INC:
    return v >= p ? 0 : v + 1;
  case REPORT_RED_DEC:
    return v == 0 || v > p ? p : v - 1;
  case REPORT_RED_AND:
    return v & p;
  case REPORT_RED_OR:
    return v | p;
  case REPORT_RED_XOR:
    return v ^ p;
  case EMU_REDUCTION_FLOAT_ADD:
    return float_add((uint32_t)v, (uint32_t)p);
  default:
    return v;
  }
}

static void write_64(uint64_t *memory, const struct emu_report *r) {
  if (!r->reduce) {
    __atomic_store_n(memory, r->payload ^ (uint64_t)emu_injected(EMU_PLACE_PAYLOAD),
                     __ATOMIC_RELEASE);
    return;
  }
  uint64_t old = __atomic_load_n(memory, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(memory, &old, reduce_value(r, old), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
}

static void write_32(uint32_t *memory, const struct emu_report *r) {
  if (!r->reduce) {
    __atomic_store_n(memory, (uint32_t)r->payload, __ATOMIC_RELEASE);
    return;
  }
  uint32_t old = __atomic_load_n(memory, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(memory, &old, (uint32_t)reduce_value(r, old), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
}

bool emu_semaphore_read(struct emu_as *as, uint64_t address, bool wide, uint64_t *value,
                        struct emu_fault *fault) {
  const void *host =
      emu_mmu_host(as, address, wide ? sizeof(uint64_t) : sizeof(uint32_t), false, fault);
  if (host)
    *value = wide ? __atomic_load_n((const uint64_t *)host, __ATOMIC_SEQ_CST)
                  : __atomic_load_n((const uint32_t *)host, __ATOMIC_SEQ_CST);
  return host != NULL;
}

bool emu_report_write(struct emu_channel *channel, const struct emu_report *report,
                      struct emu_fault *fault) {
  struct emu_as *as = channel->as;
  size_t bytes = report->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  /* A client that sees the semaphore must see what grids and copies have written before. */
  atomic_thread_fence(memory_order_release);
  /* Any 32-bit write to the window of a syncpoint increments it. */
  if (!report->wide && !report->timestamp && !report->reduce)
    return emu_mmu_write(as, report->address, &(uint32_t){(uint32_t)report->payload}, bytes, fault);
  if (report->timestamp)
    bytes = sizeof(struct semaphore_report);
  uint8_t *host = emu_mmu_host(as, report->address, bytes, true, fault);
  if (!host)
    return false;
  /* Writes the time before the payload, so that a reader that sees the payload may read the time
   * (docs/hardware/command-stream.md 3.1). A reader that sees the time may still find the old
   * payload. */
  if (report->timestamp) {
    uint64_t now = emu_time_ns();
    if (emu_injected(EMU_PLACE_TIME_ZERO))
      now = 0;
    if (emu_injected(EMU_PLACE_TIME_SKEW))
      now += UINT64_C(3600000000000);
    memcpy(host + offsetof(struct semaphore_report, timestamp_ns), &now, sizeof(now));
    if (!report->wide)
      memset(host + sizeof(uint32_t), 0, sizeof(uint32_t));
    atomic_thread_fence(memory_order_release);
    if (emu_adversary.on)
      emu_adversary_linger(&channel->engine->adversary.random);
  }
  if (report->wide)
    write_64((uint64_t *)(void *)host, report);
  else
    write_32((uint32_t *)(void *)host, report);
  return true;
}
