/* OpenCL C geometric functions (section 6.15.5 of OpenCL C 3.0). */
#ifndef TEGRACL_GEOMETRIC_CUH
#define TEGRACL_GEOMETRIC_CUH
#include "dot_product.cuh"
#include "math.cuh"
#include "relational.cuh"

namespace ocl {

template <class T> OCL_FN scalar<T> dot(T x, T y) {
  return x * y;
}
template <class T, int N> OCL_FN T dot(vec<T, N> x, vec<T, N> y) {
  T sum = x.s[0] * y.s[0];
#pragma unroll
  for (int i = 1; i < N; i++)
    sum = fma(x.s[i], y.s[i], sum);
  return sum;
}

/* The fourth element of the cross product of 4-vectors is 0. */
template <class T, int N> OCL_FN vec<T, N> cross(vec<T, N> x, vec<T, N> y) {
  vec<T, N> r = {x.s[1] * y.s[2] - x.s[2] * y.s[1], x.s[2] * y.s[0] - x.s[0] * y.s[2],
                 x.s[0] * y.s[1] - x.s[1] * y.s[0]};
  return r;
}

template <class T, int N> OCL_FN vec<T, N> scaled(vec<T, N> x, T factor) {
  OCL_EACH x.s[i] *= factor;
  return x;
}
template <class T, int N> OCL_FN vec<T, N> difference(vec<T, N> x, vec<T, N> y) {
  OCL_EACH x.s[i] -= y.s[i];
  return x;
}

/* Powers of two that scale very large and very small vectors so that their squares stay
 * in range, and the sums of squares that require scaling. Below the lower limit, the
 * squares of the smaller elements would lose significant bits. */
template <class T> struct range {
  static constexpr bool F = sizeof(T) == 4;
  static constexpr T tiny = F ? 0x1p-80f : 0x1p-900;
  static constexpr T huge = F ? 0x1p126f : 0x1p1022;
  static constexpr T up = F ? 0x1p90f : 0x1p600;
  static constexpr T down = F ? 0x1p-66f : 0x1p-520;
};

template <class T> OCL_FN scalar<T> length(T x) {
  return fabs(x);
}
template <int N> OCL_FN vec<float, N> floats(vec<half, N> x) {
  vec<float, N> r;
  OCL_EACH r.s[i] = float(x.s[i]);
  return r;
}
template <int N> OCL_FN half length(vec<half, N> x) {
  vec<float, N> f = floats(x);
  return half(sqrt(dot(f, f)));
}
template <class T, int N> OCL_FN T length(vec<T, N> x) {
  typedef range<T> R;
  T square = dot(x, x), back = 1;
  if (square < R::tiny) {
    x = scaled(x, R::up);
    square = dot(x, x);
    back = 1 / R::up;
  } else if (square > R::huge) {
    x = scaled(x, R::down);
    square = dot(x, x);
    back = 1 / R::down;
  }
  return sqrt(square) * back;
}

template <class T> OCL_FN scalar<T> distance(T x, T y) {
  return fabs(x - y);
}
template <class T, int N> OCL_FN T distance(vec<T, N> x, vec<T, N> y) {
  return length(difference(x, y));
}
template <int N> OCL_FN half distance(vec<half, N> x, vec<half, N> y) {
  return half(length(difference(floats(x), floats(y))));
}

/* Returns a zero vector unchanged. If some elements are infinite,
 * they count as 1 and all others as 0. */
template <class T> OCL_FN scalar<T> normalize(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}
OCL_BY_FLOAT1(normalize)
template <int N> OCL_FN vec<half, N> normalize(vec<half, N> x) {
  vec<float, N> f = normalize(floats(x));
  OCL_EACH x.s[i] = half(f.s[i]);
  return x;
}
template <class T, int N> OCL_FN vec<T, N> normalize(vec<T, N> x) {
  typedef range<T> R;
  T square = dot(x, x);
  if (square < R::tiny) {
    x = scaled(x, R::up);
    square = dot(x, x);
    if (square == 0)
      return x;
  } else if (square > R::huge) {
    /* Elements that are much smaller than others are scaled down last.
     * Earlier, they would become subnormal and lose bits. */
    vec<T, N> small = scaled(x, R::down);
    square = dot(small, small);
    if (square <= R::huge)
      return scaled(scaled(x, rsqrt(square)), R::down);
    OCL_EACH x.s[i] = copysign(T(isinf(x.s[i])), x.s[i]);
    square = dot(x, x);
  }
  return scaled(x, rsqrt(square));
}

template <class T> OCL_FN T fast_length(T x) {
  return length(x);
}
template <int N> OCL_FN float fast_length(vec<float, N> x) {
  return sqrt(dot(x, x));
}
OCL_FN float fast_distance(float x, float y) {
  return distance(x, y);
}
template <int N> OCL_FN float fast_distance(vec<float, N> x, vec<float, N> y) {
  return fast_length(difference(x, y));
}
OCL_FN float fast_normalize(float x) {
  return normalize(x);
}
template <int N> OCL_FN vec<float, N> fast_normalize(vec<float, N> x) {
  float square = dot(x, x);
  return scaled(x, square > 0 ? rsqrt(square) : 1.0f);
}

} // namespace ocl
#endif
