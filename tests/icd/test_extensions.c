/* Extensions on the fake runtime: unified shared memory, device addresses, external memory, hints,
 * suggested work-group sizes and UUIDs.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/icd/fakes/fixture.h"

#include "icd/cl_tegracl.h"

enum { N = 64, BYTES = N * 4 };
static const size_t global = N;

/* ---- unified shared memory ------------------------------------------------------------ */

static void *allocate(struct fixture *fixture, cl_unified_shared_memory_type_intel type,
                      const cl_mem_properties_intel *list, size_t size, cl_uint alignment,
                      cl_int *code) {
  switch (type) {
  case CL_MEM_TYPE_HOST_INTEL:
    return clHostMemAllocINTEL(fixture->context, list, size, alignment, code);
  case CL_MEM_TYPE_DEVICE_INTEL:
    return clDeviceMemAllocINTEL(fixture->context, fixture->device, list, size, alignment, code);
  default:
    return clSharedMemAllocINTEL(fixture->context, fixture->device, list, size, alignment, code);
  }
}

#define EXPECT_INFO(pointer, query, type, expected)                                                \
  do {                                                                                             \
    type info_value;                                                                               \
    assert_cl(clGetMemAllocInfoINTEL(fixture->context, (pointer), (query), sizeof info_value,      \
                                     &info_value, NULL));                                          \
    assert_true(info_value == (expected));                                                         \
  } while (0)

