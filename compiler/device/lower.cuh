/* Definitions for the code that the printer (compiler/lower/) prints: type names,
 * wide accesses, and the counterparts of LLVM's intrinsics. */
#ifndef TEGRACL_LOWER_CUH
#define TEGRACL_LOWER_CUH

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned __int128 u128;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef __int128 s128;

/* Adjacent elements that are loaded or stored together. */
template <class T> struct __align__(2 * sizeof(T)) pack2 {
  T a, b;
};
template <class T> struct __align__(4 * sizeof(T)) pack4 {
  T a, b, c, d;
};

/* Kernel parameters that are vectors, or structs as bytes. */
template <class T, int N, int A> struct __align__(A) param {
  T s[N];
};

#define LOWER_FN __device__ __forceinline__

/* Returns a condition in a way that NVRTC's optimiser cannot evaluate. */
LOWER_FN bool opaque_(bool a) {
  u32 word = a;
  asm volatile("" : "+r"(word));
  return word != 0;
}

/* Tells the optimiser the address space of a pointer. The generic address of global memory is
 * equal to its global address. The conversion is assembly because NVRTC 13.0 does not terminate on
 * the pair of intrinsics if the pointer comes from a private array of pointers. */
LOWER_FN char *as_global(const char *p) {
  u64 address;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(p));
  return (char *)__cvta_global_to_generic(address);
}
LOWER_FN char *as_shared(const char *p) {
  u64 address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return (char *)__cvta_shared_to_generic(address);
}

#define LOWER_FLOAT1(name, f, d)                                                                   \
  LOWER_FN float name(float a) {                                                                   \
    return f(a);                                                                                   \
  }                                                                                                \
  LOWER_FN double name(double a) {                                                                 \
    return d(a);                                                                                   \
  }
#define LOWER_FLOAT2(name, f, d)                                                                   \
  LOWER_FN float name(float a, float b) {                                                          \
    return f(a, b);                                                                                \
  }                                                                                                \
  LOWER_FN double name(double a, double b) {                                                       \
    return d(a, b);                                                                                \
  }

