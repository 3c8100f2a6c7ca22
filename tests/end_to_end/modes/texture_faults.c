/* Reads and writes images in the ways that can fail if the texture units do, and compares the
 * results with the CPU. texture_faults.py plants the faults.
 *
 * texture_faults [busy|formats]    busy: the first image is created while a kernel runs
 *                                  formats: only creates an image of each format
 */
#include <math.h>
#include <stdbool.h>

#include "tests/end_to_end/opencl.h"

static const char source[] =
    "kernel void sample(read_only image2d_t in, sampler_t s, global float2 *at, global float4 "
    "*out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imagef(in, s, at[i]);\n"
    "}\n"
    "constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
    "                            CLK_FILTER_LINEAR;\n"
    "kernel void filter(read_only image2d_t in, global float2 *at, global float4 *out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imagef(in, linear, at[i]);\n"
    "}\n"
    "kernel void layers(read_only image2d_array_t in, read_only image3d_t volume,\n"
    "                   global uint4 *out) {\n"
    "  int i = get_global_id(0);\n"
    "  int4 at = (int4)(i % 5, i / 7 % 3, i % 4, 0);\n"
    "  out[i] = read_imageui(in, at) + 256 * read_imageui(volume, at);\n"
    "}\n"
    "kernel void elements(read_only image1d_buffer_t in, global uint4 *out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imageui(in, i);\n"
    "}\n"
    "kernel void paint(write_only image2d_t out, global float4 *colours) {\n"
    "  int i = get_global_id(0);\n"
    "  write_imagef(out, (int2)(i % 5, i / 5), colours[i]);\n"
    "}\n"
    "kernel void paint_layers(write_only image2d_array_t out, global float4 *colours) {\n"
    "  int i = get_global_id(0);\n"
    "  write_imagef(out, (int4)(i % 5, i / 5 % 3, i / 15, 0), colours[i]);\n"
    "}\n"
    "kernel void wait(volatile global uint *open) { while (!*open); }\n";

enum { WIDTH = 5, HEIGHT = 3, TEXELS = WIDTH * HEIGHT, LAYERS = 4, ITEMS = 64 };

static struct opencl opencl;
static int wrong;

static cl_mem make_buffer(size_t bytes, const void *data) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(opencl.context, data ? CL_MEM_COPY_HOST_PTR : 0, bytes,
                                 (void *)(uintptr_t)data, &error);
  CHECK_CL(error, CL_SUCCESS);
  return buffer;
}

static cl_mem make_image(cl_mem_object_type type, cl_channel_order order, cl_channel_type channel,
                         size_t layers, cl_mem memory, const void *data) {
  const cl_image_format format = {order, channel};
  const bool is_volume = type == CL_MEM_OBJECT_IMAGE3D;
  const cl_image_desc desc = {.image_type = type,
                              .image_width = memory ? ITEMS : WIDTH,
                              .image_height = memory ? 0 : HEIGHT,
                              .image_depth = is_volume ? layers : 0,
                              .image_array_size = is_volume ? 0 : layers,
                              .mem_object = memory};
  cl_int error;
  cl_mem image = clCreateImage(opencl.context, data ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE,
                               &format, &desc, (void *)(uintptr_t)data, &error);
  CHECK_CL(error, CL_SUCCESS);
  return image;
}

/* Launches the kernel and reads its last argument, a buffer of bytes. A fault is a wrong result. */
static void run(const char *name, size_t items, cl_uint count, const cl_mem *arguments,
                cl_sampler sampler, void *result, size_t bytes) {
  cl_kernel kernel = opencl_kernel(&opencl, source, name);
  for (cl_uint i = 0, k = 0; i < count; i++) {
    if (sampler && i == 1)
      CHECK_CL(clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
    else
      CHECK_CL(clSetKernelArg(kernel, i, sizeof(cl_mem), &arguments[k++]), CL_SUCCESS);
  }
  memset(result, 0xee, bytes);
  if (clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) ||
      clFinish(opencl.queue)) {
    printf("%s: fault\n", name);
    exit(1); /* the context is dead */
  }
  if (bytes)
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, arguments[count - 1 - !!sampler], CL_TRUE, 0, bytes,
                                 result, 0, NULL, NULL),
             CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void compare(const char *what, unsigned item, const cl_float4 *got, const cl_float4 *want,
                    float tolerance) {
  for (int c = 0; c < 4; c++)
    if (!(fabsf(got->s[c] - want->s[c]) <= tolerance)) {
      printf("%s %u.%d: %g instead of %g\n", what, item, c, (double)got->s[c], (double)want->s[c]);
      wrong++;
      return;
    }
}

