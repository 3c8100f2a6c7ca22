/* Reductions and scans of sub-groups: those of section 6.15.19 of OpenCL C 3.0, of
 * cl_khr_subgroup_non_uniform_arithmetic and _clustered_reduce, and of the SPIR-V extension
 * SPV_KHR_uniform_group_instructions, with the function names of LLVM's translator.
 *
 * Functions that all work-items execute take five shuffle steps, or one REDUX for
 * reductions of integers of up to 32 bits. If only some lanes are active, each lane follows
 * the chain of active lanes before it, and each step doubles the distance.
 */
#ifndef TEGRACL_SUBGROUP_SCAN_CUH
#define TEGRACL_SUBGROUP_SCAN_CUH
#include "subgroup.cuh"

namespace ocl {

/* has_redux is true for types that redux(lanes, x) supports in hardware. */
#define OCL_OPERATION(name, unit, result, HAS_REDUX, cuda)                                         \
  struct op_##name {                                                                               \
    template <class T> static OCL_FN T identity() {                                                \
      return unit;                                                                                 \
    }                                                                                              \
    template <class T> static OCL_FN T apply(T a, T b) {                                           \
      return result;                                                                               \
    }                                                                                              \
    template <class T>                                                                             \
    static constexpr bool has_redux = HAS_REDUX && !is_float<T> && sizeof(T) <= 4;                 \
    template <class T> static OCL_FN T redux(uint lanes, T x) {                                    \
      if constexpr (has_redux<T>)                                                                  \
        return T(cuda(lanes, pick<is_signed<T>, int, uint>(x)));                                   \
      return x;                                                                                    \
    }                                                                                              \
  };
template <class T> OCL_FN T greatest() {
  if constexpr (is_float<T>)
    return T(__int_as_float(0x7f800000));
  else
    return max_of<T>;
}
template <class T> OCL_FN T least() {
  if constexpr (is_float<T>)
    return T(__int_as_float(0xff800000));
  else
    return min_of<T>;
}
template <class T> OCL_FN T no_redux(uint, T x) {
  return x;
}
OCL_OPERATION(add, T(0), T(a + b), true, __reduce_add_sync)
OCL_OPERATION(mul, T(1), T(a * b), false, no_redux)
OCL_OPERATION(min, greatest<T>(), b < a ? b : a, true, __reduce_min_sync)
OCL_OPERATION(max, least<T>(), a < b ? b : a, true, __reduce_max_sync)
OCL_OPERATION(and, T(-1), T(a & b), true, __reduce_and_sync)
OCL_OPERATION(or, T(0), T(a | b), true, __reduce_or_sync)
OCL_OPERATION(xor, T(0), T(a ^ b), true, __reduce_xor_sync)

/* Replaces x by that of the lane step below or above. Returns false, with x unchanged, if that
 * lane is outside the segment that bounds (from shuffle_bounds) describes. */
#define OCL_BOUNDED_SHUFFLE(name, direction)                                                       \
  OCL_FN bool name(uint &x, uint step, uint bounds) {                                              \
    uint r, exists;                                                                                \
    asm volatile("{ .reg .pred p; shfl.sync." direction ".b32 %0|p, %2, %3, %4, 0xffffffff; "      \
                 "selp.u32 %1, 1, 0, p; }"                                                         \
                 : "=r"(r), "=r"(exists)                                                           \
                 : "r"(x), "r"(step), "r"(bounds));                                                \
    x = r;                                                                                         \
    return exists != 0;                                                                            \
  }                                                                                                \
  template <class T> OCL_FN bool name(T &x, uint step, uint bounds) {                              \
    typedef to_unsigned<T> U;                                                                      \
    if constexpr (sizeof(T) == 8) {                                                                \
      uint low = uint(as_bits(x)), high = uint(as_bits(x) >> 32);                                  \
      name(low, step, bounds);                                                                     \
      bool exists = name(high, step, bounds);                                                      \
      x = from_unsigned<T>(ulong(high) << 32 | low);                                               \
      return exists;                                                                               \
    } else {                                                                                       \
      uint word = as_bits(x);                                                                      \
      bool exists = name(word, step, bounds);                                                      \
      x = from_unsigned<T>(U(word));                                                               \
      return exists;                                                                               \
    }                                                                                              \
  }
