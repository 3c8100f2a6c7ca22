/* Functions: inline, static, overloaded, big ones called often, kernels that
 * call kernels, all work-item functions, results of many parts and of none. */
inline int plain_inline(int x) { return x * 3 + 1; }
static int fixed(int x) { return plain_inline(x) - 1; }
__attribute__((overloadable)) float twice(float x) { return x + x; }
__attribute__((overloadable)) int twice(int x) { return x << 1; }
__attribute__((noinline)) float4 far_away(float4 v, int n, global float *g, local float *l) {
  for (int i = 0; i < n; i++)
    v = v * g[i] + l[i] + (float4)(get_global_id(0), get_local_id(0), get_global_size(0), i);
  return v;
}
__attribute__((noinline)) ulong where(uint d) {
  return get_global_id(d) * 31 + get_global_offset(d) * 7 + get_num_groups(d) + get_work_dim();
}
__attribute__((noinline)) void pass(global int *out, int x) { out[x & 7] = x; }

kernel void inner(global int *out, int x) { pass(out, x + (int)get_group_id(0)); }

kernel void outer(global int *out, global float *f, global float4 *v, local float *l) {
  int i = get_global_id(0);
  out[i] = fixed(i) + twice(i) + (int)twice(f[i]);
  inner(out + 8, i);
  v[i] = far_away(v[i], 3, f, l) + far_away(v[i + 1], i, f + 1, l + 2);
  out[i + 1] = (int)(where(0) + where(1) + where(get_work_dim()));
  out[i + 2] = (int)(get_local_size(0) + get_local_size(1) + get_group_id(2) + get_global_size(1));
}

kernel __attribute__((reqd_work_group_size(8, 4, 2))) __attribute__((vec_type_hint(uint4))) void
sized(global int *out) {
  out[get_global_id(0)] = 1;
}
kernel __attribute__((work_group_size_hint(64, 1, 1))) void hinted(global int *out) {
  out[get_global_id(0)] = 1;
}
kernel void empty(void) {}

struct nothing {};
__attribute__((noinline)) struct nothing store(global int *out, struct nothing none, int x) {
  *out = x;
  return none;
}
kernel void of_nothing(global int *out) {
  struct nothing none;
  none = store(out, none, 5);
  store(out + 1, none, 6);
}
