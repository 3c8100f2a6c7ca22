/* cl_tegracl_matrix: which elements of a matrix each work-item loads and stores, in all layouts,
 * from global and local memory; products of all types, exact or within the bounds that
 * compiler/device/matrix.cl states, compared with sums in 64 bits; and the errors of wrong
 * programs.
 *
 *   matrix SOURCE        matrix.cl
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/end_to_end/half_value.h"
#include "tests/end_to_end/opencl.h"

enum { LANES = 32, LINES = 16, WORDS = 4, WORD_BITS = 32, MEMORY = 8192, ITEMS = 64, ROUNDS = 24 };
enum { COLUMN_MAJOR = 1, ALIGNED = 2 };
enum use { USE_A, USE_B, USE_C };

/* ---- types of elements ------------------------------------------------------------------ */

enum type { F16, BF16, TF32, S8, U8, S4, U4, F32, S32 };

static const struct {
  const char *name;
  unsigned bits;
  unsigned k; /* rows of B */
} types[] = {
    [F16] = {"f16", 16, 16}, [BF16] = {"bf16", 16, 16}, [TF32] = {"tf32", 32, 8},
    [S8] = {"s8", 8, 32},    [U8] = {"u8", 8, 32},      [S4] = {"s4", 4, 64},
    [U4] = {"u4", 4, 64},    [F32] = {"f32", 32, 0},    [S32] = {"s32", 32, 0},
};

static uint64_t random_state = 1;

static uint32_t random_bits(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> WORD_BITS);
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Rounds to 10 bits of fraction, ties away from 0. */
static uint32_t tf32_of(uint32_t bits) {
  return (bits + 0x1000) & 0xffffe000;
}

static double value_of(enum type type, uint32_t bits) {
  switch (type) {
  case F16:
    return half_value(bits);
  case BF16:
    return float_of(bits << 16);
  case TF32:
    return float_of(bits & 0xffffe000);
  case F32:
    return float_of(bits);
  case S8:
    return (int8_t)bits;
  case S4:
    return (int)(bits & 15) - (bits & 8 ? 16 : 0);
  case S32:
    return (int32_t)bits;
  default:
    return bits;
  }
}

static double least_normal(enum type type) {
  return ldexp(1, type == F16 ? -14 : -126);
}

/* ---- elements of a lane ----------------------------------------------------------------- */

/* Rows and columns of a matrix; k is that of the other type if this one is of C. */
static unsigned rows_of(enum use use, enum type type) {
  return use == USE_B ? types[type].k : LINES;
}
static unsigned columns_of(enum use use, enum type type) {
  return use == USE_A ? types[type].k : LINES;
}

static unsigned elements_of(enum use use, enum type type) {
  return rows_of(use, type) * columns_of(use, type) / LANES;
}

static void place_of(enum use use, enum type type, unsigned lane, unsigned i, unsigned *row,
                     unsigned *column) {
  const unsigned g = lane / 4, t = lane % 4, e = WORD_BITS / types[type].bits, r = i / e;
  if (use == USE_A) {
    *row = g + 8 * (r % 2);
    *column = t * e + i % e + 4 * e * (r / 2);
  } else if (use == USE_B) {
    *column = g + 8 * (r / 2);
    *row = t * e + i % e + 4 * e * (r % 2);
  } else {
    *row = g + 8 * (i / 2 % 2);
    *column = 2 * t + i % 2 + 8 * (i / 4);
  }
}

static uint32_t get_bits(const uint8_t *from, unsigned bits, size_t index) {
  uint32_t value = 0;
  if (bits < 8)
    return from[index / 2] >> 4 * (index % 2) & 15;
  memcpy(&value, from + index * bits / 8, bits / 8);
  return value;
}

static void set_bits(uint8_t *to, unsigned bits, size_t index, uint32_t value) {
  if (bits < 8)
    to[index / 2] = (uint8_t)((to[index / 2] & 0xf0 >> 4 * (index % 2)) | value << 4 * (index % 2));
  else
    memcpy(to + index * bits / 8, &value, bits / 8);
}

/* ---- loads and stores ------------------------------------------------------------------- */

struct test {
  struct opencl opencl;
  cl_program program;
  cl_mem memory, vectors[4];
};

static cl_kernel kernel_of(const struct test *test, const char *kind, const char *name) {
  char full[64];
  cl_int error;
  snprintf(full, sizeof full, "%s_%s", kind, name);
  cl_kernel kernel = clCreateKernel(test->program, full, &error);
  CHECK_CL(error, CL_SUCCESS);
  return kernel;
}

