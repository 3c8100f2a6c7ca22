/* Headers and samplers of the texture units, with many images and short-lived ones.
 *
 *   textures path       the environment decides what filters: TEGRACL_IMAGES
 *   textures many N     N images in one context, read through two queues while more are made
 *   textures reuse N    images that are released while a kernel reads them, N times
 *   textures contents   an image that the host, a kernel and a map change between reads
 *   textures mixed      a kernel that reads an image which has no header, and one which has
 *   textures places     images at any address and with any pitch that OpenCL allows
 *   textures narrow     images whose rows would be much longer if they were aligned
 *   textures full N     N volumes with so many slices that few fit into the pool of headers
 *   textures samplers   arguments that are samplers: the environment and their filters decide
 *   textures literals   sampler literals with bits that OpenCL does not define
 *   textures released   a kernel that reads a released image gets 0
 *   textures reported   check mode reports that
 */
#include <math.h>
#include <stdbool.h>

#include "tests/end_to_end/opencl.h"

static const char source[] =
    "constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
    "                          CLK_FILTER_LINEAR;\n"
    "kernel void filter(read_only image2d_t in, global float *out, float x) {\n"
    "  *out = read_imagef(in, edge, (float2)(x, 0.5f)).x;\n"
    "}\n"
    "kernel void fetch(read_only image2d_t in, global uint *out, int number, int loops) {\n"
    "  uint sum = 0;\n"
    "  for (int i = 0; i < loops; i++)\n"
    "    sum = sum / 2 + read_imageui(in, (int2)(i & 3, 0)).x;\n"
    "  out[number] = sum;\n"
    "}\n"
    "kernel void add(read_only image2d_t in, read_only image2d_array_t more, global uint *out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imageui(in, (int2)(i, 1)).x + read_imageui(more, (int4)(i, 1, i, 0)).x;\n"
    "}\n"
    "kernel void two(read_only image2d_t in, sampler_t first, sampler_t second,\n"
    "                global float2 *out, float x) {\n"
    "  *out = (float2)(read_imagef(in, first, (float2)(x, 0.5f)).x,\n"
    "                  read_imagef(in, second, (float2)(x, 0.5f)).x);\n"
    "}\n"
    "constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
    "                            CLK_FILTER_LINEAR;\n"
    "kernel void one_literal(read_only image2d_t in, sampler_t first, sampler_t unused,\n"
    "                        global float2 *out, float x) {\n"
    "  *out = (float2)(read_imagef(in, first, (float2)(x, 0.5f)).x,\n"
    "                  read_imagef(in, linear, (float2)(x, 0.5f)).x);\n"
    "}\n"
    "constant sampler_t strange = 0x255;\n" /* normalized, CLAMP, nearest, and other bits */
    "kernel void outside(read_only image2d_t in, global float4 *out) {\n"
    "  *out = read_imagef(in, strange, (float2)(-0.5f));\n"
    "}\n"
    "kernel void middle(read_only image3d_t in, global float *out, int number) {\n"
    "  out[number] = read_imagef(in, edge, (float4)(1 + 3.0f / 1024, 0.5f, 0.5f, 0)).x;\n"
    "}\n"
    "kernel void fetch_at(read_only image2d_t in, global uint *out) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  out[y * get_global_size(0) + x] = read_imageui(in, (int2)(x, y)).x;\n"
    "}\n"
    "kernel void last_slice(read_only image3d_t in, global uint *out) {\n"
    "  int x = get_global_id(0), y = get_global_id(1), z = get_image_depth(in) - 1;\n"
    "  out[y * get_global_size(0) + x] = read_imageui(in, (int4)(x, y, z, 0)).x;\n"
    "}\n"
    "kernel void store(write_only image2d_t image, uint number) {\n"
    "  write_imageui(image, (int2)(get_global_id(0), 0), (uint4)(number));\n"
    "}\n";

static const cl_image_format unsigned_format = {CL_R, CL_UNSIGNED_INT32};
static struct opencl opencl;

enum { WIDTH = 4 };

static cl_mem make_buffer(size_t bytes) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  return buffer;
}

/* Creates an image of one row. */
static cl_mem make_image(cl_uint first) {
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = 1};
  cl_uint texels[WIDTH] = {first, first, first, first};
  cl_int error;
  cl_mem image = clCreateImage(opencl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                               &unsigned_format, &desc, texels, &error);
  CHECK_CL(error, CL_SUCCESS);
  return image;
}

static void launch_fetch(cl_command_queue queue, cl_kernel kernel, cl_mem image, cl_mem out,
                         cl_int number, cl_int loops) {
  const size_t one = 1;
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof number, &number), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, sizeof loops, &loops), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clFlush(queue), CL_SUCCESS);
}

