/* The length of the gradient of an image with one channel, edges repeated. */
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

#define AT(i, j) read_imagef(in, edge, (int2)(x + i, y + j)).x

kernel void image_sobel(read_only image2d_t in, write_only image2d_t out) {
  int x = get_global_id(0), y = get_global_id(1);
  float a = AT(-1, -1), b = AT(0, -1), c = AT(1, -1), d = AT(-1, 0), f = AT(1, 0), g = AT(-1, 1),
        h = AT(0, 1), k = AT(1, 1);
  float dx = c + 2 * f + k - a - 2 * d - g, dy = g + 2 * h + k - a - 2 * b - c;
  write_imagef(out, (int2)(x, y), native_sqrt(dx * dx + dy * dy));
}
