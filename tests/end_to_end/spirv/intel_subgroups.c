/* cl_intel_subgroups, _char, _short and _long, compared with the CPU: the shuffles of each type, by
 * all work-items and by some; block reads and writes of buffers, and of images at any byte address
 * and beyond the edges.
 *
 *   intel_subgroups SOURCE | MODULE      intel_subgroups.cl, or its SPIR-V module
 */
#include <stdbool.h>

#include "tests/end_to_end/spirv/spirv.h"

enum { WARP = 32, ITEMS = 2 * WARP, WIDEST = 16, BLOCKS = 31, ROUNDS = 6 };

static const struct type {
  const char *name;
  size_t size; /* in bytes */
  size_t most; /* lanes of a vector */
} types[] = {
    {"char", 1, 8},  {"uchar", 1, 8}, {"short", 2, 8},  {"ushort", 2, 8},
    {"int", 4, 8},   {"uint", 4, 8},  {"float", 4, 8},  {"long", 8, 1},
    {"ulong", 8, 1}, {"half", 2, 1},  {"double", 8, 1},
};

/* The types of a block: the suffix of its functions, and the widest vectors from source and from
 * SPIR-V. */
static const struct unit {
  const char *suffix;
  size_t size, most, most_of_module;
} units[] = {
    {"", 4, 8, 8}, {"_ui", 4, 8, 8}, {"_uc", 1, 16, 16}, {"_us", 2, 16, 8}, {"_ul", 8, 8, 8}};

static uint64_t random_bits(void) {
  static uint64_t state = 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 8;
}

/* Random bytes in which no element is a NaN, because the bits of a NaN may change. */
static void fill(unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)(random_bits() & 0x3f);
}

static cl_mem make_buffer(const struct opencl *opencl, const void *data, size_t size) {
  cl_int error;
  cl_mem mem = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, size, (void *)data, &error);
  CHECK_CL(error, CL_SUCCESS);
  return mem;
}

static void read_buffer(const struct opencl *opencl, cl_mem mem, void *data, size_t size) {
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, size, data, 0, NULL, NULL),
           CL_SUCCESS);
}

/* Runs a kernel whose arguments are all memory objects, and releases these except for the kept
 * one. */
