/* Replaces tegraclc in the tests of the client: the real serving loop with a compiler that obeys
 * the first word of the source. A line "#include NAME" makes it read NAME and look for it in the
 * folder "front" first. "plan WORDS" answers with a plan whose units are the remaining lines ("?"
 * marks a unit that may be refused); if a plan is not allowed, it obeys WORDS. With
 * FAKE_COMPILER=junk or =leave in the environment it does not follow the protocol. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "compiler/helper_limits.h"
#include "compiler/message.h"
#include "compiler/serve.h"
#include "tests/compiler/client/attack.h"

enum { BIG_BYTES = 300 * 1000 };

static enum cc_status answer(struct cc_result *result, enum cc_status status, const char *log) {
  result->log = strdup(log);
  return status;
}

/* Adds the places of a header in the format of places.h. */
static void include(const struct cc_source *source, struct cc_result *result) {
  static const char directive[] = "#include ";
  char text[4096], name[256] = "";
  snprintf(text, sizeof(text), "%.*s", (int)source->size, source->text);
  const char *line = strstr(text, directive);
  if (!line || sscanf(line + strlen(directive), "%255s", name) != 1)
    return;
  char *places = malloc(2 * sizeof(name) + 16);
  const int first = sprintf(places, "+%s", name) + 1;
  result->places = places;
  result->places_size = (size_t)(first + sprintf(places + first, "-front/%s", name) + 1);
}

/* Waits at the FIFO that is the second word, until another process opens it for writing. */
static void wait_at(const struct cc_source *source) {
  char text[4096], name[256];
  snprintf(text, sizeof(text), "%.*s", (int)source->size, source->text);
  if (sscanf(text, "%*s %255s", name) == 1)
    close(open(name, O_RDONLY));
}

/* "attack NAME ARGUMENT": the binary contains the outcome. */
static enum cc_status try_attack(const struct cc_source *source, struct cc_result *result) {
  char text[4096], name[32] = "", argument[1024] = "", *answer_text = NULL;
  snprintf(text, sizeof(text), "%.*s", (int)source->size, source->text);
  sscanf(text, "%*s %31s %1023s", name, argument);
  result->binary_size = (size_t)asprintf(&answer_text, "attack %d", attack(name, argument)) + 1;
  result->binary = answer_text;
  return answer(result, CC_OK, "");
}

/* Like make_plan in compiler/compile.c. No two plans have the same log. */
static enum cc_status make_plan(const struct cc_source *source, struct cc_result *result) {
  static unsigned plans;
  char log[64];
  struct message plan = {0};
  const char *end = source->text + source->size;
  uint64_t count = 0;
  for (const char *at = source->text; at < end; at++)
    count += *at == '\n';
  message_put_number(&plan, count);
  for (const char *at = memchr(source->text, '\n', source->size); at;) {
    const char *next = memchr(at + 1, '\n', (size_t)(end - at - 1));
    const bool may_be_refused = at + 1 < end && at[1] == '?';
    at += 1 + may_be_refused;
    message_put_bytes(&plan, at, (size_t)((next ? next : end) - at));
    message_put_bytes(&plan, NULL, 0);
    message_put_bytes(&plan, NULL, 0);
    message_put_number(&plan, may_be_refused);
    message_put_number(&plan, 0);
    at = next;
  }
  result->plan = plan.bytes;
  result->plan_size = plan.size;
  snprintf(log, sizeof(log), "plan %u of %d\n", plans++, getpid());
  return answer(result, CC_OK, log);
}

enum cc_status cc_compile(const struct cc_job *job, struct cc_result *result) {
  static unsigned builds;
  char word[16] = "";
  char text[4096 + 128];
  char folder[4096];
  const struct cc_source *source = &job->sources[0];
  snprintf(word, sizeof(word), "%.*s", (int)source->size, source->text);
  word[strcspn(word, " \n")] = 0;
  if (strcmp(word, "plan") == 0 && job->may_plan) {
    include(source, result);
    return make_plan(source, result);
  }
  if (strcmp(word, "plan") == 0) {
    snprintf(text, sizeof(text), "%.*s", (int)source->size, source->text);
    sscanf(text, "plan %15s", word);
  }
  if (strcmp(word, "greedy") == 0 && job->memory_mib < limits_memory_mib())
    return CC_OUT_OF_MEMORY;
  if (strcmp(word, "glutton") == 0)
    return CC_OUT_OF_MEMORY;
  if (strcmp(word, "unasked") == 0)
    return make_plan(source, result);
  if (strcmp(word, "both") == 0)
    make_plan(source, result);
  if (strcmp(word, "abort") == 0) {
    fprintf(stderr, "last words\n");
    abort();
  }
  if (strcmp(word, "busy") == 0) /* for too long */
    raise(SIGXCPU);
  if (strcmp(word, "exit") == 0)
    _exit(3);
  if (strcmp(word, "hang") == 0)
    for (;;)
      pause();
  if (strcmp(word, "wrong") == 0)
    return answer(result, CC_BUILD_FAILURE, "source:1: error: wrong\n");
  if (strcmp(word, "tools") == 0) {
    static const char *const names[] = {"TEGRACL_CLANG", "TEGRACL_NVRTC", "TEGRACL_SPIRV_VAL",
                                        "TEGRACL_LLVM_SPIRV"};
    char *out = text;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
      out += snprintf(out, 1024, "%s ", getenv(names[i]) ? getenv(names[i]) : "?");
    return answer(result, CC_BUILD_FAILURE, text);
  }
  if (strcmp(word, "attack") == 0)
    return try_attack(source, result);
  if (strcmp(word, "slow") == 0)
    usleep(300 * 1000);
  if (strcmp(word, "idle") == 0)
    usleep(1500 * 1000);
  if (strcmp(word, "wait") == 0)
    wait_at(source);
  if (strcmp(word, "change") == 0) {
    FILE *header = fopen("x.h", "w");
    if (header)
      fclose(header);
  }
  /* Any other word: the binary describes the job. */
  include(source, result);
  snprintf(text, sizeof(text),
           "pid %d build %u sm %u local %llu ext %s feat %s opt %s headers %zu memory %llu "
           "in %s",
           getpid(), builds++, job->device->sm, job->device->local_mem_bytes,
           job->device->extensions, job->device->c_features, job->options, job->header_count,
           (unsigned long long)job->memory_mib, getcwd(folder, sizeof(folder)) ? folder : "?");
  result->binary_size = strcmp(word, "big") == 0 ? BIG_BYTES : strlen(text) + 1;
  result->binary = calloc(1, result->binary_size);
  strcpy(result->binary, text);
  free(result->log);
  return answer(result, CC_OK, "a warning\n");
}

int main(int argc, char **argv) {
  if (argc != 2 || strcmp(argv[1], "--serve") != 0)
    return 2;
  const char *how = getenv("FAKE_COMPILER");
  if (how && strcmp(how, "junk") == 0) {
    char junk[64];
    memset(junk, 'j', sizeof(junk));
    if (write(STDIN_FILENO, junk, sizeof(junk)) < 0)
      return 1;
    sleep(60);
    return 0;
  }
  if (how && strcmp(how, "leave") == 0)
    return 0;
  return cc_serve(STDIN_FILENO);
}
