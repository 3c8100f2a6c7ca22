/* Counts of n bytes, four at a time: local counters, then global ones. */
#define SIZE 256

__attribute__((reqd_work_group_size(SIZE, 1, 1))) kernel void
histogram(global const uint *restrict in, global uint *restrict counts, int words) {
  local uint bins[256];
  int item = get_local_id(0);
  bins[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < words; i += get_global_size(0)) {
    uint word = in[i];
    atomic_inc(&bins[word & 255]);
    atomic_inc(&bins[word >> 8 & 255]);
    atomic_inc(&bins[word >> 16 & 255]);
    atomic_inc(&bins[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[item], bins[item]);
}
