/* Images end to end, compared with the model: every format of every image type is read through
 * every sampler and written; copies, fills and maps; images in buffers and in images; samplers and
 * queries in kernels. Arguments: images.cl and the part: reads, writes, rest, or the rest without
 * optimization.
 */
#include <limits.h>
#include <math.h>

#include "tests/end_to_end/kernels/image_model.h"
#include "tests/end_to_end/opencl.h"

enum { POINTS = 192, TEXELS_MAX = 128, FORMATS_MAX = 128 };

/* Image types, with their names in kernels. */
static const struct kind {
  const char *name;
  cl_mem_object_type type;
  int dimensions, is_array;
  int size[3];
} kinds[] = {
    {"1d", CL_MEM_OBJECT_IMAGE1D, 1, 0, {13, 1, 1}},
    {"1d_array", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 1, {11, 3, 1}},
    {"2d", CL_MEM_OBJECT_IMAGE2D, 2, 0, {7, 5, 1}},
    {"2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, 1, {5, 4, 3}},
    {"3d", CL_MEM_OBJECT_IMAGE3D, 3, 0, {5, 3, 4}},
};

static struct opencl opencl;
static cl_program program;
static cl_mem points, colours;
static unsigned seed = 1;

static unsigned random_bits(void) {
  seed = seed * 1664525 + 1013904223;
  return seed >> 8;
}
static double random_number(double least, double most) {
  return least + (most - least) * random_bits() / 16777215.0;
}

static void open_all(const char *file, const char *options) {
  static char source[16384];
  int error;
  FILE *in = fopen(file, "r");
  CHECK(in);
  const size_t size = fread(source, 1, sizeof source - 1, in);
  CHECK(size && feof(in));
  fclose(in);
  opencl_open(&opencl);
  program = opencl_program(&opencl, source);
  error = clBuildProgram(program, 1, &opencl.device, options, NULL, NULL);
  if (error) {
    static char log[16384];
    clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
  }
  CHECK_CL(error, CL_SUCCESS);
  points = clCreateBuffer(opencl.context, CL_MEM_READ_ONLY, POINTS * 16, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  colours = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, POINTS * 16, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
}

static void close_all(void) {
  CHECK_CL(clReleaseMemObject(points), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(colours), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  opencl_close(&opencl);
}

static cl_kernel kernel_of(const char *form, const char *name, const char *colour,
                           const char *tail) {
  char full[64];
  cl_int error;
  snprintf(full, sizeof full, "%s_%s_%s%s", form, name, colour, tail);
  cl_kernel kernel = clCreateKernel(program, full, &error);
  CHECK_CL(error, CL_SUCCESS);
  return kernel;
}

static cl_image_desc desc_of(const struct kind *kind) {
  cl_image_desc desc = {.image_type = kind->type, .image_width = (size_t)kind->size[0]};
  if (kind->dimensions > 1)
    desc.image_height = (size_t)kind->size[1];
  if (kind->dimensions > 2)
    desc.image_depth = (size_t)kind->size[2];
  if (kind->is_array)
    desc.image_array_size = (size_t)kind->size[kind->dimensions];
  return desc;
}

/* Random texels. Floats are numbers of a size that sums do not lose. */
static void fill_texels(const cl_image_format *format, unsigned char *texels, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    texels[i] = (unsigned char)random_bits();
  for (size_t i = 0; format->image_channel_data_type == CL_FLOAT && i < bytes; i += 4) {
    const float number = (float)random_number(-100, 100);
    memcpy(texels + i, &number, 4);
  }
  for (size_t i = 1; format->image_channel_data_type == CL_HALF_FLOAT && i < bytes; i += 2)
    texels[i] &= 0xbf; /* exponents up to 15, so less than 2 */
}

struct picture {
  struct model_image model;
  cl_mem image;
  unsigned char texels[TEXELS_MAX * 16];
};

static void picture_open(struct picture *picture, const struct kind *kind,
                         const cl_image_format *format) {
  cl_int error;
  const size_t count = (size_t)(kind->size[0] * kind->size[1] * kind->size[2]);
  CHECK(count <= TEXELS_MAX);
  picture->model = (struct model_image){.format = *format,
                                        .dimensions = kind->dimensions,
                                        .is_array = kind->is_array,
                                        .size = {kind->size[0], kind->size[1], kind->size[2]},
                                        .texels = picture->texels,
                                        .texel_bytes = model_texel_bytes(format)};
  fill_texels(format, picture->texels, count * picture->model.texel_bytes);
  const cl_image_desc desc = desc_of(kind);
  picture->image =
      clCreateImage(opencl.context, CL_MEM_COPY_HOST_PTR, format, &desc, picture->texels, &error);
  CHECK_CL(error, CL_SUCCESS);
}

/* Chooses coordinates in texels, inside and outside of the image: on texel edges, close to them and
 * between them, and very large ones. */
static void choose_points(const struct kind *kind, const struct model_sampler *sampler,
                          cl_float4 at[POINTS]) {
  for (int i = 0; i < POINTS; i++)
    for (int d = 0; d < 4; d++) {
      const int size = d < 3 ? kind->size[d] : 1;
      double texel = random_number(-1.5 * size - 1, 2.5 * size + 1);
      if (i % 4 == 1)
        texel = floor(texel) + 0.5;
      else if (i % 4 == 2)
        texel = floor(texel);
      else if (i == 3 || i == 7)
        texel = i == 3 ? 1e10 : -1e10;
      const bool layer = kind->is_array && d == kind->dimensions;
      at[i].s[d] = (float)(sampler->normalized && !layer ? texel / size : texel);
    }
}

static void run(cl_kernel kernel, const void *at, void *out) {
  const size_t count = POINTS;
  CHECK_CL(clEnqueueWriteBuffer(opencl.queue, points, CL_FALSE, 0, POINTS * 16, at, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, colours, CL_TRUE, 0, POINTS * 16, out, 0, NULL, NULL),
           CL_SUCCESS);
}

static double component(const cl_image_format *format, const cl_uint4 *colour, int c) {
  float number;
  memcpy(&number, &colour->s[c], sizeof number);
  if (!model_is_integer(format))
    return (double)number;
  return format->image_channel_data_type <= CL_SIGNED_INT32 ? (double)(cl_int)colour->s[c]
                                                            : (double)colour->s[c];
}

static const char *colour_of(const cl_image_format *format) {
  return !model_is_integer(format)                            ? "float"
         : format->image_channel_data_type <= CL_SIGNED_INT32 ? "int"
                                                              : "uint";
}

/* Whether the texture units read the images. What the specification does not define exactly is then
 * within the bounds of the conformance tests. */
static bool by_textures(void) {
  const char *value = getenv("TEGRACL_IMAGES");
  return value && !strcmp(value, "hardware");
}

/* Whether the texture units filter a format. The conformance tests allow less than they do to sRGB
 * and to 8-bit SNORM, whose least code counts as less than -1. */
static bool filtered_by_textures(const cl_image_format *format) {
  return by_textures() && format->image_channel_order < CL_sRGB &&
         format->image_channel_data_type != CL_SNORM_INT8;
}

/* Returns how far a blend by the texture units may be off: they round each weight and each product
 * of weights to 1/256, and the result to 16 bits or to a half. */
static double blend_loss(const struct model_image *model, double largest) {
  const bool is_half = model->format.image_channel_data_type == CL_HALF_FLOAT;
  return largest * (2 * model->dimensions - 1) / 256 +
         (is_half ? largest / 2048 + 0x1p-24 : 0.5 / 32767);
}

/* Returns the allowed difference between a component and the model. A filter rounds each step to
 * float. A format conversion is rounded once, except for sRGB, for which the specification allows
 * half a step of 8 bits. */
static double tolerance(const struct model_image *model, const struct model_sampler *sampler,
                        double largest) {
  const bool is_srgb = model->format.image_channel_order >= CL_sRGB;
  const double half_step = 0.5 / 255 * 2.4;
  if (sampler->filter == CL_FILTER_NEAREST)
    return largest * 2.5e-7 + (!is_srgb ? 0 : by_textures() ? half_step : 2e-6);
  return largest * 2e-6 + (is_srgb ? 2e-6 : 0) +
         (filtered_by_textures(&model->format) ? blend_loss(model, largest) : 0);
}

/* Returns the first component that is wrong, or -1. */
static int find_wrong(const struct picture *picture, const struct model_sampler *sampler,
                      const float at[4], const cl_uint4 *got, double wanted[4]) {
  const struct model_image *model = &picture->model;
  const int components = model->format.image_channel_order == CL_DEPTH ? 1 : 4;
  double largest;
  model_sample(model, sampler, at, wanted, &largest);
  const double most = tolerance(model, sampler, largest);
  for (int c = 0; c < components; c++)
    if (!(fabs(component(&model->format, got, c) - wanted[c]) <= most))
      return c;
  return -1;
}

/* Like find_wrong, but also accepts the texels at coordinates a tenth of a texel away, because the
 * texture units may have rounded into them. */
static int find_wrong_texel(const struct picture *picture, const struct model_sampler *sampler,
                            const float at[4], const cl_uint4 *got, double wanted[4]) {
  const int wrong = find_wrong(picture, sampler, at, got, wanted);
  if (wrong < 0 || !by_textures() || !sampler->normalized || sampler->filter != CL_FILTER_NEAREST)
    return wrong;
  for (int shift = 0; shift < 27; shift++) {
    float moved[4];
    double ignored[4];
    memcpy(moved, at, sizeof moved);
    for (int d = 0, rest = shift; d < picture->model.dimensions; d++, rest /= 3)
      moved[d] += 0.1f * (float)(rest % 3 - 1) / (float)picture->model.size[d];
    if (find_wrong(picture, sampler, moved, got, ignored) < 0)
      return -1;
  }
  return wrong;
}

static void compare(const struct picture *picture, const struct kind *kind,
                    const struct model_sampler *sampler, const cl_float4 at[POINTS],
                    const cl_uint4 got[POINTS]) {
  for (int i = 0; i < POINTS; i++) {
    double wanted[4];
    const int c = find_wrong_texel(picture, sampler, at[i].s, &got[i], wanted);
    if (c < 0)
      continue;
    fprintf(stderr,
            "%s order %x type %x, sampler %d %x %x, at %a %a %a: component %d is %.9g, not %.9g\n",
            kind->name, picture->model.format.image_channel_order,
            picture->model.format.image_channel_data_type, sampler->normalized, sampler->addressing,
            sampler->filter, (double)at[i].s[0], (double)at[i].s[1], (double)at[i].s[2], c,
            component(&picture->model.format, &got[i], c), wanted[c]);
    exit(1);
  }
}

/* Each valid sampler. */
static const struct model_sampler samplers[] = {
    {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST},
    {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST},
    {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST},
    {CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST},
    {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST},
    {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST},
    {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
    {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR},
    {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
    {CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR},
    {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR},
    {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR},
};
enum { INTEGER_SAMPLERS = 2, NEAREST_SAMPLERS = 6, SAMPLERS = 12 };

static cl_sampler make_sampler(const struct model_sampler *sampler) {
  cl_int error;
  const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                              sampler->normalized,
                                              CL_SAMPLER_ADDRESSING_MODE,
                                              sampler->addressing,
                                              CL_SAMPLER_FILTER_MODE,
                                              sampler->filter,
                                              0};
  cl_sampler made = clCreateSamplerWithProperties(opencl.context, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  return made;
}

/* Rounds coordinates to integers, like the kernels with integer coordinates. */
static void round_down(cl_float4 at[POINTS]) {
  for (int i = 0; i < POINTS; i++)
    for (int d = 0; d < 4; d++)
      at[i].s[d] = floorf(at[i].s[d]);
}

static void read_one(const struct kind *kind, const cl_image_format *format) {
  struct picture picture;
  cl_float4 at[POINTS];
  cl_uint4 got[POINTS];
  char name[32];
  picture_open(&picture, kind, format);
  const bool depth = format->image_channel_order == CL_DEPTH;
  snprintf(name, sizeof name, "%s%s", kind->name, depth ? "_depth" : "");
  const char *colour = colour_of(format);
  cl_kernel sampled = kernel_of("read", name, colour, "");
  cl_kernel whole = kernel_of("read", name, colour, "_int");
  cl_kernel bare = kernel_of("read", name, colour, "_bare");
  cl_kernel all[] = {sampled, whole, bare};
  for (int k = 0; k < 3; k++) {
    const cl_uint first = k == 2 ? 1 : 2;
    CHECK_CL(clSetKernelArg(all[k], 0, sizeof(cl_mem), &picture.image), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(all[k], first, sizeof(cl_mem), &points), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(all[k], first + 1, sizeof(cl_mem), &colours), CL_SUCCESS);
  }
  for (int i = 0; i < (model_is_integer(format) ? NEAREST_SAMPLERS : SAMPLERS); i++) {
    cl_sampler sampler = make_sampler(&samplers[i]);
    choose_points(kind, &samplers[i], at);
    CHECK_CL(clSetKernelArg(sampled, 1, sizeof sampler, &sampler), CL_SUCCESS);
    run(sampled, at, got);
    compare(&picture, kind, &samplers[i], at, got);
    if (i < INTEGER_SAMPLERS) {
      round_down(at);
      CHECK_CL(clSetKernelArg(whole, 1, sizeof sampler, &sampler), CL_SUCCESS);
      run(whole, at, got);
      compare(&picture, kind, &samplers[i], at, got);
    }
    CHECK_CL(clReleaseSampler(sampler), CL_SUCCESS);
  }
  /* Undefined coordinates must not cause a fault. */
  const float strange[] = {INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-45f, -0.0f};
  for (int i = 0; i < POINTS * 4; i++)
    at[i / 4].s[i % 4] = strange[random_bits() % (sizeof strange / sizeof *strange)];
  for (int i = 0; i < SAMPLERS; i++) {
    cl_sampler sampler = make_sampler(&samplers[i]);
    CHECK_CL(clSetKernelArg(sampled, 1, sizeof sampler, &sampler), CL_SUCCESS);
    run(sampled, at, got);
    CHECK_CL(clReleaseSampler(sampler), CL_SUCCESS);
  }
  run(bare, at, got);
  /* Reads without a sampler, inside the image. */
  for (int i = 0; i < POINTS; i++)
    for (int d = 0; d < 3; d++)
      at[i].s[d] = (float)(random_bits() % (unsigned)kind->size[d]);
  run(bare, at, got);
  compare(&picture, kind, &samplers[1], at, got);
  for (int k = 0; k < 3; k++)
    CHECK_CL(clReleaseKernel(all[k]), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(picture.image), CL_SUCCESS);
}

/* ---- writes ------------------------------------------------------------------------- */

static void choose_colour(const cl_image_format *format, cl_uint4 *colour) {
  for (int c = 0; c < 4; c++) {
    const float number = random_bits() % 9   ? (float)random_number(-0.4, 1.4)
                         : random_bits() % 2 ? NAN
                                             : (float)random_number(-60000, 60000);
    if (!model_is_integer(format))
      memcpy(&colour->s[c], &number, sizeof number);
    else
      colour->s[c] = random_bits() % 2 ? random_bits() << 8 : random_bits() % 300 - 100;
  }
}

static void check_written(const struct kind *kind, const cl_image_format *format,
                          const cl_uint4 *colour, const unsigned char *texel) {
  double given[4], wanted[4], is[4], error;
  for (int c = 0; c < 4; c++)
    given[c] = component(format, colour, c);
  model_write(format, given, wanted, &error);
  model_decode(format, texel, is);
  const bool keeps_nan = format->image_channel_data_type == CL_FLOAT ||
                         format->image_channel_data_type == CL_HALF_FLOAT;
  for (int c = 0; c < (format->image_channel_order == CL_DEPTH ? 1 : 4); c++) {
    const double from = format->image_channel_order == CL_INTENSITY ||
                                (format->image_channel_order == CL_LUMINANCE && c < 3)
                            ? given[0]
                            : given[c];
    if ((keeps_nan && isnan(from)) || fabs(is[c] - wanted[c]) <= error)
      continue;
    fprintf(stderr, "%s order %x type %x: written %.9g, component %d became %.9g\n", kind->name,
            format->image_channel_order, format->image_channel_data_type, from, c, is[c]);
    exit(1);
  }
}

/* Writes every texel of an image, and some outside it, which must have no effect. */
static void write_one(const struct kind *kind, const cl_image_format *format) {
  struct picture picture;
  cl_float4 at[POINTS];
  cl_uint4 colour[POINTS];
  unsigned char texels[TEXELS_MAX * 16], filled[16];
  char name[32];
  picture_open(&picture, kind, format);
  const int *size = kind->size;
  const int count = size[0] * size[1] * size[2];
  const size_t bytes = picture.model.texel_bytes, number = POINTS;
  snprintf(name, sizeof name, "%s%s", kind->name,
           format->image_channel_order == CL_DEPTH ? "_depth" : "");
  for (int i = 0; i < POINTS; i++) {
    choose_colour(format, &colour[i]);
    at[i] = (cl_float4){{(float)(i % size[0]), (float)(i / size[0] % size[1]),
                         (float)(i / size[0] / size[1] % size[2]), 0}};
    if (i >= count)
      at[i].s[i % kind->dimensions] = i % 2 ? -1.0f : (float)size[i % kind->dimensions];
  }
  cl_kernel kernel = kernel_of("write", name, colour_of(format), "");
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &picture.image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_mem), &points), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &colours), CL_SUCCESS);
  CHECK_CL(
      clEnqueueWriteBuffer(opencl.queue, colours, CL_TRUE, 0, sizeof colour, colour, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clEnqueueWriteBuffer(opencl.queue, points, CL_TRUE, 0, sizeof at, at, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &number, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  const size_t origin[3] = {0}, region[3] = {(size_t)size[0], (size_t)size[1], (size_t)size[2]};
  CHECK_CL(clEnqueueReadImage(opencl.queue, picture.image, CL_TRUE, origin, region, 0, 0, texels, 0,
                              NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < count; i++)
    check_written(kind, format, &colour[i], texels + (size_t)i * bytes);
  /* A fill has the same result as a write by a kernel. Typed stores round normalized channels in
   * their own way, within OpenCL's bound. */
  const size_t one[3] = {1, 1, 1};
  for (int i = 0; i < 8; i++) {
    const size_t place[3] = {(size_t)at[i].s[0], (size_t)at[i].s[1], (size_t)at[i].s[2]};
    CHECK_CL(clEnqueueFillImage(opencl.queue, picture.image, &colour[i], place, one, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clEnqueueReadImage(opencl.queue, picture.image, CL_TRUE, place, one, 0, 0, filled, 0,
                                NULL, NULL),
             CL_SUCCESS);
    check_written(kind, format, &colour[i], filled);
    if (format->image_channel_order < CL_sRGB && !by_textures())
      CHECK(!memcmp(filled, texels + (size_t)i * bytes, bytes) ||
            isnan(component(format, &colour[i], 0)) || isnan(component(format, &colour[i], 1)) ||
            isnan(component(format, &colour[i], 2)) || isnan(component(format, &colour[i], 3)));
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(picture.image), CL_SUCCESS);
}

static void each_format(void (*check)(const struct kind *, const cl_image_format *),
                        cl_mem_flags flags) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    cl_image_format formats[FORMATS_MAX];
    cl_uint count;
    CHECK_CL(clGetSupportedImageFormats(opencl.context, flags, kinds[k].type, FORMATS_MAX, formats,
                                        &count),
             CL_SUCCESS);
    CHECK(count >= 60 && count <= FORMATS_MAX);
    for (cl_uint i = 0; i < count; i++)
      check(&kinds[k], &formats[i]);
  }
}

/* ---- the rest ---------------------------------------------------------------------------- */

static cl_mem make_image(cl_mem_flags flags, cl_channel_order order, cl_channel_type type,
                         const cl_image_desc *desc, void *host) {
  cl_int error;
  const cl_image_format format = {order, type};
  cl_mem image = clCreateImage(opencl.context, flags, &format, desc, host, &error);
  CHECK_CL(error, CL_SUCCESS);
  return image;
}

static void check_both(void) {
  enum { W = 6, H = 4 };
  unsigned char bytes[H][W][4], swapped[H][W][4];
  cl_uint numbers[W * H];
  const size_t origin[3] = {0}, region[3] = {W, H, 1};
  cl_int error;
  for (int i = 0; i < W * H * 4; i++)
    bytes[i / 4 / W][i / 4 % W][i % 4] = (unsigned char)random_bits();
  for (cl_uint i = 0; i < W * H; i++)
    numbers[i] = i * 1000;
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
  cl_mem image = make_image(CL_MEM_COPY_HOST_PTR, CL_RGBA, CL_UNORM_INT8, &desc, bytes);
  cl_mem buffer =
      clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_image_desc line_desc = {
      .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = W * H, .mem_object = buffer};
  cl_mem line = make_image(0, CL_R, CL_UNSIGNED_INT32, &line_desc, NULL);
  cl_kernel kernel = clCreateKernel(program, "both", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof line, &line), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 2, NULL, region, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadImage(opencl.queue, image, CL_TRUE, origin, region, 0, 0, swapped, 0, NULL,
                              NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL),
      CL_SUCCESS);
  for (cl_uint i = 0; i < W * H; i++) {
    CHECK(numbers[i] == i * 2000);
    for (int c = 0; c < 4; c++)
      CHECK(swapped[i / W][i % W][c] == bytes[i / W][i % W][3 - c]);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(line), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
}

static void check_sizes(void) {
  const size_t one = 1;
  static const int wanted[] = {17,
                               33,
                               5,
                               6,
                               8,
                               9,
                               8,
                               9,
                               10,
                               11,
                               12,
                               10,
                               11,
                               3,
                               4,
                               5,
                               3,
                               4,
                               5,
                               0,
                               8,
                               9,
                               CL_RGBA - CL_R,
                               CL_UNORM_INT8 - CL_SNORM_INT8,
                               CL_DEPTH - CL_R,
                               CL_FLOAT - CL_SNORM_INT8};
  int values[sizeof wanted / sizeof *wanted];
  cl_int error;
  cl_mem buffer = clCreateBuffer(opencl.context, 0, 33 * 4, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_image_desc descs[] = {
      {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 17},
      {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 33, .mem_object = buffer},
      {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 5, .image_array_size = 6},
      {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 9},
      {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
       .image_width = 10,
       .image_height = 11,
       .image_array_size = 12},
      {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 3, .image_height = 4, .image_depth = 5},
      {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 9},
  };
  enum { IMAGES = sizeof descs / sizeof *descs };
  cl_mem images[IMAGES];
  cl_kernel kernel = clCreateKernel(program, "sizes", &error);
  CHECK_CL(error, CL_SUCCESS);
  for (cl_uint i = 0; i < IMAGES; i++) {
    const bool depth = i == IMAGES - 1;
    images[i] = make_image(0, depth ? CL_DEPTH : CL_RGBA, depth ? CL_FLOAT : CL_UNORM_INT8,
                           &descs[i], NULL);
    CHECK_CL(clSetKernelArg(kernel, i, sizeof(cl_mem), &images[i]), CL_SUCCESS);
  }
  CHECK_CL(clSetKernelArg(kernel, IMAGES, sizeof colours, &colours), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl.queue, colours, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL),
      CL_SUCCESS);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    CHECK(values[i] == wanted[i]);
  for (int i = 0; i < IMAGES; i++)
    CHECK_CL(clReleaseMemObject(images[i]), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Samplers that the program declares, in a kernel and at program scope, and passed to a
 * function. */
static void check_literals(void) {
  static const struct model_sampler sampler = {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT,
                                               CL_FILTER_LINEAR};
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  const struct kind *kind = &kinds[2];
  struct picture picture;
  cl_float4 at[POINTS];
  cl_uint4 got[POINTS];
  cl_int error;
  picture_open(&picture, kind, &format);
  cl_kernel kernel = clCreateKernel(program, "literals", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof picture.image, &picture.image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof points, &points), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof colours, &colours), CL_SUCCESS);
  choose_points(kind, &sampler, at);
  run(kernel, at, got);
  compare(&picture, kind, &sampler, at, got);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(picture.image), CL_SUCCESS);
}

/* The constants of the kernels sums_*, the last one unsigned. */
enum { SUMS = 4 };
static const int added[SUMS][3] = {
    {1, -2, -1}, {-65536, 65536, 1}, {0x2000000, -65537, 0}, {3, 3, 3}};

/* Checks the texels at the sum of a coordinate and constants. A signed sum that overflows is
 * undefined. */
static void compare_sums(const struct picture *picture, const struct kind *kind,
                         const struct model_sampler *sampler, const cl_int4 *at,
                         const cl_uint4 *got) {
  for (int i = 0; i < SUMS; i++) {
    float place[4] = {0};
    double wanted[4], largest;
    bool defined = true;
    for (int d = 0; d < kind->dimensions + kind->is_array; d++) {
      const long long sum = (long long)at->s[d] + added[i][d];
      const long long is = i == SUMS - 1 ? (int)(unsigned)sum : sum;
      defined &= is >= INT_MIN && is <= INT_MAX;
      place[d] = is < -1 ? -1 : is > kind->size[d] ? (float)kind->size[d] : (float)is;
    }
    model_sample(&picture->model, sampler, place, wanted, &largest);
    if (!defined || got->s[i] == (cl_uint)wanted[0])
      continue;
    fprintf(stderr, "%s: at %d %d %d and %d %d %d: 0x%x, not 0x%x\n", kind->name, at->s[0],
            at->s[1], at->s[2], added[i][0], added[i][1], added[i][2], got->s[i],
            (cl_uint)wanted[0]);
    exit(1);
  }
}

/* Sums of integers, which the compiler replaces by sums of floats where both give the same texel.
 */
static void check_sums(const struct kind *kind) {
  static const int far[] = {0,          0x10000,     -0x10000,    0x400000,
                            -0x400000,  0x1000000,   -0x1000000,  -0x2000000,
                            0x40000000, INT_MIN + 8, INT_MAX - 8, INT_MIN + 0x10008};
  static const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
  struct picture picture;
  cl_int4 at[POINTS];
  cl_uint4 got[POINTS];
  picture_open(&picture, kind, &format);
  cl_kernel kernel = kernel_of("sums", kind->name, "uint", "");
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof picture.image, &picture.image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof points, &points), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, sizeof colours, &colours), CL_SUCCESS);
  for (int i = 0; i < POINTS; i++)
    for (int d = 0; d < 4; d++)
      at[i].s[d] =
          far[random_bits() % (sizeof far / sizeof *far)] + ((int)(random_bits() % 17) - 8);
  for (int i = 0; i < INTEGER_SAMPLERS; i++) {
    cl_sampler sampler = make_sampler(&samplers[i]);
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
    run(kernel, at, got);
    for (int k = 0; k < POINTS; k++)
      compare_sums(&picture, kind, &samplers[i], &at[k], &got[k]);
    CHECK_CL(clReleaseSampler(sampler), CL_SUCCESS);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(picture.image), CL_SUCCESS);
}

