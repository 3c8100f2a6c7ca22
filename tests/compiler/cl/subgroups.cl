// Sub-group functions in a function, in a loop and after a condition.

float __attribute__((noinline)) total(float x) { return sub_group_reduce_add(x); }

kernel void sums(global float *a, local float *l, int n) {
  size_t i = get_local_id(0);
  for (int k = 0; k < n; k++)
    if (a[i] > k)
      l[i] = sub_group_non_uniform_scan_exclusive_max(a[i + k]) + sub_group_rotate(a[i], k);
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = total(l[i]) + sub_group_clustered_reduce_mul(l[i], 4);
}
