/* c = a b: matrices of n x n halves, and of floats for c. Each work-group computes 64 x 64 elements
 * of c in steps of 32 columns of a, each of its 4 sub-groups 32 x 32 of them. n is a multiple of
 * 64. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define TILE  64
#define DEPTH 32
/* Eight more elements in a row, so that eight rows are in different banks of local memory. */
#define PITCH_A (DEPTH + 8)
#define PITCH_B (TILE + 8)
#define LAYOUT  (TEGRACL_MATRIX_ROW_MAJOR | TEGRACL_MATRIX_ALIGNED)

/* Copies 8 elements at a time. */
void copy_tile(local half *to, uint pitch, global const half *from, uint n, uint columns,
               uint rows) {
  for (uint i = get_local_id(0); i < rows * columns / 8; i += 128) {
    uint row = i / (columns / 8), column = i % (columns / 8) * 8;
    *(local uint4 *)(to + row * pitch + column) = *(global const uint4 *)(from + row * n + column);
  }
}

__attribute__((reqd_work_group_size(128, 1, 1))) kernel void
product(global const half *a, global const half *b, global float *c, uint n) {
  local half tile_a[TILE * PITCH_A] __attribute__((aligned(16)));
  local half tile_b[DEPTH * PITCH_B] __attribute__((aligned(16)));
  uint top = get_group_id(0) / (n / TILE) * TILE, left = get_group_id(0) % (n / TILE) * TILE;
  uint warp = get_local_id(0) / 32, row = warp / 2 * 32, column = warp % 2 * 32;
  float8 sum[2][2] = {{0, 0}, {0, 0}};
  for (uint k = 0; k < n; k += DEPTH) {
    copy_tile(tile_a, PITCH_A, a + top * n + k, n, DEPTH, TILE);
    copy_tile(tile_b, PITCH_B, b + k * n + left, n, TILE, DEPTH);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < DEPTH; i += 16) {
      half8 x[2], y[2];
#pragma unroll
      for (uint j = 0; j < 2; j++) {
        x[j] = tegracl_matrix_load_a_f16(tile_a + (row + 16 * j) * PITCH_A + i, LAYOUT, PITCH_A);
        y[j] = tegracl_matrix_load_b_f16(tile_b + i * PITCH_B + column + 16 * j, LAYOUT, PITCH_B);
      }
#pragma unroll
      for (uint j = 0; j < 4; j++)
        sum[j / 2][j % 2] = tegracl_matrix_mad_f16(x[j / 2], y[j % 2], sum[j / 2][j % 2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (uint j = 0; j < 4; j++)
    tegracl_matrix_store_c_f32(c + (top + row + j / 2 * 16) * n + left + column + j % 2 * 16,
                               sum[j / 2][j % 2], LAYOUT, n);
}
