/* Headers and samplers of the texture units, with many images and short-lived ones.
 *
 *   textures path       the environment decides what filters: TEGRACL_IMAGES
 *   textures many N     N images in one context, read through two queues while more are made
 *   textures reuse N    images that are released while a kernel reads them, N times
 *   textures contents   an image that the host, a kernel and a map change between reads
 *   textures mixed      a kernel that reads an image which has no header, and one which has
 */
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

/* The texture units' weights are multiples of 1/256, the software's are not. */
static void check_path(void) {
  const char *value = getenv("TEGRACL_IMAGES");
  const bool textures = value && !strcmp(value, "hardware");
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
  CHECK(rounded == textures);
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

/* Rows of the application's memory that the texture units cannot have, and an array of which each
 * layer has a header. */
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
  else
    CHECK(!"a case");
  opencl_close(&opencl);
  return 0;
}
