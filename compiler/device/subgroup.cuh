/* Sub-groups (section 6.15.19 of OpenCL C 3.0 and the cl_khr_subgroup_shuffle
 * extensions): a sub-group is a warp; the last one of a work-group may have
 * fewer than 32 work-items. */
#ifndef TEGRACL_SUBGROUP_CUH
#define TEGRACL_SUBGROUP_CUH
#include "tegracl.cuh"

namespace ocl {

constexpr uint WARP = 32;

OCL_FN uint work_group_size() {
  return blockDim.x * blockDim.y * blockDim.z;
}
OCL_FN uint local_place() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
OCL_FN uint get_sub_group_local_id() {
  return local_place() % WARP;
}
OCL_FN uint get_sub_group_id() {
  return local_place() / WARP;
}
OCL_FN uint get_num_sub_groups() {
  return (work_group_size() + WARP - 1) / WARP;
}
OCL_FN uint get_enqueued_num_sub_groups() {
  return get_num_sub_groups();
}
OCL_FN uint get_max_sub_group_size() {
  return WARP;
}
OCL_FN uint get_sub_group_size() {
  uint rest = work_group_size() - get_sub_group_id() * WARP;
  return rest < WARP ? rest : WARP;
}
/* The lanes that exist: all of them take part in a sub-group function. */
OCL_FN uint lanes() {
  return ~0u >> (WARP - get_sub_group_size());
}

OCL_FN void sub_group_barrier(uint) {
  __syncwarp(lanes());
}
OCL_FN void sub_group_barrier(uint, int) {
  __syncwarp(lanes());
}
OCL_FN int sub_group_all(int x) {
  return __all_sync(lanes(), x);
}
OCL_FN int sub_group_any(int x) {
  return __any_sync(lanes(), x);
}

/* Shuffles of every scalar type; the narrow ones travel as 32 bits. */
#define OCL_SHUFFLE(name, cuda)                                                                    \
  template <class T> OCL_FN T name(T x, uint lane) {                                               \
    if constexpr (sizeof(T) < 4)                                                                   \
      return T(cuda(lanes(), int(x), lane));                                                       \
    else                                                                                           \
      return cuda(lanes(), x, lane);                                                               \
  }
OCL_SHUFFLE(sub_group_broadcast, __shfl_sync)
OCL_SHUFFLE(sub_group_shuffle, __shfl_sync)
OCL_SHUFFLE(sub_group_shuffle_xor, __shfl_xor_sync)
OCL_SHUFFLE(sub_group_shuffle_up, __shfl_up_sync)
OCL_SHUFFLE(sub_group_shuffle_down, __shfl_down_sync)

struct op_add {
  template <class T> static OCL_FN T identity() { return T(0); }
  template <class T> static OCL_FN T apply(T a, T b) { return a + b; }
};
struct op_min {
  template <class T> static OCL_FN T identity() {
    if constexpr (is_float<T>)
      return T(__int_as_float(0x7f800000));
    else
      return max_of<T>;
  }
  template <class T> static OCL_FN T apply(T a, T b) { return b < a ? b : a; }
};
struct op_max {
  template <class T> static OCL_FN T identity() {
    if constexpr (is_float<T>)
      return T(-__int_as_float(0x7f800000));
    else
      return min_of<T>;
  }
  template <class T> static OCL_FN T apply(T a, T b) { return a < b ? b : a; }
};

template <class OP, class T> OCL_FN T scan_inclusive(T x) {
  uint lane = get_sub_group_local_id();
#pragma unroll
  for (uint step = 1; step < WARP; step *= 2) {
    T other = sub_group_shuffle_up(x, step);
    x = lane >= step ? OP::apply(other, x) : x;
  }
  return x;
}

#define OCL_SCAN(op)                                                                               \
  template <class T> OCL_FN T sub_group_scan_inclusive_##op(T x) {                                 \
    return scan_inclusive<op_##op>(x);                                                             \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_scan_exclusive_##op(T x) {                                 \
    T before = sub_group_shuffle_up(scan_inclusive<op_##op>(x), 1);                                \
    return get_sub_group_local_id() == 0 ? op_##op::identity<T>() : before;                        \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_reduce_##op(T x) {                                         \
    return sub_group_broadcast(scan_inclusive<op_##op>(x), get_sub_group_size() - 1);              \
  }
OCL_SCAN(add)
OCL_SCAN(min)
OCL_SCAN(max)

} // namespace ocl
#endif
