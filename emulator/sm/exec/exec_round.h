/* Interpreter core: float arithmetic in all rounding modes. */
#ifndef TEGRACL_SM_EXEC_ROUND_H
#define TEGRACL_SM_EXEC_ROUND_H

#include "emulator/sm/exec/core.h"

#include <fenv.h>

/* Keeps the compiler from moving loads, float operations and stores across a change of the rounding
 * mode, by making it assume that the pointers and the memory change here. */
#define FENCE_LANES(r, a, b, c)                                                                    \
  __asm__ volatile("" : "+r"(r), "+r"(a), "+r"(b), "+r"(c) : : "memory")

#if defined(__SSE2__)
/* The rounding field of MXCSR uses the values of enum sem_round. */
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
