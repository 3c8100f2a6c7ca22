/* SPV_KHR_uniform_group_instructions: every instruction over each type, in work-groups and
 * sub-groups, whole and partial, compared with the CPU. Products of floating-point values are
 * exact: the values are 2 and 1/2 in turn, some of them negative. And
 * cl_khr_work_group_uniform_arithmetic: the functions of OpenCL C, which work-groups alone have, on
 * a device that reports the extension because TEGRACL_EXPERIMENTAL names it.
 *
 *   uniform_groups MODULE     made of uniform_groups.cl
 *   uniform_groups SOURCE     uniform_arithmetic.cl
 */
#include <stdbool.h>

#include "tests/end_to_end/spirv/spirv.h"

enum { WARP = 32, ITEMS = 3 * 1024, LANES = 2, OPERATIONS = 4, KINDS = 3, BYTES = 8 };

enum operation { MULTIPLY, AND, OR, XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, MULTIPLY_FLOATS };
static const char *const names[] = {"IMul",       "BitwiseAnd", "BitwiseOr",  "BitwiseXor",
                                    "LogicalAnd", "LogicalOr",  "LogicalXor", "FMul"};
static const char *const kinds[KINDS] = {"Reduce", "InclusiveScan", "ExclusiveScan"};

enum languages { SPIRV = 1, OPENCL_C = 2 };
static const struct type {
  const char *name;
  size_t size; /* size of a lane in bytes */
  size_t lanes;
  enum operation first, last;
  unsigned languages;
} types[] = {
    {"char", 1, 1, MULTIPLY, XOR, SPIRV},
    {"short", 2, 1, MULTIPLY, XOR, SPIRV},
    {"int", 4, 1, MULTIPLY, XOR, SPIRV | OPENCL_C},
    {"long", 8, 1, MULTIPLY, XOR, SPIRV | OPENCL_C},
    {"uint", 4, 1, MULTIPLY, XOR, OPENCL_C},
    {"ulong", 8, 1, MULTIPLY, XOR, OPENCL_C},
    {"int2", 4, 2, MULTIPLY, XOR, SPIRV},
    {"half", 2, 1, MULTIPLY_FLOATS, MULTIPLY_FLOATS, SPIRV | OPENCL_C},
    {"float", 4, 1, MULTIPLY_FLOATS, MULTIPLY_FLOATS, SPIRV | OPENCL_C},
    {"double", 8, 1, MULTIPLY_FLOATS, MULTIPLY_FLOATS, SPIRV | OPENCL_C},
    {"float2", 4, 2, MULTIPLY_FLOATS, MULTIPLY_FLOATS, SPIRV},
    {"uchar", 1, 1, LOGICAL_AND, LOGICAL_XOR, SPIRV | OPENCL_C},
};

/* Bits of 1/2, and the value that doubles a number: 1 in the exponent. */
static uint64_t half_bits(size_t size, uint64_t *twice) {
  enum { HALF_BITS = 10, FLOAT_BITS = 23, DOUBLE_BITS = 52 };
  *twice = 1ull << (size == 2 ? HALF_BITS : size == 4 ? FLOAT_BITS : DOUBLE_BITS);
  return size == 2 ? 0x3800 : size == 4 ? 0x3f000000 : 0x3fe0000000000000;
}

