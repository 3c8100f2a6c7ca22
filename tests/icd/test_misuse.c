/* Calls with invalid arguments, through the ICD loader: each returns the error that the
 * specification requires and changes nothing. Calls with errcode_ret are also made with NULL there.
 * misuse/generate.py generates the table.
 *
 * All arguments of OpenCL functions are integers or pointers, which x86-64 and arm64 pass in a
 * 64-bit register or stack slot each, so one function type is enough for all.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "icd/cl_tegracl.h"
#include "icd/command_buffer/command_buffer_api.h"

#define assert_cl(code) assert_int_equal((code), CL_SUCCESS)

enum {
  ARGS = 16,
  BUFFER_BYTES = 1024,
  SUB_BYTES = 512,
  LOCAL_BYTES = 48 * 1024, /* all local memory of the device */
  SENTINEL = 12345,        /* not an OpenCL code */

};

/* ---- values ----------------------------------------------------------------------------- */

/* Names for use in rows. For each of OBJECTS there is also list_NAME, a list of one object. */
#define OBJECTS(X)                                                                                 \
  X(null)                                                                                          \
  X(blank) /* an object of another vendor */                                                       \
  X(platform)                                                                                      \
  X(device)                                                                                        \
  X(context)                                                                                       \
  X(queue)                                                                                         \
  X(buffer)                                                                                        \
  X(program)                                                                                       \
  X(kernel)                                                                                        \
  X(event)                                                                                         \
  X(sampler)                                                                                       \
  X(semaphore)                                                                                     \
  X(command_buffer)                                                                                \
  X(command)                                                                                       \
  X(image)                                                                                         \
  X(stale_context)                                                                                 \
  X(stale_queue)                                                                                   \
  X(stale_buffer)                                                                                  \
  X(stale_program)                                                                                 \
  X(stale_kernel)                                                                                  \
  X(stale_event)                                                                                   \
  X(stale_sampler)                                                                                 \
  X(stale_semaphore)                                                                               \
  X(stale_command_buffer)                                                                          \
  X(stale_command)                                                                                 \
  X(final_buffer)    /* a finalized command buffer */                                              \
  X(growing_buffer)  /* one that is not finalized */                                               \
  X(changing_buffer) /* contains changing_command */                                               \
  X(growing_command)                                                                               \
  X(fixed_command) /* whose arguments can be updated */                                            \
  X(stale_image)                                                                                   \
  X(queue2) /* of another context */                                                               \
  X(buffer2)                                                                                       \
  X(kernel2)                                                                                       \
  X(event2)                                                                                        \
  X(sub_buffer)                                                                                    \
  X(addressed) /* with its address */                                                              \
  X(read_only)                                                                                     \
  X(no_access)                                                                                     \
  X(host_reads)                                                                                    \
  X(host_writes)                                                                                   \
  X(idle)        /* a program that has not been built */                                           \
  X(bare_kernel) /* without arguments */                                                           \
  X(tight_kernel)                                                                                  \
  X(greedy_kernel)                                                                                 \
  X(constant_kernel) /* with an argument in constant memory */                                     \
  X(user_event)                                                                                    \
  X(done_event)                                                                                    \
  X(failed_event)                                                                                  \
  X(svm)

