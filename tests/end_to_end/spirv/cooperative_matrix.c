/* Cooperative matrices (SPV_KHR_cooperative_matrix, the draft cl_khr_cooperative_matrix): queries,
 * and modules that the test makes, whose results are compared with sums in 64 bits.
 *
 *   cooperative_matrix on | off | clash   TEGRACL_EXPERIMENTAL enables the draft, or does not
 *   cooperative_matrix write FILE         writes a module for the fuzz test
 */
#include <math.h>
#include <stdbool.h>

#include "icd/cl_tegracl.h"
#include "tests/end_to_end/half_value.h"
#include "tests/end_to_end/spirv/spirv.h"
#include "tests/end_to_end/spirv/spirv_builder.h"

enum { BYTES = 65536, SLOT = 4096, ITEMS = 64, LANES = 32, ALIGN = 16, PITCH = 96 };
enum { LOCAL_PITCH = 80, ODD_PITCH = 88, VERSION_1_4 = 0x10400 };
enum use { USE_A, USE_B, USE_C };

/* Opcodes of the instructions in the modules. */
enum {
  OP_SHADER_REMAINDER = 140,
  OP_DOT = 148,
  OP_U_LESS_THAN = 176,
  OP_BRANCH = 249,
  OP_RETURN = 253,
  OP_RETURN_VALUE = 254,
  OP_F_NEGATE = 127,
  OP_I_ADD = 128,
  OP_F_ADD = 129,
};

/* ---- matrix types ------------------------------------------------------------------------ */

