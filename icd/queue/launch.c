/* Preparation of launches: work-group sizes, local memory and hidden kernel parameters. */
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "icd/queue/command.h"

/* Preferred work-items per work-group if the driver chooses: enough warps to hide latency, but
 * few enough that several work-groups fit on an SM. */
enum { GOOD_GROUP = 256 };
#define WORK_ITEMS_MAX (UINT64_C(1) << 63) /* of a launch */

/* ---- work-group sizes --------------------------------------------------------------- */

/* Returns the largest divisor of size that is at most limit, preferably a multiple of the warp
 * size. */
static uint32_t good_divisor(size_t size, uint32_t limit, uint32_t warp) {
  for (uint32_t d = limit / warp * warp; d; d -= warp)
    if (size % d == 0)
      return d;
  for (uint32_t d = limit; d > 1; d--)
    if (size % d == 0)
      return d;
  return 1;
}

/* Returns the smallest divisor of size that leaves at most max_groups work-groups, or 0 if there
 * is none. */
static uint32_t least_divisor(size_t size, uint32_t max_groups, uint32_t limit) {
  for (uint32_t d = 1; d <= limit; d++)
    if (size % d == 0 && size / d <= max_groups)
      return d;
  return 0;
}

/* Chooses a work-group size, which need not divide the global size if uneven is true. Returns false
 * if no size is possible that leaves at most max_grid work-groups. */
static bool choose_block(const struct rt_device_info *info, const uint32_t max_grid[3],
                         uint32_t max_threads, const size_t global[3], bool uneven,
                         uint32_t block[3]) {
  uint32_t floor[3]; /* minimum of each dimension, set by the limit on work-groups */
  for (int i = 0; i < 3; i++) {
    const uint32_t limit = base_min(info->max_block[i], max_threads);
    const size_t least =
        uneven ? (global[i] - 1) / max_grid[i] + 1 : least_divisor(global[i], max_grid[i], limit);
    floor[i] = least <= limit ? (uint32_t)least : 0;
    if (!floor[i])
      return false;
  }
  const uint32_t others = floor[1] * floor[2];
  if ((uint64_t)others * floor[0] > max_threads)
    return false;
  const uint32_t most = base_min(info->max_block[0], max_threads / others);
  const uint32_t good = base_min(most, GOOD_GROUP);
  block[0] = good_divisor(global[0], good, info->warp_size);
  /* One large work-group is better than many tiny ones, for example if the global size is prime. */
  if (block[0] < info->warp_size)
    block[0] = good_divisor(global[0], most, info->warp_size);
  if (uneven && block[0] < info->warp_size && global[0] > good)
    block[0] = good;
  if (block[0] < floor[0])
    block[0] = floor[0];
  /* Distribute the rest of the preferred size to y and z. */
  for (int i = 1; i < 3; i++) {
    const uint32_t below = i == 1 ? block[0] : block[0] * block[1];
    const uint32_t rest = i == 1 ? floor[2] : 1;
    const uint32_t left =
        base_min(info->max_block[i], base_min(GOOD_GROUP, max_threads) / (below * rest));
    block[i] = left ? good_divisor(global[i], left, info->warp_size) : 1;
    if (uneven && left && below * block[i] < info->warp_size && global[i] > left)
      block[i] = left;
    if (block[i] < floor[i])
      block[i] = floor[i];
  }
  return true;
}

/* Likewise, preferably for a launch of one grid. kernel_grid has the kernel's limits. */
static bool choose_group(const struct rt_device_info *info, const uint32_t kernel_grid[3],
                         uint32_t max_threads, const size_t global[3], bool uneven,
                         uint32_t block[3]) {
  return choose_block(info, info->max_grid, max_threads, global, uneven, block) ||
         choose_block(info, kernel_grid, max_threads, global, uneven, block);
}

/* Whether a launch would be faster with a work-group size that does not divide its global size,
 * because a warp has too few work-items, or because they are in rows so short that words do not
 * fill the cache's sectors. Such a launch takes another grid after the first, so it must have more
 * work-groups than run at the same time. */
static bool wastes_lanes(const struct rt_device_info *info, const size_t global[3],
                         const uint32_t block[3]) {
  const uint32_t threads = block[0] * block[1] * block[2];
  const uint64_t items = (uint64_t)global[0] * global[1] * global[2];
  return (threads < info->warp_size * 3 / 4 ||
          (block[0] < info->warp_size / 4 && global[0] > GOOD_GROUP)) &&
         items / threads > info->sm_count * info->blocks_per_sm;
}

/* ---- launches ----------------------------------------------------------------------- */

/* Lays out the blocks of __local arguments after static shared memory and returns their size in
 * bytes. Writes their offsets to params unless params is NULL. The caller holds the kernel's
 * lock. */
