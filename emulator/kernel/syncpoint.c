/* Syncpoints, which are counters in host1x that the GPU increments, and fds that wait for them
 * (/dev/host1x-fence). Section numbers refer to docs/hardware/kernel-interface.md: 2.6, 3.6, 6.
 *
 * A sync_file is a timerfd: it expires, and stays readable, when the threshold is reached or after
 * the driver's limit of 30 seconds. A pollfd is an eventfd, which emu_event_poll clears as the
 * driver's poll does. */
#include "emulator/kernel/syncpoint.h"

#include <errno.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "emulator/gpu.h"
#include "emulator/kernel/dispatch.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/tsg.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/inject.h"
#include "emulator/objects.h"
#include "emulator/warn.h"
#include "gpu/hw/host.h"
#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"

struct emu_syncpoints emu_syncpoints;

enum {
  SYNCPOINT_FIRST = 17, /* the first one available on a board; section 6 */
  FENCE_TIMEOUT_S = 30, /* 3.6, CREATE_FENCE */
  NS_PER_S = 1000000000,
  /* If a client closes a fence this long after it was reached, the client slept on the fence
   * instead of polling memory. */
  SLEPT_PAST_FENCE_NS = 50000000,
};

static const struct emu_object_ops sync_file_ops, pollfd_ops;

/* A point for which an fd is still waiting. */
struct emu_wait {
  struct emu_wait *next; /* emu_syncpoints.waits */
  struct emu_waiter *waiter;
  struct emu_point point;
};

struct emu_dmabuf *emu_syncpoint_memory(void) {
  if (!emu_syncpoints.memory) {
    struct emu_dmabuf *memory = emu_dmabuf_create((uint64_t)EMU_SYNCPOINTS * EMU_SYNCPOINT_STRIDE);
    if (memory && emu_dmabuf_host(memory)) {
      emu_object_put(&memory->object);
      memory = NULL;
    }
    emu_syncpoints.memory = memory;
  }
  return emu_syncpoints.memory;
}

static _Atomic uint32_t *syncpoint_counter(int syncpoint) {
  return (_Atomic uint32_t *)(void *)(emu_syncpoints.memory->host +
                                      (size_t)syncpoint * EMU_SYNCPOINT_STRIDE);
}

uint32_t emu_syncpoint_value(int syncpoint) {
  return emu_syncpoint_memory() ? atomic_load(syncpoint_counter(syncpoint)) : 0;
}

int emu_syncpoint_take(void) {
  for (int id = SYNCPOINT_FIRST; id < EMU_SYNCPOINTS; id++) {
    if (!emu_syncpoints.used[id]) {
      emu_syncpoints.used[id] = true;
      return id;
    }
  }
  return -ENOMEM;
}

/* Compares modulo 2^32; section 6, "threshold base" */
static bool is_reached(struct emu_point p) {
  return (int32_t)(emu_syncpoint_value((int)p.id) - p.threshold) >= 0;
}

/* Makes a timerfd readable without a timer interrupt, which costs several times as much as the rest
 * of a fence, in virtual machines most. Returns false if the kernel cannot: it needs
 * CONFIG_CHECKPOINT_RESTORE. */
static bool expire_now(int fd) {
  static const unsigned long set_ticks = _IOW('T', 0, uint64_t); /* Linux, uapi/linux/timerfd.h */
  return ioctl(fd, set_ticks, &(uint64_t){1}) == 0;
}

/* Signals a fence whose points are reached. A fence that was just created is signalled at once;
 * otherwise the interrupt may be late or lost. */
static void signal_fence(struct emu_waiter *w, bool just_made) {
  const uint64_t injected_ns = 2000000000;
  const bool lost = !just_made && emu_injected(EMU_PLACE_FENCE_LOST);
  uint64_t ns = just_made ? 0 : emu_adversary_fence_delay_ns();
  if (!just_made && emu_injected(EMU_PLACE_FENCE_LATE))
    ns = injected_ns;
  if (ns || lost)
    w->reached_ns = emu_time_ns();
  if (lost || (!ns && expire_now(w->object.fd)))
    return;
  ns = ns ? ns : 1;
  const struct itimerspec then = {
      .it_value = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)}};
  timerfd_settime(w->object.fd, 0, &then, NULL);
}

