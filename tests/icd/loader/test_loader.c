/* The driver and the software Orin through an ordinary ICD loader: the driver is found, its objects
 * work through the loader's dispatch, and a kernel computes the right results for every shape of
 * launch.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "icd/cl_tegracl.h"

#define assert_cl(code) assert_int_equal((code), CL_SUCCESS)

/* Each work-item writes its IDs. */
static const char source[] =
    "kernel void where(global ulong *out, ulong offset_x, ulong offset_y, ulong offset_z) {\n"
    "  size_t x = get_global_id(0) - offset_x, y = get_global_id(1) - offset_y;\n"
    "  size_t z = get_global_id(2) - offset_z;\n"
    "  size_t i = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
    "  out[i] = get_global_id(0) << 40 | get_global_id(1) << 20 | get_global_id(2);\n"
    "}\n"
    "kernel void swap(global uint *out, local uint *a, local ulong *b) {\n"
    "  size_t l = get_local_id(0), n = get_local_size(0);\n"
    "  a[l] = l; b[l] = l * 2;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = a[n - 1 - l] + (uint)b[(l + 1) % n];\n"
    "}\n"
    "kernel void chain(global uint *p, uint add) { p[get_global_id(0)] = p[get_global_id(0)] * 3 + "
    "add; }\n"
    "struct node { global struct node *next; int value; };\n"
    "kernel void walk(global struct node *first, global int *sum) {\n"
    "  for (global struct node *n = first; n; n = n->next) { *sum += n->value; n->value = 0; }\n"
    "}\n";

typedef cl_mem(CL_API_CALL *clImportMemoryARM_type)(cl_context, cl_mem_flags,
                                                    const cl_import_properties_arm *, void *,
                                                    size_t, cl_int *);

struct opencl {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
};

static int setup(void **state) {
  struct opencl *opencl = calloc(1, sizeof *opencl);
  cl_uint count;
  cl_int code;
  char name[64];
  const char *text = source;
  /* OCL_ICD_VENDORS only has our .icd file, so ours is the only platform. */
  assert_cl(clGetPlatformIDs(1, &opencl->platform, &count));
  assert_int_equal(count, 1);
  assert_cl(clGetPlatformInfo(opencl->platform, CL_PLATFORM_NAME, sizeof name, name, NULL));
  assert_string_equal(name, "tegracl");
  assert_cl(clGetDeviceIDs(opencl->platform, CL_DEVICE_TYPE_GPU, 1, &opencl->device, NULL));
  opencl->context = clCreateContext(NULL, 1, &opencl->device, NULL, NULL, &code);
  assert_cl(code);
  opencl->queue =
      clCreateCommandQueue(opencl->context, opencl->device, CL_QUEUE_PROFILING_ENABLE, &code);
  assert_cl(code);
  opencl->program = clCreateProgramWithSource(opencl->context, 1, &text, NULL, &code);
  assert_cl(code);
  assert_cl(clBuildProgram(opencl->program, 1, &opencl->device, NULL, NULL, NULL));
  *state = opencl;
  return 0;
}

static int teardown(void **state) {
  struct opencl *opencl = *state;
  assert_cl(clReleaseProgram(opencl->program));
  assert_cl(clReleaseCommandQueue(opencl->queue));
  assert_cl(clReleaseContext(opencl->context));
  free(opencl);
  return 0;
}

static void launches_of_all_shapes_are_correct(void **state) {
  struct opencl *opencl = *state;
  static const struct {
    cl_uint dim;
    size_t offset[3], global[3], local[3];
  } rows[] = {
      {1, {0, 0, 0}, {1, 1, 1}, {0}},          {1, {0, 0, 0}, {1000, 1, 1}, {0}},
      {1, {7, 0, 0}, {1009, 1, 1}, {0}},       {1, {0, 0, 0}, {1024, 1, 1}, {1024, 1, 1}},
      {2, {3, 5, 0}, {48, 20, 1}, {16, 4, 1}}, {2, {0, 0, 0}, {33, 7, 1}, {0}},
      {3, {1, 2, 3}, {12, 6, 10}, {4, 3, 5}},  {3, {0, 0, 0}, {5, 3, 64}, {1, 1, 64}},
      {2, {100000, 0, 0}, {64, 64, 1}, {0}},
  };
  cl_int code;
  enum { MOST = 1 << 13 };
  static cl_ulong result[MOST];
  cl_mem out = clCreateBuffer(opencl->context, CL_MEM_WRITE_ONLY, sizeof result, NULL, &code);
  assert_cl(code);
  cl_kernel kernel = clCreateKernel(opencl->program, "where", &code);
  assert_cl(code);
  assert_cl(clSetKernelArg(kernel, 0, sizeof out, &out));
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    for (cl_uint i = 0; i < 3; i++) {
      const cl_ulong offset = rows[row].offset[i];
      assert_cl(clSetKernelArg(kernel, i + 1, sizeof offset, &offset));
    }
    assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, rows[row].dim, rows[row].offset,
                                     rows[row].global, rows[row].local[0] ? rows[row].local : NULL,
                                     0, NULL, NULL));
    assert_cl(
        clEnqueueReadBuffer(opencl->queue, out, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
    const size_t *global = rows[row].global, *offset = rows[row].offset;
    for (size_t z = 0, i = 0; z < global[2]; z++)
      for (size_t y = 0; y < global[1]; y++)
        for (size_t x = 0; x < global[0]; x++, i++)
          if (result[i] != ((x + offset[0]) << 40 | (y + offset[1]) << 20 | (z + offset[2])))
            fail_msg("row %zu, work-item %zu,%zu,%zu: %llx", row, x, y, z,
                     (unsigned long long)result[i]);
  }
  clReleaseKernel(kernel);
  clReleaseMemObject(out);
}

