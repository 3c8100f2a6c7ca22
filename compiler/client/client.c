/* Builds for the OpenCL API, from the disk cache or by helper processes. A failing helper
 * cannot harm the application, which only receives a status and a log.
 */
#include "compiler/compiler.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/client/background.h"
#include "compiler/client/cache.h"
#include "compiler/client/flight.h"
#include "compiler/client/helper.h"
#include "compiler/find.h"
#include "compiler/helper_limits.h"
#include "compiler/message.h"
#include "compiler/spirv/spirv.h"

__attribute__((format(printf, 3, 4))) static enum cc_status
fail(struct cc_result *result, enum cc_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  cc_result_finish(result);
  if (vasprintf(&result->log, format, arguments) < 0)
    result->log = NULL;
  va_end(arguments);
  return result->log ? status : CC_OUT_OF_MEMORY;
}

/* Whether the error means that the helper exited without answering. */
static bool had_exited(int error) {
  return error == -EPIPE;
}

/* State that all requests of a build share. */
struct setting {
  const char *compiler, *folder;
  struct cache_tools tools;
  struct helper_share share;
  atomic_bool hung;                 /* a helper was killed because of the time limit */
  struct cc_background *background; /* NULL: none */
};

static bool is_cancelled(const struct setting *setting) {
  return setting->share.cancelled && atomic_load(setting->share.cancelled);
}

enum build_mode {
  IN_UNITS, /* the answer may be a plan for units */
  WHOLE,    /* it may not */
  ALONE,    /* like WHOLE; the helper runs alone and may use all the memory */
};

/* Sends one request to a helper and receives its answer. */
static enum cc_status request_build(const struct cc_job *asked, struct setting *setting,
                                    enum build_mode mode, struct cc_result *result) {
  const char *compiler = setting->compiler;
  const enum helper_kind kind = mode == ALONE       ? HELPER_ALONE
                                : asked->unattended ? HELPER_LOW
                                                    : HELPER_NORMAL;
  enum cc_status status = CC_INTERNAL_ERROR;
  char words[4096];
  struct message request = {0}, answer = {0};
  struct cc_job job = *asked;
  job.may_plan = mode == IN_UNITS && job.action != CC_BUILD_UNIT;
  job.memory_mib = mode == ALONE ? limits_memory_mib() : limits_share_mib();
  message_put_job(&request, &job, setting->folder);
  if (request.broken) {
    message_finish(&request);
    return fail(result, CC_OUT_OF_MEMORY, "out of memory while sending the source to %s\n",
                compiler);
  }
  for (;;) {
    bool used;
    int error;
    struct helper *helper = helper_get(compiler, &setting->share, kind, &used, &error);
    if (!helper && error == -ECANCELED) {
      status = fail(result, CC_CANCELLED, "the build was cancelled\n");
      break;
    }
    if (!helper) {
      status = fail(result, helper_is_shortage(error) ? CC_OUT_OF_MEMORY : CC_NOT_AVAILABLE,
                    "cannot start the compiler %s: %s\n", compiler, strerror(-error));
      break;
    }
    const int64_t seconds = limits_elapsed_seconds();
    error = helper_ask(helper, &request, &answer, message_now_ms() + seconds * 1000);
    if (!error)
      error = message_take_result(&answer, &status, result);
    if (!error && result->plan && (!job.may_plan || result->binary))
      error = -EPROTO;
    if (!error) {
      helper_put(helper);
      break;
    }
    struct rusage spent;
    const bool slow = helper_end(helper, words, sizeof(words), &spent);
    /* An idle helper may have exited just before the request, so try another one.
     * If the build was cancelled, helper_get fails. */
    if ((used && had_exited(error)) || is_cancelled(setting))
      continue;
    if (error == -ETIMEDOUT || slow)
      atomic_store(&setting->hung, true);
    if (error == -ETIMEDOUT)
      status = fail(result, CC_INTERNAL_ERROR,
                    "the compiler did not finish in %lld seconds; %s\nSet "
                    "TEGRACL_COMPILER_TIMEOUT=SECONDS to allow more time\n",
                    (long long)seconds, words);
    else if (error == -EPROTO)
      status = fail(result, CC_INTERNAL_ERROR, "the compiler sent a malformed answer; %s\n", words);
    else if (had_exited(error))
      status = fail(result, CC_INTERNAL_ERROR, "the compiler %s; %s\n",
                    slow ? "was stopped" : "crashed", words);
    else
      status = fail(result, error == -ENOMEM ? CC_OUT_OF_MEMORY : CC_INTERNAL_ERROR,
                    "cannot reach the compiler: %s; %s\n", strerror(-error), words);
    result->short_of_memory = limits_were_met(&spent, job.memory_mib);
    break;
  }
  message_finish(&answer);
  message_finish(&request);
  return status;
}

