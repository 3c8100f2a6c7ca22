/* Interpreter core: the loop, and the table of this build's handlers. */
#include "emulator/sm/exec/core.h"

static void run_batch(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  while (u)
    u = u->handler(w, u, warps);
#if defined(__AVX__)
  _mm256_zeroupper(); /* only here, not in each handler: -mno-vzeroupper */
#endif
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
    .run = run_batch,
};