static void local_arguments_do_not_overlap(void **state) {
  struct opencl *opencl = *state;
  enum { N = 512, GROUP = 64 };
  cl_int code;
  cl_uint result[N];
  const size_t global = N, local = GROUP;
  cl_mem out = clCreateBuffer(opencl->context, 0, sizeof result, NULL, &code);
  assert_cl(code);
  cl_kernel kernel = clCreateKernel(opencl->program, "swap", &code);
  assert_cl(code);
  assert_cl(clSetKernelArg(kernel, 0, sizeof out, &out));
  assert_cl(clSetKernelArg(kernel, 1, GROUP * sizeof(cl_uint), NULL));
  assert_cl(clSetKernelArg(kernel, 2, GROUP * sizeof(cl_ulong), NULL));
  assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
  assert_cl(
      clEnqueueReadBuffer(opencl->queue, out, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
  for (cl_uint i = 0; i < N; i++)
    assert_int_equal(result[i], GROUP - 1 - i % GROUP + 2 * ((i % GROUP + 1) % GROUP));
  clReleaseKernel(kernel);
  clReleaseMemObject(out);
}

/* Launches that depend on each other alternate between two queues. A user event lets the host
 * interrupt the chain. */
static void queues_wait_for_each_other(void **state) {
  struct opencl *opencl = *state;
  enum { N = 256, STEPS = 40 };
  cl_int code;
  cl_uint *values, expected = 1;
  const size_t global = N;
  cl_command_queue queues[2] = {opencl->queue,
                                clCreateCommandQueue(opencl->context, opencl->device, 0, &code)};
  assert_cl(code);
  cl_mem mem = clCreateBuffer(opencl->context, 0, N * sizeof(cl_uint), NULL, &code);
  assert_cl(code);
  cl_kernel kernel = clCreateKernel(opencl->program, "chain", &code);
  assert_cl(code);
  cl_event last, user = clCreateUserEvent(opencl->context, &code);
  assert_cl(clEnqueueFillBuffer(queues[0], mem, &expected, sizeof expected, 0, N * sizeof(cl_uint),
                                1, &user, &last));
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  for (cl_uint step = 0; step < STEPS; step++) {
    cl_event next;
    assert_cl(clSetKernelArg(kernel, 1, sizeof step, &step));
    assert_cl(
        clEnqueueNDRangeKernel(queues[step % 2], kernel, 1, NULL, &global, NULL, 1, &last, &next));
    assert_cl(clReleaseEvent(last));
    last = next;
    expected = expected * 3 + step;
    if (step == STEPS / 2)
      assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  }
  values = clEnqueueMapBuffer(queues[0], mem, CL_TRUE, CL_MAP_READ, 0, N * sizeof(cl_uint), 1,
                              &last, NULL, &code);
  assert_cl(code);
  for (int i = 0; i < N; i++)
    assert_int_equal(values[i], expected);
  assert_cl(clEnqueueUnmapMemObject(queues[0], mem, values, 0, NULL, NULL));
  assert_cl(clReleaseEvent(last));
  assert_cl(clReleaseEvent(user));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(mem));
  assert_cl(clReleaseCommandQueue(queues[1]));
}

static void profiling_times_are_in_order(void **state) {
  struct opencl *opencl = *state;
  const size_t global = 4096;
  const cl_uint one = 1;
  cl_int code;
  cl_ulong before, after, host, stamps[4], instructions[2];
  cl_mem mem = clCreateBuffer(opencl->context, 0, global * sizeof(cl_uint), NULL, &code);
  assert_cl(code);
  cl_kernel kernel = clCreateKernel(opencl->program, "chain", &code);
  assert_cl(code);
  cl_event event;
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(kernel, 1, sizeof one, &one));
  assert_cl(clGetDeviceInfo(opencl->device, CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL, 8,
                            &instructions[0], NULL));
  assert_cl(clGetDeviceAndHostTimer(opencl->device, &before, &host));
  assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
  assert_cl(clWaitForEvents(1, &event));
  assert_cl(clGetDeviceAndHostTimer(opencl->device, &after, &host));
  for (cl_uint i = 0; i < 4; i++)
    assert_cl(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, 8, &stamps[i], NULL));
  assert_true(stamps[0] <= stamps[1] && stamps[1] <= stamps[2] && stamps[2] < stamps[3]);
  assert_true(stamps[2] >= before && stamps[3] <= after);
  assert_cl(clGetDeviceInfo(opencl->device, CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL, 8,
                            &instructions[1], NULL));
  /* each warp executes at least a load, a multiply-add and a store */
  assert_true(instructions[1] - instructions[0] >= 3 * global / 32);
  assert_cl(clReleaseEvent(event));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(mem));
}

