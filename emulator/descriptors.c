/* File descriptors that belong to the device or are hidden from the program, their duplicates, and
 * event descriptors. */
#include "emulator/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "emulator/engine/engine.h"
#include "emulator/gpu.h"
#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/usermode.h"
#include "emulator/objects.h"

enum { WORD_BITS = 64 };

/* A set of fds. It has no lock, because every close and poll of the program reads it. */
struct fds {
  _Atomic uint64_t bits[EMU_FDS / WORD_BITS];
};
static struct fds ours, hidden;
static _Atomic pid_t owner; /* the process to which the fds belong */

static void set_bit(struct fds *fds, int fd, bool on) {
  uint64_t bit = UINT64_C(1) << (fd % WORD_BITS);
  if (fd >= EMU_FDS)
    return;
  atomic_store(&owner, getpid());
  if (on)
    atomic_fetch_or(&fds->bits[fd / WORD_BITS], bit);
  else
    atomic_fetch_and(&fds->bits[fd / WORD_BITS], ~bit);
}

static bool has_bit(const struct fds *fds, int fd) {
  return fd >= 0 && fd < EMU_FDS &&
         (atomic_load_explicit(&fds->bits[fd / WORD_BITS], memory_order_relaxed) >>
              (fd % WORD_BITS) &
          1) &&
         atomic_load_explicit(&owner, memory_order_relaxed) == getpid();
}

static int next_bit(const struct fds *fds, int fd) {
  while (fd >= 0 && fd < EMU_FDS) {
    uint64_t rest = atomic_load(&fds->bits[fd / WORD_BITS]) >> (fd % WORD_BITS);
    if (rest) {
      fd += __builtin_ctzll(rest);
      return has_bit(fds, fd) ? fd : -1;
    }
    fd = (fd / WORD_BITS + 1) * WORD_BITS;
  }
  return -1;
}

static void clear_bits(struct fds *fds) {
  for (int i = 0; i < EMU_FDS / WORD_BITS; i++) {
    if (atomic_load_explicit(&fds->bits[i], memory_order_relaxed))
      atomic_store(&fds->bits[i], 0);
  }
}

void emu_descriptor_note(int fd, bool is_ours) {
  set_bit(&ours, fd, is_ours);
}
void emu_descriptor_hide(int fd, bool is_hidden) {
  set_bit(&hidden, fd, is_hidden);
}

/* Closes the hidden fds, because the program cannot. */
void emu_descriptors_forget(void) {
  atomic_store(&owner, getpid());
  for (int fd = next_bit(&hidden, 0); fd >= 0; fd = next_bit(&hidden, fd + 1))
    close(fd);
  clear_bits(&ours);
  clear_bits(&hidden);
}

bool emulator_owns(int fd) {
  return has_bit(&ours, fd);
}
int emulator_owns_next(int fd) {
  return next_bit(&ours, fd);
}
bool emulator_hides(int fd) {
  return has_bit(&hidden, fd);
}
int emulator_hides_next(int fd) {
  return next_bit(&hidden, fd);
}

int emulator_dup(int fd, int minimum, int flags) {
  pthread_mutex_lock(&emu_gpu.lock);
  struct emu_object *object = emu_table_get(fd);
  int copy = fcntl(fd, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, minimum);
  int result = copy < 0 ? -errno : copy;
  int error = object && copy >= 0 ? emu_table_set(copy, object) : 0;
  if (error) {
    close(copy);
    result = error;
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  return result;
}

int emulator_dup_onto(int fd, int target, int flags) {
  pthread_mutex_lock(&emu_gpu.lock);
  struct emu_object *object = emu_table_get(fd), *replaced = emu_table_get(target);
  if (replaced && replaced->ops->close && fcntl(fd, F_GETFD) >= 0) {
    replaced->ops->close(replaced, target);
    object = emu_table_get(fd);
    replaced = emu_table_get(target);
  }
  int result = dup3(fd, target, flags);
  if (result < 0) {
    result = -errno;
  } else {
    if (object)
      emu_object_get(object);
    if (replaced)
      emu_table_clear(target);
    int error = object ? emu_table_set(target, object) : 0;
    if (object)
      emu_object_put(object);
    if (error) {
      close(target);
      result = error;
    }
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  emu_device_stop_if_unused();
  return result;
}

bool emulator_is_event(int fd) {
  if (!emulator_owns(fd))
    return false;
  pthread_mutex_lock(&emu_gpu.lock);
  const struct emu_object *object = emu_table_get(fd);
  bool is = object && object->ops->poll;
  pthread_mutex_unlock(&emu_gpu.lock);
  return is;
}

bool emulator_event_take(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLIN, .revents = POLLIN};
  pthread_mutex_lock(&emu_gpu.lock);
  const struct emu_object *object = emu_table_get(fd);
  if (object && object->ops->poll)
    object->ops->poll(&p);
  pthread_mutex_unlock(&emu_gpu.lock);
  return p.revents != 0;
}

bool emulator_fd_status(int fd, struct stat *status) {
  pthread_mutex_lock(&emu_gpu.lock);
  const struct emu_object *object = emu_table_get(fd);
  const char *path = object ? object->ops->node : NULL;
  pthread_mutex_unlock(&emu_gpu.lock);
  return path && emulator_node_status(path, status);
}

bool emulator_is_mapped(void) {
  return __atomic_load_n(&emu_ctrls.mapped, __ATOMIC_RELAXED);
}

void emulator_watch_doorbell(void) {
  emu_usermode_watch();
}

void emulator_wake_engine(void) {
  emu_engine_wake();
}
