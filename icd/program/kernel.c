/* Kernel objects and their arguments. Argument values are stored as bytes of the kernel's parameter
 * area, ready to be copied into a launch.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/memory/svm.h"
#include "icd/platform/device_text.h"
#include "icd/program/units.h"

#include "icd/cl_tegracl.h"

static void destroy_kernel(struct icd_object *object) {
  cl_kernel kernel = (cl_kernel)object;
  icd_module_drop(kernel->owner);
  icd_program_drop(kernel->program);
  free(kernel->shape);
  free(kernel->local_sizes);
  free(kernel->buffers);
  free(kernel->set);
  icd_object_free(ICD_MAGIC_KERNEL, kernel);
}

static const struct icd_kind kernel_kind = {.magic = ICD_MAGIC_KERNEL, .destroy = destroy_kernel};

/* Creates a kernel of a built module. The caller adds it to the program's count. Returns NULL if
 * out of memory. */
static cl_kernel create_kernel(cl_program program, struct icd_module *module, uint32_t index) {
  cl_kernel kernel = icd_object_new(ICD_MAGIC_KERNEL, sizeof(*kernel));
  if (!kernel)
    return NULL;
  const struct kernel_code *code = &module->code->kernels[index];
  const size_t count = code->arg_count;
  kernel->shape = calloc(1, rt_shape_bytes(code));
  kernel->local_sizes = calloc(count + 1, sizeof(*kernel->local_sizes));
  kernel->buffers = calloc(count + 1, sizeof(cl_mem));
  kernel->set = calloc(count + 1, sizeof(*kernel->set));
  if (!kernel->shape || !kernel->local_sizes || !kernel->buffers || !kernel->set) {
    free(kernel->shape);
    free(kernel->local_sizes);
    free(kernel->buffers);
    free(kernel->set);
    icd_object_free(ICD_MAGIC_KERNEL, kernel);
    return NULL;
  }
  icd_lock_init(&kernel->guard, BASE_LOCK_KERNEL);
  kernel->params = rt_shape_params(kernel->shape, code);
  kernel->program = program;
  kernel->owner = module;
  kernel->code = code;
  kernel->index = index;
  kernel->module = module->rt;
  kernel->max_threads = rt_kernel_max_threads(program->context->rt, code);
  kernel->unset = code->arg_count;
  for (size_t i = 0; i < count; i++)
    kernel->local_args += code->args[i].kind == KERNEL_ARG_LOCAL;
  icd_program_hold(program);
  icd_module_hold(module);
  icd_object_init(&kernel->object, &kernel_kind);
  return kernel;
}

/* ---- creation ------------------------------------------------------------------- */

/* Gets the kernels of a program. Until detach_kernels the program is held and cannot be built
 * again. */
static cl_int attach_kernels(cl_program program, struct icd_kernels *kernels, const char *call) {
  base_mutex_lock(&program->lock);
  const bool built = icd_kernels_get(program, kernels);
  program->kernels += built;
  if (built)
    icd_program_hold(program);
  base_mutex_unlock(&program->lock);
  return built ? CL_SUCCESS
               : icd_fail(program->context, CL_INVALID_PROGRAM_EXECUTABLE, call,
                          "the program has not been built successfully");
}

static void count_kernel(cl_program program) {
  base_mutex_lock(&program->lock);
  program->kernels++;
  base_mutex_unlock(&program->lock);
}

static void detach_kernels(cl_program program, struct icd_kernels *kernels) {
  icd_kernels_drop(kernels);
  icd_program_remove_kernel(program);
  icd_program_drop(program);
}

static cl_int find_kernel(cl_program program, const struct icd_kernels *kernels, const char *name,
                          size_t *index, const char *call) {
  if (!name)
    return icd_fail(program->context, CL_INVALID_VALUE, call, "kernel_name is NULL");
  for (*index = 0; *index < kernels->count; ++*index)
    if (!strcmp(icd_kernels_name(kernels, *index), name))
      return CL_SUCCESS;
  return icd_fail(program->context, CL_INVALID_KERNEL_NAME, call,
                  "the program has no kernel named %s", name);
}

