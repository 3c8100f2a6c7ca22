/* Images of all types in buffers, and queries of their requirements
 * (cl_ext_image_requirements_info, cl_ext_image_from_buffer), on the fake runtime.
 */
#include <string.h>

#include "tests/icd/fakes/fixture.h"

#include "icd/cl_tegracl.h"
#include "icd/image/image.h"

static const cl_image_format rgba8 = {CL_RGBA, CL_UNORM_INT8}, r8 = {CL_R, CL_UNORM_INT8},
                             rgba32 = {CL_RGBA, CL_FLOAT}, impossible = {CL_RGB, CL_FLOAT};

enum { W = 5, H = 3, D = 2 };

/* An image of each type with width W, and its number of rows. */
static const struct {
  cl_image_desc desc;
  size_t rows;
} types[] = {
    {{.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = W}, 1},
    {{.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = W}, 1},
    {{.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = W, .image_array_size = D}, D},
    {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H}, H},
    {{.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
      .image_width = W,
      .image_height = H,
      .image_array_size = D},
     H *D},
    {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = W, .image_height = H, .image_depth = D},
     H *D},
};
enum { TYPES = sizeof types / sizeof *types };

static cl_int query(struct fixture *fixture, const cl_image_format *format,
                    const cl_image_desc *desc, cl_image_requirements_info_ext what, size_t *value) {
  size_t size;
  *value = 0;
  return clGetImageRequirementsInfoEXT(fixture->context, NULL, CL_MEM_READ_WRITE, format, desc,
                                       what, sizeof *value, value, &size);
}

static size_t requirement(struct fixture *fixture, const cl_image_format *format,
                          const cl_image_desc *desc, cl_image_requirements_info_ext what) {
  size_t value;
  assert_cl(query(fixture, format, desc, what, &value));
  return value;
}

/* A buffer of the queried size is sufficient, and one with a byte less is not. Also with a gap
 * after each row. */
static void queried_size_is_sufficient(void **state) {
  struct fixture *fixture = *state;
  for (size_t i = 0; i < TYPES; i++)
    for (size_t gap = 0; gap < (types[i].rows > 1 ? 2 : 1); gap++) {
      cl_image_desc desc = types[i].desc;
      const size_t pitch = (W + gap) * 4;
      desc.image_row_pitch = gap ? pitch : 0;
      const size_t size = requirement(fixture, &rgba8, &desc, CL_IMAGE_REQUIREMENTS_SIZE_EXT);
      assert_int_equal(size, types[i].rows * pitch);
      cl_mem buffer = fixture_buffer(fixture, size), small = fixture_buffer(fixture, size - 1),
             found;
      cl_int code;
      desc.mem_object = buffer;
      cl_mem image = clCreateImage(fixture->context, 0, &rgba8, &desc, NULL, &code);
      assert_cl(code);
      size_t value;
      assert_cl(clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof value, &value, NULL));
      assert_int_equal(value, size);
      assert_cl(clGetImageInfo(image, CL_IMAGE_ROW_PITCH, sizeof value, &value, NULL));
      assert_int_equal(value, pitch);
      assert_cl(clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof found, &found, NULL));
      assert_ptr_equal(found, buffer);
      desc.mem_object = small;
      assert_null(clCreateImage(fixture->context, 0, &rgba8, &desc, NULL, &code));
      assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
      clReleaseMemObject(image);
      clReleaseMemObject(buffer);
      clReleaseMemObject(small);
    }
}

/* The last texel is at the end of the buffer. */
static void commands_reach_the_last_texel(void **state) {
  struct fixture *fixture = *state;
  for (size_t i = 0; i < TYPES; i++) {
    const size_t size = types[i].rows * W * 4;
    cl_image_desc desc = types[i].desc;
    cl_mem buffer = desc.mem_object = fixture_buffer(fixture, size);
    cl_int code;
    cl_mem image = clCreateImage(fixture->context, 0, &rgba8, &desc, NULL, &code);
    assert_cl(code);
    const uint32_t texel = 0x12345678;
    uint32_t found = 0;
    const size_t one[] = {1, 1, 1};
    const bool is_line = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t last[] = {W - 1,
                           is_line             ? D - 1
                           : desc.image_height ? H - 1
                                               : 0,
                           types[i].rows == H * D ? D - 1 : 0};
    assert_cl(clEnqueueWriteImage(fixture->queue, image, CL_TRUE, last, one, 0, 0, &texel, 0, NULL,
                                  NULL));
    assert_cl(
        clEnqueueReadBuffer(fixture->queue, buffer, CL_TRUE, size - 4, 4, &found, 0, NULL, NULL));
    assert_int_equal(found, texel);
    clReleaseMemObject(image);
    clReleaseMemObject(buffer);
  }
}

