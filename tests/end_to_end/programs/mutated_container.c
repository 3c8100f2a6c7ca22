/* Program binaries with changed values and a valid checksum, from the loader to the end of their
 * kernels. Each is refused, or its kernels respect the device's limits. The process and the device
 * continue to work.
 *
 *   mutated_container [count [seed]]
 *
 * Kernels may run forever: TEGRACL_EMULATOR=check:watchdog=N ends them.
 */
#include "tests/end_to_end/programs/container.h"
#include "tests/end_to_end/programs/mutate.h"

enum {
  DEFAULT_COUNT = 1000,
  SIDE = 16, /* of images */
  BUFFER_BYTES = 65536,
};

static const char source[] =
    "constant sampler_t smp = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;\n"
    "global int counter = 3;\n"
    "kernel void plain(global int *a, int n, char c, short4 s, double3 d) {\n"
    "  a[get_global_id(0) & 7] = n + c + s.x + (int)d.x; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void required(global int *a) {\n"
    "  a[get_local_id(1)] = get_group_id(0) + counter; }\n"
    "kernel __attribute__((work_group_size_hint(64, 1, 1))) void locals(\n"
    "    local float *l, global float *a, local long4 *m, constant float *c) {\n"
    "  l[get_local_id(0) & 3] = c[0]; m[0].x = 1; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[0] = l[0] + m[0].x; }\n"
    "kernel void images(read_only image2d_t in, write_only image2d_t out, sampler_t other) {\n"
    "  int2 at = (int2)(get_global_id(0) & 15, 0);\n"
    "  write_imagef(out, at, read_imagef(in, smp, at) + read_imagef(in, other, at)); }\n"
    "struct big { long v[24]; };\n"
    "kernel void prints(struct big b, global int *a) { printf(\"%d %v4hd\\n\", a[0],\n"
    "  (short4)(b.v[3])); }\n";

