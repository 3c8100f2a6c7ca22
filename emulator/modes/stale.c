/* Adversarial mode: caches that return stale data until they are invalidated.
 *
 * These are the scheduler's cache of descriptors, the constant cache, and the caches of the SMs for
 * data and textures (sm/l1.h). The instruction cache is the decoded code (sm/code.c), which exists
 * in all modes; here it sometimes loses its contents. Only the engine thread uses the caches.
 *
 * Descriptors (docs/hardware/command-stream.md 8.3, hazard 2; docs/hardware/bring-up.md trap 38): a
 * descriptor that is scheduled again at the same address comes from the cache, unless an action
 * with INVALIDATE or INVALIDATE_SKED_CACHES came in between. A descriptor in the pushbuffer
 * replaces the cached one: CUDA launches only in this way (docs/hardware/command-stream.md 4.5).
 * Boards have run with a ring of 1024 descriptors and no invalidates, so the cache is smaller than
 * that.
 *
 * Constants (qmd-v03.csv, CONSTANT_BUFFER_INVALIDATE and INVALIDATE_SHADER_CONSTANT_CACHE;
 * docs/hardware/command-stream.md 4.4): lines survive the end of a grid and are found by address. A
 * grid reads each line once, when it starts or when it ends. Lines have 64 bytes, like those of the
 * L1 constant cache of Volta (Jia and others, 2018, as in sm/l1.h).
 *
 * How a new mapping at an old address affects these caches is not documented; nvgpu invalidates
 * TLBs. It does not change the caches here, just as writes do not. */
#include "emulator/modes/stale.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/boards.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/engine/qmd.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/modes/adversary.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/qmd.h"

enum {
  DESCRIPTORS = 64,
  CONSTANT_LINE = 64,
  CONSTANT_LINES = 1024,
  LOSS = 8, /* one in so many lines is lost at each opportunity */
  STAY = 8, /* one in so many lines is never evicted */
};

struct descriptor {
  uint64_t address; /* 0: none */
  uint32_t qmd[QMD_WORDS];
};

struct constant_line {
  uint64_t address; /* 0: none */
  bool stays;       /* other lines do not evict it */
  uint8_t data[CONSTANT_LINE];
};

/* The caches of one address space. */
struct emu_stale {
  struct emu_random random;
  struct descriptor descriptor[DESCRIPTORS];
  struct constant_line constant[CONSTANT_LINES];
};

/* The copy that a grid reads instead of a constant bank in memory. */
struct emu_stale_bank {
  uint64_t address;
  uint32_t size;
  const uint8_t *memory;
  uint8_t *copy; /* NULL if the grid reads memory, whose lines are cached at its end */
};

static struct sm_l1_caches *l1;

/* Returns the caches of an address space, which are created when first needed, or NULL if out of
 * memory. */
static struct emu_stale *create_caches(struct emu_as *as) {
  static uint64_t spaces;
  if (!l1)
    l1 = sm_l1_create(emu_board()->sms, emu_adversary.seed);
  if (!l1 || as->stale)
    return l1 ? as->stale : NULL;
  as->stale = calloc(1, sizeof(*as->stale));
  if (as->stale)
    as->stale->random = emu_adversary_stream(EMU_STREAM_CACHES, ++spaces);
  sm_l1_invalidate_all(l1); /* a freed emu_as may have had the same host address */
  return as->stale;
}

/* Like create_caches, but returns NULL outside adversarial mode unless a fault of the caches of
 * textures is planted. */
static struct emu_stale *get_caches(struct emu_as *as) {
  return emu_adversary.on || emu_texture_is_stale() ? create_caches(as) : NULL;
}

bool emu_stale_code(struct emu_as *as) {
  return get_caches(as) != NULL;
}

void emu_stale_free(struct emu_as *as) {
  free(as->stale);
}

void emu_stale_stop(void) {
  sm_l1_destroy(l1);
  l1 = NULL;
}

/* ---- descriptors ---- */

static struct descriptor *find_descriptor(struct emu_stale *stale, uint64_t address) {
  for (unsigned i = 0; i < DESCRIPTORS; i++)
    if (stale->descriptor[i].address == address)
      return &stale->descriptor[i];
  return NULL;
}