static const struct kind {
  const char *name;
  enum use use;
  bool is_float;
  unsigned bits, rows, columns;
} kinds[] = {
    {"a_f16", USE_A, true, 16, 16, 16},     {"a_f16_16x8", USE_A, true, 16, 16, 8},
    {"a_s8", USE_A, false, 8, 16, 32},      {"b_f16", USE_B, true, 16, 16, 16},
    {"b_f16_16x8", USE_B, true, 16, 16, 8}, {"b_f16_8x8", USE_B, true, 16, 8, 8},
    {"b_s8", USE_B, false, 8, 32, 16},      {"b_s8_32x8", USE_B, false, 8, 32, 8},
    {"c_f16", USE_C, true, 16, 16, 16},     {"c_f32", USE_C, true, 32, 16, 16},
    {"c_s32", USE_C, false, 32, 16, 16},    {"c_f16_16x8", USE_C, true, 16, 16, 8},
    {"c_f32_16x8", USE_C, true, 32, 16, 8}, {"c_s32_16x8", USE_C, false, 32, 16, 8},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Types of other uses than products have. */
static const struct kind strange[] = {
    {"strange_a_f16", USE_A, true, 16, 8, 8},
    {"strange_b_f32", USE_B, true, 32, 16, 16},
    {"strange_c_s8", USE_C, false, 8, 16, 32},
    {"strange_a_s8", USE_A, false, 8, 32, 8},
};
enum { STRANGE = sizeof strange / sizeof *strange };

static const struct kind *find_kind(const char *name) {
  for (size_t i = 0; i < KINDS; i++)
    if (!strcmp(kinds[i].name, name))
      return &kinds[i];
  abort();
}

static unsigned length_of(const struct kind *kind) {
  return kind->rows * kind->columns / LANES;
}

/* The least stride in elements, for rows or columns of whole 16 bytes. */
static unsigned stride_of(const struct kind *kind, unsigned layout) {
  const unsigned unit = ALIGN * 8 / kind->bits, line = layout ? kind->rows : kind->columns;
  return (line + unit - 1) / unit * unit;
}

static size_t index_of(unsigned layout, unsigned stride, unsigned row, unsigned column) {
  return layout ? (size_t)column * stride + row : (size_t)row * stride + column;
}

/* Row and column of an element of a lane (compiler/device/matrix.cl). */
static void place_of(const struct kind *kind, unsigned lane, unsigned i, unsigned *row,
                     unsigned *column) {
  const unsigned g = lane / 4, t = lane % 4, e = 32 / kind->bits, r = i / e;
  if (kind->use == USE_A) {
    *row = g + 8 * (r % 2);
    *column = t * e + i % e + 4 * e * (r / 2);
  } else if (kind->use == USE_B) {
    *column = g + 8 * (r / 2);
    *row = t * e + i % e + 4 * e * (r % 2);
  } else {
    *row = g + 8 * (i / 2 % 2);
    *column = 2 * t + i % 2 + 8 * (i / 4);
  }
}

/* ---- elements ---------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint32_t random_bits(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 32);
}

/* The half of a value that is a normal one, or 0. */
static uint32_t half_bits(double value) {
  int exponent;
  const double fraction = frexp(fabs(value), &exponent); /* 0.5 to 1 */
  const uint32_t sign = signbit(value) ? 0x8000 : 0;
  return value == 0 ? sign : sign | (uint32_t)((exponent + 13) * 1024 + (int)(2048 * fraction));
}

static uint32_t get_bits(const uint8_t *from, unsigned bits, size_t index) {
  uint32_t value = 0;
  memcpy(&value, from + index * bits / 8, bits / 8);
  return value;
}

static void set_bits(uint8_t *to, unsigned bits, size_t index, uint32_t value) {
  memcpy(to + index * bits / 8, &value, bits / 8);
}

static double value_of_bits(const struct kind *kind, uint32_t bits, bool is_signed) {
  float value;
  memcpy(&value, &bits, sizeof value);
  if (kind->is_float)
    return kind->bits == 16 ? half_value(bits) : value;
  if (!is_signed)
    return bits;
  return kind->bits == 8 ? (int8_t)bits : (int32_t)bits;
}

static uint32_t bits_of_value(const struct kind *kind, double value) {
  const float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (kind->is_float)
    return kind->bits == 16 ? half_bits(value) : bits;
  return (uint32_t)(int64_t)value & (kind->bits == 8 ? 0xff : 0xffffffff);
}

/* ---- modules ----------------------------------------------------------------------------- */

static uint32_t element_type(struct builder *b, const struct kind *kind) {
  return kind->is_float ? type_float(b, kind->bits) : type_int(b, kind->bits);
}

static uint32_t matrix_type(struct builder *b, const struct kind *kind) {
  const uint32_t element = element_type(b, kind), scope = uint_constant(b, SCOPE_SUBGROUP);
  const uint32_t rows = uint_constant(b, kind->rows), columns = uint_constant(b, kind->columns);
  const uint32_t use = uint_constant(b, kind->use);
  return TYPE(b, OP_TYPE_MATRIX, element, scope, rows, columns, use);
}

static void begin_module(struct builder *b) {
  static const uint32_t capabilities[] = {
      4 /* Addresses */, 6 /* Kernel */, 7 /* Vector16 */, 9 /* Float16 */,
      11 /* Int64 */,    22 /* Int16 */, 39 /* Int8 */,    CAPABILITY_COOPERATIVE_MATRIX};
  enum { PHYSICAL64 = 2, OPENCL = 2 };
  memset(b, 0, sizeof *b);
  b->bound = 1;
  for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
    PUT(b, HEAD, OP_CAPABILITY, capabilities[i]);
  put_string(b, HEAD, OP_EXTENSION, NULL, 0, "SPV_KHR_cooperative_matrix");
  PUT(b, HEAD, OP_MEMORY_MODEL, PHYSICAL64, OPENCL);
}

/* A kernel with four buffers, two strides, and local memory of the first buffer's type. */
struct kernel {
  uint32_t buffers[4], types[4]; /* of pointers */
  uint32_t strides[2];
  uint32_t local, local_type;
};

static uint32_t void_type(struct builder *b) {
  return declared(b, OP_TYPE_VOID, &(uint32_t){0}, 0, 0);
}

static uint32_t bool_type(struct builder *b) {
  return declared(b, OP_TYPE_BOOL, &(uint32_t){0}, 0, 0);
}

static uint32_t begin_block(struct builder *b) {
  const uint32_t id = new_id(b);
  PUT(b, BODIES, OP_LABEL, id);
  return id;
}

/* Begins a kernel whose buffers have these types of elements. */
static struct kernel begin_kernel(struct builder *b, const char *name, const uint32_t elements[4]) {
  enum { KERNEL = 6 };
  struct kernel k;
  uint32_t operands[8] = {void_type(b)};
  const uint32_t function = new_id(b), uint = type_int(b, 32);
  for (int i = 0; i < 4; i++)
    operands[1 + i] = k.types[i] = pointer_to(b, STORAGE_CROSS_WORKGROUP, elements[i]);
  operands[5] = operands[6] = uint;
  operands[7] = k.local_type = pointer_to(b, STORAGE_WORKGROUP, elements[0]);
  const uint32_t type = declared(b, OP_TYPE_FUNCTION, operands, 8, 0);
  put_string(b, ENTRIES, OP_ENTRY_POINT, (const uint32_t[]){KERNEL, function}, 2, name);
  PUT(b, BODIES, OP_FUNCTION, operands[0], function, 0, type);
  for (int i = 0; i < 4; i++)
    PUT(b, BODIES, OP_FUNCTION_PARAMETER, k.types[i], k.buffers[i] = new_id(b));
  for (int i = 0; i < 2; i++)
    PUT(b, BODIES, OP_FUNCTION_PARAMETER, uint, k.strides[i] = new_id(b));
  PUT(b, BODIES, OP_FUNCTION_PARAMETER, k.local_type, k.local = new_id(b));
  begin_block(b);
  return k;
}

static void end_kernel(struct builder *b) {
  put(b, BODIES, OP_RETURN, NULL, 0);
  put(b, BODIES, OP_FUNCTION_END, NULL, 0);
}

/* Returns the address of a slot of a buffer. */
static uint32_t slot_of(struct builder *b, const struct kernel *k, int buffer, unsigned slot,
                        unsigned element_bytes) {
  const uint32_t index = uint_constant(b, slot * SLOT / element_bytes);
  return VALUE(b, OP_IN_BOUNDS_PTR_ACCESS_CHAIN, k->types[buffer], k->buffers[buffer], index);
}

static uint32_t load(struct builder *b, const struct kind *kind, uint32_t pointer, unsigned layout,
                     uint32_t stride) {
  const uint32_t type = matrix_type(b, kind), order = uint_constant(b, layout);
  return VALUE(b, OP_MATRIX_LOAD, type, pointer, order, stride);
}

static void store(struct builder *b, uint32_t pointer, uint32_t matrix, unsigned layout,
                  uint32_t stride) {
  const uint32_t order = uint_constant(b, layout);
  PUT(b, BODIES, OP_MATRIX_STORE, pointer, matrix, order, stride);
}

static void barrier(struct builder *b) {
  const uint32_t scope = uint_constant(b, SCOPE_WORKGROUP), order = uint_constant(b, 0x108);
  PUT(b, BODIES, OP_CONTROL_BARRIER, scope, scope, order);
}

/* ---- running ----------------------------------------------------------------------------- */

struct test {
  struct opencl opencl;
  cl_program program;
  cl_mem buffers[4];
  uint8_t data[4][BYTES], expected[BYTES];
};

static cl_program build(const struct test *test, const struct builder *b) {
  size_t count;
  struct module module = {.words = builder_finish(b, VERSION_1_4, &count)};
  module.size = count * sizeof *module.words;
  cl_program program = module_program(&test->opencl, &module);
  free(module.words);
  return program;
}

static void use_program(struct test *test, const struct builder *b) {
  if (test->program)
    CHECK_CL(clReleaseProgram(test->program), CL_SUCCESS);
  test->program = build(test, b);
  module_build(&test->opencl, test->program, "");
}

static void fill_random(uint8_t *bytes) {
  for (size_t i = 0; i < BYTES; i++)
    bytes[i] = (uint8_t)random_bits();
}

/* Runs a kernel on the data. Two sub-groups compute the same. */
static void run(struct test *test, const char *name, cl_uint from, cl_uint to) {
  const size_t items = ITEMS;
  cl_int error;
  cl_kernel kernel = clCreateKernel(test->program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (cl_uint i = 0; i < 4; i++) {
    CHECK_CL(clEnqueueWriteBuffer(test->opencl.queue, test->buffers[i], CL_TRUE, 0, BYTES,
                                  test->data[i], 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, i, sizeof(cl_mem), &test->buffers[i]), CL_SUCCESS);
  }
  CHECK_CL(clSetKernelArg(kernel, 4, sizeof from, &from), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 5, sizeof to, &to), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 6, SLOT, NULL), CL_SUCCESS);
  CHECK_CL(
      clEnqueueNDRangeKernel(test->opencl.queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
      CL_SUCCESS);
  for (cl_uint i = 2; i < 4; i++)
    CHECK_CL(clEnqueueReadBuffer(test->opencl.queue, test->buffers[i], CL_TRUE, 0, BYTES,
                                 test->data[i], 0, NULL, NULL),
             CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void fail(const char *name, const char *what) {
  fprintf(stderr, "%s: wrong: %s\n", name, what);
  exit(1);
}

/* ---- loads and stores -------------------------------------------------------------------- */

/* Slot 2 i + j has the matrix loaded in layout i and stored in layout j; from slot 4 on, by way of
 * local memory. */
static void make_copy(struct builder *b, const struct kind *kind) {
  char name[64];
  const uint32_t element = element_type(b, kind);
  const unsigned bytes = kind->bits / 8;
  snprintf(name, sizeof name, "copy_%s", kind->name);
  const struct kernel k =
      begin_kernel(b, name, (const uint32_t[]){element, element, element, element});
  for (unsigned slot = 0; slot < 8; slot++) {
    /* Rows of the odd pitch are not at multiples of 16 bytes, as ldmatrix demands. */
    const uint32_t pitch = uint_constant(b, (slot % 2 ? ODD_PITCH : LOCAL_PITCH) / bytes);
    uint32_t matrix = load(b, kind, k.buffers[0], slot / 2 % 2, k.strides[0]);
    if (slot / 4) {
      barrier(b);
      store(b, k.local, matrix, slot / 2 % 2, pitch);
      barrier(b);
      matrix = load(b, kind, k.local, slot / 2 % 2, pitch);
    }
    store(b, slot_of(b, &k, 3, slot, bytes), matrix, slot % 2, k.strides[1]);
  }
  end_kernel(b);
}

static void check_copy(struct test *test, const struct kind *kind, unsigned from, unsigned to) {
  char name[64];
  snprintf(name, sizeof name, "copy_%s", kind->name);
  fill_random(test->data[0]);
  fill_random(test->data[3]);
  memcpy(test->expected, test->data[3], BYTES);
  for (unsigned slot = 0; slot < 8; slot++)
    for (unsigned row = 0; row < kind->rows; row++)
      for (unsigned column = 0; column < kind->columns; column++)
        set_bits(test->expected + slot * SLOT, kind->bits, index_of(slot % 2, to, row, column),
                 get_bits(test->data[0], kind->bits, index_of(slot / 2 % 2, from, row, column)));
  run(test, name, from, to);
  if (memcmp(test->data[3], test->expected, BYTES) != 0)
    fail(name, "a copy");
}

/* Pointers to other types, and strides of other widths. */
static const struct other {
  const char *kind;
  bool is_float;
  unsigned bits, lanes, stride_bits;
} others[] = {
    {"a_f16", false, 32, 1, 64}, {"a_s8", false, 64, 4, 32},      {"c_f32", false, 8, 1, 16},
    {"b_f16", true, 16, 3, 64},  {"c_s32", false, 16, 2, 32},     {"b_s8", false, 8, 16, 8},
    {"c_f16", true, 32, 2, 32},  {"b_s8_32x8", false, 32, 1, 32},
};
enum { OTHERS = sizeof others / sizeof *others };

static void make_other(struct builder *b, size_t i) {
  const struct kind *kind = find_kind(others[i].kind);
  const unsigned bytes = others[i].bits / 8 * (others[i].lanes == 3 ? 4 : others[i].lanes);
  uint32_t type = others[i].is_float ? type_float(b, others[i].bits) : type_int(b, others[i].bits);
  char name[64];
  snprintf(name, sizeof name, "other_%zu", i);
  if (others[i].lanes > 1)
    type = TYPE(b, OP_TYPE_VECTOR, type, others[i].lanes);
  const struct kernel k = begin_kernel(b, name, (const uint32_t[]){type, type, type, type});
  const uint32_t integer = type_int(b, others[i].stride_bits);
  const uint32_t stride = others[i].stride_bits == 64
                              ? CONSTANT(b, OP_CONSTANT, integer, PITCH / bytes, 0)
                              : CONSTANT(b, OP_CONSTANT, integer, PITCH / bytes);
  store(b, k.buffers[3], load(b, kind, k.buffers[0], 1, stride), 0, stride);
  end_kernel(b);
}

static void check_other(struct test *test, size_t i) {
  const struct kind *kind = find_kind(others[i].kind);
  const unsigned stride = PITCH * 8 / kind->bits;
  char name[64];
  snprintf(name, sizeof name, "other_%zu", i);
  fill_random(test->data[0]);
  fill_random(test->data[3]);
  memcpy(test->expected, test->data[3], BYTES);
  for (unsigned row = 0; row < kind->rows; row++)
    for (unsigned column = 0; column < kind->columns; column++)
      set_bits(test->expected, kind->bits, index_of(0, stride, row, column),
               get_bits(test->data[0], kind->bits, index_of(1, stride, row, column)));
  run(test, name, 0, 0);
  if (memcmp(test->data[3], test->expected, BYTES) != 0)
    fail(name, others[i].kind);
}

static void check_copies(struct test *test, struct builder *b) {
  begin_module(b);
  for (size_t i = 0; i < KINDS; i++)
    make_copy(b, &kinds[i]);
  for (size_t i = 0; i < STRANGE; i++)
    make_copy(b, &strange[i]);
  for (size_t i = 0; i < OTHERS; i++)
    make_other(b, i);
  use_program(test, b);
  for (size_t i = 0; i < STRANGE; i++)
    check_copy(test, &strange[i], 32, 48);
  for (size_t i = 0; i < KINDS; i++) {
    const unsigned unit = ALIGN * 8 / kinds[i].bits;
    unsigned least = stride_of(&kinds[i], 0);
    if (least < stride_of(&kinds[i], 1))
      least = stride_of(&kinds[i], 1);
    check_copy(test, &kinds[i], least, least + unit);
    check_copy(test, &kinds[i], least + unit, least + unit / 2);
    check_copy(test, &kinds[i], least + unit / 2, least);
    check_copy(test, &kinds[i], 0, least);
  }
  for (size_t i = 0; i < OTHERS; i++)
    check_other(test, i);
}

/* ---- products ---------------------------------------------------------------------------- */

static const struct kind *kind_of(enum use use, cl_uint component, unsigned rows,
                                  unsigned columns) {
  static const struct {
    bool is_float;
    unsigned bits;
  } types[] = {[0] = {true, 16},  [1] = {true, 32}, [3] = {false, 8},
               [5] = {false, 32}, [7] = {false, 8}, [9] = {false, 32}};
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].use == use && kinds[i].is_float == types[component].is_float &&
        kinds[i].bits == types[component].bits && kinds[i].rows == rows &&
        kinds[i].columns == columns)
      return &kinds[i];
  abort();
}

typedef cl_device_cooperative_matrix_variant_khr variant;

static const struct kind *operand(const variant *v, int i) {
  return i == 0   ? kind_of(USE_A, v->a_type, v->m_size, v->k_size)
         : i == 1 ? kind_of(USE_B, v->b_type, v->k_size, v->n_size)
                  : kind_of(USE_C, i == 2 ? v->c_type : v->result_type, v->m_size, v->n_size);
}

static cl_uint component_of(const variant *v, int i) {
  return i == 0 ? v->a_type : i == 1 ? v->b_type : i == 2 ? v->c_type : v->result_type;
}

/* Slot 2 i + j has the product of A in layout i and B in layout j. The operands are in slot 0 in
 * rows and in slot 1 in columns. */
static void make_product(struct builder *b, const variant *v, size_t number) {
  char name[64];
  uint32_t elements[4], signs = v->saturating_accumulation ? 16 : 0;
  snprintf(name, sizeof name, "product_%zu", number);
  for (int i = 0; i < 4; i++) {
    const cl_uint component = component_of(v, i);
    elements[i] = element_type(b, operand(v, i));
    if (component == 3 || component == 5)
      signs |= 1u << i;
  }
  const struct kernel k = begin_kernel(b, name, elements);
  const uint32_t type = matrix_type(b, operand(v, 3));
  for (unsigned slot = 0; slot < 4; slot++) {
    const unsigned layouts[3] = {slot / 2, slot % 2, slot / 2};
    uint32_t loaded[3];
    for (int i = 0; i < 3; i++) {
      const struct kind *kind = operand(v, i);
      const uint32_t stride = uint_constant(b, stride_of(kind, layouts[i]));
      loaded[i] = load(b, kind, slot_of(b, &k, i, layouts[i], kind->bits / 8), layouts[i], stride);
    }
    const uint32_t product =
        signs ? VALUE(b, OP_MATRIX_MUL_ADD, type, loaded[0], loaded[1], loaded[2], signs)
              : VALUE(b, OP_MATRIX_MUL_ADD, type, loaded[0], loaded[1], loaded[2]);
    store(b, slot_of(b, &k, 3, slot, operand(v, 3)->bits / 8), product, 0,
          uint_constant(b, stride_of(operand(v, 3), 0)));
  }
  end_kernel(b);
}

static uint32_t random_element(const struct kind *kind, int round) {
  const uint32_t any = random_bits();
  if (!kind->is_float) {
    if (round == 1) /* sums with most bits */
      return kind->bits == 8 ? (any % 8 ? 0x80 : 0xff) : (any & 0x80000000) ^ 0x7fffffff;
    return kind->bits == 8 ? any & 0xff : round ? (any & 0x80000000) ^ 0x7ffffffe : any;
  }
  const uint32_t half = (any & 0x83ff) | (10 + (any >> 16) % 8) << 10;
  const float value = (float)half_value(half);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return kind->bits == 16 ? half : bits;
}

/* The bounds are those of compiler/device/matrix.cl. */
static bool is_near(const variant *v, double got, double exact, double sum) {
  const double unit = ldexp(1, -24);
  const bool is_half = v->result_type == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP16_KHR;
  const double bound = is_half ? (ldexp(1, -10) + ldexp(1, -19)) * sum + unit : 23 * unit * sum;
  return fabs(got - exact) <= bound;
}

static bool is_product(const variant *v, const struct test *test, const uint8_t *out, unsigned row,
                       unsigned column) {
  const struct kind *a = operand(v, 0), *b = operand(v, 1), *c = operand(v, 2), *d = operand(v, 3);
  const uint32_t first =
      get_bits(test->data[2], c->bits, index_of(0, stride_of(c, 0), row, column));
  double exact = value_of_bits(c, first, v->c_type == 5), sum = fabs(exact);
  int64_t integer = c->is_float ? 0 : (int64_t)exact;
  for (unsigned k = 0; k < v->k_size; k++) {
    const double x = value_of_bits(
        a, get_bits(test->data[0], a->bits, index_of(0, stride_of(a, 0), row, k)), v->a_type == 3);
    const double y =
        value_of_bits(b, get_bits(test->data[1], b->bits, index_of(0, stride_of(b, 0), k, column)),
                      v->b_type == 3);
    exact += x * y;
    sum += fabs(x * y);
    integer += (int64_t)(x * y);
  }
  const uint32_t got = get_bits(out, d->bits, index_of(0, stride_of(d, 0), row, column));
  if (d->is_float)
    return is_near(v, value_of_bits(d, got, true), exact, sum);
  if (v->saturating_accumulation)
    integer = integer > INT32_MAX ? INT32_MAX : integer < INT32_MIN ? INT32_MIN : integer;
  return (uint32_t)integer == got;
}

static void check_product(struct test *test, const variant *v, size_t number, int round) {
  char name[64];
  snprintf(name, sizeof name, "product_%zu", number);
  for (int i = 0; i < 3; i++) {
    const struct kind *kind = operand(v, i);
    for (unsigned row = 0; row < kind->rows; row++)
      for (unsigned column = 0; column < kind->columns; column++) {
        const uint32_t bits = random_element(kind, round);
        for (unsigned layout = 0; layout < 2; layout++)
          set_bits(test->data[i] + layout * SLOT, kind->bits,
                   index_of(layout, stride_of(kind, layout), row, column), bits);
      }
  }
  run(test, name, 0, 0);
  for (unsigned slot = 0; slot < 4; slot++)
    for (unsigned row = 0; row < v->m_size; row++)
      for (unsigned column = 0; column < v->n_size; column++)
        if (!is_product(v, test, test->data[3] + slot * SLOT, row, column))
          fail(name, "an element");
}

enum { VARIANTS_MAX = 64, ROUNDS = 3 };

static size_t query_variants(const struct opencl *opencl, variant *variants) {
  size_t size;
  cl_int (*query)(cl_device_id, cl_uint, size_t, const void *, size_t, void *, size_t *) =
      clGetExtensionFunctionAddressForPlatform(opencl->platform,
                                               "clGetDeviceCooperativeMatrixInfoKHR");
  CHECK(query);
  CHECK_CL(query(opencl->device, CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR, 0,
                 NULL, VARIANTS_MAX * sizeof *variants, variants, &size),
           CL_SUCCESS);
  return size / sizeof *variants;
}

static void check_products(struct test *test, struct builder *b) {
  variant variants[VARIANTS_MAX];
  const size_t count = query_variants(&test->opencl, variants);
  CHECK(count == 30);
  begin_module(b);
  for (size_t i = 0; i < count; i++)
    make_product(b, &variants[i], i);
  use_program(test, b);
  for (size_t i = 0; i < count; i++)
    for (int round = 0; round < ROUNDS; round++)
      check_product(test, &variants[i], i, round);
}

/* ---- arithmetic and conversions ---------------------------------------------------------- */

static uint32_t element_constant(struct builder *b, const struct kind *kind, int value) {
  return CONSTANT(b, OP_CONSTANT, element_type(b, kind), bits_of_value(kind, value));
}

enum { FACTOR = 3 };
enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, DIVIDE_UNSIGNED, NEGATE, SCALE, OPERATIONS };

