/* Included first by every CUDA C source that tegraclc prints from OpenCL C: scalar and
 * vector types, the hidden launch parameter, work-item functions, barriers and fences. The
 * groups of built-in functions (groups.txt) are based on this file.
 */
#ifndef TEGRACL_CUH
#define TEGRACL_CUH

#define OCL_FN   __device__ __forceinline__
#define OCL_EACH _Pragma("unroll") for (int i = 0; i < N; i++)

namespace ocl {

/* OpenCL's char, short, int and long are CUDA's signed char, short, int and long long. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;
typedef long long slong;

/* half.cuh defines its functions. */
struct half {
  ushort bits;
  half() = default;
  OCL_FN explicit half(float x);
  OCL_FN explicit half(double x);
  OCL_FN explicit half(int x);
  OCL_FN explicit half(uint x);
  OCL_FN explicit half(slong x);
  OCL_FN explicit half(ulong x);
  OCL_FN explicit operator float() const;
  OCL_FN explicit operator double() const;
};
OCL_FN half half_of(ushort bits) {
  half h;
  h.bits = bits;
  return h;
}

template <class T, int N> struct vec { T s[N]; };

/* Type traits: element type, whether a type is a vector, signedness, and integer types by size. */
template <class T> constexpr bool is_vec = false;
template <class T, int N> constexpr bool is_vec<vec<T, N>> = true;
template <class T> constexpr bool is_float = false;
template <> constexpr bool is_float<float> = true;
template <> constexpr bool is_float<double> = true;
template <> constexpr bool is_float<half> = true;
template <class T> constexpr bool is_signed = T(-1) < T(0);
template <> constexpr bool is_signed<half> = true;
template <bool, class T> struct only_if {};
template <class T> struct only_if<true, T> { typedef T type; };
template <class T> using scalar = typename only_if<!is_vec<T>, T>::type;
template <bool, class A, class B> struct either { typedef A type; };
template <class A, class B> struct either<false, A, B> { typedef B type; };
template <bool C, class A, class B> using pick = typename either<C, A, B>::type;
template <int BYTES>
using sbits = pick<BYTES == 1, signed char, pick<BYTES == 2, short, pick<BYTES == 4, int, slong>>>;
template <int BYTES>
using ubits = pick<BYTES == 1, uchar, pick<BYTES == 2, ushort, pick<BYTES == 4, uint, ulong>>>;
template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;
template <class T> using to_signed = sbits<sizeof(T)>;
template <class T> using to_unsigned = ubits<sizeof(T)>;
template <class T> constexpr to_unsigned<T> all_ones = to_unsigned<T>(~0ull);
template <class T> constexpr T max_of = is_signed<T> ? T(all_ones<T> >> 1) : T(all_ones<T>);
template <class T> constexpr T min_of = T(-1) - max_of<T>;

OCL_FN uint bits_of(float x) {
  return __float_as_uint(x);
}
OCL_FN ulong bits_of(double x) {
  return __double_as_longlong(x);
}
OCL_FN float from_bits(uint x, float) {
  return __uint_as_float(x);
}
OCL_FN double from_bits(ulong x, double) {
  return __longlong_as_double(x);
}

/* Defines vector forms of a function that work element by element. The letters tell
 * which parameters are vectors (V) and which are scalars used for all elements (S).
 * The result has the element type of the vector parameters, or the result type of
 * the scalar function with the same name (OCL_MAP_AUTO_). */
#define OCL_MAP(f, types, R, params, at)                                                           \
  template <types, int N> OCL_FN vec<R, N> f params {                                              \
    vec<R, N> r;                                                                                   \
    OCL_EACH r.s[i] = f at(i);                                                                     \
    return r;                                                                                      \
  }
#define OCL_AT_V(i)        (a.s[i])
#define OCL_AT_VV(i)       (a.s[i], b.s[i])
#define OCL_AT_VS(i)       (a.s[i], b)
#define OCL_AT_SV(i)       (a, b.s[i])
#define OCL_AT_VVV(i)      (a.s[i], b.s[i], c.s[i])
#define OCL_AT_VVS(i)      (a.s[i], b.s[i], c)
#define OCL_AT_VSS(i)      (a.s[i], b, c)
#define OCL_AT_SSV(i)      (a, b, c.s[i])
#define OCL_TYPES2         class T, class U
#define OCL_TYPES3         class T, class U, class V
#define OCL_PARAMS_VV      (vec<T, N> a, vec<U, N> b)
#define OCL_PARAMS_VVV     (vec<T, N> a, vec<U, N> b, vec<V, N> c)
#define OCL_MAP_V(f)       OCL_MAP(f, class T, T, (vec<T, N> a), OCL_AT_V)
#define OCL_MAP_VV(f)      OCL_MAP(f, OCL_TYPES2, T, OCL_PARAMS_VV, OCL_AT_VV)
#define OCL_MAP_VS(f)      OCL_MAP(f, OCL_TYPES2, T, (vec<T, N> a, U b), OCL_AT_VS)
#define OCL_MAP_SV(f)      OCL_MAP(f, OCL_TYPES2, U, (T a, vec<U, N> b), OCL_AT_SV)
#define OCL_MAP_VVV(f)     OCL_MAP(f, OCL_TYPES3, T, OCL_PARAMS_VVV, OCL_AT_VVV)
#define OCL_MAP_VVS(f)     OCL_MAP(f, OCL_TYPES3, T, (vec<T, N> a, vec<U, N> b, V c), OCL_AT_VVS)
#define OCL_MAP_VSS(f)     OCL_MAP(f, OCL_TYPES3, T, (vec<T, N> a, U b, V c), OCL_AT_VSS)
#define OCL_MAP_SSV(f)     OCL_MAP(f, OCL_TYPES3, V, (T a, U b, vec<V, N> c), OCL_AT_SSV)
#define OCL_MAP_AUTO_V(f)  OCL_MAP(f, class T, decltype(f(T())), (vec<T, N> a), OCL_AT_V)
#define OCL_MAP_AUTO_VV(f) OCL_MAP(f, OCL_TYPES2, decltype(f(T(), U())), OCL_PARAMS_VV, OCL_AT_VV)

/* Must equal struct kernel_hidden in gpu/cubin/kernel_code.h. */
struct hidden {
  ulong global_offset[3];
  ulong global_size[3];
  uint work_dim;
  uint first_group[3];
  ulong print_buffer;
  ushort group_size[4];
};
static_assert(sizeof(hidden) == 80, "struct hidden must have the size that the runtime writes");

/* If all work-groups have the same size, every grid begins at 0 in x; or the kernel cannot notice its
 * work-groups, and uses none of the functions that depend on their number. */
#ifdef OCL_UNIFORM
#define OCL_FIRST_GROUP_X(h) 0u
#else
#define OCL_FIRST_GROUP_X(h) h.first_group[0]
#endif

#define OCL_DIM(d, x, y, z, other) ((d) == 0 ? (x) : (d) == 1 ? (y) : (d) == 2 ? (z) : (other))

OCL_FN uint get_work_dim(const hidden &h) {
  return h.work_dim;
}
OCL_FN ulong get_local_id(const hidden &, uint d) {
  return OCL_DIM(d, threadIdx.x, threadIdx.y, threadIdx.z, 0u);
}
OCL_FN ulong get_local_size(const hidden &, uint d) {
  return OCL_DIM(d, blockDim.x, blockDim.y, blockDim.z, 1u);
}
OCL_FN ulong get_enqueued_local_size(const hidden &h, uint d) {
  return OCL_DIM(d, h.group_size[0], h.group_size[1], h.group_size[2], 1u);
}
OCL_FN ulong first_group(const hidden &h, uint d) {
  return OCL_DIM(d, OCL_FIRST_GROUP_X(h), h.first_group[1], h.first_group[2], 0u);
}
OCL_FN ulong get_group_id(const hidden &h, uint d) {
  return OCL_DIM(d, blockIdx.x + OCL_FIRST_GROUP_X(h), blockIdx.y + h.first_group[1],
                 blockIdx.z + h.first_group[2], 0u);
}
OCL_FN ulong get_num_groups(const hidden &, uint d) {
  return OCL_DIM(d, gridDim.x, gridDim.y, gridDim.z, 1u);
}
OCL_FN ulong get_global_size(const hidden &h, uint d) {
  return OCL_DIM(d, h.global_size[0], h.global_size[1], h.global_size[2], 1ull);
}
OCL_FN ulong get_global_offset(const hidden &h, uint d) {
  return OCL_DIM(d, h.global_offset[0], h.global_offset[1], h.global_offset[2], 0ull) -
         first_group(h, d) * get_enqueued_local_size(h, d);
}
/* Returns the global id without the offset, using one wide multiply-add if possible. */
OCL_FN ulong global_place(const hidden &h, uint d) {
#ifdef OCL_UNIFORM
  return get_group_id(h, d) * get_local_size(h, d) + get_local_id(h, d);
#else
  const ulong group = OCL_DIM(d, blockIdx.x, blockIdx.y, blockIdx.z, 0u);
  return group * get_local_size(h, d) + get_local_id(h, d) +
         first_group(h, d) * get_enqueued_local_size(h, d);
#endif
}
/* Returns the global id with the offset. The start of the grid needs no extra instruction. */
OCL_FN ulong get_global_id(const hidden &h, uint d) {
  const ulong group = OCL_DIM(d, blockIdx.x, blockIdx.y, blockIdx.z, 0u);
  return group * get_local_size(h, d) + get_local_id(h, d) +
         OCL_DIM(d, h.global_offset[0], h.global_offset[1], h.global_offset[2], 0ull);
}
/* Returns the lower half of the global id, for programs that convert it to int. */
OCL_FN uint __global_id_low(const hidden &h, uint d) {
  const uint group = OCL_DIM(d, blockIdx.x, blockIdx.y, blockIdx.z, 0u);
  return group * (uint)get_local_size(h, d) + (uint)get_local_id(h, d) +
         (uint)OCL_DIM(d, h.global_offset[0], h.global_offset[1], h.global_offset[2], 0ull);
}
OCL_FN ulong get_global_linear_id(const hidden &h) {
  return (global_place(h, 2) * h.global_size[1] + global_place(h, 1)) * h.global_size[0] +
         global_place(h, 0);
}
OCL_FN ulong get_local_linear_id(const hidden &) {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* cl_mem_fence_flags, memory_order and memory_scope, with the values in clang's opencl-c-base.h. */
enum { FENCE_LOCAL = 1, FENCE_GLOBAL = 2 };
enum {
  ORDER_RELAXED = 0,
  ORDER_ACQUIRE = 2,
  ORDER_RELEASE = 3,
  ORDER_ACQ_REL = 4,
  ORDER_SEQ_CST = 5
};
enum {
  SCOPE_WORK_ITEM = 0,
  SCOPE_WORK_GROUP = 1,
  SCOPE_DEVICE = 2,
  SCOPE_ALL = 3,
  SCOPE_SUB_GROUP = 4
};

OCL_FN void fence(int scope) {
  if (scope == SCOPE_ALL)
    __threadfence_system();
  else if (scope == SCOPE_DEVICE)
    __threadfence();
  else if (scope == SCOPE_WORK_GROUP || scope == SCOPE_SUB_GROUP)
    __threadfence_block();
}

/* BAR.SYNC orders accesses to shared and global memory among the CTA's threads. */
OCL_FN void barrier(uint) {
  __syncthreads();
}
OCL_FN void work_group_barrier(uint) {
  __syncthreads();
}
OCL_FN void work_group_barrier(uint, int scope) {
  if (scope == SCOPE_DEVICE || scope == SCOPE_ALL)
    fence(scope);
  __syncthreads();
}
/* The first half of a split barrier only needs to order memory, because the second half waits. */
OCL_FN void intel_work_group_barrier_arrive(uint, int scope = SCOPE_WORK_GROUP) {
  fence(scope);
}
OCL_FN void intel_work_group_barrier_wait(uint flags, int scope = SCOPE_WORK_GROUP) {
  work_group_barrier(flags, scope);
}

/* OpenCL 1.x has no scopes, and work-groups communicate with its fences: "loads and stores
 * preceding the mem_fence will be committed to memory" (1.2, 6.12.9). OpenCL 2.0 only requires
 * the scope of the work-group, for which the L1 cache needs no fence. */
OCL_FN void mem_fence(uint flags) {
  fence(flags & FENCE_GLOBAL ? SCOPE_DEVICE : SCOPE_WORK_GROUP);
}
OCL_FN void read_mem_fence(uint flags) {
  mem_fence(flags);
}
OCL_FN void write_mem_fence(uint flags) {
  mem_fence(flags);
}
OCL_FN void atomic_work_item_fence(uint, int order, int scope) {
  if (order != ORDER_RELAXED)
    fence(scope);
}

/* Returns NULL if the generic pointer is in another address space. */
OCL_FN char *to_global(char *p) {
  return __isGlobal(p) ? p : nullptr;
}
OCL_FN char *to_local(char *p) {
  return __isShared(p) ? p : nullptr;
}
OCL_FN char *to_private(char *p) {
  return __isLocal(p) ? p : nullptr;
}

OCL_FN uint get_fence(const void *p) {
  return __isShared(p) ? FENCE_LOCAL : FENCE_GLOBAL;
}

} // namespace ocl
#endif