/* Data to which rows point: X(name, type, contents ...) */
#define DATA(X)                                                                                    \
  X(partition_equally, cl_device_partition_property, CL_DEVICE_PARTITION_EQUALLY, 1, 0)            \
  X(partition_unknown, cl_device_partition_property, 0x4242, 1, 0)                                 \
  X(context_unknown, cl_context_properties, 0x4242, 1, 0)                                          \
  X(context_bad_platform, cl_context_properties, CL_CONTEXT_PLATFORM, (intptr_t)blank, 0)          \
  X(context_sync, cl_context_properties, CL_CONTEXT_INTEROP_USER_SYNC, 2, 0)                       \
  X(context_platform, cl_context_properties, CL_CONTEXT_PLATFORM, 0, 0)                            \
  X(context_twice, cl_context_properties, CL_CONTEXT_PLATFORM, 0, CL_CONTEXT_PLATFORM, 0, 0)       \
  X(context_platform_unknown, cl_context_properties, CL_CONTEXT_PLATFORM, 0, 0x4242, 1, 0)         \
  X(queue_unknown, cl_queue_properties, 0x4242, 1, 0)                                              \
  X(queue_bits, cl_queue_properties, CL_QUEUE_PROPERTIES, 1 << 20, 0)                              \
  X(queue_priority, cl_queue_properties, CL_QUEUE_PRIORITY_KHR, 3, 0)                              \
  X(queue_throttle, cl_queue_properties, CL_QUEUE_THROTTLE_KHR, 8, 0)                              \
  X(queue_size, cl_queue_properties, CL_QUEUE_SIZE, 1024, 0)                                       \
  X(queue_on_device, cl_queue_properties, CL_QUEUE_PROPERTIES,                                     \
    CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0)                                \
  X(mem_unknown, cl_mem_properties, 0x4242, 1, 0)                                                  \
  X(mem_address, cl_mem_properties, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, 2, 0)                       \
  X(mem_addressed, cl_mem_properties, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0)               \
  X(mem_dma_buf, cl_mem_properties, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, 9999, 0)                \
  X(mem_devices, cl_mem_properties, CL_DEVICE_HANDLE_LIST_KHR, 42, 0, 0)                           \
  X(usm_unknown, cl_mem_properties_intel, 0x4242, 1, 0)                                            \
  X(usm_bits, cl_mem_properties_intel, CL_MEM_ALLOC_FLAGS_INTEL, 1 << 20, 0)                       \
  X(import_protected, cl_import_properties_arm, CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_PROTECTED_ARM,  \
    0)                                                                                             \
  X(sampler_unknown, cl_sampler_properties, 0x4242, 1, 0)                                          \
  X(sampler_filter, cl_sampler_properties, CL_SAMPLER_FILTER_MODE, 0, 0)                           \
  X(sampler_twice, cl_sampler_properties, CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE,                   \
    CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE, 0)                                                      \
  X(format, cl_image_format, {CL_RGBA, CL_UNSIGNED_INT8})                                          \
  X(format_unknown, cl_image_format, {CL_RGBA, 0x4242})                                            \
  X(desc, cl_image_desc,                                                                           \
    {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16})                  \
  X(semaphore_plain, cl_semaphore_properties_khr, CL_SEMAPHORE_TYPE_KHR,                           \
    CL_SEMAPHORE_TYPE_BINARY_KHR, 0)                                                               \
  X(semaphore_unknown, cl_semaphore_properties_khr, 0x4242, 1, 0)                                  \
  X(semaphore_type, cl_semaphore_properties_khr, CL_SEMAPHORE_TYPE_KHR, 42, 0)                     \
  X(semaphore_twice, cl_semaphore_properties_khr, CL_SEMAPHORE_TYPE_KHR,                           \
    CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR, 0)                                        \
  X(semaphore_devices, cl_semaphore_properties_khr, CL_SEMAPHORE_TYPE_KHR,                         \
    CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, 42, 0, 0)                   \
  X(semaphore_fd, cl_semaphore_properties_khr, CL_SEMAPHORE_TYPE_KHR,                              \
    CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 9999, 0)                        \
  X(record_bits, cl_command_buffer_properties_khr, CL_COMMAND_BUFFER_FLAGS_KHR, 1 << 20, 0)        \
  X(record_twice, cl_command_buffer_properties_khr, CL_COMMAND_BUFFER_FLAGS_KHR, 0,                \
    CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0)                                                             \
  X(record_asserts, cl_command_buffer_properties_khr,                                              \
    CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR, 2, 0)                                          \
  X(launch_bits, cl_command_properties_khr, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1 << 20, 0)  \
  X(launch_twice, cl_command_properties_khr, CL_MUTABLE_DISPATCH_ASSERTS_KHR, 0,                   \
    CL_MUTABLE_DISPATCH_ASSERTS_KHR, 0, 0)                                                         \
  X(launch_asserts, cl_command_properties_khr, CL_MUTABLE_DISPATCH_ASSERTS_KHR,                    \
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, 0)                                   \
  X(origin_8, size_t, 8, 0, 0)                                                                     \
  X(region, size_t, 0, 64)                                                                         \
  X(region_beyond, size_t, 512, 513)                                                               \
  X(region_overflow, size_t, 512, SIZE_MAX)                                                        \
  X(region_far, size_t, 2048, 16)                                                                  \
  X(region_empty, size_t, 0, 0)                                                                    \
  X(region_misaligned, size_t, 1, 16)                                                              \
  X(origin, size_t, 0, 0, 0)                                                                       \
  X(origin_512, size_t, 512, 0, 0)                                                                 \
  X(origin_beyond, size_t, 1024, 0, 0)                                                             \
  X(origin_huge, size_t, 0, SIZE_MAX / 4, 0)                                                       \
  X(region_8, size_t, 8, 2, 1)                                                                     \
  X(region_flat, size_t, 8, 0, 1)                                                                  \
  X(region_huge, size_t, SIZE_MAX / 2, 2, 1)                                                       \
  X(sizes, size_t, 64, 4, 2)                                                                       \
  X(zeros, size_t, 0, 0, 0)                                                                        \
  X(odd, size_t, 7, 1, 1)                                                                          \
  X(huge, size_t, SIZE_MAX, SIZE_MAX, SIZE_MAX)                                                    \
  X(huge_local, size_t, 1 << 20, 1, 1)                                                             \
  X(deep, size_t, 1, 1, 128)                                                                       \
  X(wide, size_t, 1024, 4, 1)                                                                      \
  X(text, char, "nothing has this name")                                                           \
  X(bad_option, char, "-no-such-option")                                                           \
  X(kernel_name, char, "work")                                                                     \
  X(truth, cl_bool, CL_TRUE)