/* ---- formats, borders, filters ---- */

enum form { UNORM_RGBA, UNORM_BGRA, SRGB, UNORM_R, SNORM_RGBA, FORMS };
static const struct {
  const char *name;
  cl_channel_order order;
  cl_channel_type type;
} forms[] = {{"RGBA8", CL_RGBA, CL_UNORM_INT8},
             {"BGRA8", CL_BGRA, CL_UNORM_INT8},
             {"sRGBA8", CL_sRGBA, CL_UNORM_INT8},
             {"R8", CL_R, CL_UNORM_INT8},
             {"SNORM16", CL_RGBA, CL_SNORM_INT16}};

static cl_float4 decode(enum form form, const unsigned char *texels, int i) {
  cl_float4 c = {{0, 0, 0, 1}};
  const cl_short *shorts = (const cl_short *)texels;
  for (int k = 0; k < 4; k++)
    if (form == UNORM_R)
      c.s[k] = k == 3 ? 1 : k ? 0 : texels[i] / 255.0f;
    else if (form == SNORM_RGBA)
      c.s[k] = fmaxf(shorts[4 * i + k] / 32767.0f, -1);
    else
      c.s[k] = texels[4 * i + k] / 255.0f;
  if (form == UNORM_BGRA) {
    const float blue = c.s[0];
    c.s[0] = c.s[2];
    c.s[2] = blue;
  }
  for (int k = 0; k < 3 && form == SRGB; k++)
    c.s[k] = c.s[k] <= 0.04045f ? c.s[k] / 12.92f : powf((c.s[k] + 0.055f) / 1.055f, 2.4f);
  return c;
}

static int find(int i, int n, cl_addressing_mode mode) {
  const int whole = (i % n + n) % n;
  switch (mode) {
  case CL_ADDRESS_CLAMP:
    return i < 0 || i >= n ? -1 : i;
  case CL_ADDRESS_REPEAT:
    return whole;
  case CL_ADDRESS_MIRRORED_REPEAT:
    return (i - whole) / n % 2 ? n - 1 - whole : whole;
  default:
    return i < 0 ? 0 : i >= n ? n - 1 : i;
  }
}

static cl_float4 texel(enum form form, const unsigned char *texels, int x, int y,
                       cl_addressing_mode mode) {
  const int u = find(x, WIDTH, mode), v = find(y, HEIGHT, mode);
  const cl_float4 border = {{0, 0, 0, form == UNORM_R}};
  return u < 0 || v < 0 ? border : decode(form, texels, v * WIDTH + u);
}

static void check_form(enum form form, cl_addressing_mode mode) {
  const bool normalized = mode == CL_ADDRESS_REPEAT || mode == CL_ADDRESS_MIRRORED_REPEAT;
  unsigned char texels[TEXELS * 8];
  cl_float2 at[ITEMS];
  cl_float4 got[ITEMS];
  cl_int error;
  for (size_t i = 0; i < sizeof texels; i++)
    texels[i] = (unsigned char)(i * 89 + 17);
  cl_mem image =
      make_image(CL_MEM_OBJECT_IMAGE2D, forms[form].order, forms[form].type, 0, NULL, texels);
  cl_mem out = make_buffer(sizeof got, NULL);
  const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                              normalized,
                                              CL_SAMPLER_ADDRESSING_MODE,
                                              mode,
                                              CL_SAMPLER_FILTER_MODE,
                                              CL_FILTER_NEAREST,
                                              0};
  cl_sampler sampler = clCreateSamplerWithProperties(opencl.context, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < ITEMS; i++) {
    at[i].s[0] = (float)(i % 13 - 4) + 0.6f;
    at[i].s[1] = (float)(i % 7 - 2) + 0.4f;
    if (normalized) {
      at[i].s[0] /= WIDTH;
      at[i].s[1] /= HEIGHT;
    }
  }
  cl_mem places = make_buffer(sizeof at, at);
  run("sample", ITEMS, 4, (const cl_mem[]){image, places, out}, sampler, got, sizeof got);
  for (int i = 0; i < ITEMS; i++) {
    const cl_float4 want = texel(form, texels, i % 13 - 4, i % 7 - 2, mode);
    compare(forms[form].name, (unsigned)i, &got[i], &want,
            form == SRGB ? 1 / 256.0f : 1e-5f); /* sRGB is decoded to 8 bits */
  }
  CHECK_CL(clReleaseMemObject(places), CL_SUCCESS);
  if (mode == CL_ADDRESS_CLAMP_TO_EDGE) {
    cl_float4 want[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
      /* Between four texels, the weights are rounded. */
      const float a = i % 3 == 1 ? 0 : (float)(i * 37 % 256) / 256;
      const float b = i % 3 == 2 ? 0 : (float)(i * 91 % 256) / 256;
      const int x = i % WIDTH, y = i % HEIGHT;
      at[i] = (cl_float2){{(float)x + 0.5f + a, (float)y + 0.5f + b}};
      for (int c = 0; c < 4; c++)
        want[i].s[c] = (texel(form, texels, x, y, mode).s[c] * (1 - a) +
                        texel(form, texels, x + 1, y, mode).s[c] * a) *
                           (1 - b) +
                       (texel(form, texels, x, y + 1, mode).s[c] * (1 - a) +
                        texel(form, texels, x + 1, y + 1, mode).s[c] * a) *
                           b;
    }
    places = make_buffer(sizeof at, at);
    run("filter", ITEMS, 3, (const cl_mem[]){image, places, out}, NULL, got, sizeof got);
    for (int i = 0; i < ITEMS; i++)
      compare("linear", (unsigned)i, &got[i], &want[i], 0.0005f + (i % 3 ? 0 : 1 / 256.0f));
    CHECK_CL(clReleaseMemObject(places), CL_SUCCESS);
  }
  CHECK_CL(clReleaseSampler(sampler), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
}

