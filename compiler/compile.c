/* Runs the stages of a build. */
#include "compiler/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "compiler/client/binary.h"
#include "compiler/client/object.h"
#include "compiler/frontend/frontend.h"
#include "compiler/frontend/link.h"
#include "compiler/frontend/optimise.h"
#include "compiler/frontend/options.h"
#include "compiler/lower/lower.h"
#include "compiler/message.h"
#include "compiler/nvrtc.h"
#include "compiler/spirv/spirv.h"
#include "compiler/spirv/translate.h"
#include "gpu/cubin/cubin_strip.h"

static void (*show_stage)(enum cc_stage stage);

void compile_show_stages(void (*show)(enum cc_stage stage)) {
  show_stage = show;
}

/* Sets status to the result of call, and records the call's begin and end times for the stage. */
#define STAGE(result, stage, status, call)                                                         \
  do {                                                                                             \
    struct cc_span *span = &(result)->stages[stage];                                               \
    if (show_stage)                                                                                \
      show_stage(stage);                                                                           \
    span->begin_ns = base_clock_ns();                                                              \
    (status) = (call);                                                                             \
    span->end_ns = base_clock_ns();                                                                \
  } while (0)

static enum cc_status write_binary(const struct cc_job *job, const struct lowered *lowered,
                                   const struct text *cubin, void **bytes, size_t *size) {
  struct binary_program program = {.sm = job->device->sm,
                                   .kernels = lowered->kernels,
                                   .kernel_count = lowered->kernel_count,
                                   .global_bytes = (uint32_t)lowered->global_bytes,
                                   .cubin = cubin->data,
                                   .cubin_size = cubin->size};
  return cc_binary_write(&program, bytes, size) ? CC_OUT_OF_MEMORY : CC_OK;
}

static enum cc_status make_binary(const struct cc_job *job, const struct lowered *lowered,
                                  struct text *cubin, struct cc_result *result) {
  cubin_strip(cubin);
  return write_binary(job, lowered, cubin, &result->binary, &result->binary_size);
}

static enum cc_status move_to_result(struct text *text, struct cc_result *result) {
  if (text->failed)
    return CC_OUT_OF_MEMORY;
  result->binary = text->data;
  result->binary_size = text->size;
  *text = (struct text){0};
  return CC_OK;
}

/* Refuses kernels that cannot be launched on the device: the ptxas of CUDA 12.6 accepts more local
 * memory than the device has. Reports the resources of each kernel for -cl-nv-verbose. */
static enum cc_status check_kernels(const struct cc_job *job, unsigned effects,
                                    const struct cc_result *result, struct text *log) {
  struct module_code *module = NULL;
  char error[256];
  enum cc_status status =
      cc_module_read(result->binary, result->binary_size, &module, error, sizeof error);
  if (status != CC_OK) {
    text_printf(log, "error: %s\n", error);
    return status;
  }
  for (uint32_t i = 0; i < module->kernel_count; i++) {
    const struct kernel_code *kernel = &module->kernels[i];
    if (kernel->shared_bytes > job->device->local_mem_bytes) {
      text_printf(log,
                  "error: the local variables of kernel %s exceed the local memory of the device: "
                  "%u of %llu bytes\n",
                  kernel->name, kernel->shared_bytes, job->device->local_mem_bytes);
      status = CC_BUILD_FAILURE;
    }
    if (effects & OPTION_VERBOSE)
      text_printf(log, "%s: %u registers, %u bytes of local memory, %u bytes of stack\n",
                  kernel->name, kernel->registers, kernel->shared_bytes, kernel->stack_bytes);
  }
  cc_module_free(module);
  return status;
}

/* ---- units ------------------------------------------------------------------------- */

/* Whether NVRTC may refuse what the front end and the printer have accepted. NVRTC's memory
 * limits apply to each kernel, and it needs some memory for itself. */
static bool may_be_refused(const struct cc_job *job, const struct lowered *unit) {
  enum { SAFE_ARGUMENT_BYTES = 3072, CUBIN_ALIGN_MAX = 16 };
  if (unit->has_assembly || unit->local_bytes > job->device->local_mem_bytes / 2)
    return true;
  for (uint32_t i = 0; i < unit->kernel_count; i++) {
    uint64_t bytes = 0;
    for (uint32_t a = 0; a < unit->kernels[i].arg_count; a++)
      bytes += unit->kernels[i].args[a].size + CUBIN_ALIGN_MAX;
    if (bytes > SAFE_ARGUMENT_BYTES)
      return true;
  }
  return false;
}

