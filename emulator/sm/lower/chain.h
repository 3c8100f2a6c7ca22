/* Check mode: chains of instructions that only compute. A chain needs no check if none of the
 * registers and predicates that it accesses has a record. Then its handlers call each other, as in
 * ordinary mode. */
#ifndef TEGRACL_SM_CHAIN_H
#define TEGRACL_SM_CHAIN_H

#include <stddef.h>

#include "emulator/sm/lower/note.h"

/* The part of a chain from an instruction on. */
enum { SM_CHAIN_PLACES = 30 };
struct sm_chain {
  uint8_t count; /* instructions, or 0 if the instruction begins none */
  /* The places that it accesses, as in struct sm_note: first its inputs, then those that all active
   * lanes write before they read them. */
  uint8_t inputs, places;
  uint16_t place[SM_CHAIN_PLACES];
};
_Static_assert(sizeof(struct sm_chain) == sizeof(struct sm_uop), "as sm_chain_of expects");

/* What annotated code has after its page. The uops of chained are those of the page, but those in a
 * chain, after its first, have their own handlers. The others call sm_watch_step. */
struct sm_annotation {
  struct sm_note note[SM_PAGE_UOPS];
  struct sm_uop chained[SM_PAGE_UOPS];
  struct sm_chain chain[SM_PAGE_UOPS];
};

struct sm_annotated_page {
  struct sm_page page;
  struct sm_annotation annotation;
};

static inline struct sm_annotation *sm_annotation_of(const struct sm_page *page) {
  return &((struct sm_annotated_page *)(uintptr_t)page)->annotation;
}

/* Returns u, or, if it is in a chain, the uop of its page. */
static inline const struct sm_uop *sm_unchained(const struct sm_page *page,
                                                const struct sm_uop *u) {
  const size_t after = (offsetof(struct sm_annotated_page, annotation.chained) -
                        offsetof(struct sm_annotated_page, page.uop)) /
                       sizeof *u;
  return (size_t)(u - page->uop) >= after ? u - after : u;
}

/* Finds the chains of a page whose notes are complete. watch is the handler that calls
 * sm_watch_step. */
void sm_find_chains(struct sm_page *page, sm_handler watch);

#endif
