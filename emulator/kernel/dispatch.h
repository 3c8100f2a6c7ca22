/* The rules that the requests of nvgpu's and host1x's nodes share:
 * docs/hardware/kernel-interface.md 1.4. */
#ifndef TEGRACL_EMULATOR_DISPATCH_H
#define TEGRACL_EMULATOR_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_object;

struct emu_ioctl {
  uint32_t request;
  /* argument: a copy of the client's, followed by zeros. Returns 0, a positive count of bytes not
   * copied, or -errno. Called with gpu.lock held. */
  int (*function)(struct emu_object *object, int fd, void *argument);
  bool always_copy; /* copy the argument out after an error too */
};

struct emu_node {
  unsigned magic;            /* _IOC_TYPE of its requests */
  unsigned last_number;      /* of r36 */
  unsigned largest_argument; /* bytes */
  int unknown_error;         /* 0: -EINVAL for a number or size out of range, else -ENOTTY */
  int copy_out_error;        /* 0: the ioctl returns the bytes not copied */
  const struct emu_ioctl *ioctls;
  size_t ioctl_count;
};

extern const struct emu_node emu_node_ctrl, emu_node_as, emu_node_tsg, emu_node_channel,
    emu_node_host1x, emu_node_nvhost;

/* Executes a request: 0, a positive count of bytes not copied, or -errno. gpu.lock held. */
int emu_dispatch(const struct emu_node *node, struct emu_object *object, int fd,
                 unsigned long request, void *argument);

#endif
