/* Sums of blocks of 4 x 4 pixels, read without a sampler. */
kernel void image_fetch(read_only image2d_t in, global uint4 *out, int width) {
  int x = get_global_id(0), y = get_global_id(1);
  uint4 sum = 0;
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 4; i++)
      sum += read_imageui(in, (int2)(4 * x + i, 4 * y + j));
  out[y * width + x] = sum;
}
