/* Shared virtual memory on the fake runtime: allocations, the order of commands, object lifetimes,
 * and buffers in shared virtual memory.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "icd/cl_tegracl.h"
#include "tests/icd/fakes/fixture.h"

enum { N = 64, BYTES = N * 4 };

static int *allocate(struct fixture *fixture) {
  int *pointer = clSVMAlloc(fixture->context, CL_MEM_READ_WRITE, BYTES, 0);
  assert_non_null(pointer);
  return pointer;
}

static void expect_all(const int *values, int expected) {
  for (int i = 0; i < N; i++)
    assert_int_equal(values[i], expected);
}

static void svm_alloc_checks_flags_size_and_alignment(void **state) {
  struct fixture *fixture = *state;
  cl_device_svm_capabilities capabilities;
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities,
                            &capabilities, NULL));
  assert_int_equal(capabilities,
                   CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
  static struct {
    cl_svm_mem_flags flags;
    size_t size;
    cl_uint alignment;
    bool good;
  } rows[] = {
      {.size = 1, .good = true},
      {.flags = CL_MEM_READ_ONLY, .size = 100, .alignment = 128, .good = true},
      {.flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER,
       .size = 100,
       .alignment = 4096,
       .good = true},
      {.flags = CL_MEM_READ_WRITE, .size = 0},
      {.flags = CL_MEM_READ_WRITE, .size = SIZE_MAX},
      {.flags = CL_MEM_READ_WRITE, .size = 100, .alignment = 3},
      {.flags = CL_MEM_READ_WRITE, .size = 100, .alignment = 8192},
      {.flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY, .size = 100},
      {.flags = CL_MEM_SVM_ATOMICS, .size = 100},
      {.flags = CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, .size = 100},
      {.flags = CL_MEM_USE_HOST_PTR, .size = 100},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    void *pointer = clSVMAlloc(fixture->context, rows[i].flags, rows[i].size, rows[i].alignment);
    if (!pointer == rows[i].good)
      fail_msg("row %zu: %p", i, pointer);
    clSVMFree(fixture->context, pointer);
  }
  assert_null(clSVMAlloc(NULL, 0, 1, 0));
  clSVMFree(fixture->context, &rows); /* not an allocation, so nothing happens */
  clSVMFree(NULL, &rows);
}

/* Many allocations, freed in another order. The sorted list has all of them. */
static void pointers_are_found_among_many_allocations(void **state) {
  struct fixture *fixture = *state;
  enum { COUNT = 100 };
  char *pointers[COUNT];
  cl_kernel kernel = fixture_kernel(fixture, "ids");
  for (int i = 0; i < COUNT; i++)
    assert_non_null(pointers[i] = clSVMAlloc(fixture->context, 0, 64, 0));
  for (int i = 0; i < COUNT; i++) {
    assert_cl(clSetKernelArgSVMPointer(kernel, 0, pointers[i]));
    assert_cl(clSetKernelArgSVMPointer(kernel, 0, pointers[i] + 63));
    clSVMFree(fixture->context, pointers[i] + 1); /* not its beginning */
    assert_cl(clSetKernelArgSVMPointer(kernel, 0, pointers[i]));
  }
  for (int i = 0; i < COUNT; i++) {
    char *pointer = pointers[i * 37 % COUNT];
    clSVMFree(fixture->context, pointer);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, pointer + 8), CL_INVALID_ARG_VALUE);
  }
  assert_cl(clSetKernelArgSVMPointer(kernel, 0, NULL));
  assert_int_equal(clSetKernelArgSVMPointer(kernel, 1, NULL), CL_INVALID_ARG_INDEX);
  assert_int_equal(clSetKernelArgSVMPointer(NULL, 0, NULL), CL_INVALID_KERNEL);
  clReleaseKernel(kernel);
}