#define OTHERS(X)                                                                                  \
  X(address)                                                                                       \
  X(out)                                                                                           \
  X(errcode)                                                                                       \
  X(callback)                                                                                      \
  X(strings)                                                                                       \
  X(list_event_null)                                                                               \
  X(list_event_event2)                                                                             \
  X(svm_8)                                                                                         \
  X(svm_odd)                                                                                       \
  X(svm_list)

/* Updates of a launch in a command buffer: X(name, contents) */
#define CHANGES(X)                                                                                 \
  X(nothing, .command = GET(cl_mutable_command_khr, command))                                      \
  X(command_null, .num_args = 0)                                                                   \
  X(command_blank, .command = GET(cl_mutable_command_khr, blank))                                  \
  X(command_stale, .command = GET(cl_mutable_command_khr, stale_command))                          \
  X(command_foreign, .command = GET(cl_mutable_command_khr, growing_command))                      \
  X(dimensions, .command = GET(cl_mutable_command_khr, command), .work_dim = 2)                    \
  X(arg_list, .command = GET(cl_mutable_command_khr, command), .arg_list = args)                   \
  X(arg_list_null, .command = GET(cl_mutable_command_khr, command), .num_args = 1)                 \
  X(svm_list, .command = GET(cl_mutable_command_khr, command), .arg_svm_list = args)               \
  X(svm_list_null, .command = GET(cl_mutable_command_khr, command), .num_svm_args = 1)             \
  X(info_list, .command = GET(cl_mutable_command_khr, command), .exec_info_list = infos)           \
  X(info_list_null, .command = GET(cl_mutable_command_khr, command), .num_exec_infos = 1)          \
  X(arg_index, .command = GET(cl_mutable_command_khr, command), .num_args = 1, .arg_list = args)   \
  X(arg_size, .command = GET(cl_mutable_command_khr, command), .num_args = 1,                      \
    .arg_list = args + 1)                                                                          \
  X(arg_mem, .command = GET(cl_mutable_command_khr, command), .num_args = 1, .arg_list = args + 2) \
  X(local_zero, .command = GET(cl_mutable_command_khr, command),                                   \
    .local_work_size = GET(const size_t *, zeros))                                                 \
  X(local_large, .command = GET(cl_mutable_command_khr, command),                                  \
    .local_work_size = GET(const size_t *, huge_local),                                            \
    .global_work_size = GET(const size_t *, huge_local))                                           \
  X(local_odd, .command = GET(cl_mutable_command_khr, command),                                    \
    .local_work_size = GET(const size_t *, odd))                                                   \
  X(offset_huge, .command = GET(cl_mutable_command_khr, command),                                  \
    .global_work_offset = GET(const size_t *, huge))                                               \
  X(fixed_size, .command = GET(cl_mutable_command_khr, fixed_command),                             \
    .global_work_size = GET(const size_t *, sizes))                                                \
  X(fixed_local, .command = GET(cl_mutable_command_khr, fixed_command),                            \
    .local_work_size = GET(const size_t *, sizes))                                                 \
  X(fixed_offset, .command = GET(cl_mutable_command_khr, fixed_command),                           \
    .global_work_offset = GET(const size_t *, zeros))                                              \
  X(fixed_info, .command = GET(cl_mutable_command_khr, fixed_command), .num_exec_infos = 1,        \
    .exec_info_list = infos)

#define AS_CHANGE_SLOT(name, ...) V_change_##name,
#define AS_SLOT(name)             V_##name,
#define AS_LIST_SLOT(name)        V_list_##name,
#define AS_DATA_SLOT(name, ...)   V_##name,
enum slot {
  V_NONE, /* the argument is a number */
  OBJECTS(AS_SLOT) OBJECTS(AS_LIST_SLOT) DATA(AS_DATA_SLOT) CHANGES(AS_CHANGE_SLOT) OTHERS(AS_SLOT)
      V_COUNT
};

static uint64_t values[V_COUNT];
static void *blank[8]; /* begins with our dispatch table, because the loader calls through it */

