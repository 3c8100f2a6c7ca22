/* What ctrl_rare.c adds to the control node's table. Each is the function of a
 * struct emu_ioctl.
 */
#ifndef TEGRACL_EMULATOR_CTRL_H
#define TEGRACL_EMULATOR_CTRL_H

#include "emulator/gpu.h"

int emu_ctrl_graphics(struct emu_object *object, int fd, void *argument);
int emu_ctrl_prepare_read(struct emu_object *object, int fd, void *argument);
int emu_ctrl_mark_write(struct emu_object *object, int fd, void *argument);
int emu_ctrl_mmu_debug(struct emu_object *object, int fd, void *argument);
int emu_ctrl_sm_debug(struct emu_object *object, int fd, void *argument);
int emu_ctrl_pause(struct emu_object *object, int fd, void *argument);
int emu_ctrl_clear_errors(struct emu_object *object, int fd, void *argument);
int emu_ctrl_exception_status(struct emu_object *object, int fd, void *argument);
int emu_ctrl_vidmem(struct emu_object *object, int fd, void *argument);
int emu_ctrl_set_clocks(struct emu_object *object, int fd, void *argument);

#endif
