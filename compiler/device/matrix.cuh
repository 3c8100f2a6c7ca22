/* cl_tegracl_matrix: matrices that a warp holds, and their products by mma.sync. matrix.cl
 * describes the functions and which elements a lane holds. The instructions multiply 16 x 8
 * elements, so a product of 16 x 16 takes two of them.
 *
 * In 32-bit words, A has 16 lines (its rows) of 8 words, and B has 16 lines (its columns) of 8
 * words. Each lane holds 4 words of each.
 *
 * Cooperative matrices of SPIR-V may also be smaller: A has 4 words in a line, B has 8 lines of 8
 * or 4 words, and C has 8 columns. Then a lane holds the first words, and the first elements of C.
 */
#ifndef TEGRACL_MATRIX_CUH
#define TEGRACL_MATRIX_CUH
#include "subgroup.cuh"

namespace ocl {

/* Bits of a layout. MATRIX_STRIDE_8, in SPIR-V only, goes with MATRIX_ALIGNED: the stride in bytes
 * is a multiple of 8, but maybe not of 16. */
enum { MATRIX_COLUMN_MAJOR = 1, MATRIX_ALIGNED = 2, MATRIX_STRIDE_8 = 4 };
enum matrix_use { MATRIX_A, MATRIX_B };
enum { MATRIX_WORDS = 4, MATRIX_WORD_BITS = 32 };
/* Widths of elements without a type that has the same size. */
enum { MATRIX_NIBBLE = 4 };

/* The compiler prints this for pointers to local memory. */
template <class T> struct in_local { T *p; };
template <class T> OCL_FN T *pointer_of(T *p) {
  return p;
}
template <class T> OCL_FN T *pointer_of(in_local<T> p) {
  return p.p;
}

/* Returns the lane. Unlike the register of get_sub_group_local_id, it is constant for NVRTC, which
 * can compute addresses before a loop. */
OCL_FN uint matrix_lane() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % WARP;
}

/* Line of a word, and its number in the line. */
template <matrix_use U> OCL_FN uint matrix_line(uint word) {
  return matrix_lane() / 4 + 8 * (U == MATRIX_A ? word % 2 : word / 2);
}
template <matrix_use U> OCL_FN uint matrix_column(uint word) {
  return matrix_lane() % 4 + 4 * (U == MATRIX_A ? word / 2 : word % 2);
}

/* Whether the elements of a line are adjacent in memory. */
template <matrix_use U> OCL_FN bool lines_are_adjacent(uint layout) {
  return !(layout & MATRIX_COLUMN_MAJOR) == (U == MATRIX_A);
}

/* Returns the index in memory of an element of a word. */
template <matrix_use U, int BITS>
OCL_FN ulong element_index(uint word, uint element, uint layout, uint stride) {
  const uint each = MATRIX_WORD_BITS / BITS;
  const uint line = matrix_line<U>(word), place = matrix_column<U>(word) * each + element;
  return lines_are_adjacent<U>(layout) ? (ulong)line * stride + place
                                       : (ulong)place * stride + line;
}

/* Returns an element's bits. Bytes hold two elements of 4 bits. */
template <int BITS> OCL_FN uint load_element(const void *p, ulong index) {
  if constexpr (BITS == MATRIX_NIBBLE)
    return ((const uchar *)p)[index / 2] >> 4 * (index % 2) & 15;
  else
    return ((const ubits<BITS / 8> *)p)[index];
}

#define OCL_LDMATRIX(form, registers, place, ...)                                                  \
  asm volatile("ldmatrix.sync.aligned.m8n8." form ".shared.b16 {" registers "}, [" place "];"      \
               : __VA_ARGS__                                                                       \
               : "r"((uint)__cvta_generic_to_shared(p))                                            \
               : "memory")
template <int W, class T> OCL_FN vec<uint, 4> ldmatrix(T *p) {
  vec<uint, 4> r = {};
  if constexpr (W == 4)
    OCL_LDMATRIX("x4", "%0, %1, %2, %3", "%4", "=r"(r.s[0]), "=r"(r.s[1]), "=r"(r.s[2]),
                 "=r"(r.s[3]));
  else if constexpr (W == 2)
    OCL_LDMATRIX("x2", "%0, %1", "%2", "=r"(r.s[0]), "=r"(r.s[1]));
  else
    OCL_LDMATRIX("x1", "%0", "%1", "=r"(r.s[0]));
  return r;
}
template <int W, class T> OCL_FN vec<uint, 4> ldmatrix_transposed(T *p) {
  vec<uint, 4> r = {};
  if constexpr (W == 4)
    OCL_LDMATRIX("x4.trans", "%0, %1, %2, %3", "%4", "=r"(r.s[0]), "=r"(r.s[1]), "=r"(r.s[2]),
                 "=r"(r.s[3]));
  else if constexpr (W == 2)
    OCL_LDMATRIX("x2.trans", "%0, %1", "%2", "=r"(r.s[0]), "=r"(r.s[1]));
  else
    OCL_LDMATRIX("x1.trans", "%0", "%1", "=r"(r.s[0]));
  return r;
}

