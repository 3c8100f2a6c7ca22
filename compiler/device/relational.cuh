/* OpenCL C relational functions (section 6.15.6 of OpenCL C 3.0). Comparisons of scalars return 0
 * or 1 as int; comparisons of vectors return 0 or -1 in integers of the element size. */
#ifndef TEGRACL_RELATIONAL_CUH
#define TEGRACL_RELATIONAL_CUH
#include "half.cuh"

namespace ocl {

#define OCL_TEST(f, expression)                                                                    \
  template <class T> OCL_FN typename only_if<is_float<T>, int>::type f(T x) {                      \
    return expression;                                                                             \
  }                                                                                                \
  template <class T, int N> OCL_FN vec<to_signed<T>, N> f(vec<T, N> x) {                           \
    vec<to_signed<T>, N> r;                                                                        \
    OCL_EACH r.s[i] = -f(x.s[i]);                                                                  \
    return r;                                                                                      \
  }
#define OCL_COMPARE(f, expression)                                                                 \
  template <class T> OCL_FN typename only_if<is_float<T>, int>::type f(T x, T y) {                 \
    return expression;                                                                             \
  }                                                                                                \
  template <class T, int N> OCL_FN vec<to_signed<T>, N> f(vec<T, N> x, vec<T, N> y) {              \
    vec<to_signed<T>, N> r;                                                                        \
    OCL_EACH r.s[i] = -f(x.s[i], y.s[i]);                                                          \
    return r;                                                                                      \
  }

OCL_COMPARE(isequal, x == y)
OCL_COMPARE(isnotequal, x != y)
OCL_COMPARE(isgreater, x > y)
OCL_COMPARE(isgreaterequal, x >= y)
OCL_COMPARE(isless, x < y)
OCL_COMPARE(islessequal, x <= y)
OCL_COMPARE(islessgreater, x<y || x> y)
OCL_COMPARE(isordered, x == x && y == y)
OCL_COMPARE(isunordered, x != x || y != y)

/* Tests bit patterns, so that floating-point options cannot optimise the tests away. */
template <class T> constexpr to_unsigned<T> magnitude_bits = all_ones<T> >> 1;
template <class T>
constexpr to_unsigned<T> infinity_bits = sizeof(T) == 2   ? 0x7c00u
                                         : sizeof(T) == 4 ? 0x7f800000u
                                                          : 0x7ff0000000000000ull;
template <class T>
constexpr to_unsigned<T> smallest_normal_bits = sizeof(T) == 2   ? 0x0400u
                                                : sizeof(T) == 4 ? 0x00800000u
                                                                 : 0x0010000000000000ull;
template <class T> OCL_FN to_unsigned<T> magnitude(T x) {
  return bits_of(x) & magnitude_bits<T>;
}

OCL_TEST(isfinite, magnitude(x) < infinity_bits<T>)
OCL_TEST(isinf, magnitude(x) == infinity_bits<T>)
OCL_TEST(isnan, magnitude(x) > infinity_bits<T>)
OCL_TEST(isnormal,
         magnitude(x) >= smallest_normal_bits<T> && magnitude(x) < infinity_bits<T>)
OCL_TEST(signbit, bits_of(x) > magnitude_bits<T>)

template <class T> OCL_FN int any(T x) {
  return x < 0;
}
template <class T> OCL_FN int all(T x) {
  return x < 0;
}
template <class T, int N> OCL_FN int any(vec<T, N> x) {
  T bits = 0;
  OCL_EACH bits |= x.s[i];
  return bits < 0;
}
template <class T, int N> OCL_FN int all(vec<T, N> x) {
  T bits = -1;
  OCL_EACH bits &= x.s[i];
  return bits < 0;
}

template <class T> OCL_FN scalar<T> bitselect(T x, T y, T mask) {
  if constexpr (is_float<T>)
    return from_bits(bitselect(bits_of(x), bits_of(y), bits_of(mask)), T());
  else
    return T((x & ~mask) | (y & mask));
}
OCL_MAP_VVV(bitselect)

/* select tests a scalar for non-zero, and the most significant bit of a vector element. */
template <class T, class C> OCL_FN scalar<T> select(T x, T y, C condition) {
  return condition ? y : x;
}
template <class T, class C, int N>
OCL_FN vec<T, N> select(vec<T, N> x, vec<T, N> y, vec<C, N> condition) {
  vec<T, N> r;
  OCL_EACH r.s[i] = to_signed<C>(condition.s[i]) < 0 ? y.s[i] : x.s[i];
  return r;
}

} // namespace ocl
#endif