static void write_buffer(const struct test *test, cl_mem buffer, const void *data, size_t size) {
  CHECK_CL(clEnqueueWriteBuffer(test->opencl.queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
           CL_SUCCESS);
}

static void read_buffer(const struct test *test, cl_mem buffer, void *data, size_t size) {
  CHECK_CL(clEnqueueReadBuffer(test->opencl.queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
           CL_SUCCESS);
}

struct access {
  const char *name;
  enum use use;
  enum type type;
  cl_uint shift, layout, stride, in_local;
};

static void run_access(const struct test *test, cl_kernel kernel, const struct access *access) {
  static const size_t items[] = {8, 4, 2}; /* a work-group with two sub-groups */
  const cl_uint *const numbers[] = {&access->shift, &access->layout, &access->stride,
                                    &access->in_local};
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof test->memory, &test->memory), CL_SUCCESS);
  for (cl_uint i = 0; i < 4; i++)
    CHECK_CL(clSetKernelArg(kernel, 1 + i, sizeof(cl_uint), numbers[i]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 5, sizeof(cl_mem), &test->vectors[0]), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(test->opencl.queue, kernel, 3, NULL, items, items, 0, NULL, NULL),
           CL_SUCCESS);
}

static size_t index_of(const struct access *access, unsigned row, unsigned column) {
  return access->layout & COLUMN_MAJOR ? (size_t)column * access->stride + row
                                       : (size_t)row * access->stride + column;
}

static void fail(const char *what, const struct access *access) {
  fprintf(stderr, "%s_%s: wrong: layout %u, stride %u, shift %u, %s memory\n", what, access->name,
          access->layout, access->stride, access->shift, access->in_local ? "local" : "global");
  exit(1);
}

static void fill_random(uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)random_bits();
}

static void check_load(const struct test *test, cl_kernel kernel, const struct access *access) {
  static uint8_t memory[MEMORY], vectors[ITEMS * WORD_BITS];
  const unsigned bits = types[access->type].bits, count = elements_of(access->use, access->type);
  fill_random(memory, sizeof memory);
  if (access->type == TF32) /* no infinities, nor what would round to one */
    for (size_t i = 3; i < sizeof memory; i += 4)
      memory[i] &= 0xbf;
  write_buffer(test, test->memory, memory, sizeof memory);
  run_access(test, kernel, access);
  read_buffer(test, test->vectors[0], vectors, sizeof vectors);
  for (unsigned item = 0; item < ITEMS; item++)
    for (unsigned i = 0; i < count; i++) {
      unsigned row, column;
      place_of(access->use, access->type, item % LANES, i, &row, &column);
      uint32_t expected = get_bits(memory + access->shift, bits, index_of(access, row, column));
      if (access->type == TF32)
        expected = tf32_of(expected);
      if (get_bits(vectors, bits, (size_t)item * count + i) != expected)
        fail("load", access);
    }
}

static void check_store(const struct test *test, cl_kernel kernel, const struct access *access) {
  static uint8_t memory[MEMORY], expected[MEMORY], vectors[ITEMS * WORD_BITS];
  const unsigned bits = types[access->type].bits, count = elements_of(access->use, access->type);
  fill_random(memory, sizeof memory);
  memcpy(expected, memory, sizeof memory);
  /* Both sub-groups store the same matrix. */
  fill_random(vectors, LANES * count * bits / 8);
  memcpy(vectors + LANES * count * bits / 8, vectors, LANES * count * bits / 8);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < count; i++) {
      unsigned row, column;
      place_of(access->use, access->type, lane, i, &row, &column);
      set_bits(expected + access->shift, bits, index_of(access, row, column),
               get_bits(vectors, bits, (size_t)lane * count + i));
    }
  write_buffer(test, test->memory, memory, sizeof memory);
  write_buffer(test, test->vectors[0], vectors, sizeof vectors);
  run_access(test, kernel, access);
  read_buffer(test, test->memory, memory, sizeof memory);
  if (memcmp(memory, expected, sizeof memory) != 0)
    fail("store", access);
}

