// A 7-point stencil in three dimensions: planes in shared memory, adjacent values
// along z in registers.
extern "C" __global__ void stencil(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float plane[10][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool inside = x < nx && y < ny;
  int at = y * nx + x, layer = nx * ny;
  float below = 0, here = inside ? in[at] : 0;
  for (int z = 0; z < nz; z++, at += layer) {
    float above = inside && z + 1 < nz ? in[at + layer] : 0;
    __syncthreads();
    plane[ty][tx] = here;
    if (tx == 1)
      plane[ty][0] = inside && x > 0 ? in[at - 1] : 0;
    if (tx == 16)
      plane[ty][17] = inside && x + 1 < nx ? in[at + 1] : 0;
    if (ty == 1)
      plane[0][tx] = inside && y > 0 ? in[at - nx] : 0;
    if (ty == 8)
      plane[9][tx] = inside && y + 1 < ny ? in[at + nx] : 0;
    if (x + 1 == nx)
      plane[ty][tx + 1] = 0;
    __syncthreads();
    if (inside) {
      float right = x + 1 < nx ? plane[ty][tx + 1] : 0;
      float down = y + 1 < ny ? plane[ty + 1][tx] : 0;
      float sum = plane[ty][tx - 1] + right;
      sum = sum + plane[ty - 1][tx];
      sum = sum + down;
      sum = sum + below;
      sum = sum + above;
      out[at] = fmaf(sum, 0.1f, here * 0.4f);
    }
    below = here;
    here = above;
  }
}
