/* The table of objects behind fds, their reference counts and their ends.
 *
 * Every fd is a real one: a memfd, so that mmap, dup, fstat and poll of the
 * client work on it as on the kernel's. The table remembers which number stands
 * for what.
 */
#include "emulator/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator/descriptors.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/nvmap.h"
#include "emulator/kernel/share.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/tsg.h"

enum { TABLE_STEP = 64 };

int emu_table_set(int fd, struct emu_object *object) {
  if (fd >= EMU_FDS)
    return -EMFILE;
  if (fd >= emu_gpu.table_size) {
    int size = (fd / TABLE_STEP + 1) * TABLE_STEP;
    struct emu_object **table = realloc(emu_gpu.table, (size_t)size * sizeof(*table));
    if (!table)
      return -ENOMEM;
    memset(table + emu_gpu.table_size, 0, (size_t)(size - emu_gpu.table_size) * sizeof(*table));
    emu_gpu.table = table;
    emu_gpu.table_size = size;
  }
  /* The client closed the number without our knowledge. */
  if (emu_gpu.table[fd])
    emu_table_clear(fd);
  emu_gpu.table[fd] = object;
  object->fds++;
  emu_object_get(object);
  emu_gpu.fd_count++;
  emu_descriptor_note(fd, true);
  return 0;
}

struct emu_object *emu_table_get(int fd) {
  return fd >= 0 && fd < emu_gpu.table_size ? emu_gpu.table[fd] : NULL;
}

void *emu_table_get_kind(int fd, enum emu_kind kind) {
  struct emu_object *object = emu_table_get(fd);
  return object && object->kind == kind ? object : NULL;
}

void emu_table_clear(int fd) {
  struct emu_object *object = emu_gpu.table[fd];
  emu_gpu.table[fd] = NULL;
  emu_descriptor_note(fd, false);
  object->fds--;
  emu_descriptor_replace(object, fd);
  if (object->kind == EMU_CHANNEL && object->fds == 0)
    emu_channel_close((struct emu_channel *)object);
  emu_object_put(object);
  emu_gpu.fd_count--; /* last: gpu.lock was let go, and without fds the device goes */
}

int emu_table_open(const char *name, struct emu_object *object) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0)
    return -errno;
  int error = emu_table_set(fd, object);
  if (error) {
    close(fd);
    return error;
  }
  return fd;
}

void emu_object_get(struct emu_object *object) {
  object->refs++;
}

static void nvmap_free(struct emu_object *object) {
  free(object);
  if (--emu_gpu.nvmap_opens == 0)
    emu_nvmap_free_all();
}

void emu_object_put(struct emu_object *object) {
  if (--object->refs > 0)
    return;
  switch (object->kind) {
  case EMU_NVMAP:
    nvmap_free(object);
    break;
  case EMU_CTRL:
    emu_share_forget(NULL, ((struct emu_ctrl *)object)->instance);
    free(object);
    break;
  case EMU_POWER:
  case EMU_HOST1X:
  case EMU_NVHOST:
  case EMU_COUNTER_NODE:
    free(object);
    break;
  case EMU_AS:
    emu_as_free((struct emu_as *)object);
    break;
  case EMU_TSG:
    emu_tsg_free((struct emu_tsg *)object);
    break;
  case EMU_CHANNEL:
    emu_channel_free((struct emu_channel *)object);
    break;
  case EMU_DMABUF:
    emu_dmabuf_free((struct emu_dmabuf *)object);
    break;
  case EMU_EVENT:
    emu_event_free((struct emu_event *)object);
    break;
  case EMU_SYNC_FILE:
  case EMU_POLLFD:
    emu_waiter_free((struct emu_waiter *)object);
    break;
  }
}
