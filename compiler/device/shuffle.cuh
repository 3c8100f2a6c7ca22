/* OpenCL C shuffle and shuffle2 (section 6.15.13 of OpenCL C 3.0). Masks that are constant at
 * compile time become register moves; other masks use NVIDIA's local memory. */
#ifndef TEGRACL_SHUFFLE_CUH
#define TEGRACL_SHUFFLE_CUH
#include "tegracl.cuh"

namespace ocl {

template <class T, class M, int K, int N> OCL_FN vec<T, N> shuffle(vec<T, K> x, vec<M, N> mask) {
  vec<T, N> r;
  OCL_EACH r.s[i] = x.s[mask.s[i] & M(K - 1)];
  return r;
}
template <class T, class M, int K, int N>
OCL_FN vec<T, N> shuffle2(vec<T, K> x, vec<T, K> y, vec<M, N> mask) {
  vec<T, 2 * K> both;
#pragma unroll
  for (int i = 0; i < K; i++) {
    both.s[i] = x.s[i];
    both.s[K + i] = y.s[i];
  }
  return shuffle(both, mask);
}

} // namespace ocl
#endif
