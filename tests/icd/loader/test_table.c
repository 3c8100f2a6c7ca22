/* The dispatch table as ICD loaders for OpenCL 3.1 use it: one that calls through the table of
 * every object (cl_khr_icd 1) without checking its length, and one that looks up names (cl_khr_icd
 * 2). The installed headers may be older, so table_3_1.h has the order.
 *
 * test_table DRIVER
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <CL/cl.h>

#include "tests/icd/loader/table_3_1.h"

#define assert_cl(code) assert_int_equal((code), CL_SUCCESS)

enum { SUGGESTED = TABLE_3_1_SLOTS - 1, PLATFORM_IDS = 0, UNLOAD_COMPILER = 31, LATER = 100 };

static const intptr_t tag = 0x4F50454E434C3331; /* CL_ICD2_TAG_KHR for 64 bits, "OPENCL31" */

/* The start of an object, which loaders read. */
struct object {
  void **table;
  void *data;
};

static void *(*address_of)(const char *);

static cl_platform_id the_platform(void) {
  cl_platform_id platform;
  cl_int (*get)(cl_uint, cl_platform_id *, cl_uint *);
  *(void **)&get = address_of("clIcdGetPlatformIDsKHR");
  assert_cl(get(1, &platform, NULL));
  return platform;
}

/* ---- cl_khr_icd 1 ---------------------------------------------------------------------- */

static void every_slot_is_in_its_place(void **state) {
  (void)state;
  void **table = ((struct object *)the_platform())->table;
  for (size_t i = 0; i < TABLE_3_1_SLOTS; i++) {
    void *function = address_of(table_3_1[i]);
    assert_non_null(table[i]);
    if (i == PLATFORM_IDS || i == UNLOAD_COMPILER)
      assert_int_equal((intptr_t)table[i], tag);
    else if (function && function != table[i])
      fail_msg("slot %zu has %p instead of %s", i, table[i], table_3_1[i]);
    else if (!function && !strstr(table_3_1[i], "D3D1") && !strstr(table_3_1[i], "DX9Media"))
      fail_msg("%s is not found", table_3_1[i]);
  }
}

/* Calls functions that are not in any header yet, with arguments of several types. */
static void slots_after_the_end_return_errors(void **state) {
  (void)state;
  void **table = ((struct object *)the_platform())->table;
  for (size_t i = TABLE_3_1_SLOTS; i < TABLE_3_1_SLOTS + LATER; i++) {
    cl_int (*function)(void *, cl_uint, size_t, const void *, cl_ulong, void *, void *, void *);
    *(void **)&function = table[i];
    assert_non_null(table[i]);
    assert_int_equal(function(the_platform(), 1, 2, NULL, 3, NULL, NULL, NULL),
                     CL_INVALID_OPERATION);
  }
}

/* ---- cl_khr_icd 2 ---------------------------------------------------------------------- */

/* A loader's own table. */
struct data {
  void *table[TABLE_3_1_SLOTS];
};

static void fill(struct data *data, cl_platform_id platform) {
  void *(*find)(cl_platform_id, const char *);
  cl_int (*set)(cl_platform_id, void *);
  *(void **)&find = address_of("clIcdGetFunctionAddressForPlatformKHR");
  *(void **)&set = address_of("clIcdSetPlatformDispatchDataKHR");
  assert_non_null(find);
  assert_non_null(set);
  for (size_t i = 0; i < TABLE_3_1_SLOTS; i++)
    data->table[i] = find(platform, table_3_1[i]);
  assert_null(find(platform, "clNoSuchFunction"));
  assert_null(find(NULL, "clGetPlatformInfo"));
  assert_int_equal(set(NULL, data), CL_INVALID_PLATFORM);
  assert_cl(set(platform, data));
}

static void *slot(const void *object, const char *name) {
  const struct data *data = ((const struct object *)object)->data;
  for (size_t i = 0; i < TABLE_3_1_SLOTS; i++)
    if (!strcmp(table_3_1[i], name))
      return data->table[i];
  fail_msg("no slot %s", name);
  return NULL;
}

/* Calls a function like a loader, through the data of the object that is passed. */
#define CALL(handle, function, ...) ((__typeof__(&(function)))slot(handle, #function))(__VA_ARGS__)
#define IS_OF(handle, loader)       assert_ptr_equal(((struct object *)(handle))->data, loader)

