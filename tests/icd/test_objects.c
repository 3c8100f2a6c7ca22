/* Objects and their errors on the fake runtime, following the error lists of the specification:
 * platform, device, context, queue, buffer and event.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/icd/fakes/fixture.h"

#include "icd/cl_tegracl.h"
#include "icd/platform/uuid.h"

/* Memory that is not an object, as a handle of each type. */
static uint64_t foreign[64];
#define FOREIGN(type) ((type)(void *)foreign)

/* Expects that a call, which stores into the variable code, returns this error and no object. */
#define REFUSED(expected, call)                                                                    \
  do {                                                                                             \
    code = 1;                                                                                      \
    assert_null(call);                                                                             \
    assert_int_equal(code, expected);                                                              \
  } while (0)

/* ---- platform and device ------------------------------------------------------------ */

static void platform_queries_check_arguments(void **state) {
  cl_platform_id platform;
  cl_uint count;
  char text[256];
  size_t size;
  assert_cl(clGetPlatformIDs(1, &platform, &count));
  assert_int_equal(count, 1);
  assert_cl(clIcdGetPlatformIDsKHR(0, NULL, &count));
  assert_int_equal(count, 1);
  assert_int_equal(clGetPlatformIDs(0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetPlatformIDs(0, &platform, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetPlatformInfo(NULL, CL_PLATFORM_NAME, 0, NULL, &size), CL_INVALID_PLATFORM);
  assert_int_equal(clGetPlatformInfo(platform, 0x1234, 0, NULL, &size), CL_INVALID_VALUE);
  assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 3, text, &size), CL_INVALID_VALUE);
  assert_cl(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 8, text, &size));
  assert_string_equal(text, "tegracl");
  assert_int_equal(size, 8);
  assert_cl(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text, text, NULL));
  assert_memory_equal(text, "OpenCL 3.0 ", 11);
}

/* All entries are set, and functions that exist on Linux are found by name. */
static void dispatch_table_is_complete(void **state) {
  const cl_icd_dispatch *table = icd_platform.object.dispatch;
  assert_ptr_equal(*(void **)&icd_platform, table); /* the first word of the object */
  const size_t entries = sizeof *table / sizeof(void *);
  for (size_t i = 0; i < entries; i++)
    assert_non_null(((void *const *)table)[i]);
  assert_ptr_equal(clGetExtensionFunctionAddress("clIcdGetPlatformIDsKHR"), clIcdGetPlatformIDsKHR);
  assert_ptr_equal(
      clGetExtensionFunctionAddressForPlatform(&icd_platform, "clCreateBufferWithProperties"),
      table->clCreateBufferWithProperties);
  assert_null(clGetExtensionFunctionAddress("clNoSuchThing"));
  assert_null(clGetExtensionFunctionAddress(NULL));
  assert_null(clGetExtensionFunctionAddressForPlatform(NULL, "clGetPlatformInfo"));
}

static void device_functions_check_arguments(void **state) {
  cl_device_id device;
  cl_uint count;
  assert_cl(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_ALL, 1, &device, &count));
  assert_int_equal(count, 1);
  assert_cl(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
  assert_cl(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_GPU, 0, NULL, &count));
  assert_int_equal(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_CPU, 1, &device, &count),
                   CL_DEVICE_NOT_FOUND);
  assert_int_equal(count, 0);
  assert_int_equal(clGetDeviceIDs(FOREIGN(cl_platform_id), CL_DEVICE_TYPE_GPU, 1, &device, NULL),
                   CL_INVALID_PLATFORM);
  assert_int_equal(clGetDeviceIDs(&icd_platform, 0, 1, &device, NULL), CL_INVALID_DEVICE_TYPE);
  assert_int_equal(clGetDeviceIDs(&icd_platform, 1 << 20, 1, &device, NULL),
                   CL_INVALID_DEVICE_TYPE);
  assert_int_equal(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_GPU, 0, &device, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_GPU, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_cl(clRetainDevice(device));
  assert_cl(clReleaseDevice(device));
  assert_int_equal(clRetainDevice(NULL), CL_INVALID_DEVICE);
  assert_int_equal(clReleaseDevice((cl_device_id)(void *)&icd_platform), CL_INVALID_DEVICE);
  const cl_device_partition_property partition[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  assert_int_equal(clCreateSubDevices(device, partition, 0, NULL, &count), CL_INVALID_VALUE);
}

/* All queries of OpenCL 1.0 to 3.0 and of the reported extensions. */
static void device_info_answers_all_queries(void **state) {
  cl_device_id device = icd_device();
  unsigned char value[8192];
  size_t size;
  for (cl_device_info query = CL_DEVICE_TYPE; query <= 0x1072; query++) {
    const cl_int code = clGetDeviceInfo(device, query, sizeof value, value, &size);
    if (code)
      fail_msg("query 0x%x gives %d", query, code);
  }
  for (cl_device_info query = CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV; query <= 0x400A; query++)
    assert_cl(clGetDeviceInfo(device, query, sizeof value, value, &size));
  assert_int_equal(size, sizeof(cl_uint));

  const struct rt_device_info *info = device->info;
  cl_uint units, capability[2];
  cl_ulong bytes, instructions;
  char text[4096];
  cl_name_version versions[128];
  assert_cl(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, 4, &units, NULL));
  assert_int_equal(units, info->sm_count);
  assert_cl(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, 8, &bytes, NULL));
  assert_int_equal(bytes, info->memory_bytes);
  assert_cl(
      clGetDeviceInfo(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, 4, &capability[0], NULL));
  assert_cl(
      clGetDeviceInfo(device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, 4, &capability[1], NULL));
  assert_int_equal(capability[0] * 10 + capability[1], 87);
  assert_cl(clGetDeviceInfo(device, CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL, 8, &instructions, NULL));
  assert_cl(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof text, text, NULL));
  assert_true(atoi(text) >= 520);
  assert_cl(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL));
  assert_non_null(strstr(text, "GA10B"));
  assert_non_null(strstr(text, "software Orin"));
  /* Both forms of the list of extensions agree. */
  assert_cl(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
  assert_cl(
      clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof versions, versions, &size));
  size_t words = 0;
  for (char *rest, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
    assert_string_equal(word, versions[words++].name);
  assert_int_equal(words, size / sizeof *versions);
  assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_TYPE, 4, value, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetDeviceInfo(NULL, CL_DEVICE_TYPE, 8, value, NULL), CL_INVALID_DEVICE);
}