static void read_numbers(cl_mem out, cl_uint *numbers, size_t count) {
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, out, CL_TRUE, 0, count * sizeof *numbers, numbers, 0,
                               NULL, NULL),
           CL_SUCCESS);
}

static bool by_textures(void) {
  const char *value = getenv("TEGRACL_IMAGES");
  return value && !strcmp(value, "hardware");
}

/* The texture units' weights are multiples of 1/256, the software's are not. */
static void check_path(void) {
  const cl_image_format format = {CL_R, CL_FLOAT};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 1};
  cl_float texels[2] = {0, 1}, got;
  const cl_float x = 0.5f + 3.0f / 1024;
  const size_t one = 1;
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl, source, "filter");
  cl_mem out = make_buffer(sizeof got);
  cl_mem image = clCreateImage(opencl.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                               &desc, texels, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof x, &x), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL),
           CL_SUCCESS);
  const bool rounded = got * 256 == (float)(int)(got * 256);
  CHECK(got >= 2.0f / 1024 && got <= 4.0f / 1024);
  CHECK(rounded == by_textures());
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_many(cl_uint count) {
  enum { EACH = 16 };
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl, source, "fetch");
  cl_command_queue other =
      clCreateCommandQueueWithProperties(opencl.context, opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const size_t reads = (count - 1) / EACH + 1;
  cl_mem *images = calloc(count, sizeof(cl_mem)), out = make_buffer(reads * 2 * sizeof(cl_uint));
  cl_uint *numbers = calloc(reads * 2, sizeof *numbers);
  CHECK(images && numbers);
  for (cl_uint i = 0; i < count; i++) {
    images[i] = make_image(i);
    if (i % EACH == 0)
      launch_fetch(i / EACH % 2 ? opencl.queue : other, kernel, images[i], out, (cl_int)(i / EACH),
                   1);
  }
  for (cl_uint i = 0; i < count; i += EACH)
    launch_fetch(i / EACH % 2 ? other : opencl.queue, kernel, images[i], out,
                 (cl_int)(reads + i / EACH), 1);
  CHECK_CL(clFinish(other), CL_SUCCESS);
  read_numbers(out, numbers, reads * 2);
  for (cl_uint i = 0; i < reads; i++)
    CHECK(numbers[i] == i * EACH && numbers[reads + i] == i * EACH);
  for (cl_uint i = 0; i < count; i++)
    CHECK_CL(clReleaseMemObject(images[i]), CL_SUCCESS);
  free(images);
  free(numbers);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(other), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Each launch reads long enough that the next images are made meanwhile. The sum of a constant c is
 * near 2 c. */
static void check_reuse(cl_uint count) {
  enum { LOOPS = 200 };
  cl_kernel kernel = opencl_kernel(&opencl, source, "fetch");
  cl_mem out = make_buffer(count * sizeof(cl_uint));
  cl_uint *numbers = calloc(count, sizeof *numbers);
  CHECK(numbers);
  for (cl_uint i = 0; i < count; i++) {
    cl_mem image = make_image(1000 * i);
    launch_fetch(opencl.queue, kernel, image, out, (cl_int)i, LOOPS);
    CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  }
  read_numbers(out, numbers, count);
  for (cl_uint i = 0; i < count; i++) {
    cl_uint sum = 0;
    for (int k = 0; k < LOOPS; k++)
      sum = sum / 2 + 1000 * i;
    CHECK(numbers[i] == sum);
  }
  free(numbers);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_contents(void) {
  const size_t origin[3] = {0}, region[3] = {WIDTH, 1, 1}, width = WIDTH;
  cl_kernel fetch = opencl_kernel(&opencl, source, "fetch");
  cl_kernel store = opencl_kernel(&opencl, source, "store");
  cl_mem image = make_image(1), out = make_buffer(4 * sizeof(cl_uint));
  cl_uint numbers[4], texels[WIDTH] = {2, 2, 2, 2};
  const cl_uint three = 3;
  size_t pitch;
  cl_int error;
  launch_fetch(opencl.queue, fetch, image, out, 0, 1);
  CHECK_CL(clEnqueueWriteImage(opencl.queue, image, CL_FALSE, origin, region, 0, 0, texels, 0, NULL,
                               NULL),
           CL_SUCCESS);
  launch_fetch(opencl.queue, fetch, image, out, 1, 1);
  CHECK_CL(clSetKernelArg(store, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(store, 1, sizeof three, &three), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, store, 1, NULL, &width, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  launch_fetch(opencl.queue, fetch, image, out, 2, 1);
  cl_uint *mapped = clEnqueueMapImage(opencl.queue, image, CL_TRUE, CL_MAP_WRITE, origin, region,
                                      &pitch, NULL, 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < WIDTH; i++)
    mapped[i] = 4;
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, image, mapped, 0, NULL, NULL), CL_SUCCESS);
  launch_fetch(opencl.queue, fetch, image, out, 3, 1);
  read_numbers(out, numbers, 4);
  for (cl_uint i = 0; i < 4; i++)
    CHECK(numbers[i] == i + 1);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(fetch), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(store), CL_SUCCESS);
}

/* Images that the texture units cannot read as a whole: in memory of the application with
 * unsuitable rows, and an array whose layers each need a header. */
static void check_mixed(void) {
  enum { ODD = 5, HEIGHT = 3, LAYERS = 100 };
  static cl_uint odd[HEIGHT][ODD], layers[LAYERS][HEIGHT][ODD];
  const cl_image_desc plain = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                               .image_width = ODD,
                               .image_height = HEIGHT,
                               .image_row_pitch = sizeof odd[0]};
  const cl_image_desc array = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
                               .image_width = ODD,
                               .image_height = HEIGHT,
                               .image_array_size = LAYERS};
  const size_t width = ODD;
  cl_uint numbers[ODD];
  cl_int error;
  for (cl_uint i = 0; i < HEIGHT * ODD; i++)
    odd[i / ODD][i % ODD] = i;
  for (cl_uint i = 0; i < LAYERS * HEIGHT * ODD; i++)
    layers[i / (HEIGHT * ODD)][i / ODD % HEIGHT][i % ODD] = 1000 * i;
  cl_kernel kernel = opencl_kernel(&opencl, source, "add");
  cl_mem out = make_buffer(sizeof numbers);
  for (int own = 0; own < 2; own++) {
    cl_mem image = clCreateImage(opencl.context, own ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR,
                                 &unsigned_format, &plain, odd, &error);
    CHECK_CL(error, CL_SUCCESS);
    cl_mem more = clCreateImage(opencl.context, CL_MEM_COPY_HOST_PTR, &unsigned_format, &array,
                                layers, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof more, &more), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof out, &out), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &width, NULL, 0, NULL, NULL),
             CL_SUCCESS);
    read_numbers(out, numbers, ODD);
    for (cl_uint i = 0; i < ODD; i++)
      CHECK(numbers[i] == odd[1][i] + layers[i][1][i]);
    CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
    CHECK_CL(clReleaseMemObject(more), CL_SUCCESS);
  }
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void read_rows(cl_kernel kernel, cl_mem image, size_t width, size_t height,
                      cl_uint *texels) {
  const size_t global[2] = {width, height}, bytes = width * height * sizeof *texels;
  cl_mem out = make_buffer(bytes);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, out, CL_TRUE, 0, bytes, texels, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
}

