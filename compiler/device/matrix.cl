// cl_tegracl_matrix: products of small matrices on the tensor cores. The front end adds this file
// to programs that mention its functions, and defines the macro cl_tegracl_matrix.
//
// A sub-group of 32 work-items computes D = A B + C. A has 16 rows, B and C have 16 columns, and
// each row of A and each column of B has 32 bytes. Each work-item holds 1/32 of each matrix in a
// vector:
//
//   suffix  elements of A and B            k   A, B               C, D
//   f16     half                           16  half8              float8 or half8
//   bf16    bfloat16                       16  ushort8, bits      float8
//   tf32    float with 10 bits of fraction  8  float4             float8
//   s8, u8  char, uchar                    32  char16, uchar16    int8
//   s4, u4  4 bits                         64  int4, uint4: 8     int8
//                                              elements in each
//                                              component, the first
//                                              in the lowest bits
//
//   V tegracl_matrix_load_a_SUFFIX(const global T *p, uint layout, uint stride)
//   V tegracl_matrix_load_b_SUFFIX(const global T *p, uint layout, uint stride)
//   V tegracl_matrix_load_c_SUFFIX(const global T *p, uint layout, uint stride)  f16, f32, s32
//   void tegracl_matrix_store_a_SUFFIX(global T *p, V v, uint layout, uint stride)
//       also _b, _c; not for s4 and u4
//   D tegracl_matrix_mad_f16(half8 a, half8 b, D c)                      D: float8 or half8
//   float8 tegracl_matrix_mad_bf16(ushort8 a, ushort8 b, float8 c)
//   float8 tegracl_matrix_mad_tf32(float4 a, float4 b, float8 c)
//   int8 tegracl_matrix_mad_i8(A a, B b, int8 c)         A, B: char16 or uchar16
//   int8 tegracl_matrix_mad_i4(A a, B b, int8 c)         A, B: int4 or uint4
//   int8 tegracl_matrix_mad_sat_i8, tegracl_matrix_mad_sat_i4
//
// Loads and stores
//   p points to the first element of the matrix in global or local memory. T is the type of an
//   element: ushort for bf16, float for tf32, and uchar for s4 and u4, whose even elements are in
//   the lower halves of bytes. The layout is TEGRACL_MATRIX_ROW_MAJOR or
//   TEGRACL_MATRIX_COLUMN_MAJOR. The stride is the distance of rows or columns in elements. 0 makes
//   all rows (columns) of a loaded matrix the same.
//   The layout may include TEGRACL_MATRIX_ALIGNED: p and the stride in bytes are multiples of 16.
//   These accesses need fewer instructions; from local memory, matrices with elements of 16 bits,
//   A in rows and B in columns need one. Without it, each element is accessed on its own.
//   load_a_tf32 and load_b_tf32 round floats to 10 bits of fraction, to nearest, ties away from 0.
//   The multiplication ignores the lower 13 bits of the fraction.
//
// Elements of a work-item
//   Let g = get_sub_group_local_id() / 4, t = get_sub_group_local_id() % 4, and e the number of
//   elements in 32 bits. Then element i of a vector (for s4 and u4: element i % 8 of component
//   i / 8) is, with r = i / e:
//     A: row g + 8 (r % 2), column t e + i % e + 4 e (r / 2)
//     B: column g + 8 (r / 2), row t e + i % e + 4 e (r % 2)
//     C and D: row g + 8 (i / 2 % 2), column 2 t + i % 2 + 8 (i / 4)
//   So a half8 of D is also an A, of the same matrix.
//
// Results
//   Integers: the exact sum modulo 2^32. mad_sat: the exact sum, clamped to the range of int.
//   Floats: let s be the sum of the magnitudes of c and of all products, where each factor that is
//   not 0 counts as at least the least normal number of its type, and let no sum overflow or
//   underflow. Then an element of D differs from the exact value
//     f16 into float, and bf16:  by at most 23 2^-24 s
//     tf32:                      by at most 15 2^-24 s; rounding A and B on loading adds
//                                (2^-10 + 2^-21) s
//     f16 into half:             by at most (2^-10 + 2^-19) s + 2^-24
//   These bounds follow from measurements of chips of this generation, which add the products of 16
//   bytes of A and B at once and truncate each term (docs/hardware/floating-point.md).
//
// All work-items of a sub-group must call a function together, with equal arguments except
// matrices, and the work-group must consist of whole sub-groups of 32. Otherwise the results are
// undefined.

#define TEGRACL_MATRIX_ROW_MAJOR    0
#define TEGRACL_MATRIX_COLUMN_MAJOR 1
#define TEGRACL_MATRIX_ALIGNED      2