/* Strides: the least one, one more or the next aligned one, and 0. */
static void check_accesses(const struct test *test, enum use use, enum type type) {
  char name[16];
  snprintf(name, sizeof name, "%c_%s", "abc"[use], types[type].name);
  const bool stores = type != S4 && type != U4;
  cl_kernel load = kernel_of(test, "load", name), store = NULL;
  if (stores)
    store = kernel_of(test, "store", name);
  const unsigned bits = types[type].bits, unit = 128 / bits;
  for (cl_uint choice = 0; choice < 24; choice++) {
    struct access access = {name, use, type, 0, choice % 4, 0, choice / 4 % 2};
    const unsigned length =
        access.layout & COLUMN_MAJOR ? rows_of(use, type) : columns_of(use, type);
    const bool aligned = access.layout & ALIGNED;
    access.shift = aligned ? 16 : bits < 8 ? 1 : bits / 8;
    if (choice / 8 < 2)
      access.stride =
          aligned ? (length + unit - 1) / unit * unit + choice / 8 * unit : length + choice / 8;
    check_load(test, load, &access);
    if (stores && access.stride)
      check_store(test, store, &access);
  }
  CHECK_CL(clReleaseKernel(load), CL_SUCCESS);
  if (stores)
    CHECK_CL(clReleaseKernel(store), CL_SUCCESS);
}

/* ---- products --------------------------------------------------------------------------- */

struct product {
  const char *name;
  enum type a, b, c;
  bool saturates;
};

static const struct product products[] = {
    {"f16", F16, F16, F32, false},    {"f16_half", F16, F16, F16, false},
    {"bf16", BF16, BF16, F32, false}, {"tf32", TF32, TF32, F32, false},
    {"s8_s8", S8, S8, S32, false},    {"s8_u8", S8, U8, S32, false},
    {"u8_s8", U8, S8, S32, false},    {"u8_u8", U8, U8, S32, false},
    {"sat_s8_s8", S8, S8, S32, true}, {"sat_s8_u8", S8, U8, S32, true},
    {"sat_u8_s8", U8, S8, S32, true}, {"sat_u8_u8", U8, U8, S32, true},
    {"s4_s4", S4, S4, S32, false},    {"s4_u4", S4, U4, S32, false},
    {"u4_s4", U4, S4, S32, false},    {"u4_u4", U4, U4, S32, false},
    {"sat_s4_s4", S4, S4, S32, true}, {"sat_s4_u4", S4, U4, S32, true},
    {"sat_u4_s4", U4, S4, S32, true}, {"sat_u4_u4", U4, U4, S32, true},
};

/* The least exponents of the elements in a round: from those of similar numbers to those of all
 * that can be added without overflow. A float's must not make products underflow. */
static uint32_t random_element(enum type type, enum use use, int round) {
  const uint32_t any = random_bits();
  const bool is_c = use == USE_C;
  switch (type) {
  case F16: /* at most 16, so that sums are finite; the last rounds have subnormals */
    return (any & 0x83ff) |
           (round < ROUNDS / 2 ? 15 - random_bits() % (unsigned)(round + 1) : random_bits() % 19)
               << 10;
  case BF16:
    return (any & 0x807f) | (127 - random_bits() % (unsigned)(4 * round + 1)) % 128 << 7;
  case TF32:
    return (any & 0x807fffff) | (127 - random_bits() % (unsigned)(2 * round + 1)) << 23;
  case F32:
    return (any & 0x807fffff) | (127 - random_bits() % (unsigned)(2 * round + 1)) << 23;
  case S32: /* near the ends of the range in the later rounds */
    return round < ROUNDS / 2 || !is_c ? any : (any & 0x80000000) ^ 0x7fffffff ^ (any & 0x1fff);
  default:
    return any & ((1u << types[type].bits) - 1);
  }
}

/* Extremes: elements that are all the greatest or all the least, whose sums have most bits. */
static uint32_t extreme_element(enum type type, int round) {
  switch (type) {
  case F16:
    return round % 2 ? 0x4fff : 0xcfff;
  case BF16:
    return round % 2 ? 0x4fff : 0xcfff;
  case TF32:
    return round % 2 ? 0x4fffe000 : 0xcfffe000;
  case S8:
    return round % 2 ? 0x7f : 0x80;
  case U8:
    return round % 2 ? 0xff : 1;
  case S4:
    return round % 2 ? 7 : 8;
  case U4:
    return round % 2 ? 15 : 1;
  default:
    return round % 2 ? 0x7fffffff : 0x80000000;
  }
}

/* A matrix, and its vectors as they are in memory. */
struct matrix {
  uint32_t at[64][64];
  uint8_t vectors[LANES * WORD_BITS];
};

static void make_vectors(struct matrix *matrix, enum use use, enum type type) {
  const unsigned count = elements_of(use, type);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < count; i++) {
      unsigned row, column;
      place_of(use, type, lane, i, &row, &column);
      set_bits(matrix->vectors, types[type].bits, (size_t)lane * count + i,
               matrix->at[row][column]);
    }
}

