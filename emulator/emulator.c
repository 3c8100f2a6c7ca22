/* The software Orin as a struct nvgpu_os: the nodes and their paths, the calls on descriptors, and
 * the lifetime of the device. */
#include "emulator/emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "emulator/boards.h"
#include "emulator/descriptors.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/l4t.h"
#include "emulator/kernel/nvmap.h"
#include "emulator/kernel/power.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/tsg.h"
#include "emulator/kernel/usermode.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/checks.h"
#include "emulator/modes/inject.h"
#include "emulator/modes/notes.h"
#include "emulator/modes/profile.h"
#include "emulator/objects.h"
#include "emulator/options.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"

struct emu_gpu emu_gpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The emulated board has at most 1/MEMORY_SHARE of the host's memory, because other programs need
 * the rest. */
enum { MEMORY_SHARE = 2 };

/* Status of a node (docs/hardware/kernel-interface.md 1.1). */
enum {
  NODE_MODE = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP,
  NODE_MAJOR = 484,
  NODE_FIRST_MINOR = 12,
};

static bool was_started; /* in this process */

uint64_t emu_time_ns(void) {
  return base_clock_ns() / PTIMER_STEP_NS * PTIMER_STEP_NS;
}

/* Returns the number of bytes in a file of a control group, or UINT64_MAX if there is no file or it
 * contains "max". */
static uint64_t limit_in_file(const char *path) {
  char line[32] = "";
  FILE *f = fopen(path, "re");
  if (!f)
    return UINT64_MAX;
  bool got = fgets(line, sizeof(line), f);
  fclose(f);
  char *end = line;
  uint64_t value = strtoull(line, &end, 10);
  return got && end != line ? value : UINT64_MAX;
}

