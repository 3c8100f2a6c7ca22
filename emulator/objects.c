/* The table of the objects to which fds refer, and their reference counts.
 *
 * Every fd is a real one (a memfd, eventfd or timerfd), so that mmap, dup, fstat and poll of the
 * client work. */
#include "emulator/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator/descriptors.h"

struct emu_objects emu_objects;

enum { TABLE_STEP = 64 };

void *emu_object_create(const struct emu_object_ops *ops, size_t size) {
  struct emu_object *object = calloc(1, size);
  if (object)
    *object = (struct emu_object){.ops = ops, .refs = 1, .fd = -1};
  return object;
}

int emu_object_open(const struct emu_object_ops *ops, const char *name) {
  struct emu_object *object = emu_object_create(ops, sizeof(*object));
  if (!object)
    return -ENOMEM;
  int fd = emu_table_open(name, object);
  emu_object_put(object);
  return fd;
}

int emu_table_set(int fd, struct emu_object *object) {
  if (fd >= EMU_FDS)
    return -EMFILE;
  if (fd >= emu_objects.table_size) {
    int size = (fd / TABLE_STEP + 1) * TABLE_STEP;
    struct emu_object **table = realloc(emu_objects.table, (size_t)size * sizeof(*table));
    if (!table)
      return -ENOMEM;
    memset(table + emu_objects.table_size, 0,
           (size_t)(size - emu_objects.table_size) * sizeof(*table));
    emu_objects.table = table;
    emu_objects.table_size = size;
  }
  /* The client has closed this fd by a system call that bypassed the emulator. */
  if (emu_objects.table[fd])
    emu_table_clear(fd);
  emu_objects.table[fd] = object;
  if (object->fds++ == 0)
    object->fd = fd;
  emu_object_get(object);
  emu_objects.fd_count++;
  emu_descriptor_note(fd, true);
  return 0;
}

struct emu_object *emu_table_get(int fd) {
  return fd >= 0 && fd < emu_objects.table_size ? emu_objects.table[fd] : NULL;
}

void *emu_table_get_kind(int fd, enum emu_kind kind) {
  struct emu_object *object = emu_table_get(fd);
  return object && object->ops->kind == kind ? object : NULL;
}

/* Chooses another fd of the object if it has more. Must be called after fd was closed. */
static void replace_fd(struct emu_object *object, int fd) {
  if (object->fd != fd)
    return;
  object->fd = -1;
  for (int other = 0; object->fds && object->fd < 0; other++) {
    if (emu_objects.table[other] == object)
      object->fd = other;
  }
}

void emu_table_clear(int fd) {
  struct emu_object *object = emu_objects.table[fd];
  emu_objects.table[fd] = NULL;
  emu_descriptor_note(fd, false);
  object->fds--;
  replace_fd(object, fd);
  if (object->fds == 0 && object->ops->closed)
    object->ops->closed(object);
  emu_object_put(object);
  /* This comes last, because gpu.lock may have been released and the device may be destroyed when
   * there are no fds. */
  emu_objects.fd_count--;
}

int emu_table_close(int fd) {
  struct emu_object *object = emu_table_get(fd);
  if (object && object->ops->close) {
    object->ops->close(object, fd);
    object = emu_table_get(fd); /* gpu.lock may have been released */
  }
  /* Close the fd first: no fd may refer to an object that is freed. */
  int result = close(fd) < 0 ? -errno : 0;
  if (object)
    emu_table_clear(fd);
  return result;
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

void emu_object_put(struct emu_object *object) {
  if (--object->refs > 0)
    return;
  if (object->ops->destroy)
    object->ops->destroy(object);
  else
    free(object);
}
