/* Images of one dimension and buffers as images, read with a sampler and without, and written. */
kernel void images(read_only image1d_t line, write_only image1d_t line_out, read_only image1d_buffer_t texels,
                   write_only image1d_buffer_t texels_out, sampler_t sampler) {
  int i = get_global_id(0);
  write_imageui(line_out, i, read_imageui(line, sampler, i + 1) + read_imageui(line, i));
  write_imageui(texels_out, i, read_imageui(texels, i) + (uint4)(get_image_width(line)));
}
