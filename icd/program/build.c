/* Builds of programs, in the calling thread or in the background, and clBuildProgram.
 * clCompileProgram and clLinkProgram are in icd/program/link.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "icd/program/build.h"
#include "icd/program/units.h"
#include "runtime/debug/timeline.h"

/* The result of a build. */
struct outcome {
  cl_int code;
  char *log;
  void *binary; /* NULL if the program's own binary was used */
  size_t binary_size;
  struct icd_module *module;
  struct icd_units units; /* of a program that was accepted and is compiled in the background */
};

/* The error codes that depend on the action, and the type of the resulting binary. */
static const struct {
  cl_int failure, invalid_options, not_available;
  cl_program_binary_type makes;
} actions[] = {
    [CC_BUILD] = {CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS, CL_COMPILER_NOT_AVAILABLE,
                  CL_PROGRAM_BINARY_TYPE_EXECUTABLE},
    [CC_COMPILE] = {CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_COMPILER_OPTIONS,
                    CL_COMPILER_NOT_AVAILABLE, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT},
    [CC_LINK] = {CL_LINK_PROGRAM_FAILURE, CL_INVALID_LINKER_OPTIONS, CL_LINKER_NOT_AVAILABLE,
                 CL_PROGRAM_BINARY_TYPE_EXECUTABLE},
    [CC_LINK_LIBRARY] = {CL_LINK_PROGRAM_FAILURE, CL_INVALID_LINKER_OPTIONS,
                         CL_LINKER_NOT_AVAILABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY},
};

static cl_int status_code(enum cc_status status, enum cc_action action) {
  switch (status) {
  case CC_OK:
    return CL_SUCCESS;
  case CC_INVALID_OPTIONS:
    return actions[action].invalid_options;
  case CC_NOT_AVAILABLE:
    return actions[action].not_available;
  case CC_OUT_OF_MEMORY:
    return CL_OUT_OF_HOST_MEMORY;
  case CC_INVALID_BINARY:
  case CC_WRONG_DEVICE:
  case CC_BUILD_FAILURE:
  case CC_INTERNAL_ERROR:
  case CC_CANCELLED:
    break;
  }
  return actions[action].failure;
}

/* Adds a line to the log. If there is no memory, the log is not changed. */
static void add_to_log(struct outcome *outcome, const char *line) {
  const size_t old = outcome->log ? strlen(outcome->log) : 0;
  char *log = realloc(outcome->log, old + strlen(line) + 2);
  if (!log)
    return;
  stpcpy(stpcpy(log + old, line), "\n");
  outcome->log = log;
}

static enum cc_status place_binary(cl_context context, const void *binary, size_t size,
                                   struct outcome *outcome) {
  char why[512];
  const enum cc_status status =
      icd_module_place(context, binary, size, &outcome->module, &outcome->code, why, sizeof(why));
  if (status != CC_OK || outcome->code)
    add_to_log(outcome, why);
  return status;
}

static void place_own_binary(cl_program program, struct outcome *outcome) {
  const enum cc_status status =
      place_binary(program->context, program->binary, program->binary_size, outcome);
  if (status == CC_INVALID_BINARY || status == CC_WRONG_DEVICE)
    outcome->code = CL_INVALID_BINARY;
  else if (status != CC_OK)
    outcome->code = status_code(status, CC_BUILD);
}

/* Copies the SPIR-V with the current values of its specialization constants. Returns NULL if out of
 * memory. */
static uint32_t *copy_il(cl_program program) {
  uint32_t *words = malloc(program->il_size);
  if (words) {
    base_mutex_lock(&program->lock);
    memcpy(words, program->il_words, program->il_size);
    base_mutex_unlock(&program->lock);
  }
  return words;
}

static double in_ms(uint64_t ns) {
  return (double)ns / 1e6;
}