/* The expected hashes are from sha256sum. */
static void sha256_matches_sha256sum(void **state) {
  static const struct {
    const char *text;
    unsigned char first[4];
  } known[] = {
      {"", {0xe3, 0xb0, 0xc4, 0x42}},
      {"abc", {0xba, 0x78, 0x16, 0xbf}},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", {0x9f, 0x43, 0x90, 0xf8}},
  };
  unsigned char hash[ICD_SHA256_BYTES];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    icd_sha256(known[i].text, hash);
    assert_memory_equal(hash, known[i].first, sizeof known[i].first);
  }
}

/* A UUID is the same in each query, and differs for another kind, name or identity. */
static void uuids_depend_on_kind_name_and_identity(void **state) {
  static const struct {
    const char *kind, *name, *identity;
  } things[] = {
      {"device", "GA10B", "1"}, {"driver", "GA10B", "1"}, {"device", "GA10B 2", "1"},
      {"device", "GA10B", "2"}, {"device", "GA10B", ""},
  };
  enum { COUNT = sizeof things / sizeof *things };
  cl_uchar uuid[COUNT][CL_UUID_SIZE_KHR], asked[2][CL_UUID_SIZE_KHR];
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < COUNT; i++) {
      cl_uchar made[CL_UUID_SIZE_KHR];
      icd_uuid(things[i].kind, things[i].name, things[i].identity, made);
      if (round)
        assert_memory_equal(made, uuid[i], sizeof made);
      memcpy(uuid[i], made, sizeof made);
      assert_int_equal(made[6] >> 4, 8);    /* RFC 9562: version */
      assert_int_equal(made[8] >> 6, 0x2u); /* and variant */
    }
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < i; k++)
      assert_memory_not_equal(uuid[i], uuid[k], sizeof *uuid);
  assert_cl(clGetDeviceInfo(icd_device(), CL_DEVICE_UUID_KHR, sizeof *asked, asked[0], NULL));
  assert_cl(clGetDeviceInfo(icd_device(), CL_DRIVER_UUID_KHR, sizeof *asked, asked[1], NULL));
  assert_memory_not_equal(asked[0], asked[1], sizeof *asked);
}

/* ---- context ---------------------------------------------------------------------------- */

static void CL_CALLBACK count_context(cl_context context, void *data) {
  int *order = data;
  order[1] = order[0]++;
}

static void context_functions_check_arguments(void **state) {
  cl_device_id device = icd_device(), bad = FOREIGN(cl_device_id);
  const cl_context_properties platform = (cl_context_properties)&icd_platform;
  const cl_context_properties good[] = {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_INTEROP_USER_SYNC,
                                        CL_TRUE, 0};
  const cl_context_properties unknown[] = {0x4242, 1, 0};
  const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM,
                                         platform, 0};
  const cl_context_properties wrong[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)foreign, 0};
  cl_int value, code;
  REFUSED(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, NULL, NULL, &code));
  REFUSED(CL_INVALID_PROPERTY, clCreateContext(twice, 1, &device, NULL, NULL, &code));
  REFUSED(CL_INVALID_PLATFORM, clCreateContext(wrong, 1, &device, NULL, NULL, &code));
  REFUSED(CL_INVALID_VALUE, clCreateContext(NULL, 0, &device, NULL, NULL, &code));
  REFUSED(CL_INVALID_VALUE, clCreateContext(NULL, 1, NULL, NULL, NULL, &code));
  REFUSED(CL_INVALID_VALUE, clCreateContext(NULL, 1, &device, NULL, &value, &code));
  REFUSED(CL_INVALID_DEVICE, clCreateContext(NULL, 1, &bad, NULL, NULL, &code));
  REFUSED(CL_DEVICE_NOT_FOUND,
          clCreateContextFromType(NULL, CL_DEVICE_TYPE_CPU, NULL, NULL, &code));
  REFUSED(CL_INVALID_DEVICE_TYPE, clCreateContextFromType(NULL, 0, NULL, NULL, &code));

  cl_context context = clCreateContext(good, 1, &device, NULL, NULL, &code);
  assert_cl(code);
  cl_context_properties properties[8];
  cl_device_id devices[2];
  cl_uint count;
  size_t size;
  char fault[64];
  assert_cl(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof properties, properties, &size));
  assert_int_equal(size, sizeof good);
  assert_memory_equal(properties, good, size);
  assert_cl(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, &size));
  assert_int_equal(size, sizeof *devices);
  assert_ptr_equal(devices[0], device);
  assert_cl(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, 4, &count, NULL));
  assert_int_equal(count, 1);
  assert_cl(clGetContextInfo(context, CL_CONTEXT_FAULT_TEGRACL, sizeof fault, fault, NULL));
  assert_string_equal(fault, "");
  assert_int_equal(clGetContextInfo(context, 0x4242, 4, &count, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetContextInfo(NULL, CL_CONTEXT_NUM_DEVICES, 4, &count, NULL),
                   CL_INVALID_CONTEXT);

  /* Destructors are called in reverse order, and only when the last reference is released. */
  int order[4] = {0};
  assert_int_equal(clSetContextDestructorCallback(context, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSetContextDestructorCallback(NULL, count_context, order), CL_INVALID_CONTEXT);
  assert_cl(clSetContextDestructorCallback(context, count_context, order));
  assert_cl(clRetainContext(context));
  assert_cl(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, 4, &count, NULL));
  assert_int_equal(count, 2);
  assert_cl(clReleaseContext(context));
  cl_mem mem = clCreateBuffer(context, 0, 64, NULL, &code);
  assert_cl(clReleaseContext(context));
  /* The buffer holds the context, but the application has no reference left to release. */
  assert_int_equal(order[0], 0);
  assert_int_equal(clReleaseContext(context), CL_INVALID_CONTEXT);
  assert_cl(clReleaseMemObject(mem));
  assert_int_equal(order[0], 1);
  assert_int_equal(clRetainContext(NULL), CL_INVALID_CONTEXT);
  assert_int_equal(clReleaseContext(FOREIGN(cl_context)), CL_INVALID_CONTEXT);

  context = clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &code);
  assert_cl(code);
  assert_cl(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, 0, NULL, &size));
  assert_int_equal(size, 0);
  assert_cl(clReleaseContext(context));
}

