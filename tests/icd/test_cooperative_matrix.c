/* The queries of the draft cl_khr_cooperative_matrix on the fake runtime. The argument says what
 * TEGRACL_EXPERIMENTAL has: "on", "off", or "clash" for two drafts that exclude each other.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/cl_tegracl.h"
#include "tests/icd/fakes/fixture.h"

enum { VARIANTS = 64 };

typedef cl_device_cooperative_matrix_variant_khr variant;

static bool reports(struct fixture *fixture) {
  char words[8192];
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_EXTENSIONS, sizeof words, words, NULL));
  return strstr(words, "cl_khr_cooperative_matrix") != NULL;
}

static void products_are_reported(void **state) {
  struct fixture *fixture = *state;
  variant variants[VARIANTS], same[VARIANTS];
  size_t size, other;
  unsigned halves = 0, integers = 0, saturating = 0;
  const cl_uint warp = 32, wave = 64;
  assert_true(reports(fixture));
  assert_cl(clGetDeviceCooperativeMatrixInfoKHR(
      fixture->device, CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR, 0, NULL, 0,
      NULL, &size));
  assert_true(size <= sizeof variants && size % sizeof *variants == 0);
  assert_cl(clGetDeviceCooperativeMatrixInfoKHR(
      fixture->device, CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR, 0, NULL, size,
      variants, NULL));
  assert_cl(clGetDeviceCooperativeMatrixInfoKHR(fixture->device,
                                                CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR,
                                                sizeof warp, &warp, size, same, &other));
  assert_int_equal(size, other);
  assert_memory_equal(variants, same, size);
  assert_cl(clGetDeviceCooperativeMatrixInfoKHR(fixture->device,
                                                CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR,
                                                sizeof wave, &wave, 0, NULL, &other));
  assert_int_equal(other, 0);
  for (size_t i = 0; i < size / sizeof *variants; i++) {
    const bool is_half = variants[i].a_type == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP16_KHR;
    halves += is_half;
    integers += !is_half;
    saturating += variants[i].saturating_accumulation;
    assert_int_equal(variants[i].m_size, 16);
    assert_int_equal(variants[i].c_type, variants[i].result_type);
    /* A sum that saturates is one of an instruction, which clamps to the range of int. */
    if (variants[i].saturating_accumulation)
      assert_int_equal(variants[i].result_type,
                       CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT32_KHR);
    for (size_t k = 0; k < i; k++)
      assert_memory_not_equal(&variants[i], &variants[k], sizeof *variants);
  }
  assert_int_equal(halves, 6);
  assert_int_equal(integers, 24);
  assert_int_equal(saturating, 8);
}

static void alignment_is_reported(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    cl_device_info name;
    cl_uint bytes;
  } rows[] = {{CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR, 16},
              {CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR, 8}};
  for (int i = 0; i < 2; i++) {
    cl_uint bytes;
    size_t size;
    assert_cl(clGetDeviceInfo(fixture->device, rows[i].name, sizeof bytes, &bytes, &size));
    assert_int_equal(size, sizeof bytes);
    assert_int_equal(bytes, rows[i].bytes);
  }
}

static void bad_arguments_are_refused(void **state) {
  struct fixture *fixture = *state;
  const cl_uint warp = 32, sized = CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR;
  variant one;
  const struct {
    cl_device_id device;
    cl_uint name;
    size_t input_size;
    const void *input;
    size_t size;
    cl_int code;
  } rows[] = {
      {NULL, sized, sizeof warp, &warp, 0, CL_INVALID_DEVICE},
      {fixture->device, CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR, 0, NULL, 0,
       CL_INVALID_VALUE},
      {fixture->device, sized, 0, NULL, 0, CL_INVALID_VALUE},
      {fixture->device, sized, sizeof warp, NULL, 0, CL_INVALID_VALUE},
      {fixture->device, sized, 2 * sizeof warp, &warp, 0, CL_INVALID_VALUE},
      {fixture->device, sized, sizeof warp, &warp, sizeof one, CL_INVALID_VALUE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(clGetDeviceCooperativeMatrixInfoKHR(rows[i].device, rows[i].name,
                                                         rows[i].input_size, rows[i].input,
                                                         rows[i].size, &one, NULL),
                     rows[i].code);
}

static void nothing_is_reported(void **state) {
  struct fixture *fixture = *state;
  assert_false(reports(fixture));
  assert_int_equal(clGetDeviceCooperativeMatrixInfoKHR(
                       fixture->device, CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR,
                       0, NULL, 0, NULL, NULL),
                   CL_INVALID_OPERATION);
  assert_int_equal(clGetDeviceInfo(fixture->device,
                                   CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR, 0, NULL,
                                   NULL),
                   CL_INVALID_VALUE);
}

int main(int argc, char **argv) {
  const struct CMUnitTest on[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
      TEST(products_are_reported),
      TEST(alignment_is_reported),
      TEST(bad_arguments_are_refused),
  };
  const struct CMUnitTest off[] = {
      TEST(nothing_is_reported),
  };
  const char *mode = argc > 1 ? argv[1] : "on";
  fake_il = true;
  if (!strcmp(mode, "off"))
    unsetenv("TEGRACL_EXPERIMENTAL");
  else
    setenv("TEGRACL_EXPERIMENTAL",
           !strcmp(mode, "clash") ? "unified_svm,cooperative_matrix" : "cooperative_matrix", 1);
  return !strcmp(mode, "on") ? cmocka_run_group_tests(on, NULL, NULL)
                             : cmocka_run_group_tests(off, NULL, NULL);
}
