/* What programs do to fds besides the calls of struct nvgpu_os: for the library
 * that stands in front of programs which know nothing of that table (preload/).
 */
#ifndef TEGRACL_EMULATOR_DESCRIPTORS_H
#define TEGRACL_EMULATOR_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/stat.h>

struct emu_object;

/* fds at and above this are never the device's. */
enum { EMU_FDS = 1 << 20 };

/* fd stands for something of the device, in this process: not in a child that
 * shares its memory (vfork) or has a copy. Async-signal-safe. */
bool emulator_owns(int fd);
/* The first fd from here on that does, or -1. */
int emulator_owns_next(int fd);
/* The same for fds that the emulator keeps for itself, of which the program must not
 * know. */
bool emulator_hides(int fd);
int emulator_hides_next(int fd);
/* As fcntl(F_DUPFD) of such an fd; flags: O_CLOEXEC or 0. The fd or -errno. */
int emulator_dup(int fd, int minimum, int flags);
/* As dup3; one of both is such an fd, and they differ. */
int emulator_dup_onto(int fd, int target, int flags);

/* fd tells of events: readiness is reported once. */
bool emulator_is_event(int fd);
/* Such an fd was found readable: true if it tells of something, which is then told. */
bool emulator_event_take(int fd);

/* What stat says of a node. False: no such node; the fd is not one's. */
bool emulator_node_status(const char *path, struct stat *status);
bool emulator_fd_status(int fd, struct stat *status);

/* The control node is mapped, so munmap is the device's business. */
bool emulator_is_mapped(void);

/* Programs store to the doorbell themselves: the engine watches it. */
void emulator_watch_doorbell(void);
/* The program waits, or asks for something: the engine looks at once. */
void emulator_look(void);

/* ---- within the emulator, with gpu.lock held ---- */

void emu_descriptor_note(int fd, bool ours);
void emu_descriptor_hide(int fd, bool hidden);
/* In a child of fork: none is the device's. */
void emu_descriptors_forget(void);

#endif