/* Creates kernel i and adds it to the program's count. */
static cl_int make_kernel(cl_program program, const struct icd_kernels *kernels, size_t i,
                          const char *call, cl_kernel *kernel) {
  struct icd_module *module;
  uint32_t index;
  const cl_int code = icd_kernels_module(program, kernels, i, call, &module, &index);
  if (code)
    return code;
  *kernel = create_kernel(program, module, index);
  icd_module_drop(module);
  if (!*kernel)
    return icd_fail(program->context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  count_kernel(program);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *kernel_name,
                                                  cl_int *errcode_ret) {
  if (!icd_is_program(program))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_PROGRAM,
                         "program %p is not a valid cl_program", (void *)program);
  struct icd_kernels kernels;
  size_t i = 0;
  cl_kernel kernel = NULL;
  cl_int code = attach_kernels(program, &kernels, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  code = find_kernel(program, &kernels, kernel_name, &i, __func__);
  if (!code)
    code = make_kernel(program, &kernels, i, __func__, &kernel);
  detach_kernels(program, &kernels);
  return code ? icd_null(errcode_ret, code) : ICD_GIVE(errcode_ret, kernel);
}

/* Lets the program be built again if the application has no reference to the kernel left, even if
 * the driver still uses the kernel. Called after a kernel was released. */
static void leave_program(cl_kernel kernel) {
  if (!atomic_load(&kernel->object.handles) && !atomic_exchange(&kernel->detached, true))
    icd_program_remove_kernel(kernel->program);
}

static cl_int release_kernel(cl_kernel kernel) {
  icd_kernel_hold(kernel);
  const cl_int code = icd_object_release(&kernel->object, CL_INVALID_KERNEL);
  if (!code)
    leave_program(kernel);
  icd_kernel_drop(kernel);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels,
                                                         cl_kernel *kernels,
                                                         cl_uint *num_kernels_ret) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  struct icd_kernels all;
  cl_int code = attach_kernels(program, &all, __func__);
  if (code)
    return code;
  if (kernels && num_kernels < all.count)
    code = ICD_FAIL(program->context, CL_INVALID_VALUE,
                    "num_kernels is %u, but the program has %zu kernels", num_kernels, all.count);
  size_t made = 0;
  while (kernels && !code && made < all.count) {
    code = make_kernel(program, &all, made, __func__, &kernels[made]);
    made += !code;
  }
  while (code && made > 0)
    release_kernel(kernels[--made]);
  if (!code && num_kernels_ret)
    *num_kernels_ret = (cl_uint)all.count;
  detach_kernels(program, &all);
  return code;
}