/* ---- layers, buffers, stores, changes ---- */

static void check_layers(void) {
  unsigned char texels[TEXELS * LAYERS], others[sizeof texels];
  cl_uint4 got[ITEMS];
  for (size_t i = 0; i < sizeof texels; i++) {
    texels[i] = (unsigned char)(i * 7 + 1);
    others[i] = (unsigned char)(i * 5 + 2);
  }
  cl_mem array =
      make_image(CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_R, CL_UNSIGNED_INT8, LAYERS, NULL, texels);
  cl_mem volume = make_image(CL_MEM_OBJECT_IMAGE3D, CL_R, CL_UNSIGNED_INT8, LAYERS, NULL, others);
  cl_mem out = make_buffer(sizeof got, NULL);
  run("layers", ITEMS, 3, (const cl_mem[]){array, volume, out}, NULL, got, sizeof got);
  for (int i = 0; i < ITEMS; i++) {
    const int at = (i % LAYERS * HEIGHT + i / 7 % HEIGHT) * WIDTH + i % WIDTH;
    if (got[i].s[0] != texels[at] + 256u * others[at]) {
      printf("layers %d: %u instead of %u\n", i, got[i].s[0], texels[at] + 256u * others[at]);
      wrong++;
    }
  }
  CHECK_CL(clReleaseMemObject(array), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(volume), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
}

static void check_elements(void) {
  cl_uint data[ITEMS];
  cl_uint4 got[ITEMS];
  for (cl_uint i = 0; i < ITEMS; i++)
    data[i] = i * 77 + 5;
  cl_mem memory = make_buffer(sizeof data, data), out = make_buffer(sizeof got, NULL);
  cl_mem image = make_image(CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_R, CL_UNSIGNED_INT32, 0, memory, NULL);
  run("elements", ITEMS, 2, (const cl_mem[]){image, out}, NULL, got, sizeof got);
  for (cl_uint i = 0; i < ITEMS; i++)
    if (got[i].s[0] != data[i]) {
      printf("buffer %u: %u instead of %u\n", i, got[i].s[0], data[i]);
      wrong++;
    }
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(memory), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
}

/* Writes all texels. The handle is a constant if there are no layers, and a register otherwise. */
static void check_stores(const char *kernel, cl_mem_object_type type, size_t layers) {
  static const size_t origin[3];
  const size_t region[3] = {WIDTH, HEIGHT, layers};
  const int texels = TEXELS * (int)layers;
  cl_float4 colours[TEXELS * LAYERS];
  unsigned char got[TEXELS * LAYERS * 4];
  for (int i = 0; i < texels; i++)
    for (int c = 0; c < 4; c++)
      colours[i].s[c] = fmodf((float)(i * 4 + c) * 0.3713f, 1);
  cl_mem image = make_image(type, CL_RGBA, CL_UNORM_INT8, layers, NULL, NULL);
  cl_mem source_colours = make_buffer((size_t)texels * sizeof *colours, colours);
  run(kernel, (size_t)texels, 2, (const cl_mem[]){image, source_colours}, NULL, got, 0);
  CHECK_CL(
      clEnqueueReadImage(opencl.queue, image, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL),
      CL_SUCCESS);
  for (int i = 0; i < texels * 4; i++)
    if (fabsf((float)got[i] - colours[i / 4].s[i % 4] * 255) > 0.6f) {
      printf("%s %d: %d instead of %g\n", kernel, i, got[i], (double)colours[i / 4].s[i % 4] * 255);
      wrong++;
    }
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(source_colours), CL_SUCCESS);
}