// The parameters have reserved names, because -D may define any other as a macro.
#define OCL_DECLARE __attribute__((overloadable, convergent))
// Clear errors: for layouts and strides that are constants, and for pointers to other types, which
// clang would convert with a warning.
#define OCL_CHECK(bits)                                                                            \
  __attribute__((diagnose_if(__layout > 3, "the layout is not a sum of TEGRACL_MATRIX_ constants", \
                             "error"),                                                             \
                 diagnose_if((__layout & 2) && __stride % (128 / bits),                            \
                             "with TEGRACL_MATRIX_ALIGNED the stride must be a multiple of 16 "    \
                             "bytes",                                                              \
                             "error")))
#define OCL_REFUSE(T)                                                                              \
  __attribute__((unavailable("the matrix must be of " #T " in global or local memory")))
#define OCL_LOAD(name, T, V, bits)                                                                 \
  V OCL_DECLARE tegracl_matrix_load_##name(const global T *__p, uint __layout, uint __stride)      \
      OCL_CHECK(bits);                                                                             \
  V OCL_DECLARE tegracl_matrix_load_##name(const local T *__p, uint __layout, uint __stride)       \
      OCL_CHECK(bits);                                                                             \
  V OCL_DECLARE tegracl_matrix_load_##name(const volatile global void *__p, uint __layout,         \
                                           uint __stride) OCL_REFUSE(T);                           \
  V OCL_DECLARE tegracl_matrix_load_##name(const volatile local void *__p, uint __layout,          \
                                           uint __stride) OCL_REFUSE(T);
#define OCL_LOAD_STORE(name, T, V, bits)                                                           \
  OCL_LOAD(name, T, V, bits)                                                                       \
  void OCL_DECLARE tegracl_matrix_store_##name(global T *__p, V __v, uint __layout, uint __stride) \
      OCL_CHECK(bits);                                                                             \
  void OCL_DECLARE tegracl_matrix_store_##name(local T *__p, V __v, uint __layout, uint __stride)  \
      OCL_CHECK(bits);                                                                             \
  void OCL_DECLARE tegracl_matrix_store_##name(const volatile global void *__p, V __v,             \
                                               uint __layout, uint __stride) OCL_REFUSE(T);        \
  void OCL_DECLARE tegracl_matrix_store_##name(const volatile local void *__p, V __v,              \
                                               uint __layout, uint __stride) OCL_REFUSE(T);
#define OCL_A_B(OCL_ACCESS, suffix, T, V, bits)                                                    \
  OCL_ACCESS(a_##suffix, T, V, bits) OCL_ACCESS(b_##suffix, T, V, bits)
#define OCL_MAD(suffix, A, B, D)                                                                   \
  D __attribute__((overloadable, const, convergent)) tegracl_matrix_mad_##suffix(A, B, D);
#define OCL_MADS(suffix, A, B)                                                                     \
  OCL_MAD(suffix, A, A, int8) OCL_MAD(suffix, A, B, int8) OCL_MAD(suffix, B, A, int8)              \
  OCL_MAD(suffix, B, B, int8)

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
OCL_A_B(OCL_LOAD_STORE, f16, half, half8, 16)
OCL_LOAD_STORE(c_f16, half, half8, 16)
OCL_MAD(f16, half8, half8, float8)
OCL_MAD(f16, half8, half8, half8)
#pragma OPENCL EXTENSION cl_khr_fp16 : disable
#endif
OCL_A_B(OCL_LOAD_STORE, bf16, ushort, ushort8, 16)
OCL_A_B(OCL_LOAD_STORE, tf32, float, float4, 32)
OCL_A_B(OCL_LOAD_STORE, s8, char, char16, 8)
OCL_A_B(OCL_LOAD_STORE, u8, uchar, uchar16, 8)
OCL_A_B(OCL_LOAD, s4, uchar, int4, 4)
OCL_A_B(OCL_LOAD, u4, uchar, uint4, 4)
OCL_LOAD_STORE(c_f32, float, float8, 32)
OCL_LOAD_STORE(c_s32, int, int8, 32)
OCL_MAD(bf16, ushort8, ushort8, float8)
OCL_MAD(tf32, float4, float4, float8)
OCL_MADS(i8, char16, uchar16)
OCL_MADS(sat_i8, char16, uchar16)
OCL_MADS(i4, int4, uint4)
OCL_MADS(sat_i4, int4, uint4)

#undef OCL_DECLARE
#undef OCL_CHECK
#undef OCL_REFUSE
#undef OCL_LOAD
#undef OCL_LOAD_STORE
#undef OCL_A_B
#undef OCL_MAD
#undef OCL_MADS
