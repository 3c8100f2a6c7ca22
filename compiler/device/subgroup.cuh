/* Sub-group functions (section 6.15.19 of OpenCL C 3.0) and those of the extensions
 * cl_khr_subgroup_ballot, _non_uniform_vote, _shuffle, _shuffle_relative, _rotate and
 * _extended_types. Reductions and scans are in subgroup_scan.cuh. A sub-group is a
 * warp: 32 work-items in the order of their linear local ids, or fewer in the last
 * sub-group of a work-group.
 *
 * Functions that every work-item of the sub-group must execute use a mask of all
 * lanes. Lanes that do not exist or have exited are ignored (PTX, shfl.sync: "all
 * non-exited threads"), and the compiler assumes a converged warp. Functions that only
 * some work-items may execute use the mask of active lanes.
 */
#ifndef TEGRACL_SUBGROUP_CUH
#define TEGRACL_SUBGROUP_CUH
#include "half.cuh"

namespace ocl {

constexpr uint WARP = 32, ALL_LANES = ~0u;

#define OCL_LANE_REGISTER(name, ptx)                                                               \
  OCL_FN uint name() {                                                                             \
    uint r;                                                                                        \
    asm("mov.u32 %0, " ptx ";" : "=r"(r));                                                         \
    return r;                                                                                      \
  }
OCL_LANE_REGISTER(get_sub_group_local_id, "%%laneid")
OCL_LANE_REGISTER(lanes_eq, "%%lanemask_eq")
OCL_LANE_REGISTER(lanes_ge, "%%lanemask_ge")
OCL_LANE_REGISTER(lanes_gt, "%%lanemask_gt")
OCL_LANE_REGISTER(lanes_le, "%%lanemask_le")
OCL_LANE_REGISTER(lanes_lt, "%%lanemask_lt")

OCL_FN uint work_group_size() {
  return blockDim.x * blockDim.y * blockDim.z;
}
OCL_FN uint get_sub_group_id() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / WARP;
}
OCL_FN uint get_num_sub_groups() {
  return (work_group_size() + WARP - 1) / WARP;
}
OCL_FN uint get_enqueued_num_sub_groups(const hidden &h) {
  return (h.group_size[0] * h.group_size[1] * h.group_size[2] + WARP - 1) / WARP;
}
OCL_FN uint get_max_sub_group_size() {
  return WARP;
}
OCL_FN uint get_sub_group_size() {
  uint rest = work_group_size() - get_sub_group_id() * WARP;
  return rest < WARP ? rest : WARP;
}

OCL_FN void sub_group_barrier(uint) {
  __syncwarp();
}
OCL_FN void sub_group_barrier(uint, int scope) {
  if (scope == SCOPE_DEVICE || scope == SCOPE_ALL)
    fence(scope);
  __syncwarp();
}

/* Votes. */
OCL_FN int sub_group_all(int x) {
  return __all_sync(ALL_LANES, x);
}
OCL_FN int sub_group_any(int x) {
  return __any_sync(ALL_LANES, x);
}
OCL_FN int sub_group_non_uniform_all(int x) {
  return __all_sync(__activemask(), x);
}
OCL_FN int sub_group_non_uniform_any(int x) {
  return __any_sync(__activemask(), x);
}
OCL_FN uint first_lane(uint lanes) {
  return __ffs(lanes) - 1;
}
OCL_FN uint last_lane(uint lanes) {
  return WARP - 1 - __clz(lanes);
}
OCL_FN int sub_group_elect() {
  return get_sub_group_local_id() == first_lane(__activemask());
}

/* Exchanges a value as one or two 32-bit words. */
#define OCL_ACROSS(name, cuda)                                                                     \
  template <class T> OCL_FN T name(uint lanes, T x, uint place) {                                  \
    typedef to_unsigned<T> U;                                                                      \
    if constexpr (sizeof(T) == 8)                                                                  \
      return from_unsigned<T>(::cuda(lanes, as_bits(x), place));                                   \
    else                                                                                           \
      return from_unsigned<T>(U(::cuda(lanes, uint(as_bits(x)), place)));                          \
  }