/* Images in sub-buffers at each multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN. */
static void check_places(void) {
  enum { ROWS = 5, NUMBERS = 4096 };
  static const size_t pitches[] = {16, 32, 48, 64, 128};
  static cl_uint numbers[NUMBERS];
  cl_uint got[ROWS * WIDTH], align_bits;
  cl_int error;
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits,
                           &align_bits, NULL),
           CL_SUCCESS);
  const size_t align = align_bits / 8;
  cl_kernel kernel = opencl_kernel(&opencl, source, "fetch_at");
  for (cl_uint i = 0; i < NUMBERS; i++)
    numbers[i] = i;
  cl_mem buffer =
      clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (size_t origin = 0; origin <= 1024; origin += align)
    for (size_t i = 0; i < sizeof pitches / sizeof *pitches; i++) {
      const cl_buffer_region region = {origin, ROWS * pitches[i]};
      cl_mem part = clCreateSubBuffer(buffer, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION,
                                      &region, &error);
      CHECK_CL(error, CL_SUCCESS);
      const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                  .image_width = WIDTH,
                                  .image_height = ROWS,
                                  .image_row_pitch = pitches[i],
                                  .mem_object = part};
      cl_mem image =
          clCreateImage(opencl.context, CL_MEM_READ_ONLY, &unsigned_format, &desc, NULL, &error);
      CHECK_CL(error, CL_SUCCESS);
      read_rows(kernel, image, WIDTH, ROWS, got);
      for (size_t k = 0; k < ROWS * WIDTH; k++)
        CHECK(got[k] == (origin + k / WIDTH * pitches[i]) / 4 + k % WIDTH);
      CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
      CHECK_CL(clReleaseMemObject(part), CL_SUCCESS);
    }
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* The gaps between aligned rows may not make an image much larger than without texture units. */
static void check_narrow(void) {
  static const struct {
    cl_mem_object_type type;
    size_t width, height, depth, layers;
  } sizes[] = {
      {CL_MEM_OBJECT_IMAGE3D, 1, 16384, 16384, 0},
      {CL_MEM_OBJECT_IMAGE3D, 2, 16384, 8192, 0},
      {CL_MEM_OBJECT_IMAGE2D_ARRAY, 1, 32768, 0, 2048},
      {CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 0, 0, 2048},
      {CL_MEM_OBJECT_IMAGE2D, 33, 32768, 0, 0},
  };
  const cl_image_format bytes = {CL_R, CL_UNORM_INT8};
  cl_int error;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const cl_image_desc desc = {.image_type = sizes[i].type,
                                .image_width = sizes[i].width,
                                .image_height = sizes[i].height,
                                .image_depth = sizes[i].depth,
                                .image_array_size = sizes[i].layers};
    const size_t texels = sizes[i].width * (sizes[i].height ? sizes[i].height : 1) *
                          (sizes[i].depth ? sizes[i].depth : 1) *
                          (sizes[i].layers ? sizes[i].layers : 1);
    size_t size;
    cl_mem image = clCreateImage(opencl.context, CL_MEM_READ_ONLY, &bytes, &desc, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof size, &size, NULL), CL_SUCCESS);
    CHECK(size >= texels && (size <= 2 * texels + 1 || size <= 1 << 20));
    CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  }
  enum { HEIGHT = 6, DEPTH = 7 };
  cl_kernel kernel = opencl_kernel(&opencl, source, "last_slice");
  for (size_t width = 1; width < 20; width++) {
    cl_uint texels[20 * HEIGHT * DEPTH], got[20 * HEIGHT];
    const size_t slice = width * HEIGHT;
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                                .image_width = width,
                                .image_height = HEIGHT,
                                .image_depth = DEPTH};
    for (cl_uint i = 0; i < slice * DEPTH; i++)
      texels[i] = 1000 * (cl_uint)width + i;
    cl_mem image = clCreateImage(opencl.context, CL_MEM_COPY_HOST_PTR, &unsigned_format, &desc,
                                 texels, &error);
    CHECK_CL(error, CL_SUCCESS);
    read_rows(kernel, image, width, HEIGHT, got);
    CHECK(!memcmp(got, texels + slice * (DEPTH - 1), slice * sizeof *got));
    CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Volumes that are released as soon as they are used. New ones must wait for their headers, and
 * may not fall back to software, whose results differ. */
