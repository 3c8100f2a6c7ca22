/* Programs and kernels on the fake compiler: creation, builds, arguments and queries, with
 * errors in the order of the specification. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/icd/fakes/alloc_fail.h"
#include "tests/icd/fakes/fixture.h"

static cl_program new_program(struct fixture *fixture, const char *source) {
  cl_int code;
  cl_program program = clCreateProgramWithSource(fixture->context, 1, &source, NULL, &code);
  assert_cl(code);
  return program;
}

static cl_build_status build_status(struct fixture *fixture, cl_program program) {
  cl_build_status status;
  assert_cl(clGetProgramBuildInfo(program, fixture->device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                                  &status, NULL));
  return status;
}

/* ---- programs ------------------------------------------------------------------- */

static void bad_source_arguments_are_refused(void **state) {
  struct fixture *fixture = *state;
  const char *source = "x", *with_null[] = {"x", NULL};
  cl_int code;
  assert_null(clCreateProgramWithSource(NULL, 1, &source, NULL, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_null(clCreateProgramWithSource(fixture->context, 0, &source, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clCreateProgramWithSource(fixture->context, 1, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clCreateProgramWithSource(fixture->context, 2, with_null, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_null(clCreateProgramWithSource(fixture->context, 0, NULL, NULL, NULL));
}

/* Strings are concatenated. A length of 0 means that the string ends at its NUL. */
static void source_strings_are_concatenated(void **state) {
  struct fixture *fixture = *state;
  const char *parts[] = {"onXXX", "e, ", "two"};
  const size_t lengths[] = {2, 0, 3};
  cl_int code;
  cl_program program = clCreateProgramWithSource(fixture->context, 3, parts, lengths, &code);
  assert_cl(code);
  char text[32];
  size_t size;
  assert_cl(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size));
  assert_string_equal(text, "one, two");
  assert_int_equal(size, sizeof "one, two");
  assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_SOURCE, size - 1, text, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(build_status(fixture, program), CL_BUILD_NONE);
  assert_cl(clReleaseProgram(program));
}

/* A length may count the NUL at the end of its string. */
static void nuls_are_removed_from_the_source(void **state) {
  struct fixture *fixture = *state;
  const char *parts[] = {"one, ", "t\0w", "\0\0", "o"};
  const size_t lengths[] = {6, 3, 2, 2};
  cl_int code;
  cl_program program = clCreateProgramWithSource(fixture->context, 4, parts, lengths, &code);
  assert_cl(code);
  char text[32];
  size_t size;
  assert_cl(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size));
  assert_int_equal(size, sizeof "one, two");
  assert_memory_equal(text, "one, two", size);
  assert_cl(clReleaseProgram(program));
}

static void CL_CALLBACK post(cl_program program, void *data) {
  sem_post(data);
}

static void bad_build_arguments_are_refused(void **state) {
  struct fixture *fixture = *state;
  cl_program program = new_program(fixture, "x");
  cl_device_id other_program = (cl_device_id)fixture->context;
  assert_int_equal(clBuildProgram(NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
  assert_int_equal(clBuildProgram((cl_program)fixture->context, 0, NULL, NULL, NULL, NULL),
                   CL_INVALID_PROGRAM);
  assert_int_equal(clBuildProgram(program, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clBuildProgram(program, 0, &fixture->device, NULL, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, fixture), CL_INVALID_VALUE);
  assert_int_equal(clBuildProgram(program, 1, &other_program, NULL, NULL, NULL), CL_INVALID_DEVICE);
  assert_int_equal(build_status(fixture, program), CL_BUILD_NONE);
  size_t count;
  assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL),
                   CL_INVALID_PROGRAM_EXECUTABLE);
  cl_int code;
  assert_null(clCreateKernel(program, "add", &code));
  assert_int_equal(code, CL_INVALID_PROGRAM_EXECUTABLE);
  assert_cl(clReleaseProgram(program));
}

static void failed_build_has_a_log(void **state) {
  struct fixture *fixture = *state;
  cl_program program = new_program(fixture, "#error");
  assert_int_equal(clBuildProgram(program, 0, NULL, "-DX", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  assert_int_equal(build_status(fixture, program), CL_BUILD_ERROR);
  char options[8];
  assert_cl(clGetProgramBuildInfo(program, fixture->device, CL_PROGRAM_BUILD_OPTIONS,
                                  sizeof options, options, NULL));
  assert_string_equal(options, "-DX");
  size_t size = 1;
  assert_cl(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  assert_int_equal(size, 0);
  cl_int code;
  assert_null(clCreateKernel(program, "add", &code));
  assert_int_equal(code, CL_INVALID_PROGRAM_EXECUTABLE);
  assert_cl(clReleaseProgram(program));
}

static void build_calls_its_callback(void **state) {
  struct fixture *fixture = *state;
  sem_t done;
  assert_int_equal(sem_init(&done, 0, 0), 0);
  cl_program good = new_program(fixture, "x"), bad = new_program(fixture, "#error");
  assert_cl(clBuildProgram(good, 0, NULL, NULL, post, &done));
  assert_cl(clBuildProgram(bad, 0, NULL, NULL, post, &done));
  sem_wait(&done);
  sem_wait(&done);
  assert_int_equal(build_status(fixture, good), CL_BUILD_SUCCESS);
  assert_int_equal(build_status(fixture, bad), CL_BUILD_ERROR);
  /* Release the program during its build. */
  assert_cl(clBuildProgram(good, 0, NULL, NULL, post, &done));
  assert_cl(clReleaseProgram(good));
  assert_cl(clReleaseProgram(bad));
  sem_wait(&done);
  sem_destroy(&done);
}

/* A program with kernels cannot be built again until the kernels are released. */
static void program_with_kernels_is_not_rebuilt(void **state) {
  struct fixture *fixture = *state;
  cl_kernel kernel = fixture_kernel(fixture, "add"), clone;
  cl_int code;
  assert_int_equal(clBuildProgram(fixture->program, 0, NULL, NULL, NULL, NULL),
                   CL_INVALID_OPERATION);
  clone = clCloneKernel(kernel, &code);
  assert_cl(code);
  assert_cl(clRetainKernel(kernel));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseKernel(kernel));
  assert_int_equal(clBuildProgram(fixture->program, 0, NULL, NULL, NULL, NULL),
                   CL_INVALID_OPERATION);
  assert_cl(clReleaseKernel(clone));
  assert_cl(clBuildProgram(fixture->program, 0, NULL, NULL, NULL, NULL));
  assert_int_equal(build_status(fixture, fixture->program), CL_BUILD_SUCCESS);
}

/* A program can be built again while the GPU still runs a kernel that was released. */
static void program_is_rebuilt_while_a_kernel_runs(void **state) {
  struct fixture *fixture = *state;
  enum { N = 64 };
  const size_t global = N;
  cl_mem in = fixture_buffer(fixture, N * 4), out = fixture_buffer(fixture, N * 4);
  const int zero = 0;
  int values[N];
  assert_cl(clEnqueueFillBuffer(fixture->queue, in, &zero, sizeof zero, 0, N * 4, 0, NULL, NULL));
  cl_kernel kernel = fixture_add(fixture, "slow_add", in, out, 3);
  for (int i = 0; i < 5; i++)
    assert_cl(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clBuildProgram(fixture->program, 0, NULL, NULL, NULL, NULL));
  assert_cl(
      clEnqueueReadBuffer(fixture->queue, out, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
  assert_int_equal(values[N - 1], 3);
  assert_cl(clReleaseMemObject(in));
  assert_cl(clReleaseMemObject(out));
}

static void binaries_are_loaded_or_refused(void **state) {
  struct fixture *fixture = *state;
  size_t size = 0;
  assert_cl(clGetProgramInfo(fixture->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  assert_true(size > 0);
  unsigned char *binary = malloc(size), *places[1] = {binary}, *none[1] = {NULL};
  size_t places_size;
  assert_cl(
      clGetProgramInfo(fixture->program, CL_PROGRAM_BINARIES, sizeof places, places, &places_size));
  assert_int_equal(places_size, sizeof places);
  assert_cl(clGetProgramInfo(fixture->program, CL_PROGRAM_BINARIES, sizeof none, none, NULL));
  assert_int_equal(clGetProgramInfo(fixture->program, CL_PROGRAM_BINARIES, 1, places, NULL),
                   CL_INVALID_VALUE);

  const unsigned char *given[1] = {binary};
  cl_int code, status = 1;
  cl_program program = clCreateProgramWithBinary(fixture->context, 1, &fixture->device, &size,
                                                 given, &status, &code);
  assert_cl(code);
  assert_cl(status);
  char text[4];
  assert_cl(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
  assert_string_equal(text, "");
  assert_cl(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  assert_cl(code);
  assert_cl(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
  assert_string_equal(text, ""); /* not created from source */
  assert_cl(clReleaseKernel(kernel));
  cl_program_binary_type type;
  assert_cl(clGetProgramBuildInfo(program, fixture->device, CL_PROGRAM_BINARY_TYPE, sizeof type,
                                  &type, NULL));
  assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  assert_cl(clReleaseProgram(program));

  binary[0] ^= 1;
  assert_null(clCreateProgramWithBinary(fixture->context, 1, &fixture->device, &size, given,
                                        &status, &code));
  assert_int_equal(code, CL_INVALID_BINARY);
  assert_int_equal(status, CL_INVALID_BINARY);
  const size_t empty = 0;
  assert_null(clCreateProgramWithBinary(fixture->context, 1, &fixture->device, &empty, given,
                                        &status, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_int_equal(status, CL_INVALID_VALUE);
  assert_null(clCreateProgramWithBinary(fixture->context, 0, NULL, &size, given, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  free(binary);
}

static void program_queries_return_properties(void **state) {
  struct fixture *fixture = *state;
  size_t count, size;
  cl_uint number;
  assert_cl(clGetProgramInfo(fixture->program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
  assert_int_equal(count, 9);
  char names[128];
  assert_cl(
      clGetProgramInfo(fixture->program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, &size));
  assert_string_equal(names, "add;slow_add;locals;ids;required;bounded;fault;print;describe");
  assert_int_equal(size, strlen(names) + 1);
  assert_cl(clRetainProgram(fixture->program));
  assert_cl(
      clGetProgramInfo(fixture->program, CL_PROGRAM_REFERENCE_COUNT, sizeof number, &number, NULL));
  assert_int_equal(number, 2);
  assert_cl(clReleaseProgram(fixture->program));
  assert_int_equal(clGetProgramInfo(fixture->program, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(
      clGetProgramBuildInfo(fixture->program, NULL, CL_PROGRAM_BUILD_LOG, 0, NULL, NULL),
      CL_INVALID_DEVICE);
  cl_kernel kernels[9];
  assert_int_equal(clCreateKernelsInProgram(fixture->program, 6, kernels, &number),
                   CL_INVALID_VALUE);
  assert_cl(clCreateKernelsInProgram(fixture->program, 0, NULL, &number));
  assert_int_equal(number, 9);
  assert_cl(clCreateKernelsInProgram(fixture->program, 9, kernels, &number));
  for (cl_uint i = 0; i < number; i++)
    assert_cl(clReleaseKernel(kernels[i]));
}

/* ---- kernels --------------------------------------------------------------------- */

static void bad_kernel_arguments_are_refused(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  assert_null(clCreateKernel(NULL, "add", &code));
  assert_int_equal(code, CL_INVALID_PROGRAM);
  assert_null(clCreateKernel(fixture->program, "nothing", &code));
  assert_int_equal(code, CL_INVALID_KERNEL_NAME);
  assert_null(clCreateKernel(fixture->program, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_int_equal(clReleaseKernel(NULL), CL_INVALID_KERNEL);
  assert_int_equal(clReleaseKernel((cl_kernel)fixture->program), CL_INVALID_KERNEL);
}

static void bad_argument_values_are_refused(void **state) {
  struct fixture *fixture = *state;
  cl_kernel add = fixture_kernel(fixture, "add"), locals = fixture_kernel(fixture, "locals");
  cl_mem mem = fixture_buffer(fixture, 64), wrong = (cl_mem)fixture->queue;
  const int n = 1;
  const long wide = 1;
  assert_int_equal(clSetKernelArg(NULL, 0, sizeof mem, &mem), CL_INVALID_KERNEL);
  assert_int_equal(clSetKernelArg(add, 3, sizeof mem, &mem), CL_INVALID_ARG_INDEX);
  assert_int_equal(clSetKernelArg(add, 0, sizeof wrong, &wrong), CL_INVALID_MEM_OBJECT);
  assert_int_equal(clSetKernelArg(add, 0, 4, &mem), CL_INVALID_ARG_SIZE);
  assert_int_equal(clSetKernelArg(add, 2, sizeof wide, &wide), CL_INVALID_ARG_SIZE);
  assert_int_equal(clSetKernelArg(add, 2, sizeof n, NULL), CL_INVALID_ARG_VALUE);
  assert_int_equal(clSetKernelArg(locals, 0, 0, NULL), CL_INVALID_ARG_SIZE);
  assert_int_equal(clSetKernelArg(locals, 0, 16, &n), CL_INVALID_ARG_VALUE);
  assert_int_equal(clSetKernelArg(locals, 0, (size_t)1 << 40, NULL), CL_OUT_OF_RESOURCES);
  assert_int_equal(add->unset, 3);
  assert_int_equal(locals->unset, 3);
  assert_cl(clReleaseKernel(add));
  assert_cl(clReleaseKernel(locals));
  assert_cl(clReleaseMemObject(mem));
}

static uint64_t address_param(cl_kernel kernel, uint32_t i) {
  uint64_t address;
  memcpy(&address, kernel->params + kernel->code->args[i].offset, sizeof address);
  return address;
}

/* Checks the bytes that a launch will copy. */
static void arguments_are_stored_as_bytes(void **state) {
  struct fixture *fixture = *state;
  cl_mem mem = fixture_buffer(fixture, 64), null = NULL;
  cl_kernel kernel = fixture_add(fixture, "add", mem, mem, 0x1234);
  int n;
  assert_int_equal(kernel->unset, 0);
  assert_int_equal(address_param(kernel, 0), mem->gpu);
  assert_ptr_equal(kernel->buffers[1], mem);
  memcpy(&n, kernel->params + kernel->code->args[2].offset, sizeof n);
  assert_int_equal(n, 0x1234);
  /* Sets arguments again, sets NULL in both ways, and clones the kernel. */
  cl_int code;
  cl_kernel clone = clCloneKernel(kernel, &code);
  assert_cl(code);
  assert_cl(clSetKernelArg(kernel, 0, sizeof null, &null));
  assert_cl(clSetKernelArg(kernel, 1, sizeof null, NULL));
  assert_int_equal(address_param(kernel, 0), 0);
  assert_null(kernel->buffers[1]);
  assert_int_equal(kernel->unset, 0);
  assert_int_equal(address_param(clone, 0), mem->gpu);
  assert_int_equal(clone->unset, 0);
  assert_cl(clReleaseKernel(clone));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(mem));
}

static void kernel_queries_return_properties(void **state) {
  struct fixture *fixture = *state;
  cl_kernel kernel = fixture_kernel(fixture, "add");
  char text[32];
  cl_uint number;
  size_t size;
  assert_cl(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, &size));
  assert_string_equal(text, "add");
  assert_cl(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof number, &number, NULL));
  assert_int_equal(number, 3);
  assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, 1, &number, NULL), CL_INVALID_VALUE);
  assert_cl(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
  assert_string_equal(text, "vec_type_hint(int)");
  assert_int_equal(clGetKernelInfo(kernel, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  cl_kernel_arg_address_qualifier space;
  assert_cl(
      clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
  assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
  assert_cl(
      clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
  assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_PRIVATE);
  assert_cl(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
  assert_string_equal(text, "int");
  assert_int_equal(clGetKernelArgInfo(kernel, 3, CL_KERNEL_ARG_NAME, sizeof text, text, NULL),
                   CL_INVALID_ARG_INDEX);
  assert_cl(clReleaseKernel(kernel));
}

static void work_group_queries_return_sizes(void **state) {
  struct fixture *fixture = *state;
  cl_kernel required = fixture_kernel(fixture, "required"),
            locals = fixture_kernel(fixture, "locals");
  size_t block[3], size;
  cl_ulong bytes;
  assert_cl(clGetKernelWorkGroupInfo(required, fixture->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                     sizeof block, block, NULL));
  assert_int_equal(block[0], 8);
  assert_int_equal(block[1], 4);
  assert_int_equal(block[2], 1);
  assert_cl(clGetKernelWorkGroupInfo(required, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size,
                                     NULL));
  assert_int_equal(size, required->max_threads);
  assert_true(size > 0);
  assert_cl(clGetKernelWorkGroupInfo(required, NULL, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                     sizeof size, &size, NULL));
  assert_int_equal(size, 32);
  /* 256 bytes of static memory, 5 bytes of a, and b, which is aligned to 16. */
  assert_cl(
      clGetKernelWorkGroupInfo(locals, NULL, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
  assert_int_equal(bytes, 256);
  assert_cl(clSetKernelArg(locals, 0, 5, NULL));
  assert_cl(clSetKernelArg(locals, 1, 32, NULL));
  assert_cl(
      clGetKernelWorkGroupInfo(locals, NULL, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
  assert_int_equal(bytes, 256 + 16 + 32);
  assert_int_equal(clGetKernelWorkGroupInfo(locals, (cl_device_id)fixture->queue,
                                            CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL),
                   CL_INVALID_DEVICE);
  assert_int_equal(
      clGetKernelWorkGroupInfo(locals, NULL, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof block, block, NULL),
      CL_INVALID_VALUE);
  assert_int_equal(clGetKernelSubGroupInfo(locals, fixture->device,
                                           CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 0, NULL,
                                           sizeof size, &size, NULL),
                   CL_INVALID_VALUE);
  const size_t huge = SIZE_MAX / 32 + 1; /* times 32 are none */
  assert_cl(clGetKernelSubGroupInfo(locals, fixture->device,
                                    CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof huge, &huge,
                                    sizeof block, block, NULL));
  assert_int_equal(block[1], 0);
  assert_int_equal(clGetKernelSubGroupInfo(locals, fixture->device,
                                           CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof huge,
                                           &huge, 0, block, NULL),
                   CL_INVALID_VALUE);
  assert_cl(clReleaseKernel(required));
  assert_cl(clReleaseKernel(locals));
}

static cl_program_binary_type binary_type(struct fixture *fixture, cl_program program) {
  cl_program_binary_type type = 0;
  assert_cl(clGetProgramBuildInfo(program, fixture->device, CL_PROGRAM_BINARY_TYPE, sizeof type,
                                  &type, NULL));
  return type;
}

static void CL_CALLBACK count_call(cl_program program, void *calls) {
  atomic_fetch_add((atomic_int *)calls, 1);
}

/* Checks which programs can be compiled and linked, and the types of the results. */
static void compiled_programs_are_linked(void **state) {
  struct fixture *fixture = *state;
  const char *text = "", *bad_text = "#error", *name = "a.h";
  cl_int code;
  cl_program source = clCreateProgramWithSource(fixture->context, 1, &text, NULL, &code);
  cl_program bad = clCreateProgramWithSource(fixture->context, 1, &bad_text, NULL, &code);
  assert_int_equal(clCompileProgram(source, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL),
                   CL_INVALID_VALUE);
  assert_int_equal(clCompileProgram(bad, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
                   CL_COMPILE_PROGRAM_FAILURE);
  assert_null(clLinkProgram(fixture->context, 0, NULL, NULL, 1, &source, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  assert_cl(clCompileProgram(source, 0, NULL, NULL, 1, &bad, &name, NULL, NULL));
  assert_int_equal(binary_type(fixture, source), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
  assert_null(clCreateKernel(source, "add", &code));
  assert_int_equal(code, CL_INVALID_PROGRAM_EXECUTABLE);
  assert_null(clLinkProgram(fixture->context, 0, NULL, NULL, 0, NULL, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);

  const char *options = "-create-library -enable-link-options";
  cl_program library =
      clLinkProgram(fixture->context, 0, NULL, options, 1, &source, NULL, NULL, &code);
  assert_cl(code);
  assert_int_equal(binary_type(fixture, library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
  assert_int_equal(clCompileProgram(library, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
                   CL_INVALID_OPERATION);
  assert_int_equal(clBuildProgram(library, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
  assert_int_equal(build_status(fixture, library), CL_BUILD_SUCCESS);

  cl_program both[] = {source, library};
  atomic_int calls = 0;
  cl_program linked =
      clLinkProgram(fixture->context, 0, NULL, NULL, 2, both, count_call, &calls, &code);
  assert_cl(code);
  while (!atomic_load(&calls))
    sched_yield();
  assert_int_equal(binary_type(fixture, linked), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  cl_kernel kernel = clCreateKernel(linked, "add", &code);
  assert_cl(code);

  unsigned char bytes[64], *place = bytes;
  const unsigned char *given = bytes;
  size_t size;
  assert_cl(clGetProgramInfo(library, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  assert_true(size <= sizeof bytes);
  assert_cl(clGetProgramInfo(library, CL_PROGRAM_BINARIES, sizeof place, &place, NULL));
  cl_program again =
      clCreateProgramWithBinary(fixture->context, 1, &fixture->device, &size, &given, NULL, &code);
  assert_cl(code);
  assert_int_equal(binary_type(fixture, again), CL_PROGRAM_BINARY_TYPE_LIBRARY);
  assert_cl(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
  assert_int_equal(binary_type(fixture, again), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  assert_cl(clReleaseKernel(kernel));
  cl_program all[] = {source, bad, library, linked, again};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    assert_cl(clReleaseProgram(all[i]));
}

/* A program from SPIR-V has no use for headers. */
static void headers_of_spirv_are_ignored(void **state) {
  struct fixture *fixture = *state;
  const uint32_t module[] = {0x07230203, 0x00010000, 0, 1, 0}; /* header without instructions */
  const char *name = "a.h";
  cl_program none = NULL;
  cl_int code;
  fake_il = true;
  cl_program program = clCreateProgramWithIL(fixture->context, module, sizeof module, &code);
  assert_cl(code);
  assert_cl(clCompileProgram(program, 0, NULL, NULL, 1, &none, &name, NULL, NULL));
  assert_cl(clCompileProgram(program, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL));
  assert_cl(clReleaseProgram(program));
  fake_il = false;
}

/* A link with a callback returns a program and calls back, or does neither. */
static void links_without_memory_fail_or_call_back(void **state) {
  struct fixture *fixture = *state;
  cl_program object = new_program(fixture, "x");
  sem_t done;
  assert_int_equal(sem_init(&done, 0, 0), 0);
  assert_cl(clCompileProgram(object, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  bool failed = true;
  for (int after = 0; failed; after++) {
    cl_int code;
    alloc_fail_arm(after);
    cl_program program =
        clLinkProgram(fixture->context, 0, NULL, "", 1, &object, post, &done, &code);
    if (program) {
      assert_cl(code);
      sem_wait(&done);
      assert_cl(clReleaseProgram(program));
    } else {
      assert_int_equal(code, CL_OUT_OF_HOST_MEMORY);
    }
    failed = alloc_fail_disarm();
  }
  sem_destroy(&done);
  assert_cl(clReleaseProgram(object));
}

/* Headers and objects of another context are refused. */
static void programs_of_another_context_are_refused(void **state) {
  struct fixture *fixture = *state;
  const char *text = "", *name = "a.h";
  cl_int code;
  cl_context context = clCreateContext(NULL, 1, &fixture->device, NULL, NULL, &code);
  assert_cl(code);
  cl_program program = clCreateProgramWithSource(fixture->context, 1, &text, NULL, &code);
  cl_program other_program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  assert_cl(clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  assert_cl(clCompileProgram(other_program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 1, &other_program, &name, NULL, NULL),
                   CL_INVALID_CONTEXT);
  cl_program objects[] = {program, other_program};
  assert_null(clLinkProgram(fixture->context, 0, NULL, NULL, 2, objects, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_cl(clReleaseProgram(other_program));
  assert_cl(clReleaseProgram(program));
  assert_cl(clReleaseContext(context));
}

/* Functions that the device does not support. */
static void unsupported_functions_return_errors(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  assert_null(clCreateProgramWithIL(fixture->context, "x", 1, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  assert_null(clCreateProgramWithBuiltInKernels(fixture->context, 1, &fixture->device, "x", &code));
  assert_int_equal(code, CL_INVALID_VALUE);
  assert_cl(clUnloadPlatformCompiler(&icd_platform));
  assert_int_equal(clUnloadPlatformCompiler(NULL), CL_INVALID_PLATFORM);
}

/* ---- units ------------------------------------------------------------------------ */

static cl_program build_units(struct fixture *fixture) {
  cl_program program = new_program(fixture, "#units");
  assert_cl(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  return program;
}

static void *create_add(void *program) {
  cl_int code;
  return clCreateKernel(program, "add", &code);
}

/* The unit that a kernel should be in lacks it. */
static void kernel_missing_in_unit_is_an_error(void **state) {
  struct fixture *fixture = *state;
  cl_program program = build_units(fixture);
  cl_int code;
  fake_finish_units();
  for (int i = 0; i < 2; i++) { /* the second time the unit has been loaded */
    assert_null(clCreateKernel(program, "missing", &code));
    assert_int_equal(code, CL_OUT_OF_RESOURCES);
  }
  cl_kernel kernel = create_add(program);
  assert_non_null(kernel);
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseProgram(program));
}

/* The program is released while a thread waits for a unit of it. */
static void program_may_be_released_while_a_thread_waits(void **state) {
  struct fixture *fixture = *state;
  cl_program program = build_units(fixture);
  pthread_t thread;
  void *kernel;
  assert_int_equal(pthread_create(&thread, NULL, create_add, program), 0);
  fake_wait_for_caller();
  assert_cl(clReleaseProgram(program));
  fake_finish_units();
  pthread_join(thread, &kernel);
  assert_non_null(kernel);
  assert_cl(clReleaseKernel(kernel));
}

/* A build continues while the program has a kernel, and is cancelled when the kernel is released.
 */
static void build_continues_while_a_kernel_exists(void **state) {
  struct fixture *fixture = *state;
  cl_program program = build_units(fixture);
  fake_finish_units();
  cl_kernel kernel = create_add(program);
  assert_non_null(kernel);
  assert_cl(clRetainKernel(kernel));
  assert_cl(clReleaseProgram(program));
  assert_false(fake_was_cancelled());
  assert_cl(clReleaseKernel(kernel));
  assert_false(fake_was_cancelled());
  assert_cl(clReleaseKernel(kernel));
  assert_true(fake_was_cancelled());
}

/* A build uses the directory in which it was called, not that in which its thread starts. */
static void build_uses_directory_of_the_call(void **state) {
  struct fixture *fixture = *state;
  char *here = getcwd(NULL, 0);
  sem_t done;
  assert_non_null(here);
  assert_int_equal(sem_init(&done, 0, 0), 0);
  assert_cl(clReleaseKernel(fixture_kernel(fixture, "add")));
  assert_int_equal(chdir("/proc/self"), 0);
  char *wanted = getcwd(NULL, 0);
  const cl_int code = clBuildProgram(fixture->program, 0, NULL, NULL, post, &done);
  assert_int_equal(chdir(here), 0);
  assert_cl(code);
  sem_wait(&done);
  char *folder = fake_take_folder();
  assert_non_null(folder);
  assert_string_equal(folder, wanted);
  sem_destroy(&done);
  free(folder);
  free(wanted);
  free(here);
}

static void *use_program(void *argument) {
  struct fixture *fixture = argument;
  for (int i = 0; i < 200; i++) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(fixture->program, "add", &code);
    if (code != CL_SUCCESS && code != CL_INVALID_PROGRAM_EXECUTABLE)
      return argument;
    if (kernel)
      clReleaseKernel(kernel);
    code = clBuildProgram(fixture->program, 0, NULL, NULL, NULL, NULL);
    if (code != CL_SUCCESS && code != CL_INVALID_OPERATION)
      return argument;
  }
  return NULL;
}

/* Several threads build programs, create kernels and release them. */
static void threads_build_programs(void **state) {
  struct fixture *fixture = *state;
  pthread_t list[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&list[i], NULL, use_program, fixture), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(list[i], &failed);
    assert_null(failed);
  }
  assert_int_equal(fixture->program->kernels, 0);
}

/* ---- notify callbacks that use the object of the error ------------------------------ */

static cl_program queried_program;
static int notifications;

static void CL_CALLBACK query_program(const char *why, const void *code, size_t size, void *data) {
  char log[16];
  size_t kernels;
  notifications++;
  if (!queried_program)
    return;
  cl_program program = queried_program;
  queried_program = NULL; /* the following errors cause no query */
  assert_cl(clGetProgramBuildInfo(program, program->context->device, CL_PROGRAM_BUILD_LOG,
                                  sizeof log, log, NULL));
  clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL);
}

/* When a launch is refused, its kernel is unlocked during the callback, also for another thread
 * for which the callback waits. */
static cl_kernel notified_kernel;

static void *set_argument(void *kernel) {
  const int n = 3;
  assert_cl(clSetKernelArg(kernel, 2, sizeof n, &n));
  return NULL;
}

static void CL_CALLBACK set_argument_in_notify(const char *why, const void *code, size_t size,
                                               void *data) {
  pthread_t other;
  notifications++;
  if (!notified_kernel)
    return;
  assert_int_equal(pthread_create(&other, NULL, set_argument, notified_kernel), 0);
  assert_int_equal(pthread_join(other, NULL), 0);
}

static int setup_setting(void **state) {
  return fixture_setup_with(state, NULL, set_argument_in_notify);
}

static void notify_callback_may_use_the_kernel(void **state) {
  struct fixture *fixture = *state;
  clGetKernelSuggestedLocalWorkSizeKHR_fn suggest =
      clGetExtensionFunctionAddress("clGetKernelSuggestedLocalWorkSizeKHR");
  cl_kernel kernel = notified_kernel = fixture_kernel(fixture, "add");
  cl_mem mem = fixture_buffer(fixture, 256);
  const size_t none = 0, global = 64, zero[1] = {0}, large = 4096;
  size_t local;
  cl_event event;
  notifications = 0;
  for (int i = 0; i < 2; i++) { /* without an event, and with one */
    cl_event *wanted = i ? &event : NULL;
    assert_int_equal(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, wanted),
        CL_INVALID_KERNEL_ARGS);
    assert_int_equal(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &none, NULL, 0, NULL, wanted),
        CL_INVALID_KERNEL_ARGS);
  }
  assert_int_equal(suggest(fixture->queue, kernel, 1, NULL, &global, &local),
                   CL_INVALID_KERNEL_ARGS);
  assert_int_equal(notifications, 5);
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  assert_cl(clSetKernelArg(kernel, 1, sizeof mem, &mem));
  for (int i = 0; i < 2; i++) {
    cl_event *wanted = i ? &event : NULL;
    assert_int_equal(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &large, &large, 0, NULL, wanted),
        CL_INVALID_WORK_ITEM_SIZE);
    assert_cl(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, wanted));
    if (wanted)
      assert_cl(clReleaseEvent(event));
    /* The launch that the kernel has stored, with another local size. */
    assert_int_equal(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, zero, 0, NULL, wanted),
        CL_INVALID_WORK_GROUP_SIZE);
  }
  assert_int_equal(notifications, 9);
  notified_kernel = NULL;
  clReleaseKernel(kernel);
  clReleaseMemObject(mem);
}

static int setup_querying(void **state) {
  return fixture_setup_with(state, NULL, query_program);
}

static void notify_callback_may_query_the_program(void **state) {
  struct fixture *fixture = *state;
  const char *source = "no matter";
  cl_kernel kernel = fixture_kernel(fixture, "add");
  size_t kernels;
  notifications = 0;
  queried_program = fixture->program;
  assert_int_equal(clBuildProgram(fixture->program, 0, NULL, NULL, NULL, NULL),
                   CL_INVALID_OPERATION);
  assert_int_equal(notifications, 1);
  clReleaseKernel(kernel);
  queried_program = clCreateProgramWithSource(fixture->context, 1, &source, NULL, NULL);
  cl_program program = queried_program;
  assert_int_equal(
      clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL),
      CL_INVALID_PROGRAM_EXECUTABLE);
  assert_int_equal(notifications, 3); /* one of them about the failed query in the callback */
  clReleaseProgram(program);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(bad_source_arguments_are_refused),
      TEST(source_strings_are_concatenated),
      TEST(nuls_are_removed_from_the_source),
      TEST(bad_build_arguments_are_refused),
      TEST(failed_build_has_a_log),
      TEST(build_calls_its_callback),
      TEST(program_with_kernels_is_not_rebuilt),
      TEST(binaries_are_loaded_or_refused),
      TEST(program_is_rebuilt_while_a_kernel_runs),
      TEST(program_queries_return_properties),
      TEST(bad_kernel_arguments_are_refused),
      TEST(bad_argument_values_are_refused),
      TEST(arguments_are_stored_as_bytes),
      TEST(kernel_queries_return_properties),
      TEST(work_group_queries_return_sizes),
      TEST(compiled_programs_are_linked),
      TEST(headers_of_spirv_are_ignored),
      TEST(programs_of_another_context_are_refused),
      TEST(unsupported_functions_return_errors),
      TEST(kernel_missing_in_unit_is_an_error),
      TEST(program_may_be_released_while_a_thread_waits),
      TEST(build_continues_while_a_kernel_exists),
      TEST(build_uses_directory_of_the_call),
      TEST(links_without_memory_fail_or_call_back),
      TEST(threads_build_programs),
      cmocka_unit_test_setup_teardown(notify_callback_may_query_the_program, setup_querying,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(notify_callback_may_use_the_kernel, setup_setting,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
