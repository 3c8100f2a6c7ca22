/* Sums of blocks of 4 x 4 pixels, read by integer coordinates. */
#include "image.cuh"

static __device__ uint4 fetch(cudaTextureObject_t in, int x, int y) {
  uint4 p;
  asm("tex.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
      : "=r"(p.x), "=r"(p.y), "=r"(p.z), "=r"(p.w)
      : "l"(in), "r"(x), "r"(y));
  return p;
}

extern "C" __global__ void image_fetch(cudaTextureObject_t in, uint4 *out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 4; i++) {
      uint4 p = fetch(in, 4 * x + i, 4 * y + j);
      sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
    }
  out[y * width + x] = sum;
}
