/* Error reporting of the OpenCL layer. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "icd/objects.h"

enum { SENTENCE_BYTES = 1024 };

static pthread_once_t debug_once = PTHREAD_ONCE_INIT;
static bool debug_api, debug_build;

static void read_topic(const char *topic) {
  if (strcmp(topic, "api") == 0)
    debug_api = true;
  else if (strcmp(topic, "build") == 0)
    debug_build = true;
}

static void read_debug(void) {
  base_debug_topics(read_topic);
}

bool icd_debug_build(void) {
  pthread_once(&debug_once, read_debug);
  return debug_build;
}

/* Errors that this thread has not yet passed to the notify callback. */
struct failure {
  struct failure *next;
  cl_context context;
  cl_int code;
  char sentence[SENTENCE_BYTES];
};
static _Thread_local struct {
  unsigned holds;
  struct failure *first, *last;
} unreported;

/* Keeps an error to report it later. If out of memory, the error is not reported. */
static void keep_failure(cl_context context, cl_int code, const char *sentence) {
  struct failure *failure = malloc(sizeof(*failure));
  if (!failure)
    return;
  *failure = (struct failure){.context = context, .code = code};
  memcpy(failure->sentence, sentence, strlen(sentence) + 1);
  if (unreported.first)
    unreported.last->next = failure;
  else
    unreported.first = failure;
  unreported.last = failure;
}

static void notify_context(cl_context context, cl_int code, const char *sentence) {
  context->notify(sentence, &code, sizeof(code), context->notify_data);
}

void icd_hold_notify(void) {
  unreported.holds++;
}

void icd_release_notify(void) {
  if (--unreported.holds)
    return;
  struct failure *failure = unreported.first;
  unreported.first = NULL;
  while (failure) {
    struct failure *next = failure->next;
    notify_context(failure->context, failure->code, failure->sentence);
    free(failure);
    failure = next;
  }
}

void icd_enter(struct base_mutex *mutex) {
  base_mutex_lock(mutex);
  icd_hold_notify();
}

void icd_leave(struct base_mutex *mutex) {
  base_mutex_unlock(mutex);
  icd_release_notify();
}

cl_int icd_fail(cl_context context, cl_int code, const char *call, const char *format, ...) {
  pthread_once(&debug_once, read_debug);
  const bool notify = context && context->notify;
  if (!debug_api && !notify)
    return code;

  char sentence[SENTENCE_BYTES];
  int length = snprintf(sentence, sizeof(sentence), "%s: ", call);
  va_list values;
  va_start(values, format);
  vsnprintf(sentence + length, sizeof(sentence) - (size_t)length, format, values);
  va_end(values);
  if (debug_api)
    fprintf(stderr, "tegracl: %s (error %d)\n", sentence, code);
  if (notify && unreported.holds)
    keep_failure(context, code, sentence);
  else if (notify)
    notify_context(context, code, sentence);
  return code;
}

void icd_note(const char *call, const char *format, ...) {
  pthread_once(&debug_once, read_debug);
  if (!debug_api)
    return;
  char sentence[SENTENCE_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(sentence, sizeof(sentence), format, values);
  va_end(values);
  fprintf(stderr, "tegracl: %s: %s\n", call, sentence);
}

cl_int icd_code(int error, cl_int no_memory) {
  switch (error) {
  case 0:
    return CL_SUCCESS;
  case -ENOMEM:
    return no_memory;
  case -EINVAL:
    return CL_INVALID_VALUE;
  case -ENODEV:
    return CL_DEVICE_NOT_AVAILABLE;
  default:
    return CL_OUT_OF_RESOURCES;
  }
}