OCL_BOUNDED_SHUFFLE(lane_below, "up")
OCL_BOUNDED_SHUFFLE(lane_above, "down")

/* Returns the third operand of PTX's shfl: the width of segments and where they end. */
OCL_FN uint shuffle_bounds(uint width, uint end) {
  return (WARP - width) << 8 | end;
}

/* Scans and reductions in which all lanes of a converged warp take part. */
template <class OP, class T> OCL_FN T scan_all(T x, uint width) {
  for (uint step = 1; step < width; step *= 2) {
    T other = x;
    bool exists = lane_below(other, step, shuffle_bounds(width, 0));
    x = exists ? OP::apply(other, x) : x;
  }
  return x;
}
template <class OP, class T> OCL_FN T reduce_all(T x) {
  if constexpr (OP::template has_redux<T>)
    return OP::redux(ALL_LANES, x);
  uint bounds = shuffle_bounds(WARP, get_sub_group_size() - 1);
#pragma unroll
  for (uint step = 1; step < WARP; step *= 2) {
    T other = x;
    bool exists = lane_above(other, step, bounds);
    x = exists ? OP::apply(x, other) : x;
  }
  return read_lane(ALL_LANES, x, 0);
}

/* Returns a mask of the lanes in this lane's cluster. */
OCL_FN uint cluster(uint width) {
  return (ALL_LANES >> (WARP - width)) << (get_sub_group_local_id() & ~(width - 1));
}
/* Returns the last of the lanes before this one, or WARP if there is none. */
OCL_FN uint lane_before(uint lanes) {
  uint before = lanes & lanes_lt();
  return before ? last_lane(before) : WARP;
}

/* Scans and reductions over the active lanes of this lane's cluster. */
template <class OP, class T> OCL_FN T scan_some(T x, uint active, uint width) {
  if (active == ALL_LANES)
    return scan_all<OP>(x, width);
  uint from = lane_before(active & cluster(width));
#pragma unroll
  for (uint step = 1; step < WARP; step *= 2) {
    T other = read_lane(active, x, from);
    uint further = read_lane(active, from, from);
    if (from < WARP) {
      x = OP::apply(other, x);
      from = further;
    }
  }
  return x;
}
template <class OP, class T> OCL_FN T reduce_some(T x, uint active, uint width) {
  if constexpr (OP::template has_redux<T>)
    if (width == WARP)
      return OP::redux(active, x);
  if (active == ALL_LANES) {
    for (uint step = 1; step < width; step *= 2)
      x = OP::apply(x, read_xor(ALL_LANES, x, step));
    return x;
  }
  return read_lane(active, scan_some<OP>(x, active, width), last_lane(active & cluster(width)));
}
/* Converts an inclusive scan to an exclusive one by taking the value of the active lane before. */
template <class OP, class T> OCL_FN T make_exclusive(T scanned, uint active) {
  uint from = lane_before(active);
  T other = read_lane(active, scanned, from);
  return from < WARP ? other : OP::template identity<T>();
}