/* Returns the distance in bytes of a word in memory, if the elements of its line are adjacent. */
template <matrix_use U, int BITS> OCL_FN ulong word_offset(uint word, uint stride) {
  return (ulong)matrix_line<U>(word) * stride * BITS / 8 + 4 * matrix_column<U>(word);
}

/* W is the number of words in a lane. */
template <matrix_use U, int BITS, int W>
OCL_FN vec<uint, 4> load_elements(const void *p, uint layout, uint stride) {
  vec<uint, 4> r = {};
#pragma unroll
  for (uint w = 0; w < W; w++) {
#pragma unroll
    for (uint i = 0; i < MATRIX_WORD_BITS / BITS; i++)
      r.s[w] |= load_element<BITS>(p, element_index<U, BITS>(w, i, layout, stride)) << i * BITS;
  }
  return r;
}

template <matrix_use U, int BITS, int W, class T>
OCL_FN vec<uint, 4> load_words(const T *p, uint layout, uint stride) {
  if (!(layout & MATRIX_ALIGNED) || !lines_are_adjacent<U>(layout))
    return load_elements<U, BITS, W>(p, layout, stride);
  vec<uint, 4> r = {};
#pragma unroll
  for (uint w = 0; w < W; w++)
    r.s[w] = *(const uint *)((const char *)p + word_offset<U, BITS>(w, stride));
  return r;
}

/* ldmatrix: lanes 8 w to 8 w + 7 have the addresses of the 8 lines of word w, or, transposed, of
 * what is at 8 places in these lines. */
template <matrix_use U, int BITS, int W, class T>
OCL_FN vec<uint, 4> load_words(in_local<const T> p, uint layout, uint stride) {
  const uint lane = matrix_lane();
  const char *const bytes = (const char *)p.p;
  const uint inner = lane % 8 + lane / 8 % 2 * 8, outer = lane / 16 * 8;
  const uint other = lane % 8 + lane / 16 * 8, last = lane / 8 % 2 * 8;
  const uint pitch = stride * BITS / 8; /* of local memory */
  if (!(layout & MATRIX_ALIGNED) || (layout & MATRIX_STRIDE_8 && pitch % 16))
    return load_words<U, BITS, W>(p.p, layout, stride);
  if (lines_are_adjacent<U>(layout))
    return U == MATRIX_A ? ldmatrix<W>(bytes + inner * pitch + 2 * outer)
                         : ldmatrix<W>(bytes + other * pitch + 2 * last);
  if constexpr (BITS == 16)
    return ldmatrix_transposed<W>(U == MATRIX_A ? bytes + other * pitch + 2 * last
                                                : bytes + inner * pitch + 2 * outer);
  return load_elements<U, BITS, W>(p.p, layout, stride);
}

template <matrix_use U, int BITS, int W, class T>
OCL_FN void store_words(T *p, vec<uint, 4> v, uint layout, uint stride) {
#pragma unroll
  for (uint w = 0; w < W; w++) {
    if (layout & MATRIX_ALIGNED && lines_are_adjacent<U>(layout)) {
      *(uint *)((char *)p + word_offset<U, BITS>(w, stride)) = v.s[w];
      continue;
    }
#pragma unroll
    for (uint i = 0; i < MATRIX_WORD_BITS / BITS; i++)
      ((ubits<BITS / 8> *)p)[element_index<U, BITS>(w, i, layout, stride)] =
          (ubits<BITS / 8>)(v.s[w] >> i * BITS);
  }
}

/* ---- vectors of a lane, and their words ---------------------------------------------- */

