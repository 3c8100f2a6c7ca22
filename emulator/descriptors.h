/* Calls on fds that struct nvgpu_os lacks, for the library that redirects the calls of other
 * programs (preload/). */
#ifndef TEGRACL_EMULATOR_DESCRIPTORS_H
#define TEGRACL_EMULATOR_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/stat.h>

struct emu_object;

/* fds from this number on never belong to the device. */
enum { EMU_FDS = 1 << 20 };

/* Returns whether fd belongs to the device in this process. Returns false in a child that shares
 * the process's memory (vfork) or has a copy of it. Async-signal-safe. */
bool emulator_owns(int fd);
/* Returns the first fd >= fd that belongs to the device, or -1. */
int emulator_owns_next(int fd);
/* Like the two above, for fds of the emulator that are hidden from the program. */
bool emulator_hides(int fd);
int emulator_hides_next(int fd);
/* Implements fcntl(F_DUPFD) for an fd of the device. flags is O_CLOEXEC or 0. Returns the new fd,
 * or -errno. */
int emulator_dup(int fd, int minimum, int flags);
/* Implements dup3 for two different fds, at least one of which belongs to the device. Returns
 * target, or -errno. */
int emulator_dup_onto(int fd, int target, int flags);

/* Returns whether fd refers to an event. The readiness of an event is reported only once. */
bool emulator_is_event(int fd);
/* Returns true if this call may report the event, or false if another call has. The event's fd must
 * be readable. */
bool emulator_event_take(int fd);

/* Return the status of a node. False means that path, or the file of fd, is not a node. */
bool emulator_node_status(const char *path, struct stat *status);
bool emulator_fd_status(int fd, struct stat *status);

/* Returns whether the control node is mapped, so that munmap must be redirected. */
bool emulator_is_mapped(void);

/* Makes the engine poll the doorbell, for programs that store to it directly. */
void emulator_watch_doorbell(void);
/* Wakes the engine. Call when the program waits or makes a request. */
void emulator_wake_engine(void);

/* ---- within the emulator, with gpu.lock held ---- */

/* Add fd to, or remove it from, the fds of the device or the hidden fds. */
void emu_descriptor_note(int fd, bool ours);
void emu_descriptor_hide(int fd, bool hidden);
/* Forgets all fds. Call in a child after fork, where none belongs to the device. */
void emu_descriptors_forget(void);

#endif