static uint64_t value_like(uint32_t old) {
  static const uint32_t odd[] = {
      0,    1,    2,     3,     4,       7,       8,          16,         64,         255,
      1024, 1025, 65535, 65536, 1 << 24, 1 << 30, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  switch (random64() % 4) {
  case 0:
    return old + 1 - random64() % 2 * 2;
  case 1:
    return (uint32_t)random64();
  default:
    return odd[random64() % (sizeof odd / sizeof odd[0])];
  }
}

static void change(unsigned char *bytes, size_t at, size_t width) {
  uint32_t value = 0;
  memcpy(&value, bytes + at, width);
  value = (uint32_t)value_like(value);
  memcpy(bytes + at, &value, width);
}

/* Offsets of the numbers of kernels and arguments, after the strings. */
enum { PLACES = 1024 };
static size_t places[PLACES];
static size_t place_count;

static size_t skip_string(const unsigned char *bytes, size_t at) {
  return at + 4 + container_word(bytes, at) + 1;
}

static size_t add_numbers(size_t at, int count) {
  for (int i = 0; i < count && place_count < PLACES; i++)
    places[place_count++] = at + 4 * (size_t)i;
  return at + 4 * (size_t)count;
}

static void find_places(const unsigned char *bytes) {
  enum { KERNEL_COUNT_AT = 48, KERNEL_NUMBERS = 9, ARG_NUMBERS = 6 };
  size_t at = KERNELS_AT;
  for (uint32_t k = 0; k < container_word(bytes, KERNEL_COUNT_AT); k++) {
    at = add_numbers(skip_string(bytes, skip_string(bytes, at)), KERNEL_NUMBERS);
    for (uint32_t i = 0, args = container_word(bytes, at - 4); i < args; i++)
      at = add_numbers(skip_string(bytes, skip_string(bytes, at)), ARG_NUMBERS);
  }
  CHECK(place_count > 50);
}

/* Mostly changes numbers, sometimes bytes of the header and the kernels, rarely bytes of the
 * CUBIN. */
static void mutate_values(unsigned char *bytes, size_t size) {
  const size_t cubin = container_word(bytes, CUBIN_OFFSET_AT);
  for (uint64_t changes = 1 + random64() % 3; changes; changes--)
    switch (random64() % 16) {
    case 0:
      change(bytes, HASHED_FROM + random64() % (cubin - HASHED_FROM), 1);
      break;
    case 1:
      change(bytes, HASHED_FROM + random64() % (KERNELS_AT - HASHED_FROM - 4), 4);
      break;
    case 2:
      change(bytes, cubin + random64() % (size - cubin), 1);
      break;
    default:
      change(bytes, places[random64() % place_count], 4);
    }
  container_seal(bytes, size);
}

/* Arguments are also set to memory objects and samplers, whatever their declared kind. */
struct handles {
  cl_mem buffer, image;
  cl_sampler sampler;
};

static struct handles make_handles(const struct opencl *opencl) {
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
  const cl_sampler_properties none[] = {0};
  cl_int errors[3];
  struct handles h;
  h.buffer = clCreateBuffer(opencl->context, 0, BUFFER_BYTES, NULL, &errors[0]);
  h.image = clCreateImage(opencl->context, 0, &format, &desc, NULL, &errors[1]);
  h.sampler = clCreateSamplerWithProperties(opencl->context, none, &errors[2]);
  for (int i = 0; i < 3; i++)
    CHECK_CL(errors[i], CL_SUCCESS);
  static const size_t all[3] = {SIDE, SIDE, 1}, start[3];
  const cl_float4 colour = {{0}};
  CHECK_CL(clEnqueueFillImage(opencl->queue, h.image, &colour, start, all, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueFillBuffer(opencl->queue, h.buffer, &colour, 16, 0, BUFFER_BYTES, 0, NULL, NULL),
      CL_SUCCESS);
  return h;
}

static void drop_handles(const struct handles *h) {
  CHECK_CL(clReleaseMemObject(h->buffer), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(h->image), CL_SUCCESS);
  CHECK_CL(clReleaseSampler(h->sampler), CL_SUCCESS);
}

static void set_one(cl_kernel kernel, cl_uint i, const struct handles *h) {
  enum { LARGEST = 1024 };
  static const uint64_t value[LARGEST / sizeof(uint64_t)] = {3};
  const void *const given[] = {&h->buffer, &h->image, &h->sampler};
  for (int k = 0; k < 3; k++)
    if (clSetKernelArg(kernel, i, sizeof(cl_mem), given[k]) == CL_SUCCESS)
      return;
  if (clSetKernelArg(kernel, i, 256, NULL) == CL_SUCCESS)
    return;
  for (size_t bytes = 1; bytes <= LARGEST; bytes++) /* a number is not a handle */
    if (bytes != sizeof(void *) && clSetKernelArg(kernel, i, bytes, value) == CL_SUCCESS)
      return;
}

/* Makes each query with memory of exactly the required size. */
static void ask(const struct opencl *opencl, cl_kernel kernel, cl_uint args) {
  size_t group[3] = {0}, most = 0, bytes = 0;
  const size_t subgroups = 2;
  char text[4096];
  CHECK_CL(clGetKernelWorkGroupInfo(kernel, opencl->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                    sizeof group, group, NULL),
           CL_SUCCESS);
  CHECK(!group[0] == !group[1] && !group[0] == !group[2]);
  CHECK_CL(clGetKernelWorkGroupInfo(kernel, opencl->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                    &most, NULL),
           CL_SUCCESS);
  CHECK(most >= 1 && most <= 1024);
  for (cl_uint name = CL_KERNEL_WORK_GROUP_SIZE; name <= CL_KERNEL_PRIVATE_MEM_SIZE; name++)
    clGetKernelWorkGroupInfo(kernel, opencl->device, name, sizeof text, text, &bytes);
  clGetKernelSubGroupInfo(kernel, opencl->device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
                          sizeof subgroups, &subgroups, sizeof group, group, &bytes);
  for (cl_uint name = CL_KERNEL_FUNCTION_NAME; name <= CL_KERNEL_ATTRIBUTES; name++)
    clGetKernelInfo(kernel, name, sizeof text, text, &bytes);
  for (cl_uint i = 0; i < args; i++)
    for (cl_uint name = CL_KERNEL_ARG_ADDRESS_QUALIFIER; name <= CL_KERNEL_ARG_NAME; name++)
      clGetKernelArgInfo(kernel, i, name, sizeof text, text, &bytes);
}

static cl_int (*suggest)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                         size_t *);

/* Returns false if the context is unusable. */
static bool launch(const struct opencl *opencl, cl_kernel kernel, const struct handles *h) {
  static const size_t global[3] = {32, 4, 2}, local[3] = {8, 2, 1}, odd[3] = {5, 3, 2};
  cl_uint args = 0, dimensions = 1 + (cl_uint)(random64() % 3);
  size_t suggested[3];
  clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof args, &args, NULL);
  ask(opencl, kernel, args);
  for (cl_uint i = 0; i < args; i++)
    set_one(kernel, i, h);
  const size_t *size = random64() % 4 ? global : odd, *group = random64() % 2 ? local : NULL;
  suggest(opencl->queue, kernel, dimensions, NULL, size, suggested);
  const bool enqueued = clEnqueueNDRangeKernel(opencl->queue, kernel, dimensions, NULL, size, group,
                                               0, NULL, NULL) == CL_SUCCESS;
  const bool finished = clFinish(opencl->queue) == CL_SUCCESS;
  if (enqueued && finished)
    counts.ran++;
  else
    counts.failed++;
  return finished;
}

