/* Kernels of prebuilt.c: integers, floats, doubles, local memory, a barrier, an
 * atomic, a branch that parts the work-items of a warp.
 */
kernel void mix(global const uint *in, global uint *out, uint factor) {
  size_t i = get_global_id(0);
  uint x = in[i] * factor;
  if (x & 1)
    x = rotate(x, 7u) ^ mad24(x & 0xffffffu, 5u, 3u);
  else
    x = popcount(x) + mul_hi(x, 0x9e3779b9u);
  out[i] = x;
}

kernel void arithmetic(global const float *in, global float *out, global double *wide) {
  size_t i = get_global_id(0);
  out[i] = fma(in[i], in[i], -1.0f) / 3.0f + sqrt(fabs(in[i]));
  wide[i] = fma((double)in[i], 1.0 / 3.0, -0.125) / 7.0;
}

kernel void total(global const uint *in, global uint *sum, local uint *part) {
  size_t l = get_local_id(0);
  part[l] = in[get_global_id(0)];
  for (size_t half_of = get_local_size(0) / 2; half_of > 0; half_of /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < half_of)
      part[l] += part[l + half_of];
  }
  if (l == 0)
    atomic_add(sum, part[0]);
}
