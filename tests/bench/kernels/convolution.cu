/* A 5 x 5 filter over an image of floats, edges repeated. */
#define RADIUS 2

static __device__ int clamp(int x, int low, int high) {
  return min(max(x, low), high);
}

extern "C" __global__ void convolution(const float *__restrict__ in, float *__restrict__ out,
                                       const float *__restrict__ weights, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  float sum = 0;
  for (int j = -RADIUS; j <= RADIUS; j++)
    for (int i = -RADIUS; i <= RADIUS; i++)
      sum += weights[(j + RADIUS) * (2 * RADIUS + 1) + i + RADIUS] *
             in[clamp(y + j, 0, height - 1) * width + clamp(x + i, 0, width - 1)];
  out[y * width + x] = sum;
}
