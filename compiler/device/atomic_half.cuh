/* Atomic addition of halves (SPV_EXT_shader_atomic_float16_add). The hardware only
 * adds pairs of halves, and not in shared memory, so addition is a
 * compare-and-swap of the word that contains the half. */
#ifndef TEGRACL_ATOMIC_HALF_CUH
#define TEGRACL_ATOMIC_HALF_CUH
#include "atomic.cuh"
#include "half.cuh"

namespace ocl {

/* Always uses the strongest order, which satisfies any requested order. */
OCL_FN half tegracl_add_half(volatile half *p, half x) {
  enum { HALF_BITS = 16, HALF_MASK = 0xffff };
  const ulong place = (ulong)p;
  volatile uint *word = (volatile uint *)(place & ~3ull);
  const uint shift = place & 2 ? HALF_BITS : 0;
  __threadfence();
  for (uint seen = *word;;) {
    const half old = half_of((ushort)(seen >> shift));
    const uint sum = as_bits(old + x);
    const uint next = (seen & ~((uint)HALF_MASK << shift)) | sum << shift;
    const uint found = relaxed_cmpxchg(word, seen, next);
    if (found == seen) {
      __threadfence();
      return old;
    }
    seen = found;
  }
}

} // namespace ocl
#endif