const uint32_t *emu_stale_descriptor(struct emu_as *as, uint64_t address, const uint32_t *qmd) {
  struct emu_stale *stale = get_caches(as);
  if (!stale)
    return qmd;
  struct descriptor *d = find_descriptor(stale, address);
  if (!d) {
    d = &stale->descriptor[emu_adversary_below(&stale->random, DESCRIPTORS)];
    d->address = address;
    memcpy(d->qmd, qmd, sizeof(d->qmd));
  }
  return d->qmd;
}

void emu_stale_prefetch(struct emu_as *as, uint64_t address) {
  struct emu_fault ignored;
  const uint32_t *qmd = get_caches(as) ? emu_qmd_find(as, address, &ignored) : NULL;
  if (qmd)
    emu_stale_descriptor(as, address, qmd);
}

void emu_stale_drop_descriptor(struct emu_as *as, uint64_t address) {
  struct emu_stale *stale = get_caches(as);
  struct descriptor *d = stale ? find_descriptor(stale, address) : NULL;
  if (d)
    d->address = 0;
}

void emu_stale_drop_descriptors(struct emu_as *as) {
  struct emu_stale *stale = get_caches(as);
  if (stale)
    memset(stale->descriptor, 0, sizeof(stale->descriptor));
}

void emu_stale_start(struct emu_as *as, uint64_t address, uint32_t *qmd) {
  struct emu_stale *stale = get_caches(as);
  if (!stale)
    return;
  if (emu_adversary_one_in(&stale->random, LOSS))
    emu_stale_drop_descriptor(as, address);
  memmove(qmd, emu_stale_descriptor(as, address, qmd), QMD_BYTES);
  if (qmd_get(qmd, QMD_DEPENDENT_QMD0_ENABLE) && qmd_get(qmd, QMD_DEPENDENT_QMD0_PREFETCH))
    emu_stale_prefetch(as, (uint64_t)qmd_get(qmd, QMD_DEPENDENT_QMD0_POINTER) << QMD_ADDRESS_SHIFT);
}

/* ---- constants ---- */

static struct constant_line *find_place(struct emu_stale *stale, uint64_t line) {
  return &stale->constant[line / CONSTANT_LINE % CONSTANT_LINES];
}

static uint64_t first_line(const struct emu_stale_bank *bank) {
  return bank->address / CONSTANT_LINE * CONSTANT_LINE;
}

static bool is_line_cached(struct emu_stale *stale, uint64_t line) {
  return find_place(stale, line)->address == line;
}

static bool has_lines(struct emu_stale *stale, const struct emu_stale_bank *bank) {
  for (uint64_t line = first_line(bank); line < bank->address + bank->size; line += CONSTANT_LINE)
    if (is_line_cached(stale, line))
      return true;
  return false;
}

/* Drops lines of a bank: all of them, or some at random. */
static void drop_lines(struct emu_stale *stale, const struct emu_stale_bank *bank, bool all) {
  for (uint64_t line = first_line(bank); line < bank->address + bank->size; line += CONSTANT_LINE)
    if (is_line_cached(stale, line) && (all || emu_adversary_one_in(&stale->random, LOSS)))
      find_place(stale, line)->address = 0;
}

static void fill_line(struct emu_stale *stale, struct constant_line *place, uint64_t line,
                      const uint8_t *data) {
  place->address = line;
  place->stays = emu_adversary_one_in(&stale->random, STAY);
  memcpy(place->data, data, CONSTANT_LINE);
}

/* Fetches the missing lines. Mappings have whole pages and therefore whole lines. */
static void fetch_lines(struct emu_stale *stale, const struct emu_stale_bank *bank) {
  const uint64_t end = bank->address + bank->size;
  for (uint64_t line = first_line(bank); line < end; line += CONSTANT_LINE) {
    struct constant_line *place = find_place(stale, line);
    const uint8_t *data = bank->memory + (int64_t)(line - bank->address);
    if (place->address == line)
      data = place->data;
    else if (!place->address || !place->stays)
      fill_line(stale, place, line, data);
    const uint64_t from = line < bank->address ? bank->address : line;
    const uint64_t to = line + CONSTANT_LINE < end ? line + CONSTANT_LINE : end;
    if (bank->copy)
      memcpy(bank->copy + (from - bank->address), data + (from - line), to - from);
  }
}

static void drop_constants(struct emu_stale *stale) {
  memset(stale->constant, 0, sizeof(stale->constant));
}

