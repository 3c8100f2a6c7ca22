/* C = A B of row-major n x n matrices: 64 x 64 elements of C for each work-group,
 * 4 x 4 of them in the registers of each work-item, vector loads. n is a multiple
 * of 64. */
#define BLOCK 64
#define DEPTH 16
#define EACH 4

__attribute__((reqd_work_group_size(BLOCK / EACH, BLOCK / EACH, 1))) kernel void
sgemm_blocked(global const float4 *restrict a, global const float4 *restrict b,
              global float4 *restrict c, int n) {
  local float tile_a[DEPTH][BLOCK];
  local float4 tile_b[DEPTH][BLOCK / EACH];
  int x = get_local_id(0), y = get_local_id(1);
  int item = y * (BLOCK / EACH) + x;
  int width = n / 4;
  global const float4 *from_a =
      a + (get_group_id(1) * BLOCK + item / (DEPTH / 4)) * width + item % (DEPTH / 4);
  global const float4 *from_b = b + y * width + get_group_id(0) * (BLOCK / 4) + x;
  float4 sum[EACH] = {0, 0, 0, 0};
  for (int k = 0; k < n; k += DEPTH) {
    float4 part = *from_a;
    int column = item % (DEPTH / 4) * 4, row = item / (DEPTH / 4);
    tile_a[column + 0][row] = part.x;
    tile_a[column + 1][row] = part.y;
    tile_a[column + 2][row] = part.z;
    tile_a[column + 3][row] = part.w;
    tile_b[y][x] = *from_b;
    from_a += DEPTH / 4;
    from_b += DEPTH * width;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < DEPTH; i++) {
      float4 left = *(local const float4 *)&tile_a[i][y * EACH];
      float4 right = tile_b[i][x];
      sum[0] += left.x * right;
      sum[1] += left.y * right;
      sum[2] += left.z * right;
      sum[3] += left.w * right;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  global float4 *to = c + (get_group_id(1) * BLOCK + y * EACH) * width +
                      get_group_id(0) * (BLOCK / 4) + x;
  for (int i = 0; i < EACH; i++)
    to[i * width] = sum[i];
}