static enum cc_status build_cached(const struct cc_job *job, struct setting *setting,
                                   struct cc_result *result);

static enum cc_status build_unit(void *setting, const struct cc_job *unit,
                                 struct cc_result *result) {
  return build_cached(unit, setting, result);
}

static void accept_units(void *data) {
  const struct setting *setting = data;
  background_accept(setting->background);
}

/* Builds the units of the result's plan, and replaces the plan by the program. */
static enum cc_status build_units(const struct cc_job *job, struct setting *setting,
                                  struct cc_result *result) {
  struct units *units;
  enum cc_status status = units_create(result, &units);
  if (status != CC_OK)
    return status;
  if (setting->background)
    background_plan(setting->background, units, result->log);
  status = units_build(units, job, result, build_unit, setting,
                       setting->background ? accept_units : NULL);
  if (!setting->background)
    units_destroy(units);
  return status;
}

static bool may_try_again(const struct cc_job *job, const struct setting *setting,
                          enum cc_status status) {
  return job->action != CC_BUILD_UNIT && !atomic_load(&setting->hung) &&
         (status == CC_BUILD_FAILURE || status == CC_INTERNAL_ERROR);
}

static enum cc_status request_again(const struct cc_job *job, struct setting *setting,
                                    enum build_mode mode, struct cc_result *result) {
  cc_result_finish(result);
  return request_build(job, setting, mode, result);
}

/* Completes a helper's answer. Builds the units of a plan. If a unit fails, the program is built
 * again as a whole, so that the log describes the program and not a unit. A build that ran out of
 * memory is tried once more with all of the memory. */
static enum cc_status complete_build(const struct cc_job *job, struct setting *setting,
                                     enum cc_status status, struct cc_result *result) {
  if (status == CC_OK && result->plan) {
    status = build_units(job, setting, result);
    if (!result->short_of_memory && may_try_again(job, setting, status))
      status = request_again(job, setting, WHOLE, result);
  }
  if (result->short_of_memory && limits_share_mib() < limits_memory_mib() &&
      may_try_again(job, setting, status))
    status = request_again(job, setting, ALONE, result);
  return status;
}

/* Builds with helpers: in units if the first helper answers with a plan. flight: NULL, or the
 * build's. */
static enum cc_status build(const struct cc_job *job, struct setting *setting,
                            struct flight *flight, struct cc_result *result) {
  const enum cc_status status = request_build(job, setting, IN_UNITS, result);
  if (flight && status == CC_OK && result->plan)
    flight_plan(flight, result);
  return complete_build(job, setting, status, result);
}

static bool take_cached(enum cache_scope scope, const char *folder, const struct cache_key *job,
                        struct cc_result *result) {
  struct cache_key key = {0};
  if (scope == CACHE_JOB)
    result->from_cache = cache_get(job, result);
  else if (scope == CACHE_PLACES && cache_find_places(job, folder, &key))
    result->from_cache = cache_get(&key, result);
  cache_key_finish(&key);
  return result->from_cache;
}

static void put_cached(enum cache_scope scope, const char *folder, const struct cache_key *job,
                       const struct cc_result *result, const struct timespec *began) {
  struct cache_key key = {0};
  if (scope == CACHE_JOB)
    cache_put(job, result);
  else if (scope == CACHE_PLACES && cache_keep_places(job, folder, result, began, &key))
    cache_put(&key, result);
  cache_key_finish(&key);
}

/* flight: NULL if no other thread waits for the plan or the outcome. */
static enum cc_status find_or_build(const struct cc_job *job, struct setting *setting,
                                    enum cache_scope scope, const struct cache_key *key,
                                    struct flight *flight, struct cc_result *result) {
  struct timespec began;
  clock_gettime(CLOCK_REALTIME_COARSE, &began); /* the clock of file timestamps */
  if (take_cached(scope, setting->folder, key, result))
    return CC_OK;
  const enum cc_status status = build(job, setting, flight, result);
  if (status == CC_OK)
    put_cached(scope, setting->folder, key, result, &began);
  return status;
}

/* Waits for the build of another thread, or builds the units of its plan together with it. If the
 * job depends on files, which may have changed, accepts only a plan of their present contents. */
static enum cc_status follow(const struct cc_job *job, struct setting *setting,
                             enum cache_scope scope, const struct cache_key *key,
                             struct flight *flight, struct cc_result *result) {
  const struct timespec *began = flight_began(flight);
  enum cc_status status;
  if (flight_wait_for_plan(flight, setting->share.cancelled, result)) {
    if (scope != CACHE_PLACES || cache_places_unchanged(key, setting->folder, result, began)) {
      status = complete_build(job, setting, CC_OK, result);
      if (status == CC_OK && !flight_has_built(flight))
        put_cached(scope, setting->folder, key, result, began);
      return status;
    }
    cc_result_finish(result);
  }
  status = flight_wait(flight, setting->share.cancelled, result);
  if (status != CC_OK || scope != CACHE_PLACES)
    return status;
  cc_result_finish(result);
  return find_or_build(job, setting, scope, key, NULL, result);
}