static uint64_t host_memory(void) {
  uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t limits[] = {limit_in_file("/sys/fs/cgroup/memory.max"),
                       limit_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes")};
  for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
    bytes = limits[i] < bytes ? limits[i] : bytes;
  return bytes;
}

/* A child of fork has no engine thread and cannot use the objects of its parent. Its table starts
 * empty, and the copied objects are not freed. */
static void after_fork_in_child(void) {
  was_started = false;
  emu_descriptors_forget();
  emu_notes_forked();
  emu_checks_forked();
  emu_profile_forked();
  emu_grids_forked();
  sm_check_forked();
  memset(&emu_gpu, 0, sizeof(emu_gpu));
  memset(&emu_objects, 0, sizeof(emu_objects));
  memset(&emu_memory, 0, sizeof(emu_memory));
  memset(&emu_nvmap, 0, sizeof(emu_nvmap));
  memset(&emu_ctrls, 0, sizeof(emu_ctrls));
  memset(&emu_power, 0, sizeof(emu_power));
  memset(&emu_tsgs, 0, sizeof(emu_tsgs));
  memset(&emu_channels, 0, sizeof(emu_channels));
  memset(&emu_syncpoints, 0, sizeof(emu_syncpoints));
  memset(&emu_usermode, 0, sizeof(emu_usermode));
  memset(&emu_engine, 0, sizeof(emu_engine));
  pthread_mutex_init(&emu_gpu.lock, NULL);
  pthread_cond_init(&emu_engine.serviced, NULL);
}

static void before_fork(void) {
  pthread_mutex_lock(&emu_gpu.lock);
  emu_nvmap_forking();
}
static void after_fork_in_parent(void) {
  pthread_mutex_unlock(&emu_gpu.lock);
}

/* Creates the device when it is first opened. The caller holds gpu.lock. */
static void device_start(void) {
  static const struct base_fork_handlers handlers = {before_fork, after_fork_in_parent,
                                                     after_fork_in_child};
  if (emu_gpu.started)
    return;
  base_fork_watch(BASE_FORK_EMULATOR, &handlers);
  emu_gpu.started = true;
  was_started = true;
  uint64_t share = host_memory() / MEMORY_SHARE / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
  emu_adversary_start();
  emu_memory.limit = share < emu_board()->memory_bytes ? share : emu_board()->memory_bytes;
  const uint64_t most = emu_options()->memory_mib;
  if (most && most < emu_memory.limit >> 20)
    emu_memory.limit = most << 20;
  emu_memory.used = emu_memory.limit - emu_inject_free_bytes(emu_memory.limit);
  cpu_set_t cpus;
  emu_engine.cpus = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  /* Handle ids count up from here as long as nvmap is loaded (docs/hardware/kernel-interface.md
   * 3.5). */
  if (!emu_nvmap.next_handle)
    emu_nvmap.next_handle = 0x7fffffff;
  /* Channel ids are a stack: the one freed last is used first, initially 511 (3.1 OPEN_CHANNEL). */
  emu_channels.free_count = EMU_CHANNELS;
  for (int i = 0; i < EMU_CHANNELS; i++)
    emu_channels.free_ids[i] = (uint16_t)i;
}

static bool device_unused(void) {
  return emu_gpu.started && emu_objects.fd_count == 0 && !emu_ctrls.mapped;
}

void emu_device_stop_if_unused(void) {
  pthread_mutex_lock(&emu_gpu.lock);
  while (device_unused() && emu_engine.running)
    emu_engine_stop();
  if (device_unused()) {
    free(emu_objects.table);
    emu_objects.table = NULL;
    emu_objects.table_size = 0;
    emu_usermode_close();
    if (emu_syncpoints.memory) {
      emu_object_put(&emu_syncpoints.memory->object);
      emu_syncpoints.memory = NULL;
    }
    emu_gpu.started = false;
  }
  pthread_mutex_unlock(&emu_gpu.lock);
}

/* Prints leaks and counts. A device that was never opened prints nothing, because under
 * tegracl-emulate a program has a second one in the driver. */
__attribute__((destructor)) static void report_at_exit(void) {
  if (!was_started)
    return;
  emu_check_all_leaks();
  emu_profile_print();
}

/* Opening this node requests the default big page size, which Orin does not have (1.1). */
static int open_as(void) {
  return -EINVAL;
}
static int open_channel(void) {
  emu_power_use();
  return emu_channel_open(NVGPU_RUNLIST_GR);
}
static int open_tsg(void) {
  emu_power_use();
  return emu_tsg_open();
}
/* Only root may open these nodes; the client is a member of the group video (1.1, "Mode,
 * owner"). */
static int open_refused(void) {
  return -EACCES;
}

/* The nodes of docs/hardware/kernel-interface.md 1.1. Those of the GPU also have an old name. */
static const struct node {
  const char *path, *old_path;
  int (*open)(void);
} nodes[] = {
    {NVMAP_NODE, NULL, emu_nvmap_open},
    {NVGPU_CTRL_NODE, NVGPU_CTRL_NODE_OLD, emu_ctrl_open},
    {"/dev/nvgpu/igpu0/as", "/dev/nvhost-as-gpu", open_as},
    {"/dev/nvgpu/igpu0/channel", "/dev/nvhost-gpu", open_channel},
    {"/dev/nvgpu/igpu0/tsg", "/dev/nvhost-tsg-gpu", open_tsg},
    {NVGPU_POWER_NODE, "/dev/nvhost-power-gpu", emu_power_open},
    {"/dev/nvgpu/igpu0/nvsched", "/dev/nvhost-nvsched-gpu", open_refused},
    {"/dev/nvgpu/igpu0/nvsched_ctrl_fifo", "/dev/nvhost-nvsched_ctrl_fifo-gpu", open_refused},
    {"/dev/nvgpu/igpu0/ctxsw", "/dev/nvhost-ctxsw-gpu", open_refused},
    {"/dev/nvgpu/igpu0/dbg", "/dev/nvhost-dbg-gpu", open_refused},
    {"/dev/nvgpu/igpu0/prof", "/dev/nvhost-prof-gpu", open_refused},
    {"/dev/nvgpu/igpu0/prof-ctx", "/dev/nvhost-prof-ctx-gpu", open_refused},
    {"/dev/nvgpu/igpu0/prof-dev", "/dev/nvhost-prof-dev-gpu", open_refused},
    {"/dev/nvgpu/igpu0/sched", "/dev/nvhost-sched-gpu", open_refused},
    {HOST1X_FENCE_NODE, NULL, emu_host1x_open},
    {NVHOST_CTRL_NODE, NULL, emu_nvhost_open},
    {EMULATOR_NODE_PATH, NULL, emu_counters_open},
};

static const struct node *find_node(const char *path) {
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
    if ((nodes[i].open == emu_host1x_open || nodes[i].open == emu_nvhost_open) &&
        strcmp(nodes[i].path, emu_release()->fence_node) != 0)
      continue;
    if (strcmp(path, nodes[i].path) == 0 ||
        (nodes[i].old_path && strcmp(path, nodes[i].old_path) == 0))
      return &nodes[i];
  }
  return NULL;
}