/* Threads share a context. Each has its own queue, buffers and kernel. */
static void *work(void *data) {
  struct opencl *opencl = data;
  enum { N = 512, ROUNDS = 25 };
  cl_int code;
  const size_t global = N;
  uintptr_t wrong = 0;
  cl_command_queue queue = clCreateCommandQueue(opencl->context, opencl->device, 0, &code);
  wrong += code != CL_SUCCESS;
  for (cl_uint round = 0; round < ROUNDS; round++) {
    cl_uint values[N];
    cl_event filled, launched;
    cl_mem mem = clCreateBuffer(opencl->context, 0, sizeof values, NULL, &code);
    cl_kernel kernel = clCreateKernel(opencl->program, "chain", &code);
    wrong += clEnqueueFillBuffer(opencl->queue, mem, &round, sizeof round, 0, sizeof values, 0,
                                 NULL, &filled) != CL_SUCCESS;
    wrong += clSetKernelArg(kernel, 0, sizeof mem, &mem) != CL_SUCCESS;
    wrong += clSetKernelArg(kernel, 1, sizeof round, &round) != CL_SUCCESS;
    wrong += clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &filled, &launched) !=
             CL_SUCCESS;
    wrong += clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof values, values, 1,
                                 &launched, NULL) != CL_SUCCESS;
    for (int i = 0; i < N; i++)
      wrong += values[i] != round * 4;
    clReleaseEvent(filled);
    clReleaseEvent(launched);
    clReleaseKernel(kernel);
    clReleaseMemObject(mem);
  }
  wrong += clReleaseCommandQueue(queue) != CL_SUCCESS;
  return (void *)wrong;
}

static void threads_share_a_context(void **state) {
  pthread_t ids[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&ids[i], NULL, work, *state), 0);
  for (int i = 0; i < 4; i++) {
    void *wrong;
    pthread_join(ids[i], &wrong);
    assert_null(wrong);
  }
}

static cl_program program_of(struct opencl *opencl, const char *text) {
  cl_int code;
  cl_program program = clCreateProgramWithSource(opencl->context, 1, &text, NULL, &code);
  assert_cl(code);
  return program;
}