/* Prints the times of a build in one line, for TEGRACL_DEBUG=build. */
static void print_build_times(const struct cc_result *result, uint64_t since_ns) {
  struct text line = {0};
  text_printf(&line, "tegracl: build: %.1f ms", in_ms(base_clock_ns() - since_ns));
  if (result->from_cache)
    text_puts(&line, ", from the cache");
  for (int i = 0; i < CC_STAGES; i++)
    if (result->stages[i].end_ns)
      text_printf(&line, ", %s %.1f ms", cc_stage_name((enum cc_stage)i),
                  in_ms(result->stages[i].end_ns - result->stages[i].begin_ns));
  if (result->units)
    text_printf(&line, "; %u units, %u from the cache, ms of each:", result->units,
                result->units_cached);
  for (unsigned i = 0; i < result->units; i++)
    text_printf(&line, " %.1f", in_ms(result->unit_ns[i]));
  if (!line.failed)
    fprintf(stderr, "%s\n", line.data);
  text_finish(&line);
}

/* Records the build and its stages on the timeline. */
static void show_on_timeline(const struct cc_result *result, uint64_t since_ns) {
  for (int i = 0; i < CC_STAGES; i++)
    if (result->stages[i].end_ns)
      rt_timeline_put(&(struct rt_timeline_event){.category = "build",
                                                  .name = cc_stage_name((enum cc_stage)i),
                                                  .lane = RT_LANE_THREAD,
                                                  .begin_ns = result->stages[i].begin_ns,
                                                  .end_ns = result->stages[i].end_ns});
  rt_timeline_span("build", result->from_cache ? "from the cache" : "compiled", since_ns, NULL, 0);
}

static void show_end(enum cc_status status, const struct cc_result *result, uint64_t since_ns) {
  if (rt_timeline_on())
    show_on_timeline(result, since_ns);
  if (icd_debug_build() && status != CC_CANCELLED)
    print_build_times(result, since_ns);
}

/* Returns whether clBuildProgram waits until all units are compiled into one module
 * (TEGRACL_BUILD=full). */
static bool waits_for_all(void) {
  const char *word = secure_getenv("TEGRACL_BUILD");
  return word && strcmp(word, "full") == 0;
}

/* Moves the log and, if status is CC_OK, the binary to the outcome. */
static void take_result(cl_program program, enum cc_action action, enum cc_status status,
                        struct cc_result *result, struct outcome *outcome) {
  outcome->code = status_code(status, action);
  outcome->log = result->log;
  result->log = NULL;
  if (status == CC_OK && actions[action].makes == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
    status = place_binary(program->context, result->binary, result->binary_size, outcome);
    if (status != CC_OK)
      outcome->code = status_code(status, action);
  }
  if (status == CC_OK) {
    outcome->binary = result->binary;
    outcome->binary_size = result->binary_size;
    result->binary = NULL;
  }
}

static void build_in_this_thread(cl_program program, enum cc_action action,
                                 const struct cc_job *job, struct outcome *outcome) {
  struct cc_result result;
  const uint64_t since_ns = base_clock_ns();
  const enum cc_status status = cc_build(job, &result);
  show_end(status, &result, since_ns);
  take_result(program, action, status, &result, outcome);
  cc_result_finish(&result);
}

static void *run_unit_build(void *argument) {
  struct cc_background *background = argument;
  const struct cc_result *result;
  const uint64_t since_ns = base_clock_ns();
  const enum cc_status status = cc_background_build(background, &result);
  show_end(status, result, since_ns);
  cc_background_end(background);
  cc_background_drop(background);
  return NULL;
}

/* Starts a build in another thread. Returns NULL if memory or threads are exhausted. */
static struct cc_background *start_unit_build(const struct cc_job *job) {
  struct cc_background *background = cc_background_create(job);
  if (!background)
    return NULL;
  cc_background_hold(background);
  if (!base_thread_start(NULL, run_unit_build, background))
    return background;
  cc_background_drop(background);
  cc_background_drop(background);
  return NULL;
}

/* Starts a build in another thread, and waits until the program is accepted or the build has
 * ended. Returns false if memory or threads are exhausted. */