LOWER_FN float fma_(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
LOWER_FN double fma_(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
LOWER_FLOAT1(sqrt_, sqrtf, sqrt)
LOWER_FLOAT1(fabs_, fabsf, fabs)
LOWER_FLOAT1(floor_, floorf, floor)
LOWER_FLOAT1(ceil_, ceilf, ceil)
LOWER_FLOAT1(trunc_, truncf, trunc)
LOWER_FLOAT1(rint_, rintf, rint)
LOWER_FLOAT1(round_, roundf, round)
LOWER_FLOAT2(copysign_, copysignf, copysign)
LOWER_FLOAT2(fmin_, fminf, fmin)
LOWER_FLOAT2(fmax_, fmaxf, fmax)

template <class T> LOWER_FN T abs_(T a) {
  return a < 0 ? (T)(0 - (u64)a) : a;
}
template <class T> LOWER_FN T max_(T a, T b) {
  return a > b ? a : b;
}
template <class T> LOWER_FN T min_(T a, T b) {
  return a < b ? a : b;
}

LOWER_FN int ctlz_(u64 a) {
  return __clzll((s64)a);
}
LOWER_FN int ctlz_(u32 a) {
  return __clz((s32)a);
}
LOWER_FN int ctlz_(u16 a) {
  return __clz(a) - 16;
}
LOWER_FN int ctlz_(u8 a) {
  return __clz(a) - 24;
}
LOWER_FN int cttz_(u64 a) {
  return a ? __ffsll((s64)a) - 1 : 64;
}
LOWER_FN int cttz_(u32 a) {
  return a ? __ffs((s32)a) - 1 : 32;
}
LOWER_FN int cttz_(u16 a) {
  return __ffs(a | 0x10000) - 1;
}
LOWER_FN int cttz_(u8 a) {
  return __ffs(a | 0x100) - 1;
}
LOWER_FN int ctpop_(u64 a) {
  return __popcll(a);
}
LOWER_FN int ctpop_(u32 a) {
  return __popc(a);
}
LOWER_FN u32 bitreverse_(u32 a) {
  return __brev(a);
}
LOWER_FN u64 bitreverse_(u64 a) {
  return __brevll(a);
}
LOWER_FN u16 bitreverse_(u16 a) {
  return (u16)(__brev(a) >> 16);
}
LOWER_FN u8 bitreverse_(u8 a) {
  return (u8)(__brev(a) >> 24);
}
LOWER_FN u16 bswap_(u16 a) {
  return (u16)(a << 8 | a >> 8);
}
LOWER_FN u32 bswap_(u32 a) {
  return __byte_perm(a, 0, 0x0123);
}
LOWER_FN u64 bswap_(u64 a) {
  return (u64)bswap_((u32)a) << 32 | bswap_((u32)(a >> 32));
}

/* Funnel shifts: the upper or lower half of a:b after a shift by n modulo the width. */
LOWER_FN u32 fshl_(u32 a, u32 b, u32 n) {
  return __funnelshift_l(b, a, n);
}
LOWER_FN u32 fshr_(u32 a, u32 b, u32 n) {
  return __funnelshift_r(b, a, n);
}
template <class T> LOWER_FN T fshl_(T a, T b, T n) {
  const u32 bits = 8 * sizeof(T), by = (u32)n % bits;
  return by ? (T)(a << by | b >> (bits - by)) : a;
}
template <class T> LOWER_FN T fshr_(T a, T b, T n) {
  const u32 bits = 8 * sizeof(T), by = (u32)n % bits;
  return by ? (T)(a << (bits - by) | b >> by) : b;
}

/* Arithmetic with overflow detection in a wider type. The result
 * is stored as an unsigned number. */
template <class T> struct wider;
template <> struct wider<u8> { typedef s32 type; };
template <> struct wider<s8> { typedef s32 type; };
template <> struct wider<u16> { typedef s64 type; };
template <> struct wider<s16> { typedef s64 type; };
template <> struct wider<u32> { typedef s128 type; };
template <> struct wider<s32> { typedef s64 type; };
template <> struct wider<s64> { typedef s128 type; };
template <class T, class U> LOWER_FN bool add_overflow_(T a, T b, U *r) {
  typename wider<T>::type wide = (typename wider<T>::type)a + b;
  *r = (U)wide;
  return wide != (T)wide;
}
template <class T, class U> LOWER_FN bool sub_overflow_(T a, T b, U *r) {
  typename wider<T>::type wide = (typename wider<T>::type)a - b;
  *r = (U)wide;
  return wide != (T)wide;
}
template <class T, class U> LOWER_FN bool mul_overflow_(T a, T b, U *r) {
  typename wider<T>::type wide = (typename wider<T>::type)a * b;
  *r = (U)wide;
  return wide != (T)wide;
}
LOWER_FN bool add_overflow_(u64 a, u64 b, u64 *r) {
  return (*r = a + b) < a;
}
LOWER_FN bool sub_overflow_(u64 a, u64 b, u64 *r) {
  return (*r = a - b) > a;
}
LOWER_FN bool mul_overflow_(u64 a, u64 b, u64 *r) {
  *r = a * b;
  return __umul64hi(a, b) != 0;
}

template <class T> LOWER_FN T add_sat_(T a, T b) {
  const bool is_signed = (T)-1 < (T)0;
  const T top = is_signed ? (T)(~(u64)0 >> (65 - 8 * sizeof(T))) : (T)-1;
  T r = (T)((u64)a + (u64)b);
  if (!is_signed)
    return r < a ? top : r;
  return ((a ^ r) & (b ^ r)) < 0 ? (T)(a < 0 ? -top - 1 : top) : r;
}
template <class T> LOWER_FN T sub_sat_(T a, T b) {
  const bool is_signed = (T)-1 < (T)0;
  const T top = is_signed ? (T)(~(u64)0 >> (65 - 8 * sizeof(T))) : (T)-1;
  T r = (T)((u64)a - (u64)b);
  if (!is_signed)
    return r > a ? (T)0 : r;
  return ((a ^ b) & (a ^ r)) < 0 ? (T)(a < 0 ? -top - 1 : top) : r;
}

LOWER_FN void memmove_(void *to, const void *from, size_t size) {
  char *t = (char *)to;
  const char *f = (const char *)from;
  if (t <= f)
    for (size_t i = 0; i < size; i++)
      t[i] = f[i];
  else
    while (size--)
      t[size] = f[size];
}

#endif
