/* The user-mode page, which is shared by all opens of the control node. Programs that use the
 * software Orin through struct nvgpu_os ring the doorbell with a call; for other programs the
 * engine polls the page. */
#ifndef TEGRACL_EMULATOR_USERMODE_H
#define TEGRACL_EMULATOR_USERMODE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct emu_channel;
struct emu_ctrl;
struct emu_dmabuf;
struct emu_object;

extern struct emu_usermode { struct emu_dmabuf *page; /* NULL: not made */ } emu_usermode;

/* Creates an fd of the page for an open of the control node. Returns it or -errno. The caller holds
 * gpu.lock. */
int emu_usermode_open(struct emu_object *ctrl);
/* Frees the page when the device is closed. The caller holds gpu.lock. */
void emu_usermode_close(void);

/* Implements mmap of the control node (docs/hardware/kernel-interface.md 4.1). */
int emu_usermode_mmap(struct emu_object *ctrl, int fd, size_t length, int protection, off_t offset);
void emu_usermode_mapped(struct emu_object *ctrl, int fd, void *mapping, size_t length,
                         int protection);
/* Returns whether a range that the client has unmapped contained a mapping of the page. */
bool emu_usermode_unmapped(const void *address, size_t length);

/* Makes a client's mapping show the page or, with hide, nothing, so that accesses raise SIGBUS.
 * Returns true if it is now hidden. The caller holds gpu.lock. */
bool emu_usermode_remap(struct emu_ctrl *ctrl, bool hide);

/* Makes the engine poll the page for tokens. */
void emu_usermode_watch(void);
bool emu_usermode_watched(void);
/* Return whether the page holds any token, or the token of another channel. */
bool emu_usermode_rung(void);
bool emu_usermode_rung_for_other(const struct emu_channel *channel);
/* Clears the token and sets the doorbells that it rings. The caller holds gpu.lock. */
void emu_usermode_collect(void);

#endif
