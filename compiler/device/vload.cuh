/* OpenCL C vector data load and store functions (section 6.15.7 of OpenCL C 3.0). Only vloada_
 * and vstorea_ may assume more than the alignment of an element. */
#ifndef TEGRACL_VLOAD_CUH
#define TEGRACL_VLOAD_CUH
#include "half.cuh"

namespace ocl {

/* Halves in the layout of vloada_halfN: N halves aligned to 2N
 * bytes; three have the size of four. */
template <int N> struct alignas(N == 3 ? 8 : N == 16 ? 16 : 2 * N) aligned_halfs { half s[N]; };

template <int N, int STRIDE> OCL_FN vec<float, N> load_halfs(ulong offset, const half *p) {
  vec<float, N> r;
  OCL_EACH r.s[i] = half_to_float(p[offset * STRIDE + i]);
  return r;
}
template <rounding R, int STRIDE, class T, int N>
OCL_FN void store_halfs(vec<T, N> x, ulong offset, half *p) {
  OCL_EACH p[offset * STRIDE + i] = to_half<R>(x.s[i]);
}

OCL_FN float vload_half(ulong offset, const half *p) {
  return half_to_float(p[offset]);
}
OCL_FN float vloada_half(ulong offset, const half *p) {
  return half_to_float(p[offset]);
}

#define OCL_STORE_HALF(suffix, R)                                                                  \
  template <class T> OCL_FN void vstore_half##suffix(T x, ulong offset, half *p) {                 \
    p[offset] = to_half<R>(x);                                                                     \
  }                                                                                                \
  template <class T> OCL_FN void vstorea_half##suffix(T x, ulong offset, half *p) {                \
    p[offset] = to_half<R>(x);                                                                     \
  }
#define OCL_STORE_HALFS(N, suffix, R)                                                              \
  template <class T> OCL_FN void vstore_half##N##suffix(vec<T, N> x, ulong offset, half *p) {      \
    store_halfs<R, N>(x, offset, p);                                                               \
  }                                                                                                \
  template <class T> OCL_FN void vstorea_half##N##suffix(vec<T, N> x, ulong offset, half *p) {     \
    aligned_halfs<N> h;                                                                            \
    store_halfs<R, N>(x, 0, h.s);                                                                  \
    reinterpret_cast<aligned_halfs<N> *>(p)[offset] = h;                                           \
  }
#define OCL_LOAD_STORE(N)                                                                          \
  template <class T> OCL_FN vec<T, N> vload##N(ulong offset, const T *p) {                         \
    vec<T, N> r;                                                                                   \
    _Pragma("unroll") for (int i = 0; i < N; i++) r.s[i] = p[offset * N + i];                      \
    return r;                                                                                      \
  }                                                                                                \
  template <class T> OCL_FN void vstore##N(vec<T, N> x, ulong offset, T *p) {                      \
    _Pragma("unroll") for (int i = 0; i < N; i++) p[offset * N + i] = x.s[i];                      \
  }                                                                                                \
  OCL_FN vec<float, N> vload_half##N(ulong offset, const half *p) {                                \
    return load_halfs<N, N>(offset, p);                                                            \
  }                                                                                                \
  OCL_FN vec<float, N> vloada_half##N(ulong offset, const half *p) {                               \
    aligned_halfs<N> h = reinterpret_cast<const aligned_halfs<N> *>(p)[offset];                    \
    return load_halfs<N, N>(0, h.s);                                                               \
  }                                                                                                \
  OCL_STORE_HALFS(N, , RTE)                                                                        \
  OCL_STORE_HALFS(N, _rte, RTE)                                                                    \
  OCL_STORE_HALFS(N, _rtz, RTZ)                                                                    \
  OCL_STORE_HALFS(N, _rtp, RTP)                                                                    \
  OCL_STORE_HALFS(N, _rtn, RTN)

OCL_STORE_HALF(, RTE)
OCL_STORE_HALF(_rte, RTE)
OCL_STORE_HALF(_rtz, RTZ)
OCL_STORE_HALF(_rtp, RTP)
OCL_STORE_HALF(_rtn, RTN)
OCL_LOAD_STORE(2)
OCL_LOAD_STORE(3)
OCL_LOAD_STORE(4)
OCL_LOAD_STORE(8)
OCL_LOAD_STORE(16)

} // namespace ocl
#endif
