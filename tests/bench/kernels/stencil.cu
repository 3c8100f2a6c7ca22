/* One step of the heat equation, seven points in three dimensions. */
extern "C" __global__ void stencil(const float *__restrict__ in, float *__restrict__ out, int nx,
                                   int ny, int nz, float c0, float c1) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
    return;
  int i = (z * ny + y) * nx + x;
  out[i] = c0 * in[i] + c1 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
                              in[i + nx * ny]);
}