/* Images that are written, and others that get their headers, between kernels. */
static void check_changes(void) {
  static const size_t origin[3], region[3] = {WIDTH, HEIGHT, 1};
  unsigned char texels[TEXELS * 4];
  static cl_float4 got[ITEMS * 32];
  cl_float2 *places = calloc(ITEMS * 32, sizeof *places);
  CHECK(places);
  for (int i = 0; i < ITEMS * 32; i++)
    places[i] = (cl_float2){{0.5f, 0.5f}};
  cl_mem coordinates = make_buffer(ITEMS * 32 * sizeof *places, places);
  cl_mem out = make_buffer(sizeof got, NULL);
  for (int round = 0; round < 6; round++) {
    memset(texels, 40 * round + 3, sizeof texels);
    cl_mem image = make_image(CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNORM_INT8, 0, NULL, texels);
    for (int change = 0; change < 2; change++) {
      memset(texels, 40 * round + 20 * change + 3, sizeof texels);
      CHECK_CL(clEnqueueWriteImage(opencl.queue, image, CL_TRUE, origin, region, 0, 0, texels, 0,
                                   NULL, NULL),
               CL_SUCCESS);
      run("filter", ITEMS * 32, 3, (const cl_mem[]){image, coordinates, out}, NULL, got,
          sizeof got);
      const float v = texels[0] / 255.0f;
      for (unsigned i = 0; i < ITEMS * 32; i++)
        compare("change", i, &got[i], &(cl_float4){{v, v, v, v}}, 0.0005f);
    }
    CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  }
  CHECK_CL(clReleaseMemObject(coordinates), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  free(places);
}

/* Creates an image while a kernel runs: the self-check must not delay that kernel's context. */
static void check_busy(void) {
  const size_t one = 1;
  const cl_uint closed = 0;
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl, source, "wait");
  cl_mem gate = make_buffer(sizeof closed, &closed);
  /* Shared virtual memory would do, but AddressSanitizer takes its addresses. */
  cl_uint *open = clEnqueueMapBuffer(opencl.queue, gate, CL_TRUE, CL_MAP_WRITE, 0, sizeof *open, 0,
                                     NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof gate, &gate), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFlush(opencl.queue), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(make_image(CL_MEM_OBJECT_IMAGE2D, CL_R, CL_FLOAT, 0, NULL, NULL)),
           CL_SUCCESS);
  __atomic_store_n(open, 1, __ATOMIC_RELEASE);
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, gate, open, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(gate), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void create_all_formats(void) {
  enum { FORMATS_MAX = 128 };
  cl_image_format formats[FORMATS_MAX];
  cl_uint count;
  CHECK_CL(clGetSupportedImageFormats(opencl.context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D,
                                      FORMATS_MAX, formats, &count),
           CL_SUCCESS);
  for (cl_uint i = 0; i < count; i++)
    CHECK_CL(clReleaseMemObject(make_image(CL_MEM_OBJECT_IMAGE2D, formats[i].image_channel_order,
                                           formats[i].image_channel_data_type, 0, NULL, NULL)),
             CL_SUCCESS);
  printf("%u formats\n", count);
}

int main(int words, char **word) {
  static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                             CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
  opencl_open(&opencl);
  if (words > 1 && !strcmp(word[1], "busy"))
    check_busy();
  if (words > 1 && !strcmp(word[1], "formats")) {
    create_all_formats();
    opencl_close(&opencl);
    return 0;
  }
  for (int form = 0; form < FORMS; form++)
    for (int mode = 0; mode < 4; mode++)
      check_form((enum form)form, modes[mode]);
  check_layers();
  check_elements();
  check_stores("paint", CL_MEM_OBJECT_IMAGE2D, 1);
  check_stores("paint_layers", CL_MEM_OBJECT_IMAGE2D_ARRAY, LAYERS);
  check_changes();
  opencl_close(&opencl);
  return wrong ? 1 : 0;
}
