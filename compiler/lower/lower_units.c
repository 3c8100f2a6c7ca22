/* Cuts a module into units. A kernel that is large enough for a separate NVRTC compilation gets
 * its own unit, and several smaller kernels in a row share one. Each cut depends only on the
 * kernels near it, so adding a kernel to a program leaves most units unchanged.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/lower/lower_state.h"

/* Costs are numbers of LLVM instructions in a kernel and its callees. NVRTC takes about 1 ms for
 * each instruction, and 100 ms for the start, the headers and the functions that all kernels with
 * images call. With larger units a change takes longer to build, with smaller ones the program. */
enum {
  UNIT_COST = 1280, /* maximum for kernels that share a unit */
  WHOLE_COST = 512, /* maximum for a program that is not built in units, not even in one */
  /* One kernel in this many begins a unit because of its name, so that a new kernel moves few of
   * the following cuts: if the unit before it has less than half of UNIT_COST, and if it has more.
   */
  CUT_SMALL = 16,
  CUT_LARGE = 2,
};

struct cutter {
  struct lower *lower;
  unsigned *ends; /* for each unit, the number of the kernel after its last */
  unsigned count, kernels;
  bool in_units;
};

/* Whether kernels share a global variable. Each unit would have a separate copy of it. */
static bool shares_memory(struct lower *lower) {
  for (LLVMValueRef at = LLVMGetFirstGlobal(lower->module); at; at = LLVMGetNextGlobal(at)) {
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(at));
    if (space == SPACE_GLOBAL ||
        (space != SPACE_LOCAL && space != SPACE_CONSTANT && !LLVMIsGlobalConstant(at)))
      return true;
  }
  return false;
}

static unsigned cost_of(struct lower *lower, struct function *kernel) {
  for (unsigned i = 0; i < lower->function_count; i++)
    lower->functions[i].reached = false;
  lower->reached_instructions = 0;
  lower_reach(lower, kernel);
  return lower->reached_instructions;
}

static bool begins_by_name(const struct function *kernel, unsigned cost_before) {
  const char *name = LLVMGetValueName(kernel->ref);
  const unsigned one_in = cost_before < UNIT_COST / 2 ? CUT_SMALL : CUT_LARGE;
  return XXH64(name, strlen(name), 0) % one_in == 0;
}

static void cut_into_units(struct cutter *cutter) {
  struct lower *lower = cutter->lower;
  unsigned in_unit = 0;
  uint64_t all = 0;
  for (unsigned i = 0; i < lower->function_count && !lower->failed; i++) {
    struct function *function = &lower->functions[i];
    if (function->kernel == NO_KERNEL)
      continue;
    const unsigned cost = cost_of(lower, function);
    all += cost;
    if (in_unit && (in_unit + cost > UNIT_COST || begins_by_name(function, in_unit))) {
      cutter->ends[cutter->count++] = function->kernel;
      in_unit = 0;
    }
    in_unit += cost;
    cutter->kernels++;
  }
  cutter->in_units = all > WHOLE_COST && !shares_memory(lower);
  if (!cutter->in_units)
    cutter->count = 0;
  cutter->ends[cutter->count++] = cutter->kernels;
}

static void print_units(struct cutter *cutter, const struct lower *module,
                        struct lowered_units *result) {
  result->in_units = cutter->in_units;
  result->at = calloc(cutter->count, sizeof *result->at);
  if (!result->at) {
    lower_fail(cutter->lower, "out of memory");
    return;
  }
  for (unsigned first = 0; result->count < cutter->count && !cutter->lower->failed;) {
    struct lower lower = *module;
    lower.result = &result->at[result->count];
    lower.in_units = cutter->in_units;
    lower.first_kernel = first;
    lower.end_kernel = first = cutter->ends[result->count++];
    lower_print_source(&lower);
    cutter->lower->failed |= lower.failed;
  }
}

enum cc_status lower_units(const char *bytes, size_t size, const struct lower_options *options,
                           struct lowered_units *result, struct text *log) {
  struct lower lower = {.log = log, .options = *options};
  if (!lower_open(&lower, bytes, size))
    return CC_INTERNAL_ERROR;
  const struct lower module = lower;
  struct cutter cutter = {.lower = &lower};
  if (!lower.failed && !lower_list_functions(&lower))
    lower_fail(&lower, "out of memory");
  cutter.ends = calloc((size_t)lower.function_count + 1, sizeof *cutter.ends);
  if (!cutter.ends)
    lower_fail(&lower, "out of memory");
  if (!lower.failed)
    cut_into_units(&cutter);
  if (!lower.failed)
    print_units(&cutter, &module, result);
  free(cutter.ends);
  arena_finish(&lower.arena);
  lower_close(&lower);
  return lower.failed ? CC_BUILD_FAILURE : CC_OK;
}

void lowered_units_finish(struct lowered_units *result) {
  for (unsigned i = 0; i < result->count; i++)
    lowered_finish(&result->at[i]);
  free(result->at);
  *result = (struct lowered_units){0};
}
