/* Inclusive sums of each work-group's 512 integers (Blelloch's tree). */
#define SIZE 256

__attribute__((reqd_work_group_size(SIZE, 1, 1))) kernel void
scan(global const uint *restrict in, global uint *restrict out) {
  local uint tree[2 * SIZE];
  int item = get_local_id(0);
  size_t base = get_group_id(0) * (2 * SIZE);
  uint a = in[base + item], b = in[base + SIZE + item];
  tree[item] = a;
  tree[SIZE + item] = b;
  int offset = 1;
  for (int d = SIZE; d; d /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < d)
      tree[offset * (2 * item + 2) - 1] += tree[offset * (2 * item + 1) - 1];
    offset *= 2;
  }
  if (item == 0)
    tree[2 * SIZE - 1] = 0;
  for (int d = 1; d <= SIZE; d *= 2) {
    offset /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < d) {
      int left = offset * (2 * item + 1) - 1, right = offset * (2 * item + 2) - 1;
      uint sum = tree[left];
      tree[left] = tree[right];
      tree[right] += sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + item] = tree[item] + a;
  out[base + SIZE + item] = tree[SIZE + item] + b;
}
