/* Interpreter core: the loop, and the table of this build's handlers. */
#include "emulator/sm/exec/core.h"

#include "emulator/sm/check/mark.h"

static void run_batch(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  while (u)
    u = u->handler(w, u, warps);
  sm_clear_upper_halves(); /* only here, not in each handler: -mno-vzeroupper */
}

static const struct sm_uop *watch(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  sm_clear_upper_halves();
  return sm_watch_step(w, u, warps);
}

/* Returns the pattern of half a warp's addresses. */
static inline enum sm_pattern pattern_of(const uint32_t *lo, uint32_t bytes) {
  if (lo[0] == lo[1]) /* one test suffices, because either excludes the other */
    return sm_is_same(lo) ? SM_PATTERN_SAME : SM_PATTERN_ANY;
  return sm_is_row(lo, bytes) ? SM_PATTERN_ROW : SM_PATTERN_ANY;
}

static struct sm_halves halves_of(const uint32_t *lo, const uint32_t *hi, uint32_t bytes) {
  const bool is_uniform = hi == lo || sm_is_uniform(hi);
  const enum sm_pattern first = pattern_of(lo, bytes), second = pattern_of(lo + SM_HALF, bytes);
  sm_clear_upper_halves();
  return (struct sm_halves){first, second, is_uniform};
}

static uint32_t mark_words(uint32_t *mark, const struct sm_marking *marking) {
  const uint32_t races = sm_mark_words(mark, marking);
  sm_clear_upper_halves();
  return races;
}

#define SM_CORE_NAME SM_PASTE(sm_core, SM_BUILD)
extern const struct sm_core SM_CORE_NAME;

const struct sm_core SM_CORE_NAME = {
    .handler =
        {
#define X(name) [SM_H_##name] = SM_NAME(name),
            SM_HANDLERS(X)
#undef X
        },
    .watch = watch,
    .halves = halves_of,
    .mark = mark_words,
    .run = run_batch,
};
