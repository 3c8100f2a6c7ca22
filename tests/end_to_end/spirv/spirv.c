/* Programs from SPIR-V: results, specialization, linking, binaries, and modules that are refused.
 *
 *   spirv CASE FILE ...     the cases' files: meson.build
 */
#include "tests/end_to_end/spirv/spirv.h"

#include "compiler/spirv/capabilities.h"

#include <CL/cl_ext.h>
#include <math.h>

enum { ITEMS = 64, LOCAL = 32, HEADER_WORDS = 5, OP_CAPABILITY = 17 };

/* ---- comparison with the source ----------------------------------------------------- */

struct setup {
  cl_char tag;
  cl_float3 scale;
  cl_int offsets[5];
} __attribute__((aligned(16)));

struct results {
  float out[3 * ITEMS];
  int sums[2];
};

static cl_mem buffer(const struct opencl *opencl, size_t size, void *data) {
  cl_int error;
  cl_mem mem = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, size, data, &error);
  CHECK_CL(error, CL_SUCCESS);
  return mem;
}

static void run_features(const struct opencl *opencl, cl_program program, struct results *results) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, "features", &error);
  CHECK_CL(error, CL_SUCCESS);
  memset(results, 0, sizeof *results);
  cl_float4 in[ITEMS];
  for (int i = 0; i < ITEMS; i++)
    in[i] = (cl_float4){{(float)i * 0.37f, 1.75f - (float)i, (float)i * (float)i, 0.1f}};
  cl_uint words[4] = {3, 99, 12, 7};
  struct setup setup = {.tag = -5, .scale = {{1.5f, -2.5f, 0.25f}}, .offsets = {1, -2, 3, -4, 5}};
  cl_double3 wide = {{1e3, -2e-3, 0.125}};
  cl_uchar small = 200;
  cl_mem mems[] = {buffer(opencl, sizeof results->out, results->out), buffer(opencl, sizeof in, in),
                   buffer(opencl, sizeof words, words),
                   buffer(opencl, sizeof results->sums, results->sums)};
  const struct {
    size_t size;
    const void *value;
  } args[] = {{sizeof(cl_mem), &mems[0]}, {sizeof(cl_mem), &mems[1]}, {LOCAL * 4, NULL},
              {sizeof(cl_mem), &mems[2]}, {sizeof setup, &setup},     {sizeof wide, &wide},
              {sizeof small, &small},     {sizeof(cl_mem), &mems[3]}};
  for (cl_uint i = 0; i < sizeof args / sizeof *args; i++)
    CHECK_CL(clSetKernelArg(kernel, i, args[i].size, args[i].value), CL_SUCCESS);
  const size_t global = ITEMS, local = LOCAL;
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mems[0], CL_TRUE, 0, sizeof results->out,
                               results->out, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mems[3], CL_TRUE, 0, sizeof results->sums,
                               results->sums, 0, NULL, NULL),
           CL_SUCCESS);
  for (size_t i = 0; i < sizeof mems / sizeof *mems; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_features(const struct opencl *opencl, cl_program program,
                           const struct results *expected) {
  struct results got;
  run_features(opencl, program, &got);
  CHECK(!memcmp(&got, expected, sizeof got));
}

static char *read_text(const char *path) {
  enum { MOST = 65536 };
  char *text = calloc(1, MOST);
  FILE *file = fopen(path, "rb");
  CHECK(text && file);
  CHECK(fread(text, 1, MOST - 1, file) > 0);
  fclose(file);
  return text;
}

/* Loads the binary of a program from SPIR-V. */
static cl_program reload(const struct opencl *opencl, cl_program program) {
  size_t size;
  cl_int error, status;
  unsigned char *binary = opencl_binary_of(program, &size);
  cl_program again = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size,
                                               (const unsigned char **)&binary, &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  free(binary);
  module_build(opencl, again, "");
  CHECK_CL(clGetProgramInfo(again, CL_PROGRAM_IL, 0, NULL, &size), CL_SUCCESS);
  CHECK(size == 0);
  return again;
}

/* Modules of every version, in both byte orders, with and without optimisation, give the same
 * results as the source. */
static void same(struct opencl *opencl, int count, char **files) {
  struct results expected;
  char *text = read_text(files[0]);
  cl_program source = opencl_program(opencl, text);
  module_build(opencl, source, "-cl-std=CL3.0");
  run_features(opencl, source, &expected);
  CHECK(expected.sums[1] == ITEMS - 1);
  for (int i = 1; i < count; i++) {
    struct module module = module_read(files[i]);
    for (int swapped = 0; swapped < 2; swapped++) {
      cl_program program = module_program(opencl, &module);
      module_build(opencl, program, "-cl-kernel-arg-info");
      check_features(opencl, program, &expected);
      cl_program again = reload(opencl, program);
      check_features(opencl, again, &expected);
      CHECK_CL(clReleaseProgram(again), CL_SUCCESS);
      CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
      for (size_t k = 0; k < module.size / 4; k++)
        module.words[k] = __builtin_bswap32(module.words[k]);
    }
    free(module.words);
  }
  free(text);
  CHECK_CL(clReleaseProgram(source), CL_SUCCESS);
}

/* ---- specialization constants ---------------------------------------------------------------- */

static void check_constants(const struct opencl *opencl, cl_program program,
                            const double *expected) {
  enum { COUNT = 8 };
  cl_int error;
  double got[COUNT] = {0};
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "constants", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mem = buffer(opencl, sizeof got, got);
  const size_t one = 1;
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < COUNT; i++)
    if (got[i] != expected[i]) {
      fprintf(stderr, "constant %d is %g instead of %g\n", i, got[i], expected[i]);
      exit(1);
    }
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void constants(struct opencl *opencl, int count, char **files) {
  enum { FIRST_ID = 10 };
  const double defaults[] = {1, -1, -2, 3, 4, 5, 6.5, 7.25},
               changed[] = {0, 100, -20000, -3, 0x1p62, 1.5, -0.25, 0x1.23456789abcdep-40};
  const cl_uchar truth = 0;
  const cl_char i8 = 100;
  const cl_short i16 = -20000;
  const cl_int i32 = -3;
  const cl_long i64 = 1l << 62;
  const cl_ushort f16 = 0x3e00;
  const cl_float f32 = -0.25f;
  const struct {
    size_t size;
    const void *value;
  } values[] = {{1, &truth}, {1, &i8},  {2, &i16}, {4, &i32},
                {8, &i64},   {2, &f16}, {4, &f32}, {8, &changed[7]}};
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  check_constants(opencl, program, defaults);
  for (cl_uint i = 0; i < sizeof values / sizeof *values; i++) {
    const cl_uint id = FIRST_ID + i;
    const size_t size = values[i].size;
    CHECK_CL(clSetProgramSpecializationConstant(program, id, size, NULL), CL_INVALID_VALUE);
    for (size_t other = 0; other < 17; other++)
      if (other != size)
        CHECK_CL(clSetProgramSpecializationConstant(program, id, other, values[i].value),
                 CL_INVALID_VALUE);
    CHECK_CL(clSetProgramSpecializationConstant(program, id, size, values[i].value), CL_SUCCESS);
  }
  CHECK_CL(clSetProgramSpecializationConstant(program, 9, 4, &i32), CL_INVALID_SPEC_ID);
  CHECK_CL(clSetProgramSpecializationConstant(program, 18, 4, &i32), CL_INVALID_SPEC_ID);
  CHECK_CL(clSetProgramSpecializationConstant(NULL, 13, 4, &i32), CL_INVALID_PROGRAM);
  check_constants(opencl, program, changed);
  cl_program source = opencl_program(opencl, "kernel void k(void) {}");
  CHECK_CL(clSetProgramSpecializationConstant(source, 13, 4, &i32), CL_INVALID_PROGRAM);
  CHECK_CL(clReleaseProgram(source), CL_SUCCESS);

  /* The module is not changed, and other programs from it are not affected. */
  size_t size;
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_IL, 0, NULL, &size), CL_SUCCESS);
  CHECK(size == module.size);
  void *il = malloc(size);
  CHECK(il);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_IL, size, il, NULL), CL_SUCCESS);
  CHECK(!memcmp(il, module.words, size));
  cl_program other = module_program(opencl, &module);
  check_constants(opencl, other, defaults);
  free(il);
  free(module.words);
  CHECK_CL(clReleaseProgram(other), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* ---- linked with source ------------------------------------------------------------------ */

static const char part[] = "float of_module(float *any, int i);\n"
                           "float of_source(const float *any, int i) { return any[i] * 10; }\n"
                           "kernel void source_kernel(global float *out) {\n"
                           "  int i = get_global_id(0);\n"
                           "  float own[2] = {i, 1};\n"
                           "  out[i] = of_module(out, i) + of_module(own, 0) + own[0];\n"
                           "}\n";

static void run_linked(const struct opencl *opencl, cl_program program, const char *name,
                       const float *expected) {
  cl_int error;
  float data[4] = {1, 2, 3, 4};
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mem = buffer(opencl, sizeof data, data);
  const size_t global = 4;
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK(!memcmp(data, expected, sizeof data));
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void linked(struct opencl *opencl, int count, char **files) {
  const float of_source[] = {2 * 2 + 1 * 2 + 1, 3 * 2 + 2 * 2 + 2, 4 * 2 + 3 * 2 + 3,
                             5 * 2 + 4 * 2 + 4},
              of_module[] = {30 + 10, 40 + 20, 30 + 30, 40 + 40};
  struct module module = module_read(files[0]);
  cl_int error;
  cl_program parts[] = {module_program(opencl, &module), opencl_program(opencl, part)};
  /* Alone, the module lacks a function. The log contains its name. */
  CHECK_CL(clBuildProgram(parts[0], 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  CHECK(strstr(module_log(opencl, parts[0]), "of_source"));
  for (int i = 0; i < 2; i++)
    CHECK_CL(
        clCompileProgram(parts[i], 0, NULL, i ? "-cl-std=CL3.0" : "", 0, NULL, NULL, NULL, NULL),
        CL_SUCCESS);
  for (int i = 0; i < 2; i++) {
    const cl_program order[] = {parts[i], parts[1 - i]};
    cl_program whole = clLinkProgram(opencl->context, 0, NULL, "", 2, order, NULL, NULL, &error);
    if (whole)
      fputs(module_log(opencl, whole), stderr);
    CHECK_CL(error, CL_SUCCESS);
    run_linked(opencl, whole, "source_kernel", of_source);
    run_linked(opencl, whole, "module_kernel", of_module);
    CHECK_CL(clReleaseProgram(whole), CL_SUCCESS);
  }
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseProgram(parts[i]), CL_SUCCESS);
  free(module.words);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refuse(const struct opencl *opencl, const void *il, size_t size) {
  cl_int error;
  CHECK(!clCreateProgramWithIL(opencl->context, il, size, &error));
  CHECK_CL(error, CL_INVALID_VALUE);
}

/* Finds the first instruction with the opcode. */
static uint32_t *find(struct module *module, unsigned opcode) {
  for (size_t at = HEADER_WORDS; at < module->size / 4; at += module->words[at] >> 16)
    if ((module->words[at] & 0xffff) == opcode)
      return module->words + at;
  CHECK(!"the module has such an instruction");
  return NULL;
}

/* Replaces a word of the module. The build must fail with a log that states the error. */
static void fail(const struct opencl *opencl, struct module *module, uint32_t *word, uint32_t value,
                 const char *reason) {
  const uint32_t old = *word;
  *word = value;
  cl_program program = module_program(opencl, module);
  *word = old;
  CHECK_CL(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  if (!strstr(module_log(opencl, program), reason)) {
    fprintf(stderr, "not in the log: %s\n%s\n", reason, module_log(opencl, program));
    exit(1);
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* Inserts words before a place of a module from module_read, whose memory is larger. */
static void insert(struct module *module, uint32_t *at, const uint32_t *words, size_t count) {
  const size_t before = (size_t)(at - module->words);
  memmove(at + count, at, module->size - before * sizeof *at);
  memcpy(at, words, count * sizeof *words);
  module->size += count * sizeof *words;
}

/* Adds each refused capability to those of the module. The log must contain its whole name. */
static void refused_capabilities(const struct opencl *opencl, const char *file) {
  static const struct {
    uint32_t number;
    const char *reason;
  } rows[] = {
#define AS_ROW(number, name)                                                                       \
  {number, " the capability " #name ", which the device does not support"},
      REFUSED_CAPABILITIES(AS_ROW)
#undef AS_ROW
  };
  const uint32_t kernel[] = {2 << 16 | OP_CAPABILITY, 6};
  struct module module = module_read(file);
  uint32_t *added = find(&module, OP_CAPABILITY);
  insert(&module, added, kernel, 2);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    fail(opencl, &module, added + 1, rows[i].number, rows[i].reason);
  fail(opencl, &module, added + 1, 54321, " the unknown capability 54321");
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, ""); /* without these capabilities it is valid */
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

static void refused_extension(const struct opencl *opencl, const char *file) {
  enum { OP_EXTENSION = 10, OP_EXT_INST_IMPORT = 11, WORDS = 6 };
  uint32_t extension[WORDS] = {WORDS << 16 | OP_EXTENSION};
  struct module module = module_read(file);
  strcpy((char *)(extension + 1), "SPV_EXAMPLE_unknown");
  uint32_t *place = find(&module, OP_EXT_INST_IMPORT);
  insert(&module, place, extension, WORDS);
  fail(opencl, &module, place, *place, "'SPV_EXAMPLE_unknown'");
  free(module.words);
}

static void refused(struct opencl *opencl, int count, char **files) {
  enum { OP_MEMORY_MODEL = 14 };
  enum { OP_LOAD = 61, OP_STORE = 62 };
  struct module module = module_read(files[0]);
  refuse(opencl, NULL, module.size);
  refuse(opencl, module.words, 0);
  refuse(opencl, "kernel void k(void) {}", 22);
  refuse(opencl, "kernel void k() {}..", 20);
  for (size_t size = 1; size < 4 * HEADER_WORDS; size++)
    refuse(opencl, module.words, size);
  for (size_t cut = 1; cut < 4; cut++)
    refuse(opencl, module.words, module.size - cut);
  const struct {
    size_t word;
    uint32_t value;
  } damage[] = {{0, 0x07230204}, {0, 0},          {1, 0x00010700}, {1, 0x00020000}, {1, 0x00010001},
                {1, 0},          {3, 0},          {3, 0xffffffff}, {4, 1},          {5, 0},
                {5, 0x00000011}, {5, 0xffff0011}, {5, 0x7fff0011}};
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    const uint32_t old = module.words[damage[i].word];
    module.words[damage[i].word] = damage[i].value;
    refuse(opencl, module.words, module.size);
    module.words[damage[i].word] = old;
  }
  cl_int error;
  CHECK(!clCreateProgramWithIL(NULL, module.words, module.size, &error));
  CHECK_CL(error, CL_INVALID_CONTEXT);

  refused_capabilities(opencl, files[0]);
  refused_extension(opencl, files[0]);
  fail(opencl, &module, find(&module, OP_MEMORY_MODEL) + 1, 0, "addressing model 0");
  fail(opencl, &module, find(&module, OP_MEMORY_MODEL) + 1, 1, "addressing model 1");
  fail(opencl, &module, find(&module, OP_MEMORY_MODEL) + 2, 1, "memory model 1");
  fail(opencl, &module, find(&module, OP_STORE) + 2, 1, "OpStore");
  fail(opencl, &module, find(&module, OP_LOAD) + 3, 0x7ffff, "524287");

  cl_program program = module_program(opencl, &module);
  CHECK_CL(clBuildProgram(program, 0, NULL, "-cl-no-such-option", NULL, NULL),
           CL_INVALID_BUILD_OPTIONS);
  CHECK_CL(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
  CHECK(!clCreateKernel(program, "no_such_entry_point", &error));
  CHECK_CL(error, CL_INVALID_KERNEL_NAME);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* ---- device queries ---------------------------------------------------------------------- */

static void queries(struct opencl *opencl, int count, char **files) {
  static const char versions[] = "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4 "
                                 "SPIR-V_1.5 SPIR-V_1.6";
  char text[8192];
  cl_name_version list[64];
  size_t size;
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL),
           CL_SUCCESS);
  CHECK(!strncmp(text, versions, sizeof versions - 1));
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_ILS_WITH_VERSION, sizeof list, list, &size),
           CL_SUCCESS);
  CHECK(size == 7 * sizeof *list);
  for (cl_uint i = 0; i < 7; i++)
    CHECK(!strcmp(list[i].name, "SPIR-V") && list[i].version == CL_MAKE_VERSION(1, i, 0));
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL),
           CL_SUCCESS);
  CHECK(strstr(text, "cl_khr_il_program"));
  clCreateProgramWithILKHR_fn create =
      (clCreateProgramWithILKHR_fn)clGetExtensionFunctionAddressForPlatform(
          opencl->platform, "clCreateProgramWithILKHR");
  CHECK(create);
  struct module module = module_read(files[0]);
  cl_int error;
  cl_program program = create(opencl->context, module.words, module.size, &error);
  CHECK_CL(error, CL_SUCCESS);
  module_build(opencl, program, "");
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* Checks that no intermediate language is supported if the tools are missing. */
static void missing(struct opencl *opencl, int count, char **files) {
  char text[8192];
  size_t size;
  cl_int error;
  struct module module = module_read(files[0]);
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL),
           CL_SUCCESS);
  CHECK(!*text);
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_ILS_WITH_VERSION, 0, NULL, &size), CL_SUCCESS);
  CHECK(size == 0);
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL),
           CL_SUCCESS);
  CHECK(!strstr(text, "cl_khr_il_program"));
  CHECK(!clCreateProgramWithIL(opencl->context, module.words, module.size, &error));
  CHECK_CL(error, CL_INVALID_OPERATION);
  free(module.words);
}

