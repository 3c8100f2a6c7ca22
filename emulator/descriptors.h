/* Calls on fds that struct nvgpu_os does not have, for the library that redirects the
 * calls of other programs (preload/).
 */
#ifndef TEGRACL_EMULATOR_DESCRIPTORS_H
#define TEGRACL_EMULATOR_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/stat.h>

struct emu_object;

/* fds at and above this are never the device's. */
enum { EMU_FDS = 1 << 20 };

/* fd is the device's, in this process: not in a child that shares its memory (vfork) or has a copy.
 * Async-signal-safe. */
bool emulator_owns(int fd);
/* The first such fd at or above fd, or -1. */
int emulator_owns_next(int fd);
/* The same for fds of the emulator that must be hidden from the program. */
bool emulator_hides(int fd);
int emulator_hides_next(int fd);
/* As fcntl(F_DUPFD) of an fd of the device; flags: O_CLOEXEC or 0. The fd or -errno. */
int emulator_dup(int fd, int minimum, int flags);
/* As dup3; at least one of the two is the device's, and they differ. */
int emulator_dup_onto(int fd, int target, int flags);

/* fd is an event's: readiness is reported once. */
bool emulator_is_event(int fd);
/* An event's fd was found readable. True if this call is the one that reports the event. */
bool emulator_event_take(int fd);

/* The status of a node. False: there is no such node; fd is not a node's. */
bool emulator_node_status(const char *path, struct stat *status);
bool emulator_fd_status(int fd, struct stat *status);

/* The control node is mapped, so munmap must be redirected. */
bool emulator_is_mapped(void);

/* Programs store to the doorbell themselves: makes the engine watch it. */
void emulator_watch_doorbell(void);
/* The program waits or makes a request: wakes the engine. */
void emulator_wake_engine(void);

/* ---- within the emulator, with gpu.lock held ---- */

void emu_descriptor_note(int fd, bool ours);
void emu_descriptor_hide(int fd, bool hidden);
/* In a child of fork: none is the device's any more. */
void emu_descriptors_forget(void);

#endif