static unsigned opcode_of(enum operation operation, bool is_float) {
  static const uint16_t opcodes[OPERATIONS][2] = {
      [ADD] = {OP_I_ADD, OP_F_ADD},
      [SUBTRACT] = {OP_I_SUB, OP_I_SUB + 1},
      [MULTIPLY] = {OP_I_MUL, OP_I_MUL + 1},
      [DIVIDE] = {OP_S_DIV, OP_F_DIV},
      [DIVIDE_UNSIGNED] = {OP_U_DIV, OP_F_DIV},
      [NEGATE] = {OP_S_NEGATE, OP_F_NEGATE},
      [SCALE] = {OP_MATRIX_TIMES_SCALAR, OP_MATRIX_TIMES_SCALAR},
  };
  return opcodes[operation][is_float];
}

static void make_arithmetic(struct builder *b, const struct kind *kind) {
  char name[64];
  const uint32_t element = element_type(b, kind), type = matrix_type(b, kind);
  const uint32_t factor = element_constant(b, kind, FACTOR);
  snprintf(name, sizeof name, "arithmetic_%s", kind->name);
  const struct kernel k =
      begin_kernel(b, name, (const uint32_t[]){element, element, element, element});
  const uint32_t x = load(b, kind, k.buffers[0], 0, k.strides[0]);
  const uint32_t y = load(b, kind, k.buffers[1], 0, k.strides[0]);
  for (enum operation i = 0; i < OPERATIONS; i++) {
    const unsigned opcode = opcode_of(i, kind->is_float);
    const uint32_t result = i == NEGATE  ? VALUE(b, opcode, type, x)
                            : i == SCALE ? VALUE(b, opcode, type, x, factor)
                                         : VALUE(b, opcode, type, x, y);
    store(b, slot_of(b, &k, 3, i, kind->bits / 8), result, 0, k.strides[0]);
  }
  end_kernel(b);
}

