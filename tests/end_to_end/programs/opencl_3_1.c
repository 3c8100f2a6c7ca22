/* The features that an OpenCL 3.1 device must have according to the tables of the API specification
 * and OpenCL C 3.1; or, with the argument "3.0", the queries of a device without SPIR-V.
 */
#include <CL/cl_ext.h>
#include <stdbool.h>
#include <unistd.h>

#include "icd/cl_tegracl.h"
#include "tests/end_to_end/opencl.h"

enum { TEXT_BYTES = 8192, LIST_MAX = 64 };

static bool has_word(const char *words, const char *word) {
  const size_t size = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += size)
    if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' '))
      return true;
  return false;
}

static size_t info(const struct opencl *opencl, cl_device_info name, void *value, size_t room) {
  size_t size;
  CHECK_CL(clGetDeviceInfo(opencl->device, name, room, value, &size), CL_SUCCESS);
  return size;
}

/* ---- versions ------------------------------------------------------------------------- */

static void check_versions(const struct opencl *opencl, const char *text, cl_uint minor) {
  char words[TEXT_BYTES];
  cl_version number;
  info(opencl, CL_DEVICE_VERSION, words, sizeof words);
  CHECK(!strncmp(words, text, strlen(text)));
  info(opencl, CL_DEVICE_NUMERIC_VERSION, &number, sizeof number);
  CHECK(number == CL_MAKE_VERSION(3, minor, 0));
  CHECK_CL(clGetPlatformInfo(opencl->platform, CL_PLATFORM_VERSION, sizeof words, words, NULL),
           CL_SUCCESS);
  CHECK(!strncmp(words, text, strlen(text)));
  CHECK_CL(clGetPlatformInfo(opencl->platform, CL_PLATFORM_NUMERIC_VERSION, sizeof number, &number,
                             NULL),
           CL_SUCCESS);
  CHECK(number == CL_MAKE_VERSION(3, minor, 0));
}

static bool lists_c_3_1(const struct opencl *opencl) {
  cl_name_version versions[LIST_MAX];
  const size_t count =
      info(opencl, CL_DEVICE_OPENCL_C_ALL_VERSIONS, versions, sizeof versions) / sizeof *versions;
  for (size_t i = 0; i < count; i++)
    if (versions[i].version == CL_MAKE_VERSION(3, 1, 0))
      return true;
  return false;
}

/* ---- cl_khr_spirv_queries ----------------------------------------------------------------- */

static bool has_text(const char *const *texts, size_t count, const char *wanted) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(texts[i], wanted))
      return true;
  return false;
}

/* Requirements of the reported OpenCL extensions and SPIR-V versions. */
static void check_spirv(const struct opencl *opencl) {
  static const char *const wanted[] = {
      "SPV_KHR_bit_instructions",
      "SPV_KHR_integer_dot_product",
      "SPV_KHR_subgroup_rotate",
      "SPV_KHR_expect_assume",
      "SPV_KHR_linkonce_odr",
      "SPV_KHR_shader_clock",
      "SPV_KHR_no_integer_wrap_decoration",
  };
  enum { KERNEL = 6, FLOAT64 = 10, SHADER = 1, UNIFORM_DECORATION = 71, SHADER_CLOCK = 5055 };
  const char *texts[LIST_MAX];
  cl_uint capabilities[LIST_MAX];
  size_t count =
      info(opencl, CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS, texts, sizeof texts) / sizeof *texts;
  CHECK(count == 2 && !strcmp(texts[0], "OpenCL.std"));
  CHECK(!strcmp(texts[1], "OpenCL.DebugInfo.100"));
  count = info(opencl, CL_DEVICE_SPIRV_EXTENSIONS, texts, sizeof texts) / sizeof *texts;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    CHECK(has_text(texts, count, wanted[i]));
  count = info(opencl, CL_DEVICE_SPIRV_CAPABILITIES, capabilities, sizeof capabilities) /
          sizeof *capabilities;
  bool found[SHADER_CLOCK + 1] = {false};
  for (size_t i = 0; i < count; i++)
    if (capabilities[i] <= SHADER_CLOCK)
      found[capabilities[i]] = true;
  CHECK(found[KERNEL] && found[FLOAT64] && found[UNIFORM_DECORATION] && found[SHADER_CLOCK]);
  CHECK(!found[SHADER]);
}

/* ---- OpenCL C 3.1 --------------------------------------------------------------------------- */

/* A local argument of size 0 must not overlap other local memory. Also tests features of OpenCL
 * C 3.1 that need no pragma or macro. */
