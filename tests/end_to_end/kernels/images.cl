/* Reads and writes of every kind of image. A coordinate comes as a float4. */
#define X(p)    ((p).x)
#define XY(p)   ((p).xy)
#define XYZW(p) (p)

#define READ(name, type, how, colour)                                                              \
  kernel void read_##name(read_only type image, sampler_t sampler, global const float4 *at,        \
                          global colour##4 *out) {                                                 \
    const size_t i = get_global_id(0);                                                             \
    out[i] = READ_##colour(image, sampler, how(at[i]));                                            \
  }                                                                                                \
  kernel void read_##name##_int(read_only type image, sampler_t sampler, global const float4 *at,  \
                                global colour##4 *out) {                                           \
    const size_t i = get_global_id(0);                                                             \
    out[i] = READ_##colour(image, sampler, how(convert_int4_rtn(at[i])));                          \
  }                                                                                                \
  kernel void read_##name##_bare(read_only type image, global const float4 *at,                    \
                                 global colour##4 *out) {                                          \
    const size_t i = get_global_id(0);                                                             \
    out[i] = READ_##colour(image, how(convert_int4_rtn(at[i])));                                   \
  }
#define WRITE(name, type, how, colour)                                                             \
  kernel void write_##name(write_only type image, global const float4 *at,                         \
                           global const colour##4 *in) {                                           \
    const size_t i = get_global_id(0);                                                             \
    WRITE_##colour(image, how(convert_int4_rtn(at[i])), in[i]);                                    \
  }
#define READ_float  read_imagef
#define READ_int    read_imagei
#define READ_uint   read_imageui
#define WRITE_float write_imagef
#define WRITE_int   write_imagei
#define WRITE_uint  write_imageui

#define EACH(name, type, how)                                                                      \
  READ(name##_float, type, how, float)                                                             \
  READ(name##_int, type, how, int)                                                                 \
  READ(name##_uint, type, how, uint)                                                               \
  WRITE(name##_float, type, how, float)                                                            \
  WRITE(name##_int, type, how, int)                                                                \
  WRITE(name##_uint, type, how, uint)
EACH(1d, image1d_t, X)
EACH(2d, image2d_t, XY)
EACH(3d, image3d_t, XYZW)
EACH(1d_array, image1d_array_t, XY)
EACH(2d_array, image2d_array_t, XYZW)

/* Depth images have one number. */
#undef READ_float
#undef WRITE_float
#define READ_float(...)                   (float4)(read_imagef(__VA_ARGS__), 0, 0, 1)
#define WRITE_float(image, at, colour) write_imagef(image, at, (colour).x)
READ(2d_depth_float, image2d_depth_t, XY, float)
READ(2d_array_depth_float, image2d_array_depth_t, XYZW, float)
WRITE(2d_depth_float, image2d_depth_t, XY, float)
WRITE(2d_array_depth_float, image2d_array_depth_t, XYZW, float)

/* Coordinates to which constants are added: small and large ones, and unsigned, with wrap-around. */
#define SUMS(name, type, how)                                                                      \
  kernel void sums_##name##_uint(read_only type image, sampler_t sampler, global const int4 *at,   \
                                 global uint4 *out) {                                              \
    const size_t i = get_global_id(0);                                                             \
    const int4 p = at[i];                                                                          \
    const uint4 u = as_uint4(p);                                                                   \
    const int4 a = (int4)(p.x + 1, p.y - 2, p.z - 1, 0),                                           \
               b = (int4)(p.x - 65536, p.y + 65536, p.z + 1, 0),                                   \
               c = (int4)(p.x + 0x2000000, p.y - 65537, p.z, 0),                                   \
               d = (int4)(u.x + 3, u.y + 3, u.z + 3, 0);                                           \
    out[i] = (uint4)(read_imageui(image, sampler, how(a)).x, read_imageui(image, sampler, how(b)).x, \
                     read_imageui(image, sampler, how(c)).x, read_imageui(image, sampler, how(d)).x); \
  }
SUMS(1d, image1d_t, X)
SUMS(2d, image2d_t, XY)
SUMS(3d, image3d_t, XYZW)
SUMS(1d_array, image1d_array_t, XY)
SUMS(2d_array, image2d_array_t, XYZW)

/* Both accesses, a buffer's image, queries, and samplers in the program. */
kernel void both(read_write image2d_t image, read_write image1d_buffer_t line) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(image, at, read_imagef(image, at).wzyx);
  const int i = at.y * (int)get_global_size(0) + at.x;
  write_imageui(line, i, read_imageui(line, i) * 2u);
}

kernel void sizes(read_only image1d_t a, read_only image1d_buffer_t b, read_only image1d_array_t c,
                  read_only image2d_t d, write_only image2d_array_t e, read_write image3d_t f,
                  read_only image2d_depth_t g, global int *out) {
  const int2 d2 = get_image_dim(d), e2 = get_image_dim(e), g2 = get_image_dim(g);
  const int4 f4 = get_image_dim(f);
  const int values[] = {
      get_image_width(a), get_image_width(b), get_image_width(c), (int)get_image_array_size(c),
      get_image_width(d), get_image_height(d), d2.x, d2.y,
      get_image_width(e), get_image_height(e), (int)get_image_array_size(e), e2.x, e2.y,
      get_image_width(f), get_image_height(f), get_image_depth(f), f4.x, f4.y, f4.z, f4.w,
      g2.x, g2.y, get_image_channel_order(d) - CLK_R, get_image_channel_data_type(d) - CLK_SNORM_INT8,
      get_image_channel_order(g) - CLK_R, get_image_channel_data_type(g) - CLK_SNORM_INT8};
  for (int i = 0; i < (int)(sizeof values / sizeof values[0]); i++)
    out[i] = values[i];
}

constant sampler_t program_sampler =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

__attribute__((noinline)) float4 twice(read_only image2d_t image, sampler_t sampler, float2 at) {
  return read_imagef(image, sampler, at) + read_imagef(image, program_sampler, at);
}

/* However many functions lie between a kernel and the one that reads. */
#define THROUGH(name, next)                                                                        \
  __attribute__((noinline)) float4 name(read_only image2d_t image, sampler_t sampler, float2 at) { \
    return next(image, sampler, at);                                                               \
  }
THROUGH(through, twice)
THROUGH(through_2, through)
THROUGH(through_3, through_2)
THROUGH(through_4, through_3)

kernel void literals(read_only image2d_t image, global const float4 *at, global float4 *out) {
  const sampler_t sampler =
      CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
  const size_t i = get_global_id(0);
  out[i] = 0.5f * through_4(image, sampler, at[i].xy);
}
