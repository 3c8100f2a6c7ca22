/* Images and samplers on the fake runtime, following the error lists of the specification:
 * creation, queries, commands and kernel arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/icd/fakes/fixture.h"

#include "icd/image/image.h"

static uint64_t foreign[64];
#define FOREIGN(type) ((type)(void *)foreign)

static const cl_image_format rgba8 = {CL_RGBA, CL_UNORM_INT8};
static const size_t origin[3] = {0};

static cl_mem make(struct fixture *fixture, cl_mem_flags flags, const cl_image_format *format,
                   const cl_image_desc *desc, void *host_ptr) {
  cl_int code;
  cl_mem image = clCreateImage(fixture->context, flags, format, desc, host_ptr, &code);
  assert_cl(code);
  return image;
}

static cl_mem make_2d(struct fixture *fixture, cl_mem_flags flags, size_t width, size_t height) {
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height};
  return make(fixture, flags, &rgba8, &desc, NULL);
}

/* ---- creation -------------------------------------------------------------------------- */

enum { HOST = CL_MEM_COPY_HOST_PTR, BIG = 1 << 30 };
static unsigned char memory[1 << 16];

#define D1(w)                                                                                      \
  { .image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = w }
#define D2(w, h)                                                                                   \
  { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = w, .image_height = h }
#define D2P(w, h, p)                                                                               \
  { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = w, .image_height = h, .image_row_pitch = p }
#define D3(w, h, d)                                                                                \
  { .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = w, .image_height = h, .image_depth = d }
#define D3P(w, h, d, p, s)                                                                         \
  {                                                                                                \
    .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = w, .image_height = h, .image_depth = d,    \
    .image_row_pitch = p, .image_slice_pitch = s                                                   \
  }
#define A1(w, n)                                                                                   \
  { .image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = w, .image_array_size = n }
#define A2(w, h, n)                                                                                \
  {                                                                                                \
    .image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = w, .image_height = h,                \
    .image_array_size = n                                                                          \
  }

/* clang-format off */
static const struct {
  cl_image_desc desc;
  cl_image_format format;
  cl_mem_flags flags;
  void *host_ptr;
  cl_int code;
} rows[] = {
    {.desc = D1(1), .format = {CL_R, CL_FLOAT}, .code = CL_SUCCESS},
    {.desc = D1(ICD_IMAGE_WIDTH_MAX), .format = {CL_R, CL_UNORM_INT8}, .code = CL_SUCCESS},
    {.desc = D1(0), .format = {CL_R, CL_FLOAT}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D1(ICD_IMAGE_WIDTH_MAX + 1), .format = {CL_R, CL_FLOAT}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_SUCCESS},
    {.desc = D2(4, 0), .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D2(4, ICD_IMAGE_WIDTH_MAX + 1), .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D2(SIZE_MAX, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D3(2, 2, 2), .format = {CL_RGBA, CL_HALF_FLOAT}, .code = CL_SUCCESS},
    {.desc = D3(2, 2, 0), .format = {CL_RGBA, CL_HALF_FLOAT}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D3(2, 2, ICD_IMAGE_SIDE_MAX + 1), .format = {CL_RGBA, CL_HALF_FLOAT}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = D3(16384, 16384, 16384), .format = {CL_RGBA, CL_FLOAT}, .code = CL_MEM_OBJECT_ALLOCATION_FAILURE},
    {.desc = A1(4, 3), .format = {CL_RG, CL_SIGNED_INT16}, .code = CL_SUCCESS},
    {.desc = A1(4, 0), .format = {CL_RG, CL_SIGNED_INT16}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = A1(4, ICD_IMAGE_LAYERS_MAX + 1), .format = {CL_RG, CL_SIGNED_INT16}, .code = CL_INVALID_IMAGE_SIZE},
    {.desc = A2(4, 3, 2), .format = {CL_DEPTH, CL_FLOAT}, .code = CL_SUCCESS},
    {.desc = D3(4, 3, 2), .format = {CL_DEPTH, CL_FLOAT}, .code = CL_IMAGE_FORMAT_NOT_SUPPORTED},
    {.desc = {0}, .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = {.image_type = CL_MEM_OBJECT_BUFFER, .image_width = 4}, .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 4, .num_mip_levels = 1}, .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 4, .num_samples = 1}, .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4}, .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    /* formats */
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_SHORT_565}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {CL_RGB, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {CL_BGRA, CL_FLOAT}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {CL_INTENSITY, CL_SIGNED_INT8}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {0, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {CL_RGBA, 0}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {CL_RGB, CL_UNORM_INT_101010_2}, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT_101010_2}, .code = CL_IMAGE_FORMAT_NOT_SUPPORTED},
    {.desc = D2(4, 4), .format = {CL_RA, CL_UNORM_INT8}, .code = CL_IMAGE_FORMAT_NOT_SUPPORTED},
    {.desc = D2(4, 4), .format = {CL_sRGB, CL_UNORM_INT8}, .code = CL_IMAGE_FORMAT_NOT_SUPPORTED},
    {.desc = D2(4, 4), .format = {CL_RGB, CL_UNORM_SHORT_565}, .code = CL_SUCCESS},
    {.desc = D2(4, 4), .format = {CL_sBGRA, CL_UNORM_INT8}, .flags = CL_MEM_READ_ONLY, .code = CL_SUCCESS},
    /* flags and host_ptr */
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, .code = CL_INVALID_VALUE},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, .code = CL_INVALID_VALUE},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = CL_MEM_KERNEL_READ_AND_WRITE, .code = CL_INVALID_VALUE},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = CL_MEM_USE_HOST_PTR | HOST, .host_ptr = memory, .code = CL_INVALID_VALUE},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = 1ull << 40, .code = CL_INVALID_VALUE},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .code = CL_INVALID_HOST_PTR},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = CL_MEM_USE_HOST_PTR, .code = CL_INVALID_HOST_PTR},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .host_ptr = memory, .code = CL_INVALID_HOST_PTR},
    {.desc = D2(4, 4), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = CL_MEM_USE_HOST_PTR, .host_ptr = memory, .code = CL_SUCCESS},
    /* pitches */
    {.desc = D2P(4, 4, 16), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_SUCCESS},
    {.desc = D2P(4, 4, 20), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_SUCCESS},
    {.desc = D2P(4, 4, 15), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = D2P(4, 4, 18), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = D2P(4, 4, 16), .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = D2P(4, 4, (size_t)BIG * 8), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = D3P(4, 4, 2, 20, 80), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_SUCCESS},
    {.desc = D3P(4, 4, 2, 20, 100), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_SUCCESS},
    {.desc = D3P(4, 4, 2, 20, 60), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = D3P(4, 4, 2, 20, 90), .format = {CL_RGBA, CL_UNORM_INT8}, .flags = HOST, .host_ptr = memory, .code = CL_INVALID_IMAGE_DESCRIPTOR},
    {.desc = D3P(4, 4, 2, 0, 64), .format = {CL_RGBA, CL_UNORM_INT8}, .code = CL_INVALID_IMAGE_DESCRIPTOR},
};
/* clang-format on */

