/* Limits of a build. The helper sets them for itself and its commands. The client uses
 * the time limit as well, and mentions the limits in messages. */
#ifndef TEGRACL_HELPER_LIMITS_H
#define TEGRACL_HELPER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* Returns the limit of each process's CPU time for a build: TEGRACL_COMPILER_TIMEOUT seconds, or
 * 600. */
int64_t limits_seconds(void);
/* Returns the limit of a build's elapsed time, which ends a compiler that hangs. It is ten times as
 * long, because on a busy machine the compiler may get a small part of a core. */
int64_t limits_elapsed_seconds(void);

/* Returns the memory limit of all helpers of an application together:
 * TEGRACL_COMPILER_MEMORY MiB, or half of the machine's memory. */
uint64_t limits_memory_mib(void);

/* Returns the maximum number of busy helpers: one for each core that the process may use
 * (base/cores.h), as long as each has enough memory for most programs. */
unsigned limits_width(void);

/* Returns the memory of each helper if limits_width helpers are busy. */
uint64_t limits_share_mib(void);

/* Limits memory and file sizes of the helper and its children, and makes the kernel kill them first
 * if the machine runs out of memory. The helper calls this once. */
void limits_on_memory(void);

/* Limits memory to memory_mib, but not above the limit of limits_on_memory. The helper calls this
 * before each build. */
void limits_on_build(uint64_t memory_mib);

/* Raises the limit of open files, because each header of a program is a file. The helper calls this
 * once. */
void limits_on_files(void);

/* Limits the CPU time of this process and of its children. The helper calls this before each
 * build. */
void limits_on_time(void);

/* Whether a process may have failed for lack of memory, because it
 * used at least a quarter of memory_mib. */
bool limits_were_met(const struct rusage *used, uint64_t memory_mib);

/* Describes how a signal ended a process. The words complete a
 * sentence whose subject is the process. */
void limits_tell_end(char *words, size_t size, int signal, const struct rusage *used);

#endif