/* Handles that one of the waiter's points is reached. */
static void signal_waiter(struct emu_waiter *w, bool just_made) {
  const uint64_t one = 1;
  w->left--;
  if (w->object.ops == &sync_file_ops && w->left)
    return;
  if (w->object.ops == &sync_file_ops)
    signal_fence(w, just_made);
  else if (emu_injected(EMU_PLACE_FENCE_LOST))
    return;
  else if (write(w->object.fd, &one, sizeof(one)) < 0)
    return; /* a full counter is readable as well */
}

/* Signals waiters whose points are reached. made is a fence that was just created, or NULL. */
static void signal_reached(const struct emu_waiter *made) {
  for (struct emu_wait **link = &emu_syncpoints.waits; *link;) {
    struct emu_wait *wait = *link;
    if (!is_reached(wait->point)) {
      link = &wait->next;
      continue;
    }
    *link = wait->next;
    emu_syncpoints.wait_count--;
    signal_waiter(wait->waiter, wait->waiter == made);
    free(wait);
  }
}

void emu_syncpoint_raise(int syncpoint, uint32_t by) {
  atomic_fetch_add(syncpoint_counter(syncpoint), by);
  signal_reached(NULL);
}

/* Increments the counter before reading wait_count. add_wait increments wait_count before reading
 * the counter, so at least one of the two sees the other. */
void emu_syncpoint_increment(int syncpoint) {
  if (emu_injected(EMU_PLACE_SYNCPOINT_STUCK))
    return;
  atomic_fetch_add(syncpoint_counter(syncpoint), 1);
  if (!atomic_load(&emu_syncpoints.wait_count))
    return;
  pthread_mutex_lock(&emu_gpu.lock);
  signal_reached(NULL);
  pthread_mutex_unlock(&emu_gpu.lock);
}

/* Adds a point to the waiter. The caller must call signal_reached afterwards. Returns 0 or
 * -ENOMEM. */
static int add_wait(struct emu_waiter *w, struct emu_point point) {
  struct emu_wait *wait = malloc(sizeof(*wait));
  if (!wait)
    return -ENOMEM;
  *wait = (struct emu_wait){emu_syncpoints.waits, w, point};
  emu_syncpoints.waits = wait;
  emu_syncpoints.wait_count++;
  w->left++;
  return 0;
}

/* Warns if the client has slept past a late or lost fence of the syncpoint for the second time.
 * After the first time it should poll memory. Called when the client closes a fence. */
static void check_slept_past_fence(const struct emu_waiter *w) {
  if (!w->reached_ns || emu_time_ns() - w->reached_ns < SLEPT_PAST_FENCE_NS || w->count != 1)
    return;
  if (++emu_syncpoints.slept_past_fence[w->points[0].id] == 2)
    emu_warn("a client slept on fences of a syncpoint again although an earlier one did not wake "
             "in time: interrupts can be late or lost; after a late fence, poll the memory that "
             "the work writes",
             "drivers/gpu/host1x/fence.c: a fence ends only with the syncpoint's interrupt or "
             "after 30 s");
}

static void waiter_destroy(struct emu_object *object) {
  struct emu_waiter *w = (struct emu_waiter *)object;
  check_slept_past_fence(w);
  for (struct emu_wait **link = &emu_syncpoints.waits; *link;) {
    struct emu_wait *wait = *link;
    if (wait->waiter != w) {
      link = &wait->next;
      continue;
    }
    *link = wait->next;
    emu_syncpoints.wait_count--;
    free(wait);
  }
  free(w);
}

/* Creates a waiter, which owns fd. If fd is -1 or memory is exhausted, returns NULL and sets
 * *error; for fd -1 it is taken from errno. */
static struct emu_waiter *waiter_open(const struct emu_object_ops *ops, int fd, int *error) {
  *error = -errno;
  if (fd < 0)
    return NULL;
  *error = -ENOMEM;
  struct emu_waiter *w = emu_object_create(ops, sizeof(*w));
  if (w) {
    *error = emu_table_set(fd, &w->object);
    emu_object_put(&w->object);
  }
  if (!*error)
    return w;
  close(fd);
  return NULL;
}

int emu_sync_file_open(const struct emu_point *points, uint32_t count) {
  const bool early = emu_injected(EMU_PLACE_FENCE_EARLY);
  const struct itimerspec end = {.it_value = {.tv_sec = early ? 0 : FENCE_TIMEOUT_S, .tv_nsec = 1}};
  int error;
  struct emu_waiter *w = waiter_open(
      &sync_file_ops, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), &error);
  if (!w)
    return error;
  int fd = w->object.fd;
  error = timerfd_settime(fd, 0, &end, NULL) ? -errno : 0;
  for (; !error && w->count < count; w->count++) {
    w->points[w->count] = points[w->count];
    error = add_wait(w, points[w->count]);
  }
  if (!error) {
    signal_reached(w);
    return fd;
  }
  emu_table_clear(fd);
  close(fd);
  return error;
}

