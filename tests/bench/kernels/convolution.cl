/* A 5 x 5 filter over an image of floats, edges repeated. */
#define RADIUS 2

kernel void convolution(global const float *restrict in, global float *restrict out,
                        global const float *restrict weights, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  float sum = 0;
  for (int j = -RADIUS; j <= RADIUS; j++)
    for (int i = -RADIUS; i <= RADIUS; i++)
      sum += weights[(j + RADIUS) * (2 * RADIUS + 1) + i + RADIUS] *
             in[clamp(y + j, 0, height - 1) * width + clamp(x + i, 0, width - 1)];
  out[y * width + x] = sum;
}
