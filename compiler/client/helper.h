/* The client's helper processes (`tegraclc --serve`). They are started on demand,
 * up to limits_width of them, and kept for later requests. Each handles one
 * request at a time. Builds that need a helper take turns.
 */
#ifndef TEGRACL_HELPER_H
#define TEGRACL_HELPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "compiler/message.h"

struct helper;

/* The helpers that a build uses. */
struct helper_share {
  unsigned busy;                /* number of helpers working for the build */
  const atomic_bool *cancelled; /* set by helper_cancel; NULL if the build cannot be cancelled */
};

/* Whether the -errno means that the system is short of memory, processes or descriptors. */
bool helper_is_shortage(int error);

/* What a request needs. */
enum helper_kind {
  HELPER_NORMAL,
  HELPER_LOW,   /* its turn is last, because no thread waits for the answer */
  HELPER_ALONE, /* all the memory */
};

/* Returns a helper for one request of the build: an idle one, or a new one started from the
 * command at path. Waits while limits_width helpers, or as many as the system's resources
 * allow, are busy. For HELPER_ALONE, waits until no helper is busy and keeps other requests
 * waiting. HELPER_LOW waits for all other requests. Returns NULL if no helper can be started,
 * with -errno in *error, which is -ECANCELED if the build is cancelled. Sets *used if the helper
 * has worked before and may thus be about to exit. */
struct helper *helper_get(const char *path, struct helper_share *share, enum helper_kind kind,
                          bool *used, int *error);

/* Sends the request and waits for the answer. Returns 0 or -errno like message_receive.
 * After an error the caller must end the helper with helper_end. */
int helper_ask(struct helper *helper, const struct message *request, struct message *answer,
               int64_t deadline_ms);

/* Sets the flag, and kills the helpers of all shares that point
 * to it. These shares get no new ones. */
void helper_cancel(atomic_bool *cancelled);

/* Returns the helper to the idle ones. */
void helper_put(struct helper *helper);

/* Kills a failed helper and its children, and frees it. Writes to words how it ended and the
 * end of its output, and to used the resources that it consumed. Returns whether it was killed
 * because of its limit of CPU time. */
bool helper_end(struct helper *helper, char *words, size_t size, struct rusage *used);

#endif