static cl_kernel add(struct fixture *fixture, const char *name, int *in, int *out, int n) {
  cl_kernel kernel = fixture_kernel(fixture, name);
  assert_cl(clSetKernelArgSVMPointer(kernel, 0, in));
  assert_cl(clSetKernelArgSVMPointer(kernel, 1, out));
  assert_int_equal(clSetKernelArgSVMPointer(kernel, 2, out), CL_INVALID_ARG_VALUE);
  assert_cl(clSetKernelArg(kernel, 2, sizeof n, &n));
  return kernel;
}

static cl_command_type type_of(cl_event event) {
  cl_command_type type;
  assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  clReleaseEvent(event);
  return type;
}

/* A fill, a launch and a copy, each after the previous one. */
static void commands_keep_their_order(void **state) {
  struct fixture *fixture = *state;
  int *a = allocate(fixture), *b = allocate(fixture), host[N];
  const int pattern = 7;
  const size_t global = N, size = BYTES;
  cl_event events[6];
  cl_kernel kernel = add(fixture, "slow_add", a, b, 5);
  assert_cl(
      clEnqueueSVMMemFill(fixture->queue, a, &pattern, sizeof pattern, BYTES, 0, NULL, &events[0]));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueSVMMap(fixture->queue, CL_TRUE, CL_MAP_READ, b, BYTES, 0, NULL, &events[1]));
  expect_all(b, 12);
  assert_cl(clEnqueueSVMUnmap(fixture->queue, b, 0, NULL, &events[2]));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueSVMMemcpy(fixture->queue, CL_FALSE, host, b, BYTES, 0, NULL, &events[3]));
  assert_cl(
      clEnqueueSVMMigrateMem(fixture->queue, 1, (const void **)&a, &size, 0, 0, NULL, &events[4]));
  assert_cl(clEnqueueSVMMemcpy(fixture->queue, CL_TRUE, a, b, BYTES, 0, NULL, &events[5]));
  expect_all(host, 12);
  expect_all(a, 12);
  static const cl_command_type types[] = {CL_COMMAND_SVM_MEMFILL,     CL_COMMAND_SVM_MAP,
                                          CL_COMMAND_SVM_UNMAP,       CL_COMMAND_SVM_MEMCPY,
                                          CL_COMMAND_SVM_MIGRATE_MEM, CL_COMMAND_SVM_MEMCPY};
  for (int i = 0; i < 6; i++)
    assert_int_equal(type_of(events[i]), types[i]);
  clReleaseKernel(kernel);
  clSVMFree(fixture->context, a);
  clSVMFree(fixture->context, b);
}

