/* c = a * b, all n by n, in 16 by 16 tiles kept in local memory. */
#define TILE 16
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul(global const float *a, global const float *b, global float *c, int n) {
  local float at[TILE][TILE], bt[TILE][TILE];
  int col = get_global_id(0), row = get_global_id(1);
  int lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0.0f;
  for (int k = 0; k < n; k += TILE) {
    at[ly][lx] = a[row * n + k + lx];
    bt[ly][lx] = b[(k + ly) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++)
      sum = fma(at[ly][i], bt[i][lx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}