static bool build_until_accepted(cl_program program, enum cc_action action,
                                 const struct cc_job *job, struct outcome *outcome) {
  const char *log;
  struct cc_result *result;
  const uint64_t since_ns = base_clock_ns();
  struct cc_background *background = start_unit_build(job);
  if (!background)
    return false;
  if (cc_background_accepted(background, &log)) {
    if (icd_debug_build())
      fprintf(stderr, "tegracl: build: accepted after %.1f ms, continues in the background\n",
              in_ms(base_clock_ns() - since_ns));
    outcome->log = strdup(log);
    outcome->code =
        icd_units_make(background, &outcome->units) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return true;
  }
  const enum cc_status status = cc_background_wait(background, &result);
  take_result(program, action, status, result, outcome);
  cc_background_drop(background);
  return true;
}

static void compile_program(cl_program program, const struct icd_build *build,
                            struct outcome *outcome) {
  /* An object or library is built by linking it alone. */
  const bool own_object = build->action == CC_BUILD && !program->source && !program->il;
  const enum cc_action action = own_object ? CC_BUILD_OBJECT : build->action;
  uint32_t *il = program->il ? copy_il(program) : NULL;
  if (program->il && !il) {
    outcome->code = CL_OUT_OF_HOST_MEMORY;
    return;
  }
  const struct cc_source own = own_object
                                   ? (struct cc_source){program->binary, program->binary_size}
                               : il ? (struct cc_source){(const char *)il, program->il_size}
                                    : (struct cc_source){program->source, program->source_size};
  const cl_device_id device = program->context->device;
  const struct cc_job job = {
      .action = action,
      .device = &device->cc[rt_texture_needs_code(device->rt)],
      .sources = build->sources ? build->sources : &own,
      .source_count = build->sources ? build->source_count : 1,
      .headers = build->headers,
      .header_count = build->header_count,
      .options = program->options ? program->options : "",
      .folder = build->folder,
  };
  const bool executable = actions[build->action].makes == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  if (!executable || waits_for_all() ||
      !build_until_accepted(program, build->action, &job, outcome))
    build_in_this_thread(program, build->action, &job, outcome);
  free(il);
}

/* Builds a program. Its status must be CL_BUILD_IN_PROGRESS and its options set. No other thread
 * changes it during the build. */
