/* Each function of cl_tegracl_matrix, for the test matrix.c. The vectors of the work-items are
 * written and read as they are, and the test knows which elements they have. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#ifndef cl_tegracl_matrix
#error cl_tegracl_matrix is not defined
#endif

enum { BYTES = 8192, ITEMS = 64 };

uint item(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}

#define LOAD(name, T, V)                                                                           \
  kernel void load_##name(global uchar *memory, uint shift, uint layout, uint stride,              \
                          uint in_local, global V *vectors) {                                      \
    local uchar copy[BYTES] __attribute__((aligned(16)));                                          \
    const uint i = item();                                                                         \
    for (uint k = i; k < BYTES; k += ITEMS)                                                        \
      copy[k] = memory[k];                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if (in_local)                                                                                  \
      vectors[i] = tegracl_matrix_load_##name((local const T *)(copy + shift), layout, stride);    \
    else                                                                                           \
      vectors[i] = tegracl_matrix_load_##name((global const T *)(memory + shift), layout, stride); \
  }
#define LOAD_STORE(name, T, V)                                                                     \
  LOAD(name, T, V)                                                                                 \
  kernel void store_##name(global uchar *memory, uint shift, uint layout, uint stride,             \
                           uint in_local, global const V *vectors) {                               \
    local uchar copy[BYTES] __attribute__((aligned(16)));                                          \
    const uint i = item();                                                                         \
    for (uint k = i; k < BYTES; k += ITEMS)                                                        \
      copy[k] = memory[k];                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if (!in_local) {                                                                               \
      tegracl_matrix_store_##name((global T *)(memory + shift), vectors[i], layout, stride);       \
      return;                                                                                      \
    }                                                                                              \
    tegracl_matrix_store_##name((local T *)(copy + shift), vectors[i], layout, stride);            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    for (uint k = i; k < BYTES; k += ITEMS)                                                        \
      memory[k] = copy[k];                                                                         \
  }
#define MAD(name, function, A, B, D)                                                               \
  kernel void mad_##name(global const A *a, global const B *b, global const D *c, global D *d) {   \
    const uint i = get_global_id(0);                                                               \
    d[i] = tegracl_matrix_mad_##function(a[i], b[i], c[i]);                                        \
  }

LOAD_STORE(a_f16, half, half8)
LOAD_STORE(b_f16, half, half8)
LOAD_STORE(c_f16, half, half8)
LOAD_STORE(a_bf16, ushort, ushort8)
LOAD_STORE(b_bf16, ushort, ushort8)
LOAD_STORE(a_tf32, float, float4)
LOAD_STORE(b_tf32, float, float4)
LOAD_STORE(a_s8, char, char16)
LOAD_STORE(b_s8, char, char16)
LOAD_STORE(a_u8, uchar, uchar16)
LOAD_STORE(b_u8, uchar, uchar16)
LOAD(a_s4, uchar, int4)
LOAD(b_s4, uchar, int4)
LOAD(a_u4, uchar, uint4)
LOAD(b_u4, uchar, uint4)
LOAD_STORE(c_f32, float, float8)
LOAD_STORE(c_s32, int, int8)

MAD(f16, f16, half8, half8, float8)
MAD(f16_half, f16, half8, half8, half8)
MAD(bf16, bf16, ushort8, ushort8, float8)
MAD(tf32, tf32, float4, float4, float8)
MAD(s8_s8, i8, char16, char16, int8)
MAD(s8_u8, i8, char16, uchar16, int8)
MAD(u8_s8, i8, uchar16, char16, int8)
MAD(u8_u8, i8, uchar16, uchar16, int8)
MAD(sat_s8_s8, sat_i8, char16, char16, int8)
MAD(sat_s8_u8, sat_i8, char16, uchar16, int8)
MAD(sat_u8_s8, sat_i8, uchar16, char16, int8)
MAD(sat_u8_u8, sat_i8, uchar16, uchar16, int8)
MAD(s4_s4, i4, int4, int4, int8)
MAD(s4_u4, i4, int4, uint4, int8)
MAD(u4_s4, i4, uint4, int4, int8)
MAD(u4_u4, i4, uint4, uint4, int8)
MAD(sat_s4_s4, sat_i4, int4, int4, int8)
MAD(sat_s4_u4, sat_i4, int4, uint4, int8)
MAD(sat_u4_s4, sat_i4, uint4, int4, int8)
MAD(sat_u4_u4, sat_i4, uint4, uint4, int8)

/* Vectors that keep their values over the turns of a loop: a and its other half by turns. */
#define TURNS(name, function, A, D)                                                                \
  kernel void turns_##name(global const A *a, global const A *b, global const D *c, global D *d,   \
                           uint turns) {                                                           \
    const uint i = get_global_id(0);                                                               \
    A x = a[i], y = a[get_global_size(0) + i];                                                     \
    D sum = c[i];                                                                                  \
    for (uint turn = 0; turn < turns; turn++) {                                                    \
      const A next = y;                                                                            \
      sum = tegracl_matrix_mad_##function(x, b[i], sum);                                           \
      y = x;                                                                                       \
      x = next;                                                                                    \
    }                                                                                              \
    d[i] = sum;                                                                                    \
  }
TURNS(f16, f16, half8, half8)
TURNS(bf16, bf16, ushort8, float8)
TURNS(s8, i8, char16, int8)
TURNS(u8, i8, uchar16, int8)