#define AS_LIST(name) static uint64_t list_##name[2];
OBJECTS(AS_LIST)

static unsigned char out[1 << 16];
static cl_int errcode;

static void ignore(void) {}

/* The last message to the context's callback. */
static char sentence_of_context[256];

static void CL_CALLBACK note_error(const char *sentence, const void *data, size_t size,
                                   void *user_data) {
  snprintf(sentence_of_context, sizeof sentence_of_context, "%s", sentence);
}

static void set_data(void) {
#define SET_DATA(name, type, ...)                                                                  \
  {                                                                                                \
    static type data[64];                                                                          \
    const type contents[] = {__VA_ARGS__};                                                         \
    memcpy(data, contents, sizeof contents);                                                       \
    values[V_##name] = (uintptr_t)data;                                                            \
  }
  DATA(SET_DATA)
  static const uint64_t platform_places[][2] = {{V_context_platform, 1},
                                                {V_context_twice, 1},
                                                {V_context_twice, 3},
                                                {V_context_platform_unknown, 1}};
  for (size_t i = 0; i < sizeof platform_places / sizeof *platform_places; i++)
    ((uint64_t *)values[platform_places[i][0]])[platform_places[i][1]] = values[V_platform];
}

static void set_lists(void) {
#define SET_LIST(name)                                                                             \
  list_##name[0] = values[V_##name];                                                               \
  values[V_list_##name] = (uintptr_t)list_##name;
  OBJECTS(SET_LIST)
}

#define KEEP(name, object) (values[V_##name] = (uintptr_t)(object))
#define GET(type, name)    ((type)(uintptr_t)values[V_##name])

static void set_changes(void) {
  static cl_mutable_dispatch_arg_khr args[3];
  static const cl_mutable_dispatch_exec_info_khr infos[1];
  args[0] = (cl_mutable_dispatch_arg_khr){3, 4, out};
  args[1] = (cl_mutable_dispatch_arg_khr){1, 3, out};
  args[2] = (cl_mutable_dispatch_arg_khr){0, sizeof(cl_mem), list_kernel};
#define SET_CHANGE(name, ...)                                                                      \
  {                                                                                                \
    static struct icd_mutable_dispatch_config config;                                              \
    static const void *list[] = {&config};                                                         \
    config = (struct icd_mutable_dispatch_config){__VA_ARGS__};                                    \
    KEEP(change_##name, list);                                                                     \
  }
  CHANGES(SET_CHANGE)
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static const char source[] = //
    "kernel void work(global int *a, int n, local int *l) {\n"
    "  l[get_local_id(0)] = n; a[get_global_id(0)] = l[get_local_id(0)];\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void tight(global int *a) { *a = 1; }\n"
    "kernel void constants(constant int *a, global int *b) { *b = *a; }\n"
    "kernel void greedy(global int *a, local int *l) {\n"
    "  local int more[256];\n"
    "  size_t i = get_local_id(0);\n"
    "  more[i] = i; barrier(CLK_LOCAL_MEM_FENCE); l[i] = more[i ^ 1]; *a = l[i];\n"
    "}\n";

static cl_program build(cl_context context) {
  cl_int code;
  const char *text = source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  assert_cl(code);
  assert_cl(clBuildProgram(program, 0, NULL, "-cl-kernel-arg-info", NULL, NULL));
  return program;
}

static cl_kernel make_kernel(cl_program program, const char *name, cl_mem mem) {
  cl_int code;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  assert_cl(code);
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  return kernel;
}

static cl_kernel make_work(cl_program program, cl_mem mem) {
  const int n = 7;
  cl_kernel kernel = make_kernel(program, "work", mem);
  assert_cl(clSetKernelArg(kernel, 1, sizeof n, &n));
  assert_cl(clSetKernelArg(kernel, 2, 64 * sizeof n, NULL));
  return kernel;
}

static cl_mem make_buffer(cl_context context, cl_mem_flags flags) {
  cl_int code;
  cl_mem mem = clCreateBuffer(context, flags, BUFFER_BYTES, NULL, &code);
  assert_cl(code);
  return mem;
}

static cl_mem make_image(cl_context context) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16};
  cl_int code;
  cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &code);
  assert_cl(code);
  return image;
}

static cl_sampler make_sampler(cl_context context) {
  cl_int code;
  cl_sampler sampler =
      clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
  assert_cl(code);
  return sampler;
}

/* The loader does not export the functions of semaphores. */
static clReleaseSemaphoreKHR_fn release_semaphore;

static cl_semaphore_khr make_semaphore(cl_context context, cl_platform_id platform) {
  const cl_semaphore_properties_khr list[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
                                              0};
  const clCreateSemaphoreWithPropertiesKHR_fn create =
      (clCreateSemaphoreWithPropertiesKHR_fn)clGetExtensionFunctionAddressForPlatform(
          platform, "clCreateSemaphoreWithPropertiesKHR");
  release_semaphore = (clReleaseSemaphoreKHR_fn)clGetExtensionFunctionAddressForPlatform(
      platform, "clReleaseSemaphoreKHR");
  assert_non_null(create);
  assert_non_null(release_semaphore);
  cl_int code;
  cl_semaphore_khr semaphore = create(context, list, &code);
  assert_cl(code);
  return semaphore;
}

/* The loader does not export the functions of command buffers. */
static __typeof__(icd_clCreateCommandBufferKHR) *create_buffer;
static __typeof__(icd_clReleaseCommandBufferKHR) *release_buffer;
static __typeof__(icd_clFinalizeCommandBufferKHR) *finalize;
static __typeof__(icd_clCommandNDRangeKernelKHR) *record_launch;

static void find_functions(cl_platform_id platform) {
#define FIND(place, name)                                                                          \
  place = (__typeof__(place))clGetExtensionFunctionAddressForPlatform(platform, name);             \
  assert_non_null(place);
  FIND(create_buffer, "clCreateCommandBufferKHR")
  FIND(release_buffer, "clReleaseCommandBufferKHR")
  FIND(finalize, "clFinalizeCommandBufferKHR")
  FIND(record_launch, "clCommandNDRangeKernelKHR")
}

static cl_mutable_command_khr record(cl_command_buffer_khr buffer, cl_kernel kernel,
                                     cl_mutable_dispatch_fields_khr fields) {
  const cl_command_properties_khr properties[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, fields,
                                                  0};
  const size_t size = 64;
  cl_mutable_command_khr command;
  assert_cl(record_launch(buffer, NULL, fields ? properties : NULL, kernel, 1, NULL, &size, &size,
                          0, NULL, NULL, &command));
  return command;
}

static cl_command_buffer_khr make_command_buffer(cl_command_queue queue,
                                                 cl_command_buffer_flags_khr flags) {
  const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
  cl_int code;
  cl_command_buffer_khr buffer = create_buffer(1, &queue, properties, &code);
  assert_cl(code);
  return buffer;
}

static cl_event make_event(cl_command_queue queue) {
  cl_event event;
  assert_cl(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event));
  assert_cl(clFinish(queue));
  return event;
}