static uint32_t result_of(const struct kind *kind, enum operation operation, uint32_t x_bits,
                          uint32_t y_bits) {
  const bool is_signed = operation != DIVIDE_UNSIGNED;
  const double x = value_of_bits(kind, x_bits, is_signed);
  const double y = value_of_bits(kind, y_bits, is_signed);
  if (operation == MULTIPLY && !kind->is_float)
    return x_bits * y_bits & (kind->bits == 8 ? 0xff : 0xffffffff);
  switch (operation) {
  case ADD:
    return bits_of_value(kind, x + y);
  case SUBTRACT:
    return bits_of_value(kind, x - y);
  case MULTIPLY:
    return bits_of_value(kind, x * y);
  case NEGATE:
    return bits_of_value(kind, -x);
  case SCALE:
    return bits_of_value(kind, x * FACTOR);
  default:
    return bits_of_value(kind, kind->is_float ? x / y : trunc(x / y));
  }
}

/* Operands whose results are exact: the quotients of floats are of powers of two. */
static void make_operands(const struct kind *kind, uint32_t *x, uint32_t *y) {
  if (kind->is_float) {
    *x = bits_of_value(kind, (int)(random_bits() % 64) - 32);
    *y = bits_of_value(kind, ldexp(random_bits() % 2 ? 1 : -1, (int)(random_bits() % 6) - 3));
    return;
  }
  const uint32_t mask = kind->bits == 8 ? 0xff : 0xffffffff;
  *x = random_bits() & mask;
  do
    *y = random_bits() >> random_bits() % 24 & mask;
  while (!*y || *y == mask); /* -1 would make the quotient overflow */
}

static void check_arithmetic(struct test *test, struct builder *b) {
  begin_module(b);
  for (size_t i = 0; i < KINDS; i++)
    make_arithmetic(b, &kinds[i]);
  use_program(test, b);
  for (size_t i = 0; i < KINDS; i++) {
    const struct kind *kind = &kinds[i];
    const unsigned stride = stride_of(kind, 0);
    char name[64];
    snprintf(name, sizeof name, "arithmetic_%s", kind->name);
    fill_random(test->data[3]);
    memcpy(test->expected, test->data[3], BYTES);
    for (unsigned row = 0; row < kind->rows; row++)
      for (unsigned column = 0; column < kind->columns; column++) {
        const size_t index = index_of(0, stride, row, column);
        uint32_t x, y;
        make_operands(kind, &x, &y);
        set_bits(test->data[0], kind->bits, index, x);
        set_bits(test->data[1], kind->bits, index, y);
        for (enum operation o = 0; o < OPERATIONS; o++)
          set_bits(test->expected + o * SLOT, kind->bits, index, result_of(kind, o, x, y));
      }
    run(test, name, stride, 0);
    if (memcmp(test->data[3], test->expected, BYTES) != 0)
      fail(name, "a result");
  }
}

static const struct conversion {
  const char *from, *to;
  unsigned opcode;
  int least; /* value of an element */
} conversions[] = {
    {"c_f16", "c_f32", OP_F_CONVERT, -100},
    {"c_f32", "c_f16", OP_F_CONVERT, -100},
    {"c_f16", "c_s32", 110 /* to S */, -100},
    {"c_f32", "c_s32", 110, -100},
    {"c_f16", "c_s32", OP_CONVERT_F_TO_U, 0},
    {"c_f32", "c_s32", OP_CONVERT_F_TO_U, 0},
    {"c_s32", "c_f16", 111 /* S to */, -100},
    {"c_s32", "c_f32", 111, -100},
    {"c_s32", "c_f16", OP_CONVERT_U_TO_F, 0},
    {"c_s32", "c_f32", OP_CONVERT_U_TO_F, 0},
    {"c_f16_16x8", "c_f32_16x8", OP_F_CONVERT, -100},
    {"c_f32_16x8", "c_f16_16x8", OP_F_CONVERT, -100},
    {"c_f32_16x8", "c_s32_16x8", 110, -100},
    {"c_s32_16x8", "c_f16_16x8", 111, -100},
    {"c_f32", "c_s32", OP_BITCAST, -100},
};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };

