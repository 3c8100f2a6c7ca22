/* The mean of 3 x 3 pixels; the sampler repeats edges and takes the nearest texel. */
#include "image.cuh"

extern "C" __global__ void image_box(cudaTextureObject_t in, cudaSurfaceObject_t out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x + 0.5f, v = y + 0.5f;
  float4 sum = tex2DLod<float4>(in, u, v, 0);
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if (i || j) {
        float4 p = tex2DLod<float4>(in, u + i, v + j, 0);
        sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
      }
  surf2Dwrite(rgba8(sum.x / 9, sum.y / 9, sum.z / 9, sum.w / 9), out, x * 4, y, cudaBoundaryModeZero);
}
