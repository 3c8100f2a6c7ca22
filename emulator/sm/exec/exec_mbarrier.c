/* Interpreter core: arrivals at mbarriers, which are 64-bit objects in shared memory.
 *
 * The low word is 2^30 minus the number of arrivals that a phase expects. The high word has the
 * phase in bit 31. Its lower bits are 2^31 minus the number of pending arrivals, so that the carry
 * of the last arrival ends the phase. ptxas relies on this layout: it compiles mbarrier.init,
 * .test_wait, .pending_count and .arrive.noComplete to stores, loads and plain additions
 * (docs/hardware/sass.md section 4.10). */
#include "emulator/sm/exec/exec_mem.h"

enum { MBARRIER_BYTES = 8 };

/* Executes the arrival of one lane at the mbarrier at p. With counts_only it increments the low
 * word instead, so that a phase expects one arrival less. d receives the previous contents. */
static inline void arrive_at(struct sm_warp *w, const struct sm_uop *u, unsigned lane, uint8_t *p) {
  const uint32_t phase = 1u << 31, expected_base = 1u << 30;
  const uint32_t low = load_word(p, SIZE_32);
  REG(u->d)[lane] = low;
  if (u->arrive.counts_only) {
    store_word(p, low + 1, SIZE_32);
    return;
  }
  const uint32_t high = load_word(p + sizeof low, SIZE_32);
  uint32_t next = high + 1;
  if ((next ^ high) & phase)
    next |= (low + expected_base) & ~phase;
  store_word(p + sizeof low, next, SIZE_32);
  REG(u->d + SM_REG_BYTES)[lane] = high;
}

/* ATOMS.ARRIVE, and ARRIVES, which waits for asynchronous copies: these are always complete
 * here. */
EACH_WARP(arrive) {
  struct sm_lanes at;
  if (!shared_addresses(w, u, m, MBARRIER_BYTES, true, at.l))
    return NULL;
  FOR_MASK(i, m)
  arrive_at(w, u, i, w->shared + at.l[i]);
  return DONE;
}

/* Arrival at a generic address, which must be in shared memory. */
EACH_WARP(arrive_generic) {
  struct addresses a;
  const uint32_t bytes = size_bytes[u->memory.size];
  addresses_of(w, u, m, &a);
  if (UNLIKELY(address_bits(&a) & (bytes - 1)))
    return raise_misaligned(w, u, m, a.l, bytes, true);
  FOR_MASK(i, m) {
    const uint64_t offset = a.l[i] - w->cta->grid->shared_window;
    if (offset >= SM_WINDOW_BYTES || offset + bytes > w->shared_bytes)
      return sm_raise(w, u, SM_FAULT_SHARED_RANGE, i, a.l[i], bytes, true);
    arrive_at(w, u, i, w->shared + offset);
  }
  pred_out(w, u->pd, ~0u, m);
  return DONE;
}
