/* Limits of a build. The helper sets them for itself and its commands. The client uses
 * the time limit as well, and mentions the limits in messages. */
#ifndef TEGRACL_HELPER_LIMITS_H
#define TEGRACL_HELPER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* Time limit of a build: TEGRACL_COMPILER_TIMEOUT seconds, or 600, which exceeds the
 * time of hashcat's largest kernels on a busy machine. */
int64_t limits_seconds(void);

/* Memory limit of all helpers of an application together:
 * TEGRACL_COMPILER_MEMORY MiB, or half of the machine's memory. */
uint64_t limits_memory_mib(void);

/* Maximum number of busy helpers: one for each core that the process may use
 * (base/cores.h), as long as each has enough memory for most programs. */
unsigned limits_width(void);

/* Memory of each helper if limits_width helpers are busy. */
uint64_t limits_share_mib(void);

/* Called once by the helper: limits memory and file sizes, for itself and its children, and
 * makes the kernel kill them first if the machine runs out of memory. */
void limits_on_memory(void);

/* Called by the helper before each build: limits memory, within the limit of limits_on_memory. */
void limits_on_build(uint64_t memory_mib);

/* Called once by the helper: raises the limit of open files,
 * because each header of a program is a file. */
void limits_on_files(void);

/* Called by the helper before each build: limits CPU time. Only takes effect if
 * the client was stopped and did not time out first. */
void limits_on_time(void);

/* Whether a process may have failed for lack of memory, because it
 * used at least a quarter of memory_mib. */
bool limits_were_met(const struct rusage *used, uint64_t memory_mib);

/* Describes how a signal ended a process. The words complete a
 * sentence whose subject is the process. */
void limits_tell_end(char *words, size_t size, int signal, const struct rusage *used);

#endif