static void usm_allocations_have_their_type(void **state) {
  struct fixture *fixture = *state;
  static const cl_mem_properties_intel placed[] = {CL_MEM_ALLOC_FLAGS_INTEL,
                                                   CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL, 0};
  static const cl_mem_properties_intel unknown[] = {0x4242, 1, 0};
  static const cl_mem_properties_intel bits[] = {CL_MEM_ALLOC_FLAGS_INTEL, 1 << 20, 0};
  static const cl_mem_properties_intel both[] = {
      CL_MEM_ALLOC_FLAGS_INTEL,
      CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0};
  static const cl_mem_properties_intel *const bad[] = {unknown, bits, both};
  const cl_unified_shared_memory_type_intel types[] = {
      CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_SHARED_INTEL};
  cl_int code;
  for (int i = 0; i < 3; i++) {
    const bool shared = types[i] == CL_MEM_TYPE_SHARED_INTEL;
    assert_true(shared || !allocate(fixture, types[i], placed, BYTES, 64, &code));
    assert_true(shared || code == CL_INVALID_PROPERTY);
    char *pointer = allocate(fixture, types[i], shared ? placed : NULL, BYTES, 64, &code);
    assert_cl(code);
    EXPECT_INFO(pointer + 5, CL_MEM_ALLOC_TYPE_INTEL, cl_unified_shared_memory_type_intel,
                types[i]);
    EXPECT_INFO(pointer + 5, CL_MEM_ALLOC_BASE_PTR_INTEL, void *, pointer);
    EXPECT_INFO(pointer + 5, CL_MEM_ALLOC_SIZE_INTEL, size_t, BYTES);
    EXPECT_INFO(pointer, CL_MEM_ALLOC_DEVICE_INTEL, cl_device_id, i ? fixture->device : NULL);
    EXPECT_INFO(pointer, CL_MEM_ALLOC_FLAGS_INTEL, cl_mem_alloc_flags_intel,
                shared ? CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL : 0);
    assert_int_equal(clMemFreeINTEL(fixture->context, pointer + 1), CL_INVALID_VALUE);
    assert_cl(clMemFreeINTEL(fixture->context, pointer));
    assert_int_equal(clMemFreeINTEL(fixture->context, pointer), CL_INVALID_VALUE);
    assert_null(allocate(fixture, types[i], NULL, 0, 0, &code));
    assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
    assert_null(allocate(fixture, types[i], NULL, SIZE_MAX, 0, &code));
    assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
    assert_null(allocate(fixture, types[i], NULL, 64, 3, &code));
    assert_int_equal(code, CL_INVALID_VALUE);
    for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
      assert_null(allocate(fixture, types[i], bad[j], 64, 0, &code));
      assert_int_equal(code, CL_INVALID_PROPERTY);
    }
  }
  assert_null(clDeviceMemAllocINTEL(fixture->context, NULL, NULL, 64, 0, &code));
  assert_int_equal(code, CL_INVALID_DEVICE);
  assert_null(clHostMemAllocINTEL(NULL, NULL, 64, 0, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  EXPECT_INFO(types, CL_MEM_ALLOC_TYPE_INTEL, cl_unified_shared_memory_type_intel,
              CL_MEM_TYPE_UNKNOWN_INTEL);
  EXPECT_INFO(types, CL_MEM_ALLOC_SIZE_INTEL, size_t, 0);
  assert_int_equal(clGetMemAllocInfoINTEL(fixture->context, types, 0x4242, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_cl(clMemFreeINTEL(fixture->context, NULL));
  assert_cl(clMemBlockingFreeINTEL(fixture->context, NULL));
}

static cl_command_type type_of(cl_event event) {
  cl_command_type type;
  assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  clReleaseEvent(event);
  return type;
}

static void usm_commands_are_ordered(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  cl_event events[5];
  int host[N], *a = clSharedMemAllocINTEL(fixture->context, NULL, NULL, BYTES, 0, &code);
  assert_cl(code);
  int *b = clDeviceMemAllocINTEL(fixture->context, fixture->device, NULL, BYTES, 0, &code);
  assert_cl(code);
  const int three = 3, n = 4;
  cl_kernel kernel = fixture_kernel(fixture, "slow_add");
  assert_cl(clSetKernelArgMemPointerINTEL(kernel, 0, a));
  assert_cl(clSetKernelArgMemPointerINTEL(kernel, 1, b));
  assert_int_equal(clSetKernelArgMemPointerINTEL(kernel, 2, b), CL_INVALID_ARG_VALUE);
  assert_cl(clSetKernelArg(kernel, 2, sizeof n, &n));
  assert_cl(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof a, &a));
  assert_cl(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
                                sizeof(cl_bool), &(cl_bool){CL_TRUE}));
  assert_cl(
      clEnqueueMemFillINTEL(fixture->queue, a, &three, sizeof three, BYTES, 0, NULL, &events[0]));
  assert_cl(clEnqueueMemAdviseINTEL(fixture->queue, a, BYTES, 0, 0, NULL, &events[1]));
  assert_cl(clEnqueueMigrateMemINTEL(fixture->queue, a, BYTES, 0, 0, NULL, &events[2]));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueMemcpyINTEL(fixture->queue, CL_TRUE, host, b, BYTES, 0, NULL, &events[3]));
  for (int i = 0; i < N; i++)
    assert_int_equal(host[i], 7);
  assert_cl(clEnqueueMemsetINTEL(fixture->queue, b, 0x1ff, BYTES, 0, NULL, &events[4]));
  assert_cl(clFinish(fixture->queue));
  assert_int_equal(b[N - 1], -1);
  const cl_command_type types[] = {CL_COMMAND_MEMFILL_INTEL, CL_COMMAND_MEMADVISE_INTEL,
                                   CL_COMMAND_MIGRATEMEM_INTEL, CL_COMMAND_MEMCPY_INTEL,
                                   CL_COMMAND_MEMFILL_INTEL};
  for (int i = 0; i < 5; i++)
    assert_int_equal(type_of(events[i]), types[i]);
  assert_int_equal(clEnqueueMemAdviseINTEL(fixture->queue, NULL, 4, 0, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueMigrateMemINTEL(fixture->queue, a, BYTES, 64, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  /* A blocking free waits for a launch that uses the memory. */
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, &events[0]));
  assert_cl(clMemBlockingFreeINTEL(fixture->context, a));
  assert_int_equal(fixture_status(events[0]), CL_COMPLETE);
  assert_cl(clMemFreeINTEL(fixture->context, b));
  clReleaseEvent(events[0]);
  clReleaseKernel(kernel);
}

/* ---- device addresses --------------------------------------------------------------------- */

static void kernels_use_device_addresses(void **state) {
  struct fixture *fixture = *state;
  static const cl_mem_properties wanted[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};
  static const cl_mem_properties wrong[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, 2, 0};
  static const cl_mem_properties twice[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE,
                                            CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};
  const cl_buffer_region region = {512, 64};
  cl_int code;
  assert_null(clCreateBufferWithProperties(fixture->context, wrong, 0, 1024, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  assert_null(clCreateBufferWithProperties(fixture->context, twice, 0, 1024, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  cl_mem mem = clCreateBufferWithProperties(fixture->context, wanted, 0, 1024, NULL, &code);
  assert_cl(code);
  cl_mem sub = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  assert_cl(code);
  cl_mem plain = fixture_buffer(fixture, BYTES);
  cl_mem_device_address_ext address, inner;
  cl_mem_properties list[3];
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_DEVICE_ADDRESS_EXT, sizeof address, &address, NULL));
  assert_cl(clGetMemObjectInfo(sub, CL_MEM_DEVICE_ADDRESS_EXT, sizeof inner, &inner, NULL));
  assert_int_equal(inner, address + 512);
  assert_int_equal(
      clGetMemObjectInfo(plain, CL_MEM_DEVICE_ADDRESS_EXT, sizeof address, &address, NULL),
      CL_INVALID_OPERATION);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, sizeof list, list, NULL));
  assert_memory_equal(list, wanted, sizeof list);

  /* a kernel whose arguments are all addresses */
  cl_kernel kernel = fixture_kernel(fixture, "add");
  const int n = 2;
  assert_cl(clSetKernelArgDevicePointerEXT(kernel, 0, address));
  assert_cl(clSetKernelArgDevicePointerEXT(kernel, 1, address + 256));
  assert_int_equal(clSetKernelArgDevicePointerEXT(kernel, 2, address), CL_INVALID_ARG_INDEX);
  assert_int_equal(clSetKernelArgDevicePointerEXT(NULL, 0, address), CL_INVALID_KERNEL);
  assert_cl(clSetKernelArg(kernel, 2, sizeof n, &n));
  assert_cl(
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, sizeof address, &address));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  int values[N];
  assert_cl(
      clEnqueueReadBuffer(fixture->queue, mem, CL_TRUE, 256, sizeof values, values, 0, NULL, NULL));
  for (int i = 0; i < N; i++)
    assert_int_equal(values[i], 2);
  clReleaseKernel(kernel);
  clReleaseMemObject(sub);
  clReleaseMemObject(mem);
  clReleaseMemObject(plain);
}