static cl_event make_user_event(cl_context context, cl_int status) {
  cl_int code;
  cl_event event = clCreateUserEvent(context, &code);
  assert_cl(code);
  if (status <= CL_COMPLETE)
    assert_cl(clSetUserEventStatus(event, status));
  return event;
}

/* Creates and releases one object of each kind. */
static void make_stale(cl_device_id device, cl_platform_id platform) {
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  cl_mem mem = make_buffer(context, 0);
  cl_program program = build(context);
  cl_kernel kernel = make_work(program, mem);
  cl_event event = make_event(queue);
  cl_mem image = make_image(context);
  cl_sampler sampler = make_sampler(context);
  cl_semaphore_khr semaphore = make_semaphore(context, platform);
  KEEP(stale_image, image);
  KEEP(stale_sampler, sampler);
  KEEP(stale_semaphore, semaphore);
  cl_command_buffer_khr buffer = make_command_buffer(queue, 0);
  KEEP(stale_command, record(buffer, kernel, 0));
  KEEP(stale_command_buffer, buffer);
  assert_cl(release_buffer(buffer));
  KEEP(stale_event, event);
  KEEP(stale_kernel, kernel);
  KEEP(stale_program, program);
  KEEP(stale_buffer, mem);
  KEEP(stale_queue, queue);
  KEEP(stale_context, context);
  assert_cl(release_semaphore(semaphore));
  assert_cl(clReleaseSampler(sampler));
  assert_cl(clReleaseMemObject(image));
  assert_cl(clReleaseEvent(event));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseProgram(program));
  assert_cl(clReleaseMemObject(mem));
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseContext(context));
}

