/* Shuffles of cl_intel_subgroups and SPV_INTEL_subgroups, and the names of
 * cl_intel_subgroups_char and _short for sub-group functions. */
#ifndef TEGRACL_INTEL_SUBGROUP_CUH
#define TEGRACL_INTEL_SUBGROUP_CUH
#include "subgroup_scan.cuh"

namespace ocl {

/* A shuffle may be executed by only some of the lanes. */
template <class T> OCL_FN T intel_sub_group_shuffle(T x, uint lane) {
  return sub_group_shuffle(x, lane);
}
template <class T> OCL_FN T intel_sub_group_shuffle_xor(T x, uint value) {
  return sub_group_shuffle_xor(x, value);
}

/* Shuffles two values of each lane, as if the values of next followed those of current. */
template <class T> OCL_FN T intel_sub_group_shuffle_down(T current, T next, uint delta) {
  const uint place = get_sub_group_local_id() + delta;
  const T near = sub_group_shuffle(current, place % WARP);
  const T far = sub_group_shuffle(next, place % WARP);
  return place < WARP ? near : far;
}
template <class T> OCL_FN T intel_sub_group_shuffle_up(T previous, T current, uint delta) {
  return intel_sub_group_shuffle_down(previous, current, WARP - delta);
}

#define OCL_INTEL_ALIAS(name)                                                                      \
  template <class T> OCL_FN T intel_##name(T x) {                                                  \
    return name(x);                                                                                \
  }
OCL_INTEL_ALIAS(sub_group_reduce_add)
OCL_INTEL_ALIAS(sub_group_reduce_min)
OCL_INTEL_ALIAS(sub_group_reduce_max)
OCL_INTEL_ALIAS(sub_group_scan_inclusive_add)
OCL_INTEL_ALIAS(sub_group_scan_inclusive_min)
OCL_INTEL_ALIAS(sub_group_scan_inclusive_max)
OCL_INTEL_ALIAS(sub_group_scan_exclusive_add)
OCL_INTEL_ALIAS(sub_group_scan_exclusive_min)
OCL_INTEL_ALIAS(sub_group_scan_exclusive_max)
template <class T> OCL_FN T intel_sub_group_broadcast(T x, uint lane) {
  return sub_group_broadcast(x, lane);
}

} // namespace ocl
#endif