/* Creates and uses objects of all kinds through one loader's table. */
static void use(const struct data *loader, cl_platform_id platform) {
  cl_device_id device;
  cl_int code;
  IS_OF(platform, loader);
  assert_cl(CALL(platform, clGetDeviceIDs, platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  IS_OF(device, loader);
  cl_context context = CALL(device, clCreateContext, NULL, 1, &device, NULL, NULL, &code);
  assert_cl(code);
  IS_OF(context, loader);
  cl_command_queue queue =
      CALL(context, clCreateCommandQueueWithProperties, context, device, NULL, &code);
  assert_cl(code);
  IS_OF(queue, loader);
  cl_mem mem = CALL(context, clCreateBuffer, context, 0, 256, NULL, &code);
  assert_cl(code);
  IS_OF(mem, loader);
  cl_sampler sampler = CALL(context, clCreateSamplerWithProperties, context, NULL, &code);
  assert_cl(code);
  IS_OF(sampler, loader);
  const char *text = "kernel void ids(global uint *out) { out[get_global_id(0)] = 7; }";
  cl_program program = CALL(context, clCreateProgramWithSource, context, 1, &text, NULL, &code);
  assert_cl(code);
  IS_OF(program, loader);
  assert_cl(CALL(program, clBuildProgram, program, 0, NULL, NULL, NULL, NULL));
  cl_kernel kernel = CALL(program, clCreateKernel, program, "ids", &code);
  assert_cl(code);
  IS_OF(kernel, loader);
  assert_cl(CALL(kernel, clSetKernelArg, kernel, 0, sizeof mem, &mem));

  /* A loader of version 1 calls the new function through the table of the object. */
  cl_int (*suggest)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, size_t *);
  const size_t global = 64, none = 0;
  for (int version = 1; version <= 2; version++) {
    size_t local = 0;
    *(void **)&suggest = version == 1 ? ((struct object *)queue)->table[SUGGESTED]
                                      : slot(queue, "clGetKernelSuggestedLocalWorkSize");
    assert_cl(suggest(queue, kernel, 1, NULL, &global, &local));
    assert_true(local && global % local == 0);
    assert_int_equal(suggest(queue, kernel, 1, NULL, &global, NULL), CL_INVALID_VALUE);
    assert_int_equal(suggest(queue, kernel, 1, NULL, NULL, &local), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(suggest(queue, kernel, 1, NULL, &none, &local), CL_INVALID_GLOBAL_WORK_SIZE);
  }

  cl_event event;
  cl_uint value = 0;
  assert_cl(
      CALL(queue, clEnqueueNDRangeKernel, queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
  IS_OF(event, loader);
  assert_cl(CALL(queue, clEnqueueReadBuffer, queue, mem, CL_TRUE, 63 * sizeof value, sizeof value,
                 &value, 1, &event, NULL));
  assert_int_equal(value, 7);
  assert_cl(CALL(event, clReleaseEvent, event));
  assert_cl(CALL(kernel, clReleaseKernel, kernel));
  IS_OF(kernel, loader); /* a stale handle causes an error, not an access to other memory */
  assert_int_equal(CALL(kernel, clReleaseKernel, kernel), CL_INVALID_KERNEL);
  assert_cl(CALL(program, clReleaseProgram, program));
  assert_cl(CALL(sampler, clReleaseSampler, sampler));
  assert_cl(CALL(mem, clReleaseMemObject, mem));
  assert_cl(CALL(queue, clReleaseCommandQueue, queue));
  assert_cl(CALL(context, clReleaseContext, context));
}

/* Objects carry the loader's data, also of a second loader after the first was unloaded and its
 * memory was freed. */
static void objects_carry_the_loaders_data(void **state) {
  (void)state;
  cl_platform_id platform = the_platform();
  struct data *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);
  fill(first, platform);
  use(first, platform);
  fill(second, platform);
  free(first);
  use(second, platform);
  free(second);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_slot_is_in_its_place),
      cmocka_unit_test(slots_after_the_end_return_errors),
      cmocka_unit_test(objects_carry_the_loaders_data),
  };
  void *driver = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!driver) {
    print_error("%s\n", count == 2 ? dlerror() : "usage: test_table DRIVER");
    return 1;
  }
  *(void **)&address_of = dlsym(driver, "clGetExtensionFunctionAddress");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
