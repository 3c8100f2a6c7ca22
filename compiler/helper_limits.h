/* What a build may use. Both sides look: the helper keeps itself and its commands to it,
 * the client waits no longer, and says what the limits were. */
#ifndef TEGRACL_HELPER_LIMITS_H
#define TEGRACL_HELPER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* A build that takes longer has hung: TEGRACL_COMPILER_TIMEOUT seconds, or 600,
 * which hashcat's largest kernels do not need on a busy machine. */
int64_t limits_seconds(void);

/* Of all processes of the compiler that a process has: TEGRACL_COMPILER_MEMORY MiB, or half of
 * the machine's. */
uint64_t limits_memory_mib(void);

/* How many may be at work at once: as many as there are cores, if each has a share of the memory
 * in which most programs can be built. */
unsigned limits_width(void);

/* Of each, if so many are at work. */
uint64_t limits_share_mib(void);

/* For the helper, once: memory and sizes of files, for itself and what it starts, which
 * the system shall take first if the machine runs out of memory all the same. */
void limits_on_memory(void);

/* For the helper, in front of each build: so much memory, but no more than it was born with. */
void limits_on_build(uint64_t memory_mib);

/* For the helper, once: more files than usual, as each header of a program is one. */
void limits_on_files(void);

/* For the helper, in front of each build: CPU time. The client's patience ends sooner,
 * unless the client itself was stopped. */
void limits_on_time(void);

/* Whether a process that used so much may have failed for lack of memory: it had a quarter of it.
 */
bool limits_were_met(const struct rusage *used, uint64_t memory_mib);

/* What a signal's end of a process of the compiler was, for a sentence with the process in
 * front; used: by the process. */
void limits_tell_end(char *words, size_t size, int signal, const struct rusage *used);

#endif
