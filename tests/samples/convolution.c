/* The image sample: sharpens and rotates a photograph. */
#include "samples.h"

#include <math.h>
#include <stdlib.h>

struct grey {
  int width, height;
  uint8_t *pixels;
};

static int clamped(int i, int size) {
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static uint8_t level(float x) {
  return (uint8_t)(x <= 0 ? 0 : x >= 1 ? 255 : rintf(x * 255));
}

/* Computes the same as kernels/convolution.cl, on the CPU. */
static void sharpen(const struct grey *in, uint8_t *out) {
  static const float binomial[] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};
  for (int y = 0; y < in->height; y++)
    for (int x = 0; x < in->width; x++) {
      float smooth = 0;
      for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
          smooth += binomial[i] * binomial[j] *
                    (float)in->pixels[clamped(y + j - 2, in->height) * in->width +
                                      clamped(x + i - 2, in->width)] /
                    255;
      out[y * in->width + x] = level((float)in->pixels[y * in->width + x] / 255 * 2 - smooth);
    }
}

/* Pixels outside the image are black. */
static float pixel(const struct grey *in, int x, int y) {
  return x < 0 || x >= in->width || y < 0 || y >= in->height
             ? 0
             : (float)in->pixels[y * in->width + x] / 255;
}

static void turn(const struct grey *in, uint8_t *out, const float turned[2]) {
  for (int y = 0; y < in->height; y++)
    for (int x = 0; x < in->width; x++) {
      const float dx = (float)x + 0.5f - 0.5f * (float)in->width;
      const float dy = (float)y + 0.5f - 0.5f * (float)in->height;
      const float u = turned[0] * dx - turned[1] * dy + 0.5f * (float)in->width - 0.5f;
      const float v = turned[1] * dx + turned[0] * dy + 0.5f * (float)in->height - 0.5f;
      const int i = (int)floorf(u), j = (int)floorf(v);
      const float a = u - floorf(u), b = v - floorf(v);
      out[y * in->width + x] =
          level((1 - b) * ((1 - a) * pixel(in, i, j) + a * pixel(in, i + 1, j)) +
                b * ((1 - a) * pixel(in, i, j + 1) + a * pixel(in, i + 1, j + 1)));
    }
}

static cl_mem image(const struct host *host, const struct grey *size, void *pixels) {
  const cl_image_format format = {CL_R, CL_UNORM_INT8};
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                              .image_width = (size_t)size->width,
                              .image_height = (size_t)size->height};
  return clCreateImage(host->context, pixels ? CL_MEM_COPY_HOST_PTR : 0, &format, &desc, pixels,
                       NULL);
}

/* Reads the image and returns how many pixels differ by more than rounding explains. */
static int compare(const struct host *host, cl_mem from, const struct grey *size, uint8_t *got,
                   const uint8_t *expected) {
  const size_t origin[3] = {0}, region[3] = {(size_t)size->width, (size_t)size->height, 1};
  int wrong = 0;
  if (clEnqueueReadImage(host->queue, from, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL))
    return size->width * size->height;
  for (int i = 0; i < size->width * size->height; i++)
    wrong += abs(got[i] - expected[i]) > 1;
  return wrong;
}

bool sample_convolution(const struct host *host) {
  static const char name[] = "convolution";
  const cl_float2 turned = {{cosf(0.4f), sinf(0.4f)}};
  struct grey photo = {0}, sharp = {0};
  if (!host->photo)
    return sample_verdict(name, false, "needs a photograph: -p FILE.jpg");
  if (!picture_read_jpeg(host->photo, &photo.pixels, &photo.width, &photo.height))
    return sample_verdict(name, false, "cannot read %s", host->photo);
  const size_t size = (size_t)photo.width * (size_t)photo.height;
  uint8_t *got = malloc(size), *expected = malloc(size);
  const size_t local[2] = {32, 8};
  const size_t global[2] = {((size_t)photo.width + 31) / 32 * 32,
                            ((size_t)photo.height + 7) / 8 * 8};
  cl_program program = sample_build(host, name);
  cl_mem in = image(host, &photo, photo.pixels), middle = image(host, &photo, NULL);
  cl_mem out = image(host, &photo, NULL);
  const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                              CL_FALSE,
                                              CL_SAMPLER_ADDRESSING_MODE,
                                              CL_ADDRESS_CLAMP,
                                              CL_SAMPLER_FILTER_MODE,
                                              CL_FILTER_LINEAR,
                                              0};
  cl_sampler between = clCreateSamplerWithProperties(host->context, properties, NULL);
  bool ok = got && expected && program && in && middle && out && between &&
            sample_run(host, program, "sharpen", 2, global, local, sizeof in, &in, sizeof middle,
                       &middle, SAMPLE_END);
  int wrong = 0;
  if (ok) {
    sharpen(&photo, expected);
    wrong = compare(host, middle, &photo, got, expected);
    /* The next step starts from the device's result. */
    sharp = (struct grey){photo.width, photo.height, got};
    turn(&sharp, expected, turned.s);
    ok = sample_run(host, program, "turn", 2, global, local, sizeof middle, &middle, sizeof out,
                    &out, sizeof between, &between, sizeof turned, &turned, SAMPLE_END);
  }
  if (ok)
    wrong += compare(host, out, &photo, got, expected);
  ok = sample_verdict(name, ok && wrong == 0, "%d of %zu pixels differ from the CPU's", wrong,
                      2 * size) &&
       picture_write_png(host->pictures, "convolution.png", got, photo.width, photo.height);
  if (between)
    clReleaseSampler(between);
  cl_mem images[] = {in, middle, out};
  for (size_t i = 0; i < sizeof images / sizeof *images; i++)
    if (images[i])
      clReleaseMemObject(images[i]);
  if (program)
    clReleaseProgram(program);
  free(photo.pixels);
  free(got);
  free(expected);
  return ok;
}
