/* The user-mode page: one for the whole device, whatever number of opens of the
 * control node show it. Programs that drive the software Orin through struct
 * nvgpu_os ring its doorbell by a call; the stores of all others are watched for.
 */
#ifndef TEGRACL_EMULATOR_USERMODE_H
#define TEGRACL_EMULATOR_USERMODE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct emu_channel;
struct emu_ctrl;
struct emu_object;

/* A new fd of the page that stands for the control node: the fd, or -errno.
 * gpu.lock held. */
int emu_usermode_open(struct emu_object *ctrl);
/* The device goes: so does the page. gpu.lock held. */
void emu_usermode_close(void);

/* mmap of the control node; docs/hardware/kernel-interface.md 4.1. */
int emu_usermode_mmap(struct emu_object *ctrl, int fd, size_t length, int protection, off_t offset);
void emu_usermode_mapped(struct emu_object *ctrl, int fd, void *mapping, size_t length,
                         int protection);
/* The client has unmapped a range. True: there was a mapping of the page. */
bool emu_usermode_unmapped(const void *address, size_t length);

/* A client's mapping shows the page, or nothing, so that access is a SIGBUS. True: it shows
 * nothing now. gpu.lock held. */
bool emu_usermode_remap(struct emu_ctrl *ctrl, bool hide);

/* From now on the engine looks at the page for tokens. */
void emu_usermode_watch(void);
bool emu_usermode_watched(void);
/* A token lies in the page: any, or one that is not the channel's. */
bool emu_usermode_rung(void);
bool emu_usermode_rung_for_other(const struct emu_channel *channel);
/* Takes the token out and sets the doorbells it stands for. gpu.lock held. */
void emu_usermode_collect(void);

#endif