static void run(const struct opencl *opencl, cl_program program, const char *name, size_t items,
                const cl_mem *mems, cl_uint count) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (cl_uint i = 0; i < count; i++)
    CHECK_CL(clSetKernelArg(kernel, i, sizeof *mems, &mems[i]), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFinish(opencl->queue), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_bytes(const char *what, const char *name, size_t lanes, size_t place,
                        const unsigned char *got, const unsigned char *want, size_t size) {
  if (!memcmp(got, want, size))
    return;
  fprintf(stderr, "%s %s%zu, %zu: got", what, name, lanes, place);
  for (size_t i = 0; i < size; i++)
    fprintf(stderr, " %02x", got[i]);
  fputs(", not", stderr);
  for (size_t i = 0; i < size; i++)
    fprintf(stderr, " %02x", want[i]);
  fputs("\n", stderr);
  exit(1);
}

/* ---- shuffles ---- */

enum shuffle { SHUFFLE, DOWN, UP, XOR, SHUFFLES };
static const char *const shuffles[SHUFFLES] = {"shuffle", "down", "up", "xor"};

/* Returns the work-item from which a value comes, and whether it is that work-item's second
 * value. */
static bool find_source(enum shuffle shuffle, size_t item, unsigned place, size_t *from) {
  const unsigned lane = item % WARP;
  const int index = shuffle == SHUFFLE ? (int)(place % WARP)
                    : shuffle == XOR   ? (int)(lane ^ place % WARP)
                    : shuffle == DOWN  ? (int)(lane + place)
                                       : (int)lane - (int)place;
  *from = item - lane + (unsigned)index % WARP;
  /* For a shuffle up the first value is the preceding one. */
  return shuffle == UP ? index >= 0 : index >= WARP;
}

static void check_shuffles(const struct opencl *opencl, cl_program program, const struct type *type,
                           unsigned active) {
  enum { BYTES = ITEMS * 8 };
  static unsigned char in[2 * WIDEST * BYTES], out[SHUFFLES * WIDEST * BYTES];
  cl_uint places[ITEMS];
  cl_int on[ITEMS];
  char name[32];
  const size_t set = WIDEST * ITEMS * type->size; /* values of all widths */
  fill(in, sizeof in);
  for (size_t i = 0; i < ITEMS; i++) {
    places[i] = (cl_uint)(random_bits() % (WARP + 1));
    on[i] = active >> i % WARP & 1;
  }
  cl_mem mems[] = {make_buffer(opencl, in, 2 * set), make_buffer(opencl, places, sizeof places),
                   make_buffer(opencl, on, sizeof on), make_buffer(opencl, out, SHUFFLES * set)};
  snprintf(name, sizeof name, "shuffle_%s", type->name);
  run(opencl, program, name, ITEMS, mems, 4);
  read_buffer(opencl, mems[3], out, SHUFFLES * set);
  for (size_t lanes = 1; lanes <= type->most; lanes *= 2)
    for (enum shuffle s = 0; s < SHUFFLES; s++)
      for (size_t i = 0; i < ITEMS; i++) {
        size_t from;
        const bool second = find_source(s, i, places[i], &from);
        const size_t value = lanes * type->size, first = (lanes - 1) * ITEMS * type->size;
        if (on[i] && on[from])
          check_bytes(shuffles[s], type->name, lanes, i, out + (size_t)s * set + first + i * value,
                      in + second * set + first + from * value, value);
      }
  for (int i = 0; i < 4; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
}

static void check_others(const struct opencl *opencl, cl_program program) {
  cl_int seed = 3, good[ITEMS] = {0};
  cl_mem mems[] = {make_buffer(opencl, &seed, sizeof seed), make_buffer(opencl, good, sizeof good)};
  run(opencl, program, "others", ITEMS, mems, 2);
  read_buffer(opencl, mems[1], good, sizeof good);
  for (size_t i = 0; i < ITEMS; i++)
    CHECK(good[i] == 1);
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
}

/* ---- blocks of buffers ---- */

/* Returns the index of element c of a work-item in a block of a buffer, and in a plain vector. */
static size_t block_place(size_t item, size_t lanes, size_t c) {
  return (lanes - 1) * ITEMS + item / WARP * WARP * lanes + item % WARP + c * WARP;
}
static size_t vector_place(size_t items, size_t item, size_t lanes, size_t c) {
  return (lanes - 1) * items + item * lanes + c;
}

static void check_buffer(const struct opencl *opencl, cl_program program, const struct unit *unit,
                         size_t most, bool writes) {
  static unsigned char in[BLOCKS * ITEMS * 8], out[BLOCKS * ITEMS * 8];
  const cl_int2 none = {{0}};
  char name[32];
  fill(in, sizeof in);
  fill(out, sizeof out);
  cl_mem mems[] = {make_buffer(opencl, in, sizeof in), make_buffer(opencl, out, sizeof out),
                   make_buffer(opencl, &none, sizeof none)};
  snprintf(name, sizeof name, "%s%s", writes ? "write" : "read", unit->suffix);
  run(opencl, program, name, ITEMS, mems, 3);
  read_buffer(opencl, mems[1], out, sizeof out);
  for (size_t lanes = 1; lanes <= most; lanes *= 2)
    for (size_t i = 0; i < ITEMS; i++)
      for (size_t c = 0; c < lanes; c++) {
        const size_t block = block_place(i, lanes, c) * unit->size;
        const size_t vector = vector_place(ITEMS, i, lanes, c) * unit->size;
        check_bytes(writes ? "block write" : "block read", name, lanes, i,
                    out + (writes ? block : vector), in + (writes ? vector : block), unit->size);
      }
  for (int i = 0; i < 3; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
}

/* ---- blocks of images ---- */

enum { HEIGHT = 24, ROW_MOST = 400 };

static const struct picture {
  cl_image_format format;
  size_t texel, width;
} pictures[] = {
    {{CL_RGBA, CL_UNORM_INT8}, 4, 90},
    {{CL_R, CL_FLOAT}, 4, 70},
    {{CL_R, CL_UNSIGNED_INT16}, 2, 180},
    {{CL_R, CL_UNSIGNED_INT8}, 1, 331},
};

static int clamped(int x, int size) {
  return x < 0 ? 0 : x < size ? x : size - 1;
}

/* Addresses beyond the edges are defined for 4-byte texels, in units of texels. */
static cl_int2 random_place(const struct picture *picture, const struct unit *unit, size_t lanes,
                            bool writes) {
  const int row = (int)(picture->width * picture->texel), block = (int)(WARP * unit->size);
  const int rows = HEIGHT - (int)lanes;
  cl_int2 at = {{(int)(random_bits() % (uint64_t)(row - block + 1)),
                 (int)(random_bits() % (uint64_t)(rows + 1))}};
  if (writes || random_bits() % 2)
    at.s[0] &= ~3;
  if (picture->texel == 4 && unit->size >= 4 && random_bits() % 2) {
    at.s[0] = ((int)(random_bits() % 200) - 100) * 4;
    at.s[1] = (int)(random_bits() % (2 * HEIGHT)) - HEIGHT / 2;
  }
  return at;
}

/* Finds the byte of the picture that a block access at byte x of row y uses. Returns false if a
 * write is outside of the image; reads are clamped. */
static bool image_place(const struct picture *picture, int x, int y, bool writes, size_t *place) {
  const int row = (int)(picture->width * picture->texel), texel = (int)picture->texel;
  if (writes && (x < 0 || x >= row || y < 0 || y >= HEIGHT))
    return false;
  if (x < 0)
    x = (x % texel + texel) % texel;
  else if (x >= row)
    x = row - texel + x % texel;
  *place = (size_t)(clamped(y, HEIGHT) * row + x);
  return true;
}

static void check_image(const struct opencl *opencl, cl_program program, const struct unit *unit,
                        const struct picture *picture, size_t most, const char *op, bool writes) {
  static unsigned char image[HEIGHT * ROW_MOST], other[HEIGHT * ROW_MOST], data[BLOCKS * WARP * 8];
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = picture->width, .image_height = HEIGHT};
  const size_t origin[3] = {0}, region[3] = {picture->width, HEIGHT, 1};
  cl_int2 at[5];
  char name[32];
  cl_int error;
  size_t widths = 0;
  fill(image, sizeof image);
  fill(data, sizeof data);
  for (size_t lanes = 1; lanes <= most; lanes *= 2)
    at[widths++] = random_place(picture, unit, lanes, writes);
  cl_mem picture_mem =
      clCreateImage(opencl->context, CL_MEM_COPY_HOST_PTR, &picture->format, &desc, image, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem plain = make_buffer(opencl, data, sizeof data),
         places = make_buffer(opencl, at, sizeof at);
  const cl_mem mems[] = {writes ? plain : picture_mem, writes ? picture_mem : plain, places};
  snprintf(name, sizeof name, "%s%s", op, unit->suffix);
  run(opencl, program, name, WARP, mems, 3);
  if (!writes)
    read_buffer(opencl, plain, data, sizeof data);
  CHECK_CL(clEnqueueReadImage(opencl->queue, picture_mem, CL_TRUE, origin, region, 0, 0, other, 0,
                              NULL, NULL),
           CL_SUCCESS);
  widths = 0;
  for (size_t lanes = 1; lanes <= most; lanes *= 2, widths++)
    for (size_t i = 0; i < WARP; i++)
      for (size_t byte = 0; byte < lanes * unit->size; byte++) {
        const size_t c = byte / unit->size, k = byte % unit->size;
        const size_t vector = vector_place(WARP, i, lanes, c) * unit->size + k;
        size_t place;
        if (!image_place(picture, at[widths].s[0] + (int)(i * unit->size + k),
                         at[widths].s[1] + (int)c, writes, &place))
          continue;
        if (writes) /* of the later write, if blocks overlap */
          image[place] = data[vector];
        else
          check_bytes(name, "image", lanes, i, data + vector, image + place, 1);
      }
  for (size_t i = 0; i < HEIGHT * picture->width * picture->texel; i++)
    check_bytes(name, "whole image", 0, i, other + i, image + i, 1);
  CHECK_CL(clReleaseMemObject(picture_mem), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(plain), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(places), CL_SUCCESS);
}

static void check_images(const struct opencl *opencl, cl_program program, const struct unit *unit,
                         size_t most) {
  for (size_t p = 0; p < sizeof pictures / sizeof *pictures; p++)
    for (int round = 0; round < ROUNDS; round++) {
      check_image(opencl, program, unit, &pictures[p], most, "read_image", false);
      check_image(opencl, program, unit, &pictures[p], most, "read_both", false);
      check_image(opencl, program, unit, &pictures[p], most, "write_image", true);
      check_image(opencl, program, unit, &pictures[p], most, "write_both", true);
    }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct opencl opencl;
  opencl_open(&opencl);
  /* Not reported, because OpenCV's matrix product would then expect sub-groups of 8. */
  char extensions[16384];
  CHECK_CL(
      clGetDeviceInfo(opencl.device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL),
      CL_SUCCESS);
  CHECK(!strstr(extensions, "cl_intel_subgroups"));
  struct module module = module_read(argv[1]);
  cl_program program = module_or_source(&opencl, &module);
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    check_shuffles(&opencl, program, &types[t], ~0u);
    check_shuffles(&opencl, program, &types[t], (unsigned)random_bits());
  }
  check_others(&opencl, program);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    const size_t most = module_is_source(&module) ? units[u].most : units[u].most_of_module;
    check_buffer(&opencl, program, &units[u], most, false);
    check_buffer(&opencl, program, &units[u], most, true);
    check_images(&opencl, program, &units[u], most);
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
  opencl_close(&opencl);
  return 0;
}
