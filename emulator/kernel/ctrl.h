/* An open of the control node, and its rarely used requests. */
#ifndef TEGRACL_EMULATOR_CTRL_H
#define TEGRACL_EMULATOR_CTRL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emulator/objects.h"

struct emu_ctrl {
  struct emu_object object;
  void *mapping; /* of the user-mode page; NULL if not mapped */
  size_t mapping_length;
  int mapping_protection;
  ino_t page_inode,
      nothing_inode; /* inodes of the files that are mapped while the GPU is on and off */
  bool hidden;       /* the GPU is off, so the mapping has no page */
  struct emu_ctrl *next_mapped;
  uint64_t instance; /* device instance id, starting at 1 */
  uint64_t tokens;   /* number of tokens issued for sharing TSGs */
};

extern struct emu_ctrls {
  struct emu_ctrl *mapped; /* list of those with a mapping of the user-mode page */
  uint64_t opened;         /* number of opens so far; the last instance */
} emu_ctrls;

/* Opens the control node. Returns an fd or -errno. */
int emu_ctrl_open(void);

/* Requests implemented in ctrl_rare.c; see struct emu_ioctl. */
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
