/* The client's helper processes (`tegraclc --serve`). They are started on demand, up to
 * limits_width, and kept for later requests; each answers one request at a time. Builds that wait
 * for a helper take turns.
 */
#ifndef TEGRACL_HELPER_H
#define TEGRACL_HELPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "compiler/message.h"

struct helper;

/* A build's use of the helpers. */
struct helper_share {
  unsigned busy;                /* helpers at work for it */
  const atomic_bool *cancelled; /* set by helper_cancel; NULL: it cannot be cancelled */
};

/* Whether the -errno means that the system lacks memory, processes or descriptors. */
bool helper_is_shortage(int error);

/* A helper for one request of the build: an idle one, or a new one started from the command at
 * path. Waits while limits_width helpers, or as many as the system has room for, are at work.
 * alone: waits until none is at work, and no other request gets one meanwhile, so the helper may
 * use all the memory. NULL if none can be started, with -errno in *error: -ECANCELED if the build
 * is cancelled. *used: it has worked before, so it may be about to exit. */
struct helper *helper_get(const char *path, struct helper_share *share, bool alone, bool *used,
                          int *error);

/* Sends the request and waits for the answer: 0 or -errno as message_receive.
 * After an error the helper must be ended with helper_end. */
int helper_ask(struct helper *helper, const struct message *request, struct message *answer,
               int64_t deadline_ms);

/* Sets the flag, and kills the helpers of shares that point to it. These get no others. */
void helper_cancel(atomic_bool *cancelled);

/* Back to the idle ones. */
void helper_put(struct helper *helper);

/* Kills a helper that failed, and what it started, and frees it. Describes in words how it ended,
 * with the end of its output. used: its resources. */
void helper_end(struct helper *helper, char *words, size_t size, struct rusage *used);

#endif
