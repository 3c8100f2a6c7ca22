/* Helper processes (`tegraclc --serve`) as the client keeps them: started on
 * demand, one for each request that is answered at the same time, up to limits_width, kept
 * for the next. Builds that wait for one get them by turns.
 */
#ifndef TEGRACL_HELPER_H
#define TEGRACL_HELPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "compiler/message.h"

struct helper;

/* What a build has of the helpers. */
struct helper_share {
  unsigned busy;                /* at work for it */
  const atomic_bool *cancelled; /* by helper_cancel; NULL: cannot be */
};

/* Whether the -errno says that there is too little of something for a helper. */
bool helper_is_shortage(int error);

/* A helper for one request of the build: an idle one, or a new one started from the command at
 * path; waits for one while limits_width are at work, or as many as the system has room for.
 * alone: until none is, and no other gets one meanwhile, so that it may use all the memory.
 * NULL if none can be started; *error is -errno then: -ECANCELED if the build is cancelled. *used:
 * it has worked before, so it may be leaving just now. */
struct helper *helper_get(const char *path, struct helper_share *share, bool alone, bool *used,
                          int *error);

/* Sends the request and waits for the answer: 0 or -errno as message_receive.
 * After an error the helper must be ended with helper_end. */
int helper_ask(struct helper *helper, const struct message *request, struct message *answer,
               int64_t deadline_ms);

/* Ends the helpers that work for shares with this flag, which it sets: they get no others. */
void helper_cancel(atomic_bool *cancelled);

/* Back to the idle ones. */
void helper_put(struct helper *helper);

/* Ends a helper that failed: kills it and what it started. Says in words how it
 * ended and adds the last of what it printed. used: by it. */
void helper_end(struct helper *helper, char *words, size_t size, struct rusage *used);

#endif
