/* The table of the objects to which fds refer, and their reference counts. Callers hold gpu.lock
 * (gpu.h).
 */
#ifndef TEGRACL_EMULATOR_OBJECTS_H
#define TEGRACL_EMULATOR_OBJECTS_H

#include <stddef.h>
#include <sys/types.h>

enum emu_kind {
  EMU_NVMAP = 1,
  EMU_CTRL,
  EMU_AS,
  EMU_TSG,
  EMU_CHANNEL,
  EMU_DMABUF,
  EMU_EVENT,
  EMU_POWER,
  EMU_HOST1X,
  EMU_NVHOST,
  EMU_SYNC_FILE,
  EMU_POLLFD,
  EMU_COUNTER_NODE,
};

struct emu_object;
struct pollfd;

/* The calls on fds of one kind of object. gpu.lock is held. */
struct emu_object_ops {
  enum emu_kind kind;
  const char *node; /* the path whose status fstat reports; NULL: fstat reports the fd's file */
  /* 0, a positive number of bytes not copied, or -errno. NULL: -ENOTTY. */
  int (*ioctl)(struct emu_object *object, int fd, unsigned long request, void *argument);
  /* Before fd is mapped: 0 or -errno. NULL: -ENODEV. */
  int (*mmap)(struct emu_object *object, int fd, size_t length, int protection, off_t offset);
  /* After fd was mapped. NULL: nothing to do. */
  void (*mapped)(struct emu_object *object, int fd, void *mapping, size_t length, int protection);
  /* Changes what poll found into what the driver reports, once for each event. NULL: no event. */
  void (*poll)(struct pollfd *found);
  /* Before fd is closed; may release gpu.lock meanwhile. NULL: nothing to do. */
  void (*close)(struct emu_object *object, int fd);
  /* After the last fd was closed. NULL: nothing to do. */
  void (*closed)(struct emu_object *object);
  /* After the last reference was dropped: frees the object. NULL: calls free. */
  void (*destroy)(struct emu_object *object);
};

/* The head of every object. Its fds, its mappings and the objects that use it hold references. */
struct emu_object {
  const struct emu_object_ops *ops;
  int refs;
  int fds; /* number of its fds, which are among refs */
  int fd;  /* one of them; -1: none */
};

/* A new object of size bytes, zeroed except for its head, with one reference; NULL: no memory. */
void *emu_object_create(const struct emu_object_ops *ops, size_t size);
/* A new fd of a new object that consists of its head: the fd, or -errno. */
int emu_object_open(const struct emu_object_ops *ops, const char *name);

extern struct emu_objects {
  struct emu_object **table; /* by fd */
  int table_size;
  int fd_count;
} emu_objects;

/* Makes fd refer to the object, and takes a reference. 0, -ENOMEM, or -EMFILE if fd is too high. */
int emu_table_set(int fd, struct emu_object *object);
/* The object of fd, or NULL. */
struct emu_object *emu_table_get(int fd);
/* The object of fd if it is of that kind, else NULL. */
void *emu_table_get_kind(int fd, enum emu_kind kind);
/* Removes fd, which is (or is about to be) closed, and drops its reference. */
void emu_table_clear(int fd);
/* Closes an fd of the client, with or without an object: 0 or -errno. May release gpu.lock
 * meanwhile. */
int emu_table_close(int fd);
/* A new fd (memfd without pages) for the object: the fd, or -errno. */
int emu_table_open(const char *name, struct emu_object *object);
void emu_object_get(struct emu_object *object);
/* Drops a reference; with the last one the object is destroyed. */
void emu_object_put(struct emu_object *object);

#endif
