/* OpenCL C 2.0 atomic functions (section 6.15.12 of OpenCL C 3.0). An ordered
 * operation is a relaxed operation between fences. The default order is
 * sequentially consistent, and the default scope is the device. */
#ifndef TEGRACL_ATOMIC11_CUH
#define TEGRACL_ATOMIC11_CUH
#include "atomic_half.cuh"
#include "math.cuh"

namespace ocl {

OCL_FN void fence_before(int order, int scope) {
  if (order == ORDER_RELEASE || order == ORDER_ACQ_REL || order == ORDER_SEQ_CST)
    fence(scope);
}
OCL_FN void fence_after(int order, int scope) {
  if (order == ORDER_ACQUIRE || order == ORDER_ACQ_REL || order == ORDER_SEQ_CST)
    fence(scope);
}

template <class T> OCL_FN T relaxed_load(volatile T *p) {
  return *p;
}
template <class T> OCL_FN void relaxed_store(volatile T *p, T x) {
  *p = x;
}

template <class T> OCL_FN void atomic_init(volatile T *p, T x) {
  relaxed_store(p, x);
}

template <class T>
OCL_FN T atomic_load_explicit(volatile T *p, int order, int scope = SCOPE_DEVICE) {
  if (order == ORDER_SEQ_CST)
    fence(scope);
  T x = relaxed_load(p);
  fence_after(order, scope);
  return x;
}
template <class T> OCL_FN T atomic_load(volatile T *p) {
  return atomic_load_explicit(p, ORDER_SEQ_CST);
}

template <class T, class U>
OCL_FN void atomic_store_explicit(volatile T *p, U x, int order, int scope = SCOPE_DEVICE) {
  fence_before(order, scope);
  relaxed_store(p, T(x));
  if (order == ORDER_SEQ_CST)
    fence(scope);
}
template <class T, class U> OCL_FN void atomic_store(volatile T *p, U x) {
  atomic_store_explicit(p, x, ORDER_SEQ_CST);
}

#define OCL_ATOMIC_ORDERED(name, op)                                                               \
  template <class T, class U>                                                                      \
  OCL_FN T name##_explicit(volatile T *p, U x, int order, int scope = SCOPE_DEVICE) {              \
    fence_before(order, scope);                                                                    \
    T old = op(p, T(x));                                                                           \
    fence_after(order, scope);                                                                     \
    return old;                                                                                    \
  }                                                                                                \
  template <class T, class U> OCL_FN T name(volatile T *p, U x) {                                  \
    return name##_explicit(p, x, ORDER_SEQ_CST);                                                   \
  }
/* If the new value is equal to the old one, no write is needed. */
template <class T, class F> OCL_FN T exchange_for(volatile T *p, F choose) {
  for (T expected = relaxed_load(p);;) {
    T next = choose(expected);
    if (as_bits(next) == as_bits(expected))
      return expected;
    T old = relaxed_cmpxchg(p, expected, next);
    if (as_bits(old) == as_bits(expected))
      return old;
    expected = old;
  }
}

/* Also for half, float and double (cl_ext_float_atomics): the hardware has an atomic addition
 * of floats and doubles, but of halves only in pairs, and no minimum and maximum. In global memory it flushes denormal floats to
 * zero (PTX ISA, atom.add.f32). This does not change any sum with an addend of at least
 * 2^-101: a denormal is less than half a unit in the last place of such an addend, and
 * non-zero sums are multiples of 2^-125 and thus not denormal. */
template <class T> OCL_FN T add_any(volatile T *p, T x) {
  if constexpr (!is_float<T>)
    return relaxed_add(p, x);
  else if constexpr (sizeof(T) == sizeof(half))
    return exchange_for(p, [x](T old) { return old + x; });
  else if (sizeof(T) == sizeof(float) && !(fabs(x) >= T(0x1p-101)))
    return exchange_for(p, [x](T old) { return old + x; });
  else
    return ::atomicAdd(const_cast<T *>(p), x);
}
template <class T> OCL_FN T sub_any(volatile T *p, T x) {
  if constexpr (!is_float<T>)
    return relaxed_sub(p, x);
  else if constexpr (sizeof(T) == sizeof(half))
    return exchange_for(p, [x](T old) { return old - x; });
  else
    return add_any(p, -x);
}
#define OCL_ATOMIC_EXTREME(op)                                                                     \
  template <class T> OCL_FN T op##_any(volatile T *p, T x) {                                       \
    if constexpr (is_float<T>)                                                                     \
      return exchange_for(p, [x](T old) { return f##op(old, x); });                                \
    else                                                                                           \
      return relaxed_##op(p, x);                                                                   \
  }
OCL_ATOMIC_EXTREME(min)
OCL_ATOMIC_EXTREME(max)
template <class T> OCL_FN T exchange_any(volatile T *p, T x) {
  if constexpr (sizeof(T) == sizeof(half))
    return exchange_for(p, [x](T) { return x; });
  else
    return relaxed_xchg(p, x);
}
OCL_ATOMIC_ORDERED(atomic_exchange, exchange_any)
OCL_ATOMIC_ORDERED(atomic_fetch_add, add_any)
OCL_ATOMIC_ORDERED(atomic_fetch_sub, sub_any)
OCL_ATOMIC_ORDERED(atomic_fetch_and, relaxed_and)
OCL_ATOMIC_ORDERED(atomic_fetch_or, relaxed_or)
OCL_ATOMIC_ORDERED(atomic_fetch_xor, relaxed_xor)
OCL_ATOMIC_ORDERED(atomic_fetch_min, min_any)
OCL_ATOMIC_ORDERED(atomic_fetch_max, max_any)

/* SPV_EXT_shader_atomic_float16_add, in the strongest order, which satisfies any requested one. */
OCL_FN half tegracl_add_half(volatile half *p, half x) {
  return atomic_fetch_add(p, x);
}

/* The weak form never fails spuriously. */
#define OCL_COMPARE_EXCHANGE(name)                                                                 \
  template <class T, class U>                                                                      \
  OCL_FN bool name##_explicit(volatile T *p, T *expected, U x, int success, int failure,           \
                              int scope = SCOPE_DEVICE) {                                          \
    fence_before(success, scope);                                                                  \
    T wanted = *expected, old = relaxed_cmpxchg(p, wanted, T(x));                                  \
    bool same = as_bits(old) == as_bits(wanted);                                                   \
    if (!same)                                                                                     \
      *expected = old;                                                                             \
    fence_after(same ? success : failure, scope);                                                  \
    return same;                                                                                   \
  }                                                                                                \
  template <class T, class U> OCL_FN bool name(volatile T *p, T *expected, U x) {                  \
    return name##_explicit(p, expected, x, ORDER_SEQ_CST, ORDER_SEQ_CST);                          \
  }
OCL_COMPARE_EXCHANGE(atomic_compare_exchange_strong)
OCL_COMPARE_EXCHANGE(atomic_compare_exchange_weak)

/* atomic_flag is an int. */
OCL_FN bool atomic_flag_test_and_set_explicit(volatile int *p, int order,
                                              int scope = SCOPE_DEVICE) {
  return atomic_exchange_explicit(p, 1, order, scope) != 0;
}
OCL_FN bool atomic_flag_test_and_set(volatile int *p) {
  return atomic_exchange(p, 1) != 0;
}
OCL_FN void atomic_flag_clear_explicit(volatile int *p, int order, int scope = SCOPE_DEVICE) {
  atomic_store_explicit(p, 0, order, scope);
}
OCL_FN void atomic_flag_clear(volatile int *p) {
  atomic_store(p, 0);
}

} // namespace ocl
#endif
