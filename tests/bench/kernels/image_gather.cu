/* Sums of 8 samples of a volume along rays; the sampler filters, and gives 0 outside of it. */
#include "image.cuh"

extern "C" __global__ void image_gather(cudaTextureObject_t in, float *out, float4 step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < 8; i++)
    sum += tex3DLod<float>(in, x + 0.5f + i * step.x, y + 0.5f + i * step.y, 0.5f + i * step.z, 0);
  out[y * blockDim.x * gridDim.x + x] = sum;
}
