/* The functions of cl_intel_subgroups, _char, _short and _long, from source and by way of
 * SPIR-V. Kernels with vectors have the results of each width one after the other: those of width
 * N begin at (N - 1) times the work-items. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* ---- shuffles: of the current and the next value of each work-item ---- */

#define SHUFFLE_AT(T, n)                                                                                         \
  {                                                                                                              \
    T current = ((global const T *)(in + (n - 1) * items))[i];                                                   \
    T next = ((global const T *)(in + (16 + n - 1) * items))[i];                                                 \
    T a = (T)0, b = (T)0, c = (T)0, d = (T)0;                                                                    \
    if (on[i]) {                                                                                                 \
      a = intel_sub_group_shuffle(current, place[i] % 32);                                                       \
      b = intel_sub_group_shuffle_down(current, next, place[i]);                                                 \
      c = intel_sub_group_shuffle_up(current, next, place[i]);                                                   \
      d = intel_sub_group_shuffle_xor(current, place[i] % 32);                                                   \
    }                                                                                                            \
    ((global T *)(out + (n - 1) * items))[i] = a;                                                                \
    ((global T *)(out + (16 + n - 1) * items))[i] = b;                                                           \
    ((global T *)(out + (32 + n - 1) * items))[i] = c;                                                           \
    ((global T *)(out + (48 + n - 1) * items))[i] = d;                                                           \
  }
#define SHUFFLES(T, more)                                                                                        \
  kernel void shuffle_##T(global const T *in, global const uint *place, global const int *on, global T *out) {   \
    size_t i = get_global_id(0), items = get_global_size(0);                                                     \
    SHUFFLE_AT(T, 1)                                                                                             \
    more(T)                                                                                                      \
  }
#define VECTORS(T) SHUFFLE_AT(T##2, 2) SHUFFLE_AT(T##4, 4) SHUFFLE_AT(T##8, 8)
#define NO_VECTORS(T)
SHUFFLES(char, VECTORS)
SHUFFLES(uchar, VECTORS)
SHUFFLES(short, VECTORS)
SHUFFLES(ushort, VECTORS)
SHUFFLES(int, VECTORS)
SHUFFLES(uint, VECTORS)
SHUFFLES(float, VECTORS)
SHUFFLES(long, NO_VECTORS)
SHUFFLES(ulong, NO_VECTORS)
SHUFFLES(half, NO_VECTORS)
SHUFFLES(double, NO_VECTORS)

/* Vectors of 3 and 16 by those of others: 1 where they agree. */
#define WIDE(T)                                                                                                  \
  {                                                                                                              \
    T##16 v = convert_##T##16(*in + (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) * (int)i);     \
    T##16 w = intel_sub_group_shuffle_down(v, v + (T)1, 5);                                                      \
    T##3 u = intel_sub_group_shuffle_xor(v.s123, 9);                                                             \
    good &= intel_sub_group_shuffle_down(v.s5, (T)(v.s5 + (T)1), 5) == w.s5;                                     \
    good &= intel_sub_group_shuffle_down(v.sf, (T)(v.sf + (T)1), 5) == w.sf;                                     \
    good &= intel_sub_group_shuffle_xor(v.s1, 9) == u.x && intel_sub_group_shuffle_xor(v.s3, 9) == u.z;          \
  }
#define NAMED(T, name)                                                                                           \
  good &= intel_sub_group_reduce_##name(x) == sub_group_reduce_##name(x);                                        \
  good &= intel_sub_group_scan_inclusive_##name(x) == sub_group_scan_inclusive_##name(x);                        \
  good &= intel_sub_group_scan_exclusive_##name(x) == sub_group_scan_exclusive_##name(x);
#define ALIASES(T)                                                                                               \
  {                                                                                                              \
    T x = (T)(*in + (int)i * 77);                                                                                \
    NAMED(T, add) NAMED(T, min) NAMED(T, max)                                                                    \
    good &= intel_sub_group_broadcast(x, 7) == sub_group_broadcast(x, 7);                                        \
  }
kernel void others(global const int *in, global int *out) {
  size_t i = get_global_id(0);
  int good = 1;
  WIDE(char)
  WIDE(ushort)
  WIDE(int)
  WIDE(float)
  WIDE(long)
  WIDE(half)
  WIDE(double)
  ALIASES(char)
  ALIASES(uchar)
  ALIASES(short)
  ALIASES(ushort)
  out[i] = good;
}

/* ---- blocks ---- */

#define BLOCK(op, name) intel_sub_group_block_##op##name
#define READ_BLOCK(name, T, V, n)                                                                                \
  ((global V *)(out + (n - 1) * items))[i] =                                                                     \
      BLOCK(read, name)(in + (n - 1) * items + get_sub_group_id() * 32 * n);
#define WRITE_BLOCK(name, T, V, n)                                                                               \
  BLOCK(write, name)(out + (n - 1) * items + get_sub_group_id() * 32 * n,                                        \
                     ((global const V *)(in + (n - 1) * items))[i]);
#define READ_IMAGE(name, T, V, n)                                                                                \
  ((global V *)(out + (n - 1) * items))[i] = BLOCK(read, name)(image, *at++);
#define WRITE_IMAGE(name, T, V, n)                                                                               \
  BLOCK(write, name)(image, *at++, ((global const V *)(in + (n - 1) * items))[i]);
#define EACH(DO, name, T) DO(name, T, T, 1) DO(name##2, T, T##2, 2) DO(name##4, T, T##4, 4) DO(name##8, T, T##8, 8)
#define EACH16(DO, name, T) EACH(DO, name, T) DO(name##16, T, T##16, 16)
#define KERNEL(op, label, each, DO, name, T, first, second)                                                      \
  kernel void op##label(first, second, constant int2 *at) {                                                      \
    size_t i = get_global_id(0), items = get_global_size(0);                                                     \
    each(DO, name, T)                                                                                            \
  }
#define KERNELS(each, label, name, T)                                                                            \
  KERNEL(read, label, each, READ_BLOCK, name, T, global const T *in, global T *out)                              \
  KERNEL(write, label, each, WRITE_BLOCK, name, T, global const T *in, global T *out)                            \
  KERNEL(read_image, label, each, READ_IMAGE, name, T, read_only image2d_t image, global T *out)                 \
  KERNEL(write_image, label, each, WRITE_IMAGE, name, T, global const T *in, write_only image2d_t image)         \
  KERNEL(read_both, label, each, READ_IMAGE, name, T, read_write image2d_t image, global T *out)                 \
  KERNEL(write_both, label, each, WRITE_IMAGE, name, T, global const T *in, read_write image2d_t image)
KERNELS(EACH, , , uint)
KERNELS(EACH, _ui, _ui, uint)
KERNELS(EACH16, _uc, _uc, uchar)
#ifdef NO_WIDE_SHORTS /* llvm-spirv 15 has none */
KERNELS(EACH, _us, _us, ushort)
#else
KERNELS(EACH16, _us, _us, ushort)
#endif
KERNELS(EACH, _ul, _ul, ulong)