/* Writes a request for a unit: the source for NVRTC, and the program binary without the CUBIN. */
static void put_unit(const struct cc_job *job, const struct options *options,
                     const struct lowered *unit, struct message *plan) {
  const struct text no_cubin = {0};
  struct message request = {0};
  void *container = NULL;
  size_t size = 0;
  if (write_binary(job, unit, &no_cubin, &container, &size) != CC_OK)
    plan->broken = true;
  message_put_number(&request, options->effects);
  message_put_number(&request, options->max_registers);
  message_put_bytes(&request, container, size);
  message_put_string(&request, unit->cuda.data);
  message_put_bytes(plan, request.bytes, request.size);
  message_put_bytes(plan, unit->places.data, unit->places.size);
  message_put_bytes(plan, unit->files.data, unit->files.size);
  /* A verbose log must be complete when the build returns. */
  message_put_number(plan, options->effects & OPTION_VERBOSE || may_be_refused(job, unit));
  message_put_number(plan, unit->kernel_count);
  for (uint32_t i = 0; i < unit->kernel_count; i++)
    message_put_string(plan, unit->kernels[i].name);
  plan->broken |= request.broken;
  message_finish(&request);
  free(container);
}

static enum cc_status make_plan(const struct cc_job *job, const struct options *options,
                                const struct lowered_units *units, struct cc_result *result) {
  struct message plan = {0};
  message_put_number(&plan, units->count);
  for (unsigned i = 0; i < units->count; i++)
    put_unit(job, options, &units->at[i], &plan);
  if (plan.broken) {
    message_finish(&plan);
    return CC_OUT_OF_MEMORY;
  }
  result->plan = plan.bytes;
  result->plan_size = plan.size;
  return CC_OK;
}

/* Builds a unit from a request that put_unit wrote. */
static enum cc_status build_unit(const struct cc_job *job, struct cc_result *result,
                                 struct text *log) {
  struct text cubin = {0};
  struct message request = {.bytes = (unsigned char *)job->sources[0].text,
                            .size = job->sources[0].size};
  struct options options = {.effects = (unsigned)message_take_number(&request)};
  options.max_registers = (unsigned)message_take_number(&request);
  size_t size;
  const void *container = message_take_bytes(&request, &size);
  const char *cuda = message_take_string(&request);
  enum cc_status status = request.broken ? CC_INTERNAL_ERROR : CC_OK;
  if (status == CC_OK)
    STAGE(result, CC_STAGE_NVRTC, status,
          nvrtc_compile(cuda, job->device->sm, &options, &cubin, log));
  if (status == CC_OK) {
    cubin_strip(&cubin);
    const int error = cc_binary_complete(container, size, cubin.data, cubin.size, &result->binary,
                                         &result->binary_size);
    status = error == -ENOMEM ? CC_OUT_OF_MEMORY : error ? CC_INTERNAL_ERROR : CC_OK;
  }
  if (status == CC_OK)
    status = check_kernels(job, options.effects, result, log);
  text_finish(&cubin);
  return status;
}

/* ---- stages ------------------------------------------------------------------------ */

static enum cc_status lower_all(const struct cc_job *job, const struct options *options,
                                const struct text *ir, struct lowered_units *units,
                                struct text *log) {
  const struct lower_options lowering = {.arg_info = options->effects & OPTION_ARG_INFO,
                                         .textures = job->device->textures};
  if (job->may_plan)
    return lower_units(ir->data, ir->size, &lowering, units, log);
  units->at = calloc(1, sizeof *units->at);
  if (!units->at)
    return CC_OUT_OF_MEMORY;
  units->count = 1;
  return lower_bitcode(ir->data, ir->size, &lowering, units->at, log);
}

/* Runs the stages from bitcode (for COMPILE_IR, from its text) to the requested one. */
static enum cc_status run_stages(const struct cc_job *job, enum compile_stage stage,
                                 const struct options *options, struct text *ir,
                                 struct cc_result *result, struct text *log) {
  struct text cubin = {0};
  struct lowered_units units = {0};
  enum cc_status status = CC_OK;
  if (stage == COMPILE_IR)
    return move_to_result(ir, result);
  STAGE(result, CC_STAGE_LOWER, status, lower_all(job, options, ir, &units, log));
  if (status == CC_OK && units.in_units) {
    status = make_plan(job, options, &units, result);
    lowered_units_finish(&units);
    return status;
  }
  if (status == CC_OK && stage > COMPILE_CUDA)
    STAGE(result, CC_STAGE_NVRTC, status,
          nvrtc_compile(units.at->cuda.data, job->device->sm, options, &cubin, log));
  if (status == CC_OK && stage == COMPILE_BINARY) {
    status = make_binary(job, units.at, &cubin, result);
    if (status == CC_OK)
      status = check_kernels(job, options->effects, result, log);
  } else if (status == CC_OK) {
    status = move_to_result(stage == COMPILE_CUDA ? &units.at->cuda : &cubin, result);
  }
  text_finish(&cubin);
  lowered_units_finish(&units);
  return status;
}

