/* u1024 and s1024, for integers wider than those of CUDA: LLVM's optimiser creates such integers
 * from vectors, and from unions with vectors. Supports addition, subtraction, bitwise operations,
 * shifts and comparisons. Most shifts are by constants, which NVRTC reduces to moves of words. */
#ifndef TEGRACL_WIDE_CUH
#define TEGRACL_WIDE_CUH
#include "lower.cuh"

#define LOWER_WORDS for (u32 i = 0; i < u1024::words; i++)
struct u1024 {
  static const u32 words = 16;
  u64 w[words];
  u1024() = default;
  LOWER_FN u1024(u128 low, u64 above) {
    LOWER_WORDS w[i] = i == 0 ? (u64)low : i == 1 ? (u64)(low >> 64) : above;
  }
#define LOWER_FROM(T, above)                                                                       \
  LOWER_FN u1024(T a) : u1024((u128)a, above) {}
  LOWER_FROM(bool, 0)
  LOWER_FROM(u32, 0)
  LOWER_FROM(u64, 0)
  LOWER_FROM(u128, 0)
  LOWER_FROM(s32, a < 0 ? ~0ull : 0)
  LOWER_FROM(s64, a < 0 ? ~0ull : 0)
  LOWER_FROM(s128, a < 0 ? ~0ull : 0)
  template <class T> LOWER_FN explicit operator T() const {
    return (T)((u128)w[1] << 64 | w[0]);
  }
};
LOWER_FN u64 word_(const u1024 &a, u32 i, u64 beyond) {
  return i < u1024::words ? a.w[i] : beyond;
}
/* Shifts a to the right. The words above are shifted in. */
LOWER_FN u1024 shifted_(const u1024 &a, u32 by, u64 above) {
  const u32 skip = by / 64, rest = by % 64;
  u1024 r;
  LOWER_WORDS r.w[i] = rest ? word_(a, i + skip, above) >> rest | word_(a, i + skip + 1, above)
                                                                      << (64 - rest)
                            : word_(a, i + skip, above);
  return r;
}
LOWER_FN u1024 operator>>(const u1024 &a, const u1024 &by) {
  return shifted_(a, (u32)by, 0);
}
LOWER_FN u1024 operator<<(const u1024 &a, const u1024 &by) {
  const u32 skip = (u32)by / 64, rest = (u32)by % 64;
  u1024 r;
  LOWER_WORDS r.w[i] =
      rest ? word_(a, i - skip, 0) << rest | word_(a, i - skip - 1, 0) >> (64 - rest)
           : word_(a, i - skip, 0);
  return r;
}
#define LOWER_EACH_WORD(op)                                                                        \
  LOWER_FN u1024 operator op(const u1024 &a, const u1024 &b) {                                     \
    u1024 r;                                                                                       \
    LOWER_WORDS r.w[i] = a.w[i] op b.w[i];                                                         \
    return r;                                                                                      \
  }
LOWER_EACH_WORD(&)
LOWER_EACH_WORD(|)
LOWER_EACH_WORD(^)
LOWER_FN u1024 operator~(const u1024 &a) {
  return a ^ u1024(-1);
}
LOWER_FN u1024 sum_(const u1024 &a, const u1024 &b, u64 carry) {
  u1024 r;
  LOWER_WORDS {
    const u128 sum = (u128)a.w[i] + b.w[i] + carry;
    r.w[i] = (u64)sum;
    carry = (u64)(sum >> 64);
  }
  return r;
}
LOWER_FN u1024 operator+(const u1024 &a, const u1024 &b) {
  return sum_(a, b, 0);
}
LOWER_FN u1024 operator-(const u1024 &a, const u1024 &b) {
  return sum_(a, ~b, 1);
}
LOWER_FN bool operator==(const u1024 &a, const u1024 &b) {
  u64 differ = 0;
  LOWER_WORDS differ |= a.w[i] ^ b.w[i];
  return !differ;
}
LOWER_FN bool operator<(const u1024 &a, const u1024 &b) {
  bool less = false;
  LOWER_WORDS less = a.w[i] == b.w[i] ? less : a.w[i] < b.w[i];
  return less;
}
#define LOWER_COMPARISONS(T)                                                                       \
  LOWER_FN bool operator!=(const T &a, const T &b) {                                               \
    return !(a == b);                                                                              \
  }                                                                                                \
  LOWER_FN bool operator>(const T &a, const T &b) {                                                \
    return b < a;                                                                                  \
  }                                                                                                \
  LOWER_FN bool operator<=(const T &a, const T &b) {                                               \
    return !(b < a);                                                                               \
  }                                                                                                \
  LOWER_FN bool operator>=(const T &a, const T &b) {                                               \
    return !(a < b);                                                                               \
  }
LOWER_COMPARISONS(u1024)
struct s1024 : u1024 {
  LOWER_FN explicit s1024(const u1024 &a) : u1024(a) {}
};
LOWER_FN s1024 operator>>(const s1024 &a, const u1024 &by) {
  return s1024(shifted_(a, (u32)by, (s64)a.w[u1024::words - 1] < 0 ? ~0ull : 0));
}
LOWER_FN bool operator<(const s1024 &a, const s1024 &b) {
  const u1024 top = (u1024)1 << 1023;
  return static_cast<const u1024 &>(a ^ top) < static_cast<const u1024 &>(b ^ top);
}
LOWER_COMPARISONS(s1024)

#endif
