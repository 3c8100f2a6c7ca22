// What must be one instruction of the machine: each kernel after the operations that
// its code must have (instructions_test.py).
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// HADD2
kernel void half_sum(global half *a, half b) { a[0] += b; }
// HMUL2
kernel void half_product(global half *a, half b) { a[0] *= b; }
// HFMA2
kernel void half_fma(global half *a, half b, half c) { a[0] = fma(a[0], b, c); }
// HFMA2
kernel void half_contracted(global half *a, half b, half c) { a[0] = a[0] * b + c; }
// HSETP2
kernel void half_comparison(global half *a, half b, half c) { if (a[0] < b) a[0] = c; }
// HMNMX2
kernel void half_least(global half *a, half b) { a[0] = fmin(a[0], b); }
// HADD2|HFMA2 no PRMT
kernel void half_pair(global half2 *a, global const half2 *b) { a[0] = a[0] - b[0]; }

// REDUX.SUM
kernel void sub_group_sum(global int *a) { a[get_global_id(0)] = sub_group_reduce_add(a[0]); }
// REDUX.MIN
kernel void sub_group_least(global uint *a) {
  a[get_global_id(0)] = sub_group_non_uniform_reduce_min(a[get_global_id(0)]);
}
// SHFL.UP no WARPSYNC VOTE
kernel void sub_group_scan(global float *a) {
  a[get_global_id(0)] = sub_group_scan_inclusive_add(a[get_global_id(0)]);
}
// SHFL.IDX no WARPSYNC VOTE
kernel void sub_group_one(global int *a) {
  a[get_global_id(0)] = sub_group_broadcast(a[get_global_id(0)], 5);
}
// SHFL.BFLY
kernel void sub_group_other(global int *a) {
  a[get_global_id(0)] = sub_group_shuffle_xor(a[get_global_id(0)], 5);
}
// VOTE.ALL
kernel void sub_group_vote(global int *a) {
  a[get_global_id(0)] = sub_group_all(a[get_global_id(0)] > 0);
}
// VOTE.ANY
kernel void sub_group_lanes(global uint *a) {
  a[get_global_id(0)] = sub_group_ballot(a[get_global_id(0)] > 0).x;
}
// MATCH.ALL
kernel void sub_group_match(global long *a) {
  a[get_global_id(0)] = sub_group_non_uniform_all_equal(a[get_global_id(0)]);
}
