/* C = A B of row-major n x n matrices on the tensor cores, half precision into float: 128 x 128
 * elements of C for each work-group, 64 x 32 of them in the registers of each sub-group, as
 * products of 16 x 16 x 16. n is a multiple of 128. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define TILE    128
#define DEPTH   32
#define ROWS    4 /* products of each sub-group, down and across */
#define COLUMNS 2
#define LAYOUT  (TEGRACL_MATRIX_ROW_MAJOR | TEGRACL_MATRIX_ALIGNED)
/* Eight more elements in a row of a tile: eight rows of 16 bytes are in different banks. */
#define PITCH_A (DEPTH + 8)
#define PITCH_B (TILE + 8)

__attribute__((reqd_work_group_size(256, 1, 1))) kernel void
hgemm_tensor(global const half *restrict a, global const half *restrict b, global float *restrict c,
             int n) {
  local half tile_a[TILE * PITCH_A] __attribute__((aligned(16)));
  local half tile_b[DEPTH * PITCH_B] __attribute__((aligned(16)));
  int item = get_local_id(0), warp = item / 32;
  int row = warp / 4 * (16 * ROWS), column = warp % 4 * (16 * COLUMNS);
  /* 16 bytes of two rows of each tile */
  int row_a = item / (DEPTH / 8), column_a = item % (DEPTH / 8) * 8;
  int row_b = item / (TILE / 8), column_b = item % (TILE / 8) * 8;
  global const half *from_a = a + (get_group_id(1) * TILE + row_a) * n + column_a;
  global const half *from_b = b + row_b * n + get_group_id(0) * TILE + column_b;
  local uint4 *to_a = (local uint4 *)(tile_a + row_a * PITCH_A + column_a);
  local uint4 *to_b = (local uint4 *)(tile_b + row_b * PITCH_B + column_b);
  float8 sum[ROWS][COLUMNS];
#pragma unroll
  for (int y = 0; y < ROWS; y++)
#pragma unroll
    for (int x = 0; x < COLUMNS; x++)
      sum[y][x] = 0;
  for (int k = 0; k < n; k += DEPTH) {
    to_a[0] = *(global const uint4 *)from_a;
    to_a[TILE / 2 * PITCH_A / 8] = *(global const uint4 *)(from_a + TILE / 2 * n);
    to_b[0] = *(global const uint4 *)from_b;
    to_b[DEPTH / 2 * PITCH_B / 8] = *(global const uint4 *)(from_b + DEPTH / 2 * n);
    from_a += DEPTH;
    from_b += DEPTH * n;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < DEPTH; i += 16) {
      half8 part_a[ROWS], part_b[COLUMNS];
#pragma unroll
      for (int y = 0; y < ROWS; y++)
        part_a[y] =
            tegracl_matrix_load_a_f16(tile_a + (row + 16 * y) * PITCH_A + i, LAYOUT, PITCH_A);
#pragma unroll
      for (int x = 0; x < COLUMNS; x++)
        part_b[x] = tegracl_matrix_load_b_f16(tile_b + i * PITCH_B + column + 16 * x, LAYOUT, PITCH_B);
#pragma unroll
      for (int y = 0; y < ROWS; y++)
#pragma unroll
        for (int x = 0; x < COLUMNS; x++)
          sum[y][x] = tegracl_matrix_mad_f16(part_a[y], part_b[x], sum[y][x]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  global float *to = c + (get_group_id(1) * TILE + row) * n + get_group_id(0) * TILE + column;
#pragma unroll
  for (int y = 0; y < ROWS; y++)
#pragma unroll
    for (int x = 0; x < COLUMNS; x++)
      tegracl_matrix_store_c_f32(to + 16 * y * n + 16 * x, sum[y][x], LAYOUT, n);
}
