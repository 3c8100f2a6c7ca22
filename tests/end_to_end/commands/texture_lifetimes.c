/* Headers of the texture units when images, views, command buffers, threads and processes come and
 * go. The environment makes the texture units read: TEGRACL_IMAGES=hardware.
 *
 *   texture_lifetimes views      sRGB and depth images that are views of other images
 *   texture_lifetimes replayed   a command buffer that is replayed after the pool of headers grew
 *   texture_lifetimes threads    threads create and release images while others read theirs
 *   texture_lifetimes forked     the pool grows while a forked process exists
 *   texture_lifetimes order      images, queues and contexts released in different orders
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/end_to_end/commands/command_buffer.h"
#include "tests/end_to_end/opencl.h"

static const char source[] =
    "constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
    "                             CLK_FILTER_NEAREST;\n"
    "kernel void fetch(read_only image2d_t in, global uint *out, int number) {\n"
    "  out[number] = read_imageui(in, nearest, (float2)(1.5f, 0.5f)).x;\n"
    "}\n"
    "kernel void color(read_only image2d_t in, global float4 *out) {\n"
    "  out[get_global_id(0)] = read_imagef(in, nearest, (float2)(get_global_id(0) + 0.5f, 0.5f));\n"
    "}\n"
    "kernel void depth(read_only image2d_depth_t in, global float *out) {\n"
    "  out[get_global_id(0)] = read_imagef(in, nearest, (float2)(get_global_id(0) + 0.5f, 0.5f));\n"
    "}\n";

/* POOL: more than the headers that a pool has at first. */
enum { WIDTH = 2, POOL = 5000, THREADS = 4, ROUNDS = 300, KEPT = 8 };

static cl_mem make_view(const struct opencl *opencl, cl_image_format format, size_t width,
                        const void *texels, cl_mem parent) {
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                              .image_width = width,
                              .image_height = 1,
                              .mem_object = parent};
  cl_int error;
  cl_mem image = clCreateImage(opencl->context, parent ? 0 : CL_MEM_COPY_HOST_PTR, &format, &desc,
                               (void *)texels, &error);
  CHECK_CL(error, CL_SUCCESS);
  return image;
}

static cl_mem make_image(const struct opencl *opencl, cl_uint value) {
  const cl_uint texels[WIDTH] = {~value, value};
  return make_view(opencl, (cl_image_format){CL_R, CL_UNSIGNED_INT32}, WIDTH, texels, NULL);
}

static cl_mem make_buffer(const struct opencl *opencl, size_t bytes) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  return buffer;
}

static void set_fetch(cl_kernel kernel, cl_mem image, cl_mem out, cl_int number) {
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof number, &number), CL_SUCCESS);
}

static void launch_fetch(cl_command_queue queue, cl_kernel kernel, cl_mem image, cl_mem out,
                         cl_int number) {
  const size_t one = 1;
  set_fetch(kernel, image, out, number);
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
}

static void read_back(cl_command_queue queue, cl_mem out, void *to, size_t bytes) {
  CHECK_CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, to, 0, NULL, NULL), CL_SUCCESS);
}