bool emulator_node_status(const char *path, struct stat *status) {
  const struct node *node = path ? find_node(path) : NULL;
  if (!node)
    return false;
  bool refused = node->open == open_refused;
  *status = (struct stat){
      .st_mode = S_IFCHR | (refused ? S_IRUSR | S_IWUSR : NODE_MODE),
      .st_nlink = 1,
      .st_gid = refused ? 0 : getegid(), /* a group of the process, as if it were "video" */
      .st_rdev = makedev(NODE_MAJOR, NODE_FIRST_MINOR + (unsigned)(node - nodes)),
      .st_blksize = GPU_PAGE_BYTES,
  };
  return true;
}

static int emulator_open(const char *path, int flags) {
  const struct node *node = find_node(path);
  if (!node)
    return -ENOENT;
  if (emu_options()->bad)
    return -ENODEV;
  int result = emu_inject_open(path);
  if (result)
    return result;
  pthread_mutex_lock(&emu_gpu.lock);
  device_start();
  result = node->open();
  pthread_mutex_unlock(&emu_gpu.lock);
  if (result < 0)
    emu_device_stop_if_unused();
  return result;
}

static int emulator_close(int fd) {
  pthread_mutex_lock(&emu_gpu.lock);
  int result = emu_table_close(fd);
  pthread_mutex_unlock(&emu_gpu.lock);
  emu_device_stop_if_unused();
  return result;
}