static void check_conversions(struct test *test, struct builder *b) {
  char name[64];
  begin_module(b);
  for (size_t i = 0; i < CONVERSIONS; i++) {
    const struct kind *from = find_kind(conversions[i].from), *to = find_kind(conversions[i].to);
    const uint32_t x = element_type(b, from), y = element_type(b, to), type = matrix_type(b, to);
    snprintf(name, sizeof name, "convert_%zu", i);
    const struct kernel k = begin_kernel(b, name, (const uint32_t[]){x, y, y, y});
    const uint32_t matrix = load(b, from, k.buffers[0], 0, k.strides[0]);
    store(b, k.buffers[3], VALUE(b, conversions[i].opcode, type, matrix), 1, k.strides[1]);
    end_kernel(b);
  }
  use_program(test, b);
  for (size_t i = 0; i < CONVERSIONS; i++) {
    const struct kind *from = find_kind(conversions[i].from), *to = find_kind(conversions[i].to);
    const unsigned stride = stride_of(from, 0), other = stride_of(to, 1);
    fill_random(test->data[3]);
    memcpy(test->expected, test->data[3], BYTES);
    for (unsigned row = 0; row < from->rows; row++)
      for (unsigned column = 0; column < from->columns; column++) {
        const double value = (int)(random_bits() % 200) + conversions[i].least;
        const uint32_t bits = bits_of_value(from, value);
        set_bits(test->data[0], from->bits, index_of(0, stride, row, column), bits);
        set_bits(test->expected, to->bits, index_of(1, other, row, column),
                 conversions[i].opcode == OP_BITCAST ? bits : bits_of_value(to, value));
      }
    snprintf(name, sizeof name, "convert_%zu", i);
    run(test, name, stride, other);
    if (memcmp(test->data[3], test->expected, BYTES) != 0)
      fail(name, conversions[i].to);
  }
}

/* ---- single elements, variables, functions ----------------------------------------------- */

enum { FIVE = 5, TURNS = 3 };
enum element_slot {
  SPLAT_CONSTANT,
  SPLAT_VALUE,
  EACH_PLUS_ONE,
  INSERTED,
  FUNCTION_RESULT,
  LOOP,
  NESTED,
  SELECTED,
  IN_WORKGROUP,
  COPIED,
  ELEMENT_SLOTS
};

struct functions {
  uint32_t twice, through_pointer; /* ids */
};

static uint32_t sum(struct builder *b, const struct kind *kind, uint32_t type, uint32_t x,
                    uint32_t y) {
  return VALUE(b, kind->is_float ? OP_F_ADD : OP_I_ADD, type, x, y);
}

/* A function that returns twice its argument, and one that returns what a pointer points to. */
static struct functions make_functions(struct builder *b, const struct kind *kind) {
  struct functions f = {new_id(b), new_id(b)};
  const uint32_t type = matrix_type(b, kind), pointer = pointer_to(b, STORAGE_FUNCTION, type);
  const uint32_t by_value = TYPE(b, OP_TYPE_FUNCTION, type, type);
  const uint32_t by_pointer = TYPE(b, OP_TYPE_FUNCTION, type, pointer);
  uint32_t parameter = new_id(b);
  PUT(b, BODIES, OP_FUNCTION, type, f.twice, 0, by_value);
  PUT(b, BODIES, OP_FUNCTION_PARAMETER, type, parameter);
  begin_block(b);
  PUT(b, BODIES, OP_RETURN_VALUE, sum(b, kind, type, parameter, parameter));
  put(b, BODIES, OP_FUNCTION_END, NULL, 0);
  PUT(b, BODIES, OP_FUNCTION, type, f.through_pointer, 0, by_pointer);
  PUT(b, BODIES, OP_FUNCTION_PARAMETER, pointer, parameter = new_id(b));
  begin_block(b);
  PUT(b, BODIES, OP_RETURN_VALUE, VALUE(b, OP_LOAD, type, parameter));
  put(b, BODIES, OP_FUNCTION_END, NULL, 0);
  return f;
}

/* Adds 1 to each element of a variable, by its address. Returns the matrix. */
static uint32_t add_to_each(struct builder *b, const struct kind *kind, uint32_t variable,
                            uint32_t entry) {
  const uint32_t type = matrix_type(b, kind), element = element_type(b, kind);
  const uint32_t uint = type_int(b, 32), zero = uint_constant(b, 0), one = uint_constant(b, 1);
  const uint32_t more = element_constant(b, kind, 1);
  const uint32_t pointer = pointer_to(b, STORAGE_FUNCTION, element);
  const uint32_t head = new_id(b), body = new_id(b), end = new_id(b), i = new_id(b);
  const uint32_t next = new_id(b);
  PUT(b, BODIES, OP_BRANCH, head);
  PUT(b, BODIES, OP_LABEL, head);
  value_of(b, i, OP_PHI, uint, zero, entry, next, body);
  const uint32_t length = VALUE(b, OP_MATRIX_LENGTH, uint, type);
  const uint32_t goes_on = VALUE(b, OP_U_LESS_THAN, bool_type(b), i, length);
  PUT(b, BODIES, OP_BRANCH_CONDITIONAL, goes_on, body, end);
  PUT(b, BODIES, OP_LABEL, body);
  const uint32_t at = VALUE(b, OP_ACCESS_CHAIN, pointer, variable, i);
  const uint32_t old = VALUE(b, OP_LOAD, element, at);
  PUT(b, BODIES, OP_STORE, at, sum(b, kind, element, old, more));
  value_of(b, next, OP_I_ADD, uint, i, one);
  PUT(b, BODIES, OP_BRANCH, head);
  PUT(b, BODIES, OP_LABEL, end);
  return VALUE(b, OP_LOAD, type, variable);
}

/* Adds a matrix to another one TURNS times, with phis. */
static uint32_t add_in_loop(struct builder *b, const struct kind *kind, uint32_t x, uint32_t y) {
  const uint32_t type = matrix_type(b, kind), uint = type_int(b, 32);
  const uint32_t zero = uint_constant(b, 0), one = uint_constant(b, 1);
  const uint32_t turns = uint_constant(b, TURNS);
  const uint32_t before = new_id(b), body = new_id(b), end = new_id(b), i = new_id(b);
  const uint32_t next = new_id(b), total = new_id(b), later = new_id(b);
  PUT(b, BODIES, OP_BRANCH, before);
  PUT(b, BODIES, OP_LABEL, before);
  PUT(b, BODIES, OP_BRANCH, body);
  PUT(b, BODIES, OP_LABEL, body);
  value_of(b, i, OP_PHI, uint, zero, before, next, body);
  value_of(b, total, OP_PHI, type, x, before, later, body);
  value_of(b, later, kind->is_float ? OP_F_ADD : OP_I_ADD, type, total, y);
  value_of(b, next, OP_I_ADD, uint, i, one);
  const uint32_t goes_on = VALUE(b, OP_U_LESS_THAN, bool_type(b), next, turns);
  PUT(b, BODIES, OP_BRANCH_CONDITIONAL, goes_on, body, end);
  PUT(b, BODIES, OP_LABEL, end);
  return later;
}

