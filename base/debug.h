/* TEGRACL_DEBUG: a comma-separated list of topics. */
#ifndef TEGRACL_BASE_DEBUG_H
#define TEGRACL_BASE_DEBUG_H

/* Calls the function with each topic, a string that is valid during the call. Empty topics are
 * skipped, and so are topics if memory is exhausted. In a set-user-ID program there are no
 * topics. */
void base_debug_topics(void (*use_topic)(const char *topic));

#endif