/* Instructions that the translator does not support (spirv_reword.c). */
static void reworded(struct opencl *opencl, int count, char **files) {
  cl_uint in[] = {10, 11, 12}, out[] = {5, 13, 8, 10, 11, 12, 14, 2,  1, 1, -3u, 5, 7, 1,
                                        3, 3,  2, 5,  6,  4,  17, 15, 2, 7, 5,   1, 1, 1};
  const cl_uint n = 5;
  cl_uint got[sizeof out / sizeof *out] = {0};
  cl_int error;
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "reworded", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mems[] = {buffer(opencl, sizeof got, got), buffer(opencl, sizeof in, in)};
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof *mems, &mems[0]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof *mems, &mems[1]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof n, &n), CL_SUCCESS);
  const size_t first[] = {4, 5, 6}, one[] = {1, 1, 1};
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 3, first, one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mems[0], CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
           CL_SUCCESS);
  for (size_t i = 0; i < sizeof out / sizeof *out; i++)
    if (got[i] != out[i])
      fprintf(stderr, "number %zu is %u, not %u\n", i, got[i], out[i]);
  CHECK(!memcmp(got, out, sizeof out));
  CHECK_CL(clReleaseMemObject(mems[0]), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(mems[1]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

static size_t sub_group_info(const struct opencl *opencl, cl_kernel kernel,
                             cl_kernel_sub_group_info name) {
  size_t value = 99;
  CHECK_CL(
      clGetKernelSubGroupInfo(kernel, opencl->device, name, 0, NULL, sizeof value, &value, NULL),
      CL_SUCCESS);
  return value;
}

/* Runs a kernel in work-groups of that many work-items, or of any number if 0. Returns the
 * number of sub-groups that the kernel found, or 0 if it was not run. */
static cl_uint run_groups(const struct opencl *opencl, cl_kernel kernel, size_t global,
                          size_t local, cl_int expected) {
  cl_uint seen = 0;
  cl_mem mem = buffer(opencl, sizeof seen, &seen);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, local ? &local : NULL, 0,
                                  NULL, NULL),
           expected);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof seen, &seen, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  return seen;
}

