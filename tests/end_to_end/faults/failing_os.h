/* The software Orin, called through a kernel boundary that refuses calls: the nth call of a name,
 * or all of that name. Replaces nvgpu_os_emulator by the linker's --wrap.
 */
#ifndef TEGRACL_TEST_REFUSING_OS_H
#define TEGRACL_TEST_REFUSING_OS_H

#include <stdbool.h>

/* Names of calls: the paths of nodes, the names of requests, and these. */
#define CALL_MMAP     "mmap"
#define CALL_MMAP_AT  "mmap at the GPU's address"
#define CALL_MUNMAP   "munmap"
#define CALL_CLOSE    "close"
#define CALL_POLL     "poll"
#define CALL_ANY      "any call"
#define CALL_EMULATOR "a request to the software Orin's own node"

/* Resets the counts of calls; the nth call (0: each) of that name (NULL: none) from now on gives
 * result: -errno, or for an ioctl a count of bytes that were not copied
 * (docs/hardware/kernel-interface.md 1.4). A refused close has closed, as on Linux. */
void refuse(const char *call, unsigned nth, int result);
/* No more calls are refused. Releases what refused releases have left. */
void refuse_end(void);

/* Resets the counts of calls, and forks at the nth of all. The child runs function, which does not
 * return; the call continues when the child has ended. */
void fork_at(unsigned nth, void (*function)(void));
/* Since fork_at: the child's wait status; -1: there was no such call. */
int fork_status(void);

/* Sets the stage of the program, a number of its choice. */
void stage_begins(int stage);

/* Since refuse: whether a call was refused; on a thread that is not the caller's; at
 * which stage. */
bool refused(void);
bool refused_elsewhere(void);
int refused_stage(void);

/* The calls since refuse: count gets how many of call number i there were; NULL after
 * the last. */
const char *calls_made(unsigned i, unsigned *count);

struct alive {
  int fds, handles, mappings;
};
/* What the driver has not given back. */
struct alive still_alive(void);
/* Waits up to a minute until all is as before, else ends the test with a message that names after.
 * Then everything has been released. */
void still_as(const struct alive *before, const char *after);

#endif
