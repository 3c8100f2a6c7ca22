/* Helper processes (`tegraclc --serve`) as the client keeps them: started on
 * demand, one for each build that runs at the same time up to the number of
 * cores, kept for the next build.
 */
#ifndef TEGRACL_HELPER_H
#define TEGRACL_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/message.h"

struct helper;

/* A helper for one build: an idle one, or a new one started from the command at
 * path; waits for one while as many as there are cores are at work. NULL if none
 * can be started; *error is -errno then. *used: it has worked before, so it may
 * be leaving just now. */
struct helper *helper_get(const char *path, bool *used, int *error);

/* Sends the request and waits for the answer: 0 or -errno as message_receive.
 * After an error the helper must be ended with helper_end. */
int helper_ask(struct helper *helper, const struct message *request, struct message *answer,
               int64_t deadline_ms);

/* Back to the idle ones. */
void helper_put(struct helper *helper);

/* Ends a helper that failed: kills it and what it started. Says in words how it
 * ended and adds the last of what it printed. */
void helper_end(struct helper *helper, char *words, size_t size);

#endif