OCL_ACROSS(read_lane, __shfl_sync)
OCL_ACROSS(read_xor, __shfl_xor_sync)
OCL_ACROSS(read_up, __shfl_up_sync)
OCL_ACROSS(read_down, __shfl_down_sync)

/* OpenCL C has only broadcasts for vectors; SPIR-V has all functions. */
#define OCL_SHUFFLE(name, lanes, function)                                                         \
  template <class T> OCL_FN scalar<T> name(T x, uint place) {                                      \
    return function(lanes, x, place);                                                              \
  }                                                                                                \
  OCL_MAP_VS(name)
OCL_SHUFFLE(sub_group_broadcast, ALL_LANES, read_lane)
OCL_SHUFFLE(sub_group_non_uniform_broadcast, __activemask(), read_lane)
OCL_SHUFFLE(sub_group_shuffle, __activemask(), read_lane)
OCL_SHUFFLE(sub_group_shuffle_xor, __activemask(), read_xor)
OCL_SHUFFLE(sub_group_shuffle_up, __activemask(), read_up)
OCL_SHUFFLE(sub_group_shuffle_down, __activemask(), read_down)

template <class T> OCL_FN T sub_group_broadcast_first(T x) {
  uint lanes = __activemask();
  return read_lane(lanes, x, first_lane(lanes));
}
/* Lane numbers wrap around at the width, which is a power of two. */
template <class T> OCL_FN T sub_group_clustered_rotate(T x, int delta, uint width) {
  uint lane = get_sub_group_local_id();
  return read_lane(__activemask(), x, (lane & ~(width - 1)) | ((lane + delta) & (width - 1)));
}
template <class T> OCL_FN T sub_group_rotate(T x, int delta) {
  return sub_group_clustered_rotate(x, delta, WARP);
}

/* Compares floating-point values with ==: zeros of different signs are equal, NaNs are not. */
template <class T> OCL_FN int sub_group_non_uniform_all_equal(T x) {
  uint lanes = __activemask();
  if constexpr (is_float<T>) {
    return __all_sync(lanes, x == read_lane(lanes, x, first_lane(lanes)));
  } else {
    int equal;
    __match_all_sync(lanes, pick<sizeof(T) == 8, ulong, uint>(x), &equal);
    return equal;
  }
}

/* Ballots. The first of the four words has a bit for each lane. */
typedef vec<uint, 4> ballot;

OCL_FN ballot sub_group_ballot(int x) {
  return ballot{__ballot_sync(__activemask(), x)};
}
OCL_FN int sub_group_inverse_ballot(ballot b) {
  return (b.s[0] & lanes_eq()) != 0;
}
OCL_FN int sub_group_ballot_bit_extract(ballot b, uint place) {
  return b.s[0] >> place % WARP & 1;
}
OCL_FN uint sub_group_ballot_bit_count(ballot b) {
  return __popc(b.s[0]);
}
OCL_FN uint sub_group_ballot_inclusive_scan(ballot b) {
  return __popc(b.s[0] & lanes_le());
}
OCL_FN uint sub_group_ballot_exclusive_scan(ballot b) {
  return __popc(b.s[0] & lanes_lt());
}
OCL_FN uint sub_group_ballot_find_lsb(ballot b) {
  return first_lane(b.s[0]);
}
OCL_FN uint sub_group_ballot_find_msb(ballot b) {
  return last_lane(b.s[0]);
}
#define OCL_LANE_MASK(relation)                                                                    \
  OCL_FN ballot get_sub_group_##relation##_mask() {                                                \
    return ballot{lanes_##relation()};                                                             \
  }
OCL_LANE_MASK(eq)
OCL_LANE_MASK(ge)
OCL_LANE_MASK(gt)
OCL_LANE_MASK(le)
OCL_LANE_MASK(lt)

} // namespace ocl
#endif
