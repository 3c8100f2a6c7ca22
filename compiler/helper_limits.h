/* What a build may use. Both sides look: the helper keeps itself and its commands to it,
 * the client waits no longer, and says what the limits were. */
#ifndef TEGRACL_HELPER_LIMITS_H
#define TEGRACL_HELPER_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* A build that takes longer has hung: TEGRACL_COMPILER_TIMEOUT seconds, or 600,
 * which hashcat's largest kernels do not need on a busy machine. */
int64_t limits_seconds(void);

/* Of each process of the compiler: TEGRACL_COMPILER_MEMORY MiB, or half of the machine's. */
uint64_t limits_memory_mib(void);

/* For the helper, once: memory and sizes of files, for itself and what it starts, which
 * the system shall take first if the machine runs out of memory all the same. */
void limits_on_memory(void);

/* For the helper, once: more files than usual, as each header of a program is one. */
void limits_on_files(void);

/* For the helper, in front of each build: CPU time. The client's patience ends sooner,
 * unless the client itself was stopped. */
void limits_on_time(void);

/* What a signal's end of a process of the compiler was, for a sentence with the process in
 * front; used: by the process. */
void limits_tell_end(char *words, size_t size, int signal, const struct rusage *used);

#endif
