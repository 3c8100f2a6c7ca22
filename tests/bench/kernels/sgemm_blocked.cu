/* C = A B of row-major n x n matrices: 64 x 64 elements of C for each block,
 * 4 x 4 of them in the registers of each thread, vector loads. n is a multiple
 * of 64. */
#define BLOCK 64
#define DEPTH 16
#define EACH 4

static __device__ void add_scaled(float4 &sum, float scale, const float4 &v) {
  sum.x += scale * v.x;
  sum.y += scale * v.y;
  sum.z += scale * v.z;
  sum.w += scale * v.w;
}

extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK / EACH / EACH)
    sgemm_blocked(const float4 *__restrict__ a, const float4 *__restrict__ b,
                  float4 *__restrict__ c, int n) {
  __shared__ float tile_a[DEPTH][BLOCK];
  __shared__ float4 tile_b[DEPTH][BLOCK / EACH];
  int x = threadIdx.x, y = threadIdx.y;
  int item = y * (BLOCK / EACH) + x;
  int width = n / 4;
  const float4 *from_a =
      a + (blockIdx.y * BLOCK + item / (DEPTH / 4)) * width + item % (DEPTH / 4);
  const float4 *from_b = b + y * width + blockIdx.x * (BLOCK / 4) + x;
  float4 sum[EACH] = {};
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
    __syncthreads();
    for (int i = 0; i < DEPTH; i++) {
      float4 left = *(const float4 *)&tile_a[i][y * EACH];
      float4 right = tile_b[i][x];
      add_scaled(sum[0], left.x, right);
      add_scaled(sum[1], left.y, right);
      add_scaled(sum[2], left.z, right);
      add_scaled(sum[3], left.w, right);
    }
    __syncthreads();
  }
  float4 *to = c + (blockIdx.y * BLOCK + y * EACH) * width + blockIdx.x * (BLOCK / 4) + x;
  for (int i = 0; i < EACH; i++)
    to[i * width] = sum[i];
}