static void check_full(cl_uint count) {
  const cl_image_format bytes = {CL_R, CL_UNORM_INT8};
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                              .image_width = 32,
                              .image_height = 16,
                              .image_depth = 16384};
  const size_t one = 1, origin[3] = {0}, region[3] = {2, 1, 1};
  const unsigned char texels[2] = {0, 255};
  cl_float *got = calloc(count, sizeof *got);
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl, source, "middle");
  cl_mem out = make_buffer(count * sizeof *got);
  CHECK(got);
  for (cl_int i = 0; i < (cl_int)count; i++) {
    cl_mem image = clCreateImage(opencl.context, CL_MEM_READ_ONLY, &bytes, &desc, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clEnqueueWriteImage(opencl.queue, image, CL_TRUE, origin, region, 0, 0, texels, 0,
                                 NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof i, &i), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  }
  CHECK_CL(
      clEnqueueReadBuffer(opencl.queue, out, CL_TRUE, 0, count * sizeof *got, got, 0, NULL, NULL),
      CL_SUCCESS);
  /* The texture units' weights are multiples of 1/256, and their sums have 16 bits. */
  for (cl_uint i = 0; i < count; i++)
    CHECK(got[i] == got[0] && fabsf(got[i] * 256 - roundf(got[i] * 256)) <= 1 / 256.0f);
  free(got);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static cl_sampler make_sampler(cl_filter_mode filter) {
  cl_int error;
  cl_sampler sampler = clCreateSamplerWithProperties(
      opencl.context,
      (const cl_sampler_properties[]){CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE,
                                      CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP_TO_EDGE,
                                      CL_SAMPLER_FILTER_MODE, filter, 0},
      &error);
  CHECK_CL(error, CL_SUCCESS);
  return sampler;
}

/* Software reads sRGB if a sampler of the kernel is linear: an argument, or the second one of a
 * kernel with a literal. The texture units decode this texel to a multiple of 1/256, software does
 * not. */
static void check_samplers_of(const char *name, bool literal) {
  const cl_image_format format = {CL_sRGBA, CL_UNORM_INT8};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 1};
  static const cl_uchar texels[2][4] = {{0}, {200}};
  const double exact = pow((200 / 255.0 + 0.055) / 1.055, 2.4);
  const cl_float x = 1.25f; /* a quarter of the left texel */
  const size_t one = 1;
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl, source, name);
  cl_mem out = make_buffer(sizeof(cl_float2));
  cl_mem image = clCreateImage(opencl.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                               &desc, (void *)(uintptr_t)texels, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_sampler samplers[2] = {make_sampler(CL_FILTER_NEAREST), make_sampler(CL_FILTER_LINEAR)};
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 4, sizeof x, &x), CL_SUCCESS);
  for (int linear = literal ? 2 : 0; linear < 4; linear++) { /* a bit for each sampler */
    const int arguments = literal ? linear & 1 : linear;
    cl_float2 got;
    for (cl_uint i = 0; i < 2; i++)
      CHECK_CL(clSetKernelArg(kernel, 1 + i, sizeof(cl_sampler), &samplers[arguments >> i & 1]),
               CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL),
             CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
      if (by_textures() && !linear)
        CHECK((double)got.s[i] == round(exact * 256) / 256);
      else
        CHECK(fabs((double)got.s[i] - exact * (linear >> i & 1 ? 0.75 : 1)) < 2e-6);
    }
  }
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseSampler(samplers[i]), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_samplers(void) {
  check_samplers_of("two", false);
  check_samplers_of("one_literal", true);
}

