/* The table of objects behind descriptors, and their reference counts. Callers hold gpu.lock
 * (gpu.h).
 */
#ifndef TEGRACL_EMULATOR_OBJECTS_H
#define TEGRACL_EMULATOR_OBJECTS_H

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

/* The head of every object. An fd, a mapping, or another object that needs it
 * holds a reference. */
struct emu_object {
  enum emu_kind kind;
  int refs;
  int fds; /* table entries among refs */
};

/* Makes fd stand for the object and takes a reference. 0 or -ENOMEM. */
int emu_table_set(int fd, struct emu_object *object);
/* The object, or NULL. */
struct emu_object *emu_table_get(int fd);
/* The same if it is of that kind, else NULL. */
void *emu_table_get_kind(int fd, enum emu_kind kind);
/* Forgets fd (it is, or will be, closed) and drops its reference. */
void emu_table_clear(int fd);
/* A new fd (memfd without pages) for the object: the fd, or -errno. */
int emu_table_open(const char *name, struct emu_object *object);
void emu_object_get(struct emu_object *object);
/* Drops a reference; the last one frees. */
void emu_object_put(struct emu_object *object);

#endif