static void make_matrix(struct matrix *matrix, enum use use, enum type type, int round) {
  const bool extreme = round >= ROUNDS - 2 && type != F32 && (use != USE_C || type != F16);
  for (unsigned row = 0; row < rows_of(use, use == USE_C ? F32 : type); row++)
    for (unsigned column = 0; column < columns_of(use, use == USE_C ? F32 : type); column++)
      matrix->at[row][column] =
          extreme ? extreme_element(type, round) : random_element(type, use, round);
  make_vectors(matrix, use, type);
}

/* The bound of the error of a sum, whose terms have the given sum of magnitudes. */
static double bound_of(const struct product *product, double sum) {
  const double unit = ldexp(1, -24);
  if (product->c == F16)
    return (ldexp(1, -10) + ldexp(1, -19)) * sum + unit;
  return (product->a == TF32 ? 15 : 23) * unit * sum;
}

/* Returns the error of an element relative to its bound; for integers, whether it is wrong. */
static double check_element(const struct product *product, const struct matrix *a,
                            const struct matrix *b, uint32_t c, uint32_t got, unsigned row,
                            unsigned column) {
  const double least = least_normal(product->a);
  double exact = value_of(product->c, c), sum = fabs(exact);
  int64_t integer = (int32_t)c;
  for (unsigned k = 0; k < types[product->a].k; k++) {
    const double x = value_of(product->a, a->at[row][k]);
    const double y = value_of(product->b, b->at[k][column]);
    exact += x * y;
    if (product->c == S32)
      integer += (int64_t)x * (int64_t)y;
    if (x != 0 && y != 0)
      sum += fmax(fabs(x), least) * fmax(fabs(y), least);
  }
  if (product->c != S32)
    return fabs(value_of(product->c, got) - exact) / bound_of(product, sum);
  if (product->saturates)
    integer = integer > INT32_MAX ? INT32_MAX : integer < INT32_MIN ? INT32_MIN : integer;
  return (uint32_t)integer == got ? 0 : 2;
}

