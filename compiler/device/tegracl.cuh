/* The head of every CUDA C source that tegraclc prints from OpenCL C: scalar
 * and vector types, the hidden launch block, work-item functions, barriers and
 * fences. The groups of built-in functions (groups.txt) build on this file.
 */
#ifndef TEGRACL_CUH
#define TEGRACL_CUH

#define OCL_FN __device__ __forceinline__
/* For functions so large that a copy for each call would not pay. */
#define OCL_BIG  inline __device__ __noinline__
#define OCL_EACH _Pragma("unroll") for (int i = 0; i < N; i++)

namespace ocl {

/* OpenCL's char, short, int, long are signed char, short, int, long long. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;
typedef long long slong;

struct half {
  ushort bits;
};

template <class T, int N> struct vec { T s[N]; };

/* Vector forms: every element for itself, where the scalar function of the
 * same name decides the element type of the result. S is a scalar argument
 * which all elements share. */
#define OCL_MAP1(f)                                                                                \
  template <class T, int N> OCL_FN auto f(vec<T, N> a)->vec<decltype(f(a.s[0])), N> {              \
    vec<decltype(f(a.s[0])), N> r;                                                                 \
    OCL_EACH r.s[i] = f(a.s[i]);                                                                   \
    return r;                                                                                      \
  }
#define OCL_MAP2(f)                                                                                \
  template <class T, class U, int N>                                                               \
  OCL_FN auto f(vec<T, N> a, vec<U, N> b)->vec<decltype(f(a.s[0], b.s[0])), N> {                   \
    vec<decltype(f(a.s[0], b.s[0])), N> r;                                                         \
    OCL_EACH r.s[i] = f(a.s[i], b.s[i]);                                                           \
    return r;                                                                                      \
  }
#define OCL_MAP2S(f)                                                                               \
  template <class T, class S, int N>                                                               \
  OCL_FN auto f(vec<T, N> a, S b)->vec<decltype(f(a.s[0], b)), N> {                                \
    vec<decltype(f(a.s[0], b)), N> r;                                                              \
    OCL_EACH r.s[i] = f(a.s[i], b);                                                                \
    return r;                                                                                      \
  }
#define OCL_MAP3(f)                                                                                \
  template <class T, class U, class V, int N>                                                      \
  OCL_FN auto f(vec<T, N> a, vec<U, N> b, vec<V, N> c)                                             \
      ->vec<decltype(f(a.s[0], b.s[0], c.s[0])), N> {                                              \
    vec<decltype(f(a.s[0], b.s[0], c.s[0])), N> r;                                                 \
    OCL_EACH r.s[i] = f(a.s[i], b.s[i], c.s[i]);                                                   \
    return r;                                                                                      \
  }

/* struct kernel_hidden of compiler/kernel_code.h. */
struct hidden {
  ulong global_offset[3];
  ulong global_size[3];
  uint work_dim;
  uint reserved;
};
static_assert(sizeof(hidden) == 56, "the runtime writes 56 bytes");

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
  return get_local_size(h, d);
}
OCL_FN ulong get_group_id(const hidden &, uint d) {
  return OCL_DIM(d, blockIdx.x, blockIdx.y, blockIdx.z, 0u);
}
OCL_FN ulong get_num_groups(const hidden &, uint d) {
  return OCL_DIM(d, gridDim.x, gridDim.y, gridDim.z, 1u);
}
OCL_FN ulong get_global_size(const hidden &h, uint d) {
  return OCL_DIM(d, h.global_size[0], h.global_size[1], h.global_size[2], 1ull);
}
OCL_FN ulong get_global_offset(const hidden &h, uint d) {
  return OCL_DIM(d, h.global_offset[0], h.global_offset[1], h.global_offset[2], 0ull);
}
/* The work-item's place without the offset: one wide multiply-add. */
OCL_FN ulong global_place(const hidden &h, uint d) {
  return get_group_id(h, d) * get_local_size(h, d) + get_local_id(h, d);
}
OCL_FN ulong get_global_id(const hidden &h, uint d) {
  return global_place(h, d) + get_global_offset(h, d);
}
OCL_FN ulong get_global_linear_id(const hidden &h) {
  return (global_place(h, 2) * h.global_size[1] + global_place(h, 1)) * h.global_size[0] +
         global_place(h, 0);
}
OCL_FN ulong get_local_linear_id(const hidden &) {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* cl_mem_fence_flags, memory_order and memory_scope as clang's
 * opencl-c-base.h numbers them. */
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

/* BAR.SYNC orders shared and global memory among the CTA's threads. */
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
OCL_FN void mem_fence(uint) {
  __threadfence_block();
}
OCL_FN void read_mem_fence(uint) {
  __threadfence_block();
}
OCL_FN void write_mem_fence(uint) {
  __threadfence_block();
}
OCL_FN void atomic_work_item_fence(uint, int order, int scope) {
  if (order != ORDER_RELAXED)
    fence(scope);
}

} // namespace ocl
#endif
