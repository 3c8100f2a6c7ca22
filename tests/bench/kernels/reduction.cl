/* Sums of n floats, one for each work-group: each work-item adds up its part, the
 * group the sums, in a tree in local memory. */
#define SIZE 256

__attribute__((reqd_work_group_size(SIZE, 1, 1))) kernel void
reduction(global const float *restrict in, global float *restrict sums, int n) {
  local float part[SIZE];
  int item = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum += in[i];
  part[item] = sum;
  for (int step = SIZE / 2; step; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step)
      part[item] += part[item + step];
  }
  if (item == 0)
    sums[get_group_id(0)] = part[0];
}
