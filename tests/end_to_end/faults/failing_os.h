/* The software Orin behind a kernel boundary that refuses calls: the nth call with a name, or all
 * calls with that name. It replaces nvgpu_os_emulator with the linker's --wrap.
 */
#ifndef TEGRACL_TEST_REFUSING_OS_H
#define TEGRACL_TEST_REFUSING_OS_H

#include <stdbool.h>

/* Names of calls: the paths of device nodes, the names of requests, and the following. */
#define CALL_MMAP     "mmap"
#define CALL_MMAP_AT  "mmap at the GPU's address"
#define CALL_MUNMAP   "munmap"
#define CALL_CLOSE    "close"
#define CALL_POLL     "poll"
#define CALL_ANY      "any call"
#define CALL_EMULATOR "a request to the software Orin's own node"

/* Resets the counts of calls. From now on the nth call with that name (0: each call; NULL: none)
 * returns result: -errno, or for an ioctl the number of bytes that were not copied
 * (docs/hardware/kernel-interface.md 1.4). A refused close has closed the file, as on Linux. */
void refuse(const char *call, unsigned nth, int result);
/* Stops refusing calls, and releases what refused releases have left. */
void refuse_end(void);

/* Resets the counts of calls, and forks at the nth of all calls. The child runs function, which
 * must not return. The call continues after the child has ended. */
void fork_at(unsigned nth, void (*function)(void));
/* Returns the wait status of the child since fork_at, or -1 if there was no such call. */
int fork_status(void);

/* Sets the stage of the program, a number that the program defines. */
void stage_begins(int stage);

/* Whether a call was refused since refuse; whether that was in another thread; and at which
 * stage. */
bool refused(void);
bool refused_elsewhere(void);
int refused_stage(void);

/* Returns the name of call number i since refuse, and its count, or NULL after the last. */
const char *calls_made(unsigned i, unsigned *count);

struct alive {
  int fds, handles, mappings;
};
/* Returns the resources that the driver has not released. */
struct alive still_alive(void);
/* Waits up to a minute until as many resources are in use as before. Otherwise ends the test
 * with a message that includes after. */
void still_as(const struct alive *before, const char *after);

#endif
