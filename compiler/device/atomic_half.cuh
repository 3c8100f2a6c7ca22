/* Relaxed atomic operations on halves, as atomic.cuh has for other types. The hardware exchanges words
 * of 32 bits, so these are a compare-and-swap of the word that contains the half. */
#ifndef TEGRACL_ATOMIC_HALF_CUH
#define TEGRACL_ATOMIC_HALF_CUH
#include "atomic.cuh"

namespace ocl {

OCL_FN half relaxed_load(volatile half *p) {
  return half_of(*(volatile ushort *)p);
}
OCL_FN void relaxed_store(volatile half *p, half x) {
  *(volatile ushort *)p = x.bits;
}

OCL_FN half relaxed_cmpxchg(volatile half *p, half expected, half x) {
  enum { HALF_BITS = 16, HALF_MASK = 0xffff };
  /* A difference of pointers, because NVRTC then still knows the address space. */
  const uint offset = (uint)(ulong)p & 2;
  volatile uint *word = (volatile uint *)((volatile char *)p - offset);
  const uint shift = offset ? HALF_BITS : 0;
  for (uint seen = *word;;) {
    const ushort old = (ushort)(seen >> shift);
    if (old != expected.bits)
      return half_of(old);
    const uint next = (seen & ~((uint)HALF_MASK << shift)) | (uint)x.bits << shift;
    const uint found = relaxed_cmpxchg(word, seen, next);
    if (found == seen)
      return expected;
    seen = found;
  }
}

} // namespace ocl
#endif
