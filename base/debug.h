/* TEGRACL_DEBUG: a comma-separated list of topics. */
#ifndef TEGRACL_BASE_DEBUG_H
#define TEGRACL_BASE_DEBUG_H

/* Calls the function with each topic, a string that is valid during the call. Empty topics are left
 * out, and those for which there is no memory. In a set-user-ID program there are none. */
void base_debug_topics(void (*use_topic)(const char *topic));

#endif
