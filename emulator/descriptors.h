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

/* Whether fd is the device's in this process, and not in a child that shares its memory (vfork) or
 * has a copy. Async-signal-safe. */
bool emulator_owns(int fd);
/* The first such fd at or above fd, or -1. */
int emulator_owns_next(int fd);
/* The same for fds of the emulator that must be hidden from the program. */
bool emulator_hides(int fd);
int emulator_hides_next(int fd);
/* fcntl(F_DUPFD) of an fd of the device; flags: O_CLOEXEC or 0. The new fd, or -errno. */
int emulator_dup(int fd, int minimum, int flags);
/* dup3 of two different fds, of which at least one is the device's: target, or -errno. */
int emulator_dup_onto(int fd, int target, int flags);

/* Whether fd is an event's, whose readiness is reported once. */
bool emulator_is_event(int fd);
/* Call when an event's fd is readable. True if this call reports the event, false if another
 * did. */
bool emulator_event_take(int fd);

/* The status of a node. False: path, or the file of fd, is no node. */
bool emulator_node_status(const char *path, struct stat *status);
bool emulator_fd_status(int fd, struct stat *status);

/* Whether the control node is mapped, so that munmap must be redirected. */
bool emulator_is_mapped(void);

/* Makes the engine watch the doorbell, to which programs store themselves. */
void emulator_watch_doorbell(void);
/* Wakes the engine. Call when the program waits or makes a request. */
void emulator_wake_engine(void);

/* ---- within the emulator, with gpu.lock held ---- */

/* Adds fd to the device's, or to the hidden ones, or removes it. */
void emu_descriptor_note(int fd, bool ours);
void emu_descriptor_hide(int fd, bool hidden);
/* Call in a child of fork, where none is the device's. */
void emu_descriptors_forget(void);

#endif
