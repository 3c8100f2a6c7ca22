/* Work-group collective functions (section 6.15.16 of OpenCL C 3.0), its extension
 * cl_khr_work_group_uniform_arithmetic, and the SPIR-V extension
 * SPV_KHR_uniform_group_instructions, whose bitwise and logical operations have other names in
 * LLVM's translator. Warps use shuffles, and combine their results in shared memory. The order of
 * floating-point additions is unspecified.
 */
#ifndef TEGRACL_WORKGROUP_CUH
#define TEGRACL_WORKGROUP_CUH
#include "subgroup_scan.cuh"

namespace ocl {

/* One word for each warp of the largest work-group. Functions may use the
 * words while they run, and leave no data in them. */
OCL_FN ulong *group_words() {
  __shared__ ulong words[WARP];
  return words;
}

OCL_FN int work_group_all(int x) {
  return __syncthreads_and(x);
}
OCL_FN int work_group_any(int x) {
  return __syncthreads_or(x);
}

/* Returns the word after all work-items have made the call. */
template <class T> OCL_FN T broadcast_word(const T *word) {
  __syncthreads();
  const T result = *word;
  __syncthreads();
  return result;
}
template <class T> OCL_FN T work_group_broadcast(T a, ulong x, ulong y = 0, ulong z = 0) {
  T *word = (T *)group_words();
  if (threadIdx.x == x && threadIdx.y == y && threadIdx.z == z)
    *word = a;
  return broadcast_word(word);
}

/* Combines the results of all warps in warp 0, which has a lane for each
 * warp because it is full or the only warp. */
template <class OP, class T> OCL_FN T of_warps(const T *words) {
  const uint lane = get_sub_group_local_id();
  return lane < get_num_sub_groups() ? words[lane] : OP::template identity<T>();
}

template <class OP, class T> OCL_FN T reduce_group(T x) {
  T *sums = (T *)group_words();
  const uint warp = get_sub_group_id(), lane = get_sub_group_local_id();
  x = reduce_all<OP>(x);
  if (lane == 0)
    sums[warp] = x;
  __syncthreads();
  if (warp == 0) {
    x = reduce_all<OP>(of_warps<OP>(sums));
    if (lane == 0)
      sums[0] = x;
  }
  return broadcast_word(sums);
}

/* Returns the sum of this work-item's value and those of the work-items before it.
 * Stores the sum without this work-item in *exclusive. */
template <class OP, class T> OCL_FN T scan_group(T x, T *exclusive) {
  T *sums = (T *)group_words();
  const uint warp = get_sub_group_id(), lane = get_sub_group_local_id();
  const T own = scan_all<OP>(x, WARP);
  T below = own;
  const bool first = !lane_below(below, 1, shuffle_bounds(WARP, 0));
  if (lane == get_sub_group_size() - 1)
    sums[warp] = own;
  __syncthreads();
  if (warp == 0) {
    const T sum = scan_all<OP>(of_warps<OP>(sums), WARP);
    if (lane < get_num_sub_groups())
      sums[lane] = sum;
  }
  __syncthreads();
  const T before = warp ? sums[warp - 1] : OP::template identity<T>();
  __syncthreads();
  *exclusive = first ? before : OP::apply(before, below);
  return OP::apply(before, own);
}

/* Only SPIR-V has vector forms of these functions. */
#define OCL_GROUP_SCAN(name, op)                                                                   \
  template <class T> OCL_FN T work_group_reduce_##name(T x) {                                      \
    return reduce_group<op_##op>(x);                                                               \
  }                                                                                                \
  template <class T> OCL_FN T work_group_scan_inclusive_##name(T x) {                              \
    T exclusive;                                                                                   \
    return scan_group<op_##op>(x, &exclusive);                                                     \
  }                                                                                                \
  template <class T> OCL_FN T work_group_scan_exclusive_##name(T x) {                              \
    T exclusive;                                                                                   \
    scan_group<op_##op>(x, &exclusive);                                                            \
    return exclusive;                                                                              \
  }                                                                                                \
  OCL_MAP_V(work_group_reduce_##name)                                                              \
  OCL_MAP_V(work_group_scan_inclusive_##name)                                                      \
  OCL_MAP_V(work_group_scan_exclusive_##name)
OCL_GROUP_SCAN(add, add)
OCL_GROUP_SCAN(min, min)
OCL_GROUP_SCAN(max, max)
OCL_GROUP_SCAN(mul, mul)
OCL_GROUP_SCAN(and, and)
OCL_GROUP_SCAN(or, or)
OCL_GROUP_SCAN(xor, xor)
OCL_GROUP_SCAN(bitwise_and, and)
OCL_GROUP_SCAN(bitwise_or, or)
OCL_GROUP_SCAN(bitwise_xor, xor)

/* Represents truth values as words whose bits are all equal, so that a word with
 * all bits set is the identity of the conjunction. */
#define OCL_GROUP_LOGICAL(op)                                                                      \
  OCL_FN int work_group_reduce_logical_##op(int x) {                                               \
    return reduce_group<op_##op>(x ? -1 : 0) & 1;                                                  \
  }                                                                                                \
  OCL_FN int work_group_scan_inclusive_logical_##op(int x) {                                       \
    return work_group_scan_inclusive_bitwise_##op(x ? -1 : 0) & 1;                                 \
  }                                                                                                \
  OCL_FN int work_group_scan_exclusive_logical_##op(int x) {                                       \
    return work_group_scan_exclusive_bitwise_##op(x ? -1 : 0) & 1;                                 \
  }                                                                                                \
  OCL_MAP_V(work_group_reduce_logical_##op)                                                        \
  OCL_MAP_V(work_group_scan_inclusive_logical_##op)                                                \
  OCL_MAP_V(work_group_scan_exclusive_logical_##op)
OCL_GROUP_LOGICAL(and)
OCL_GROUP_LOGICAL(or)
OCL_GROUP_LOGICAL(xor)

} // namespace ocl
#endif
