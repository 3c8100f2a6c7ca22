/* 256-bin histogram: each work-group counts in local memory, then adds its
 * counts to the global ones. bins is a local argument of 256 uints. */
kernel void histogram(global const uchar *data, uint size, global uint *total, local uint *bins) {
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < size; i += get_global_size(0))
    atomic_inc(&bins[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    atomic_add(&total[i], bins[i]);
}
