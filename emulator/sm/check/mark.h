/* Check mode: marks of the words of shared memory, for which check_shared.c says what they are. In
 * a header because the core is compiled for each instruction set of the host. */
#ifndef TEGRACL_SM_MARK_H
#define TEGRACL_SM_MARK_H

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/state.h"

/* Parts of a mark: the phase is a multiple of SM_MARK_PHASE. The owner is SM_MARK_OWNER if several
 * work-items have accessed the word. */
enum { SM_MARK_OWNER = 0x7ff, SM_MARK_WRITE = 0x800, SM_MARK_PHASE = 0x1000 };
/* The owner of an access by several work-items, which no mark has. */
enum { SM_MARK_SEVERAL = SM_MAX_THREADS };

/* An access to consecutive words in a phase. */
struct sm_marking {
  uint32_t words; /* a multiple of SM_HALF */
  uint32_t phase;
  uint32_t owner; /* the work-item that accesses the first words, or SM_MARK_SEVERAL */
  uint32_t shift; /* logarithm of the words of each work-item */
  uint32_t write; /* SM_MARK_WRITE or 0 */
};

/* Returns the mark of a word that has no other access in its phase. */
static inline uint32_t sm_only_mark(uint32_t phase, uint32_t owner, uint32_t write) {
  return phase | (owner == SM_MARK_SEVERAL ? SM_MARK_OWNER : owner) | write;
}

/* Marks the access of a word by a work-item, or by SM_MARK_SEVERAL. write is SM_MARK_WRITE or 0.
 * Returns 0 if it cannot race with those that the mark has. Without branches, so that loops become
 * vectors. */
static inline uint32_t sm_mark_word(uint32_t *mark, uint32_t phase, uint32_t owner,
                                    uint32_t write) {
  const uint32_t old = *mark, only = sm_only_mark(phase, owner, write);
  const uint32_t is_old = (uint32_t)((int32_t)(old - phase) >> 31); /* all ones or 0 */
  const uint32_t is_other =
      (uint32_t)((int32_t)(0 - ((old ^ owner) & SM_MARK_OWNER)) >> 31) & ~is_old;
  *mark = (is_old & only) | (~is_old & old) | (is_other & SM_MARK_OWNER) | write;
  return is_other & (old | write) & SM_MARK_WRITE;
}

/* Marks the access of SM_HALF words, from the one that m->owner accesses on. Returns another number
 * than 0 if it may race with those that the marks have. */
static inline uint32_t sm_mark_half(uint32_t *mark, struct sm_marking m) {
  const uint32_t index = m.owner == SM_MARK_SEVERAL ? 0 : UINT32_MAX;
  const uint32_t only = sm_only_mark(m.phase, m.owner, m.write);
  uint32_t others = 0, races = 0;
  FOR_HALF
  others |= ((mark[i] | m.write) ^ (only + (i >> m.shift & index))) &
            ~(uint32_t)((int32_t)(mark[i] - m.phase) >> 31);
  if (others) {
    FOR_HALF
    races |= sm_mark_word(&mark[i], m.phase, m.owner + (i >> m.shift & index), m.write);
  } else {
    FOR_HALF
    mark[i] = only + (i >> m.shift & index);
  }
  return races;
}

/* The same for all words of the access. */
static inline uint32_t sm_mark_words(uint32_t *mark, const struct sm_marking *marking) {
  struct sm_marking m = *marking; /* a copy, as *marking might overlap mark */
  const uint32_t next = m.owner == SM_MARK_SEVERAL ? 0 : SM_HALF >> m.shift;
  uint32_t races = 0;
  for (uint32_t k = 0; k < m.words; k += SM_HALF, m.owner += next)
    races |= sm_mark_half(mark + k, m);
  return races;
}

#endif