static void make_command_buffers(void) {
  cl_command_queue queue = GET(cl_command_queue, queue);
  cl_kernel kernel = GET(cl_kernel, kernel);
  cl_command_buffer_khr changing = make_command_buffer(queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
  KEEP(command_buffer, make_command_buffer(queue, 0));
  KEEP(final_buffer, make_command_buffer(queue, 0));
  KEEP(growing_buffer, make_command_buffer(queue, CL_COMMAND_BUFFER_MUTABLE_KHR));
  KEEP(growing_command, record(GET(cl_command_buffer_khr, growing_buffer), kernel, 0));
  KEEP(changing_buffer, changing);
  KEEP(command, record(changing, kernel, 0));
  KEEP(fixed_command, record(changing, kernel, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR));
  assert_cl(finalize(GET(cl_command_buffer_khr, final_buffer)));
  assert_cl(finalize(changing));
}

static void make_objects(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  assert_cl(clGetPlatformIDs(1, &platform, NULL));
  assert_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  KEEP(platform, platform);
  KEEP(device, device);
  blank[0] = *(void **)platform;
  KEEP(blank, blank);
  find_functions(platform);
  make_stale(device, platform);
  cl_context contexts[2];
  const cl_queue_properties profiling[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  for (int i = 0; i < 2; i++) {
    contexts[i] = clCreateContext(NULL, 1, &device, note_error, NULL, &code);
    assert_cl(code);
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(contexts[i], device, profiling, &code);
    assert_cl(code);
    cl_mem mem = make_buffer(contexts[i], 0);
    cl_program program = build(contexts[i]);
    values[i ? V_queue2 : V_queue] = (uintptr_t)queue;
    values[i ? V_buffer2 : V_buffer] = (uintptr_t)mem;
    values[i ? V_kernel2 : V_kernel] = (uintptr_t)make_work(program, mem);
    values[i ? V_event2 : V_event] = (uintptr_t)make_event(queue);
    if (i)
      assert_cl(clReleaseProgram(program));
    else
      KEEP(program, program);
  }
  KEEP(context, contexts[0]);
  cl_mem mem = GET(cl_mem, buffer);
  cl_program program = GET(cl_program, program);
  const cl_buffer_region half = {0, SUB_BYTES};
  KEEP(sub_buffer, clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &code));
  assert_cl(code);
  KEEP(read_only, make_buffer(contexts[0], CL_MEM_READ_ONLY));
  KEEP(no_access, make_buffer(contexts[0], CL_MEM_HOST_NO_ACCESS));
  KEEP(host_reads, make_buffer(contexts[0], CL_MEM_HOST_READ_ONLY));
  KEEP(host_writes, make_buffer(contexts[0], CL_MEM_HOST_WRITE_ONLY));
  const char *text = source;
  KEEP(idle, clCreateProgramWithSource(contexts[0], 1, &text, NULL, &code));
  assert_cl(code);
  KEEP(bare_kernel, clCreateKernel(program, "work", &code));
  assert_cl(code);
  KEEP(constant_kernel, clCreateKernel(program, "constants", &code));
  assert_cl(code);
  KEEP(tight_kernel, make_kernel(program, "tight", mem));
  cl_kernel greedy = make_kernel(program, "greedy", mem);
  assert_cl(clSetKernelArg(greedy, 1, LOCAL_BYTES, NULL));
  KEEP(greedy_kernel, greedy);
  KEEP(image, make_image(contexts[0]));
  KEEP(sampler, make_sampler(contexts[0]));
  KEEP(semaphore, make_semaphore(contexts[0], platform));
  make_command_buffers();
  KEEP(user_event, make_user_event(contexts[0], CL_SUBMITTED));
  KEEP(done_event, make_user_event(contexts[0], CL_COMPLETE));
  KEEP(failed_event, make_user_event(contexts[0], -1));
  const cl_mem_properties known[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};
  KEEP(addressed, clCreateBufferWithProperties(contexts[0], known, 0, BUFFER_BYTES, NULL, &code));
  assert_cl(code);
  assert_cl(clGetMemObjectInfo(GET(cl_mem, addressed), CL_MEM_DEVICE_ADDRESS_EXT, sizeof(uint64_t),
                               &values[V_address], NULL));
  KEEP(svm, clSVMAlloc(contexts[0], CL_MEM_READ_WRITE, 256, 0));
}

static void release_objects(void) {
  static const enum slot kernels[] = {V_kernel,       V_kernel2,       V_bare_kernel,
                                      V_tight_kernel, V_greedy_kernel, V_constant_kernel};
  static const enum slot buffers[] = {V_command_buffer, V_final_buffer, V_growing_buffer,
                                      V_changing_buffer};
  static const enum slot mems[] = {V_sub_buffer, V_buffer,      V_buffer2, V_read_only, V_no_access,
                                   V_host_reads, V_host_writes, V_image,   V_addressed};
  static const enum slot events[] = {V_event, V_event2, V_user_event, V_done_event, V_failed_event};
  clSVMFree(GET(cl_context, context), GET(void *, svm));
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    assert_cl(release_buffer((cl_command_buffer_khr)(uintptr_t)values[buffers[i]]));
  assert_cl(release_semaphore(GET(cl_semaphore_khr, semaphore)));
  assert_cl(clReleaseSampler(GET(cl_sampler, sampler)));
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    assert_cl(clReleaseEvent((cl_event)(uintptr_t)values[events[i]]));
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    assert_cl(clReleaseKernel((cl_kernel)(uintptr_t)values[kernels[i]]));
  assert_cl(clReleaseProgram(GET(cl_program, program)));
  assert_cl(clReleaseProgram(GET(cl_program, idle)));
  cl_context second;
  assert_cl(clGetMemObjectInfo(GET(cl_mem, buffer2), CL_MEM_CONTEXT, sizeof second, &second, NULL));
  for (size_t i = 0; i < sizeof mems / sizeof *mems; i++)
    assert_cl(clReleaseMemObject((cl_mem)(uintptr_t)values[mems[i]]));
  assert_cl(clReleaseCommandQueue(GET(cl_command_queue, queue)));
  assert_cl(clReleaseCommandQueue(GET(cl_command_queue, queue2)));
  assert_cl(clReleaseContext(second));
  assert_cl(clReleaseContext(GET(cl_context, context)));
}

static int set_up(void **state) {
  static uint64_t event_null[2], event_event2[2], svm_list[1];
  static const char *strings[1];
  make_objects();
  set_data();
  set_lists();
  set_changes();
  KEEP(out, out);
  KEEP(errcode, &errcode);
  KEEP(callback, ignore);
  strings[0] = GET(const char *, text);
  KEEP(strings, strings);
  event_null[0] = event_event2[0] = values[V_event];
  event_event2[1] = values[V_event2];
  KEEP(list_event_null, event_null);
  KEEP(list_event_event2, event_event2);
  values[V_svm_8] = values[V_svm] + 8;
  values[V_svm_odd] = values[V_svm] + 1;
  svm_list[0] = values[V_svm];
  KEEP(svm_list, svm_list);
  return 0;
}

/* ---- rows
 * ---------------------------------------------------------------------------------------- */

struct argument {
  enum slot slot;
  uint64_t number;
};

struct row {
  const char *call, *what;
  /* i: returns a code. p: returns a pointer, and the code in the last argument. n: returns a
   * pointer without a code. s: a query whose size is one byte too small. */
  char returns;
  cl_int code;
  int count;
  struct argument arguments[ARGS];
};

static const struct row rows[] = {
#include "misuse_rows.h"
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(ROWS >= 1500, "the table is whole");

typedef uint64_t (*any_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t);

/* Finds a function in the loader, or one of an extension. */
static any_function find(const char *name) {
  void *function = dlsym(RTLD_DEFAULT, name);
  if (!function)
    function = clGetExtensionFunctionAddressForPlatform(GET(cl_platform_id, platform), name);
  if (!function)
    fail_msg("there is no %s", name);
  return (any_function)function;
}

static uint64_t call(any_function f, const uint64_t *a) {
  return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
           a[14], a[15]);
}

/* Returns the expected code. If the device has no shared virtual memory because AddressSanitizer
 * uses its addresses, calls that need it return CL_INVALID_OPERATION, unless a handle or the name
 * of execution info is invalid. */
static cl_int expected(const struct row *row) {
  static const char *const names[] = {"SVM",           "clSetKernelExecInfo",
                                      "MemAllocINTEL", "MemPointerINTEL",
                                      "clEnqueueMem",  "clEnqueueMigrateMemINTEL"};
  const bool handle = row->code == CL_INVALID_COMMAND_QUEUE || row->code == CL_INVALID_KERNEL ||
                      row->code == CL_INVALID_COMMAND_BUFFER_KHR ||
                      !strncmp(row->what, "context:", strlen("context:"));
  const bool name = !strncmp(row->what, "param_name: ", strlen("param_name: ")) ||
                    strstr(row->what, "CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM");
  if (values[V_svm] || handle || name || row->returns == 'n')
    return row->code;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strstr(row->call, names[i]))
      return CL_INVALID_OPERATION;
  return row->code;
}