/* Returns the state of some of the points: 1 if all are reached, 0 if not, or -errno. */
static int fence_status(const struct emu_waiter *w, uint32_t first, uint32_t count) {
  struct itimerspec left;
  uint32_t there = 0;
  for (uint32_t i = first; i < first + count; i++)
    there += is_reached(w->points[i]);
  if (there == count)
    return 1;
  bool over =
      timerfd_gettime(w->object.fd, &left) == 0 && !left.it_value.tv_sec && !left.it_value.tv_nsec;
  return over ? -ETIMEDOUT : 0;
}

/* SYNC_IOC_FILE_INFO of Linux, with the names of host1x's fences. */
static int file_info(const struct emu_waiter *w, uint64_t argument) {
  struct sync_file_info info;
  if (emu_copy_from_user(&info, argument, sizeof(info)))
    return -EFAULT;
  if (info.flags || info.pad || (info.num_fences && info.num_fences < w->count))
    return -EINVAL;
  for (uint32_t i = 0; i < w->count && info.num_fences; i++) {
    struct sync_fence_info fence = {
        .obj_name = "syncpoint", .driver_name = "host1x", .status = fence_status(w, i, 1)};
    if (emu_copy_to_user(info.sync_fence_info + i * sizeof(fence), &fence, sizeof(fence)))
      return -EFAULT;
  }
  snprintf(info.name, sizeof(info.name), "host1x-syncpoint%u-%u", w->points[0].id,
           w->points[0].threshold);
  info.status = fence_status(w, 0, w->count);
  info.num_fences = w->count;
  return emu_copy_to_user(argument, &info, sizeof(info));
}

/* SYNC_IOC_MERGE. Reached points are dropped, except for one if all are reached. */
static int merge_sync_files(const struct emu_waiter *w, uint64_t argument) {
  struct sync_merge_data data;
  struct emu_point points[2 * EMU_POINTS];
  uint32_t count = 0;
  if (emu_copy_from_user(&data, argument, sizeof(data)))
    return -EFAULT;
  if (data.flags || data.pad)
    return -EINVAL;
  const struct emu_waiter *other = emu_table_get_kind(data.fd2, EMU_SYNC_FILE);
  if (!other)
    return -ENOENT;
  for (uint32_t i = 0; i < w->count + other->count; i++) {
    points[count] = i < w->count ? w->points[i] : other->points[i - w->count];
    count += !is_reached(points[count]);
  }
  if (count > EMU_POINTS)
    return -ENOMEM;
  int fd = emu_sync_file_open(points, count ? count : 1);
  if (fd < 0)
    return fd;
  data.fence = fd;
  const int error = emu_copy_to_user(argument, &data, sizeof(data));
  if (error)
    emu_table_close(fd);
  return error;
}

static int sync_file_ioctl(struct emu_object *object, int fd, unsigned long request,
                           void *argument) {
  const struct emu_waiter *w = (struct emu_waiter *)object;
  if (request == SYNC_IOC_FILE_INFO)
    return file_info(w, (uintptr_t)argument);
  return request == SYNC_IOC_MERGE ? merge_sync_files(w, (uintptr_t)argument) : -ENOTTY;
}

/* CREATE_FENCE: makes the checks in the driver's order (3.6). */
static int create_fence(struct emu_object *object, int fd, void *argument) {
  struct host1x_create_fence *a = argument;
  if (a->reserved[0] || a->id >= EMU_SYNCPOINTS)
    return -EINVAL;
  int fence = emu_sync_file_open(&(struct emu_point){a->id, a->threshold}, 1);
  if (fence < 0)
    return fence;
  a->fence_fd = fence;
  return 0;
}

/* FENCE_EXTRACT. If the array is too small, it receives the first points. */
static int fence_extract(struct emu_object *object, int fd, void *argument) {
  struct host1x_fence_extract *a = argument;
  if (a->reserved[0] || a->reserved[1])
    return -EINVAL;
  const struct emu_waiter *w = emu_table_get_kind(a->fence_fd, EMU_SYNC_FILE);
  if (!w)
    return -EINVAL;
  _Static_assert(sizeof(w->points[0]) == sizeof(struct host1x_fence_extract_fence), "pairs");
  uint32_t fit = a->num_fences < w->count ? a->num_fences : w->count;
  if (emu_copy_to_user(a->fences_ptr, w->points, fit * sizeof(w->points[0])))
    return -EFAULT;
  a->num_fences = w->count;
  return 0;
}