/* ---- queue ---------------------------------------------------------------------------------- */

static void queue_functions_check_arguments(void **state) {
  struct fixture *fixture = *state;
  cl_context context = fixture->context;
  cl_device_id device = fixture->device;
  const cl_queue_properties good[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  const cl_queue_properties on_device[] = {
      CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE, 0};
  const cl_queue_properties sized[] = {CL_QUEUE_SIZE, 1024, 0};
  const cl_queue_properties unknown[] = {0x4242, 1, 0};
  cl_int code;
  const cl_queue_properties bits[] = {CL_QUEUE_PROPERTIES, 1 << 20, 0};
  REFUSED(CL_INVALID_CONTEXT, clCreateCommandQueue(NULL, device, 0, &code));
  REFUSED(CL_INVALID_DEVICE, clCreateCommandQueue(context, NULL, 0, &code));
  REFUSED(CL_INVALID_VALUE, clCreateCommandQueue(context, device, 1 << 20, &code));
  REFUSED(CL_INVALID_VALUE, clCreateCommandQueue(context, device, CL_QUEUE_ON_DEVICE, &code));
  REFUSED(CL_INVALID_QUEUE_PROPERTIES,
          clCreateCommandQueueWithProperties(context, device, on_device, &code));
  REFUSED(CL_INVALID_QUEUE_PROPERTIES,
          clCreateCommandQueueWithProperties(context, device, sized, &code));
  REFUSED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, unknown, &code));
  REFUSED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, bits, &code));

  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, good, &code), none;
  assert_cl(code);
  cl_queue_properties list[4];
  cl_command_queue_properties flags;
  cl_context its_context;
  cl_device_id its_device;
  cl_uint count;
  size_t size;
  assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, list, &size));
  assert_int_equal(size, sizeof good);
  assert_memory_equal(list, good, size);
  assert_cl(clGetCommandQueueInfo(fixture->queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &size));
  assert_int_equal(size, 0);
  assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL));
  assert_int_equal(flags, CL_QUEUE_PROFILING_ENABLE);
  assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, 8, &its_context, NULL));
  assert_ptr_equal(its_context, context);
  assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, 8, &its_device, NULL));
  assert_ptr_equal(its_device, device);
  assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE_DEFAULT, 8, &none, NULL));
  assert_null(none);
  assert_cl(clRetainCommandQueue(queue));
  assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, 4, &count, NULL));
  assert_int_equal(count, 2);
  assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, 4, &count, NULL),
                   CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clGetCommandQueueInfo(queue, 0x4242, 4, &count, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &flags),
                   CL_INVALID_OPERATION);
  assert_cl(clFlush(queue));
  assert_cl(clFinish(queue));
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseCommandQueue(queue));
  assert_int_equal(clRetainCommandQueue(NULL), CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clReleaseCommandQueue((cl_command_queue)(void *)context),
                   CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clFlush(NULL), CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clFinish(FOREIGN(cl_command_queue)), CL_INVALID_COMMAND_QUEUE);
}

/* ---- buffers -------------------------------------------------------------------------------- */