static int emulator_ioctl(int fd, unsigned long request, void *argument) {
  int result = emu_inject_request((uint32_t)request, argument);
  pthread_mutex_lock(&emu_gpu.lock);
  struct emu_object *object = emu_table_get(fd);
  if (result) {
    struct emu_channel *channel = emu_table_get_kind(fd, EMU_CHANNEL);
    if (channel && (uint32_t)request == (uint32_t)NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE)
      channel->preemption_refused = true;
  } else if (object) {
    result = object->ops->ioctl ? object->ops->ioctl(object, fd, request, argument) : -ENOTTY;
  } else {
    result = fcntl(fd, F_GETFD) < 0 ? -EBADF : -ENOTTY;
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  return result;
}

/* Returns the flags for a mapping of fd. nvmap also shares private mappings: nvmap, nvmap_dmabuf.c,
 * __nvmap_map. An fd opened for reading cannot imitate that for a writable mapping. */
static int mapping_flags(int fd, int protection, int flags) {
  if ((flags & MAP_TYPE) != MAP_PRIVATE || !emu_table_get_kind(fd, EMU_DMABUF) ||
      ((protection & PROT_WRITE) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY))
    return flags;
  return (flags & ~MAP_TYPE) | MAP_SHARED;
}

static void *emulator_mmap(void *address, size_t length, int protection, int flags, int fd,
                           off_t offset, int *error) {
  void *mapping = NULL;
  *error = 0;
  pthread_mutex_lock(&emu_gpu.lock);
  struct emu_object *object = emu_table_get(fd);
  if (object)
    *error =
        object->ops->mmap ? object->ops->mmap(object, fd, length, protection, offset) : -ENODEV;
  if (!*error) {
    mapping = mmap(address, length, protection, mapping_flags(fd, protection, flags), fd, offset);
    if (mapping == MAP_FAILED) {
      *error = -errno;
      mapping = NULL;
    }
  }
  /* docs/hardware/kernel-interface.md 4.1 and 4.3: a child of fork does not inherit these
   * mappings */
  if (mapping && object)
    madvise(mapping, length, MADV_DONTFORK);
  if (mapping && object && object->ops->mapped)
    object->ops->mapped(object, fd, mapping, length, protection);
  pthread_mutex_unlock(&emu_gpu.lock);
  return mapping;
}

static int emulator_munmap(void *address, size_t length) {
  pthread_mutex_lock(&emu_gpu.lock);
  int result = munmap(address, length) < 0 ? -errno : 0;
  const bool dropped = result == 0 && emu_usermode_unmapped(address, length);
  pthread_mutex_unlock(&emu_gpu.lock);
  if (dropped)
    emu_device_stop_if_unused();
  return result;
}

/* Converts the results of poll to those that the driver would report. Returns how many fds are
 * ready, which may be fewer because another thread has read an event. */
static int take_events(struct pollfd *fds, const struct pollfd *polled, unsigned count) {
  int ready = 0;
  pthread_mutex_lock(&emu_gpu.lock);
  for (unsigned i = 0; i < count; i++) {
    fds[i].revents = polled[i].revents;
    const struct emu_object *object = fds[i].revents ? emu_table_get(fds[i].fd) : NULL;
    if (object && object->ops->poll)
      object->ops->poll(&fds[i]);
    ready += fds[i].revents != 0;
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  return ready;
}

static int poll_events(struct pollfd *fds, struct pollfd *polled, unsigned count, int timeout_ms) {
  enum { NS_PER_MS = 1000000 };
  const uint64_t start = timeout_ms > 0 ? emu_time_ns() : 0;
  for (int left = timeout_ms;;) {
    const int found = poll(polled, count, left);
    if (found < 0)
      return -errno;
    const int ready = take_events(fds, polled, count);
    if (!found || ready || !left)
      return ready;
    if (timeout_ms > 0) {
      const uint64_t passed = (emu_time_ns() - start) / NS_PER_MS;
      left = passed < (uint64_t)timeout_ms ? timeout_ms - (int)passed : 0;
    }
  }
}

static bool is_interrupted(int timeout_ms) {
  if (!timeout_ms || !emu_adversary.on)
    return false;
  pthread_mutex_lock(&emu_gpu.lock);
  const bool interrupted = emu_adversary_interrupts();
  pthread_mutex_unlock(&emu_gpu.lock);
  return interrupted;
}

/* The driver reports an event once, as POLLPRI and POLLIN. Here the fd is an eventfd, which only
 * supports POLLIN and stays readable (docs/hardware/kernel-interface.md 3.6, 6). */
static int emulator_poll(struct pollfd *fds, unsigned count, int timeout_ms) {
  if (is_interrupted(timeout_ms))
    return -EINTR;
  struct pollfd *polled = calloc(count ? count : 1, sizeof(*polled));
  if (!polled)
    return -ENOMEM;
  for (unsigned i = 0; i < count; i++) {
    polled[i] = fds[i];
    if ((fds[i].events & POLLPRI) && emulator_is_event(fds[i].fd))
      polled[i].events |= POLLIN;
  }
  const int ready = poll_events(fds, polled, count, timeout_ms);
  free(polled);
  return ready;
}

/* Passes the token to the engine directly, so the store is not needed. The read raises SIGBUS if
 * the page is missing, as on a board. */
static void emulator_doorbell(void *usermode_page, uint32_t token) {
  (void)*(volatile uint32_t *)usermode_page;
  if (!emu_injected(EMU_PLACE_DOORBELL))
    emu_doorbell(token);
}

const struct nvgpu_os nvgpu_os_emulator = {
    .name = "emulator",
    .open = emulator_open,
    .close = emulator_close,
    .ioctl = emulator_ioctl,
    .mmap = emulator_mmap,
    .munmap = emulator_munmap,
    .poll = emulator_poll,
    .doorbell = emulator_doorbell,
};