/* A kernel calls a function that is compiled separately and declared in a header. */
static void links_separately_compiled_programs(void **state) {
  struct opencl *opencl = *state;
  const char *name = "lib/twice.h";
  cl_program header = program_of(opencl, "int twice(int x);\nextern constant int offset;\n");
  cl_program user = program_of(opencl, "#include \"lib/twice.h\"\n"
                                       "kernel void use(global int *out) {\n"
                                       "  int i = get_global_id(0);\n"
                                       "  out[i] = twice(i) + offset;\n"
                                       "}\n");
  cl_program definition = program_of(opencl, "constant int offset = OFFSET;\n"
                                             "int twice(int x) { return x * 2; }\n");
  cl_int code;
  assert_cl(clCompileProgram(user, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
  assert_cl(clCompileProgram(definition, 0, NULL, "-DOFFSET=7", 0, NULL, NULL, NULL, NULL));

  cl_program alone = clLinkProgram(opencl->context, 0, NULL, NULL, 1, &user, NULL, NULL, &code);
  assert_int_equal(code, CL_LINK_PROGRAM_FAILURE);
  char log[1024];
  assert_cl(
      clGetProgramBuildInfo(alone, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
  assert_non_null(strstr(log, "offset"));
  cl_program duplicate[] = {definition, definition};
  cl_program twofold =
      clLinkProgram(opencl->context, 0, NULL, NULL, 2, duplicate, NULL, NULL, &code);
  assert_int_equal(code, CL_LINK_PROGRAM_FAILURE);
  cl_program library =
      clLinkProgram(opencl->context, 0, NULL, "-create-library", 1, &definition, NULL, NULL, &code);
  assert_cl(code);
  cl_program both[] = {user, library};
  cl_program whole = clLinkProgram(opencl->context, 0, NULL, NULL, 2, both, NULL, NULL, &code);
  assert_cl(code);

  enum { N = 64 };
  cl_int out[N];
  const size_t size = N;
  cl_mem mem = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, sizeof out, NULL, &code);
  cl_kernel kernel = clCreateKernel(whole, "use", &code);
  assert_cl(code);
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (int i = 0; i < N; i++)
    assert_int_equal(out[i], 2 * i + 7);
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(mem));
  cl_program all[] = {header, user, definition, alone, twofold, library, whole};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    assert_cl(clReleaseProgram(all[i]));
}

/* Builds a linked list, with each struct in a separate allocation. Host and kernel use the same
 * pointers. If the addresses are in use (AddressSanitizer's shadow), the device must report that
 * it has no shared virtual memory. */
static void host_and_kernel_share_pointers(void **state) {
  struct opencl *opencl = *state;
  enum { N = 20 };
  struct node {
    struct node *next;
    cl_int value;
  } *first = NULL;
  const size_t one = 1;
  cl_device_svm_capabilities capabilities;
  assert_cl(clGetDeviceInfo(opencl->device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities,
                            &capabilities, NULL));
#ifdef __SANITIZE_ADDRESS__
  assert_int_equal(capabilities, 0);
  assert_null(clSVMAlloc(opencl->context, CL_MEM_READ_WRITE, sizeof *first, 0));
  return;
#endif
  assert_true(capabilities & CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
  cl_int code;
  cl_int *sum = clSVMAlloc(opencl->context, CL_MEM_READ_WRITE, sizeof *sum, 0);
  cl_kernel kernel = clCreateKernel(opencl->program, "walk", &code);
  assert_cl(code);
  *sum = 0;
  for (int i = 1; i <= N; i++) {
    struct node *node =
        clSVMAlloc(opencl->context, CL_MEM_SVM_FINE_GRAIN_BUFFER, sizeof *node, sizeof(void *));
    assert_non_null(node);
    *node = (struct node){first, i};
    first = node;
  }
  assert_cl(clSetKernelArgSVMPointer(kernel, 0, first));
  assert_cl(clSetKernelArgSVMPointer(kernel, 1, sum));
  assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
  assert_cl(clFinish(opencl->queue));
  assert_int_equal(*sum, N * (N + 1) / 2);
  while (first) {
    struct node *node = first;
    assert_int_equal(node->value, 0);
    first = node->next;
    clSVMFree(opencl->context, node);
  }
  clSVMFree(opencl->context, sum);
  assert_cl(clReleaseKernel(kernel));
}

/* A kernel works directly on a dma-buf from another process's software Orin and on pages of the
 * application, not on copies. */
static void imports_memory_without_copies(void **state) {
  struct opencl *opencl = *state;
  enum { PAGE = 4096, N = 64 };
  static const size_t size = N;
  const cl_import_properties_arm dma_buf[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
  cl_platform_id platform = opencl->platform;
  const clImportMemoryARM_type import =
      (clImportMemoryARM_type)clGetExtensionFunctionAddressForPlatform(platform,
                                                                       "clImportMemoryARM");
  assert_non_null(import);
  /* The software Orin accepts a memfd with a sealed size as a dma-buf of another process. */
  const int fd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  assert_int_equal(ftruncate(fd, PAGE), 0);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  cl_uint *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  cl_uint *own = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cl_int code;
  cl_mem mems[2];
  mems[0] = import(opencl->context, CL_MEM_READ_WRITE, dma_buf, (void *)&fd, PAGE, &code);
  assert_cl(code);
  own += PAGE / sizeof *own - 8; /* across the end of the first page */
  mems[1] = import(opencl->context, CL_MEM_READ_WRITE, NULL, own, N * sizeof *own, &code);
  assert_cl(code);
  cl_kernel kernel = clCreateKernel(opencl->program, "chain", &code);
  assert_cl(code);
  const cl_uint add = 2;
  assert_cl(clSetKernelArg(kernel, 1, sizeof add, &add));
  for (int i = 0; i < 2; i++) {
    cl_uint *values = i ? own : shared;
    for (cl_uint j = 0; j < N; j++)
      values[j] = j;
    assert_cl(clSetKernelArg(kernel, 0, sizeof mems[i], &mems[i]));
    assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    assert_cl(clFinish(opencl->queue));
    for (cl_uint j = 0; j < N; j++)
      assert_int_equal(values[j], 3 * j + 2);
    assert_cl(clReleaseMemObject(mems[i]));
  }
  assert_cl(clReleaseKernel(kernel));
  munmap(shared, PAGE);
  munmap(own + 8 - PAGE / sizeof *own, 2 * PAGE);
  close(fd);
}

#define EXTENSION(name)                                                                            \
  name##_fn name##_here =                                                                          \
      (name##_fn)clGetExtensionFunctionAddressForPlatform(opencl->platform, #name);                \
  assert_non_null(name##_here)

/* Exports a signal after a kernel as a sync fd. The host and an out-of-order queue that imports
 * it wait for it. */
static void sync_fds_are_exported_and_imported(void **state) {
  struct opencl *opencl = *state;
  enum { N = 64 };
  EXTENSION(clCreateSemaphoreWithPropertiesKHR);
  EXTENSION(clEnqueueSignalSemaphoresKHR);
  EXTENSION(clEnqueueWaitSemaphoresKHR);
  EXTENSION(clGetSemaphoreHandleForTypeKHR);
  EXTENSION(clReleaseSemaphoreKHR);
  static const size_t size = N;
  const cl_uint seven = 7;
  cl_semaphore_properties_khr list[] = {CL_SEMAPHORE_TYPE_KHR,
                                        CL_SEMAPHORE_TYPE_BINARY_KHR,
                                        CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
                                        CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
                                        CL_SEMAPHORE_EXPORT_HANDLE_TYPES_LIST_END_KHR,
                                        0};
  cl_int code;
  cl_uint result[N] = {0};
  cl_mem mem = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof result, result, &code);
  assert_cl(code);
  cl_command_queue other = clCreateCommandQueue(opencl->context, opencl->device,
                                                CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  assert_cl(code);
  cl_kernel kernel = clCreateKernel(opencl->program, "chain", &code);
  assert_cl(code);
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(kernel, 1, sizeof seven, &seven));
  cl_semaphore_khr exported = clCreateSemaphoreWithPropertiesKHR_here(opencl->context, list, &code);
  assert_cl(code);
  assert_cl(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueSignalSemaphoresKHR_here(opencl->queue, 1, &exported, NULL, 0, NULL, NULL));
  int fd;
  assert_cl(clGetSemaphoreHandleForTypeKHR_here(
      exported, opencl->device, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, sizeof fd, &fd, NULL));
  struct pollfd file = {.fd = fd, .events = POLLIN};
  assert_int_equal(poll(&file, 1, 60000), 1);
  list[2] = CL_SEMAPHORE_HANDLE_SYNC_FD_KHR;
  list[3] = (cl_semaphore_properties_khr)fd;
  cl_semaphore_khr imported = clCreateSemaphoreWithPropertiesKHR_here(opencl->context, list, &code);
  assert_cl(code);
  cl_event reached;
  assert_cl(clEnqueueWaitSemaphoresKHR_here(other, 1, &imported, NULL, 0, NULL, &reached));
  assert_cl(clEnqueueReadBuffer(other, mem, CL_TRUE, 0, sizeof result, result, 1, &reached, NULL));
  for (int i = 0; i < N; i++)
    assert_int_equal(result[i], seven);
  assert_cl(clReleaseEvent(reached));
  assert_cl(clReleaseSemaphoreKHR_here(exported));
  assert_cl(clReleaseSemaphoreKHR_here(imported));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseCommandQueue(other));
  assert_cl(clReleaseMemObject(mem));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_of_all_shapes_are_correct),
      cmocka_unit_test(local_arguments_do_not_overlap),
      cmocka_unit_test(queues_wait_for_each_other),
      cmocka_unit_test(profiling_times_are_in_order),
      cmocka_unit_test(threads_share_a_context),
      cmocka_unit_test(links_separately_compiled_programs),
      cmocka_unit_test(host_and_kernel_share_pointers),
      cmocka_unit_test(imports_memory_without_copies),
      cmocka_unit_test(sync_fds_are_exported_and_imported),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
