/* Limits of a build. The helper sets them for itself and its commands; the client waits no
 * longer, and names the limits in messages. */
#ifndef TEGRACL_HELPER_LIMITS_H
#define TEGRACL_HELPER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* The time after which a build counts as hung: TEGRACL_COMPILER_TIMEOUT seconds, or 600,
 * more than hashcat's largest kernels take on a busy machine. */
int64_t limits_seconds(void);

/* The memory of all helpers of an application: TEGRACL_COMPILER_MEMORY MiB, or half of the
 * machine's. */
uint64_t limits_memory_mib(void);

/* How many helpers may work at once: one for each core that the process may use (base/cores.h), if
 * each has a share of the memory in which most programs can be built. */
unsigned limits_width(void);

/* The memory of each, if so many work. */
uint64_t limits_share_mib(void);

/* For the helper, once: limits memory and the sizes of files, for itself and its children. If
 * the machine runs out of memory, the kernel kills them first. */
void limits_on_memory(void);

/* For the helper, before each build: limits memory, to no more than limits_on_memory did. */
void limits_on_build(uint64_t memory_mib);

/* For the helper, once: allows more files than usual, as each header of a program is one. */
void limits_on_files(void);

/* For the helper, before each build: limits CPU time. The client times out first, unless it
 * was stopped. */
void limits_on_time(void);

/* Whether a process may have failed for lack of memory: it used a quarter of memory_mib. */
bool limits_were_met(const struct rusage *used, uint64_t memory_mib);

/* Describes, for a sentence that begins with the name of a process, how a signal ended it. */
void limits_tell_end(char *words, size_t size, int signal, const struct rusage *used);

#endif
