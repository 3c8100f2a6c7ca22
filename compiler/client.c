/* Builds as the OpenCL API asks for them: a hit of the disk cache, or the work of
 * a helper process. Whatever the helper does, the application only sees a status
 * and a log.
 */
#include "compiler/compiler.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/cache.h"
#include "compiler/find.h"
#include "compiler/helper.h"
#include "compiler/message.h"
#include "compiler/spirv.h"

/* A build that takes longer has hung. TEGRACL_COMPILER_TIMEOUT gives another
 * number of seconds. */
enum { DEFAULT_TIMEOUT_SECONDS = 120 };

static int64_t timeout_ms(void) {
  const char *text = getenv("TEGRACL_COMPILER_TIMEOUT");
  long seconds = text ? strtol(text, NULL, 10) : 0;
  if (seconds <= 0 || seconds > INT_MAX / 1000)
    seconds = DEFAULT_TIMEOUT_SECONDS;
  return (int64_t)seconds * 1000;
}

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

/* Whether the error says that the helper had gone before it saw our request. */
static bool had_gone(int error) {
  return error == -EPIPE;
}

/* One build by a helper. */
static enum cc_status build(const struct cc_job *job, const char *compiler,
                            struct cc_result *result) {
  enum cc_status status = CC_INTERNAL_ERROR;
  char folder[PATH_MAX], words[4096];
  struct message request = {0}, answer = {0};
  message_put_job(&request, job, getcwd(folder, sizeof(folder)));
  if (request.broken) {
    message_finish(&request);
    return fail(result, CC_OUT_OF_MEMORY, "out of memory while sending the source to %s\n",
                compiler);
  }
  for (;;) {
    bool used;
    int error;
    struct helper *helper = helper_get(compiler, &used, &error);
    if (!helper) {
      status = fail(result, error == -ENOMEM ? CC_OUT_OF_MEMORY : CC_NOT_AVAILABLE,
                    "the compiler %s could not be started: %s\n", compiler, strerror(-error));
      break;
    }
    int64_t limit = timeout_ms();
    error = helper_ask(helper, &request, &answer, message_now_ms() + limit);
    if (!error) {
      if (message_take_result(&answer, &status, result)) {
        helper_put(helper);
        break;
      }
      error = -EPROTO;
    }
    helper_end(helper, words, sizeof(words));
    /* It may have left for lack of work just as we asked; a new one has not. */
    if (used && had_gone(error))
      continue;
    if (error == -ETIMEDOUT)
      status = fail(result, CC_INTERNAL_ERROR, "the compiler did not finish in %lld seconds; %s\n",
                    (long long)(limit / 1000), words);
    else if (error == -EPROTO)
      status = fail(result, CC_INTERNAL_ERROR, "the compiler sent a broken answer; %s\n", words);
    else if (had_gone(error))
      status = fail(result, CC_INTERNAL_ERROR, "the compiler crashed; %s\n", words);
    else
      status = fail(result, error == -ENOMEM ? CC_OUT_OF_MEMORY : CC_INTERNAL_ERROR,
                    "the compiler could not be reached: %s; %s\n", strerror(-error), words);
    break;
  }
  message_finish(&answer);
  message_finish(&request);
  return status;
}

enum cc_status cc_build(const struct cc_job *job, struct cc_result *result) {
  char tegraclc[CC_PATH_MAX], clang[CC_PATH_MAX], nvrtc[CC_PATH_MAX];
  char validator[CC_PATH_MAX], translator[CC_PATH_MAX];
  *result = (struct cc_result){0};
  if (!cc_find_tegraclc(tegraclc))
    return fail(result, CC_NOT_AVAILABLE,
                "tegracl's compiler command (tegraclc) was not found; install tegracl completely "
                "or set TEGRACL_COMPILER to its file name\n");
  struct cache_tools tools = {.paths = {
                                  tegraclc,
                                  cc_find_clang(clang) ? clang : NULL,
                                  cc_find_nvrtc(nvrtc) ? nvrtc : NULL,
                              }};
  if (job->source_count == 1 && spirv_is(job->sources[0].text, job->sources[0].size) &&
      cc_find_spirv_tools(validator, translator)) {
    tools.paths[CACHE_VALIDATOR] = validator;
    tools.paths[CACHE_TRANSLATOR] = translator;
  }
  struct cache_key key;
  bool cachable = cache_key_make(job, &tools, &key);
  if (cachable && cache_get(&key, result)) {
    result->from_cache = true;
    return CC_OK;
  }
  enum cc_status status = build(job, tegraclc, result);
  if (status == CC_OK && cachable)
    cache_put(&key, result);
  return status;
}

void cc_result_finish(struct cc_result *result) {
  free(result->log);
  free(result->binary);
  *result = (struct cc_result){0};
}

bool cc_il_available(void) {
  char validator[CC_PATH_MAX], translator[CC_PATH_MAX];
  return cc_available() && cc_find_spirv_tools(validator, translator);
}

bool cc_available(void) {
  char path[CC_PATH_MAX];
  return cc_find_tegraclc(path) && cc_find_clang(path) && cc_find_nvrtc(path);
}