static cl_int run(const struct row *row, any_function f, uint64_t *arguments, bool *null) {
  *null = true;
  errcode = SENTINEL;
  uint64_t result;
  switch (row->returns) {
  case 'n':
    *null = !call(f, arguments);
    return CL_SUCCESS;
  case 'p':
    *null = !call(f, arguments);
    return errcode;
  case 's': {
    const int size_at = row->count - 3;
    size_t size = 0;
    arguments[size_at] = arguments[size_at + 1] = 0;
    arguments[size_at + 2] = (uintptr_t)&size;
    if ((cl_int)call(f, arguments) != CL_SUCCESS || !size)
      return SENTINEL;
    arguments[size_at] = size - 1;
    arguments[size_at + 1] = (uintptr_t)out;
    arguments[size_at + 2] = 0;
    return (cl_int)call(f, arguments);
  }
  default:
    result = call(f, arguments);
    return (cl_int)result;
  }
}

/* Whether a message begins with the name of the call. Core functions that were part of an
 * extension have two names. */
static bool names_call(const char *sentence, const char *name) {
  const size_t length = strcspn(sentence, ":");
  return strncmp(sentence, name, length) == 0 &&
         (!name[length] || strcmp(name + length, "KHR") == 0);
}

static void invalid_arguments_return_the_required_error(void **state) {
  int bad = 0;
  for (int i = 0; i < ROWS; i++) {
    const struct row *row = &rows[i];
    const any_function f = find(row->call);
    uint64_t arguments[ARGS] = {0};
    for (int j = 0; j < row->count; j++)
      arguments[j] =
          row->arguments[j].slot ? values[row->arguments[j].slot] : row->arguments[j].number;
    bool null;
    sentence_of_context[0] = 0;
    cl_int code = run(row, f, arguments, &null);
    if (sentence_of_context[0] && !names_call(sentence_of_context, row->call)) {
      print_error("%s, %s: the message is \"%s\"\n", row->call, row->what, sentence_of_context);
      bad++;
    }
    if (code == expected(row) && null && row->returns == 'p') {
      arguments[row->count - 1] = 0; /* errcode_ret is NULL */
      null = !call(f, arguments);
    }
    if (code != expected(row) || !null) {
      print_error("%s, %s: %d%s instead of %d\n", row->call, row->what, code,
                  null ? "" : " and not NULL", expected(row));
      bad++;
    }
  }
  print_message("%d rows\n", ROWS);
  assert_int_equal(bad, 0);
}

