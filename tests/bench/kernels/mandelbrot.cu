/* Iterations until |z| > 2, at most limit. */
extern "C" __global__ void mandelbrot(int *__restrict__ out, int width, float x0, float y0,
                                      float step, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float cr = x0 + x * step, ci = y0 + y * step;
  float zr = 0, zi = 0;
  int i;
  for (i = 0; i < limit && zr * zr + zi * zi <= 4; i++) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
  }
  out[y * width + x] = i;
}
