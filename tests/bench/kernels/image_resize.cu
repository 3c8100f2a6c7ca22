/* Bilinear scaling by a linear sampler: step is the input's size over the output's. */
#include "image.cuh"

extern "C" __global__ void image_resize(cudaTextureObject_t in, cudaSurfaceObject_t out, float2 step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float4 p = tex2DLod<float4>(in, (x + 0.5f) * step.x, (y + 0.5f) * step.y, 0);
  surf2Dwrite(rgba8(p.x, p.y, p.z, p.w), out, x * 4, y, cudaBoundaryModeZero);
}
