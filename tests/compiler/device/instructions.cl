// Operations that must compile to one instruction. The comment before each kernel lists the
// instructions that its code must contain (instructions_test.py).
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__attribute__((noinline)) uint apart(uint x) { return x * x + 1; }
uint together(uint x) { return x * x + 1; }

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

// IDP.4A.S8.S8
kernel void dot_signed(global int *r, char4 a, char4 b) { r[0] = dot(a, b); }
// IDP.4A.U8.U8
kernel void dot_unsigned(global uint *r, uint a, uint b) { r[0] = dot_4x8packed_uu_uint(a, b); }
// IDP.4A.U8.S8|IDP.4A.S8.U8
kernel void dot_mixed(global int *r, uint a, uint b, int c) {
  r[0] = dot_acc_sat_4x8packed_us_int(a, b, c);
}
// BREV
kernel void reversal(global uint *r) { r[0] = bit_reverse(r[0]); }
// S2UR|S2R|CS2R
kernel void clocks(global ulong *r) { r[0] = clock_read_device() + clock_read_sub_group(); }
// RED.E.ADD.F32.FTZ.RN
kernel void float_sum(global atomic_float *r, float x) {
  atomic_fetch_add_explicit(r, x, memory_order_relaxed, memory_scope_work_group);
}
// ATOM.E.ADD.F64.RN|ATOMG.E.ADD.F64.RN
kernel void double_sum(global atomic_double *r, global double *old) {
  *old = atomic_fetch_add_explicit(r, *old, memory_order_relaxed, memory_scope_work_group);
}
// ATOMS.CAS|ATOMS.CAST
kernel void local_least(global float *r, local atomic_float *l) {
  *r = atomic_fetch_min_explicit(l, *r, memory_order_relaxed, memory_scope_work_group);
}
// ATOMG.E.CAS|ATOM.E.CAS
kernel void half_greatest(global atomic_half *r, half x) {
  atomic_fetch_max_explicit(r, x, memory_order_relaxed, memory_scope_work_group);
}
// ATOMS.CAS|ATOMS.CAST
kernel void local_half(global half *r, local atomic_half *l) {
  *r = atomic_exchange_explicit(l, *r, memory_order_relaxed, memory_scope_work_group);
}
// RED.E.MIN.S64|ATOMG.E.MIN.S64
kernel void long_least(global long *r, long x) { atom_min(r, x); }
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
// SHFL.IDX no WARPSYNC
kernel void sub_group_pair(global int *a, int x) {
  a[get_global_id(0)] = intel_sub_group_shuffle_down(a[get_global_id(0)], x, 5);
}
// LDG.E STG.E
kernel void sub_group_block(global uint *a) {
  intel_sub_group_block_write2(a, intel_sub_group_block_read2(a));
}
// HMMA.16816.F32 LDSM.16.M88.4 LDSM.16.MT88.4 STG.E.64 no PRMT
kernel void matrix_product(local const half *a, local const half *b, global float *c) {
  tegracl_matrix_store_c_f32(c, tegracl_matrix_mad_f16(tegracl_matrix_load_a_f16(a, 2, 16),
                                                       tegracl_matrix_load_b_f16(b, 2, 16),
                                                       (float8)0), 2, 16);
}
// IMMA.16832.S8.U8.SAT LDG.E.CONSTANT no PRMT LDG.E.U8
kernel void matrix_integers(global const char *restrict a, global const uchar *restrict b,
                            global int *c) {
  int8 d = tegracl_matrix_mad_sat_i8(tegracl_matrix_load_a_s8(a, 2, 32),
                                     tegracl_matrix_load_b_u8(b, 3, 32), (int8)1);
  tegracl_matrix_store_c_s32(c, d, 2, 16);
}
// HMMA.16816.F16 no PRMT
kernel void matrix_half_sums(global const half *restrict a, global half *c, uint n) {
  half8 sum = 0;
  for (uint k = 0; k < n; k += 16)
    sum = tegracl_matrix_mad_f16(tegracl_matrix_load_a_f16(a + k, 2, n),
                                 tegracl_matrix_load_b_f16(a + k, 3, n), sum);
  tegracl_matrix_store_c_f16(c, sum, 2, 16);
}
// IMMA.16832.S8.S8 no PRMT
kernel void matrix_fetched_before(global const char *restrict a, global int *c, uint n) {
  int8 sum = 0;
  char16 x = tegracl_matrix_load_a_s8(a, 2, n), y = tegracl_matrix_load_b_s8(a, 3, n);
  for (uint k = 32; k < n; k += 32) {
    sum = tegracl_matrix_mad_i8(x, y, sum);
    x = tegracl_matrix_load_a_s8(a + k, 2, n);
    y = tegracl_matrix_load_b_s8(a + k, 3, n);
  }
  tegracl_matrix_store_c_s32(c, tegracl_matrix_mad_i8(x, y, sum), 2, 16);
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
// CALL
kernel void calls(global uint *a) { a[0] = apart(apart(a[1])); }
// no CALL
kernel void replaces(global uint *a) { a[0] = together(together(a[1])); }
