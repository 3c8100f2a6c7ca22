/* Accelerations of n bodies (x, y, z, mass) on each other, a tile of them in
 * shared memory at a time. n is a multiple of the block's 128. */
#define TILE 128

extern "C" __global__ void __launch_bounds__(TILE)
    nbody(const float4 *__restrict__ bodies, float4 *__restrict__ out, int n) {
  __shared__ float4 tile[TILE];
  int item = threadIdx.x, i = blockIdx.x * TILE + item;
  float4 me = bodies[i];
  float3 sum = make_float3(0, 0, 0);
  for (int k = 0; k < n; k += TILE) {
    tile[item] = bodies[k + item];
    __syncthreads();
    for (int j = 0; j < TILE; j++) {
      float4 other = tile[j];
      float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
      float inverse = rsqrtf(x * x + y * y + z * z + 1e-6f);
      float scale = other.w * inverse * inverse * inverse;
      sum.x += x * scale;
      sum.y += y * scale;
      sum.z += z * scale;
    }
    __syncthreads();
  }
  out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
