/* Chains of instructions that need no check as long as their operands have no records. */
#include "emulator/sm/lower/chain.h"

#include <string.h>

#include "emulator/sm/sm.h"

/* A set of places. */
enum { WORD_BITS = 64, PLACE_WORDS = (SM_NOTE_PREDS + SM_PRED_FILE + WORD_BITS - 1) / WORD_BITS };
struct places {
  uint64_t word[PLACE_WORDS];
};

static bool has_place(const struct places *set, unsigned place) {
  return set->word[place / WORD_BITS] >> place % WORD_BITS & 1;
}

static void add_place(struct places *set, unsigned place) {
  set->word[place / WORD_BITS] |= UINT64_C(1) << place % WORD_BITS;
}

static void remove_place(struct places *set, unsigned place) {
  set->word[place / WORD_BITS] &= ~(UINT64_C(1) << place % WORD_BITS);
}

/* Returns whether the handler of an instruction only computes registers and predicates. It neither
 * faults nor uses the place of its uop. */
static bool computes(const struct sm_uop *u, const struct sm_note *note) {
  if (u->scalar_kind == SM_BANKS || note->handler == SM_H_s2r || note->handler == SM_H_s2r64 ||
      note->handler == SM_H_not_implemented || note->handler == SM_H_register_range)
    return false;
  switch ((enum sm_class)note->klass) {
  case SM_CLASS_INTEGER:
  case SM_CLASS_FLOAT:
  case SM_CLASS_DOUBLE:
  case SM_CLASS_HALF:
  case SM_CLASS_CONVERSION:
  case SM_CLASS_MOVE:
  case SM_CLASS_UNIFORM:
    return true;
  default:
    return false;
  }
}

/* Adds the registers that are part of addresses: they usually have a record of their pointer. */
static void add_addresses(struct places *set, const struct sm_note *note) {
  for (unsigned k = 0; k < note->read_count; k++)
    for (unsigned word = 0; note->read[k].address && word < note->read[k].count; word++)
      add_place(set, note->read[k].slot + word);
}

/* Returns whether an instruction probably computes an address: a sum in such a register. */
static bool computes_address(const struct sm_note *note, const struct places *addresses) {
  if (note->pointer_rule != SM_POINTERS_SUM && note->pointer_rule != SM_POINTERS_WIDE_SUM)
    return false;
  for (unsigned k = note->places_read; k < note->places; k++)
    if (has_place(addresses, note->place[k]))
      return true;
  return false;
}

/* The places of the part of a chain, while it grows towards its beginning. */
struct chain_places {
  struct places inputs, results;
};

/* Adds an instruction before the others. */
static void add_before(struct chain_places *c, const struct sm_uop *u, const struct sm_note *note) {
  for (unsigned k = note->places_read; k < note->places; k++)
    if (sm_is_unguarded(u)) {
      remove_place(&c->inputs, note->place[k]);
      add_place(&c->results, note->place[k]);
    } else if (!has_place(&c->results, note->place[k])) {
      add_place(&c->inputs, note->place[k]);
    }
  for (unsigned k = 0; k < note->places_read; k++) {
    remove_place(&c->results, note->place[k]);
    add_place(&c->inputs, note->place[k]);
  }
}

static unsigned count_places(const struct places *set) {
  unsigned count = 0;
  for (unsigned k = 0; k < PLACE_WORDS; k++)
    count += (unsigned)__builtin_popcountll(set->word[k]);
  return count;
}

static uint16_t *list_places(uint16_t *to, const struct places *set) {
  for (unsigned k = 0; k < PLACE_WORDS; k++)
    for (uint64_t left = set->word[k]; left; left &= left - 1)
      *to++ = (uint16_t)(k * WORD_BITS + (unsigned)__builtin_ctzll(left));
  return to;
}

/* Finds the parts of the chain that ends before an instruction. Returns its first instruction. */
static unsigned find_chain(struct sm_page *page, const bool *may_chain, unsigned end) {
  struct sm_annotation *a = sm_annotation_of(page);
  struct chain_places c = {0};
  unsigned first = end;
  while (first && end - first < UINT8_MAX && may_chain[first - 1]) {
    add_before(&c, &page->uop[first - 1], &a->note[first - 1]);
    if (count_places(&c.inputs) + count_places(&c.results) > SM_CHAIN_PLACES)
      break;
    struct sm_chain *chain = &a->chain[--first];
    chain->count = (uint8_t)(end - first);
    chain->inputs = (uint8_t)(list_places(chain->place, &c.inputs) - chain->place);
    chain->places = (uint8_t)(list_places(chain->place + chain->inputs, &c.results) - chain->place);
    if (a->note[first].wait_mask)
      break;
  }
  return first;
}

void sm_find_chains(struct sm_page *page, sm_handler watch) {
  struct sm_annotation *a = sm_annotation_of(page);
  struct places addresses = {0};
  bool may_chain[SM_PAGE_UOPS];
  memcpy(a->chained, page->uop, sizeof a->chained);
  for (unsigned k = 0; k < SM_PAGE_UOPS; k++)
    add_addresses(&addresses, &a->note[k]);
  for (unsigned k = 0; k < SM_PAGE_UOPS; k++)
    may_chain[k] = a->note[k].is_quick && !a->note[k].parameter &&
                   computes(&page->uop[k], &a->note[k]) &&
                   !computes_address(&a->note[k], &addresses);
  for (unsigned k = 0; k < SM_PAGE_UOPS; k++) {
    if (!a->note[k].execute) /* not an instruction: sm_watch_step calls its handler */
      a->note[k].execute = page->uop[k].handler;
    a->chained[k].handler = watch;
  }
  /* The last instruction is in no chain, so that none continues at the end of the page. */
  for (unsigned end = SM_PAGE_UOPS - 1; end;) {
    const unsigned first = find_chain(page, may_chain, end);
    for (unsigned k = first + 1; k < end; k++)
      a->chained[k].handler = a->note[k].execute;
    end = first < end ? first : end - 1;
  }
}