static void refuses_misaligned_images(void **state) {
  struct fixture *fixture = *state;
  static const cl_image_requirements_info_ext queries[] = {
      CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT,
      CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT,
      CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    assert_int_equal(requirement(fixture, &r8, &types[0].desc, queries[i]), 1);
    assert_int_equal(requirement(fixture, &rgba8, NULL, queries[i]), 4);
    assert_int_equal(requirement(fixture, &rgba32, &types[TYPES - 1].desc, queries[i]), 16);
    assert_int_equal(requirement(fixture, NULL, &types[0].desc, queries[i]), 16);
    assert_int_equal(requirement(fixture, NULL, NULL, queries[i]), 16);
  }
  /* Misaligned row pitches, slice pitches, sub-buffers and pointers are refused. */
  cl_int code;
  static _Alignas(16) unsigned char memory[1024];
  cl_mem buffer = fixture_buffer(fixture, sizeof memory);
  cl_mem odd =
      clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, sizeof memory - 2, memory + 2, &code);
  assert_cl(code);
  const struct {
    size_t row_bytes, slice_bytes;
    cl_mem parent;
    cl_int code;
  } rows[] = {
      {.row_bytes = 24, .slice_bytes = 24 * H, .parent = buffer, .code = CL_SUCCESS},
      {.row_bytes = 24, .slice_bytes = 24 * H + 24, .parent = buffer, .code = CL_SUCCESS},
      {.row_bytes = 22, .parent = buffer, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
      {.row_bytes = 16, .parent = buffer, .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
      {.row_bytes = 24,
       .slice_bytes = 24 * H + 4,
       .parent = buffer,
       .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
      {.row_bytes = 24,
       .slice_bytes = 24 * H - 24,
       .parent = buffer,
       .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
      {.row_bytes = 24,
       .slice_bytes = 24 * H,
       .parent = odd,
       .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_image_desc desc = types[TYPES - 1].desc;
    desc.image_row_pitch = rows[i].row_bytes;
    desc.image_slice_pitch = rows[i].slice_bytes;
    desc.mem_object = rows[i].parent;
    cl_mem image = clCreateImage(fixture->context, 0, &rgba8, &desc, NULL, &code);
    assert_int_equal(code, rows[i].code);
    if (image)
      clReleaseMemObject(image);
  }
  clReleaseMemObject(buffer);
  clReleaseMemObject(odd);
}

/* Queries the limits of each type, and of all types that have the dimension. */
static void queried_limits_are_those_of_the_type(void **state) {
  struct fixture *fixture = *state;
  enum { NONE = 0 };
  static const struct {
    cl_image_requirements_info_ext query;
    cl_uint all, of[TYPES]; /* indexed like types[] */
  } rows[] = {
      {CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT,
       ICD_IMAGE_SIDE_MAX,
       {ICD_IMAGE_WIDTH_MAX, ICD_IMAGE_BUFFER_MAX, ICD_IMAGE_WIDTH_MAX, ICD_IMAGE_WIDTH_MAX,
        ICD_IMAGE_WIDTH_MAX, ICD_IMAGE_SIDE_MAX}},
      {CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT,
       ICD_IMAGE_SIDE_MAX,
       {NONE, NONE, NONE, ICD_IMAGE_WIDTH_MAX, ICD_IMAGE_WIDTH_MAX, ICD_IMAGE_SIDE_MAX}},
      {CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT,
       ICD_IMAGE_SIDE_MAX,
       {NONE, NONE, NONE, NONE, NONE, ICD_IMAGE_SIDE_MAX}},
      {CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT,
       ICD_IMAGE_LAYERS_MAX,
       {NONE, NONE, ICD_IMAGE_LAYERS_MAX, NONE, ICD_IMAGE_LAYERS_MAX, NONE}},
  };
  const cl_image_desc any = {0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(requirement(fixture, NULL, NULL, rows[i].query), rows[i].all);
    assert_int_equal(requirement(fixture, &rgba8, &any, rows[i].query), rows[i].all);
    for (size_t k = 0; k < TYPES; k++) {
      size_t value;
      const cl_image_desc desc = {.image_type = types[k].desc.image_type};
      assert_int_equal(query(fixture, NULL, &desc, rows[i].query, &value),
                       rows[i].of[k] ? CL_SUCCESS : CL_INVALID_IMAGE_DESCRIPTOR);
      assert_int_equal(value, rows[i].of[k]);
    }
  }
}

static void refuses_bad_arguments(void **state) {
  struct fixture *fixture = *state;
  const cl_image_desc good = types[3].desc, empty = {.image_type = CL_MEM_OBJECT_IMAGE1D},
                      buffer = {.image_type = CL_MEM_OBJECT_BUFFER, .image_width = 1};
  const cl_mem_properties unknown[] = {1, 2, 0};
  const struct {
    cl_context context;
    const cl_mem_properties *properties;
    cl_mem_flags flags;
    const cl_image_format *format;
    const cl_image_desc *desc;
    cl_image_requirements_info_ext query;
    size_t size;
    cl_int code;
  } rows[] = {
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_SUCCESS},
      {.format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_CONTEXT},
      {.context = fixture->context,
       .properties = unknown,
       .format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_PROPERTY},
      {.context = fixture->context,
       .flags = 1ull << 40,
       .format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_VALUE},
      {.context = fixture->context,
       .format = &impossible,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
      {.context = fixture->context,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_VALUE},
      {.context = fixture->context,
       .format = &rgba8,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_VALUE},
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &empty,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_IMAGE_DESCRIPTOR},
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &buffer,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_IMAGE_DESCRIPTOR},
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &buffer,
       .query = CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT,
       .size = sizeof(size_t),
       .code = CL_INVALID_IMAGE_DESCRIPTOR},
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_SIZE_EXT,
       .size = sizeof(size_t) - 1,
       .code = CL_INVALID_VALUE},
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT,
       .size = sizeof(cl_uint) - 1,
       .code = CL_INVALID_VALUE},
      {.context = fixture->context,
       .format = &rgba8,
       .desc = &good,
       .query = CL_IMAGE_FORMAT,
       .size = sizeof(size_t),
       .code = CL_INVALID_VALUE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t value;
    assert_int_equal(clGetImageRequirementsInfoEXT(rows[i].context, rows[i].properties,
                                                   rows[i].flags, rows[i].format, rows[i].desc,
                                                   rows[i].query, rows[i].size, &value, NULL),
                     rows[i].code);
  }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(queried_size_is_sufficient), TEST(commands_reach_the_last_texel),
      TEST(refuses_misaligned_images), TEST(queried_limits_are_those_of_the_type),
      TEST(refuses_bad_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