/* The driver ignores other bits. As bits of a handle they would choose another border. */
static void check_literals(void) {
  const cl_image_format bytes = {CL_RGBA, CL_UNORM_INT8};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = WIDTH};
  static unsigned char texels[WIDTH * WIDTH * 4];
  const size_t one = 1;
  cl_float got[4];
  cl_int error;
  memset(texels, 255, sizeof texels);
  cl_kernel kernel = opencl_kernel(&opencl, source, "outside");
  cl_mem out = make_buffer(sizeof got);
  cl_mem image = clCreateImage(opencl.context, CL_MEM_COPY_HOST_PTR, &bytes, &desc, texels, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl.queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < 4; i++)
    CHECK(got[i] == 0);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static char heard[4096];

static void CL_CALLBACK keep_message(const char *text, const void *info, size_t bytes, void *user) {
  (void)info, (void)bytes, (void)user;
  snprintf(heard, sizeof heard, "%s", text);
}

/* Kernels do not retain their arguments. A header that belongs to no image reads as 0; check mode
 * reports the read. */
static void check_released(bool reported) {
  cl_uint texel;
  opencl_close(&opencl);
  opencl_open_with_notify(&opencl, keep_message);
  cl_kernel kernel = opencl_kernel(&opencl, source, "fetch");
  cl_mem image = make_image(5), out = make_buffer(sizeof texel);
  launch_fetch(opencl.queue, kernel, image, out, 0, 1);
  read_numbers(out, &texel, 1);
  CHECK(texel == 5);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  const size_t one = 1;
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK((clFinish(opencl.queue) != CL_SUCCESS) == reported);
  if (reported != !!strstr(heard, "was the image released?"))
    fprintf(stderr, "%s\n", heard);
  CHECK(reported == !!strstr(heard, "was the image released?"));
  if (!reported) {
    read_numbers(out, &texel, 1);
    CHECK(texel == 0);
  }
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

int main(int words, char **word) {
  CHECK(words > 1);
  const cl_uint count = words > 2 ? (cl_uint)strtoul(word[2], NULL, 0) : 1;
  opencl_open(&opencl);
  if (!strcmp(word[1], "path"))
    check_path();
  else if (!strcmp(word[1], "many"))
    check_many(count);
  else if (!strcmp(word[1], "reuse"))
    check_reuse(count);
  else if (!strcmp(word[1], "contents"))
    check_contents();
  else if (!strcmp(word[1], "mixed"))
    check_mixed();
  else if (!strcmp(word[1], "places"))
    check_places();
  else if (!strcmp(word[1], "narrow"))
    check_narrow();
  else if (!strcmp(word[1], "full"))
    check_full(count);
  else if (!strcmp(word[1], "samplers"))
    check_samplers();
  else if (!strcmp(word[1], "literals"))
    check_literals();
  else if (!strcmp(word[1], "released"))
    check_released(false);
  else if (!strcmp(word[1], "reported"))
    check_released(true);
  else
    CHECK(!"a case");
  opencl_close(&opencl);
  return 0;
}