OCL_FN uint matrix_bits(half x) {
  return x.bits;
}
OCL_FN uint matrix_bits(float x) {
  return __float_as_uint(x);
}
template <class T> OCL_FN uint matrix_bits(T x) {
  return (to_unsigned<T>)x;
}
OCL_FN half matrix_element(uint bits, half) {
  return half_of((ushort)bits);
}
OCL_FN float matrix_element(uint bits, float) {
  return __uint_as_float(bits);
}
template <class T> OCL_FN T matrix_element(uint bits, T) {
  return (T)bits;
}

template <class T, int N> OCL_FN vec<uint, 4> words_of(vec<T, N> v) {
  const int each = MATRIX_WORD_BITS / 8 / sizeof(T);
  vec<uint, 4> r = {};
  OCL_EACH r.s[i / each] |= matrix_bits(v.s[i]) << i % each * 8 * sizeof(T);
  return r;
}
template <class T, int N> OCL_FN vec<T, N> elements_of(vec<uint, 4> words) {
  const int each = MATRIX_WORD_BITS / 8 / sizeof(T);
  vec<T, N> r;
  OCL_EACH r.s[i] = matrix_element(words.s[i / each] >> i % each * 8 * sizeof(T), T());
  return r;
}

/* ---- words and their parts, for variables that keep their values over a loop ----------- */

OCL_FN uint word_of(half a, half b) {
  return (uint)b.bits << 16 | a.bits;
}
OCL_FN uint word_of(ushort a, ushort b) {
  return (uint)b << 16 | a;
}
OCL_FN uint word_of(uchar a, uchar b, uchar c, uchar d) {
  return (uint)d << 24 | (uint)c << 16 | (uint)b << 8 | a;
}
template <class T> OCL_FN T part_of_word(uint word, uint part) {
  return matrix_element(word >> part * 8 * sizeof(T), T());
}

/* ---- A and B ------------------------------------------------------------------------- */

#define OCL_MATRIX_LOAD(name, USE, BITS, T, N)                                                     \
  template <class P> OCL_FN vec<T, N> tegracl_matrix_load_##name(P p, uint layout, uint stride) {  \
    return elements_of<T, N>(load_words<USE, BITS, N * sizeof(T) / 4>(p, layout, stride));         \
  }
#define OCL_MATRIX_STORE(name, USE, BITS, T, N)                                                    \
  template <class P>                                                                               \
  OCL_FN void tegracl_matrix_store_##name(P p, vec<T, N> v, uint layout, uint stride) {            \
    store_words<USE, BITS, N * sizeof(T) / 4>(pointer_of(p), words_of(v), layout, stride);         \
  }
#define OCL_MATRIX_A_B(OCL_MATRIX_ACCESS, suffix, BITS, T, N)                                      \
  OCL_MATRIX_ACCESS(a_##suffix, MATRIX_A, BITS, T, N)                                              \
  OCL_MATRIX_ACCESS(b_##suffix, MATRIX_B, BITS, T, N)
OCL_MATRIX_A_B(OCL_MATRIX_LOAD, f16, 16, half, 8)
OCL_MATRIX_A_B(OCL_MATRIX_LOAD, bf16, 16, ushort, 8)
OCL_MATRIX_A_B(OCL_MATRIX_LOAD, s8, 8, signed char, 16)
OCL_MATRIX_A_B(OCL_MATRIX_LOAD, u8, 8, uchar, 16)
OCL_MATRIX_A_B(OCL_MATRIX_LOAD, s4, MATRIX_NIBBLE, int, 4)
OCL_MATRIX_A_B(OCL_MATRIX_LOAD, u4, MATRIX_NIBBLE, uint, 4)
OCL_MATRIX_LOAD(a_f16_16x8, MATRIX_A, 16, half, 4)
OCL_MATRIX_LOAD(b_f16_16x8, MATRIX_B, 16, half, 4)
OCL_MATRIX_LOAD(b_f16_8x8, MATRIX_B, 16, half, 2)
OCL_MATRIX_LOAD(b_s8_32x8, MATRIX_B, 8, signed char, 8)
OCL_MATRIX_STORE(a_f16_16x8, MATRIX_A, 16, half, 4)
OCL_MATRIX_STORE(b_f16_16x8, MATRIX_B, 16, half, 4)
OCL_MATRIX_STORE(b_f16_8x8, MATRIX_B, 16, half, 2)
OCL_MATRIX_STORE(b_s8_32x8, MATRIX_B, 8, signed char, 8)
OCL_MATRIX_A_B(OCL_MATRIX_STORE, f16, 16, half, 8)
OCL_MATRIX_A_B(OCL_MATRIX_STORE, bf16, 16, ushort, 8)
OCL_MATRIX_A_B(OCL_MATRIX_STORE, tf32, 32, float, 4)
OCL_MATRIX_A_B(OCL_MATRIX_STORE, s8, 8, signed char, 16)
OCL_MATRIX_A_B(OCL_MATRIX_STORE, u8, 8, uchar, 16)

OCL_FN vec<float, 4> round_to_tf32(vec<uint, 4> words) {
  vec<float, 4> r;
#pragma unroll
  for (int i = 0; i < MATRIX_WORDS; i++) {
    uint rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(words.s[i])));
    r.s[i] = __uint_as_float(rounded);
  }
  return r;
}
#define OCL_MATRIX_LOAD_TF32(name, USE, BITS, T, N)                                                \
  template <class P> OCL_FN vec<T, N> tegracl_matrix_load_##name(P p, uint layout, uint stride) {  \
    return round_to_tf32(load_words<USE, BITS, N>(p, layout, stride));                             \
  }
