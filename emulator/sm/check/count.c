/* Profile mode: counts executed instructions, sectors of global memory and passes over shared
 * memory. */
#include "emulator/sm/check/watch.h"

enum { BANKS = 32, BANK_BYTES = 4 };

_Static_assert((int)SM_CLASS_COUNT <= (int)SM_COUNTED_CLASSES, "each class needs a counter");

const char *sm_class_name(unsigned class) {
  return class < SM_CLASS_COUNT ? sm_class_names[class] : NULL;
}

/* Counts the sectors that the lanes access. Aligned accesses are within one sector each. */
static unsigned count_sectors(const uint64_t *address, uint32_t m) {
  uint64_t seen[SM_LANES];
  unsigned count = 0;
  FOR_MASK(i, m) {
    const uint64_t sector = address[i] / SM_SECTOR_BYTES;
    unsigned k = count;
    /* Starts with the last sector found: adjacent lanes often access the same one. */
    while (k > 0 && seen[k - 1] != sector)
      k--;
    if (k == 0)
      seen[count++] = sector;
  }
  return count;
}

/* Counts the passes of a shared access: the largest number of different words in one bank. Wide
 * accesses use a half or a quarter of the warp at a time. */
static unsigned count_passes(const uint64_t *address, uint32_t m, uint32_t bytes) {
  const unsigned parts = bytes > BANK_BYTES ? bytes / BANK_BYTES : 1;
  const unsigned lanes = SM_LANES / parts, words = parts;
  unsigned total = 0;
  for (unsigned part = 0; part < parts; part++) {
    uint64_t seen[BANKS][SM_LANES];
    uint8_t count[BANKS] = {0};
    unsigned most = 0;
    const uint32_t mask = lanes == SM_LANES ? m : m & ((1u << lanes) - 1) << part * lanes;
    FOR_MASK(i, mask) {
      for (unsigned k = 0; k < words; k++) {
        const uint64_t word = address[i] / BANK_BYTES + k;
        const unsigned bank = word % BANKS;
        unsigned at = 0;
        while (at < count[bank] && seen[bank][at] != word)
          at++;
        if (at == count[bank] && at < SM_LANES)
          seen[bank][count[bank]++] = word;
        most = count[bank] > most ? count[bank] : most;
      }
    }
    total += most;
  }
  return total;
}

static void count_global(struct sm_counts *c, const struct sm_note *note, const uint64_t *address,
                         uint32_t m) {
  const unsigned touched = count_sectors(address, m);
  c->global_requests++;
  c->global_sectors += touched;
  if (note->access != SM_ACCESS_LOAD)
    c->store_sectors += touched;
}

static void count_shared(struct sm_counts *c, const struct sm_note *note, const uint64_t *address,
                         uint32_t m) {
  c->shared_requests++;
  c->shared_passes += count_passes(address, m, note->bytes);
}

/* Each register of A holds 8 rows of 16 bytes, which are multiplied by 8 columns of B. A sparse A
 * has half of the registers of its shape, and takes half of the time. */
static void count_tensor(struct sm_counts *c, const struct sm_uop *u, const struct sm_note *note) {
  if (note->handler == SM_H_dmma)
    c->double_products++;
  else if (note->handler != SM_H_movm)
    c->tensor_passes += u->mma.a_registers;
}

void sm_count(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note) {
  struct sm_counts *c = &w->cta->shadow->counts;
  const struct sm_grid *grid = w->cta->grid;
  const uint32_t m = sm_lanes_of(w, u) & sm_addressing_lanes(u, note);
  uint64_t address[SM_LANES];
  c->instructions[note->klass] += 1u + note->skips;
  c->lanes += (1u + note->skips) * (unsigned)__builtin_popcount(w->active[0]);
  if (note->klass == SM_CLASS_TENSOR)
    count_tensor(c, u, note);
  if (!m || !sm_is_memory(note->space))
    return;
  c->atomics += note->access == SM_ACCESS_ATOMIC;
  if (note->space == SM_SPACE_SHARED) {
    sm_addresses_32(w, u, address);
    count_shared(c, note, address, m);
  } else if (note->space != SM_SPACE_LOCAL) {
    uint32_t shared = 0, global = m;
    sm_addresses(w, u, address);
    FOR_MASK(i, m) {
      const bool in_shared = address[i] - grid->shared_window < SM_WINDOW_BYTES;
      const bool in_local = address[i] - grid->local_window < SM_WINDOW_BYTES;
      shared |= (uint32_t)in_shared << i;
      global &= ~((uint32_t)(in_shared || in_local) << i);
    }
    if (global)
      count_global(c, note, address, global);
    if (shared)
      count_shared(c, note, address, shared);
  }
}