static uint64_t lay_out_locals(cl_kernel kernel, unsigned char *params) {
  uint64_t end = 0;
  for (uint32_t i = 0; kernel->local_args && i < kernel->code->arg_count; i++) {
    const struct kernel_arg *arg = &kernel->code->args[i];
    if (arg->kind != KERNEL_ARG_LOCAL)
      continue;
    const uint64_t align = arg->align ? arg->align : 1;
    end = (end + align - 1) & ~(align - 1);
    const uint32_t offset = (uint32_t)end;
    if (params)
      memcpy(params + arg->offset, &offset, sizeof(offset));
    end += kernel->local_sizes[i];
  }
  return end;
}

/* Chooses the local size and computes the grid. uneven: the driver may choose a size that does not
 * divide the global size, if the kernel cannot notice. Returns CL_SUCCESS or the error of an
 * invalid size. */
static cl_int choose_grid(cl_kernel kernel, const struct icd_range *range, bool uneven,
                          struct rt_launch *launch, const char *call) {
  cl_context context = kernel->program->context;
  const struct rt_device_info *info = context->device->info;
  const struct kernel_code *code = kernel->code;
  const bool required = code->required_block[0];
  bool uniform = code->uniform || code->hidden_offset == UINT32_MAX;
  const size_t *size = range->global;
  uint32_t max_grid[3], block[3] = {1, 1, 1};
  uint64_t items = 1;
  rt_kernel_max_grid(context->rt, code, max_grid);
  for (int i = 0; i < 3; i++)
    if (__builtin_mul_overflow(items, size[i], &items) || items > WORK_ITEMS_MAX)
      return icd_fail(context, CL_OUT_OF_RESOURCES, call,
                      "the global work size %zu x %zu x %zu exceeds the limit of 2^63 work-items",
                      size[0], size[1], size[2]);

  if (range->local[0]) {
    uint64_t threads = 1;
    for (cl_uint i = 0; i < 3; i++) {
      const size_t count = range->local[i];
      if (required && count != code->required_block[i])
        return icd_fail(
            context, CL_INVALID_WORK_GROUP_SIZE, call,
            "local_work_size[%u] is %zu, but reqd_work_group_size of the kernel requires %u", i,
            count, code->required_block[i]);
      if (count > info->max_block[i])
        return icd_fail(context, CL_INVALID_WORK_ITEM_SIZE, call,
                        "local_work_size[%u] is %zu; the device's limit is %u", i, count,
                        info->max_block[i]);
      block[i] = (uint32_t)count;
      threads *= count;
    }
    if (threads > kernel->max_threads)
      return icd_fail(context, CL_INVALID_WORK_GROUP_SIZE, call,
                      "the work-group has %llu work-items; the limit of kernel %s is %u",
                      (unsigned long long)threads, code->name, kernel->max_threads);
  } else if (required) {
    memcpy(block, code->required_block, sizeof(block));
  } else if (code->sub_groups) {
    block[0] = code->sub_groups * info->warp_size;
  } else {
    const uint32_t most = kernel->max_threads;
    bool chosen = choose_group(info, max_grid, most, size, false, block);
    if (uneven && code->ignores_groups && !kernel->local_args && !info->checks &&
        (!chosen || wastes_lanes(info, size, block))) {
      chosen = choose_group(info, max_grid, most, size, true, block);
      uniform = false;
    }
    if (!chosen)
      return icd_fail(context, CL_OUT_OF_RESOURCES, call,
                      "no work-group size divides the global work size %zu x %zu x %zu into at "
                      "most %u x %u x %u work-groups",
                      size[0], size[1], size[2], max_grid[0], max_grid[1], max_grid[2]);
  }
  const uint32_t threads = block[0] * block[1] * block[2];
  if (code->sub_groups && (threads - 1) / info->warp_size + 1 != code->sub_groups)
    return icd_fail(context, CL_INVALID_WORK_GROUP_SIZE, call,
                    "a work-group of %u work-items has %u sub-groups, but kernel %s requires %u",
                    threads, (threads - 1) / info->warp_size + 1, code->name, code->sub_groups);
  for (cl_uint i = 0; i < 3; i++) {
    launch->block[i] = block[i];
    launch->last_block[i] = (uint32_t)(size[i] % block[i]);
    if (launch->last_block[i] && uniform)
      return icd_fail(context, CL_INVALID_WORK_GROUP_SIZE, call,
                      "global_work_size[%u] is %zu, which is not a multiple of the local size %u; "
                      "kernel %s was compiled for uniform work-groups",
                      i, size[i], block[i], code->name);
    const size_t groups = (size[i] - 1) / block[i] + 1;
    if (groups > max_grid[i])
      return icd_fail(
          context, CL_OUT_OF_RESOURCES, call,
          "the launch has %zu work-groups in dimension %u; the limit of kernel %s is %u", groups, i,
          code->name, max_grid[i]);
    launch->grid[i] = (uint32_t)groups;
  }
  return CL_SUCCESS;
}