static void try_container(struct opencl *opencl, struct handles *h, const unsigned char *bytes,
                          size_t size) {
  cl_int error, status;
  cl_kernel kernels[KERNELS];
  cl_uint count = 0;
  cl_program program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size, &bytes,
                                                 &status, &error);
  if (!program) {
    CHECK(error == CL_INVALID_BINARY || error == CL_INVALID_VALUE);
    counts.refused++;
    return;
  }
  if (clBuildProgram(program, 1, &opencl->device, "", NULL, NULL) != CL_SUCCESS ||
      clCreateKernelsInProgram(program, KERNELS, kernels, &count) != CL_SUCCESS) {
    counts.not_built++;
    count = 0;
  }
  bool alive = true;
  for (cl_uint k = 0; k < count; k++) {
    alive = alive && launch(opencl, kernels[k], h);
    CHECK_CL(clReleaseKernel(kernels[k]), CL_SUCCESS);
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  if (!alive) {
    drop_handles(h);
    opencl_close(opencl);
    opencl_open(opencl);
    *h = make_handles(opencl);
  }
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : DEFAULT_COUNT;
  struct opencl opencl;
  size_t size;
  if (argc > 2)
    seed_random(argv[2]);
  opencl_open(&opencl);
  *(void **)&suggest = clGetExtensionFunctionAddressForPlatform(
      opencl.platform, "clGetKernelSuggestedLocalWorkSizeKHR");
  CHECK(suggest);
  struct handles handles = make_handles(&opencl);
  unsigned char *binary =
      opencl_binary_with(&opencl, source, "-cl-std=CL3.0 -cl-kernel-arg-info", &size);
  find_places(binary);
  CHECK(freopen("/dev/null", "w", stdout)); /* what kernels print */
  for (long n = 0; n < count; n++) {
    begin_input(n);
    /* Of the exact size, so that a sanitizer detects reads beyond its end. */
    unsigned char *input = malloc(size);
    CHECK(input);
    memcpy(input, binary, size);
    mutate_values(input, size);
    try_container(&opencl, &handles, input, size);
    free(input);
  }
  fprintf(stderr, "%ld inputs: %u refused, %u not built; kernels: %u failed, %u ran\n", count,
          counts.refused, counts.not_built, counts.failed, counts.ran);
  CHECK(counts.refused && counts.failed && counts.ran);
  free(binary);
  drop_handles(&handles);
  opencl_close(&opencl);
  return 0;
}
