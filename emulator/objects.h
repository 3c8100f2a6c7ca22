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

/* The calls on fds of one kind of object. They are made with gpu.lock held. A NULL member has a
 * default. */
struct emu_object_ops {
  enum emu_kind kind;
  const char *node; /* fstat reports the status of this path; NULL: of the fd's file */
  /* Returns 0, a positive number of bytes not copied, or -errno. Default: -ENOTTY. */
  int (*ioctl)(struct emu_object *object, int fd, unsigned long request, void *argument);
  /* Called before fd is mapped. Returns 0 or -errno. Default: -ENODEV. */
  int (*mmap)(struct emu_object *object, int fd, size_t length, int protection, off_t offset);
  /* Called after fd was mapped. Default: none. */
  void (*mapped)(struct emu_object *object, int fd, void *mapping, size_t length, int protection);
  /* Converts the result of poll to what the driver would report, once for each event. Default: not
   * an event. */
  void (*poll)(struct pollfd *found);
  /* Called before fd is closed. May release gpu.lock meanwhile. Default: none. */
  void (*close)(struct emu_object *object, int fd);
  /* Called after the last fd was closed. Default: none. */
  void (*closed)(struct emu_object *object);
  /* Frees the object after the last reference was dropped. Default: free. */
  void (*destroy)(struct emu_object *object);
};

/* The head of every object. References are held by its fds, its mappings and the objects that use
 * it. */
struct emu_object {
  const struct emu_object_ops *ops;
  int refs;
  int fds; /* number of its fds, which refs includes */
  int fd;  /* one of the fds, or -1 if there is none */
};

/* Returns a new object of size bytes with one reference, zeroed except for its head, or NULL if out
 * of memory. */
void *emu_object_create(const struct emu_object_ops *ops, size_t size);
/* Creates an object that consists only of its head. Returns a new fd for it, or -errno. */
int emu_object_open(const struct emu_object_ops *ops, const char *name);

extern struct emu_objects {
  struct emu_object **table; /* indexed by fd */
  int table_size;
  int fd_count;
} emu_objects;

/* Makes fd refer to the object and takes a reference. Returns 0, -ENOMEM, or -EMFILE if fd is too
 * high. */
int emu_table_set(int fd, struct emu_object *object);
/* Returns the object of fd, or NULL. */
struct emu_object *emu_table_get(int fd);
/* Returns the object of fd if it is of this kind, else NULL. */
void *emu_table_get_kind(int fd, enum emu_kind kind);
/* Removes fd, which was closed or is about to be, and drops its reference. */
void emu_table_clear(int fd);
/* Closes an fd of the client, whether or not it has an object. Returns 0 or -errno. May release
 * gpu.lock meanwhile. */
int emu_table_close(int fd);
/* Returns a new fd (a memfd without pages) for the object, or -errno. */
int emu_table_open(const char *name, struct emu_object *object);
void emu_object_get(struct emu_object *object);
/* Drops a reference. The last one destroys the object. */
void emu_object_put(struct emu_object *object);

#endif