/* Prepares kernel->launch and the parameters that depend on the range. */
static cl_int prepare_kernel(cl_kernel kernel, const struct icd_range *range, bool uneven,
                             const char *call) {
  cl_context context = kernel->program->context;
  struct rt_launch *launch = &kernel->launch;
  cl_int code = icd_check_arguments(kernel, call);
  if (code)
    return code;
  kernel->shape->made = false;
  const uint64_t shared = lay_out_locals(kernel, kernel->params);
  if (shared > context->device->info->shared_bytes_per_block)
    return icd_fail(
        context, CL_OUT_OF_RESOURCES, call,
        "the __local arguments require %llu bytes; the device has %u bytes of local memory",
        (unsigned long long)shared, context->device->info->shared_bytes_per_block);
  *launch = (struct rt_launch){.module = kernel->module,
                               .kernel = kernel->index,
                               .dynamic_shared_bytes = (uint32_t)shared,
                               .params = kernel->params,
                               .shape = kernel->shape};
  if ((code = choose_grid(kernel, range, uneven, launch, call)))
    return code;
  const int error = rt_launch_check(context->rt, launch);
  if (error)
    return icd_fail(context, error == -EINVAL ? CL_INVALID_WORK_GROUP_SIZE : CL_OUT_OF_RESOURCES,
                    call, "%s", rt_last_message());
  if (rt_launch_grids(context->rt, launch) > RT_GRIDS_AT_ONCE)
    launch->cut = &kernel->cut; /* the worker has a copy */
  if (kernel->code->hidden_offset != UINT32_MAX) {
    struct kernel_hidden hidden = {.work_dim = (uint32_t)range->work_dim};
    for (int i = 0; i < 3; i++) {
      hidden.global_offset[i] = range->offset[i];
      hidden.global_size[i] = range->global[i];
      hidden.group_size[i] = (uint16_t)launch->block[i];
    }
    memcpy(kernel->params + kernel->code->hidden_offset, &hidden, sizeof(hidden));
  }
  return CL_SUCCESS;
}

cl_int icd_read_range(cl_kernel kernel, const struct icd_given_range *given,
                      struct icd_range *range, const char *call) {
  cl_context context = kernel->program->context;
  *range = (struct icd_range){.work_dim = given->work_dim, .global = {1, 1, 1}};
  for (cl_uint i = 0; i < given->work_dim && given->global; i++) {
    range->global[i] = given->global[i];
    range->offset[i] = given->offset ? given->offset[i] : 0;
    if (range->offset[i] > SIZE_MAX - range->global[i])
      return icd_fail(context, CL_INVALID_GLOBAL_OFFSET, call,
                      "global_work_offset[%u] + global_work_size[%u] exceeds 64 bits", i, i);
    if (range->offset[i] && kernel->code->hidden_offset == UINT32_MAX)
      return icd_fail(context, CL_INVALID_GLOBAL_OFFSET, call,
                      "global_work_offset[%u] is %zu; kernel %s was not compiled from OpenCL and "
                      "does not support offsets",
                      i, range->offset[i], kernel->code->name);
  }
  for (cl_uint i = 0; i < 3 && given->local; i++) {
    range->local[i] = i < given->work_dim ? given->local[i] : 1;
    if (!range->local[i])
      return icd_fail(context, CL_INVALID_WORK_GROUP_SIZE, call,
                      "local_work_size[%u] is 0; it must be at least 1", i);
  }
  return CL_SUCCESS;
}

cl_int icd_launch_prepare(const struct icd_operation *operation, const char *call) {
  cl_kernel kernel = operation->kernel;
  cl_int code = icd_read_range(kernel, &operation->launch.range, &kernel->range, call);
  if (!code)
    code = prepare_kernel(kernel, &kernel->range, true, call);
  kernel->ready = !code;
  return code;
}

cl_int icd_suggest_local_size(cl_kernel kernel, const struct icd_given_range *range,
                              size_t *suggested, const char *call) {
  icd_lock(&kernel->guard);
  icd_hold_notify();
  cl_int code = icd_read_range(kernel, range, &kernel->range, call);
  if (!code)
    code = prepare_kernel(kernel, &kernel->range, !kernel->code->uniform, call);
  for (cl_uint i = 0; !code && i < range->work_dim; i++)
    suggested[i] = kernel->launch.block[i];
  kernel->ready = false;
  icd_unlock(&kernel->guard);
  icd_release_notify();
  return code;
}