OCL_MATRIX_A_B(OCL_MATRIX_LOAD_TF32, tf32, 32, float, 4)

/* ---- C and D ------------------------------------------------------------------------- */

/* A half8 of C has the same elements as one of A. */
OCL_MATRIX_LOAD(c_f16, MATRIX_A, 16, half, 8)
OCL_MATRIX_STORE(c_f16, MATRIX_A, 16, half, 8)
OCL_MATRIX_LOAD(c_f16_16x8, MATRIX_A, 16, half, 4)
OCL_MATRIX_STORE(c_f16_16x8, MATRIX_A, 16, half, 4)

OCL_FN ulong index_of_c(uint i, uint layout, uint stride) {
  const uint lane = matrix_lane();
  const uint row = lane / 4 + 8 * (i / 2 % 2), column = lane % 4 * 2 + i % 2 + 8 * (i / 4);
  return layout & MATRIX_COLUMN_MAJOR ? (ulong)column * stride + row : (ulong)row * stride + column;
}
/* Returns the address of a pair of elements in a row. The distances from the first one do not
 * depend on the lane; NVRTC would see that they can be combined by "or", and compute each address
 * on its own. */
template <class T> OCL_FN T *pair_of_c(T *p, uint i, uint stride) {
  ulong first = index_of_c(0, 0, stride);
  asm("" : "+l"(first));
  return p + first + (i / 2 % 2 ? 8ull * stride : 0) + i / 4 * 8;
}

/* Whether pairs of elements are adjacent and aligned. */
OCL_FN bool has_pairs(uint layout) {
  return (layout & (MATRIX_ALIGNED | MATRIX_COLUMN_MAJOR)) == MATRIX_ALIGNED;
}

/* A pair of elements is accessed as a double: NVRTC splits some accesses to pairs of floats. */
template <int N, class T> OCL_FN vec<T, N> load_c(const T *p, uint layout, uint stride) {
  vec<T, N> r;
  if (!has_pairs(layout)) {
#pragma unroll
    for (uint i = 0; i < N; i++)
      r.s[i] = p[index_of_c(i, layout, stride)];
    return r;
  }
#pragma unroll
  for (uint i = 0; i < N; i += 2) {
    const double pair = *(const double *)pair_of_c(p, i, stride);
    r.s[i] = matrix_element(__double2loint(pair), T());
    r.s[i + 1] = matrix_element(__double2hiint(pair), T());
  }
  return r;
}
template <int N, class T> OCL_FN void store_c(T *p, vec<T, N> v, uint layout, uint stride) {
  if (!has_pairs(layout)) {
#pragma unroll
    for (uint i = 0; i < N; i++)
      p[index_of_c(i, layout, stride)] = v.s[i];
    return;
  }
#pragma unroll
  for (uint i = 0; i < N; i += 2)
    *(double *)pair_of_c(p, i, stride) =
        __hiloint2double(matrix_bits(v.s[i + 1]), matrix_bits(v.s[i]));
}
#define OCL_MATRIX_C(suffix, T, N)                                                                 \
  template <class P>                                                                               \
  OCL_FN vec<T, N> tegracl_matrix_load_c_##suffix(P p, uint layout, uint stride) {                 \
    return load_c<N, T>(pointer_of(p), layout, stride);                                            \
  }                                                                                                \
  template <class P>                                                                               \
  OCL_FN void tegracl_matrix_store_c_##suffix(P p, vec<T, N> v, uint layout, uint stride) {        \
    store_c<N, T>(pointer_of(p), v, layout, stride);                                               \
  }