/* ---- external memory ----------------------------------------------------------------------- */

enum { PAGE = 4096 };

/* Creates a dma-buf for the fake runtime. It has two pages, which the test maps. */
static int *make_dma_buf(int *fd) {
  *fd = memfd_create("a dma-buf", MFD_CLOEXEC);
  assert_true(*fd >= 0);
  assert_int_equal(ftruncate(*fd, 2 * PAGE), 0);
  int *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  assert_true(pages != MAP_FAILED);
  return pages;
}

static bool is_closed(int fd) {
  return fcntl(fd, F_GETFD) < 0;
}

/* Runs a kernel that adds one to the first ints of a buffer. */
static void add_one(struct fixture *fixture, cl_mem mem) {
  cl_kernel kernel = fixture_add(fixture, "add", mem, mem, 1);
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  clReleaseKernel(kernel);
}

static void dma_buf_buffers_are_not_copied(void **state) {
  struct fixture *fixture = *state;
  int fd, *pages = make_dma_buf(&fd);
  const cl_mem_properties list[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
                                    (cl_mem_properties)fd,
                                    CL_DEVICE_HANDLE_LIST_KHR,
                                    (cl_mem_properties)(uintptr_t)fixture->device,
                                    CL_DEVICE_HANDLE_LIST_END_KHR,
                                    0};
  const cl_mem_properties foreign[] = {CL_DEVICE_HANDLE_LIST_KHR, 42, 0, 0};
  const cl_mem_properties closed[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, 9999, 0};
  cl_int code;
  int host;
  cl_external_memory_handle_type_khr type;
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
                            sizeof type, &type, NULL));
  assert_int_equal(type, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
  assert_cl(clGetPlatformInfo(&icd_platform, CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
                              sizeof type, &type, NULL));
  assert_int_equal(type, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
  assert_null(clCreateBufferWithProperties(fixture->context, foreign, 0, 64, NULL, &code));
  assert_int_equal(code, CL_INVALID_DEVICE);
  assert_null(clCreateBufferWithProperties(fixture->context, closed, 0, 64, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  assert_null(clCreateBufferWithProperties(fixture->context, list, 0, 2 * PAGE + 1, NULL, &code));
  assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
  assert_null(clCreateBufferWithProperties(fixture->context, list, CL_MEM_USE_HOST_PTR, sizeof host,
                                           &host, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clCreateBufferWithProperties(fixture->context, list + 2, 0, 64, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY); /* devices without a handle */

  assert_false(is_closed(fd)); /* after a failure the application still owns it */
  cl_mem mem = clCreateBufferWithProperties(fixture->context, list, 0, 2 * PAGE, NULL, &code);
  assert_cl(code);
  cl_mem plain = fixture_buffer(fixture, BYTES);
  cl_mem_properties kept[6];
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, sizeof kept, kept, NULL));
  assert_memory_equal(kept, list, sizeof list);
  cl_event events[2];
  cl_command_queue q = fixture->queue;
  assert_true(is_closed(fd));
  pages[N - 1] = 5;
  assert_cl(clEnqueueAcquireExternalMemObjectsKHR(q, 1, &mem, 0, NULL, &events[0]));
  add_one(fixture, mem);
  assert_cl(clEnqueueReleaseExternalMemObjectsKHR(q, 1, &mem, 0, NULL, &events[1]));
  assert_cl(clWaitForEvents(2, events));
  assert_int_equal(pages[N - 1], 6);
  assert_int_equal(type_of(events[0]), CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR);
  assert_int_equal(type_of(events[1]), CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR);
  assert_int_equal(clEnqueueAcquireExternalMemObjectsKHR(NULL, 1, &mem, 0, NULL, NULL),
                   CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clEnqueueAcquireExternalMemObjectsKHR(q, 1, &plain, 0, NULL, NULL),
                   CL_INVALID_MEM_OBJECT);
  assert_int_equal(clEnqueueReleaseExternalMemObjectsKHR(q, 1, NULL, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueReleaseExternalMemObjectsKHR(q, 0, &mem, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  cl_event failed = clCreateUserEvent(fixture->context, NULL);
  assert_cl(clSetUserEventStatus(failed, -1));
  assert_int_equal(clEnqueueAcquireExternalMemObjectsKHR(q, 1, &mem, 1, &failed, NULL),
                   CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  clReleaseEvent(failed);
  clReleaseMemObject(mem);
  clReleaseMemObject(plain);
  munmap(pages, 2 * PAGE);
}

/* A camera image with a gap after each row is filled and read in place. */
static void dma_buf_images_have_row_gaps(void **state) {
  struct fixture *fixture = *state;
  enum { W = 10, H = 8, PITCH = 64 };
  int fd, *pages = make_dma_buf(&fd);
  const cl_mem_properties list[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, (cl_mem_properties)fd,
                                    0};
  const cl_mem_properties address[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};
  const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                        .image_width = W,
                        .image_height = 2 * PAGE / PITCH + 1,
                        .image_row_pitch = PITCH};
  cl_int code;
  assert_null(clCreateImageWithProperties(fixture->context, list, 0, &format, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  desc.image_height = H;
  assert_null(clCreateImageWithProperties(fixture->context, list, CL_MEM_USE_HOST_PTR, &format,
                                          &desc, pages, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  cl_mem buffer = desc.mem_object = fixture_buffer(fixture, PAGE);
  assert_null(clCreateImageWithProperties(fixture->context, list, 0, &format, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  assert_null(
      clCreateImageWithProperties(fixture->context, address, 0, &format, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  desc.mem_object = NULL;
  assert_false(is_closed(fd));
  cl_mem image =
      clCreateImageWithProperties(fixture->context, list, 0, &format, &desc, NULL, &code);
  assert_cl(code);
  assert_true(is_closed(fd));

  const cl_uint seven[4] = {7, 7, 7, 7};
  const size_t corner[3] = {1, 2, 0}, region[3] = {W - 1, H - 2, 1}, one[3] = {1, 1, 1};
  cl_uint found = 0;
  pages[3 * PITCH / 4] = 5;
  assert_cl(clEnqueueAcquireExternalMemObjectsKHR(fixture->queue, 1, &image, 0, NULL, NULL));
  assert_cl(clEnqueueFillImage(fixture->queue, image, seven, corner, region, 0, NULL, NULL));
  assert_cl(clEnqueueReadImage(fixture->queue, image, CL_TRUE, (const size_t[3]){0, 3, 0}, one, 0,
                               0, &found, 0, NULL, NULL));
  assert_cl(clEnqueueReleaseExternalMemObjectsKHR(fixture->queue, 1, &image, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_int_equal(found, 5);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < PITCH / 4; x++)
      assert_int_equal(pages[y * PITCH / 4 + x], x >= 1 && x < W && y >= 2 ? 7
                                                 : x == 0 && y == 3        ? 5
                                                                           : 0);
  clReleaseMemObject(image);
  clReleaseMemObject(buffer);
  munmap(pages, 2 * PAGE);
}

/* Neither the host nor commands nor kernels may write an immutable object. */
static void immutable_memory_is_not_written(void **state) {
  struct fixture *fixture = *state;
  enum { CONTENTS = CL_MEM_IMMUTABLE_EXT | CL_MEM_COPY_HOST_PTR, TEXELS = 4 };
  static const cl_mem_flags refused[] = {CL_MEM_IMMUTABLE_EXT,
                                         CL_MEM_IMMUTABLE_EXT | CL_MEM_ALLOC_HOST_PTR,
                                         CONTENTS | CL_MEM_READ_WRITE, CONTENTS | CL_MEM_WRITE_ONLY,
                                         CONTENTS | CL_MEM_HOST_WRITE_ONLY};
  cl_context context = fixture->context;
  cl_command_queue q = fixture->queue;
  int host[N] = {5, 6, 7, 8}, found[TEXELS] = {0};
  const cl_image_format format = {CL_R, CL_SIGNED_INT32};
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = TEXELS};
  cl_int code;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    void *pointer = refused[i] & CL_MEM_COPY_HOST_PTR ? host : NULL;
    assert_null(clCreateBuffer(context, refused[i], BYTES, pointer, &code));
    assert_int_equal(code, CL_INVALID_VALUE);
    assert_null(clCreateImage(context, refused[i], &format, &desc, pointer, &code));
    assert_int_equal(code, CL_INVALID_VALUE);
  }
  cl_mem buffer = clCreateBuffer(context, CONTENTS, BYTES, host, &code);
  assert_cl(code);
  cl_mem image = clCreateImage(context, CONTENTS, &format, &desc, host, &code);
  assert_cl(code);
  cl_mem plain = fixture_buffer(fixture, BYTES);
  const size_t zero[3] = {0}, rows[3] = {4, 1, 1}, one[3] = {1, 1, 1};
  const cl_buffer_region half = {0, BYTES / 2};
  cl_mem_flags flags;
  assert_cl(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
  assert_int_equal(flags, CONTENTS);

  /* Its sub-buffers are immutable too, and an image in it requires the flag. */
  assert_null(
      clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &code);
  assert_cl(code);
  cl_mem read_only_part =
      clCreateSubBuffer(buffer, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &half, &code);
  assert_cl(code);
  desc.mem_object = buffer;
  assert_null(clCreateImage(context, 0, &format, &desc, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  cl_mem view = clCreateImage(context, CL_MEM_IMMUTABLE_EXT, &format, &desc, NULL, &code);
  assert_cl(code);

#define REFUSED(call) assert_int_equal(call, CL_INVALID_OPERATION)
  cl_mem buffers[] = {buffer, part, read_only_part}, images[] = {image, view, view};
  for (int i = 0; i < 3; i++) {
    cl_mem b = buffers[i], m = images[i];
    REFUSED(clEnqueueWriteBuffer(q, b, CL_TRUE, 0, 4, host, 0, NULL, NULL));
    REFUSED(
        clEnqueueWriteBufferRect(q, b, CL_TRUE, zero, zero, rows, 0, 0, 0, 0, host, 0, NULL, NULL));
    REFUSED(clEnqueueCopyBuffer(q, plain, b, 0, 0, 4, 0, NULL, NULL));
    REFUSED(clEnqueueCopyBufferRect(q, plain, b, zero, zero, rows, 0, 0, 0, 0, 0, NULL, NULL));
    REFUSED(clEnqueueFillBuffer(q, b, host, 4, 0, 4, 0, NULL, NULL));
    REFUSED(clEnqueueCopyImageToBuffer(q, m, b, zero, one, 0, 0, NULL, NULL));
    REFUSED(clEnqueueWriteImage(q, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL));
    REFUSED(clEnqueueCopyImage(q, view, m, zero, (const size_t[3]){1}, one, 0, NULL, NULL));
    REFUSED(clEnqueueFillImage(q, m, host, zero, one, 0, NULL, NULL));
    REFUSED(clEnqueueCopyBufferToImage(q, plain, m, 0, zero, one, 0, NULL, NULL));
    assert_null(clEnqueueMapBuffer(q, b, CL_TRUE, CL_MAP_WRITE, 0, 4, 0, NULL, NULL, &code));
    assert_int_equal(code, CL_INVALID_OPERATION);
    assert_null(clEnqueueMapBuffer(q, b, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0, NULL,
                                   NULL, &code));
    assert_int_equal(code, CL_INVALID_OPERATION);
  }
#undef REFUSED
  assert_null(clEnqueueMapImage(q, image, CL_TRUE, CL_MAP_WRITE, zero, one, NULL, NULL, 0, NULL,
                                NULL, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  cl_kernel kernel = fixture_kernel(fixture, "add");
  assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_INVALID_ARG_VALUE);
  clReleaseKernel(kernel);

  /* Reads are allowed. */
  assert_cl(clEnqueueReadBuffer(q, part, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
  assert_memory_equal(found, host, sizeof found);
  const size_t all[3] = {TEXELS, 1, 1};
  assert_cl(clEnqueueReadImage(q, view, CL_TRUE, zero, all, 0, 0, found, 0, NULL, NULL));
  assert_memory_equal(found, host, sizeof found);
  size_t pitch;
  int *mapped = clEnqueueMapImage(q, image, CL_TRUE, CL_MAP_READ, zero, all, &pitch, NULL, 0, NULL,
                                  NULL, &code);
  assert_cl(code);
  assert_memory_equal(mapped, host, sizeof found);
  assert_cl(clEnqueueUnmapMemObject(q, image, mapped, 0, NULL, NULL));
  assert_cl(clEnqueueCopyBuffer(q, buffer, plain, 0, 0, BYTES, 0, NULL, NULL));
  assert_cl(clFinish(q));
  cl_mem all_mems[] = {view, part, read_only_part, image, buffer, plain};
  for (size_t i = 0; i < sizeof all_mems / sizeof *all_mems; i++)
    clReleaseMemObject(all_mems[i]);
}

static void imported_memory_is_not_copied(void **state) {
  struct fixture *fixture = *state;
  static const cl_import_properties_arm dma[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM,
                                                 CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM,
                                                 CL_TRUE, 0};
  static const cl_import_properties_arm secure_import[] = {CL_IMPORT_TYPE_ARM,
                                                           CL_IMPORT_TYPE_PROTECTED_ARM, 0};
  static const cl_import_properties_arm unknown[] = {0x4242, 1, 0};
  int fd, *pages = make_dma_buf(&fd), bad = -1;
  cl_context context = fixture->context;
  cl_int code;
  size_t size;
  cl_mem mem = clImportMemoryARM(context, CL_MEM_READ_WRITE, dma, &fd,
                                 CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM, &code);
  assert_cl(code);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL));
  assert_int_equal(size, 2 * PAGE);
  add_one(fixture, mem);
  assert_int_equal(pages[0], 1);
  clReleaseMemObject(mem);
  munmap(pages, 2 * PAGE);
  assert_int_equal(close(fd), 0); /* cl_arm_import_memory leaves it to the application */

  static int values[4 * N]; /* anywhere in a page */
  mem = clImportMemoryARM(context, 0, NULL, values + 3, BYTES, &code);
  assert_cl(code);
  add_one(fixture, mem);
  assert_int_equal(values[2], 0);
  assert_int_equal(values[3], 1);
  assert_int_equal(values[N + 2], 1);
  assert_int_equal(values[N + 3], 0);
  void *mapped =
      clEnqueueMapBuffer(fixture->queue, mem, CL_TRUE, CL_MAP_READ, 4, 4, 0, NULL, NULL, &code);
  assert_ptr_equal(mapped, values + 4);
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, mem, mapped, 0, NULL, NULL));
  clReleaseMemObject(mem);

  assert_null(clImportMemoryARM(NULL, 0, NULL, values, BYTES, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_null(clImportMemoryARM(context, CL_MEM_USE_HOST_PTR, NULL, values, BYTES, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clImportMemoryARM(context, 0, NULL, NULL, BYTES, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clImportMemoryARM(context, 0, dma, &bad, BYTES, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clImportMemoryARM(context, 0, NULL, values, 0, &code));
  assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
  assert_null(clImportMemoryARM(context, 0, NULL, values, SIZE_MAX, &code));
  assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
  assert_null(clImportMemoryARM(context, 0, secure_import, values, BYTES, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
  assert_null(clImportMemoryARM(context, 0, unknown, values, BYTES, &code));
  assert_int_equal(code, CL_INVALID_PROPERTY);
}

/* ---- hints, sizes, identity ------------------------------------------------------------------ */

static void queue_hints_are_checked(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    cl_queue_properties list[5];
    cl_int code;
  } rows[] = {
      {{CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR, 0}, CL_SUCCESS},
      {{CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PROPERTIES,
        CL_QUEUE_PROFILING_ENABLE, 0},
       CL_SUCCESS},
      {{CL_QUEUE_THROTTLE_KHR, CL_QUEUE_THROTTLE_MED_KHR, CL_QUEUE_PRIORITY_KHR,
        CL_QUEUE_PRIORITY_MED_KHR, 0},
       CL_SUCCESS},
      {{CL_QUEUE_PRIORITY_KHR, 3, 0}, CL_INVALID_VALUE},
      {{CL_QUEUE_PRIORITY_KHR, 0, 0}, CL_INVALID_VALUE},
      {{CL_QUEUE_THROTTLE_KHR, 8, 0}, CL_INVALID_VALUE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_int code;
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(fixture->context, fixture->device, rows[i].list, &code);
    if (code != rows[i].code)
      fail_msg("row %zu: %d", i, code);
    if (!queue)
      continue;
    cl_queue_properties list[5] = {0};
    assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, list, NULL));
    assert_memory_equal(list, rows[i].list, sizeof list);
    clReleaseCommandQueue(queue);
  }
}

/* The suggested size is the one that a launch without a local size uses, unless the kernel cannot
 * notice work-groups that it must not be launched with (end_to_end/kernels/awkward_sizes.c). */
static void suggested_local_size_matches_launches(void **state) {
  struct fixture *fixture = *state;
  cl_mem mem = fixture_buffer(fixture, 4096);
  cl_kernel ids = fixture_kernel(fixture, "ids"), required = fixture_kernel(fixture, "required");
  const size_t sizes[] = {96, 20, 6}, multiple[] = {16, 8, 1}, odd[] = {9, 4, 1};
  size_t local[3] = {0};
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(fixture->queue, ids, 3, NULL, sizes, local),
                   CL_INVALID_KERNEL_ARGS);
  assert_cl(clSetKernelArg(ids, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(required, 0, sizeof mem, &mem));
  assert_cl(clGetKernelSuggestedLocalWorkSize(fixture->queue, ids, 3, NULL, sizes, local));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, ids, 3, NULL, sizes, NULL, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  for (int i = 0; i < 3; i++)
    assert_int_equal(local[i], fake_last_launch.block[i]);
  assert_cl(clGetKernelSuggestedLocalWorkSize(fixture->queue, required, 3, NULL, multiple, local));
  assert_int_equal(local[0], 8);
  assert_int_equal(local[1], 4);
  cl_command_queue q = fixture->queue;
  const size_t empty[] = {0, 1, 1}, far[] = {SIZE_MAX, 0, 0};
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(NULL, ids, 1, NULL, sizes, local),
                   CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, NULL, 1, NULL, sizes, local),
                   CL_INVALID_KERNEL);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, ids, 0, NULL, sizes, local),
                   CL_INVALID_WORK_DIMENSION);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, ids, 1, NULL, NULL, local),
                   CL_INVALID_GLOBAL_WORK_SIZE);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, ids, 1, NULL, empty, local),
                   CL_INVALID_GLOBAL_WORK_SIZE);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, ids, 1, far, sizes, local),
                   CL_INVALID_GLOBAL_OFFSET);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, ids, 1, NULL, sizes, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clGetKernelSuggestedLocalWorkSize(q, required, 3, NULL, odd, local),
                   CL_INVALID_WORK_GROUP_SIZE);
  clReleaseKernel(ids);
  clReleaseKernel(required);
  clReleaseMemObject(mem);
}

static void uuids_identify_device_and_driver(void **state) {
  struct fixture *fixture = *state;
  cl_uchar device[CL_UUID_SIZE_KHR], again[CL_UUID_SIZE_KHR], driver[CL_UUID_SIZE_KHR];
  cl_bool valid;
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_UUID_KHR, sizeof device, device, NULL));
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_UUID_KHR, sizeof again, again, NULL));
  assert_cl(clGetDeviceInfo(fixture->device, CL_DRIVER_UUID_KHR, sizeof driver, driver, NULL));
  assert_memory_equal(device, again, sizeof device);
  assert_memory_not_equal(device, driver, sizeof device);
  assert_int_equal(device[6] >> 4, 8);
  assert_int_equal(device[8] >> 6, 2);
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_LUID_VALID_KHR, sizeof valid, &valid, NULL));
  assert_int_equal(valid, CL_FALSE);
}

/* All functions of the reported extensions can be found by name. */
static void extension_functions_are_found(void **state) {
  static const char *const names[] = {
      "clCreateCommandQueueWithPropertiesKHR",
      "clGetKernelSuggestedLocalWorkSize",
      "clGetKernelSuggestedLocalWorkSizeKHR",
      "clSetKernelArgDevicePointerEXT",
      "clImportMemoryARM",
      "clGetImageRequirementsInfoEXT",
      "clEnqueueAcquireExternalMemObjectsKHR",
      "clEnqueueReleaseExternalMemObjectsKHR",
      "clHostMemAllocINTEL",
      "clDeviceMemAllocINTEL",
      "clSharedMemAllocINTEL",
      "clMemFreeINTEL",
      "clMemBlockingFreeINTEL",
      "clGetMemAllocInfoINTEL",
      "clSetKernelArgMemPointerINTEL",
      "clEnqueueMemFillINTEL",
      "clEnqueueMemsetINTEL",
      "clEnqueueMemcpyINTEL",
      "clEnqueueMigrateMemINTEL",
      "clEnqueueMemAdviseINTEL",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_non_null(clGetExtensionFunctionAddressForPlatform(&icd_platform, names[i]));
  assert_null(clGetExtensionFunctionAddressForPlatform(&icd_platform, "clNothing"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(usm_allocations_have_their_type),       TEST(usm_commands_are_ordered),
      TEST(kernels_use_device_addresses),          TEST(dma_buf_buffers_are_not_copied),
      TEST(dma_buf_images_have_row_gaps),          TEST(immutable_memory_is_not_written),
      TEST(imported_memory_is_not_copied),         TEST(queue_hints_are_checked),
      TEST(suggested_local_size_matches_launches), TEST(uuids_identify_device_and_driver),
      TEST(extension_functions_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