static int create_pollfd(struct emu_object *object, int fd, void *argument) {
  int error;
  const struct emu_waiter *w =
      waiter_open(&pollfd_ops, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), &error);
  if (!w)
    return error;
  ((struct host1x_create_pollfd *)argument)->fd = w->object.fd;
  return 0;
}

static int trigger_pollfd(struct emu_object *object, int fd, void *argument) {
  const struct host1x_trigger_pollfd *a = argument;
  struct emu_waiter *w = emu_table_get_kind(a->fd, EMU_POLLFD);
  if (!w || a->id >= EMU_SYNCPOINTS)
    return -EINVAL;
  int error = add_wait(w, (struct emu_point){a->id, a->threshold});
  signal_reached(NULL);
  return error;
}

/* r35: makes the checks of nvhost_ioctl_ctrl_sync_fence_create (host1x.c) in its order. */
static int create_fence_r35(struct emu_object *object, int fd, void *argument) {
  struct nvhost_create_fence *a = argument;
  struct emu_point points[EMU_POINTS];
  char name[32];
  _Static_assert(sizeof(points[0]) == sizeof(struct nvhost_fence_point), "pairs");
  for (size_t i = 0; a->name && i < sizeof(name); i++) {
    if (emu_copy_from_user(&name[i], a->name + i, 1))
      return -EFAULT;
    if (!name[i])
      break;
  }
  if (a->count > EMU_POINTS)
    return -ENOMEM;
  if (emu_copy_from_user(points, a->points, a->count * sizeof(points[0])))
    return -EFAULT;
  for (uint32_t i = 0; i < a->count; i++)
    if (points[i].id >= EMU_SYNCPOINTS)
      return -EINVAL;
  if (!a->count)
    return -EINVAL;
  int fence = emu_sync_file_open(points, a->count);
  if (fence < 0)
    return fence;
  a->fence_fd = fence;
  return 0;
}

static const struct emu_ioctl nvhost_ioctls[] = {
    {NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE, create_fence_r35},
};

/* GPU clients do not use any other request of this node. */
const struct emu_node emu_node_nvhost = {
    .magic = 'H',
    .last_number = NVHOST_CTRL_LAST,
    .largest_argument = 32,
    .unknown_error = -ENOTTY,
    .copy_out_error = -EFAULT,
    .ioctls = nvhost_ioctls,
    .ioctl_count = 1,
};

static const struct emu_ioctl ioctls[] = {
    {HOST1X_IOCTL_CREATE_FENCE, create_fence},
    {HOST1X_IOCTL_FENCE_EXTRACT, fence_extract},
    {HOST1X_IOCTL_CREATE_POLLFD, create_pollfd},
    {HOST1X_IOCTL_TRIGGER_POLLFD, trigger_pollfd},
};

/* Unknown requests, including number 0, return ENOTTY (1.4, host1x-fence column). */
const struct emu_node emu_node_host1x = {
    .magic = 'X',
    .last_number = 17,
    .largest_argument = 24,
    .unknown_error = -ENOTTY,
    .copy_out_error = -EFAULT,
    .ioctls = ioctls,
    .ioctl_count = sizeof(ioctls) / sizeof(ioctls[0]),
};

static const struct emu_object_ops sync_file_ops = {
    .kind = EMU_SYNC_FILE,
    .ioctl = sync_file_ioctl,
    .destroy = waiter_destroy,
};

static const struct emu_object_ops pollfd_ops = {
    .kind = EMU_POLLFD,
    .poll = emu_event_poll,
    .destroy = waiter_destroy,
};

static int host1x_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  return emu_dispatch(&emu_node_host1x, object, fd, request, argument);
}

int emu_host1x_open(void) {
  static const struct emu_object_ops ops = {
      .kind = EMU_HOST1X,
      .node = HOST1X_FENCE_NODE,
      .ioctl = host1x_ioctl,
  };
  return emu_object_open(&ops, "host1x-fence");
}

static int nvhost_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  return emu_dispatch(&emu_node_nvhost, object, fd, request, argument);
}

int emu_nvhost_open(void) {
  static const struct emu_object_ops ops = {
      .kind = EMU_NVHOST,
      .node = NVHOST_CTRL_NODE,
      .ioctl = nvhost_ioctl,
  };
  return emu_object_open(&ops, "nvhost-ctrl");
}