/* A kernel that requires a number of sub-groups gets that number or an error, also from a
 * binary. */
static void check_sub_groups(const struct opencl *opencl, cl_program program, const char *name,
                             cl_uint number) {
  enum { WARP = 32 };
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK(sub_group_info(opencl, kernel, CL_KERNEL_COMPILE_NUM_SUB_GROUPS) == number);
  CHECK(sub_group_info(opencl, kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS) == number);
  CHECK(run_groups(opencl, kernel, 2 * number * WARP, 0, CL_SUCCESS) == number);
  for (cl_uint n = 1; n <= 5; n++)
    for (size_t less = 0; less < WARP; less += WARP - 1)
      CHECK(run_groups(opencl, kernel, 2 * (n * WARP - less), n * WARP - less,
                       n == number ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE) ==
            (n == number ? n : 0));
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_sized(const struct opencl *opencl, cl_program program) {
  size_t size[3];
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, "sized", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clGetKernelWorkGroupInfo(kernel, opencl->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                    sizeof size, size, NULL),
           CL_SUCCESS);
  CHECK(size[0] == 8 && size[1] == 4 && size[2] == 2);
  CHECK(sub_group_info(opencl, kernel, CL_KERNEL_COMPILE_NUM_SUB_GROUPS) == 0);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void modes(struct opencl *opencl, int count, char **files) {
  enum { OP_EXECUTION_MODE = 16, OP_EXECUTION_MODE_ID = 331 };
  const cl_uint five = 5;
  struct module module = module_read(files[0]);
  for (cl_uint number = 2; number <= five; number += 3) {
    cl_program program = module_program(opencl, &module);
    CHECK_CL(clSetProgramSpecializationConstant(program, 7, sizeof number, &number), CL_SUCCESS);
    module_build(opencl, program, "");
    cl_program again = reload(opencl, program);
    check_sub_groups(opencl, program, "three", 3);
    check_sub_groups(opencl, again, "three", 3);
    check_sub_groups(opencl, program, "some", number);
    check_sub_groups(opencl, again, "some", number);
    if (number == 2)
      check_sized(opencl, program);
    CHECK_CL(clReleaseProgram(again), CL_SUCCESS);
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  }
  fail(opencl, &module, find(&module, OP_EXECUTION_MODE) + 3, 33, "33 sub-groups");
  fail(opencl, &module, find(&module, OP_EXECUTION_MODE) + 3, 0, "0 sub-groups");
  fail(opencl, &module, find(&module, OP_EXECUTION_MODE_ID) + 3, 1, "not a constant number");
  free(module.words);
}

/* A module with extensions that only give hints computes the same as without them. */
static void hints(struct opencl *opencl, int count, char **files) {
  const cl_uint steps = 4; /* each adds half of the first value */
  const size_t items = ITEMS;
  cl_float data[ITEMS];
  cl_int error;
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "hints", &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < ITEMS; i++)
    data[i] = (cl_float)i;
  cl_mem mem = buffer(opencl, sizeof data, data);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof steps, &steps), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < ITEMS; i++)
    CHECK(data[i] == 3 * (cl_float)i);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* Sums quarters, starting at 0, or at 1/4 in local memory. Each work-item must get a different
 * old value. */
