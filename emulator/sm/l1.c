/* See l1.h. */
#include "emulator/sm/l1.h"

#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"

enum { FIRST_AGE = 1 }; /* lines start with age 0, which is invalid */

struct sm_l1_caches *sm_l1_create(uint32_t sms, uint64_t seed) {
  struct sm_l1_caches *caches = calloc(1, sizeof *caches + sms * sizeof caches->sm[0]);
  if (!caches)
    return NULL;
  caches->count = sms;
  caches->random = splitmix(seed);
  for (uint32_t k = 0; k < sms; k++) {
    struct sm_l1 *l1 = &caches->sm[k];
    l1->random = splitmix(seed + k + 1);
    for (unsigned kind = 0; kind < SM_L1_KINDS; kind++)
      l1->age[kind] = FIRST_AGE;
  }
  return caches;
}

void sm_l1_destroy(struct sm_l1_caches *caches) {
  free(caches);
}

void sm_l1_invalidate(struct sm_l1 *l1) {
  l1->age[SM_L1_DATA]++;
}

void sm_l1_invalidate_kind(struct sm_l1_caches *caches, enum sm_l1_kind kind) {
  for (uint32_t k = 0; k < caches->count; k++)
    caches->sm[k].age[kind]++;
}

void sm_l1_invalidate_all(struct sm_l1_caches *caches) {
  for (unsigned kind = 0; kind < SM_L1_KINDS; kind++)
    sm_l1_invalidate_kind(caches, (enum sm_l1_kind)kind);
}

/* Chooses the SM of a CTA at random, and how often hits in its L1 drop their sectors: never, 1 in
 * 8, or always. */
uint32_t sm_l1_pick(struct sm_l1_caches *caches) {
  static const uint32_t forgets[] = {0, 0, 8, 1};
  const uint32_t k = splitmix_below(&caches->random, caches->count);
  struct sm_l1 *l1 = &caches->sm[k];
  l1->forgets = forgets[splitmix_below(&l1->random, sizeof forgets / sizeof forgets[0])];
  return k;
}

uint32_t sm_l1_leftover(struct sm_l1_caches *caches) {
  caches->random += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)splitmix(caches->random);
}

static struct sm_l1_line *set_of_line(struct sm_l1 *l1, uint64_t line) {
  return l1->line[splitmix(line) % SM_L1_SETS];
}

static struct sm_l1_line *find_line(struct sm_l1 *l1, const void *space, uint64_t line,
                                    enum sm_l1_kind kind) {
  struct sm_l1_line *set = set_of_line(l1, line);
  for (unsigned way = 0; way < SM_L1_WAYS; way++)
    if (set[way].address == line && set[way].age == l1->age[kind] && set[way].kind == kind &&
        set[way].space == space)
      return &set[way];
  return NULL;
}

/* Adds an empty line to its set, in place of an invalid line if there is one. */
static struct sm_l1_line *replace_line(struct sm_l1 *l1, const void *space, uint64_t line,
                                       enum sm_l1_kind kind) {
  struct sm_l1_line *set = set_of_line(l1, line);
  struct sm_l1_line *l = &set[splitmix_below(&l1->random, SM_L1_WAYS)];
  for (unsigned way = 0; way < SM_L1_WAYS; way++)
    if (set[way].age != l1->age[set[way].kind])
      l = &set[way];
  l->space = space;
  l->address = line;
  l->age = l1->age[kind];
  l->kind = (uint8_t)kind;
  l->sectors = 0;
  return l;
}

static uint64_t line_of(uint64_t address) {
  return address & ~(uint64_t)(SM_L1_LINE_BYTES - 1);
}

static uint8_t sector_of(uint64_t address) {
  return (uint8_t)(1u << address % SM_L1_LINE_BYTES / SM_L1_SECTOR_BYTES);
}

uint8_t *sm_l1_read(struct sm_l1 *l1, const void *space, uint64_t address, const uint8_t *memory,
                    enum sm_l1_kind kind) {
  const uint64_t line = line_of(address);
  const uint32_t at = (uint32_t)(address - line), in_sector = at % SM_L1_SECTOR_BYTES;
  struct sm_l1_line *l = find_line(l1, space, line, kind);
  if (!l)
    l = replace_line(l1, space, line, kind);
  if (!(l->sectors & sector_of(address)) ||
      (l1->forgets && !splitmix_below(&l1->random, l1->forgets))) {
    memcpy(l->data + at - in_sector, memory - in_sector, SM_L1_SECTOR_BYTES);
    l->sectors |= sector_of(address);
  }
  return l->data + at;
}

void sm_l1_written(struct sm_l1 *l1, const void *space, uint64_t address, const uint8_t *memory,
                   uint32_t bytes) {
  struct sm_l1_line *l = find_line(l1, space, line_of(address), SM_L1_DATA);
  if (l)
    memcpy(l->data + address % SM_L1_LINE_BYTES, memory, bytes);
}

static void drop_sector(struct sm_l1 *l1, const void *space, uint64_t address,
                        enum sm_l1_kind kind) {
  struct sm_l1_line *l = find_line(l1, space, line_of(address), kind);
  if (l)
    l->sectors &= (uint8_t)~sector_of(address);
}

void sm_l1_drop(struct sm_l1 *l1, const void *space, uint64_t address) {
  drop_sector(l1, space, address, SM_L1_DATA);
}

void sm_l1_drop_descriptor(struct sm_l1_caches *caches, enum sm_l1_kind kind, const void *pools_of,
                           uint32_t index) {
  for (uint32_t k = 0; k < caches->count; k++)
    drop_sector(&caches->sm[k], pools_of, (uint64_t)index * SM_L1_SECTOR_BYTES, kind);
}
