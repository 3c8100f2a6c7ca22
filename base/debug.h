/* TEGRACL_DEBUG: a comma-separated list of topics. */
#ifndef TEGRACL_BASE_DEBUG_H
#define TEGRACL_BASE_DEBUG_H

/* Calls take for each topic that is not empty. A topic is left out if there is no memory for
 * its copy, and all are in a set-user-ID program. */
void base_debug_topics(void (*take)(const char *topic));

#endif