OCL_MATRIX_C(f32, float, 8)
OCL_MATRIX_C(s32, int, 8)
OCL_MATRIX_C(f32_16x8, float, 4)
OCL_MATRIX_C(s32_16x8, int, 4)

/* ---- products ------------------------------------------------------------------------ */

/* One instruction: columns 8 n to 8 n + 7. F is the constraint of the elements of C and D. */
#define OCL_MMA(F, type, d, a, b, c, n)                                                            \
  asm volatile(                                                                                    \
      "mma.sync.aligned." type " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                   \
      "{%10, %11, %12, %13};"                                                                      \
      : "=" F(d.s[4 * n]), "=" F(d.s[4 * n + 1]), "=" F(d.s[4 * n + 2]), "=" F(d.s[4 * n + 3])     \
      : "r"(a.s[0]), "r"(a.s[1]), "r"(a.s[2]), "r"(a.s[3]), "r"(b.s[2 * n]), "r"(b.s[2 * n + 1]),  \
        F(c.s[4 * n]), F(c.s[4 * n + 1]), F(c.s[4 * n + 2]), F(c.s[4 * n + 3]))
#define OCL_MATRIX_MAD(suffix, T, N, F, C, type)                                                   \
  OCL_FN vec<C, 8> tegracl_matrix_mad_##suffix(vec<T, N> x, vec<T, N> y, vec<C, 8> c) {            \
    const vec<uint, 4> a = words_of(x), b = words_of(y);                                           \
    vec<C, 8> d;                                                                                   \
    OCL_MMA(F, type, d, a, b, c, 0);                                                               \
    OCL_MMA(F, type, d, a, b, c, 1);                                                               \
    return d;                                                                                      \
  }
OCL_MATRIX_MAD(f16, half, 8, "f", float, "m16n8k16.row.col.f32.f16.f16.f32")
OCL_MATRIX_MAD(bf16, ushort, 8, "f", float, "m16n8k16.row.col.f32.bf16.bf16.f32")
OCL_MATRIX_MAD(tf32, float, 4, "f", float, "m16n8k8.row.col.f32.tf32.tf32.f32")

#define OCL_MMA_HALF(d, a, b, c, n)                                                                \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "    \
               "{%6, %7}, {%8, %9};"                                                               \
               : "=r"(d.s[2 * n]), "=r"(d.s[2 * n + 1])                                            \
               : "r"(a.s[0]), "r"(a.s[1]), "r"(a.s[2]), "r"(a.s[3]), "r"(b.s[2 * n]),              \
                 "r"(b.s[2 * n + 1]), "r"(c.s[2 * n]), "r"(c.s[2 * n + 1]))
OCL_FN vec<half, 8> tegracl_matrix_mad_f16(vec<half, 8> x, vec<half, 8> y, vec<half, 8> z) {
  const vec<uint, 4> a = words_of(x), b = words_of(y), c = words_of(z);
  vec<uint, 4> d;
  OCL_MMA_HALF(d, a, b, c, 0);
  OCL_MMA_HALF(d, a, b, c, 1);
  return elements_of<half, 8>(d);
}

/* 16 x 8 x 16 and 16 x 8 x 8 */
OCL_FN vec<float, 4> tegracl_matrix_mad_f16(vec<half, 8> x, vec<half, 4> y, vec<float, 4> c) {
  const vec<uint, 4> a = words_of(x), b = words_of(y);
  vec<float, 4> d;
  OCL_MMA("f", "m16n8k16.row.col.f32.f16.f16.f32", d, a, b, c, 0);
  return d;
}
OCL_FN vec<half, 4> tegracl_matrix_mad_f16(vec<half, 8> x, vec<half, 4> y, vec<half, 4> z) {
  const vec<uint, 4> a = words_of(x), b = words_of(y), c = words_of(z);
  vec<uint, 4> d;
  OCL_MMA_HALF(d, a, b, c, 0);
  return elements_of<half, 4>(d);
}
OCL_FN vec<float, 4> tegracl_matrix_mad_f16(vec<half, 4> x, vec<half, 2> y, vec<float, 4> c) {
  const vec<uint, 4> a = words_of(x), b = words_of(y);
  vec<float, 4> d;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
               "{%7, %8, %9, %10};"
               : "=f"(d.s[0]), "=f"(d.s[1]), "=f"(d.s[2]), "=f"(d.s[3])
               : "r"(a.s[0]), "r"(a.s[1]), "r"(b.s[0]), "f"(c.s[0]), "f"(c.s[1]), "f"(c.s[2]),
                 "f"(c.s[3]));
  return d;
}
OCL_FN vec<half, 4> tegracl_matrix_mad_f16(vec<half, 4> x, vec<half, 2> y, vec<half, 4> z) {
  const vec<uint, 4> a = words_of(x), b = words_of(y), c = words_of(z);
  vec<uint, 4> d;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, "
               "{%5, %6};"
               : "=r"(d.s[0]), "=r"(d.s[1])
               : "r"(a.s[0]), "r"(a.s[1]), "r"(b.s[0]), "r"(c.s[0]), "r"(c.s[1]));
  return elements_of<half, 4>(d);
}