/* Stores a matrix in an array in local memory, whose type does not align it, and loads it. */
static uint32_t through_workgroup(struct builder *b, const struct kind *kind, uint32_t x) {
  const uint32_t element = element_type(b, kind), byte = type_int(b, 8);
  const unsigned stride = stride_of(kind, 0);
  const uint32_t many = uint_constant(b, kind->rows * stride), few = uint_constant(b, 3);
  const uint32_t array = TYPE(b, OP_TYPE_ARRAY, element, many);
  const uint32_t bytes = TYPE(b, OP_TYPE_ARRAY, byte, few);
  const uint32_t pointer = pointer_to(b, STORAGE_WORKGROUP, element);
  const uint32_t array_pointer = pointer_to(b, STORAGE_WORKGROUP, array);
  const uint32_t bytes_pointer = pointer_to(b, STORAGE_WORKGROUP, bytes);
  const uint32_t byte_pointer = pointer_to(b, STORAGE_WORKGROUP, byte);
  const uint32_t before = new_id(b), variable = new_id(b), zero = uint_constant(b, 0);
  PUT(b, TYPES, OP_VARIABLE, bytes_pointer, before, STORAGE_WORKGROUP);
  PUT(b, TYPES, OP_VARIABLE, array_pointer, variable, STORAGE_WORKGROUP);
  const uint32_t first = VALUE(b, OP_ACCESS_CHAIN, byte_pointer, before, zero);
  const uint32_t at = VALUE(b, OP_ACCESS_CHAIN, pointer, variable, zero);
  PUT(b, BODIES, OP_STORE, first, CONSTANT(b, OP_CONSTANT, byte, 1));
  store(b, at, x, 0, uint_constant(b, stride));
  barrier(b);
  return load(b, kind, at, 0, uint_constant(b, stride));
}

/* A matrix whose last element is the first one of x; the others are those of splat. By way of an
 * array of matrices, and of its elements. */
static uint32_t through_array(struct builder *b, const struct kind *kind, uint32_t x,
                              uint32_t splat) {
  const uint32_t type = matrix_type(b, kind), element = element_type(b, kind);
  const uint32_t two = uint_constant(b, 2), array = TYPE(b, OP_TYPE_ARRAY, type, two);
  const uint32_t both = VALUE(b, OP_COMPOSITE_CONSTRUCT, array, splat, x);
  const uint32_t first = VALUE(b, OP_COMPOSITE_EXTRACT, element, both, 1, 0);
  const uint32_t changed =
      VALUE(b, OP_COMPOSITE_INSERT, array, first, both, 0, length_of(kind) - 1);
  return VALUE(b, OP_COMPOSITE_EXTRACT, type, changed, 0);
}

static void make_elements(struct builder *b, const struct kind *kind) {
  char name[64];
  const unsigned bytes = kind->bits / 8;
  const uint32_t element = element_type(b, kind), type = matrix_type(b, kind);
  const uint32_t uint = type_int(b, 32), pointer = pointer_to(b, STORAGE_FUNCTION, type);
  const uint32_t five = element_constant(b, kind, FIVE);
  const uint32_t constant = CONSTANT(b, OP_CONSTANT_COMPOSITE, type, five);
  const struct functions f = make_functions(b, kind);
  snprintf(name, sizeof name, "elements_%s", kind->name);
  const struct kernel k =
      begin_kernel(b, name, (const uint32_t[]){element, element, uint, element});
  const uint32_t variable = VALUE(b, OP_VARIABLE, pointer, STORAGE_FUNCTION);
  const uint32_t entry = new_id(b);
  uint32_t results[ELEMENT_SLOTS] = {0};
  PUT(b, BODIES, OP_BRANCH, entry);
  PUT(b, BODIES, OP_LABEL, entry);
  const uint32_t x = load(b, kind, k.buffers[0], 0, k.strides[0]);
  const uint32_t value = VALUE(b, OP_LOAD, element, k.buffers[1], 2 /* Aligned */, bytes);
  results[SPLAT_CONSTANT] = constant;
  results[SPLAT_VALUE] = VALUE(b, OP_COMPOSITE_CONSTRUCT, type, value);
  PUT(b, BODIES, OP_STORE, variable, x);
  results[EACH_PLUS_ONE] = add_to_each(b, kind, variable, entry);
  const uint32_t first = VALUE(b, OP_COMPOSITE_EXTRACT, element, x, 0);
  results[INSERTED] = VALUE(b, OP_COMPOSITE_INSERT, type, first, x, length_of(kind) - 1);
  PUT(b, BODIES, OP_STORE, variable, x);
  const uint32_t same = VALUE(b, OP_FUNCTION_CALL, type, f.through_pointer, variable);
  results[FUNCTION_RESULT] = VALUE(b, OP_FUNCTION_CALL, type, f.twice, same);
  results[LOOP] = add_in_loop(b, kind, x, constant);
  results[NESTED] = through_array(b, kind, x, constant);
  const uint32_t is_small = VALUE(b, OP_U_LESS_THAN, bool_type(b), k.strides[1], k.strides[0]);
  results[SELECTED] = VALUE(b, OP_SELECT, type, is_small, x, constant);
  results[IN_WORKGROUP] = through_workgroup(b, kind, x);
  results[COPIED] = VALUE(b, OP_COPY_OBJECT, type, x);
  for (unsigned slot = 0; slot < ELEMENT_SLOTS; slot++)
    store(b, slot_of(b, &k, 3, slot, bytes), results[slot], 0, k.strides[0]);
  PUT(b, BODIES, OP_STORE, k.buffers[2],
      put_value(b, TYPES, OP_SPEC_CONSTANT_OP, uint, new_id(b),
                (const uint32_t[]){OP_MATRIX_LENGTH, type}, 2),
      2 /* Aligned */, 4);
  end_kernel(b);
}

static void set_all(const struct test *test, uint8_t *to, const struct kind *kind,
                    enum element_slot slot) {
  const unsigned stride = stride_of(kind, 0);
  const double given = value_of_bits(kind, get_bits(test->data[1], kind->bits, 0), true);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < length_of(kind); i++) {
      unsigned row, column, first_row, first_column;
      place_of(kind, lane, i, &row, &column);
      place_of(kind, lane, 0, &first_row, &first_column);
      const bool is_last = i == length_of(kind) - 1;
      const size_t index = index_of(0, stride, row, column);
      const uint32_t x_bits = get_bits(test->data[0], kind->bits, index);
      const double x = value_of_bits(kind, x_bits, true);
      const double first = value_of_bits(
          kind, get_bits(test->data[0], kind->bits, index_of(0, stride, first_row, first_column)),
          true);
      const double values[ELEMENT_SLOTS] = {
          [SPLAT_CONSTANT] = FIVE,
          [SPLAT_VALUE] = given,
          [EACH_PLUS_ONE] = x + 1,
          [INSERTED] = is_last ? first : x,
          [FUNCTION_RESULT] = 2 * x,
          [LOOP] = x + TURNS * FIVE,
          [NESTED] = is_last ? first : FIVE,
          [SELECTED] = x,
          [IN_WORKGROUP] = x,
          [COPIED] = x,
      };
      set_bits(to, kind->bits, index, bits_of_value(kind, values[slot]));
    }
}

static void check_elements(struct test *test, struct builder *b) {
  begin_module(b);
  for (size_t i = 0; i < KINDS; i++)
    make_elements(b, &kinds[i]);
  use_program(test, b);
  for (size_t i = 0; i < KINDS; i++) {
    const struct kind *kind = &kinds[i];
    const unsigned stride = stride_of(kind, 0);
    char name[64];
    cl_uint length;
    for (unsigned at = 0; at < kind->rows * stride; at++)
      set_bits(test->data[0], kind->bits, at, bits_of_value(kind, (int)(random_bits() % 80) - 40));
    set_bits(test->data[1], kind->bits, 0, bits_of_value(kind, -7));
    fill_random(test->data[3]);
    memcpy(test->expected, test->data[3], BYTES);
    for (unsigned slot = 0; slot < ELEMENT_SLOTS; slot++)
      set_all(test, test->expected + slot * SLOT, kind, slot);
    snprintf(name, sizeof name, "elements_%s", kind->name);
    run(test, name, stride, 0);
    memcpy(&length, test->data[2], sizeof length);
    CHECK(length == length_of(kind));
    for (unsigned slot = 0; slot < ELEMENT_SLOTS; slot++)
      if (memcmp(test->data[3] + slot * SLOT, test->expected + slot * SLOT, SLOT) != 0) {
        fprintf(stderr, "slot %u\n", slot);
        fail(name, "a matrix");
      }
  }
}

/* ---- modules that are refused ------------------------------------------------------------ */

