/* Rules common to the requests of nvgpu's and host1x's nodes: docs/hardware/kernel-interface.md
 * 1.4. */
#ifndef TEGRACL_EMULATOR_DISPATCH_H
#define TEGRACL_EMULATOR_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_object;

struct emu_ioctl {
  uint32_t request;
  /* argument is a zero-padded copy of the client's. Returns 0, a positive number of bytes not
   * copied, or -errno. Called with gpu.lock held. */
  int (*function)(struct emu_object *object, int fd, void *argument);
  bool always_copy; /* copy the argument out even after an error */
};

struct emu_node {
  unsigned magic;            /* _IOC_TYPE of the node's requests */
  unsigned last_number;      /* of r36 */
  unsigned largest_argument; /* bytes */
  int unknown_error;  /* errno for a number or size out of range; 0 means -EINVAL, and -ENOTTY for
                         other unknown requests */
  int copy_out_error; /* errno for a failed copy; 0 means that the ioctl returns the bytes not
                         copied */
  const struct emu_ioctl *ioctls;
  size_t ioctl_count;
};

extern const struct emu_node emu_node_ctrl, emu_node_as, emu_node_tsg, emu_node_channel,
    emu_node_host1x, emu_node_nvhost;

/* Executes a request. Returns 0, a positive number of bytes not copied, or -errno. The caller holds
 * gpu.lock. */
int emu_dispatch(const struct emu_node *node, struct emu_object *object, int fd,
                 unsigned long request, void *argument);

#endif