#define OCL_MATRIX_MAD_INT(suffix, TA, TB, N, type)                                                \
  OCL_FN vec<int, 8> tegracl_matrix_mad_##suffix(vec<TA, N> x, vec<TB, N> y, vec<int, 8> c) {      \
    const vec<uint, 4> a = words_of(x), b = words_of(y);                                           \
    vec<int, 8> d;                                                                                 \
    OCL_MMA("r", type ".s32", d, a, b, c, 0);                                                      \
    OCL_MMA("r", type ".s32", d, a, b, c, 1);                                                      \
    return d;                                                                                      \
  }
#define OCL_MATRIX_MAD_NARROW(suffix, TA, TB, type)                                                \
  OCL_FN vec<int, 4> tegracl_matrix_mad_##suffix(vec<TA, 16> x, vec<TB, 8> y, vec<int, 4> c) {     \
    const vec<uint, 4> a = words_of(x), b = words_of(y);                                           \
    vec<int, 4> d;                                                                                 \
    OCL_MMA("r", "m16n8k32.row.col" type ".s32", d, a, b, c, 0);                                   \
    return d;                                                                                      \
  }
#define OCL_MATRIX_MADS(suffix, S, U, N, shape, bits)                                              \
  OCL_MATRIX_MAD_INT(suffix, S, S, N, shape ".s32.s" bits ".s" bits)                               \
  OCL_MATRIX_MAD_INT(suffix, S, U, N, shape ".s32.s" bits ".u" bits)                               \
  OCL_MATRIX_MAD_INT(suffix, U, S, N, shape ".s32.u" bits ".s" bits)                               \
  OCL_MATRIX_MAD_INT(suffix, U, U, N, shape ".s32.u" bits ".u" bits)
#define OCL_MATRIX_MADS_NARROW(suffix, sat)                                                        \
  OCL_MATRIX_MAD_NARROW(suffix, signed char, signed char, sat ".s32.s8.s8")                        \
  OCL_MATRIX_MAD_NARROW(suffix, signed char, uchar, sat ".s32.s8.u8")                              \
  OCL_MATRIX_MAD_NARROW(suffix, uchar, signed char, sat ".s32.u8.s8")                              \
  OCL_MATRIX_MAD_NARROW(suffix, uchar, uchar, sat ".s32.u8.u8")
OCL_MATRIX_MADS(i8, signed char, uchar, 16, "m16n8k32.row.col", "8")
OCL_MATRIX_MADS(i4, int, uint, 4, "m16n8k64.row.col", "4")
OCL_MATRIX_MADS_NARROW(i8, "")
/* One instruction covers all of k, so the sum is clamped once. */
OCL_MATRIX_MADS(sat_i8, signed char, uchar, 16, "m16n8k32.row.col.satfinite", "8")
OCL_MATRIX_MADS(sat_i4, int, uint, 4, "m16n8k64.row.col.satfinite", "4")
OCL_MATRIX_MADS_NARROW(sat_i8, ".satfinite")

#undef OCL_MATRIX_LOAD
#undef OCL_MATRIX_LOAD_TF32
#undef OCL_MATRIX_STORE
#undef OCL_MATRIX_A_B
#undef OCL_MATRIX_C
#undef OCL_LDMATRIX
#undef OCL_MMA
#undef OCL_MMA_HALF
#undef OCL_MATRIX_MAD
#undef OCL_MATRIX_MAD_INT
#undef OCL_MATRIX_MAD_NARROW
#undef OCL_MATRIX_MADS
#undef OCL_MATRIX_MADS_NARROW

} // namespace ocl
#endif
