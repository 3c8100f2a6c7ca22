/* Sums of 8 samples of a volume along rays, 0 outside of it. */
constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

kernel void image_gather(read_only image3d_t in, global float *out, float4 step) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 at = (float4)(x + 0.5f, y + 0.5f, 0.5f, 0);
  float sum = 0;
  for (int i = 0; i < 8; i++)
    sum += read_imagef(in, linear, at + i * step).x;
  out[y * get_global_size(0) + x] = sum;
}