static void creates_images_or_reports_errors(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_mem image = clCreateImage(fixture->context, rows[i].flags, &rows[i].format, &rows[i].desc,
                                 rows[i].host_ptr, &code);
    if (code != rows[i].code)
      fail_msg("row %zu gives %d instead of %d", i, code, rows[i].code);
    assert_int_equal(!image, code != CL_SUCCESS);
    if (image)
      assert_cl(clReleaseMemObject(image));
  }
  const cl_image_desc desc = D2(4, 4);
  const cl_mem_properties unknown[] = {1, 2, 0}, none[] = {0};
  assert_null(clCreateImage(NULL, 0, &rgba8, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_null(clCreateImage(fixture->context, 0, NULL, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  assert_null(clCreateImage(fixture->context, 0, &rgba8, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_DESCRIPTOR);
  assert_null(
      clCreateImageWithProperties(fixture->context, unknown, 0, &rgba8, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  cl_mem image = clCreateImageWithProperties(fixture->context, none, 0, &rgba8, &desc, NULL, &code);
  assert_cl(code);
  assert_cl(clReleaseMemObject(image));
  assert_null(clCreateImage2D(fixture->context, 0, &rgba8, 4, 0, 0, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  assert_null(clCreateImage3D(fixture->context, 0, &rgba8, 4, 4, 0, 0, 0, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  assert_null(clCreateImage2D(fixture->context, 0, &rgba8, 4, 4, 16, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  assert_null(clCreateImage2D(fixture->context, HOST, &rgba8, 4, 4, 15, memory, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  assert_null(clCreateImage3D(fixture->context, HOST, &rgba8, 4, 4, 2, 16, 65, memory, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  image = clCreateImage3D(fixture->context, 0, &rgba8, 4, 3, 2, 0, 0, NULL, NULL);
  assert_non_null(image);
  assert_cl(clReleaseMemObject(image));
}

/* Images created from buffers and from images. */
static void creates_images_in_buffers_and_images(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  cl_mem buffer = fixture_buffer(fixture, 256), found;
  cl_image_desc line = {
      .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 64, .mem_object = buffer};
  cl_mem image = make(fixture, 0, &rgba8, &line, NULL);
  assert_cl(clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof found, &found, NULL));
  assert_ptr_equal(found, buffer);
  assert_cl(clGetMemObjectInfo(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof found, &found, NULL));
  assert_ptr_equal(found, buffer);
  assert_cl(clReleaseMemObject(image));
  line.image_width = 65;
  assert_null(clCreateImage(fixture->context, 0, &rgba8, &line, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  line.mem_object = FOREIGN(cl_mem);
  assert_null(clCreateImage(fixture->context, 0, &rgba8, &line, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_DESCRIPTOR);

  cl_image_desc flat = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                        .image_width = 7,
                        .image_height = 8,
                        .image_row_pitch = 32,
                        .mem_object = buffer};
  image = make(fixture, 0, &rgba8, &flat, NULL);
  flat.image_row_pitch = 30;
  assert_null(clCreateImage(fixture->context, 0, &rgba8, &flat, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  flat.image_row_pitch = 40;
  assert_null(clCreateImage(fixture->context, 0, &rgba8, &flat, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  flat.image_row_pitch = 32;
  assert_null(clCreateImage(fixture->context, CL_MEM_USE_HOST_PTR, &rgba8, &flat, memory, &code));
  assert_int_equal(code, CL_INVALID_VALUE);

  /* A view of the same texels can interpret their channels differently. */
  const cl_image_format srgb = {CL_sRGBA, CL_UNORM_INT8}, bgra = {CL_BGRA, CL_UNORM_INT8};
  flat.mem_object = image;
  cl_mem view = make(fixture, 0, &srgb, &flat, NULL);
  assert_cl(clGetImageInfo(view, CL_IMAGE_BUFFER, sizeof found, &found, NULL));
  assert_null(found);
  assert_null(clCreateImage(fixture->context, 0, &bgra, &flat, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  flat.image_height = 7;
  assert_null(clCreateImage(fixture->context, 0, &srgb, &flat, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  cl_image_desc solid = flat; /* valid for a buffer, but not for an image */
  solid.image_type = CL_MEM_OBJECT_IMAGE3D;
  solid.image_depth = 1;
  assert_null(clCreateImage(fixture->context, 0, &srgb, &solid, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_DESCRIPTOR);
  assert_cl(clReleaseMemObject(view));
  assert_cl(clReleaseMemObject(image));

  /* An R image may be viewed as a depth image, but not the other way round. */
  const cl_image_format r = {CL_R, CL_FLOAT}, depth = {CL_DEPTH, CL_FLOAT};
  flat = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
  image = flat.mem_object = make(fixture, 0, &r, &(cl_image_desc)D2(4, 4), NULL);
  view = make(fixture, 0, &depth, &flat, NULL);
  flat.mem_object = view;
  assert_null(clCreateImage(fixture->context, 0, &r, &flat, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  assert_cl(clReleaseMemObject(view));
  assert_cl(clReleaseMemObject(image));

  /* An image cannot be used as a buffer. */
  image = make_2d(fixture, 0, 4, 4);
  const cl_buffer_region region = {0, 16};
  assert_null(clCreateSubBuffer(image, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  assert_int_equal(code, CL_INVALID_MEM_OBJECT);
  assert_int_equal(clEnqueueReadBuffer(fixture->queue, image, CL_TRUE, 0, 4, memory, 0, NULL, NULL),
                   CL_INVALID_MEM_OBJECT);
  assert_int_equal(clEnqueueReadImage(fixture->queue, buffer, CL_TRUE, origin,
                                      (const size_t[]){1, 1, 1}, 0, 0, memory, 0, NULL, NULL),
                   CL_INVALID_MEM_OBJECT);
  assert_int_equal(clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
  assert_cl(clReleaseMemObject(image));
  assert_cl(clReleaseMemObject(buffer));
}

/* An image buffer is not copied to or from its own buffer. Other buffers are allowed. */
static void image_buffers_are_not_copied_to_their_buffer(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture->queue;
  cl_mem buffer = fixture_buffer(fixture, 256), other = fixture_buffer(fixture, 256);
  const cl_image_desc line = {
      .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 64, .mem_object = buffer};
  const size_t region[3] = {8, 1, 1};
  cl_mem image = make(fixture, 0, &rgba8, &line, NULL);
  assert_int_equal(
      clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, 128, 0, NULL, NULL),
      CL_INVALID_MEM_OBJECT);
  assert_int_equal(
      clEnqueueCopyBufferToImage(queue, buffer, image, 128, origin, region, 0, NULL, NULL),
      CL_INVALID_MEM_OBJECT);
  assert_cl(clEnqueueCopyImageToBuffer(queue, image, other, origin, region, 0, 0, NULL, NULL));
  assert_cl(clEnqueueCopyBufferToImage(queue, other, image, 0, origin, region, 0, NULL, NULL));
  assert_cl(clFinish(queue));
  assert_cl(clReleaseMemObject(image));
  assert_cl(clReleaseMemObject(other));
  assert_cl(clReleaseMemObject(buffer));
}

/* ---- queries ---------------------------------------------------------------------------- */

static void queries_return_the_description(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    cl_image_desc desc;
    size_t row, slice, width, height, depth, layers;
  } images[] = {
      {D1(5), 20, 0, 5, 0, 0, 0},        {A1(5, 3), 20, 20, 5, 0, 0, 3},
      {D2(5, 4), 20, 0, 5, 4, 0, 0},     {A2(5, 4, 3), 20, 80, 5, 4, 0, 3},
      {D3(5, 4, 3), 20, 80, 5, 4, 3, 0}, {D3P(5, 4, 3, 24, 120), 24, 120, 5, 4, 3, 0},
  };
  for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
    const bool pitched = images[i].desc.image_row_pitch;
    cl_mem image = make(fixture, pitched ? CL_MEM_USE_HOST_PTR : 0, &rgba8, &images[i].desc,
                        pitched ? memory : NULL);
    const struct {
      cl_image_info name;
      size_t value;
    } queries[] = {{CL_IMAGE_ELEMENT_SIZE, 4},
                   {CL_IMAGE_ROW_PITCH, images[i].row},
                   {CL_IMAGE_SLICE_PITCH, images[i].slice},
                   {CL_IMAGE_WIDTH, images[i].width},
                   {CL_IMAGE_HEIGHT, images[i].height},
                   {CL_IMAGE_DEPTH, images[i].depth},
                   {CL_IMAGE_ARRAY_SIZE, images[i].layers}};
    for (size_t k = 0; k < sizeof queries / sizeof *queries; k++) {
      size_t value, size;
      assert_cl(clGetImageInfo(image, queries[k].name, sizeof value, &value, &size));
      assert_int_equal(value, queries[k].value);
      assert_int_equal(size, sizeof value);
    }
    cl_mem_object_type type;
    cl_image_format format;
    cl_uint none = 1;
    assert_cl(clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, images[i].desc.image_type);
    assert_cl(clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format, NULL));
    assert_memory_equal(&format, &rgba8, sizeof format);
    assert_cl(clGetImageInfo(image, CL_IMAGE_NUM_MIP_LEVELS, sizeof none, &none, NULL));
    assert_int_equal(none, 0);
    assert_int_equal(clGetImageInfo(image, CL_IMAGE_WIDTH, 4, &none, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetImageInfo(image, CL_MEM_TYPE, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_cl(clReleaseMemObject(image));
  }
  assert_int_equal(clGetImageInfo(NULL, CL_IMAGE_WIDTH, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
  assert_int_equal(clGetImageInfo(FOREIGN(cl_mem), CL_IMAGE_WIDTH, 0, NULL, NULL),
                   CL_INVALID_MEM_OBJECT);
}

/* The formats that OpenCL 3.0 requires of every device with images. */
static void required_formats_are_supported(void **state) {
  struct fixture *fixture = *state;
  static const cl_channel_type types[] = {
      CL_UNORM_INT8,    CL_UNORM_INT16,    CL_SIGNED_INT8,    CL_SIGNED_INT16, CL_SIGNED_INT32,
      CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT,   CL_FLOAT};
  static const cl_mem_object_type kinds[] = {
      CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE1D_ARRAY,
      CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,  CL_MEM_OBJECT_IMAGE3D};
  static const cl_mem_flags uses[] = {0, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY,
                                      CL_MEM_KERNEL_READ_AND_WRITE};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t u = 0; u < sizeof uses / sizeof *uses; u++) {
      cl_image_format list[128];
      cl_uint count, found = 0;
      assert_cl(clGetSupportedImageFormats(fixture->context, uses[u], kinds[k], 128, list, &count));
      for (cl_uint i = 0; i < count; i++) {
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
          found +=
              (list[i].image_channel_order == CL_RGBA || list[i].image_channel_order == CL_R) &&
              list[i].image_channel_data_type == types[t];
        found += list[i].image_channel_order == CL_BGRA &&
                 list[i].image_channel_data_type == CL_UNORM_INT8;
      }
      assert_int_equal(found, 21);
    }
  cl_image_format one;
  cl_uint count;
  assert_int_equal(clGetSupportedImageFormats(NULL, 0, CL_MEM_OBJECT_IMAGE2D, 1, &one, &count),
                   CL_INVALID_CONTEXT);
  assert_int_equal(
      clGetSupportedImageFormats(fixture->context, 0, CL_MEM_OBJECT_BUFFER, 1, &one, &count),
      CL_INVALID_VALUE);
  assert_int_equal(
      clGetSupportedImageFormats(fixture->context, 0, CL_MEM_OBJECT_IMAGE2D, 0, &one, &count),
      CL_INVALID_VALUE);
  assert_int_equal(clGetSupportedImageFormats(fixture->context, 1ull << 40, CL_MEM_OBJECT_IMAGE2D,
                                              1, &one, &count),
                   CL_INVALID_VALUE);
}

/* ---- commands ---------------------------------------------------------------------------------
 */

/* Transfers a box of a 3D image from and to memory with pitches, through a buffer and another
 * image. */
static void transfers_copy_boxes(void **state) {
  struct fixture *fixture = *state;
  enum { W = 6, H = 5, D = 4, ROW = 40, SLICE = 240 };
  static unsigned char in[D * SLICE], out[D * SLICE], expected[D * SLICE];
  const cl_image_desc desc = D3(W, H, D);
  const size_t all[3] = {W, H, D}, from[3] = {1, 2, 1}, region[3] = {3, 2, 2};
  cl_mem image = make(fixture, 0, &rgba8, &desc, NULL),
         other = make(fixture, 0, &rgba8, &desc, NULL);
  cl_mem buffer = fixture_buffer(fixture, 256);
  for (size_t i = 0; i < sizeof in; i++)
    in[i] = (unsigned char)(i * 7 + i / 256);
  assert_cl(clEnqueueWriteImage(fixture->queue, image, CL_TRUE, origin, all, ROW, SLICE, in, 0,
                                NULL, NULL));
  memset(out, 0, sizeof out);
  memset(expected, 0, sizeof expected);
  for (size_t z = 0; z < region[2]; z++)
    for (size_t y = 0; y < region[1]; y++)
      memcpy(expected + z * 64 + y * 16,
             in + (from[2] + z) * SLICE + (from[1] + y) * ROW + from[0] * 4, region[0] * 4);
  assert_cl(
      clEnqueueReadImage(fixture->queue, image, CL_TRUE, from, region, 16, 64, out, 0, NULL, NULL));
  assert_memory_equal(out, expected, sizeof out);
  /* to a buffer, from there to another place in the other image, and back */
  const size_t elsewhere[3] = {2, 3, 0};
  assert_cl(
      clEnqueueCopyImageToBuffer(fixture->queue, image, buffer, from, region, 8, 0, NULL, NULL));
  assert_cl(clEnqueueCopyBufferToImage(fixture->queue, buffer, other, 8, elsewhere, region, 0, NULL,
                                       NULL));
  memset(out, 0, sizeof out);
  assert_cl(clEnqueueReadImage(fixture->queue, other, CL_TRUE, elsewhere, region, 16, 64, out, 0,
                               NULL, NULL));
  assert_memory_equal(out, expected, sizeof out);
  assert_cl(clEnqueueCopyImage(fixture->queue, image, other, from, origin, region, 0, NULL, NULL));
  memset(out, 0, sizeof out);
  size_t row, slice;
  cl_int code;
  const char *mapped = clEnqueueMapImage(fixture->queue, other, CL_TRUE, CL_MAP_READ, origin,
                                         region, &row, &slice, 0, NULL, NULL, &code);
  assert_cl(code);
  assert_int_equal(row, W * 4);
  assert_int_equal(slice, W * H * 4);
  for (size_t z = 0; z < region[2]; z++)
    for (size_t y = 0; y < region[1]; y++)
      assert_memory_equal(mapped + z * slice + y * row, expected + z * 64 + y * 16, region[0] * 4);
  assert_cl(
      clEnqueueUnmapMemObject(fixture->queue, other, (void *)(uintptr_t)mapped, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_cl(clReleaseMemObject(image));
  assert_cl(clReleaseMemObject(other));
  assert_cl(clReleaseMemObject(buffer));
}

/* The layers of a 1D array are a slice pitch apart, also in host memory. */
static void layers_of_1d_arrays_have_slice_pitch(void **state) {
  struct fixture *fixture = *state;
  enum { W = 5, N = 3, SLICE = 32 };
  unsigned char in[N * SLICE], out[N * W * 4];
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY,
                              .image_width = W,
                              .image_array_size = N,
                              .image_row_pitch = W * 4,
                              .image_slice_pitch = 2 * W * 4};
  const size_t all[3] = {W, N, 1};
  for (size_t i = 0; i < sizeof in; i++)
    in[i] = (unsigned char)(i * 7);
  unsigned char host[2 * W * 4 * N];
  memset(host, 0, sizeof host);
  cl_mem image = make(fixture, CL_MEM_USE_HOST_PTR, &rgba8, &desc, host);
  assert_cl(clEnqueueWriteImage(fixture->queue, image, CL_TRUE, origin, all, 0, SLICE, in, 0, NULL,
                                NULL));
  assert_cl(
      clEnqueueReadImage(fixture->queue, image, CL_TRUE, origin, all, 0, 0, out, 0, NULL, NULL));
  size_t row, slice;
  cl_int code;
  unsigned char *mapped = clEnqueueMapImage(fixture->queue, image, CL_TRUE, CL_MAP_READ, origin,
                                            all, &row, &slice, 0, NULL, NULL, &code);
  assert_cl(code);
  assert_ptr_equal(mapped, host);
  assert_int_equal(slice, 2 * W * 4);
  for (size_t n = 0; n < N; n++) {
    assert_memory_equal(out + n * W * 4, in + n * SLICE, W * 4);
    assert_memory_equal(host + n * slice, in + n * SLICE, W * 4);
  }
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, image, mapped, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_cl(clReleaseMemObject(image));
}

static void refuses_bad_arguments(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture->queue;
  cl_mem image = make_2d(fixture, 0, 8, 6), other = make_2d(fixture, 0, 8, 6);
  cl_mem closed = make_2d(fixture, CL_MEM_HOST_NO_ACCESS, 8, 6),
         buffer = fixture_buffer(fixture, 64);
  const size_t all[3] = {8, 6, 1}, empty[3] = {8, 0, 1}, deep[3] = {8, 6, 2}, one[3] = {1, 1, 1};
  const size_t beside[3] = {1, 0, 0}, far[3] = {SIZE_MAX, 0, 0}, third[3] = {0, 0, 1};
  const cl_float4 colour = {{0}};
  size_t row;
  cl_int code;
#define READ(queue_, image_, origin_, region_, row_, slice_, ptr)                                  \
  clEnqueueReadImage(queue_, image_, CL_TRUE, origin_, region_, row_, slice_, ptr, 0, NULL, NULL)
  assert_cl(READ(queue, image, origin, all, 0, 0, memory));
  assert_cl(READ(queue, image, origin, all, 40, 0, memory));
  assert_int_equal(READ(NULL, image, origin, all, 0, 0, memory), CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(READ(queue, NULL, origin, all, 0, 0, memory), CL_INVALID_MEM_OBJECT);
  assert_int_equal(READ(queue, image, NULL, all, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, origin, NULL, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, origin, empty, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, origin, deep, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, beside, all, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, far, one, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, third, one, 0, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, origin, all, 31, 0, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, origin, all, 0, 200, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, image, origin, all, 0, 0, NULL), CL_INVALID_VALUE);
  const cl_image_desc box = D3(4, 4, 2), lines = A1(4, 2);
  cl_mem solid = make(fixture, 0, &rgba8, &box, NULL),
         array = make(fixture, 0, &rgba8, &lines, NULL);
  const size_t both_slices[3] = {4, 4, 2}, both_lines[3] = {4, 2, 1};
  assert_int_equal(READ(queue, solid, origin, both_slices, 0, SIZE_MAX, memory), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, array, origin, both_lines, 0, SIZE_MAX, memory), CL_INVALID_VALUE);
  assert_cl(clReleaseMemObject(solid));
  assert_cl(clReleaseMemObject(array));
  assert_int_equal(READ(queue, closed, origin, all, 0, 0, memory), CL_INVALID_OPERATION);
  assert_int_equal(
      clEnqueueReadImage(queue, image, CL_TRUE, origin, all, 0, 0, memory, 1, NULL, NULL),
      CL_INVALID_EVENT_WAIT_LIST);
  assert_int_equal(
      clEnqueueWriteImage(queue, closed, CL_TRUE, origin, all, 0, 0, memory, 0, NULL, NULL),
      CL_INVALID_OPERATION);

  assert_int_equal(clEnqueueFillImage(queue, image, NULL, origin, all, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueFillImage(queue, image, &colour, beside, all, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueFillImage(queue, buffer, &colour, origin, all, 0, NULL, NULL),
                   CL_INVALID_MEM_OBJECT);

  assert_cl(clEnqueueCopyImage(queue, image, other, origin, origin, all, 0, NULL, NULL));
  const size_t half[3] = {4, 6, 1}, right[3] = {4, 0, 0}, middle[3] = {3, 0, 0};
  assert_cl(clEnqueueCopyImage(queue, image, image, origin, right, half, 0, NULL, NULL));
  assert_int_equal(clEnqueueCopyImage(queue, image, image, origin, middle, half, 0, NULL, NULL),
                   CL_MEM_COPY_OVERLAP);
  const cl_image_format floats = {CL_RGBA, CL_FLOAT};
  const cl_image_desc desc = D2(8, 6);
  cl_mem different = make(fixture, 0, &floats, &desc, NULL);
  assert_int_equal(clEnqueueCopyImage(queue, image, different, origin, origin, all, 0, NULL, NULL),
                   CL_IMAGE_FORMAT_MISMATCH);
  assert_int_equal(clEnqueueCopyImageToBuffer(queue, image, buffer, origin, all, 0, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueCopyImageToBuffer(queue, image, buffer, origin, one, 61, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(
      clEnqueueCopyBufferToImage(queue, buffer, image, SIZE_MAX, origin, one, 0, NULL, NULL),
      CL_INVALID_VALUE);
  assert_int_equal(clEnqueueCopyBufferToImage(queue, image, image, 0, origin, one, 0, NULL, NULL),
                   CL_INVALID_MEM_OBJECT);

  assert_null(clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, all, NULL, NULL, 0,
                                NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clEnqueueMapImage(queue, image, CL_TRUE, 1 << 20, origin, all, &row, NULL, 0, NULL,
                                NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clEnqueueMapImage(queue, closed, CL_TRUE, CL_MAP_READ, origin, all, &row, NULL, 0,
                                NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  assert_cl(clFinish(queue));
  cl_mem mems[] = {image, other, closed, buffer, different};
  for (size_t i = 0; i < sizeof mems / sizeof *mems; i++)
    assert_cl(clReleaseMemObject(mems[i]));
}

/* ---- samplers and kernel arguments -------------------------------------------------- */

/* Regions that are mapped for writing must not overlap. Regions that are mapped for reading, and
 * adjacent rectangles, may be mapped at the same time. */
static void overlapping_writable_maps_fail(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    size_t origin[3], region[3];
    cl_map_flags flags;
    cl_int code;
  } maps[] = {
      {{0, 0, 0}, {4, 4, 2}, CL_MAP_WRITE, CL_SUCCESS},
      {{4, 0, 0}, {4, 8, 4}, CL_MAP_READ | CL_MAP_WRITE, CL_SUCCESS},
      {{0, 4, 0}, {4, 4, 4}, CL_MAP_WRITE_INVALIDATE_REGION, CL_SUCCESS},
      {{0, 0, 2}, {4, 4, 2}, CL_MAP_WRITE, CL_SUCCESS},
      {{0, 0, 0}, {8, 8, 4}, CL_MAP_READ, CL_SUCCESS},
      {{3, 3, 1}, {1, 1, 1}, CL_MAP_WRITE, CL_INVALID_OPERATION},
      {{3, 3, 1}, {2, 2, 2}, CL_MAP_WRITE_INVALIDATE_REGION, CL_INVALID_OPERATION},
      {{7, 7, 3}, {1, 1, 1}, CL_MAP_READ | CL_MAP_WRITE, CL_INVALID_OPERATION},
      {{7, 7, 3}, {1, 1, 1}, CL_MAP_READ, CL_SUCCESS},
  };
  const cl_image_desc desc = D3(8, 8, 4);
  cl_mem image = make(fixture, 0, &rgba8, &desc, NULL), buffer = fixture_buffer(fixture, 64);
  cl_int code;
  size_t row, slice, mapped = 0;
  void *pointers[sizeof maps / sizeof *maps];
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    void *pointer = clEnqueueMapImage(fixture->queue, image, CL_TRUE, maps[i].flags, maps[i].origin,
                                      maps[i].region, &row, &slice, 0, NULL, NULL, &code);
    if (code != maps[i].code)
      fail_msg("row %zu gives %d instead of %d", i, code, maps[i].code);
    if (pointer)
      pointers[mapped++] = pointer;
  }
  while (mapped)
    assert_cl(clEnqueueUnmapMemObject(fixture->queue, image, pointers[--mapped], 0, NULL, NULL));

#define MAP(offset, size, flags)                                                                   \
  clEnqueueMapBuffer(fixture->queue, buffer, CL_TRUE, flags, offset, size, 0, NULL, NULL, &code)
  void *half = MAP(0, 32, CL_MAP_WRITE), *rest = MAP(32, 32, CL_MAP_WRITE);
  assert_non_null(half);
  assert_non_null(rest);
  assert_null(MAP(31, 2, CL_MAP_WRITE));
  assert_int_equal(code, CL_INVALID_OPERATION);
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, buffer, half, 0, NULL, NULL));
  half = MAP(0, 32, CL_MAP_WRITE); /* no longer mapped */
  assert_cl(code);
#undef MAP
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, buffer, half, 0, NULL, NULL));
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, buffer, rest, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_cl(clReleaseMemObject(image));
  assert_cl(clReleaseMemObject(buffer));
}

/* Overlapping maps also fail if different memory objects share the memory: a buffer, a sub-buffer,
 * and an image in it with gaps between its rows. */
static void overlapping_maps_of_parts_fail(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture->queue;
  cl_mem buffer = fixture_buffer(fixture, 1024);
  const cl_buffer_region region = {512, 256};
  const size_t size[3] = {8, 4, 1};
  size_t row;
  cl_int code;
  cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  assert_cl(code);
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                              .image_width = 8,
                              .image_height = 4,
                              .image_row_pitch = 64,
                              .mem_object = buffer};
  cl_mem image = make(fixture, 0, &rgba8, &desc, NULL);
#define MAP(mem, flags, offset, size)                                                              \
  clEnqueueMapBuffer(queue, mem, CL_TRUE, flags, offset, size, 0, NULL, NULL, &code)
  void *of_image = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, origin, size, &row, NULL,
                                     0, NULL, NULL, &code);
  assert_cl(code);
  void *of_part = MAP(part, CL_MAP_WRITE, 16, 16);
  assert_cl(code);
  static const struct {
    size_t offset, size;
    cl_int code;
  } maps[] = {{0, 1, CL_INVALID_OPERATION},   {32, 32, CL_SUCCESS},
              {96, 33, CL_INVALID_OPERATION}, {512, 16, CL_SUCCESS},
              {527, 2, CL_INVALID_OPERATION}, {543, 1, CL_INVALID_OPERATION},
              {544, 480, CL_SUCCESS},         {0, 1024, CL_INVALID_OPERATION}};
  void *pointers[sizeof maps / sizeof *maps];
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    pointers[i] = MAP(buffer, CL_MAP_WRITE, maps[i].offset, maps[i].size);
    if (code != maps[i].code)
      fail_msg("row %zu gives %d instead of %d", i, code, maps[i].code);
  }
  assert_null(MAP(part, CL_MAP_WRITE, 0, 1)); /* the buffer's */
  assert_non_null(MAP(part, CL_MAP_READ, 0, 1));
  assert_int_equal(fixture_map_count(buffer), 3);
  assert_int_equal(fixture_map_count(part), 2);
  assert_int_equal(fixture_map_count(image), 1);
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    if (pointers[i])
      assert_cl(clEnqueueUnmapMemObject(queue, buffer, pointers[i], 0, NULL, NULL));
  assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, of_part, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_cl(clEnqueueUnmapMemObject(queue, image, of_image, 0, NULL, NULL));
  assert_cl(clReleaseMemObject(part)); /* with its mappings */
  void *all = MAP(buffer, CL_MAP_WRITE, 0, 1024);
  assert_cl(code);
#undef MAP
  assert_cl(clEnqueueUnmapMemObject(queue, buffer, all, 0, NULL, NULL));
  assert_cl(clFinish(queue));
  assert_cl(clReleaseMemObject(image));
  assert_cl(clReleaseMemObject(buffer));
}

#define WIDE (UINT64_C(1) << 32) /* in a property of 64 bits whose values have 32 */

static void samplers_have_their_properties(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  const cl_sampler_properties twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR,
                                         CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0},
                              unknown[] = {1, 2, 0}, wrong[] = {CL_SAMPLER_FILTER_MODE, 7, 0},
                              wide[] = {CL_SAMPLER_FILTER_MODE, WIDE | CL_FILTER_LINEAR, 0},
                              wide_mode[] = {CL_SAMPLER_ADDRESSING_MODE, WIDE | CL_ADDRESS_CLAMP,
                                             0},
                              some[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
  const cl_sampler_properties *refused[] = {twice, unknown, wrong, wide, wide_mode};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    assert_null(clCreateSamplerWithProperties(fixture->context, refused[i], &code));
    assert_int_equal(code, CL_INVALID_VALUE);
  }
  assert_null(clCreateSamplerWithProperties(NULL, some, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_null(clCreateSampler(fixture->context, 2, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clCreateSampler(fixture->context, 1, 5, CL_FILTER_NEAREST, &code));
  assert_int_equal(code, CL_INVALID_VALUE);

  cl_sampler sampler = clCreateSamplerWithProperties(fixture->context, some, &code);
  assert_cl(code);
  cl_bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
  cl_uint count;
  cl_context context;
  cl_sampler_properties list[3];
  assert_cl(clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof normalized, &normalized,
                             NULL));
  assert_cl(
      clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof addressing, &addressing, NULL));
  assert_cl(clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL));
  assert_cl(clGetSamplerInfo(sampler, CL_SAMPLER_CONTEXT, sizeof context, &context, NULL));
  assert_cl(clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, sizeof list, list, NULL));
  assert_int_equal(normalized, CL_TRUE);
  assert_int_equal(addressing, CL_ADDRESS_CLAMP);
  assert_int_equal(filter, CL_FILTER_LINEAR);
  assert_ptr_equal(context, fixture->context);
  assert_memory_equal(list, some, sizeof some);
  assert_int_equal(clGetSamplerInfo(sampler, CL_MEM_TYPE, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_cl(clRetainSampler(sampler));
  assert_cl(clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof count, &count, NULL));
  assert_int_equal(count, 2);
  assert_cl(clReleaseSampler(sampler));
  assert_cl(clReleaseSampler(sampler));
  assert_int_equal(clRetainSampler(NULL), CL_INVALID_SAMPLER);
  assert_int_equal(clReleaseSampler(FOREIGN(cl_sampler)), CL_INVALID_SAMPLER);
  assert_int_equal(clGetSamplerInfo(NULL, CL_SAMPLER_CONTEXT, 0, NULL, NULL), CL_INVALID_SAMPLER);
}

static void kernels_get_descriptors(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  cl_kernel kernel = fixture_kernel(fixture, "describe");
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                              .image_width = 5,
                              .image_height = 4,
                              .image_row_pitch = 24};
  cl_mem in = make(fixture, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &rgba8, &desc, memory);
  cl_mem out = make_2d(fixture, CL_MEM_WRITE_ONLY, 16, 16), buffer = fixture_buffer(fixture, 64);
  cl_sampler sampler =
      clCreateSampler(fixture->context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &code);
  assert_cl(code);
  cl_mem nothing = NULL;
#define SET(i, size, value) clSetKernelArg(kernel, i, size, value)
  assert_int_equal(SET(0, sizeof in, NULL), CL_INVALID_MEM_OBJECT);
  assert_int_equal(SET(0, sizeof in, &nothing), CL_INVALID_MEM_OBJECT);
  assert_int_equal(SET(0, sizeof in, &buffer), CL_INVALID_MEM_OBJECT);
  assert_int_equal(SET(0, sizeof in, &sampler), CL_INVALID_MEM_OBJECT);
  const cl_image_desc others[] = {D1(4), A1(4, 2), A2(4, 3, 2), D3(4, 3, 2)};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    cl_mem other = make(fixture, 0, &rgba8, &others[i], NULL); /* no image2d_t */
    assert_int_equal(SET(0, sizeof other, &other), CL_INVALID_MEM_OBJECT);
    assert_cl(clReleaseMemObject(other));
  }
  assert_int_equal(SET(0, 4, &in), CL_INVALID_ARG_SIZE);
  assert_int_equal(SET(0, sizeof out, &out), CL_INVALID_ARG_VALUE); /* write-only */
  assert_int_equal(SET(1, sizeof in, &in), CL_INVALID_ARG_VALUE);   /* read-only */
  assert_int_equal(SET(2, sizeof sampler, NULL), CL_INVALID_SAMPLER);
  assert_int_equal(SET(2, sizeof sampler, &nothing), CL_INVALID_SAMPLER);
  assert_int_equal(SET(2, sizeof sampler, &in), CL_INVALID_SAMPLER);
  assert_int_equal(SET(2, 4, &sampler), CL_INVALID_ARG_SIZE);
  assert_cl(SET(0, sizeof in, &in));
  assert_cl(SET(1, sizeof out, &out));
  assert_cl(SET(2, sizeof sampler, &sampler));
  cl_kernel adder = fixture_kernel(fixture, "add");
  assert_int_equal(clSetKernelArg(adder, 0, sizeof in, &in), CL_INVALID_MEM_OBJECT);
  assert_cl(clReleaseKernel(adder));

  cl_kernel_arg_access_qualifier access;
  cl_kernel_arg_address_qualifier space;
  assert_cl(
      clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
  assert_int_equal(access, CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
  assert_cl(
      clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
  assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
  assert_cl(
      clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
  assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_PRIVATE);

  const size_t one = 1, region[3] = {16, 1, 1};
  struct {
    struct kernel_image image;
    uint32_t sampler, rest[7];
  } got;
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
  assert_cl(
      clEnqueueReadImage(fixture->queue, out, CL_TRUE, origin, region, 0, 0, &got, 0, NULL, NULL));
  assert_int_equal(got.image.base, in->gpu);
  assert_int_equal(got.image.width, 5);
  assert_int_equal(got.image.height, 4);
  assert_int_equal(got.image.depth, 1);
  assert_int_equal(got.image.row_pitch, 24);
  assert_int_equal(got.image.format,
                   (CL_RGBA - CL_R) | (CL_UNORM_INT8 - CL_SNORM_INT8) << 8 | 2 << 16);
  assert_int_equal(got.sampler,
                   KERNEL_SAMPLER_NORMALIZED | KERNEL_SAMPLER_REPEAT | KERNEL_SAMPLER_LINEAR);
  assert_cl(clReleaseSampler(sampler));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(in));
  assert_cl(clReleaseMemObject(out));
  assert_cl(clReleaseMemObject(buffer));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(creates_images_or_reports_errors),
      TEST(creates_images_in_buffers_and_images),
      TEST(image_buffers_are_not_copied_to_their_buffer),
      TEST(queries_return_the_description),
      TEST(required_formats_are_supported),
      TEST(transfers_copy_boxes),
      TEST(layers_of_1d_arrays_have_slice_pitch),
      TEST(refuses_bad_arguments),
      TEST(overlapping_writable_maps_fail),
      TEST(overlapping_maps_of_parts_fail),
      TEST(samplers_have_their_properties),
      TEST(kernels_get_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