/* One of several threads with the same job builds, and the others follow it. It searches the cache
 * again first, because another build may have finished since the last search. If the job depends
 * on files, the followers search again as well, because the files may have changed; if the build
 * was cancelled, one of them takes over. */
static enum cc_status build_once(const struct cc_job *job, struct setting *setting,
                                 enum cache_scope scope, const struct cache_key *key,
                                 struct cc_result *result) {
  for (;;) {
    enum cc_status status;
    bool first;
    struct flight *flight = flight_join(key, &first);
    if (!flight)
      return CC_OUT_OF_MEMORY;
    if (first) {
      status = find_or_build(job, setting, scope, key, flight, result);
      flight_land(flight, status, result);
      return status;
    }
    status = follow(job, setting, scope, key, flight, result);
    flight_leave(flight);
    if (status != CC_CANCELLED)
      return status;
    if (is_cancelled(setting))
      return fail(result, CC_CANCELLED, "the build was cancelled\n");
    cc_result_finish(result);
  }
}

/* Takes the program from the cache, or builds it. */
static enum cc_status build_cached(const struct cc_job *job, struct setting *setting,
                                   struct cc_result *result) {
  struct cache_key key;
  const enum cache_scope scope = cache_key_make(job, setting->folder, &setting->tools, &key);
  enum cc_status status = CC_OK;
  if (scope == CACHE_NEVER)
    status = build(job, setting, NULL, result);
  else if (!take_cached(scope, setting->folder, &key, result))
    status = build_once(job, setting, scope, &key, result);
  cache_key_finish(&key);
  return status;
}

/* Allocated, because they are too large for the stack of a small thread. */
struct paths {
  char tegraclc[CC_PATH_MAX], clang[CC_PATH_MAX], nvrtc[CC_PATH_MAX];
  char validator[CC_PATH_MAX], translator[CC_PATH_MAX], here[PATH_MAX];
};

static enum cc_status find_and_build(const struct cc_job *job, struct cc_background *background,
                                     struct paths *found, struct cc_result *result) {
  if (!cc_find_tegraclc(found->tegraclc))
    return fail(result, CC_NOT_AVAILABLE,
                "tegracl's compiler (tegraclc) was not found; reinstall tegracl, or set "
                "TEGRACL_COMPILER to the path of tegraclc\n");
  struct setting setting = {.compiler = found->tegraclc,
                            .tools.paths = {
                                found->tegraclc,
                                cc_find_clang(found->clang) ? found->clang : NULL,
                                cc_find_nvrtc(found->nvrtc) ? found->nvrtc : NULL,
                            }};
  if (job->source_count == 1 && spirv_is(job->sources[0].text, job->sources[0].size) &&
      cc_find_spirv_tools(found->validator, found->translator)) {
    setting.tools.paths[CACHE_VALIDATOR] = found->validator;
    setting.tools.paths[CACHE_TRANSLATOR] = found->translator;
  }
  setting.background = background;
  setting.share.cancelled = background ? background_cancelled(background) : NULL;
  setting.folder = job->folder ? job->folder : getcwd(found->here, sizeof(found->here));
  return build_cached(job, &setting, result);
}

enum cc_status client_build(const struct cc_job *job, struct cc_background *background,
                            struct cc_result *result) {
  *result = (struct cc_result){0};
  struct paths *found = malloc(sizeof(*found));
  const enum cc_status status =
      found ? find_and_build(job, background, found, result)
            : fail(result, CC_OUT_OF_MEMORY, "out of memory at the start of a build\n");
  free(found);
  return status;
}

enum cc_status cc_build(const struct cc_job *job, struct cc_result *result) {
  return client_build(job, NULL, result);
}

void cc_result_finish(struct cc_result *result) {
  free(result->log);
  free(result->binary);
  free(result->places);
  free(result->plan);
  free(result->unit_ns);
  *result = (struct cc_result){0};
}

bool cc_il_available(void) {
  struct paths *found = cc_available() ? malloc(sizeof(*found)) : NULL;
  const bool available = found && cc_find_spirv_tools(found->validator, found->translator);
  free(found);
  return available;
}

bool cc_available(void) {
  char path[CC_PATH_MAX];
  return cc_find_tegraclc(path) && cc_find_clang(path) && cc_find_nvrtc(path);
}
