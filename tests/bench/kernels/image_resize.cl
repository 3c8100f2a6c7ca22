/* Bilinear scaling: step is the input's size over the output's. */
constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

kernel void image_resize(read_only image2d_t in, write_only image2d_t out, float2 step) {
  int x = get_global_id(0), y = get_global_id(1);
  float2 at = ((float2)(x, y) + 0.5f) * step;
  write_imagef(out, (int2)(x, y), read_imagef(in, linear, at));
}