enum mistake {
  NO_MISTAKE,
  OTHER_SIZE,
  LENGTH_OF_OTHER_SIZE,
  UNDEFINED_OTHER_SIZE,
  OTHER_SCOPE,
  OTHER_USE,
  ROWS_NOT_CONSTANT,
  GENERIC_POINTER,
  STRUCT_POINTER,
  OTHER_LAYOUT,
  LAYOUT_NOT_CONSTANT,
  NO_STRIDE,
  STRIDE_IS_FLOAT,
  VOLATILE_LOAD,
  OTHER_MEMORY_OPERAND,
  NO_MATRIX_STORED,
  OPERANDS_SWAPPED,
  SIGNED_HALVES,
  SATURATING_HALVES,
  UNKNOWN_OPERAND,
  CONVERTED_USE,
  CONVERTED_STRANGE,
  STRANGE_OPERAND,
  MIXED_SUM,
  REMAINDER,
  DOT_PRODUCT,
  MATRIX_ARGUMENT,
  STRUCT_ARGUMENT,
  MATRIX_IN_WORKGROUP,
  MATRIX_IN_VECTOR,
  TWO_ELEMENTS,
  LENGTH_OF_NUMBER,
  WRONG_CALL,
  DEFINED_TWICE,
  NO_EXTENSION,
  MISTAKES
};

static const char *const messages[MISTAKES] = {
    [OTHER_SIZE] = "16 rows and 24 columns of 16-bit floats for use as A, is not supported",
    [LENGTH_OF_OTHER_SIZE] = "16 rows and 24 columns of 16-bit floats",
    [UNDEFINED_OTHER_SIZE] = "16 rows and 24 columns of 16-bit floats",
    [OTHER_SCOPE] = "has the scope 2; it must be Subgroup (3)",
    [OTHER_USE] = "has the unknown use 3",
    [ROWS_NOT_CONSTANT] = "must be 32-bit constants",
    [GENERIC_POINTER] = "has storage class 8; loads and stores require Workgroup (4)",
    [STRUCT_POINTER] = "does not point to a number or a vector of numbers",
    [OTHER_LAYOUT] = "is not a constant 0 (RowMajorKHR) or 1 (ColumnMajorKHR)",
    [LAYOUT_NOT_CONSTANT] = "is not a constant 0 (RowMajorKHR) or 1 (ColumnMajorKHR)",
    [NO_STRIDE] = "has no stride, which its layout requires",
    [STRIDE_IS_FLOAT] = "is not an integer",
    [VOLATILE_LOAD] = "volatile accesses are not supported",
    [OTHER_MEMORY_OPERAND] = "the memory operands 0x20 are not supported",
    [NO_MATRIX_STORED] = "does not store a matrix",
    [OPERANDS_SWAPPED] = "are not matrices for use as A, B and accumulator",
    [SIGNED_HALVES] = "the operands 0x1, is not supported",
    [SATURATING_HALVES] = "the operands 0x10, is not supported",
    [UNKNOWN_OPERAND] = "the operands 0x20, is not supported",
    [CONVERTED_USE] = "is not converted from a matrix of the same size and use",
    [CONVERTED_STRANGE] = "is not converted from a matrix of the same size and use",
    [STRANGE_OPERAND] = "of types that products have",
    [MIXED_SUM] = "with opcode 129, have other types",
    [REMAINDER] = "is the result of an instruction with opcode 140",
    [DOT_PRODUCT] = "is an operand of an instruction with opcode 148",
    [MATRIX_ARGUMENT] = "has a matrix as its argument 0",
    [STRUCT_ARGUMENT] = "has a matrix as its argument 0, or in it",
    [MATRIX_IN_WORKGROUP] = "points to matrices in storage class 4",
    [MATRIX_IN_VECTOR] = "a matrix, is a component of the vector",
    [TWO_ELEMENTS] = "is not made of one value of the elements' type",
    [LENGTH_OF_NUMBER] = "is not the length of a matrix type",
    [WRONG_CALL] = "OpFunctionCall Argument", /* by spirv-val */
    [DEFINED_TWICE] = "is defined twice",
    [NO_EXTENSION] = "requires the extension SPV_KHR_cooperative_matrix",
};

/* A kernel with one argument of a type with matrices, which kernels must not have. */
static void make_matrix_kernel(struct builder *b, uint32_t matrix) {
  const uint32_t function = new_id(b), nothing = void_type(b);
  const uint32_t type = TYPE(b, OP_TYPE_FUNCTION, nothing, matrix);
  put_string(b, ENTRIES, OP_ENTRY_POINT, (const uint32_t[]){6, function}, 2, "other");
  PUT(b, BODIES, OP_FUNCTION, nothing, function, 0, type);
  PUT(b, BODIES, OP_FUNCTION_PARAMETER, matrix, new_id(b));
  begin_block(b);
  end_kernel(b);
}

/* A product of halves with a mistake. */
static void make_mistake(struct builder *b, enum mistake mistake) {
  static const struct kind odd = {"odd", USE_A, true, 16, 16, 24};
  const struct kind *a_kind = find_kind("a_f16"), *b_kind = find_kind("b_f16");
  const struct kind *c_kind = find_kind("c_f32");
  begin_module(b);
  const uint32_t half = type_float(b, 16), uint = type_int(b, 32), single = type_float(b, 32);
  const uint32_t a_type = matrix_type(b, a_kind), c_type = matrix_type(b, c_kind);
  const uint32_t u3 = uint_constant(b, 3), u16 = uint_constant(b, 16), u2 = uint_constant(b, 2);
  const uint32_t layout = uint_constant(b, mistake == OTHER_LAYOUT ? 2 : 0);
  const uint32_t structure = TYPE(b, OP_TYPE_STRUCT, half);
  struct functions f = {0};
  const uint32_t odd_type = matrix_type(b, &odd); /* declared, which is no mistake */
  if (mistake == OTHER_SIZE)
    pointer_to(b, STORAGE_FUNCTION, odd_type);
  if (mistake == LENGTH_OF_OTHER_SIZE)
    put_value(b, TYPES, OP_SPEC_CONSTANT_OP, uint, new_id(b),
              (const uint32_t[]){OP_MATRIX_LENGTH, odd_type}, 2);
  if (mistake == UNDEFINED_OTHER_SIZE)
    put_value(b, TYPES, OP_UNDEF, odd_type, new_id(b), NULL, 0);
  if (mistake == OTHER_SCOPE)
    TYPE(b, OP_TYPE_MATRIX, half, u2, u16, u16, u2);
  if (mistake == OTHER_USE)
    TYPE(b, OP_TYPE_MATRIX, half, u3, u16, u16, u3);
  if (mistake == ROWS_NOT_CONSTANT)
    TYPE(b, OP_TYPE_MATRIX, half, u3, half, u16, u2);
  if (mistake == DEFINED_TWICE)
    PUT(b, TYPES, OP_TYPE_VOID, a_type);
  if (mistake == MATRIX_ARGUMENT)
    make_matrix_kernel(b, a_type);
  if (mistake == STRUCT_ARGUMENT)
    make_matrix_kernel(b, pointer_to(b, STORAGE_FUNCTION, TYPE(b, OP_TYPE_STRUCT, half, a_type)));
  if (mistake == MATRIX_IN_WORKGROUP)
    pointer_to(b, STORAGE_WORKGROUP, TYPE(b, OP_TYPE_STRUCT, half, a_type));
  if (mistake == WRONG_CALL)
    f = make_functions(b, a_kind);
  const struct kernel k = begin_kernel(
      b, "product",
      (const uint32_t[]){mistake == STRUCT_POINTER ? structure : half, half, single, single});
  uint32_t from = k.buffers[0], order = layout, stride = u16;
  if (mistake == GENERIC_POINTER)
    from = VALUE(b, OP_PTR_CAST_TO_GENERIC, pointer_to(b, STORAGE_GENERIC, half), from);
  if (mistake == LAYOUT_NOT_CONSTANT)
    order = k.strides[0];
  if (mistake == STRIDE_IS_FLOAT)
    stride = CONSTANT(b, OP_CONSTANT, single, 0);
  const uint32_t x =
      mistake == NO_STRIDE              ? VALUE(b, OP_MATRIX_LOAD, a_type, from, order)
      : mistake == VOLATILE_LOAD        ? VALUE(b, OP_MATRIX_LOAD, a_type, from, order, stride, 1)
      : mistake == OTHER_MEMORY_OPERAND ? VALUE(b, OP_MATRIX_LOAD, a_type, from, order, stride, 32)
                                        : VALUE(b, OP_MATRIX_LOAD, a_type, from, order, stride);
  const uint32_t y = load(b, b_kind, k.buffers[1], 1, u16);
  const uint32_t z = load(b, c_kind, k.buffers[2], 0, u16);
  const uint32_t signs = mistake == SIGNED_HALVES       ? 1
                         : mistake == SATURATING_HALVES ? 16
                         : mistake == UNKNOWN_OPERAND   ? 32
                                                        : 0;
  const uint32_t product = signs ? VALUE(b, OP_MATRIX_MUL_ADD, c_type, x, y, z, signs)
                           : mistake == OPERANDS_SWAPPED
                               ? VALUE(b, OP_MATRIX_MUL_ADD, c_type, y, x, z)
                               : VALUE(b, OP_MATRIX_MUL_ADD, c_type, x, y, z);
  if (mistake == CONVERTED_USE)
    VALUE(b, OP_F_CONVERT, c_type, x);
  if (mistake == CONVERTED_STRANGE) /* the elements are in other work-items */
    VALUE(b, OP_F_CONVERT, matrix_type(b, &strange[1]), y);
  if (mistake == STRANGE_OPERAND) {
    const uint32_t strange_type = matrix_type(b, &strange[0]);
    const uint32_t undefined = put_value(b, BODIES, OP_UNDEF, strange_type, new_id(b), NULL, 0);
    VALUE(b, OP_MATRIX_MUL_ADD, c_type, undefined, y, z);
  }
  if (mistake == MIXED_SUM)
    VALUE(b, OP_F_ADD, a_type, x, y);
  if (mistake == REMAINDER)
    VALUE(b, OP_SHADER_REMAINDER, a_type, x, x);
  if (mistake == DOT_PRODUCT)
    VALUE(b, OP_DOT, half, x, x);
  if (mistake == TWO_ELEMENTS) {
    const uint32_t one = CONSTANT(b, OP_CONSTANT, half, 0x3c00);
    VALUE(b, OP_COMPOSITE_CONSTRUCT, a_type, one, one);
  }
  if (mistake == MATRIX_IN_VECTOR)
    VALUE(b, OP_COMPOSITE_CONSTRUCT, TYPE(b, OP_TYPE_VECTOR, half, 16), x, x);
  if (mistake == LENGTH_OF_NUMBER)
    VALUE(b, OP_MATRIX_LENGTH, uint, half);
  if (mistake == WRONG_CALL)
    VALUE(b, OP_FUNCTION_CALL, a_type, f.twice, y);
  store(b, k.buffers[3], mistake == NO_MATRIX_STORED ? u3 : product, 0, u16);
  end_kernel(b);
  if (mistake == NO_EXTENSION) /* its string, in the first words after the capabilities */
    for (size_t at = 0; at < b->counts[HEAD]; at += b->words[HEAD][at] >> SPIRV_LENGTH_SHIFT)
      if ((b->words[HEAD][at] & SPIRV_OPCODE_MASK) == OP_EXTENSION)
        memcpy(b->words[HEAD] + at + 1, "SPV_KHR_bit_instructions\0\0", 27);
}