/* Only SPIR-V has vector forms of these functions. */
#define OCL_ALL_LANES(name, op)                                                                    \
  template <class T> OCL_FN T sub_group_reduce_##name(T x) {                                       \
    return reduce_all<op_##op>(x);                                                                 \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_scan_inclusive_##name(T x) {                               \
    return scan_all<op_##op>(x, WARP);                                                             \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_scan_exclusive_##name(T x) {                               \
    x = scan_all<op_##op>(x, WARP);                                                                \
    bool exists = lane_below(x, 1, shuffle_bounds(WARP, 0));                                       \
    return exists ? x : op_##op::template identity<T>();                                           \
  }                                                                                                \
  OCL_MAP_V(sub_group_reduce_##name)                                                               \
  OCL_MAP_V(sub_group_scan_inclusive_##name)                                                       \
  OCL_MAP_V(sub_group_scan_exclusive_##name)
OCL_ALL_LANES(add, add)
OCL_ALL_LANES(min, min)
OCL_ALL_LANES(max, max)
OCL_ALL_LANES(mul, mul)
OCL_ALL_LANES(bitwise_and, and)
OCL_ALL_LANES(bitwise_or, or)
OCL_ALL_LANES(bitwise_xor, xor)

#define OCL_SOME_LANES(op)                                                                         \
  template <class T> OCL_FN T sub_group_non_uniform_reduce_##op(T x) {                             \
    return reduce_some<op_##op>(x, __activemask(), WARP);                                          \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_non_uniform_scan_inclusive_##op(T x) {                     \
    return scan_some<op_##op>(x, __activemask(), WARP);                                            \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_non_uniform_scan_exclusive_##op(T x) {                     \
    uint active = __activemask();                                                                  \
    return make_exclusive<op_##op>(scan_some<op_##op>(x, active, WARP), active);                   \
  }                                                                                                \
  template <class T> OCL_FN T sub_group_clustered_reduce_##op(T x, uint width) {                   \
    return reduce_some<op_##op>(x, __activemask(), width);                                         \
  }
OCL_SOME_LANES(add)
OCL_SOME_LANES(mul)
OCL_SOME_LANES(min)
OCL_SOME_LANES(max)
OCL_SOME_LANES(and)
OCL_SOME_LANES(or)
OCL_SOME_LANES(xor)

/* Logical operations on votes of lanes. */
OCL_FN int logical_and(uint votes, uint lanes) {
  return (votes & lanes) == lanes;
}
OCL_FN int logical_or(uint votes, uint lanes) {
  return (votes & lanes) != 0;
}
OCL_FN int logical_xor(uint votes, uint lanes) {
  return __popc(votes & lanes) & 1;
}
#define OCL_LOGICAL(op, name, params, lanes)                                                       \
  OCL_FN int sub_group_##name##_logical_##op params {                                              \
    uint active = __activemask();                                                                  \
    return logical_##op(__ballot_sync(active, x), active & (lanes));                               \
  }
#define OCL_LOGICALS(op)                                                                           \
  OCL_LOGICAL(op, non_uniform_reduce, (int x), ALL_LANES)                                          \
  OCL_LOGICAL(op, non_uniform_scan_inclusive, (int x), lanes_le())                                 \
  OCL_LOGICAL(op, non_uniform_scan_exclusive, (int x), lanes_lt())                                 \
  OCL_LOGICAL(op, clustered_reduce, (int x, uint width), cluster(width))
OCL_LOGICALS(and)
OCL_LOGICALS(or)
OCL_LOGICALS(xor)

/* Logical operations over all lanes of the sub-group. */
#define OCL_LOGICAL_ALL_LANES(op)                                                                  \
  OCL_FN int sub_group_reduce_logical_##op(int x) {                                                \
    return logical_##op(__ballot_sync(ALL_LANES, x), __ballot_sync(ALL_LANES, 1));                 \
  }                                                                                                \
  OCL_FN int sub_group_scan_inclusive_logical_##op(int x) {                                        \
    return logical_##op(__ballot_sync(ALL_LANES, x), lanes_le());                                  \
  }                                                                                                \
  OCL_FN int sub_group_scan_exclusive_logical_##op(int x) {                                        \
    return logical_##op(__ballot_sync(ALL_LANES, x), lanes_lt());                                  \
  }                                                                                                \
  OCL_MAP_V(sub_group_reduce_logical_##op)                                                         \
  OCL_MAP_V(sub_group_scan_inclusive_logical_##op)                                                 \
  OCL_MAP_V(sub_group_scan_exclusive_logical_##op)
OCL_LOGICAL_ALL_LANES(and)
OCL_LOGICAL_ALL_LANES(or)
OCL_LOGICAL_ALL_LANES(xor)

} // namespace ocl
#endif