/* Copies a bank now if it has cached lines. Other banks are copied now or read while the grid
 * runs. */
static void begin_bank(struct emu_stale *stale, struct emu_stale_bank *bank, const uint8_t **data) {
  drop_lines(stale, bank, false);
  if (has_lines(stale, bank) || emu_adversary_one_in(&stale->random, 2))
    bank->copy = malloc(bank->size);
  if (!bank->copy)
    return;
  fetch_lines(stale, bank);
  *data = bank->copy;
}

static struct emu_stale_bank *begin_banks(struct emu_stale *stale, const uint32_t *qmd,
                                          struct emu_launch *launch) {
  struct emu_stale_bank *banks = calloc(SM_BANKS, sizeof(*banks));
  if (!banks)
    return NULL;
  for (unsigned i = 0; i < SM_BANKS; i++) {
    if (!launch->sm.bank[i].data)
      continue;
    banks[i] = (struct emu_stale_bank){
        .address = (uint64_t)qmd_get(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(i)) << 32 |
                   qmd_get(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(i)),
        .size = launch->sm.bank[i].size,
        .memory = launch->sm.bank[i].data,
    };
    if (qmd_get(qmd, QMD_CONSTANT_BUFFER_INVALIDATE(i)))
      drop_lines(stale, &banks[i], true);
  }
  for (unsigned i = 0; i < SM_BANKS; i++)
    if (banks[i].size)
      begin_bank(stale, &banks[i], &launch->sm.bank[i].data);
  return banks;
}

void emu_stale_free_banks(struct emu_stale_bank *banks) {
  for (unsigned i = 0; banks && i < SM_BANKS; i++)
    free(banks[i].copy);
  free(banks);
}

/* ---- grids ---- */

struct emu_stale_bank *emu_stale_begin(struct emu_as *as, const uint32_t *qmd,
                                       struct emu_launch *launch) {
  struct emu_stale *stale = get_caches(as);
  if (!stale)
    return NULL;
  launch->sm.l1 = l1;
  emu_stale_invalidate(as, &(struct emu_invalidate){
                               .data = qmd_get(qmd, QMD_INVALIDATE_SHADER_DATA_CACHE),
                               .constants = qmd_get(qmd, QMD_INVALIDATE_SHADER_CONSTANT_CACHE),
                               .texels = qmd_get(qmd, QMD_INVALIDATE_TEXTURE_DATA_CACHE),
                               .headers = qmd_get(qmd, QMD_INVALIDATE_TEXTURE_HEADER_CACHE),
                               .samplers = qmd_get(qmd, QMD_INVALIDATE_TEXTURE_SAMPLER_CACHE),
                               .code = emu_adversary_one_in(&stale->random, LOSS),
                           });
  return begin_banks(stale, qmd, launch);
}

void emu_stale_end(struct emu_as *as, const struct emu_stale_bank *banks) {
  for (unsigned i = 0; banks && i < SM_BANKS; i++)
    if (banks[i].size && !banks[i].copy)
      fetch_lines(as->stale, &banks[i]);
}

void emu_stale_invalidate(struct emu_as *as, const struct emu_invalidate *what) {
  struct emu_stale *stale = get_caches(as);
  if (what->code)
    emu_code_invalidate(as);
  if (stale && what->constants)
    drop_constants(stale);
  const bool drops[SM_L1_KINDS] = {
      [SM_L1_DATA] = what->data,
      [SM_L1_CONSTANT] = what->data,
      [SM_L1_TEXELS] = what->texels && !emu_texture_has(EMU_TEXTURE_STALE_DATA),
      [SM_L1_HEADERS] = what->headers && !emu_texture_has(EMU_TEXTURE_STALE_HEADER),
      [SM_L1_SAMPLERS] = what->samplers && !emu_texture_has(EMU_TEXTURE_STALE_SAMPLER),
  };
  for (unsigned kind = 0; stale && kind < SM_L1_KINDS; kind++)
    if (drops[kind])
      sm_l1_invalidate_kind(l1, (enum sm_l1_kind)kind);
}

void emu_stale_drop_texture(const struct emu_channel *channel, enum sm_l1_kind kind,
                            uint32_t index) {
  if (get_caches(channel->as))
    sm_l1_drop_descriptor(l1, kind, channel, index);
}