cl_kernel icd_kernel_clone(cl_kernel source_kernel, enum base_lock_kind kind) {
  cl_kernel kernel =
      create_kernel(source_kernel->program, source_kernel->owner, source_kernel->index);
  if (!kernel)
    return NULL;
  icd_lock_init(&kernel->guard, kind);
  const size_t count = kernel->code->arg_count;
  icd_lock(&source_kernel->guard);
  memcpy(kernel->params, source_kernel->params, kernel->code->param_bytes);
  memcpy(kernel->local_sizes, source_kernel->local_sizes, count * sizeof(*kernel->local_sizes));
  memcpy(kernel->buffers, source_kernel->buffers, count * sizeof(cl_mem));
  memcpy(kernel->set, source_kernel->set, count * sizeof(*kernel->set));
  kernel->unset = source_kernel->unset;
  icd_unlock(&source_kernel->guard);
  return kernel;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCloneKernel(cl_kernel source_kernel, cl_int *errcode_ret) {
  if (!icd_is_kernel(source_kernel))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_KERNEL,
                         "source_kernel %p is not a valid cl_kernel", (void *)source_kernel);
  cl_program program = source_kernel->program;
  cl_kernel kernel = icd_kernel_clone(source_kernel, BASE_LOCK_KERNEL);
  if (!kernel)
    return ICD_FAIL_NULL(errcode_ret, program->context, CL_OUT_OF_HOST_MEMORY,
                         "out of host memory");
  count_kernel(program);
  return ICD_GIVE(errcode_ret, kernel);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) {
  if (!icd_is_kernel(kernel))
    return ICD_FAIL(NULL, CL_INVALID_KERNEL, "kernel %p is not a valid cl_kernel", (void *)kernel);
  icd_object_retain(&kernel->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
  if (!icd_is_kernel(kernel) || release_kernel(kernel) != CL_SUCCESS)
    return ICD_FAIL(NULL, CL_INVALID_KERNEL,
                    "kernel %p is not a valid cl_kernel or was released too often", (void *)kernel);
  return CL_SUCCESS;
}

/* ---- arguments --------------------------------------------------------------------- */

/* How messages refer to an argument. */
#define ARGUMENT_FORMAT     "argument %u (%s) of kernel %s"
#define ARGUMENT(kernel, i) (i), argument_name(kernel, i), (kernel)->code->name

static const char *argument_name(cl_kernel kernel, cl_uint i) {
  const char *name = kernel->code->args[i].name;
  return name && *name ? name : "unnamed";
}

cl_int icd_check_arguments(cl_kernel kernel, const char *call) {
  if (!kernel->unset)
    return CL_SUCCESS;
  cl_uint first = 0;
  while (kernel->set[first])
    first++;
  return icd_fail(kernel->program->context, CL_INVALID_KERNEL_ARGS, call,
                  ARGUMENT_FORMAT " is not set", ARGUMENT(kernel, first));
}

static cl_int check_size(cl_kernel kernel, cl_uint i, size_t wanted, size_t size,
                         const char *call) {
  if (size != wanted)
    return icd_fail(kernel->program->context, CL_INVALID_ARG_SIZE, call,
                    ARGUMENT_FORMAT " has %zu bytes, but arg_size is %zu", ARGUMENT(kernel, i),
                    wanted, size);
  return CL_SUCCESS;
}

/* Reads the handle at value, or NULL if value is NULL. */
static cl_int read_handle(cl_kernel kernel, cl_uint i, size_t size, const void *value,
                          void **handle, const char *call) {
  *handle = NULL;
  const cl_int code = check_size(kernel, i, sizeof(*handle), size, call);
  if (!code && value)
    memcpy(handle, value, sizeof(*handle));
  return code;
}

static cl_int check_context(cl_kernel kernel, cl_uint i, cl_context context, const char *call) {
  if (context != kernel->program->context)
    return icd_fail(kernel->program->context, CL_INVALID_CONTEXT, call,
                    ARGUMENT_FORMAT " and the kernel belong to different contexts",
                    ARGUMENT(kernel, i));
  return CL_SUCCESS;
}

/* Checks a buffer argument and stores it at *buffer. A NULL buffer is allowed. */
static cl_int read_buffer(cl_kernel kernel, cl_uint i, size_t size, const void *value,
                          cl_mem *buffer, const char *call) {
  cl_context context = kernel->program->context;
  void *handle;
  const cl_int code = read_handle(kernel, i, size, value, &handle, call);
  if (code)
    return code;
  *buffer = handle;
  if (!*buffer)
    return CL_SUCCESS;
  if (!icd_is_mem(*buffer) || (*buffer)->image)
    return icd_fail(context, CL_INVALID_MEM_OBJECT, call,
                    ARGUMENT_FORMAT ": %p is not a valid buffer", ARGUMENT(kernel, i), handle);
  const struct kernel_arg *arg = &kernel->code->args[i];
  if ((*buffer)->flags & CL_MEM_IMMUTABLE_EXT && arg->kind == KERNEL_ARG_GLOBAL &&
      !(arg->qualifiers & KERNEL_ARG_CONST))
    return icd_fail(context, CL_INVALID_ARG_VALUE, call,
                    ARGUMENT_FORMAT " is not a pointer to const, but the buffer is immutable",
                    ARGUMENT(kernel, i));
  return check_context(kernel, i, (*buffer)->context, call);
}

static cl_int check_value(cl_kernel kernel, cl_uint i, size_t wanted, size_t size,
                          const void *value, const char *call) {
  if (!value)
    return icd_fail(kernel->program->context, CL_INVALID_ARG_VALUE, call,
                    ARGUMENT_FORMAT ": arg_value is NULL", ARGUMENT(kernel, i));
  return check_size(kernel, i, wanted, size, call);
}

/* A bare CUBIN only has the sizes of the arguments, so one of eight bytes may be a pointer. */
static bool may_be_pointer(cl_kernel kernel, cl_uint i) {
  const struct kernel_arg *arg = &kernel->code->args[i];
  return !kernel->code->args_known && arg->kind == KERNEL_ARG_VALUE && arg->size == sizeof(cl_mem);
}

/* Checks a value. If it may be a pointer and is the handle of a buffer, stores the buffer at
 * *buffer. */
static cl_int read_value(cl_kernel kernel, cl_uint i, size_t size, const void *value,
                         cl_mem *buffer, const char *call) {
  const cl_int code = check_value(kernel, i, kernel->code->args[i].size, size, value, call);
  uint64_t number;
  if (code || !may_be_pointer(kernel, i))
    return code;
  memcpy(&number, value, sizeof(number));
  return icd_object_exists(ICD_MAGIC_MEM, number)
             ? read_buffer(kernel, i, size, value, buffer, call)
             : CL_SUCCESS;
}

_Static_assert(CL_MEM_OBJECT_IMAGE1D_BUFFER - CL_MEM_OBJECT_IMAGE2D == KERNEL_ARG_IMAGE_1D_BUFFER,
               "the order of enum kernel_arg_image differs from OpenCL's");

/* Whether an image has the type that the kernel declares. */
static bool is_of_type(const struct icd_image *image, uint32_t declared) {
  const bool depth = declared & KERNEL_ARG_IMAGE_DEPTH;
  return image->type - CL_MEM_OBJECT_IMAGE2D == (declared & ~(uint32_t)KERNEL_ARG_IMAGE_DEPTH) &&
         (!depth || image->format.image_channel_order == CL_DEPTH);
}

/* Checks an image argument, which must not be NULL, and stores its descriptor. */
static cl_int read_image(cl_kernel kernel, cl_uint i, size_t size, const void *value, cl_mem *image,
                         struct kernel_image *description, const char *call) {
  cl_context context = kernel->program->context;
  const struct kernel_arg *arg = &kernel->code->args[i];
  void *handle;
  const cl_int code = read_handle(kernel, i, size, value, &handle, call);
  if (code)
    return code;
  *image = handle;
  if (!icd_is_mem(*image) || !(*image)->image || !is_of_type((*image)->image, arg->image))
    return icd_fail(context, CL_INVALID_MEM_OBJECT, call,
                    ARGUMENT_FORMAT
                    ": %p is not a valid image of the type that the kernel declares",
                    ARGUMENT(kernel, i), handle);
  const cl_mem_flags flags = (*image)->flags;
  if ((arg->access != KERNEL_ARG_ACCESS_WRITE_ONLY && flags & CL_MEM_WRITE_ONLY) ||
      (arg->access != KERNEL_ARG_ACCESS_READ_ONLY &&
       flags & (CL_MEM_READ_ONLY | CL_MEM_IMMUTABLE_EXT)))
    return icd_fail(context, CL_INVALID_ARG_VALUE, call,
                    ARGUMENT_FORMAT
                    ": the flags of the image do not allow the access that the kernel declares",
                    ARGUMENT(kernel, i));
  *description = (*image)->image->kernel;
  return check_context(kernel, i, (*image)->context, call);
}

static cl_int read_sampler(cl_kernel kernel, cl_uint i, size_t size, const void *value,
                           uint32_t *bits, const char *call) {
  void *handle;
  const cl_int code = read_handle(kernel, i, size, value, &handle, call);
  if (code)
    return code;
  cl_sampler sampler = handle;
  if (!icd_is_sampler(sampler))
    return icd_fail(kernel->program->context, CL_INVALID_SAMPLER, call,
                    ARGUMENT_FORMAT ": %p is not a valid cl_sampler", ARGUMENT(kernel, i), handle);
  *bits = sampler->bits;
  return check_context(kernel, i, sampler->context, call);
}

static cl_int check_local(cl_kernel kernel, cl_uint i, size_t size, const void *value,
                          const char *call) {
  cl_context context = kernel->program->context;
  if (value)
    return icd_fail(context, CL_INVALID_ARG_VALUE, call,
                    ARGUMENT_FORMAT " is local memory, so arg_value must be NULL",
                    ARGUMENT(kernel, i));
  if (!size && icd_version(cc_il_available()) < CL_MAKE_VERSION(3, 1, 0))
    return icd_fail(context, CL_INVALID_ARG_SIZE, call,
                    ARGUMENT_FORMAT " is local memory, so arg_size must not be 0 before OpenCL 3.1",
                    ARGUMENT(kernel, i));
  if (size > context->device->info->shared_bytes_per_block)
    return icd_fail(context, CL_OUT_OF_RESOURCES, call,
                    ARGUMENT_FORMAT ": arg_size is %zu; the device has %u bytes of local memory",
                    ARGUMENT(kernel, i), size, context->device->info->shared_bytes_per_block);
  return CL_SUCCESS;
}

cl_int icd_check_pointer_arg(cl_kernel kernel, cl_uint index, cl_int other, const char *call) {
  cl_context context = kernel->program->context;
  if (index >= kernel->code->arg_count)
    return icd_fail(context, CL_INVALID_ARG_INDEX, call,
                    "kernel %s has %u arguments, but arg_index is %u", kernel->code->name,
                    kernel->code->arg_count, index);
  const enum kernel_arg_kind kind = kernel->code->args[index].kind;
  if (kind != KERNEL_ARG_GLOBAL && kind != KERNEL_ARG_CONSTANT && !may_be_pointer(kernel, index))
    return icd_fail(context, other, call,
                    ARGUMENT_FORMAT " is not a pointer to global or constant memory",
                    ARGUMENT(kernel, index));
  return CL_SUCCESS;
}

/* Sets an argument to a GPU address. buffer contains the address or is NULL. The caller holds the
 * kernel's lock. */
static void put_address(cl_kernel kernel, cl_uint index, uint64_t address, cl_mem buffer) {
  memcpy(kernel->params + kernel->code->args[index].offset, &address, sizeof(address));
  kernel->buffers[index] = buffer;
}

/* Notes that the argument is set. The caller holds the kernel's lock. */
static void note_set(cl_kernel kernel, cl_uint index) {
  kernel->unset -= !kernel->set[index];
  kernel->set[index] = true;
}

void icd_set_pointer_arg(cl_kernel kernel, cl_uint index, const void *pointer) {
  icd_lock(&kernel->guard);
  put_address(kernel, index, (uintptr_t)pointer, NULL);
  note_set(kernel, index);
  icd_unlock(&kernel->guard);
}

cl_int icd_set_arg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void *arg_value,
                   const char *call) {
  if (!icd_is_kernel(kernel))
    return icd_fail(NULL, CL_INVALID_KERNEL, call, "kernel %p is not a valid cl_kernel",
                    (void *)kernel);
  if (arg_index >= kernel->code->arg_count)
    return icd_fail(kernel->program->context, CL_INVALID_ARG_INDEX, call,
                    "kernel %s has %u arguments, but arg_index is %u", kernel->code->name,
                    kernel->code->arg_count, arg_index);
  const struct kernel_arg *arg = &kernel->code->args[arg_index];
  cl_mem buffer = NULL;
  uint32_t sampler = 0;
  struct kernel_image image = {0};
  cl_int code = CL_SUCCESS;
  switch (arg->kind) {
  case KERNEL_ARG_GLOBAL:
  case KERNEL_ARG_CONSTANT:
    code = read_buffer(kernel, arg_index, arg_size, arg_value, &buffer, call);
    break;
  case KERNEL_ARG_LOCAL:
    code = check_local(kernel, arg_index, arg_size, arg_value, call);
    break;
  case KERNEL_ARG_VALUE:
    code = read_value(kernel, arg_index, arg_size, arg_value, &buffer, call);
    break;
  case KERNEL_ARG_IMAGE:
    code = read_image(kernel, arg_index, arg_size, arg_value, &buffer, &image, call);
    break;
  case KERNEL_ARG_SAMPLER:
    code = read_sampler(kernel, arg_index, arg_size, arg_value, &sampler, call);
    break;
  }
  if (code)
    return code;

  icd_lock(&kernel->guard);
  switch (arg->kind) {
  case KERNEL_ARG_GLOBAL:
  case KERNEL_ARG_CONSTANT:
    put_address(kernel, arg_index, buffer ? buffer->gpu : 0, buffer);
    break;
  case KERNEL_ARG_LOCAL:
    kernel->local_sizes[arg_index] = (uint32_t)arg_size;
    kernel->ready = false;
    break;
  case KERNEL_ARG_VALUE:
    memcpy(kernel->params + arg->offset, buffer ? (void *)&buffer->gpu : arg_value, arg_size);
    kernel->buffers[arg_index] = buffer;
    break;
  case KERNEL_ARG_IMAGE:
    memcpy(kernel->params + arg->offset, &image, sizeof(image));
    kernel->buffers[arg_index] = buffer;
    break;
  case KERNEL_ARG_SAMPLER:
    memcpy(kernel->params + arg->offset, &sampler, sizeof(sampler));
    break;
  }
  note_set(kernel, arg_index);
  icd_unlock(&kernel->guard);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size,
                                               const void *arg_value) {
  return icd_set_arg(kernel, arg_index, arg_size, arg_value, __func__);
}
