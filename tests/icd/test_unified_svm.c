/* The draft cl_khr_unified_svm on the fake runtime. The argument says what TEGRACL_EXPERIMENTAL
 * has: "on", "off", or "clash" for two drafts that exclude each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icd/cl_tegracl.h"
#include "tests/icd/fakes/fixture.h"

enum { TYPES = 5, DEVICE_TYPE = 2, BYTES = 256 };

typedef cl_svm_alloc_properties_khr property;

static const cl_svm_capabilities_khr least[TYPES] = {
    CL_SVM_TYPE_MACRO_COARSE_GRAIN_BUFFER_KHR, CL_SVM_TYPE_MACRO_FINE_GRAIN_BUFFER_KHR,
    CL_SVM_TYPE_MACRO_DEVICE_KHR, CL_SVM_TYPE_MACRO_HOST_KHR,
    CL_SVM_TYPE_MACRO_SINGLE_DEVICE_SHARED_KHR};

static bool reports(struct fixture *fixture) {
  char words[4096];
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_EXTENSIONS, sizeof words, words, NULL));
  return strstr(words, "cl_khr_unified_svm") != NULL;
}

static void device_reports_five_types(void **state) {
  struct fixture *fixture = *state;
  cl_platform_id platform;
  assert_cl(clGetPlatformIDs(1, &platform, NULL));
  assert_true(reports(fixture));
  cl_svm_capabilities_khr types[TYPES], platform_types[TYPES];
  size_t size, atom;
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_SVM_TYPE_CAPABILITIES_KHR, sizeof types,
                            types, &size));
  assert_int_equal(size, sizeof types);
  assert_cl(clGetPlatformInfo(platform, CL_PLATFORM_SVM_TYPE_CAPABILITIES_KHR,
                              sizeof platform_types, platform_types, &size));
  assert_int_equal(size, sizeof types);
  assert_memory_equal(types, platform_types, sizeof types);
  for (int i = 0; i < TYPES; i++) {
    assert_int_equal(types[i] & least[i], least[i]);
    /* No board has shown that CPU and GPU agree on atomics, nor can it reach the host's heap. */
    assert_int_equal(types[i] & (CL_SVM_CAPABILITY_CONCURRENT_ATOMIC_ACCESS_KHR |
                                 CL_SVM_CAPABILITY_SYSTEM_ALLOCATED_KHR),
                     0);
  }
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR,
                            sizeof atom, &atom, NULL));
  assert_int_equal(atom, 1);
}

#define QUERY(name, pointer, value)                                                                \
  assert_cl(clGetSVMPointerInfoKHR(fixture->context, NULL, (pointer), CL_SVM_INFO_##name##_KHR,    \
                                   sizeof(value), &(value), NULL))

static void expect(struct fixture *fixture, const void *pointer, cl_uint type, const void *base,
                   size_t bytes, cl_device_id device, uint64_t access) {
  cl_uint index;
  cl_svm_capabilities_khr capabilities;
  const void *start;
  size_t size;
  cl_device_id owner;
  cl_svm_alloc_access_flags_khr flags;
  QUERY(TYPE_INDEX, pointer, index);
  QUERY(CAPABILITIES, pointer, capabilities);
  QUERY(BASE_PTR, pointer, start);
  QUERY(SIZE, pointer, size);
  QUERY(ASSOCIATED_DEVICE_HANDLE, pointer, owner);
  QUERY(ACCESS_FLAGS, pointer, flags);
  assert_int_equal(index, type);
  assert_int_equal(!capabilities, type == CL_UINT_MAX);
  assert_ptr_equal(start, base);
  assert_int_equal(size, bytes);
  assert_ptr_equal(owner, device);
  assert_int_equal(flags, access);
}

static void expect_foreign(struct fixture *fixture, const void *pointer) {
  expect(fixture, pointer, CL_UINT_MAX, NULL, 0, NULL, 0);
  size_t size = 1;
  assert_cl(clGetSVMPointerInfoKHR(fixture->context, NULL, pointer, CL_SVM_INFO_PROPERTIES_KHR, 0,
                                   NULL, &size));
  assert_int_equal(size, 0);
}