static void refuses_bad_arguments(void **state) {
  struct fixture *fixture = *state;
  int *a = allocate(fixture), outside;
  const int pattern = 0;
  const size_t large = BYTES + 1;
  cl_command_queue q = fixture->queue;
  const void *bare = &outside;
  assert_int_equal(clEnqueueSVMMemcpy(NULL, CL_TRUE, a, a + 1, 4, 0, NULL, NULL),
                   CL_INVALID_COMMAND_QUEUE);
  assert_int_equal(clEnqueueSVMMemcpy(q, CL_TRUE, NULL, a, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemcpy(q, CL_TRUE, a, NULL, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemcpy(q, CL_TRUE, a, a + 1, 5, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
  assert_int_equal(clEnqueueSVMMemcpy(q, CL_TRUE, a, &outside, SIZE_MAX, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, NULL, &pattern, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, a, &pattern, 4, SIZE_MAX - 3, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, a, NULL, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, a, &pattern, 3, 6, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, a, &pattern, 4, 6, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMemFill(q, (char *)a + 1, &pattern, 4, 4, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, NULL, 4, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, a, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMap(q, CL_TRUE, 1 << 20, a, 4, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMUnmap(q, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMUnmap(q, a, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
  assert_int_equal(clEnqueueSVMFree(q, 1, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMigrateMem(q, 0, NULL, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMigrateMem(q, 1, &bare, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMigrateMem(q, 1, (const void **)&a, &large, 0, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clEnqueueSVMMigrateMem(q, 1, (const void **)&a, NULL, 64, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clMemFreeINTEL(fixture->context, a), CL_INVALID_VALUE);
  clSVMFree(fixture->context, a);
}

static void exec_info_is_checked(void **state) {
  struct fixture *fixture = *state;
  int *a = allocate(fixture);
  cl_kernel kernel = fixture_kernel(fixture, "add");
  const cl_bool yes = CL_TRUE, no = CL_FALSE;
  const cl_kernel_exec_info system = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
  assert_cl(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof a, &a));
  assert_cl(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
  assert_cl(clSetKernelExecInfo(kernel, system, sizeof no, &no));
  assert_int_equal(clSetKernelExecInfo(kernel, system, sizeof yes, &yes), CL_INVALID_OPERATION);
  assert_int_equal(clSetKernelExecInfo(kernel, system, 1, &no), CL_INVALID_VALUE);
  assert_int_equal(clSetKernelExecInfo(kernel, system, sizeof no, NULL), CL_INVALID_VALUE);
  assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 3, &a),
                   CL_INVALID_VALUE);
  assert_int_equal(clSetKernelExecInfo(kernel, 0, sizeof a, &a), CL_INVALID_VALUE);
  assert_int_equal(clSetKernelExecInfo(NULL, system, sizeof no, &no), CL_INVALID_KERNEL);
  clReleaseKernel(kernel);
  clSVMFree(fixture->context, a);
}

/* Frees memory while the GPU or a deferred copy uses it. */
static void memory_in_use_is_freed_later(void **state) {
  struct fixture *fixture = *state;
  int *a = allocate(fixture), *b = allocate(fixture), host[N];
  const size_t global = N;
  for (int i = 0; i < N; i++)
    a[i] = 1;
  cl_kernel kernel = add(fixture, "slow_add", a, b, 1);
  cl_event user = clCreateUserEvent(fixture->context, NULL), copied;
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueSVMMemcpy(fixture->queue, CL_FALSE, host, b, BYTES, 1, &user, &copied));
  clSVMFree(fixture->context, a);
  clSVMFree(fixture->context, b);
  fake_resume();
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clWaitForEvents(1, &copied));
  expect_all(host, 2);
  clReleaseEvent(user);
  clReleaseEvent(copied);
  clReleaseKernel(kernel);
}

struct freed {
  cl_command_queue queue;
  void *pointers[2];
  cl_uint count;
  cl_context context;
};

static void CL_CALLBACK note_free(cl_command_queue queue, cl_uint count, void *pointers[],
                                  void *data) {
  struct freed *freed = data;
  freed->queue = queue;
  freed->count = count;
  for (cl_uint i = 0; i < count; i++) {
    freed->pointers[i] = pointers[i];
    clSVMFree(freed->context, pointers[i]);
  }
  clFlush(queue); /* the callback may use the queue */
}

static void enqueued_free_calls_its_function(void **state) {
  struct fixture *fixture = *state;
  int *a = allocate(fixture), *b = allocate(fixture), *c = allocate(fixture);
  struct freed freed = {.context = fixture->context};
  cl_event user = clCreateUserEvent(fixture->context, NULL), done[2];
  void *both[2] = {a, b};
  cl_kernel kernel = fixture_kernel(fixture, "ids");
  assert_cl(clEnqueueSVMFree(fixture->queue, 1, (void **)&c, NULL, NULL, 1, &user, &done[0]));
  assert_cl(clEnqueueSVMFree(fixture->queue, 2, both, note_free, &freed, 0, NULL, &done[1]));
  both[0] = both[1] = NULL; /* the command has a copy of the list */
  assert_cl(clSetKernelArgSVMPointer(kernel, 0, c));
  assert_int_equal(freed.count, 0);
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clWaitForEvents(2, done));
  assert_ptr_equal(freed.queue, fixture->queue);
  assert_int_equal(freed.count, 2);
  assert_ptr_equal(freed.pointers[0], a);
  assert_ptr_equal(freed.pointers[1], b);
  assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, c), CL_INVALID_ARG_VALUE);
  assert_int_equal(type_of(done[0]), CL_COMMAND_SVM_FREE);
  clReleaseEvent(done[1]);
  clReleaseEvent(user);
  clReleaseKernel(kernel);
  assert_cl(clFinish(fixture->queue));
}

/* A failed free has not freed the memory or called its function, whether its event fails before
 * the call or later. The application may still free the memory. */
static void failed_free_keeps_the_memory(void **state) {
  struct fixture *fixture = *state;
  struct freed freed = {.context = fixture->context};
  cl_kernel kernel = fixture_kernel(fixture, "ids");
  for (int late = 0; late < 2; late++) {
    int *pointers[2] = {allocate(fixture), allocate(fixture)};
    cl_event user = clCreateUserEvent(fixture->context, NULL), done[2];
    const int live = fake_live();
    if (!late)
      assert_cl(clSetUserEventStatus(user, -7));
    assert_cl(
        clEnqueueSVMFree(fixture->queue, 1, (void **)pointers, NULL, NULL, 1, &user, &done[0]));
    assert_cl(clEnqueueSVMFree(fixture->queue, 1, (void **)pointers + 1, note_free, &freed, 1,
                               &user, &done[1]));
    if (late)
      assert_cl(clSetUserEventStatus(user, -7));
    assert_int_equal(clWaitForEvents(2, done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_cl(clFinish(fixture->queue));
    assert_int_equal(freed.count, 0);
    assert_int_equal(fake_live(), live);
    for (int i = 0; i < 2; i++) {
      assert_cl(clSetKernelArgSVMPointer(kernel, 0, pointers[i])); /* still one */
      clSVMFree(fixture->context, pointers[i]);
      clReleaseEvent(done[i]);
    }
    assert_int_equal(fake_live(), live - 2);
    clReleaseEvent(user);
  }
  clReleaseKernel(kernel);
}

/* A kernel does not hold its arguments. A launch with a freed argument that is not executed does
 * not use the memory. */
static void kernel_does_not_hold_its_arguments(void **state) {
  struct fixture *fixture = *state;
  const size_t global = N;
  cl_mem mem = fixture_buffer(fixture, BYTES);
  cl_kernel kernel = fixture_add(fixture, "add", mem, mem, 1);
  cl_event user = clCreateUserEvent(fixture->context, NULL), done;
  assert_cl(clReleaseMemObject(mem));
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 1, &user, &done));
  assert_cl(clSetUserEventStatus(user, -7));
  assert_int_equal(clWaitForEvents(1, &done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  clReleaseEvent(user);
  clReleaseEvent(done);
  clReleaseKernel(kernel);
}

/* A buffer in shared virtual memory uses that memory. */
static void buffer_uses_shared_virtual_memory(void **state) {
  struct fixture *fixture = *state;
  int *a = allocate(fixture), host[N];
  const cl_buffer_region region = {0, BYTES / 2};
  const int pattern = 3;
  cl_int code;
  cl_bool uses;
  assert_null(clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, BYTES, a + 1, &code));
  assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
  assert_null(clCreateBuffer(fixture->context, CL_MEM_COPY_HOST_PTR, BYTES + 1, a, &code));
  assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
  cl_mem copy = clCreateBuffer(fixture->context, CL_MEM_COPY_HOST_PTR, BYTES, a, &code);
  assert_cl(code);
  assert_cl(clGetMemObjectInfo(copy, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL));
  assert_int_equal(uses, CL_FALSE);
  clReleaseMemObject(copy);
  cl_mem mem = clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, BYTES - 4, a + 1, &code);
  assert_cl(code);
  cl_mem sub = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  assert_cl(code);
  for (int i = 0; i < 2; i++) {
    assert_cl(clGetMemObjectInfo(i ? sub : mem, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL));
    assert_int_equal(uses, CL_TRUE);
  }
  cl_mem associated;
  assert_cl(
      clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof associated, &associated, NULL));
  assert_null(associated);
  a[0] = 3;
  assert_cl(clEnqueueFillBuffer(fixture->queue, mem, &pattern, 4, 0, BYTES - 4, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  expect_all(a, 3);
  int *mapped =
      clEnqueueMapBuffer(fixture->queue, mem, CL_TRUE, CL_MAP_WRITE, 4, 8, 0, NULL, NULL, &code);
  assert_cl(code);
  assert_ptr_equal(mapped, a + 2);
  *mapped = 9;
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, mem, mapped, 0, NULL, NULL));
  clSVMFree(fixture->context, a); /* the buffer holds the memory */
  assert_cl(clEnqueueReadBuffer(fixture->queue, mem, CL_TRUE, 0, BYTES - 4, host, 0, NULL, NULL));
  assert_int_equal(host[0], 3);
  assert_int_equal(host[1], 9);
  clReleaseMemObject(mem);
  clReleaseMemObject(sub);
  a = allocate(fixture);
  fixture->context->svm[0]->size = BYTES / 2; /* as if the rest belonged to another allocation */
  mem = clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, BYTES / 2, a + N / 2, &code);
  assert_cl(code);
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL));
  assert_int_equal(uses, CL_FALSE);
  clReleaseMemObject(mem);
  clSVMFree(fixture->context, a);
  cl_mem plain = fixture_buffer(fixture, 64);
  assert_cl(clGetMemObjectInfo(plain, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL));
  assert_int_equal(uses, CL_FALSE);
  clReleaseMemObject(plain);
}

/* If the addresses are in use in the process, the device reports that it has no shared virtual
 * memory. */
static void reports_that_addresses_are_in_use(void **state) {
  struct fixture *fixture = *state;
  bool *shared = (bool *)&fixture->device->info->shared_addresses; /* the fake device's */
  const int pattern = 0;
  int values[2] = {0};
  cl_device_svm_capabilities capabilities;
  cl_kernel kernel = fixture_kernel(fixture, "ids");
  *shared = false;
  assert_cl(clGetDeviceInfo(fixture->device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities,
                            &capabilities, NULL));
  assert_int_equal(capabilities, 0);
  assert_null(clSVMAlloc(fixture->context, CL_MEM_READ_WRITE, 64, 0));
  clSVMFree(fixture->context, NULL);
  const cl_int codes[] = {
      clEnqueueSVMMemcpy(fixture->queue, CL_TRUE, values, values + 1, 4, 0, NULL, NULL),
      clEnqueueSVMMemFill(fixture->queue, values, &pattern, 4, 4, 0, NULL, NULL),
      clEnqueueSVMMap(fixture->queue, CL_TRUE, CL_MAP_READ, values, 4, 0, NULL, NULL),
      clEnqueueSVMUnmap(fixture->queue, values, 0, NULL, NULL),
      clEnqueueSVMFree(fixture->queue, 0, NULL, NULL, NULL, 0, NULL, NULL),
      clEnqueueSVMMigrateMem(fixture->queue, 0, NULL, NULL, 0, 0, NULL, NULL),
      clSetKernelArgSVMPointer(kernel, 0, NULL),
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL),
  };
  const cl_bool no = CL_FALSE;
  const cl_int addresses =
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, 0, NULL);
  const cl_int system =
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof no, &no);
  const cl_int unknown = clSetKernelExecInfo(kernel, 0, sizeof no, &no);
  *shared = true;
  assert_cl(addresses); /* a device address, which then differs from the host's */
  assert_cl(system);
  assert_int_equal(unknown, CL_INVALID_VALUE);
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    assert_int_equal(codes[i], CL_INVALID_OPERATION);
  clReleaseKernel(kernel);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(svm_alloc_checks_flags_size_and_alignment),
      TEST(pointers_are_found_among_many_allocations),
      TEST(commands_keep_their_order),
      TEST(refuses_bad_arguments),
      TEST(exec_info_is_checked),
      TEST(memory_in_use_is_freed_later),
      TEST(enqueued_free_calls_its_function),
      TEST(failed_free_keeps_the_memory),
      TEST(kernel_does_not_hold_its_arguments),
      TEST(buffer_uses_shared_virtual_memory),
      TEST(reports_that_addresses_are_in_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