/* ---- afterwards
 * ------------------------------------------------------------------------------------ */

static cl_uint references(cl_int(CL_API_CALL *query)(void *, cl_uint, size_t, void *, size_t *),
                          enum slot slot, cl_uint name) {
  cl_uint count;
  assert_cl(query((void *)(uintptr_t)values[slot], name, sizeof count, &count, NULL));
  return count;
}

#define REFERENCES(query, name, info)                                                              \
  references((cl_int(CL_API_CALL *)(void *, cl_uint, size_t, void *, size_t *))(query), V_##name,  \
             (info))

/* The objects still work and have their original reference counts. */
static void objects_still_work_after_invalid_calls(void **state) {
  assert_int_equal(REFERENCES(clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT), 1);
  assert_int_equal(REFERENCES(clGetCommandQueueInfo, queue, CL_QUEUE_REFERENCE_COUNT), 1);
  assert_int_equal(REFERENCES(clGetMemObjectInfo, buffer, CL_MEM_REFERENCE_COUNT), 1);
  assert_int_equal(REFERENCES(clGetMemObjectInfo, buffer, CL_MEM_MAP_COUNT), 0);
  assert_int_equal(REFERENCES(clGetProgramInfo, program, CL_PROGRAM_REFERENCE_COUNT), 1);
  assert_int_equal(REFERENCES(clGetKernelInfo, kernel, CL_KERNEL_REFERENCE_COUNT), 1);
  assert_int_equal(REFERENCES(clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT), 1);
  const size_t size = 64;
  cl_mem mem = GET(cl_mem, buffer);
  cl_kernel kernel = GET(cl_kernel, kernel);
  cl_command_queue queue = GET(cl_command_queue, queue);
  int result[64];
  const int n = 11;
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(kernel, 1, sizeof n, &n));
  assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
  for (int i = 0; i < 64; i++)
    assert_int_equal(result[i], n);
}

/* Stale handles of each kind are still refused after many objects have been created and
 * released. */
static void stale_handles_are_refused_after_reuse(void **state) {
  cl_context context = GET(cl_context, context);
  enum { MANY = 1000 };
  for (int i = 0; i < MANY; i++) {
    cl_mem mem = make_buffer(context, 0);
    cl_event event = make_user_event(context, CL_COMPLETE);
    assert_cl(clReleaseMemObject(mem));
    assert_cl(clReleaseEvent(event));
    assert_int_equal(clReleaseMemObject(mem), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clReleaseEvent(event), CL_INVALID_EVENT);
    assert_int_equal(clRetainContext(GET(cl_context, stale_context)), CL_INVALID_CONTEXT);
  }
}

static int tear_down(void **state) {
  release_objects();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(invalid_arguments_return_the_required_error),
      cmocka_unit_test(objects_still_work_after_invalid_calls),
      cmocka_unit_test(stale_handles_are_refused_after_reuse),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