static void allocations_are_described(void **state) {
  struct fixture *fixture = *state;
  const property list[] = {CL_SVM_ALLOC_ACCESS_FLAGS_KHR,
                           CL_SVM_ALLOC_ACCESS_HOST_NOREAD_KHR,
                           CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR,
                           (property)(uintptr_t)fixture->device,
                           CL_SVM_ALLOC_ALIGNMENT_KHR,
                           4096,
                           0};
  for (cl_uint type = 0; type < TYPES; type++) {
    cl_int code = -1;
    char *pointer = clSVMAllocWithPropertiesKHR(fixture->context, list, type, BYTES, &code);
    assert_cl(code);
    memset(pointer, 1, BYTES);
    for (int at = 0; at < BYTES; at += BYTES - 1)
      expect(fixture, pointer + at, type, pointer, BYTES, fixture->device,
             CL_SVM_ALLOC_ACCESS_HOST_NOREAD_KHR);
    property copy[sizeof list / sizeof *list];
    size_t size;
    assert_cl(clGetSVMPointerInfoKHR(fixture->context, fixture->device, pointer,
                                     CL_SVM_INFO_PROPERTIES_KHR, sizeof copy, copy, &size));
    assert_int_equal(size, sizeof list);
    assert_memory_equal(copy, list, sizeof list);
    expect_foreign(fixture, pointer + BYTES);
    assert_int_equal(clMemFreeINTEL(fixture->context, pointer), CL_INVALID_VALUE);
    assert_int_equal(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, pointer + 1),
                     CL_INVALID_VALUE);
    assert_cl(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, pointer));
    expect_foreign(fixture, pointer);
  }
}

static void allocations_of_other_functions_are_described(void **state) {
  struct fixture *fixture = *state;
  char *coarse = clSVMAlloc(fixture->context, 0, BYTES, 0);
  char *fine = clSVMAlloc(fixture->context, CL_MEM_SVM_FINE_GRAIN_BUFFER, BYTES, 0);
  char *intel = clHostMemAllocINTEL(fixture->context, NULL, BYTES, 0, NULL);
  expect(fixture, coarse, 0, coarse, BYTES, NULL, 0);
  expect(fixture, fine, 1, fine, BYTES, NULL, 0);
  expect_foreign(fixture, intel);
  expect_foreign(fixture, &coarse);
  expect_foreign(fixture, NULL);
  assert_int_equal(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, intel), CL_INVALID_VALUE);
  assert_cl(clMemFreeINTEL(fixture->context, intel));
  assert_cl(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, coarse));
  clSVMFree(fixture->context, fine);
  assert_cl(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, NULL));
}

