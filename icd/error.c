/* Errors of the OpenCL layer: a code for the program, a sentence for a human. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icd/objects.h"

enum { SENTENCE_BYTES = 1024 };

static pthread_once_t debug_once = PTHREAD_ONCE_INIT;
static bool debug_api;

/* TEGRACL_DEBUG is a list of words separated by commas. */
static void read_debug(void) {
  const char *words = getenv("TEGRACL_DEBUG");
  while (words && *words) {
    const size_t length = strcspn(words, ",");
    if (length == strlen("api") && !strncmp(words, "api", length))
      debug_api = true;
    words += length + (words[length] == ',');
  }
}

cl_int icd_fail(cl_context context, cl_int code, const char *call, const char *format, ...) {
  pthread_once(&debug_once, read_debug);
  const bool notify = context && context->notify;
  if (!debug_api && !notify)
    return code;

  char sentence[SENTENCE_BYTES];
  int length = snprintf(sentence, sizeof sentence, "%s: ", call);
  va_list values;
  va_start(values, format);
  vsnprintf(sentence + length, sizeof sentence - (size_t)length, format, values);
  va_end(values);
  if (debug_api)
    fprintf(stderr, "tegracl: %s (error %d)\n", sentence, code);
  if (notify)
    context->notify(sentence, &code, sizeof code, context->notify_data);
  return code;
}

void icd_init_lock_for_callbacks(pthread_mutex_t *lock) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
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