/* Creates images until the pool has grown, and checks that the last of them is read. */
static void grow_pool(const struct opencl *opencl, cl_mem images[POOL]) {
  cl_kernel kernel = opencl_kernel(opencl, source, "fetch");
  cl_mem out = make_buffer(opencl, sizeof(cl_uint));
  cl_uint got = 0;
  for (cl_uint i = 0; i < POOL; i++)
    images[i] = make_image(opencl, i);
  launch_fetch(opencl->queue, kernel, images[POOL - 1], out, 0);
  read_back(opencl->queue, out, &got, sizeof got);
  CHECK(got == POOL - 1);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void release_all(cl_mem *images, size_t count) {
  for (size_t i = 0; i < count; i++)
    CHECK_CL(clReleaseMemObject(images[i]), CL_SUCCESS);
}

/* ---- views --------------------------------------------------------------------------------- */

static void read_view(const struct opencl *opencl, const char *name, cl_mem image, size_t width,
                      void *to, size_t bytes) {
  cl_kernel kernel = opencl_kernel(opencl, source, name);
  cl_mem out = make_buffer(opencl, bytes);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &width, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  read_back(opencl->queue, out, to, bytes);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static bool near(float a, float b) {
  return a - b < 1e-5f && b - a < 1e-5f;
}

/* Half a step of sRGB's code 188, by which texture units may differ from its curve. */
static bool near_srgb(float a, float b) {
  return fabsf(a - b) < 3e-3f;
}

/* Images and views of the same texels. The linear value of sRGB's 188 is 0.502886. */
static void check_views(const struct opencl *opencl) {
  static const unsigned char bytes[2][4] = {{0, 188, 255, 188}, {188, 0, 0, 255}};
  static const float decoded[2][4] = {{0, 0.502886f, 1, 188 / 255.0f}, {0.502886f, 0, 0, 1}};
  static const float depths[2] = {0.25f, 0.75f};
  const cl_image_format linear = {CL_RGBA, CL_UNORM_INT8}, srgb = {CL_sRGBA, CL_UNORM_INT8};
  const cl_image_format single = {CL_R, CL_FLOAT}, depth = {CL_DEPTH, CL_FLOAT};
  for (int first = 0; first < 2; first++) {
    cl_mem parent = make_view(opencl, first ? srgb : linear, 2, bytes, NULL);
    cl_mem view = make_view(opencl, first ? linear : srgb, 2, NULL, parent);
    float got[2][2][4];
    read_view(opencl, "color", first ? parent : view, 2, got[0], sizeof got[0]);
    read_view(opencl, "color", first ? view : parent, 2, got[1], sizeof got[1]);
    for (int i = 0; i < 8; i++) {
      CHECK(near_srgb(got[0][i / 4][i % 4], decoded[i / 4][i % 4]));
      CHECK(near(got[1][i / 4][i % 4], (float)bytes[i / 4][i % 4] / 255));
    }
    /* The parent's header goes first, and the view's must remain. */
    CHECK_CL(clReleaseMemObject(parent), CL_SUCCESS);
    cl_mem other = make_image(opencl, 1);
    read_view(opencl, "color", view, 2, got[0], sizeof got[0]);
    CHECK(near_srgb(got[0][0][1], first ? 188 / 255.0f : 0.502886f));
    CHECK_CL(clReleaseMemObject(other), CL_SUCCESS);
    CHECK_CL(clReleaseMemObject(view), CL_SUCCESS);
  }
  cl_mem parent = make_view(opencl, single, 2, depths, NULL);
  cl_mem view = make_view(opencl, depth, 2, NULL, parent);
  float got[2];
  CHECK_CL(clReleaseMemObject(parent), CL_SUCCESS);
  read_view(opencl, "depth", view, 2, got, sizeof got);
  CHECK(got[0] == depths[0] && got[1] == depths[1]);
  CHECK_CL(clReleaseMemObject(view), CL_SUCCESS);
}

/* ---- a command buffer ---------------------------------------------------------------------- */

static void check_replayed(const struct opencl *opencl) {
  struct command_buffer_functions f;
  cl_kernel kernel = opencl_kernel(opencl, source, "fetch");
  cl_mem image = make_image(opencl, 7), out = make_buffer(opencl, sizeof(cl_uint));
  static cl_mem images[POOL];
  const size_t one = 1, origin[3] = {0}, region[3] = {WIDTH, 1, 1};
  cl_command_queue queue = opencl->queue;
  cl_int error;
  find_functions(opencl, &f);
  cl_command_buffer_khr recorded = f.clCreateCommandBufferKHR(1, &queue, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  set_fetch(kernel, image, out, 0);
  CHECK_CL(f.clCommandNDRangeKernelKHR(recorded, NULL, NULL, kernel, 1, NULL, &one, &one, 0, NULL,
                                       NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(f.clFinalizeCommandBufferKHR(recorded), CL_SUCCESS);
  for (cl_uint round = 0; round < 3; round++) {
    const cl_uint texels[WIDTH] = {0, 7 + round};
    cl_uint got = 0;
    CHECK_CL(
        clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL),
        CL_SUCCESS);
    CHECK_CL(f.clEnqueueCommandBufferKHR(0, NULL, recorded, 0, NULL, NULL), CL_SUCCESS);
    read_back(queue, out, &got, sizeof got);
    CHECK(got == 7 + round);
    if (round == 0)
      grow_pool(opencl, images);
    else if (round == 1)
      release_all(images, POOL);
  }
  CHECK_CL(f.clReleaseCommandBufferKHR(recorded), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* ---- threads ------------------------------------------------------------------------------- */

struct worker {
  pthread_t thread;
  const struct opencl *opencl;
  cl_uint number;
};

/* Threads with odd numbers read one image all the time; the others always have new ones, of which
 * they keep some. All have queues of one context. */
static void *work(void *argument) {
  const struct worker *w = argument;
  const bool makes = w->number % 2 == 0;
  cl_int error;
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(w->opencl->context, w->opencl->device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = opencl_kernel(w->opencl, source, "fetch");
  cl_mem out = make_buffer(w->opencl, ROUNDS * sizeof(cl_uint)), kept[KEPT] = {NULL};
  cl_uint got[ROUNDS];
  for (cl_uint i = 0; i < ROUNDS; i++) {
    cl_mem *image = &kept[makes ? i % KEPT : 0];
    if (*image && makes) {
      CHECK_CL(clReleaseMemObject(*image), CL_SUCCESS);
      *image = NULL;
    }
    if (!*image)
      *image = make_image(w->opencl, 1000 * w->number + (makes ? i : 0));
    launch_fetch(queue, kernel, *image, out, (cl_int)i);
  }
  read_back(queue, out, got, sizeof got);
  for (cl_uint i = 0; i < ROUNDS; i++)
    CHECK(got[i] == 1000 * w->number + (makes ? i : 0));
  release_all(kept, makes ? KEPT : 1);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(queue), CL_SUCCESS);
  return NULL;
}

static void check_threads(const struct opencl *opencl) {
  struct worker workers[THREADS];
  for (cl_uint i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.opencl = opencl, .number = i};
    CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
  }
  for (cl_uint i = 0; i < THREADS; i++)
    CHECK(!pthread_join(workers[i].thread, NULL));
}

/* ---- processes ----------------------------------------------------------------------------- */

static void check_forked(const struct opencl *opencl) {
  cl_kernel kernel = opencl_kernel(opencl, source, "fetch");
  cl_mem image = make_image(opencl, 3), out = make_buffer(opencl, 2 * sizeof(cl_uint));
  static cl_mem images[POOL];
  cl_uint got[2];
  int pipe_ends[2], status;
  char byte;
  launch_fetch(opencl->queue, kernel, image, out, 0);
  CHECK(!pipe(pipe_ends));
  const pid_t child = fork();
  CHECK(child >= 0);
  if (!child) { /* exists until the parent closes the pipe */
    close(pipe_ends[1]);
    _exit(read(pipe_ends[0], &byte, 1) != 0);
  }
  grow_pool(opencl, images);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  launch_fetch(opencl->queue, kernel, image, out, 1);
  read_back(opencl->queue, out, got, sizeof got);
  CHECK(got[0] == 3 && got[1] == 3);
  release_all(images, POOL);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* ---- order of releases --------------------------------------------------------------------- */

/* Releases the objects in each order while the launch may still run. Another context, whose
 * headers have the same indices, must still be able to read. */
static void check_order(const struct opencl *opencl) {
  enum { IMAGE, OUT, KERNEL, QUEUE, CONTEXT, OBJECTS, ORDERS = 120 };
  cl_kernel kernel = opencl_kernel(opencl, source, "fetch");
  cl_mem image = make_image(opencl, 9), out = make_buffer(opencl, sizeof(cl_uint));
  size_t bytes;
  unsigned char *binary = opencl_binary(opencl, source, &bytes);
  for (int order = 0; order < ORDERS; order++) {
    int left[OBJECTS] = {IMAGE, OUT, KERNEL, QUEUE, CONTEXT}, rest = order;
    cl_uint got = 0;
    cl_int error;
    struct opencl o = {.platform = opencl->platform, .device = opencl->device};
    o.context = clCreateContext(NULL, 1, &o.device, NULL, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    o.queue = clCreateCommandQueueWithProperties(o.context, o.device, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    cl_program copy = clCreateProgramWithBinary(o.context, 1, &o.device, &bytes,
                                                (const unsigned char **)&binary, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clBuildProgram(copy, 1, &o.device, "", NULL, NULL), CL_SUCCESS);
    cl_kernel used = clCreateKernel(copy, "fetch", &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clReleaseProgram(copy), CL_SUCCESS);
    cl_mem source_image = make_image(&o, 4), target = make_buffer(&o, sizeof(cl_uint));
    launch_fetch(o.queue, used, source_image, target, 0);
    CHECK_CL(clFlush(o.queue), CL_SUCCESS);
    for (int count = OBJECTS; count; rest /= count, count--) {
      const int what = left[rest % count];
      left[rest % count] = left[count - 1];
      CHECK_CL(what == IMAGE    ? clReleaseMemObject(source_image)
               : what == OUT    ? clReleaseMemObject(target)
               : what == KERNEL ? clReleaseKernel(used)
               : what == QUEUE  ? clReleaseCommandQueue(o.queue)
                                : clReleaseContext(o.context),
               CL_SUCCESS);
    }
    launch_fetch(opencl->queue, kernel, image, out, 0);
    read_back(opencl->queue, out, &got, sizeof got);
    CHECK(got == 9);
  }
  free(binary);
  CHECK_CL(clReleaseMemObject(image), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

int main(int words, char **word) {
  static const struct {
    const char *name;
    void (*check)(const struct opencl *);
  } cases[] = {{"views", check_views},
               {"replayed", check_replayed},
               {"threads", check_threads},
               {"forked", check_forked},
               {"order", check_order}};
  struct opencl opencl;
  bool found = false;
  CHECK(words == 2);
  opencl_open(&opencl);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (!strcmp(word[1], cases[i].name)) {
      cases[i].check(&opencl);
      found = true;
    }
  CHECK(found);
  opencl_close(&opencl);
  return 0;
}
