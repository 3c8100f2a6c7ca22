/* The length of the gradient of an image with one channel; the sampler repeats edges. */
#include "image.cuh"

#define AT(i, j) tex2DLod<float>(in, u + i, v + j, 0)

extern "C" __global__ void image_sobel(cudaTextureObject_t in, cudaSurfaceObject_t out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x + 0.5f, v = y + 0.5f;
  float a = AT(-1, -1), b = AT(0, -1), c = AT(1, -1), d = AT(-1, 0), f = AT(1, 0), g = AT(-1, 1),
        h = AT(0, 1), k = AT(1, 1);
  float dx = c + 2 * f + k - a - 2 * d - g, dy = g + 2 * h + k - a - 2 * b - c, length;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(length) : "f"(dx * dx + dy * dy));
  surf2Dwrite(length, out, x * 4, y, cudaBoundaryModeZero);
}
