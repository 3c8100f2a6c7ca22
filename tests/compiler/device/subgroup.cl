/* Kernels of device_subgroup.c. A failed check writes 1 at its line number. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define CHECK(c)                                                                                   \
  if (!(c))                                                                                        \
  failures[__LINE__] = 1
#define IS(mask, lanes) ((mask).x == (uint)(lanes) && (mask).y == 0 && (mask).z == 0 && !(mask).w)

kernel void rest(global int *failures) {
  uint item = get_local_id(0), lane = get_sub_group_local_id(), group = get_local_size(0);
  uint size = get_sub_group_size(), bit = 1u << lane, there = ~0u >> (32 - size);
  CHECK(lane == item % 32 && get_sub_group_id() == item / 32);
  CHECK(get_max_sub_group_size() == 32 && get_num_sub_groups() == (group + 31) / 32);
  CHECK(size == min(group - item / 32 * 32, 32u));
  CHECK(IS(get_sub_group_eq_mask(), bit) && IS(get_sub_group_lt_mask(), bit - 1));
  CHECK(IS(get_sub_group_le_mask(), bit | (bit - 1)) && IS(get_sub_group_ge_mask(), -bit));
  CHECK(IS(get_sub_group_gt_mask(), -bit & ~bit));

  CHECK(sub_group_all(1) == 1 && sub_group_all(lane != 2) == 0);
  CHECK(sub_group_any(0) == 0 && sub_group_any(lane == 2) == 1);
  uint4 odd = sub_group_ballot(lane & 1);
  CHECK(IS(odd, 0xaaaaaaaau & there) && sub_group_inverse_ballot(odd) == (lane & 1));
  CHECK(sub_group_ballot_bit_extract(odd, 3) == 1 && sub_group_ballot_bit_extract(odd, 4) == 0);
  CHECK(sub_group_ballot_bit_count(odd) == size / 2);
  CHECK(sub_group_ballot_inclusive_scan(odd) == (lane + 1) / 2);
  CHECK(sub_group_ballot_exclusive_scan(odd) == lane / 2);
  CHECK(sub_group_ballot_find_lsb(odd) == 1 && sub_group_ballot_find_msb(odd) == (size / 2 * 2 - 1));
  CHECK(popcount(sub_group_ballot(sub_group_elect()).x) == 1);
  if (lane % 3 == 1) {
    CHECK(sub_group_elect() == (lane == 1) && IS(sub_group_ballot(1), 0x92492492u & there));
    CHECK(sub_group_non_uniform_all(lane % 3) == 1 && sub_group_non_uniform_all(lane & 1) == 0);
    CHECK(sub_group_non_uniform_any(lane == 4) == 1 && sub_group_non_uniform_any(lane == 3) == 0);
  } else {
    CHECK(sub_group_elect() == (lane == 0) && IS(sub_group_ballot(lane > 3), 0x6db6db60u & there));
  }
  CHECK(sub_group_non_uniform_all_equal(lane & 1 ? 0.0 : -0.0) == 1);
  CHECK(sub_group_non_uniform_all_equal(lane == 3 ? NAN : NAN) == 0);
  CHECK(sub_group_non_uniform_all_equal((long)lane << 40) == 0);

  CHECK(all(sub_group_broadcast((uchar3)(lane, 7, lane + 1), 2) == (uchar3)(2, 7, 3)));
  CHECK(all(sub_group_broadcast((half2)(lane, -1), 9) == (half2)(9, -1)));
  CHECK(all(sub_group_broadcast((double4)lane, 11) == (double4)11));
  CHECK(all(sub_group_non_uniform_broadcast((long8)lane, 3) == (long8)3));

  /* The same call in both branches: two calls, of some lanes each. */
  uint first;
  if (lane & 1)
    first = sub_group_broadcast_first(lane);
  else
    first = sub_group_broadcast_first(lane);
  CHECK(first == (lane & 1));

  /* Lanes leave the loop one after another. */
  uint sum = 0, turns = lane % 5, want = 0;
  for (uint k = 0; k < turns; k++)
    sum += sub_group_non_uniform_reduce_add(1u) << 6 * k;
  for (uint k = 0; k < turns; k++)
    for (uint i = 0; i < size; i++)
      want += (i % 5 > k ? 1u : 0u) << 6 * k;
  CHECK(sum == want);
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  if (lane > 5)
    return;
  CHECK(sub_group_non_uniform_scan_inclusive_add(1) == lane + 1);
}

/* Lanes part in three ways in every turn, some for good; compared with test_wandering's
 * model. */
kernel void wandering(global const uint *in, global uint *out) {
  uint i = get_global_id(0), sum = 0;
  for (uint k = 0; k < 20; k++) {
    uint x = in[(i * 7 + k * 13) % 1024];
    if (x & 1) {
      sum += sub_group_non_uniform_reduce_add(x & 15);
      if (x & 2)
        break;
    } else if (x & 4) {
      sum ^= popcount(sub_group_ballot(1).x) << k;
      continue;
    } else {
      sum += sub_group_non_uniform_scan_inclusive_max(x & 255);
    }
    if (sub_group_elect())
      sum += 100000;
  }
  out[i] = sum;
}
