/* C = A B of row-major n x n matrices, tiles of 16 x 16 in shared memory, one
 * element for each thread. n is a multiple of 16. */
#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE *TILE)
    sgemm_tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                int n) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y;
  int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    tile_a[y][x] = a[row * n + k + x];
    tile_b[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < TILE; i++)
      sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