static void buffer_functions_check_arguments(void **state) {
  struct fixture *fixture = *state;
  cl_context context = fixture->context;
  char host[1024] = "hello";
  cl_int code;
  const cl_mem_properties empty[] = {0}, unknown[] = {0x4242, 1, 0};
  REFUSED(CL_INVALID_CONTEXT, clCreateBuffer(NULL, 0, 64, NULL, &code));
  REFUSED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, unknown, 0, 64, NULL, &code));
  REFUSED(CL_INVALID_VALUE, clCreateBuffer(context, 1 << 20, 64, NULL, &code));
  REFUSED(CL_INVALID_VALUE,
          clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL, &code));
  REFUSED(CL_INVALID_VALUE,
          clCreateBuffer(context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, NULL, &code));
  REFUSED(CL_INVALID_VALUE,
          clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host, &code));
  REFUSED(CL_INVALID_VALUE,
          clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, host, &code));
  REFUSED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, &code));
  REFUSED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, (size_t)1 << 50, NULL, &code));
  REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, NULL, &code));
  REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 64, NULL, &code));
  REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 64, host, &code));
  assert_null(clCreateBuffer(context, 0, 0, NULL, NULL)); /* errcode_ret may be NULL */

  cl_mem mem = clCreateBufferWithProperties(
      context, empty, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_ONLY, 4096, NULL,
      &code);
  assert_int_equal(code, CL_INVALID_HOST_PTR);
  static char block[4096];
  mem = clCreateBufferWithProperties(
      context, empty, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_ONLY, sizeof block,
      block, &code);
  assert_cl(code);
  cl_mem_object_type type;
  cl_mem_flags flags;
  size_t size, answer;
  void *pointer;
  cl_uint count;
  cl_mem parent;
  cl_mem_properties list[2];
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_MEM_OBJECT_BUFFER);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
  assert_int_equal(flags, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_ONLY);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL));
  assert_int_equal(size, sizeof block);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_HOST_PTR, sizeof pointer, &pointer, NULL));
  assert_null(pointer);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, sizeof list, list, &answer));
  assert_int_equal(answer, sizeof *list);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
  assert_null(parent);
  assert_int_equal(clGetMemObjectInfo(mem, 0x4242, 4, &count, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetMemObjectInfo(NULL, CL_MEM_TYPE, 4, &type, NULL), CL_INVALID_MEM_OBJECT);
  assert_int_equal(clSetMemObjectDestructorCallback(mem, NULL, NULL), CL_INVALID_VALUE);

  /* sub-buffers */
  const cl_buffer_region region = {512, 1024}, odd = {100, 100}, empty_region = {512, 0},
                         outside = {4096 - 512, 513}, wrapped = {512, SIZE_MAX};
  const cl_buffer_create_type kind = CL_BUFFER_CREATE_TYPE_REGION;
  REFUSED(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(NULL, 0, kind, &region, &code));
  REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(mem, CL_MEM_READ_WRITE, kind, &region, &code));
  REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(mem, CL_MEM_USE_HOST_PTR, kind, &region, &code));
  REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, 0x4242, &region, &code));
  REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, kind, NULL, &code));
  REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, kind, &outside, &code));
  REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, kind, &wrapped, &code));
  REFUSED(CL_INVALID_BUFFER_SIZE, clCreateSubBuffer(mem, 0, kind, &empty_region, &code));
  REFUSED(CL_MISALIGNED_SUB_BUFFER_OFFSET, clCreateSubBuffer(mem, 0, kind, &odd, &code));
  cl_mem sub = clCreateSubBuffer(mem, 0, kind, &region, &code);
  assert_cl(code);
  REFUSED(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(sub, 0, kind, &region, &code));
  assert_cl(clGetMemObjectInfo(sub, CL_MEM_OFFSET, sizeof size, &size, NULL));
  assert_int_equal(size, 512);
  assert_cl(clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
  assert_ptr_equal(parent, mem);
  assert_cl(clGetMemObjectInfo(sub, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
  assert_int_equal(flags, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_ONLY);
  assert_int_equal(sub->gpu, mem->gpu + 512);
  /* No more alignment than long16 requires, because applications create sub-buffers at 128 and
   * 256 bytes. */
  const cl_buffer_region second = {128, 128};
  cl_mem next = clCreateSubBuffer(mem, 0, kind, &second, &code);
  assert_cl(code);
  assert_cl(clReleaseMemObject(next));
  assert_cl(clReleaseMemObject(mem)); /* the sub-buffer holds the memory */
  assert_cl(clEnqueueFillBuffer(fixture->queue, sub, "x", 1, 0, 1024, 0, NULL, NULL));
  assert_cl(clRetainMemObject(sub));
  assert_cl(clGetMemObjectInfo(sub, CL_MEM_REFERENCE_COUNT, 4, &count, NULL));
  assert_int_equal(count, 2);
  assert_cl(clReleaseMemObject(sub));
  assert_cl(clReleaseMemObject(sub));
  assert_int_equal(clRetainMemObject(NULL), CL_INVALID_MEM_OBJECT);
  assert_int_equal(clReleaseMemObject((cl_mem)(void *)fixture->queue), CL_INVALID_MEM_OBJECT);
}

static bool exists(const void *handle, int offset) {
  return icd_object_exists(ICD_MAGIC_MEM, (uintptr_t)handle + (uintptr_t)(intptr_t)offset);
}

/* A number (an argument of a bare CUBIN's kernel) is a valid handle as long as the object lives,
 * even if its memory has been reused many times. */
static void numbers_are_handles_of_live_buffers_only(void **state) {
  enum { MANY = 200, LIVE = 300 };
  struct fixture *fixture = *state;
  cl_mem live[LIVE];
  for (int i = 0; i < LIVE; i++)
    live[i] = fixture_buffer(fixture, 64);
  for (int i = 0; i < MANY; i++) {
    cl_mem mem = fixture_buffer(fixture, 64);
    assert_true(exists(mem, 0));
    assert_cl(clReleaseMemObject(mem));
    assert_false(exists(mem, 0));
  }
  for (int i = 0; i < LIVE; i++) {
    assert_true(exists(live[i], 0));
    assert_false(exists(live[i], 1));
    assert_false(exists(live[i], -1));
    assert_false(exists(live[i], sizeof(void *)));
    assert_cl(clReleaseMemObject(live[i]));
  }
  assert_false(exists(fixture->queue, 0));
  assert_false(exists(NULL, 0));
  assert_false(exists(NULL, -1));
}

/* ---- commands on buffers ----------------------------------------------------------------------
 */

static void transfers_copy_bytes_or_report_errors(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture->queue;
  cl_int code;
  char host[256] = {0};
  cl_mem mem = fixture_buffer(fixture, 256), other = fixture_buffer(fixture, 256);
  cl_mem hidden = clCreateBuffer(fixture->context, CL_MEM_HOST_NO_ACCESS, 256, NULL, &code);
  cl_mem readable = clCreateBuffer(fixture->context, CL_MEM_HOST_READ_ONLY, 256, NULL, &code);
  cl_context elsewhere = clCreateContext(NULL, 1, &fixture->device, NULL, NULL, &code);
  cl_mem other_mem = clCreateBuffer(elsewhere, 0, 256, NULL, &code);
  cl_event foreign_event = clCreateUserEvent(elsewhere, &code), no_event = FOREIGN(cl_event);

#define READ(queue_, mem_, offset, size, ptr, n, list)                                             \
  clEnqueueReadBuffer(queue_, mem_, CL_TRUE, offset, size, ptr, n, list, NULL)
  assert_cl(READ(queue, mem, 0, 256, host, 0, NULL));
  assert_cl(READ(queue, mem, 256, 0, host, 0, NULL)); /* 0 bytes at the end */
  assert_int_equal(READ(NULL, mem, 0, 1, host, 0, NULL), CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(READ(queue, NULL, 0, 1, host, 0, NULL), CL_INVALID_MEM_OBJECT);
  assert_int_equal(READ(queue, other_mem, 0, 1, host, 0, NULL), CL_INVALID_CONTEXT);
  assert_int_equal(READ(queue, mem, 0, 257, host, 0, NULL), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, mem, 257, 0, host, 0, NULL), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, mem, 2, SIZE_MAX, host, 0, NULL), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, mem, 0, 1, NULL, 0, NULL), CL_INVALID_VALUE);
  assert_int_equal(READ(queue, mem, 0, 1, host, 1, NULL), CL_INVALID_EVENT_WAIT_LIST);
  assert_int_equal(READ(queue, mem, 0, 1, host, 0, &foreign_event), CL_INVALID_EVENT_WAIT_LIST);
  assert_int_equal(READ(queue, mem, 0, 1, host, 1, &no_event), CL_INVALID_EVENT_WAIT_LIST);
  assert_int_equal(READ(queue, mem, 0, 1, host, 1, &foreign_event), CL_INVALID_CONTEXT);
  assert_int_equal(READ(queue, hidden, 0, 1, host, 0, NULL), CL_INVALID_OPERATION);
  assert_cl(READ(queue, readable, 0, 1, host, 0, NULL));
  assert_int_equal(clEnqueueWriteBuffer(queue, readable, CL_TRUE, 0, 1, host, 0, NULL, NULL),
                   CL_INVALID_OPERATION);

  /* copy */
  assert_cl(clEnqueueCopyBuffer(queue, mem, mem, 0, 128, 128, 0, NULL, NULL));
  assert_int_equal(clEnqueueCopyBuffer(queue, mem, mem, 0, 127, 128, 0, NULL, NULL),
                   CL_MEM_COPY_OVERLAP);
  assert_int_equal(clEnqueueCopyBuffer(queue, mem, other, 200, 0, 100, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueCopyBuffer(queue, mem, other, 0, 200, 100, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueCopyBuffer(queue, mem, other_mem, 0, 0, 1, 0, NULL, NULL),
                   CL_INVALID_CONTEXT);

  /* Fills with patterns of all sizes, each aligned to its size. */
  for (size_t size = 1; size <= 128; size *= 2) {
    unsigned char pattern[128], result[256];
    for (size_t i = 0; i < size; i++)
      pattern[i] = (unsigned char)(i + size);
    assert_cl(clEnqueueFillBuffer(queue, mem, "\0", 1, 0, 256, 0, NULL, NULL));
    assert_cl(clEnqueueFillBuffer(queue, mem, pattern, size, size, 256 - size, 0, NULL, NULL));
    assert_cl(READ(queue, mem, 0, 256, result, 0, NULL));
    for (size_t i = 0; i < 256; i++)
      assert_int_equal(result[i], i < size ? 0 : pattern[i % size]);
  }
  assert_int_equal(clEnqueueFillBuffer(queue, mem, NULL, 4, 0, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueFillBuffer(queue, mem, host, 3, 0, 3, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueFillBuffer(queue, mem, host, 256, 0, 256, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueFillBuffer(queue, mem, host, 4, 2, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueFillBuffer(queue, mem, host, 4, 0, 6, 0, NULL, NULL), CL_INVALID_VALUE);

  /* map */
  cl_uint count;
#define MAP(mem_, flags, offset, size)                                                             \
  clEnqueueMapBuffer(queue, mem_, CL_TRUE, flags, offset, size, 0, NULL, NULL, &code)
  REFUSED(CL_INVALID_VALUE, MAP(mem, CL_MAP_READ, 0, 0));
  REFUSED(CL_INVALID_VALUE, MAP(mem, CL_MAP_READ, 0, 257));
  REFUSED(CL_INVALID_VALUE, MAP(mem, 1 << 20, 0, 1));
  REFUSED(CL_INVALID_VALUE, MAP(mem, CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ, 0, 1));
  REFUSED(CL_INVALID_OPERATION, MAP(hidden, CL_MAP_READ, 0, 1));
  REFUSED(CL_INVALID_OPERATION, MAP(readable, CL_MAP_WRITE, 0, 1));
  REFUSED(CL_INVALID_MEM_OBJECT, MAP(NULL, CL_MAP_READ, 0, 1));
  void *first = MAP(mem, CL_MAP_READ, 0, 16), *second = MAP(mem, CL_MAP_READ, 0, 32);
  assert_ptr_equal(first, second);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, 4, &count, NULL));
  assert_int_equal(count, 2);
  assert_cl(clEnqueueUnmapMemObject(queue, mem, first, 0, NULL, NULL));
  assert_cl(clEnqueueUnmapMemObject(queue, mem, second, 0, NULL, NULL));
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, 4, &count, NULL));
  assert_int_equal(count, 0);
  assert_int_equal(clEnqueueUnmapMemObject(queue, mem, host, 0, NULL, NULL), CL_INVALID_VALUE);

  /* migration */
  assert_cl(clEnqueueMigrateMemObjects(queue, 1, &mem, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
  assert_int_equal(clEnqueueMigrateMemObjects(queue, 0, &mem, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueMigrateMemObjects(queue, 1, &mem, 1 << 9, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueMigrateMemObjects(queue, 1, &other_mem, 0, 0, NULL, NULL),
                   CL_INVALID_CONTEXT);

  clReleaseEvent(foreign_event);
  clReleaseMemObject(other_mem);
  clReleaseContext(elsewhere);
  clReleaseMemObject(mem);
  clReleaseMemObject(other);
  clReleaseMemObject(hidden);
  clReleaseMemObject(readable);
}

/* Compares copies of boxes with a byte-by-byte copy, and tries all errors. */
static void rectangles_match_byte_copies(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture->queue;
  enum { BYTES = 4096 };
  static unsigned char in[BYTES], out[BYTES], expected[BYTES];
  cl_mem mem = fixture_buffer(fixture, BYTES), other = fixture_buffer(fixture, BYTES);
  for (size_t i = 0; i < BYTES; i++)
    in[i] = (unsigned char)(i * 7 + i / 256);
  assert_cl(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, BYTES, in, 0, NULL, NULL));

  const size_t from[3] = {3, 2, 1}, to[3] = {5, 1, 2}, region[3] = {11, 4, 3};
  const size_t row = 20, slice = 200, host_row = 16, host_slice = 96;
  memset(out, 0, BYTES);
  memset(expected, 0, BYTES);
  for (size_t z = 0; z < region[2]; z++)
    for (size_t y = 0; y < region[1]; y++)
      for (size_t x = 0; x < region[0]; x++)
        expected[(to[2] + z) * host_slice + (to[1] + y) * host_row + to[0] + x] =
            in[(from[2] + z) * slice + (from[1] + y) * row + from[0] + x];
  assert_cl(clEnqueueReadBufferRect(queue, mem, CL_TRUE, from, to, region, row, slice, host_row,
                                    host_slice, out, 0, NULL, NULL));
  assert_memory_equal(out, expected, BYTES);
  /* the same to a buffer, and from host memory to a buffer */
  assert_cl(clEnqueueCopyBufferRect(queue, mem, other, from, to, region, row, slice, host_row,
                                    host_slice, 0, NULL, NULL));
  assert_cl(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, BYTES, out, 0, NULL, NULL));
  assert_memory_equal(out, expected, BYTES);
  assert_cl(clEnqueueFillBuffer(queue, other, "\0", 1, 0, BYTES, 0, NULL, NULL));
  assert_cl(clEnqueueWriteBufferRect(queue, other, CL_TRUE, to, from, region, host_row, host_slice,
                                     row, slice, in, 0, NULL, NULL));
  assert_cl(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, BYTES, out, 0, NULL, NULL));
  assert_memory_equal(out, expected, BYTES);

  const size_t nowhere[3] = {0, 0, 0}, empty[3] = {4, 0, 1}, all[3] = {64, 8, 8};
  const size_t far[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
#define RECT(mem_, origin, region_, row_, slice_)                                                  \
  clEnqueueReadBufferRect(queue, mem_, CL_TRUE, origin, nowhere, region_, row_, slice_, 0, 0, out, \
                          0, NULL, NULL)
  assert_cl(RECT(mem, nowhere, all, 0, 0)); /* without gaps it fills the buffer exactly */
  assert_int_equal(RECT(mem, from, all, 0, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, far, all, 0, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, nowhere, far, 0, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, nowhere, empty, 0, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, nowhere, region, 10, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, nowhere, region, 16, 48), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, nowhere, region, 16, 65), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, NULL, region, 0, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(mem, nowhere, NULL, 0, 0), CL_INVALID_VALUE);
  assert_int_equal(RECT(NULL, nowhere, region, 0, 0), CL_INVALID_MEM_OBJECT);
  assert_int_equal(clEnqueueReadBufferRect(queue, mem, CL_TRUE, nowhere, nowhere, region, 0, 0, 0,
                                           0, NULL, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  /* In one buffer, adjacent boxes in the same rows do not overlap. */
  const size_t left[3] = {0, 0, 0}, right[3] = {16, 0, 0}, close[3] = {15, 0, 0},
               below[3] = {8, 3, 0}, square[3] = {16, 4, 1};
#define WITHIN(origin, row_)                                                                       \
  clEnqueueCopyBufferRect(queue, mem, mem, left, origin, square, 64, 0, row_, 0, 0, NULL, NULL)
  assert_cl(WITHIN(right, 64));
  assert_int_equal(WITHIN(close, 64), CL_MEM_COPY_OVERLAP);
  assert_int_equal(WITHIN(below, 64), CL_MEM_COPY_OVERLAP);
  assert_int_equal(WITHIN(right, 128), CL_INVALID_VALUE);
  /* Pitches of 0 are those of the region, so that its rows are adjacent. */
  const size_t next[3] = {0, 4, 0}, last[3] = {0, 3, 0};
#define TIGHT(origin)                                                                              \
  clEnqueueCopyBufferRect(queue, mem, mem, left, origin, square, 0, 0, 0, 0, 0, NULL, NULL)
  assert_cl(TIGHT(next));
  assert_int_equal(TIGHT(last), CL_MEM_COPY_OVERLAP);
  assert_int_equal(TIGHT(right), CL_MEM_COPY_OVERLAP);
  /* Sub-buffers of one buffer, with different pitches: the second row is the same, or is between
   * two rows. */
  const cl_buffer_region halves[2] = {{0, BYTES / 2}, {BYTES / 4, BYTES / 2}};
  const size_t two[3] = {4, 2, 1};
  cl_mem parts[2];
  for (int i = 0; i < 2; i++)
    parts[i] = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &halves[i], NULL);
#define BETWEEN(row_)                                                                              \
  clEnqueueCopyBufferRect(queue, parts[1], parts[0], left, left, two, 8, 0, row_, 0, 0, NULL, NULL)
  assert_int_equal(BETWEEN(BYTES / 4), CL_MEM_COPY_OVERLAP);
  assert_cl(BETWEEN(BYTES / 4 + 4));
  clReleaseMemObject(parts[0]);
  clReleaseMemObject(parts[1]);
  clReleaseMemObject(mem);
  clReleaseMemObject(other);
}

/* ---- launches
 * ------------------------------------------------------------------------------------ */

static void launches_use_the_right_sizes(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture->queue;
  cl_mem mem = fixture_buffer(fixture, 4096);
  cl_kernel ids = fixture_kernel(fixture, "ids"), required = fixture_kernel(fixture, "required"),
            bounded = fixture_kernel(fixture, "bounded"),
            locals = fixture_kernel(fixture, "locals");
  const size_t global[3] = {96, 64, 6}, local[3] = {32, 8, 2}, offset[3] = {1, 2, 3};
#define LAUNCH(kernel, dim, offset_, global_, local_)                                              \
  clEnqueueNDRangeKernel(queue, kernel, dim, offset_, global_, local_, 0, NULL, NULL)
  assert_int_equal(LAUNCH(ids, 1, NULL, global, NULL), CL_INVALID_KERNEL_ARGS);
  assert_cl(clSetKernelArg(ids, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(required, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(bounded, 0, sizeof mem, &mem));

  /* Checks the hidden parameters of the kernel and the launch on the GPU. */
  struct kernel_hidden hidden;
  assert_cl(LAUNCH(ids, 3, offset, global, local));
  assert_cl(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof hidden, &hidden, 0, NULL, NULL));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(hidden.global_offset[i], offset[i]);
    assert_int_equal(hidden.global_size[i], global[i]);
    assert_int_equal(fake_last_launch.block[i], local[i]);
    assert_int_equal(fake_last_launch.grid[i], global[i] / local[i]);
  }
  assert_int_equal(hidden.work_dim, 3);
  assert_cl(LAUNCH(ids, 1, NULL, global, NULL));
  assert_cl(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof hidden, &hidden, 0, NULL, NULL));
  assert_int_equal(hidden.work_dim, 1);
  assert_int_equal(hidden.global_size[1], 1);
  assert_int_equal(hidden.global_offset[0], 0);

  /* Work-group sizes that the driver chooses. */
  static const struct {
    size_t global[3];
    uint32_t block[3];
  } choices[] = {
      {{1 << 20, 1, 1}, {256, 1, 1}}, {{96, 1, 1}, {96, 1, 1}},        {{1000, 1, 1}, {250, 1, 1}},
      {{1009, 1, 1}, {1009, 1, 1}},   {{1, 1, 1}, {1, 1, 1}},          {{64, 64, 1}, {64, 4, 1}},
      {{8, 8, 8}, {8, 8, 4}},         {{32, 1 << 20, 1}, {32, 32, 1}}, {{7, 131072, 1}, {7, 32, 1}},
  };
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    assert_cl(LAUNCH(ids, 3, NULL, choices[i].global, NULL));
    assert_cl(clFinish(queue));
    for (int k = 0; k < 3; k++)
      if (fake_last_launch.block[k] != choices[i].block[k])
        fail_msg("choice %zu: block %ux%ux%u", i, fake_last_launch.block[0],
                 fake_last_launch.block[1], fake_last_launch.block[2]);
  }
  /* Prime numbers, which no work-group size divides, so the runtime launches several grids. */
  const size_t awkward[2] = {1, 131071}, too_many[2] = {1, (size_t)1 << 32 | 15};
  assert_cl(LAUNCH(ids, 2, NULL, awkward, NULL));
  assert_cl(clFinish(queue));
  assert_int_equal(fake_last_launch.grid[1], 131071);
  assert_int_equal(LAUNCH(ids, 2, NULL, too_many, NULL), CL_OUT_OF_RESOURCES);
  assert_cl(LAUNCH(bounded, 1, NULL, global, NULL));
  assert_cl(clFinish(queue));
  assert_int_equal(fake_last_launch.block[0], 32);
  assert_cl(LAUNCH(required, 2, NULL, global, NULL));
  assert_cl(clFinish(queue));
  assert_int_equal(fake_last_launch.block[1], 4);

  /* what is refused */
  const size_t odd[3] = {5, 1, 1}, zero[3] = {0, 1, 1}, tall[3] = {1, 1, 65},
               flat[3] = {1, 1, 65 * 2}, big[3] = {1024, 2, 1}, big_global[3] = {1024, 2, 1},
               most[3] = {SIZE_MAX, 1, 1};
  assert_int_equal(clEnqueueNDRangeKernel(NULL, ids, 1, NULL, global, NULL, 0, NULL, NULL),
                   CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(LAUNCH(NULL, 1, NULL, global, NULL), CL_INVALID_KERNEL);
  assert_int_equal(LAUNCH(ids, 0, NULL, global, NULL), CL_INVALID_WORK_DIMENSION);
  assert_int_equal(LAUNCH(ids, 4, NULL, global, NULL), CL_INVALID_WORK_DIMENSION);
  assert_int_equal(LAUNCH(ids, 1, most, global, NULL), CL_INVALID_GLOBAL_OFFSET);
  assert_int_equal(LAUNCH(ids, 1, NULL, global, odd), CL_INVALID_WORK_GROUP_SIZE);
  assert_int_equal(LAUNCH(ids, 1, NULL, global, zero), CL_INVALID_WORK_GROUP_SIZE);
  assert_int_equal(LAUNCH(ids, 3, NULL, flat, tall), CL_INVALID_WORK_ITEM_SIZE);
  assert_int_equal(LAUNCH(ids, 3, NULL, big_global, big), CL_INVALID_WORK_GROUP_SIZE);
  assert_int_equal(LAUNCH(required, 2, NULL, global, local), CL_INVALID_WORK_GROUP_SIZE);
  assert_int_equal(LAUNCH(bounded, 1, NULL, global, (size_t[]){96}), CL_INVALID_WORK_GROUP_SIZE);
  assert_cl(LAUNCH(ids, 1, NULL, zero, NULL)); /* an empty range */

  /* Blocks of local memory are aligned for their types. */
  uint32_t places[2];
  assert_cl(clSetKernelArg(locals, 0, 20, NULL));
  assert_cl(clSetKernelArg(locals, 1, 100, NULL));
  assert_cl(clSetKernelArg(locals, 2, sizeof mem, &mem));
  assert_cl(LAUNCH(locals, 1, NULL, global, NULL));
  assert_cl(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof places, places, 0, NULL, NULL));
  assert_int_equal(places[0], 0);
  assert_int_equal(places[1], 32);
  assert_int_equal(fake_last_launch.dynamic_shared_bytes, 132);
  /* together with 256 static bytes this exceeds the limit */
  assert_cl(clSetKernelArg(locals, 1, 49152 - 32, NULL));
  assert_int_equal(LAUNCH(locals, 1, NULL, global, NULL), CL_OUT_OF_RESOURCES);

  cl_event event;
  cl_command_type type;
  assert_cl(clEnqueueTask(queue, ids, 0, NULL, &event));
  assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_COMMAND_TASK);
  assert_cl(clReleaseEvent(event));
  clReleaseKernel(ids);
  clReleaseKernel(required);
  clReleaseKernel(bounded);
  clReleaseKernel(locals);
  clReleaseMemObject(mem);
}

/* ---- events
 * ---------------------------------------------------------------------------------------- */

static void CL_CALLBACK ignore(cl_event event, cl_int status, void *data) {}
static void CL_CALLBACK native(void *data) {}

static void event_functions_check_arguments(void **state) {
  struct fixture *fixture = *state;
  cl_int code, status;
  cl_command_queue queue;
  cl_context context;
  cl_uint count;
  REFUSED(CL_INVALID_CONTEXT, clCreateUserEvent(NULL, &code));
  cl_event user = clCreateUserEvent(fixture->context, &code), marker, no_event = FOREIGN(cl_event);
  assert_cl(code);
  assert_int_equal(fixture_status(user), CL_SUBMITTED);
  assert_cl(clGetEventInfo(user, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
  assert_null(queue);
  assert_cl(clGetEventInfo(user, CL_EVENT_CONTEXT, sizeof context, &context, NULL));
  assert_ptr_equal(context, fixture->context);
  assert_cl(clRetainEvent(user));
  assert_cl(clGetEventInfo(user, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, NULL));
  assert_int_equal(count, 2);
  assert_cl(clReleaseEvent(user));
  assert_int_equal(clGetEventInfo(user, 0x4242, 4, &count, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetEventInfo(NULL, CL_EVENT_CONTEXT, 8, &context, NULL), CL_INVALID_EVENT);
  assert_int_equal(clSetUserEventStatus(user, CL_RUNNING), CL_INVALID_VALUE);
  assert_int_equal(clSetUserEventStatus(NULL, CL_COMPLETE), CL_INVALID_EVENT);
  assert_int_equal(clSetEventCallback(user, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSetEventCallback(user, CL_QUEUED, ignore, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSetEventCallback(no_event, CL_COMPLETE, ignore, NULL), CL_INVALID_EVENT);
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_INVALID_OPERATION);
  assert_int_equal(clSetUserEventStatus(user, -1), CL_INVALID_OPERATION);
  assert_int_equal(fixture_status(user), CL_COMPLETE);

  assert_cl(clEnqueueMarker(fixture->queue, &marker));
  assert_int_equal(clEnqueueMarker(fixture->queue, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSetUserEventStatus(marker, CL_COMPLETE), CL_INVALID_EVENT);
  const cl_event both[2] = {user, marker}, mixed[2] = {user, no_event};
  assert_cl(clWaitForEvents(2, both));
  assert_int_equal(clWaitForEvents(2, mixed), CL_INVALID_EVENT);
  assert_int_equal(clWaitForEvents(0, both), CL_INVALID_VALUE);
  assert_int_equal(clWaitForEvents(1, NULL), CL_INVALID_VALUE);
  cl_context elsewhere = clCreateContext(NULL, 1, &fixture->device, NULL, NULL, &code);
  cl_event far = clCreateUserEvent(elsewhere, &code);
  assert_int_equal(clWaitForEvents(2, (cl_event[]){user, far}), CL_INVALID_CONTEXT);
  assert_cl(clReleaseEvent(far));
  assert_cl(clReleaseContext(elsewhere));
  cl_ulong time;
  assert_int_equal(clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, 8, &time, NULL),
                   CL_PROFILING_INFO_NOT_AVAILABLE);
  assert_cl(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, &status, NULL));
  assert_cl(clReleaseEvent(marker));
  /* A stale handle may be read, because its memory belongs to the context. */
  assert_int_equal(clReleaseEvent(marker), CL_INVALID_EVENT);
  assert_int_equal(clRetainEvent(marker), CL_INVALID_EVENT);
  assert_cl(clReleaseEvent(user));

  assert_cl(clEnqueueBarrier(fixture->queue));
  assert_int_equal(clEnqueueWaitForEvents(fixture->queue, 1, &no_event), CL_INVALID_EVENT);
  assert_int_equal(clEnqueueWaitForEvents(fixture->queue, 0, NULL), CL_INVALID_VALUE);
  assert_int_equal(
      clEnqueueNativeKernel(fixture->queue, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
      CL_INVALID_OPERATION);
}

/* ---- unsupported functions
 * ---------------------------------------------------------------------------- */

static void unsupported_functions_return_errors(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  REFUSED(CL_INVALID_OPERATION, clCreatePipe(fixture->context, 0, 4, 4, NULL, &code));
  REFUSED(CL_INVALID_CONTEXT, clCreatePipe(NULL, 0, 4, 4, NULL, &code));
  assert_int_equal(
      clSetDefaultDeviceCommandQueue(fixture->context, fixture->device, fixture->queue),
      CL_INVALID_OPERATION);
  assert_int_equal(clSetDefaultDeviceCommandQueue(fixture->context, NULL, fixture->queue),
                   CL_INVALID_DEVICE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(platform_queries_check_arguments),
      cmocka_unit_test(dispatch_table_is_complete),
      cmocka_unit_test(device_functions_check_arguments),
      cmocka_unit_test(device_info_answers_all_queries),
      cmocka_unit_test(sha256_matches_sha256sum),
      cmocka_unit_test(uuids_depend_on_kind_name_and_identity),
      cmocka_unit_test(context_functions_check_arguments),
      TEST(queue_functions_check_arguments),
      TEST(buffer_functions_check_arguments),
      TEST(numbers_are_handles_of_live_buffers_only),
      TEST(transfers_copy_bytes_or_report_errors),
      TEST(rectangles_match_byte_copies),
      TEST(launches_use_the_right_sizes),
      TEST(event_functions_check_arguments),
      TEST(unsupported_functions_return_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