static void check_product(const struct test *test, const struct product *product) {
  static struct matrix a, b, c, d;
  const size_t items = LANES;
  const bool exact = product->c == S32;
  double worst = 0;
  cl_kernel kernel = kernel_of(test, "mad", product->name);
  for (cl_uint i = 0; i < 4; i++)
    CHECK_CL(clSetKernelArg(kernel, i, sizeof(cl_mem), &test->vectors[i]), CL_SUCCESS);
  for (int round = 0; round < ROUNDS; round++) {
    make_matrix(&a, USE_A, product->a, round);
    make_matrix(&b, USE_B, product->b, round);
    make_matrix(&c, USE_C, product->c, round);
    write_buffer(test, test->vectors[0], a.vectors, sizeof a.vectors);
    write_buffer(test, test->vectors[1], b.vectors, sizeof b.vectors);
    write_buffer(test, test->vectors[2], c.vectors, sizeof c.vectors);
    CHECK_CL(
        clEnqueueNDRangeKernel(test->opencl.queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
        CL_SUCCESS);
    read_buffer(test, test->vectors[3], d.vectors, sizeof d.vectors);
    for (unsigned lane = 0; lane < LANES; lane++)
      for (unsigned i = 0; i < 8; i++) {
        unsigned row, column;
        place_of(USE_C, product->c, lane, i, &row, &column);
        const uint32_t got = get_bits(d.vectors, types[product->c].bits, (size_t)lane * 8 + i);
        const double error = check_element(product, &a, &b, c.at[row][column], got, row, column);
        if (!(error <= 1)) {
          fprintf(stderr, "mad_%s, round %d: row %u, column %u: 0x%x is wrong (%g bounds)\n",
                  product->name, round, row, column, got, error);
          exit(1);
        }
        worst = fmax(worst, error);
      }
  }
  if (!exact)
    printf("mad_%s: at most %.3f of the bound\n", product->name, worst);
  CHECK(exact || worst > 0.02); /* otherwise the bound says nothing */
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* ---- vectors in loops ------------------------------------------------------------------- */

/* Returns the bits of a small integer. */
static uint32_t bits_of_integer(enum type type, unsigned n) {
  int exponent = 25;
  switch (type) {
  case BF16:
    return bits_of((float)n) >> 16;
  case F32:
    return bits_of((float)n);
  case F16:
    for (; n && n < 1024; n *= 2)
      exponent--;
    return n ? (uint32_t)exponent << 10 | (n & 1023) : 0;
  default:
    return n;
  }
}

/* Fills a matrix with integers below the limit, which are in bits_of_integer's form. */
static void make_integers(struct matrix *matrix, enum use use, enum type type, unsigned limit,
                          unsigned k) {
  for (unsigned row = 0; row < (use == USE_B ? k : LINES); row++)
    for (unsigned column = 0; column < (use == USE_A ? k : LINES); column++)
      matrix->at[row][column] = bits_of_integer(type, random_bits() % limit);
  make_vectors(matrix, use, type);
}

static void check_turns(const struct test *test, const char *name, enum type type, enum type sum) {
  enum { TURNS = 5 };
  static struct matrix a[2], b, c, d;
  static uint8_t both[2 * LANES * WORD_BITS];
  const size_t items = LANES, half_bytes = LANES * elements_of(USE_A, type) * types[type].bits / 8;
  const cl_uint turns = TURNS;
  const unsigned k_count = types[type].k;
  for (int i = 0; i < 2; i++) {
    make_integers(&a[i], USE_A, type, 4, k_count);
    memcpy(both + i * half_bytes, a[i].vectors, half_bytes);
  }
  make_integers(&b, USE_B, type, 2, k_count);
  make_integers(&c, USE_C, sum, 8, k_count);
  write_buffer(test, test->vectors[0], both, 2 * half_bytes);
  write_buffer(test, test->vectors[1], b.vectors, sizeof b.vectors);
  write_buffer(test, test->vectors[2], c.vectors, sizeof c.vectors);
  cl_kernel kernel = kernel_of(test, "turns", name);
  for (cl_uint i = 0; i < 4; i++)
    CHECK_CL(clSetKernelArg(kernel, i, sizeof(cl_mem), &test->vectors[i]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 4, sizeof turns, &turns), CL_SUCCESS);
  CHECK_CL(
      clEnqueueNDRangeKernel(test->opencl.queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
      CL_SUCCESS);
  read_buffer(test, test->vectors[3], d.vectors, sizeof d.vectors);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < 8; i++) {
      unsigned row, column;
      place_of(USE_C, sum, lane, i, &row, &column);
      double expected = value_of(sum, c.at[row][column]);
      for (int turn = 0; turn < TURNS; turn++)
        for (unsigned k = 0; k < k_count; k++)
          expected += value_of(type, a[turn % 2].at[row][k]) * value_of(type, b.at[k][column]);
      const double got = value_of(sum, get_bits(d.vectors, types[sum].bits, (size_t)lane * 8 + i));
      if (got != expected) {
        fprintf(stderr, "turns_%s: row %u, column %u: %g instead of %g\n", name, row, column, got,
                expected);
        exit(1);
      }
    }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Loading rounds floats: the bound of matrix.cl for tf32 with this error. */
static void check_rounding(void) {
  for (int i = 0; i < 100000; i++) {
    const float x = float_of((random_bits() & 0x807fffff) | 127u << 23);
    CHECK(fabs((double)float_of(tf32_of(bits_of(x))) - x) <= ldexp(fabs((double)x), -11));
  }
}

/* ---- local arguments -------------------------------------------------------------------- */

/* A tile follows a local argument of one byte. */
static void check_local_argument(const struct test *test) {
  enum { SIDE = 16 };
  static const char source[] =
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "kernel void k(local uchar *byte, local half *tile, global half *from, global half8 *to) {\n"
      "  const uint lane = get_local_id(0);\n"
      "  for (uint i = lane; i < 256; i += 32)\n"
      "    tile[i] = from[i];\n"
      "  *byte = 1;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  to[lane] = tegracl_matrix_load_a_f16(tile, TEGRACL_MATRIX_ALIGNED, 16);\n"
      "}";
  const size_t items = LANES;
  uint16_t tile[SIDE * SIDE], got[LANES][8];
  for (unsigned i = 0; i < SIDE * SIDE; i++)
    tile[i] = (uint16_t)(0x3c00 + i);
  cl_program program = opencl_program(&test->opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &test->opencl.device, "", NULL, NULL), CL_SUCCESS);
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, 1, NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof tile, NULL), CL_SUCCESS);
  for (unsigned i = 0; i < 2; i++)
    CHECK_CL(clSetKernelArg(kernel, 2 + i, sizeof(cl_mem), &test->vectors[i]), CL_SUCCESS);
  write_buffer(test, test->vectors[0], tile, sizeof tile);
  CHECK_CL(
      clEnqueueNDRangeKernel(test->opencl.queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
      CL_SUCCESS);
  read_buffer(test, test->vectors[1], got, sizeof got);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < 8; i++) {
      unsigned row, column;
      place_of(USE_A, F16, lane, i, &row, &column);
      CHECK(got[lane][i] == tile[row * SIDE + column]);
    }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* ---- wrong programs --------------------------------------------------------------------- */

static const struct {
  const char *statement, *message;
} mistakes[] = {
    {"half8 v = tegracl_matrix_load_a_f16(h, 4, 16);",
     "the layout is not a sum of TEGRACL_MATRIX_ constants"},
    {"half8 v = tegracl_matrix_load_b_f16(h, TEGRACL_MATRIX_ALIGNED, 20);",
     "the stride must be a multiple of 16 bytes"},
    {"tegracl_matrix_store_c_f32(f, 0, TEGRACL_MATRIX_ALIGNED, 18);",
     "the stride must be a multiple of 16 bytes"},
    {"half8 v = tegracl_matrix_load_a_f16(f, 0, 16);",
     "the matrix must be of half in global or local memory"},
    {"tegracl_matrix_store_c_s32(f, 0, 0, 16);",
     "the matrix must be of int in global or local memory"},
    {"half x[256]; half8 v = tegracl_matrix_load_a_f16(x, 0, 16);", "no matching function"},
    {"float8 v = tegracl_matrix_mad_f16((float8)0, (float8)0, (float8)0);", "no matching function"},
    {"int8 v = tegracl_matrix_mad_i8((char16)0, (short16)0, (int8)0);", "no matching function"},
};

static void check_mistakes(const struct opencl *opencl) {
  static char source[1024], log[65536];
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    snprintf(source, sizeof source,
             "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
             "kernel void k(global half *h, global float *f) { %s }",
             mistakes[i].statement);
    cl_program program = opencl_program(opencl, source);
    CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    CHECK_CL(
        clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
        CL_SUCCESS);
    if (!strstr(log, mistakes[i].message)) {
      fprintf(stderr, "%s\ngives\n%s\ninstead of \"%s\"\n", mistakes[i].statement, log,
              mistakes[i].message);
      exit(1);
    }
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  }
}

