/* cl_intel_bfloat16_conversions and cl_intel_split_work_group_barrier, from source and by way of
 * SPIR-V. */

#define CONVERT(n)                                                                                               \
  kernel void to_bfloat16_##n(global const float *in, global ushort *out) {                                      \
    size_t i = get_global_id(0);                                                                                 \
    vstore##n(intel_convert_bfloat16##n##_as_ushort##n(vload##n(i, in)), i, out);                                \
  }                                                                                                              \
  kernel void to_float_##n(global const ushort *in, global float *out) {                                         \
    size_t i = get_global_id(0);                                                                                 \
    vstore##n(intel_convert_as_bfloat16##n##_float##n(vload##n(i, in)), i, out);                                 \
  }
CONVERT(2)
CONVERT(3)
CONVERT(4)
CONVERT(8)
CONVERT(16)
kernel void to_bfloat16_1(global const float *in, global ushort *out) {
  size_t i = get_global_id(0);
  out[i] = intel_convert_bfloat16_as_ushort(in[i]);
}
kernel void to_float_1(global const ushort *in, global float *out) {
  size_t i = get_global_id(0);
  out[i] = intel_convert_as_bfloat16_float(in[i]);
}

/* Each turn reads what another sub-group wrote in the one before, by both memories. */
kernel void turns(local uint *near, global uint *far, global uint *out) {
  uint i = get_local_id(0), n = get_local_size(0), x = i;
  far += get_group_id(0) * n;
  for (int turn = 0; turn < 20; turn++) {
    near[i] = x;
    far[i] = x * 3;
    intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint own = x * x;
    intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x = own + near[(i + 33) % n] + far[(i + 71) % n];
    intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);
  }
  out[get_global_id(0)] = x;
}