static void expect_message(const struct test *test, const struct builder *b, const char *message) {
  cl_program program = build(test, b);
  CHECK_CL(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  const char *log = module_log(&test->opencl, program);
  if (!strstr(log, message)) {
    fprintf(stderr, "%s\ninstead of \"%s\"\n", log, message);
    exit(1);
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

static void check_mistakes(struct test *test, struct builder *b) {
  make_mistake(b, NO_MISTAKE);
  use_program(test, b);
  for (enum mistake mistake = 1; mistake < MISTAKES; mistake++) {
    make_mistake(b, mistake);
    expect_message(test, b, messages[mistake]);
  }
}

/* ---- queries ----------------------------------------------------------------------------- */

static bool reports(const struct opencl *opencl) {
  static char extensions[8192];
  CHECK_CL(
      clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL),
      CL_SUCCESS);
  return strstr(extensions, "cl_khr_cooperative_matrix");
}

static bool has_capability(const struct opencl *opencl) {
  enum { SPIRV_CAPABILITIES = 0x12BB };
  static cl_uint capabilities[256];
  size_t size;
  bool found = false;
  CHECK_CL(
      clGetDeviceInfo(opencl->device, SPIRV_CAPABILITIES, sizeof capabilities, capabilities, &size),
      CL_SUCCESS);
  for (size_t i = 0; i < size / sizeof *capabilities; i++)
    found |= capabilities[i] == CAPABILITY_COOPERATIVE_MATRIX;
  return found;
}

static bool has_extension(const struct opencl *opencl) {
  enum { SPIRV_EXTENSIONS = 0x12BA };
  static const char *extensions[256];
  size_t size;
  bool found = false;
  CHECK_CL(clGetDeviceInfo(opencl->device, SPIRV_EXTENSIONS, sizeof extensions, extensions, &size),
           CL_SUCCESS);
  for (size_t i = 0; i < size / sizeof *extensions; i++)
    found |= !strcmp(extensions[i], "SPV_KHR_cooperative_matrix");
  return found;
}

static void check_off(struct test *test, struct builder *b) {
  CHECK(!reports(&test->opencl) && !has_capability(&test->opencl) && !has_extension(&test->opencl));
  CHECK_CL(clGetDeviceInfo(test->opencl.device, CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR, 0,
                           NULL, NULL),
           CL_INVALID_VALUE);
  make_mistake(b, NO_MISTAKE);
  expect_message(test, b, "TEGRACL_EXPERIMENTAL=cooperative_matrix enables it");
}

static void check_on(struct test *test, struct builder *b) {
  CHECK(reports(&test->opencl) && has_capability(&test->opencl) && has_extension(&test->opencl));
  check_copies(test, b);
  check_products(test, b);
  check_arithmetic(test, b);
  check_conversions(test, b);
  check_elements(test, b);
  check_mistakes(test, b);
}

/* A module with all instructions, for one matrix type of each use. */
static void write_module(const char *path, struct builder *b) {
  const variant products[] = {{16, 16, 16, 0, 0, 1, 1, 0}, {16, 8, 32, 3, 7, 5, 5, 1}};
  const char *const some[] = {"a_f16", "b_s8_32x8", "c_s32"};
  size_t count;
  begin_module(b);
  for (size_t i = 0; i < 3; i++) {
    make_elements(b, find_kind(some[i]));
    make_arithmetic(b, find_kind(some[i]));
  }
  for (size_t i = 0; i < 2; i++) {
    make_product(b, &products[i], i);
    make_other(b, i);
  }
  uint32_t *words = builder_finish(b, VERSION_1_4, &count);
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(words, sizeof *words, count, file) == count && !fclose(file));
  free(words);
}

int main(int argc, char **argv) {
  static struct builder builder;
  static struct test test;
  cl_int error;
  CHECK(argc > 1);
  if (!strcmp(argv[1], "write")) {
    CHECK(argc > 2);
    write_module(argv[2], &builder);
    return 0;
  }
  setenv("TEGRACL_EXPERIMENTAL",
         !strcmp(argv[1], "on")      ? "cooperative_matrix"
         : !strcmp(argv[1], "clash") ? "cooperative_matrix,unified_svm"
                                     : "unified_svm",
         1);
  opencl_open(&test.opencl);
  for (int i = 0; i < 4; i++) {
    test.buffers[i] = clCreateBuffer(test.opencl.context, 0, BYTES, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
  }
  if (!strcmp(argv[1], "on"))
    check_on(&test, &builder);
  else
    check_off(&test, &builder);
  for (int i = 0; i < 4; i++)
    CHECK_CL(clReleaseMemObject(test.buffers[i]), CL_SUCCESS);
  if (test.program)
    CHECK_CL(clReleaseProgram(test.program), CL_SUCCESS);
  opencl_close(&test.opencl);
  return 0;
}