/* ---- the test --------------------------------------------------------------------------- */

static char *read_source(const char *path) {
  static char text[65536];
  FILE *file = fopen(path, "r");
  CHECK(file);
  const size_t size = fread(text, 1, sizeof text - 1, file);
  CHECK(size > 0 && feof(file));
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  static char extensions[8192], log[65536];
  CHECK(argc == 2);
  struct test test;
  cl_int error;
  opencl_open(&test.opencl);
  CHECK_CL(clGetDeviceInfo(test.opencl.device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions,
                           NULL),
           CL_SUCCESS);
  CHECK(strstr(extensions, "cl_tegracl_matrix"));
  test.program = opencl_program(&test.opencl, read_source(argv[1]));
  error = clBuildProgram(test.program, 1, &test.opencl.device, "", NULL, NULL);
  CHECK_CL(clGetProgramBuildInfo(test.program, test.opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log,
                                 log, NULL),
           CL_SUCCESS);
  fputs(log, stderr);
  CHECK_CL(error, CL_SUCCESS);
  test.memory = clCreateBuffer(test.opencl.context, 0, MEMORY, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < 4; i++) {
    test.vectors[i] = clCreateBuffer(test.opencl.context, 0, ITEMS * WORD_BITS, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
  }
  for (enum type type = F16; type <= U4; type++) {
    check_accesses(&test, USE_A, type);
    check_accesses(&test, USE_B, type);
  }
  check_accesses(&test, USE_C, F16);
  check_accesses(&test, USE_C, F32);
  check_accesses(&test, USE_C, S32);
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    check_product(&test, &products[i]);
  check_turns(&test, "f16", F16, F16);
  check_turns(&test, "bf16", BF16, F32);
  check_turns(&test, "s8", S8, S32);
  check_turns(&test, "u8", U8, S32);
  check_rounding();
  check_local_argument(&test);
  check_mistakes(&test.opencl);
  CHECK_CL(clReleaseMemObject(test.memory), CL_SUCCESS);
  for (int i = 0; i < 4; i++)
    CHECK_CL(clReleaseMemObject(test.vectors[i]), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(test.program), CL_SUCCESS);
  opencl_close(&test.opencl);
  return 0;
}
