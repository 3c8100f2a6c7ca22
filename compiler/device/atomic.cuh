/* OpenCL C 1.x atomic functions (section 6.15.12.8 of OpenCL C 3.0 and the cl_khr_*_atomics
 * extensions). They are relaxed, device-wide, and work in any address space. Subtraction, and
 * signed operations that CUDA lacks, use the unsigned integer of the same size. */
#ifndef TEGRACL_ATOMIC_CUH
#define TEGRACL_ATOMIC_CUH
#include "half.cuh"

namespace ocl {

template <class T> OCL_FN to_unsigned<T> *unsigned_place(volatile T *p) {
  return reinterpret_cast<to_unsigned<T> *>(const_cast<T *>(p));
}

/* Operations shared by the functions of OpenCL C 1.x and 2.0. */
#define OCL_UNSIGNED_OP(op, cuda, value)                                                           \
  template <class T> OCL_FN T op(volatile T *p, T x) {                                             \
    typedef to_unsigned<T> U;                                                                      \
    return T(::cuda(unsigned_place(p), U(value)));                                                 \
  }
OCL_UNSIGNED_OP(relaxed_add, atomicAdd, x)
OCL_UNSIGNED_OP(relaxed_sub, atomicAdd, 0 - U(x))
OCL_UNSIGNED_OP(relaxed_and, atomicAnd, x)
OCL_UNSIGNED_OP(relaxed_or, atomicOr, x)
OCL_UNSIGNED_OP(relaxed_xor, atomicXor, x)
template <class T> OCL_FN T relaxed_min(volatile T *p, T x) {
  return ::atomicMin(const_cast<T *>(p), x);
}
template <class T> OCL_FN T relaxed_max(volatile T *p, T x) {
  return ::atomicMax(const_cast<T *>(p), x);
}
template <class T> OCL_FN T relaxed_xchg(volatile T *p, T x) {
  return from_unsigned<T>(::atomicExch(unsigned_place(p), as_bits(x)));
}
template <class T> OCL_FN T relaxed_cmpxchg(volatile T *p, T expected, T x) {
  return from_unsigned<T>(::atomicCAS(unsigned_place(p), as_bits(expected), as_bits(x)));
}

#define OCL_ATOMIC(op)                                                                             \
  template <class T> OCL_FN T atomic_##op(volatile T *p, T x) {                                    \
    return relaxed_##op(p, x);                                                                     \
  }                                                                                                \
  template <class T> OCL_FN T atom_##op(volatile T *p, T x) {                                      \
    return relaxed_##op(p, x);                                                                     \
  }
OCL_ATOMIC(add)
OCL_ATOMIC(sub)
OCL_ATOMIC(and)
OCL_ATOMIC(or)
OCL_ATOMIC(xor)
OCL_ATOMIC(min)
OCL_ATOMIC(max)
OCL_ATOMIC(xchg)

#define OCL_ATOMIC_OTHER(prefix)                                                                   \
  template <class T> OCL_FN T prefix##_inc(volatile T *p) {                                        \
    return relaxed_add(p, T(1));                                                                   \
  }                                                                                                \
  template <class T> OCL_FN T prefix##_dec(volatile T *p) {                                        \
    return relaxed_sub(p, T(1));                                                                   \
  }                                                                                                \
  template <class T> OCL_FN T prefix##_cmpxchg(volatile T *p, T expected, T x) {                   \
    return relaxed_cmpxchg(p, expected, x);                                                        \
  }
OCL_ATOMIC_OTHER(atomic)
OCL_ATOMIC_OTHER(atom)

} // namespace ocl
#endif
