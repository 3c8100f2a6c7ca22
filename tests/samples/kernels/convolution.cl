/* A picture sharpened by a 5 by 5 filter, then turned: images, whose samplers know what
 * lies beside and between the pixels. */
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant float binomial[5] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};

kernel void sharpen(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float smooth = 0;
  for (int j = 0; j < 5; j++)
    for (int i = 0; i < 5; i++)
      smooth += binomial[i] * binomial[j] * read_imagef(in, edge, at + (int2)(i - 2, j - 2)).x;
  const float sharp = 2 * read_imagef(in, edge, at).x - smooth;
  write_imagef(out, at, (float4)(sharp, 0, 0, 1)); /* outside: nothing */
}

kernel void turn(read_only image2d_t in, write_only image2d_t out, sampler_t between, float2 turned) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float2 middle = 0.5f * convert_float2(get_image_dim(in));
  const float2 from = convert_float2(at) + 0.5f - middle;
  const float2 place = (float2)(turned.x * from.x - turned.y * from.y,
                                turned.y * from.x + turned.x * from.y) + middle;
  write_imagef(out, at, read_imagef(in, between, place));
}