static void half_sums(struct opencl *opencl, int count, char **files) {
  enum { LOCAL_KIND = 2, KINDS = 3, ADDENDS = ITEMS / 2 };
  const cl_half quarter = 0x3400;
  const size_t items = ITEMS;
  cl_half sums[4] = {0}, old[KINDS * ITEMS] = {0};
  cl_int error;
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "half_sums", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mems[] = {buffer(opencl, sizeof sums, sums), buffer(opencl, sizeof old, old)};
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof *mems, &mems[0]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, 2 * sizeof(cl_half), NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof *mems, &mems[1]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, sizeof quarter, &quarter), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, mems[0], CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mems[1], CL_TRUE, 0, sizeof old, old, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < 4; i++)
    CHECK(sums[i] == 0x4800); /* 32 quarters are 8 */
  for (int kind = 0; kind < KINDS; kind++)
    for (int side = 0; side < 2; side++) {
      int seen[ADDENDS + 1] = {0};
      for (int i = side; i < ITEMS; i += 2) {
        const cl_half bits = old[kind * ITEMS + i];
        const float value = ldexpf((float)((bits & 0x3ff) | (bits ? 0x400 : 0)), (bits >> 10) - 25);
        const int quarters = (int)(value * 4) - (kind == LOCAL_KIND);
        CHECK(quarters >= 0 && quarters < ADDENDS);
        CHECK(seen[quarters]++ == 0);
      }
    }
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* Each work-item's value is its number minus 20. */
static void float_atomics(struct opencl *opencl, int count, char **files) {
  const size_t items = ITEMS;
  const double first = -20, last = ITEMS - 21;
  cl_float floats[3] = {0};
  cl_double doubles[3] = {0};
  cl_half halves[2] = {0};
  const cl_half least = 0xcd00, greatest = 0x5160; /* -20, 43 */
  cl_int error;
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "float_atomics", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mems[] = {buffer(opencl, sizeof floats, floats), buffer(opencl, sizeof doubles, doubles),
                   buffer(opencl, sizeof halves, halves)};
  for (cl_uint i = 0; i < 3; i++)
    CHECK_CL(clSetKernelArg(kernel, i, sizeof *mems, &mems[i]), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, mems[0], CL_TRUE, 0, sizeof floats, floats, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mems[1], CL_TRUE, 0, sizeof doubles, doubles, 0, NULL,
                               NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, mems[2], CL_TRUE, 0, sizeof halves, halves, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK(halves[0] == least && halves[1] == greatest);
  const double want[3] = {ITEMS * (first + last) / 2, first, last};
  for (int i = 0; i < 3; i++) {
    CHECK(floats[i] == (cl_float)want[i]);
    CHECK(doubles[i] == want[i]);
  }
  for (int i = 0; i < 3; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* Images of one dimension, which are made of buffers or not. The translator declares the
 * capabilities for reads alone, so those for writes are added here. */
static void images(struct opencl *opencl, int count, char **files) {
  enum { CHANNELS = 4, TEXELS = ITEMS + 1 };
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
  const size_t items = ITEMS, origin[3] = {0}, region[3] = {ITEMS, 1, 1};
  cl_uint in[TEXELS * CHANNELS], out[2][TEXELS * CHANNELS];
  /* OpCapability Image1D and ImageBuffer, after the header */
  static const cl_uint capabilities[] = {0x20011, 44, 0x20011, 47};
  cl_mem mems[CHANNELS], from[CHANNELS] = {0};
  cl_int error;
  struct module module = module_read(files[0]);
  cl_uint *after = module.words + HEADER_WORDS;
  memmove(after + 4, after, module.size - HEADER_WORDS * sizeof(*after));
  memcpy(after, capabilities, sizeof capabilities);
  module.size += sizeof capabilities;
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "images", &error);
  CHECK_CL(error, CL_SUCCESS);
  for (cl_uint i = 0; i < TEXELS * CHANNELS; i++)
    in[i] = i * 2654435761u;
  for (cl_uint i = 0; i < CHANNELS; i++) {
    cl_image_desc desc = {.image_type =
                              i < 2 ? CL_MEM_OBJECT_IMAGE1D : CL_MEM_OBJECT_IMAGE1D_BUFFER,
                          .image_width = TEXELS};
    const int copied = i == 0;
    if (i >= 2)
      desc.buffer = from[i] = buffer(opencl, sizeof in, in);
    mems[i] = clCreateImage(opencl->context, copied ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE,
                            &format, &desc, copied ? in : NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, i, sizeof *mems, &mems[i]), CL_SUCCESS);
  }
  const cl_sampler_properties nearest[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, 0};
  cl_sampler sampler = clCreateSamplerWithProperties(opencl->context, nearest, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, CHANNELS, sizeof sampler, &sampler), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < 2; i++)
    CHECK_CL(clEnqueueReadImage(opencl->queue, mems[2 * i + 1], CL_TRUE, origin, region, 0, 0,
                                out[i], 0, NULL, NULL),
             CL_SUCCESS);
  for (int i = 0; i < ITEMS * CHANNELS; i++) {
    CHECK(out[0][i] == in[i + CHANNELS] + in[i]);
    CHECK(out[1][i] == in[i] + TEXELS);
  }
  CHECK_CL(clReleaseSampler(sampler), CL_SUCCESS);
  for (int i = 0; i < CHANNELS; i++) {
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
    if (from[i])
      CHECK_CL(clReleaseMemObject(from[i]), CL_SUCCESS);
  }
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* Runs a kernel that faults. lines_test.py checks the driver's report. */
static void beyond(struct opencl *opencl, int count, char **files) {
  cl_int error, data[32] = {0};
  const size_t global = 32;
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  module_build(opencl, program, "");
  cl_kernel kernel = clCreateKernel(program, "beyond", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mem = buffer(opencl, sizeof data, data);
  for (cl_uint i = 0; i < 2; i++)
    CHECK_CL(clSetKernelArg(kernel, i, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK(clFinish(opencl->queue) != CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

/* A translator that never ends is killed, and the log says so. */
static void endless(struct opencl *opencl, int count, char **files) {
  struct module module = module_read(files[0]);
  cl_program program = module_program(opencl, &module);
  CHECK_CL(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  CHECK(strstr(module_log(opencl, program), "did not finish"));
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
}

static const struct {
  const char *name;
  void (*run)(struct opencl *opencl, int count, char **files);
} cases[] = {{"same", same},         {"constants", constants}, {"linked", linked},
             {"refused", refused},   {"queries", queries},     {"missing", missing},
             {"reworded", reworded}, {"modes", modes},         {"half_sums", half_sums},
             {"beyond", beyond},     {"endless", endless},     {"float_atomics", float_atomics},
             {"images", images},     {"hints", hints}};

int main(int argc, char **argv) {
  CHECK(argc > 2);
  struct opencl opencl;
  opencl_open(&opencl);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (!strcmp(cases[i].name, argv[1])) {
      cases[i].run(&opencl, argc - 2, argv + 2);
      opencl_close(&opencl);
      return 0;
    }
  fprintf(stderr, "no case is called %s\n", argv[1]);
  return 2;
}