static const char source[] =
    "#if __OPENCL_C_VERSION__ != 310 || CL_VERSION_3_1 != 310\n"
    "#error the language\n"
    "#endif\n"
    "#if __OPENCL_VERSION__ != 310\n"
    "#error the device\n"
    "#endif\n"
    "#ifndef __opencl_c_integer_dot_product_input_4x8bit_packed\n"
    "#error dot products\n"
    "#endif\n"
    "kernel void k(global uint *out, local uint *before, local uint *none, local uint *after) {\n"
    "  const uint i = get_local_id(0);\n"
    "  before[i] = i;\n"
    "  after[i] = 100 + i;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  uint sum = before[31 - i] + after[31 - i];\n"
    "  sum += dot_4x8packed_uu_uint(0x01010101u, 0x01020304u);\n"
    "  sum += popcount(bit_reverse(i)) + sub_group_shuffle_xor(i, 0u);\n"
    "  out[i] = sum + sub_group_rotate(i, 0);\n"
    "  if (i == 0)\n"
    "    printf(\"%zu %zx %td\\n\", (size_t)0x123456789aul, (size_t)255, "
    "(ptrdiff_t)-5000000000l);\n"
    "}\n";

/* Redirects standard output to a file while a kernel prints. */
static void check_kernel(const struct opencl *opencl) {
  enum { ITEMS = 32 };
  cl_uint out[ITEMS];
  cl_int error;
  char text[128] = "";
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 0, NULL, "-cl-std=CL3.1", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mem = clCreateBuffer(opencl->context, 0, sizeof out, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, ITEMS * sizeof(cl_uint), NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, 0, NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, ITEMS * sizeof(cl_uint), NULL), CL_SUCCESS);
  const size_t items = ITEMS;

  FILE *file = tmpfile();
  fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  CHECK(file && saved >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL),
           CL_SUCCESS);
  fflush(stdout);
  CHECK(dup2(saved, STDOUT_FILENO) >= 0);
  rewind(file);
  CHECK(fread(text, 1, sizeof text - 1, file) > 0);
  CHECK(!strcmp(text, "78187493530 ff -5000000000\n"));
  for (cl_uint i = 0; i < ITEMS; i++)
    CHECK(out[i] == 2 * (31 - i) + 100 + 10 + (cl_uint)__builtin_popcount(i) + 2 * i);
  close(saved);
  fclose(file);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* ------------------------------------------------------------------------------------------- */

static void check_3_1(const struct opencl *opencl) {
  static const char *const required[] = {
      "cl_khr_device_uuid",
      "cl_khr_extended_bit_ops",
      "cl_khr_integer_dot_product",
      "cl_khr_spirv_queries",
      "cl_khr_subgroup_extended_types",
      "cl_khr_subgroup_rotate",
      "cl_khr_subgroup_shuffle",
      "cl_khr_subgroup_shuffle_relative",
      "cl_khr_suggested_local_work_size",
  };
  /* The CTS of August 2026 fails on a device that reports these. */
  static const char *const unapproved[] = {
      "cl_khr_spirv_extended_debug_info",
      "cl_khr_work_group_uniform_arithmetic",
  };
  char words[TEXT_BYTES];
  cl_uint subgroups;
  check_versions(opencl, "OpenCL 3.1 ", 1);
  CHECK(lists_c_3_1(opencl));
  info(opencl, CL_DEVICE_EXTENSIONS, words, sizeof words);
  for (size_t i = 0; i < sizeof required / sizeof *required; i++)
    CHECK(has_word(words, required[i]));
  for (size_t i = 0; i < sizeof(unapproved) / sizeof(*unapproved); i++)
    CHECK(!has_word(words, unapproved[i]));
  info(opencl, CL_DEVICE_MAX_NUM_SUB_GROUPS, &subgroups, sizeof subgroups);
  CHECK(subgroups);
  check_spirv(opencl);
  check_kernel(opencl);
}

static void check_3_0(const struct opencl *opencl) {
  static const cl_device_info lists[] = {CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS,
                                         CL_DEVICE_SPIRV_EXTENSIONS, CL_DEVICE_SPIRV_CAPABILITIES};
  char words[TEXT_BYTES];
  check_versions(opencl, "OpenCL 3.0 ", 0);
  CHECK(!lists_c_3_1(opencl));
  info(opencl, CL_DEVICE_EXTENSIONS, words, sizeof words);
  CHECK(!has_word(words, "cl_khr_spirv_queries"));
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    CHECK(info(opencl, lists[i], NULL, 0) == 0);
  cl_kernel kernel = opencl_kernel(opencl,
                                   "#if __OPENCL_VERSION__ != 300\n"
                                   "#error the device\n"
                                   "#endif\n"
                                   "kernel void k(local uint *none) {}\n",
                                   "k");
  CHECK_CL(clSetKernelArg(kernel, 0, 0, NULL), CL_INVALID_ARG_SIZE);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

int main(int argc, char **argv) {
  struct opencl opencl;
  opencl_open(&opencl);
  if (argc > 1 && !strcmp(argv[1], "3.0"))
    check_3_0(&opencl);
  else
    check_3_1(&opencl);
  opencl_close(&opencl);
  return 0;
}