static cl_int perform_build(cl_program program, const struct icd_build *build) {
  struct outcome outcome = {0};
  if (build->action == CC_BUILD && program->binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
    place_own_binary(program, &outcome);
  else
    compile_program(program, build, &outcome);

  const bool good = outcome.code == CL_SUCCESS;
  if (!good)
    icd_fail(program->context, outcome.code, build->call, "%s",
             outcome.log ? outcome.log : "out of host memory");
  base_mutex_lock(&program->lock);
  program->log = outcome.log;
  program->status = good ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  program->module = outcome.module;
  program->units = outcome.units;
  if (outcome.units.background) {
    program->units.binary_type = program->binary_type;
    program->binary_type = actions[build->action].makes;
  }
  if (outcome.binary && good) {
    void *old = program->binary;
    program->binary = outcome.binary;
    program->binary_size = outcome.binary_size;
    program->binary_type = actions[build->action].makes;
    outcome.binary = old;
  }
  base_mutex_unlock(&program->lock);
  free(outcome.binary);
  return outcome.code;
}

/* Sets the status to CL_BUILD_IN_PROGRESS and discards the last build. Takes over options, even
 * on failure. */
static cl_int begin_build(cl_program program, char *options, const char *call) {
  struct icd_module *old_module = NULL;
  struct icd_units old_units = {0};
  cl_int code = CL_SUCCESS;
  const bool from_binary = !program->source && !program->il;
  icd_enter(&program->lock);
  while (from_binary && program->units.background && !program->units.settled) {
    icd_leave(&program->lock); /* wait, because this build uses the binary of the last one */
    icd_program_settle(program, true);
    icd_enter(&program->lock);
  }
  if (program->status == CL_BUILD_IN_PROGRESS) {
    code = icd_fail(program->context, CL_INVALID_OPERATION, call,
                    "an earlier build of the program is still running");
  } else if (program->kernels) {
    code = icd_fail(program->context, CL_INVALID_OPERATION, call,
                    "the program still has %u kernels; release them first", program->kernels);
  } else {
    old_module = program->module;
    program->module = NULL;
    old_units = program->units;
    program->units = (struct icd_units){0};
    free(program->log);
    program->log = NULL;
    char *old_options = program->options;
    program->options = options;
    options = old_options;
    program->status = CL_BUILD_IN_PROGRESS;
    if (!from_binary) {
      free(program->binary);
      program->binary = NULL;
      program->binary_size = 0;
      program->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
    }
  }
  icd_leave(&program->lock);
  icd_module_drop(old_module);
  icd_units_drop(&old_units);
  free(options);
  return code;
}

void icd_build_finish(struct icd_build *build) {
  for (size_t i = 0; build->sources && i < build->source_count; i++)
    free((char *)build->sources[i].text);
  for (size_t i = 0; i < build->header_count; i++) {
    free((char *)build->headers[i].name);
    icd_program_drop(build->header_programs[i]);
  }
  free(build->sources);
  free(build->headers);
  free(build->header_programs);
  free(build->folder);
  *build = (struct icd_build){0};
}

struct background_build {
  cl_program program; /* held */
  struct icd_build build;
  icd_build_notify notify;
  void *data;
};

static void *build_in_background(void *argument) {
  struct background_build *job = argument;
  perform_build(job->program, &job->build);
  job->notify(job->program, job->data);
  icd_build_finish(&job->build);
  icd_program_drop(job->program);
  free(job);
  return NULL;
}

/* Starts a thread for a build and passes the build to it. Returns false if memory or threads are
 * exhausted; the caller then keeps the build. */
static bool start_background(cl_program program, struct icd_build *build, icd_build_notify notify,
                             void *data) {
  struct background_build *job = malloc(sizeof(*job));
  if (!job)
    return false;
  *job = (struct background_build){program, *build, notify, data};
  icd_program_hold(program);
  if (base_thread_start(NULL, build_in_background, job)) {
    icd_program_drop(program);
    free(job);
    return false;
  }
  return true;
}

cl_int icd_build_run(cl_program program, const char *options, struct icd_build *build,
                     icd_build_notify notify, void *user_data) {
  char *copy = strdup(options ? options : "");
  build->folder = getcwd(NULL, 0);
  cl_int code =
      copy ? begin_build(program, copy, build->call)
           : icd_fail(program->context, CL_OUT_OF_HOST_MEMORY, build->call, "out of host memory");
  if (!code && notify && start_background(program, build, notify, user_data))
    return CL_SUCCESS;
  if (!code) {
    code = perform_build(program, build);
    if (notify) {
      notify(program, user_data);
      code = CL_SUCCESS;
    }
  }
  icd_build_finish(build);
  return code;
}

cl_int icd_build_check(cl_context context, cl_uint num_devices, const cl_device_id *device_list,
                       icd_build_notify notify, const void *user_data, const char *call) {
  if (!device_list != !num_devices)
    return icd_fail(context, CL_INVALID_VALUE, call, "num_devices is %u, but device_list is %s",
                    num_devices, device_list ? "not NULL" : "NULL");
  if (!notify && user_data)
    return icd_fail(context, CL_INVALID_VALUE, call, "pfn_notify is NULL, but user_data is not");
  for (cl_uint i = 0; i < num_devices; i++)
    if (device_list[i] != context->device)
      return icd_fail(context, CL_INVALID_DEVICE, call, "device_list[%u] is not in the context", i);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices,
                                               const cl_device_id *device_list, const char *options,
                                               void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                                               void *user_data) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  const cl_int code =
      icd_build_check(program->context, num_devices, device_list, pfn_notify, user_data, __func__);
  if (code)
    return code;
  if (program->linked)
    return ICD_FAIL(program->context, CL_INVALID_OPERATION,
                    "the program was created by clLinkProgram");
  struct icd_build build = {.action = CC_BUILD, .call = __func__};
  return icd_build_run(program, options, &build, pfn_notify, user_data);
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  if (!icd_is_platform(platform))
    return ICD_FAIL(NULL, CL_INVALID_PLATFORM, "platform %p is not the platform of tegracl",
                    (void *)platform);
  return CL_SUCCESS; /* nothing to unload; the compiler runs in other processes */
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadCompiler(void) {
  return CL_SUCCESS;
}