static enum cc_status make_object(const struct text *ir, const struct options *options,
                                  enum cc_binary_kind kind, struct cc_result *result) {
  struct text words = {0};
  text_puts(&words, "");
  options_write(options, &words);
  const struct object object = {kind, words.data, ir->data, ir->size};
  const bool failed =
      words.failed || cc_object_write(&object, &result->binary, &result->binary_size);
  text_finish(&words);
  return failed ? CC_OUT_OF_MEMORY : CC_OK;
}

static bool is_il(const struct cc_job *job) {
  return job->source_count == 1 && spirv_is(job->sources[0].text, job->sources[0].size);
}

/* Compiles a source or SPIR-V to optimised LLVM IR, as bitcode or, for COMPILE_IR, as text. */
static enum cc_status make_ir(const struct cc_job *job, enum compile_stage stage,
                              const struct options *options, struct cc_result *result,
                              struct text *ir, struct text *places, struct text *log) {
  struct text bitcode = {0};
  enum cc_status status;
  STAGE(result, CC_STAGE_FRONT_END, status,
        is_il(job) ? translate_run(job, options, &bitcode, log)
                   : frontend_run(job, options, &bitcode, places, log));
  if (status == CC_OK && bitcode.failed)
    status = CC_OUT_OF_MEMORY;
  if (status == CC_OK)
    STAGE(result, CC_STAGE_OPTIMISER, status,
          optimise_run(&bitcode, options->opt_level, job->action == CC_BUILD,
                       stage == COMPILE_IR ? OPTIMISE_IR_TEXT : OPTIMISE_BITCODE, ir, log));
  text_finish(&bitcode);
  return status;
}

static enum cc_status run_job(const struct cc_job *job, enum compile_stage stage,
                              struct cc_result *result, struct text *log) {
  static const unsigned purposes[] = {[CC_BUILD] = OPTIONS_BUILD,
                                      [CC_BUILD_OBJECT] = OPTIONS_BUILD,
                                      [CC_COMPILE] = OPTIONS_BUILD,
                                      [CC_LINK] = OPTIONS_LINK,
                                      [CC_LINK_LIBRARY] = OPTIONS_LIBRARY};
  const bool links = cc_links(job->action);
  struct options options = {0};
  struct text ir = {0}, places = {0};
  enum cc_status status = CC_OK;
  if (job->action == CC_BUILD_UNIT)
    return job->source_count == 1 ? build_unit(job, result, log) : CC_INTERNAL_ERROR;
  if (!options_parse(job->options ? job->options : "", purposes[job->action], &options, log))
    status = CC_INVALID_OPTIONS;
  if (status == CC_OK && links)
    STAGE(result, CC_STAGE_LINK, status, link_objects(job, &ir, &options, log));
  if (status == CC_OK && !links)
    status = make_ir(job, stage, &options, result, &ir, &places, log);
  if (status == CC_OK && ir.failed)
    status = CC_OUT_OF_MEMORY;
  if (status == CC_OK)
    status = job->action == CC_COMPILE ? make_object(&ir, &options, CC_BINARY_OBJECT, result)
             : job->action == CC_LINK_LIBRARY
                 ? make_object(&ir, &options, CC_BINARY_LIBRARY, result)
                 : run_stages(job, stage, &options, &ir, result, log);
  if (status == CC_OK && !places.failed) {
    result->places = places.data;
    result->places_size = places.size;
    places = (struct text){0};
  }
  options_finish(&options);
  text_finish(&ir);
  text_finish(&places);
  return status;
}

enum cc_status compile_until(const struct cc_job *job, enum compile_stage stage,
                             struct cc_result *result) {
  struct text log = {0};
  *result = (struct cc_result){0};
  text_add(&log, "", 0);
  enum cc_status status = run_job(job, stage, result, &log);
  if (log.failed) {
    text_finish(&log);
    log.data = strdup("error: out of memory\n");
    status = CC_OUT_OF_MEMORY;
  }
  result->log = log.data;
  if (status != CC_OK) {
    free(result->binary);
    free(result->plan);
    result->binary = result->plan = NULL;
    result->binary_size = result->plan_size = 0;
  }
  return status;
}

enum cc_status cc_compile(const struct cc_job *job, struct cc_result *result) {
  return compile_until(job, COMPILE_BINARY, result);
}