/* Reads an image that shares a picture's texels, through every sampler. */
static void check_view(struct picture *picture, const struct kind *kind, cl_mem image,
                       cl_channel_order order) {
  cl_float4 at[POINTS];
  cl_uint4 got[POINTS];
  cl_kernel kernel = kernel_of("read", kind->name, "float", "");
  picture->image = image;
  picture->model = (struct model_image){.format = {order, CL_UNORM_INT8},
                                        .dimensions = kind->dimensions,
                                        .is_array = kind->is_array,
                                        .size = {kind->size[0], kind->size[1], kind->size[2]},
                                        .texels = picture->texels,
                                        .texel_bytes = 4};
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof points, &points), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, sizeof colours, &colours), CL_SUCCESS);
  for (int i = 0; i < SAMPLERS; i++) {
    cl_sampler sampler = make_sampler(&samplers[i]);
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
    choose_points(kind, &samplers[i], at);
    run(kernel, at, got);
    compare(picture, kind, &samplers[i], at, got);
    CHECK_CL(clReleaseSampler(sampler), CL_SUCCESS);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* An image in a buffer, with gaps after each row and slice that must not change. For two
 * dimensions also an sRGB image in it. */
static void check_in_buffer(const struct kind *kind) {
  enum { GAP = 5, BYTES_MAX = 2048 };
  static unsigned char bytes[BYTES_MAX];
  struct picture picture;
  cl_int error;
  const int *size = kind->size;
  const bool is_flat = kind->type == CL_MEM_OBJECT_IMAGE2D;
  const size_t width = (size_t)size[0] * 4, row = width + GAP * 4;
  const size_t rows = (size_t)(size[1] + (size[2] > 1 ? GAP : 0));
  const size_t all = row * rows * (size_t)size[2];
  CHECK(all <= BYTES_MAX);
  for (size_t i = 0; i < all; i++)
    bytes[i] = (unsigned char)random_bits();
  for (int z = 0; z < size[2]; z++)
    for (int y = 0; y < size[1]; y++)
      memcpy(picture.texels + (size_t)(z * size[1] + y) * width,
             bytes + ((size_t)z * rows + (size_t)y) * row, width);
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, all, bytes, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_image_desc desc = desc_of(kind);
  desc.image_row_pitch = row;
  desc.image_slice_pitch = size[2] > 1 ? row * rows : 0;
  desc.mem_object = buffer;
  cl_mem plain = make_image(0, CL_RGBA, CL_UNORM_INT8, &desc, NULL);
  check_view(&picture, kind, plain, CL_RGBA);
  if (is_flat) {
    desc.mem_object = plain;
    cl_mem srgb = make_image(0, CL_sRGBA, CL_UNORM_INT8, &desc, NULL);
    check_view(&picture, kind, srgb, CL_sRGBA);
    CHECK_CL(clReleaseMemObject(srgb), CL_SUCCESS);
  }
  CHECK_CL(clReleaseMemObject(plain), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  const bool plain = !strcmp(argv[2], "unoptimized");
  open_all(argv[1], plain ? "-cl-std=CL3.0 -cl-opt-disable" : "-cl-std=CL3.0");
  if (!strcmp(argv[2], "reads")) {
    each_format(read_one, CL_MEM_READ_ONLY);
  } else if (!strcmp(argv[2], "writes")) {
    each_format(write_one, CL_MEM_WRITE_ONLY);
  } else {
    CHECK(plain || !strcmp(argv[2], "rest"));
    check_both();
    check_sizes();
    check_literals();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      check_in_buffer(&kinds[i]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      check_sums(&kinds[i]);
  }
  close_all();
  return 0;
}