static void bad_arguments_are_refused(void **state) {
  struct fixture *fixture = *state;
  const property device = (property)(uintptr_t)fixture->device;
  const property handle = CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR;
  const property access = CL_SVM_ALLOC_ACCESS_FLAGS_KHR, align = CL_SVM_ALLOC_ALIGNMENT_KHR;
  const struct {
    property list[5];
    cl_uint type;
    size_t size;
    cl_int code;
  } rows[] = {
      {.list = {1, 1}, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.list = {handle, 1}, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.list = {access, 4}, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.list = {align, 3}, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.list = {align, 8192}, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.list = {align, 8, align, 8}, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.type = DEVICE_TYPE, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.list = {handle, 0}, .type = DEVICE_TYPE, .size = BYTES, .code = CL_INVALID_PROPERTY},
      {.type = TYPES, .size = BYTES, .code = CL_INVALID_VALUE},
      {.size = SIZE_MAX, .code = CL_INVALID_BUFFER_SIZE},
      {.list = {handle, device}, .type = DEVICE_TYPE, .size = 0, .code = CL_SUCCESS},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_int code = 1;
    assert_null(clSVMAllocWithPropertiesKHR(fixture->context, rows[i].list, rows[i].type,
                                            rows[i].size, &code));
    if (code != rows[i].code)
      fail_msg("row %zu: %d", i, code);
  }
  const property unknown[] = {1, 1, 0};
  cl_uint index;
  cl_int code;
  assert_null(clSVMAllocWithPropertiesKHR(NULL, NULL, 0, 1, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_int_equal(clSVMFreeWithPropertiesKHR(NULL, NULL, 0, NULL), CL_INVALID_CONTEXT);
  assert_int_equal(clSVMFreeWithPropertiesKHR(fixture->context, unknown, 0, NULL),
                   CL_INVALID_PROPERTY);
  assert_int_equal(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 1, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, &index), CL_INVALID_VALUE);
  assert_int_equal(clGetSVMPointerInfoKHR(NULL, NULL, NULL, CL_SVM_INFO_SIZE_KHR, 0, NULL, NULL),
                   CL_INVALID_CONTEXT);
  assert_int_equal(clGetSVMPointerInfoKHR(fixture->context, (cl_device_id)fixture->context, NULL,
                                          CL_SVM_INFO_SIZE_KHR, 0, NULL, NULL),
                   CL_INVALID_DEVICE);
  assert_int_equal(clGetSVMPointerInfoKHR(fixture->context, NULL, NULL, 0, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(
      clGetSVMPointerInfoKHR(fixture->context, NULL, NULL, CL_SVM_INFO_SIZE_KHR, 1, &index, NULL),
      CL_INVALID_VALUE);
  assert_int_equal(clGetSVMSuggestedTypeIndexKHR(NULL, 0, 0, NULL, 0, &index), CL_INVALID_CONTEXT);
  assert_int_equal(clGetSVMSuggestedTypeIndexKHR(fixture->context, 0, 0, unknown, 0, &index),
                   CL_INVALID_PROPERTY);
  assert_int_equal(clGetSVMSuggestedTypeIndexKHR(fixture->context, 0, 0, NULL, 0, NULL),
                   CL_INVALID_VALUE);
}

static void type_with_the_capabilities_is_suggested(void **state) {
  struct fixture *fixture = *state;
  const struct {
    cl_svm_capabilities_khr required, desired;
    cl_uint type;
  } rows[] = {
      {least[0], 0, 0},
      {least[1], 0, 1},
      {least[2], 0, 2},
      {least[3], 0, 3},
      {least[4], 0, 1}, /* fine-grained memory has all that shared memory needs */
      {least[4], CL_SVM_CAPABILITY_HOST_OWNED_KHR, 3},
      {0, CL_SVM_CAPABILITY_HOST_OWNED_KHR, 3},
      {0, CL_SVM_CAPABILITY_HOST_READ_KHR, 1},
      {CL_SVM_CAPABILITY_DEVICE_READ_KHR, CL_SVM_CAPABILITY_DEVICE_OWNED_KHR, 2},
      {0, 0, 0},
      {CL_SVM_CAPABILITY_SYSTEM_ALLOCATED_KHR, 0, CL_UINT_MAX},
      {~0ull, 0, CL_UINT_MAX},
      {0, ~0ull, 3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_uint type = 99;
    assert_cl(clGetSVMSuggestedTypeIndexKHR(fixture->context, rows[i].required, rows[i].desired,
                                            NULL, 0, &type));
    if (type != rows[i].type)
      fail_msg("row %zu: %u", i, type);
  }
  cl_ulong most;
  cl_uint type = 99;
  assert_cl(
      clGetDeviceInfo(fixture->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
  assert_cl(clGetSVMSuggestedTypeIndexKHR(fixture->context, least[1], 0, NULL, most, &type));
  assert_int_equal(type, 1);
  assert_cl(clGetSVMSuggestedTypeIndexKHR(fixture->context, least[1], 0, NULL, most + 1, &type));
  assert_int_equal(type, CL_UINT_MAX);
}

static void any_pointer_is_allowed_where_nothing_is_accessed(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue q = fixture->queue;
  cl_kernel kernel = fixture_kernel(fixture, "add");
  void *bogus = (void *)0xBEEF0000, *none = NULL;
  const int pattern = 0;
  const size_t zero = 0, one = 1;
  const cl_bool yes = CL_TRUE;
  int value;
  assert_cl(clSetKernelArgSVMPointer(kernel, 0, bogus));
  assert_cl(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof none, &none));
  assert_cl(
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR, sizeof yes, &yes));
  assert_int_equal(
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR, 1, &yes),
      CL_INVALID_VALUE);
  clReleaseKernel(kernel);
  assert_null(clSVMAlloc(fixture->context, 0, 0, 0));
  cl_event events[5];
  assert_cl(clEnqueueSVMMemcpy(q, CL_TRUE, NULL, &value, 0, 0, NULL, &events[0]));
  assert_cl(clEnqueueSVMMemcpy(q, CL_FALSE, &value, bogus, 0, 0, NULL, &events[1]));
  assert_cl(clEnqueueSVMMemFill(q, NULL, &pattern, 4, 0, 0, NULL, &events[2]));
  assert_cl(clEnqueueSVMMigrateMem(q, 1, (const void **)&none, &zero, 0, 0, NULL, &events[3]));
  assert_cl(clEnqueueSVMFree(q, 1, &none, NULL, NULL, 0, NULL, &events[4]));
  static const cl_command_type types[] = {CL_COMMAND_SVM_MEMCPY, CL_COMMAND_SVM_MEMCPY,
                                          CL_COMMAND_SVM_MEMFILL, CL_COMMAND_SVM_MIGRATE_MEM,
                                          CL_COMMAND_SVM_FREE};
  assert_cl(clFinish(q));
  for (int i = 0; i < 5; i++) {
    cl_command_type type;
    assert_cl(clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, types[i]);
    assert_int_equal(fixture_status(events[i]), CL_COMPLETE);
    clReleaseEvent(events[i]);
  }
  assert_cl(clEnqueueSVMMigrateMem(q, 1, (const void **)&none, NULL, 0, 0, NULL, NULL));
  assert_int_equal(clEnqueueSVMMigrateMem(q, 1, (const void **)&none, &one, 0, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemcpy(q, CL_TRUE, NULL, &value, 4, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, NULL, &pattern, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, NULL, NULL, 4, 0, 0, NULL, NULL), CL_INVALID_VALUE);
}

/* Keeps the message of the last error. */
static char message[1024];
static void CL_CALLBACK keep_message(const char *text, const void *info, size_t bytes, void *data) {
  (void)info, (void)bytes, (void)data;
  snprintf(message, sizeof message, "%s", text);
}

static int setup_with_message(void **state) {
  return fixture_setup_with(state, NULL, keep_message);
}

static const char *expected_message;

static void nothing_is_reported_or_accepted(void **state) {
  struct fixture *fixture = *state;
  cl_platform_id platform;
  assert_cl(clGetPlatformIDs(1, &platform, NULL));
  assert_false(reports(fixture));
  const cl_device_info names[] = {CL_DEVICE_SVM_TYPE_CAPABILITIES_KHR,
                                  CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR};
  for (int i = 0; i < 2; i++)
    assert_int_equal(clGetDeviceInfo(fixture->device, names[i], 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(
      clGetPlatformInfo(platform, CL_PLATFORM_SVM_TYPE_CAPABILITIES_KHR, 0, NULL, NULL),
      CL_INVALID_VALUE);
  cl_int code;
  assert_null(clSVMAllocWithPropertiesKHR(fixture->context, NULL, 0, 1, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  assert_non_null(strstr(message, expected_message));
  cl_uint index;
  assert_int_equal(clGetSVMSuggestedTypeIndexKHR(fixture->context, 0, 0, NULL, 0, &index),
                   CL_INVALID_OPERATION);
  assert_int_equal(
      clGetSVMPointerInfoKHR(fixture->context, NULL, &index, CL_SVM_INFO_SIZE_KHR, 0, NULL, NULL),
      CL_INVALID_OPERATION);
  assert_int_equal(clSVMFreeWithPropertiesKHR(fixture->context, NULL, 0, NULL),
                   CL_INVALID_OPERATION);
  cl_kernel kernel = fixture_kernel(fixture, "add");
  const cl_bool yes = CL_TRUE;
  assert_int_equal(
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR, sizeof yes, &yes),
      CL_INVALID_VALUE);
  assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, &index), CL_INVALID_ARG_VALUE);
  clReleaseKernel(kernel);
}

int main(int argc, char **argv) {
  const struct CMUnitTest on[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
      TEST(device_reports_five_types),
      TEST(allocations_are_described),
      TEST(allocations_of_other_functions_are_described),
      TEST(bad_arguments_are_refused),
      TEST(type_with_the_capabilities_is_suggested),
      TEST(any_pointer_is_allowed_where_nothing_is_accessed),
  };
  const struct CMUnitTest off[] = {
      cmocka_unit_test_setup_teardown(nothing_is_reported_or_accepted, setup_with_message,
                                      fixture_teardown),
  };
  const char *mode = argc > 1 ? argv[1] : "on";
  if (!strcmp(mode, "on")) {
    setenv("TEGRACL_EXPERIMENTAL", "unified_svm", 1);
    return cmocka_run_group_tests(on, NULL, NULL);
  }
  const bool clash = !strcmp(mode, "clash");
  expected_message = clash ? "enable only one of them" : "TEGRACL_EXPERIMENTAL=unified_svm";
  if (clash)
    setenv("TEGRACL_EXPERIMENTAL", "cooperative_matrix,unified_svm", 1);
  else
    unsetenv("TEGRACL_EXPERIMENTAL");
  return cmocka_run_group_tests(off, NULL, NULL);
}
