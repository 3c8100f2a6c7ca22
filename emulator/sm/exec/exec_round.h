/* Interpreter core: float arithmetic in a rounding mode other than the nearest. */
#ifndef TEGRACL_SM_EXEC_ROUND_H
#define TEGRACL_SM_EXEC_ROUND_H

#include "emulator/sm/exec/core.h"

#include <fenv.h>

/* Keeps loads, float operations and stores on their side of a change of the rounding mode: for the
 * compiler, the pointers and the memory may change here. */
#define FENCE_LANES(r, a, b, c)                                                                    \
  __asm__ volatile("" : "+r"(r), "+r"(a), "+r"(b), "+r"(c) : : "memory")

#if defined(__SSE2__)
/* The rounding field of MXCSR has the values of enum sem_round. */
enum { MXCSR_ROUND_SHIFT = 13, MXCSR_ROUND_MASK = 3 << MXCSR_ROUND_SHIFT };
static inline void set_round(enum sem_round mode) {
  _mm_setcsr((_mm_getcsr() & ~(unsigned)MXCSR_ROUND_MASK) | (unsigned)mode << MXCSR_ROUND_SHIFT);
}
#else
static inline void set_round(enum sem_round mode) {
  static const int host[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  fesetround(host[mode]);
}
#endif

/* Runs a loop in a rounding mode. */
#define IN_ROUND(mode, r, a, b, c, loop)                                                           \
  do {                                                                                             \
    if (LIKELY((mode) == SEM_RN)) {                                                                \
      loop;                                                                                        \
    } else {                                                                                       \
      FENCE_LANES(r, a, b, c);                                                                     \
      set_round((enum sem_round)(mode));                                                           \
      FENCE_LANES(r, a, b, c);                                                                     \
      loop;                                                                                        \
      FENCE_LANES(r, a, b, c);                                                                     \
      set_round(SEM_RN);                                                                           \
      FENCE_LANES(r, a, b, c);                                                                     \
    }                                                                                              \
  } while (0)

#endif