static uint64_t random_bits(void) {
  static uint64_t state = 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint64_t mask_of(size_t size) {
  return size == BYTES ? ~0ull : (1ull << 8 * size) - 1;
}

/* Operands differ from the identity in one bit often enough that results differ. */
static uint64_t make_operand(const struct type *type, size_t item) {
  const uint64_t bits = random_bits(), mask = mask_of(type->size);
  if (type->first == MULTIPLY_FLOATS) {
    uint64_t twice;
    const uint64_t half = half_bits(type->size, &twice);
    return half + (item % 2 ? 2 * twice : 0) + (bits >> 40 & 1 ? mask ^ mask >> 1 : 0);
  }
  /* all, none or some of the work-items in the sub-groups of each third */
  if (type->first == LOGICAL_AND)
    return item / WARP % 3 == 0 ? 1 : item / WARP % 3 == 1 ? 0 : bits >> 40 & 1;
  return (item % 16 ? bits | 1 : bits) & mask;
}

/* Applies the operation to a and b. Floating-point operands are powers of two. */
static uint64_t apply(const struct type *type, enum operation operation, uint64_t a, uint64_t b) {
  uint64_t twice;
  const uint64_t mask = mask_of(type->size), sign = mask ^ mask >> 1;
  const uint64_t one = half_bits(type->size, &twice) + twice;
  switch (operation) {
  case MULTIPLY:
    return a * b & mask;
  case AND:
  case LOGICAL_AND:
    return a & b;
  case OR:
  case LOGICAL_OR:
    return a | b;
  case XOR:
  case LOGICAL_XOR:
    return a ^ b;
  default:
    return ((a ^ b) & sign) | ((a & ~sign) + (b & ~sign) - one);
  }
}

static uint64_t identity(const struct type *type, enum operation operation) {
  uint64_t twice;
  switch (operation) {
  case MULTIPLY:
  case LOGICAL_AND:
    return 1;
  case AND:
    return mask_of(type->size);
  case MULTIPLY_FLOATS: {
    const uint64_t half = half_bits(type->size, &twice);
    return half + twice;
  }
  default:
    return 0;
  }
}

static uint64_t get(const struct type *type, const unsigned char *bytes, size_t i) {
  uint64_t value = 0;
  memcpy(&value, bytes + i * type->size, type->size);
  return value;
}

/* Computes the expected result of the group of items from first to end, for one lane of the
 * vectors. */
static void check_group(const struct type *type, const char *scope, const unsigned char *in,
                        const unsigned char *out, size_t first, size_t end, size_t lane) {
  for (enum operation o = type->first; o <= type->last; o++) {
    uint64_t all = identity(type, o), before = all;
    for (size_t i = first; i < end; i++)
      all = apply(type, o, all, get(type, in, i * type->lanes + lane));
    for (size_t i = first; i < end; i++) {
      const uint64_t with = apply(type, o, before, get(type, in, i * type->lanes + lane));
      const uint64_t want[KINDS] = {all, with, before};
      before = with;
      for (size_t k = 0; k < KINDS; k++) {
        const size_t row = (size_t)(o - type->first) * KINDS + k;
        const uint64_t got = get(type, out, (row * ITEMS + i) * type->lanes + lane);
        if (got == want[k])
          continue;
        fprintf(stderr, "%s %s of %s, %s of items %zu to %zu, item %zu: 0x%llx, not 0x%llx\n",
                names[o], kinds[k], type->name, scope, first, end - 1, i, (unsigned long long)got,
                (unsigned long long)want[k]);
        exit(1);
      }
    }
  }
}

static void run(const struct opencl *opencl, cl_program program, const struct type *type,
                bool in_sub_groups, size_t local) {
  static unsigned char in[ITEMS * LANES * BYTES], out[OPERATIONS * KINDS * ITEMS * LANES * BYTES];
  const char *scope = in_sub_groups ? "sub_group" : "work_group";
  const size_t in_bytes = ITEMS * type->lanes * type->size;
  const size_t out_bytes = in_bytes * KINDS * (size_t)(type->last - type->first + 1);
  const size_t items = ITEMS;
  char name[32];
  cl_int error;
  for (size_t i = 0; i < ITEMS * type->lanes; i++) {
    const uint64_t value = make_operand(type, i / type->lanes);
    memcpy(in + i * type->size, &value, type->size);
  }
  snprintf(name, sizeof name, "%s_%s", scope, type->name);
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem from = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, in_bytes, in, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem to = clCreateBuffer(opencl->context, CL_MEM_WRITE_ONLY, out_bytes, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof from, &from), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof to, &to), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, to, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL),
           CL_SUCCESS);
  for (size_t group = 0; group < ITEMS; group += local) {
    const size_t group_end = group + local < ITEMS ? group + local : ITEMS;
    const size_t step = in_sub_groups ? WARP : local;
    for (size_t first = group; first < group_end; first += step)
      for (size_t lane = 0; lane < type->lanes; lane++)
        check_group(type, scope, in, out, first,
                    first + step < group_end ? first + step : group_end, lane);
  }
  CHECK_CL(clReleaseMemObject(from), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(to), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static bool is_reported(const struct opencl *opencl) {
  char words[16384];
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, sizeof(words), words, NULL),
           CL_SUCCESS);
  const bool is_named = strstr(words, " cl_khr_work_group_uniform_arithmetic ") != NULL;
  CHECK(is_named == (strstr(words, " cl_khr_spirv_extended_debug_info ") != NULL)); /* it, too */
  return is_named;
}

int main(int argc, char **argv) {
  /* Whole sub-groups, one and several; partial ones; and a smaller last work-group. */
  static const size_t locals[] = {32, 1024, 1, 7, 96, 77};
  CHECK(argc == 2);
  struct opencl opencl;
  opencl_open(&opencl);
  struct module module = module_read(argv[1]);
  cl_program program = module_or_source(&opencl, &module);
  const enum languages language = module_is_source(&module) ? OPENCL_C : SPIRV;
  CHECK(is_reported(&opencl) == (language == OPENCL_C));
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t l = 0; types[t].languages & language && l < sizeof locals / sizeof *locals; l++)
      for (int in_sub_groups = 0; in_sub_groups <= (language == SPIRV); in_sub_groups++)
        run(&opencl, program, &types[t], in_sub_groups, locals[l]);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
  opencl_close(&opencl);
  return 0;
}
