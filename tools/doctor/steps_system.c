/* Steps about the system: release, nodes, device. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/board_file.h"
#include "runtime/device/device.h"
#include "tools/doctor/advice.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/explain.h"
#include "tools/doctor/state.h"

/* Prints whether the driver uses the results of an earlier run. */
static void say_board_file(struct doctor *d) {
  struct rt_board_identity here;
  struct rt_board_results results = {0};
  char why[256];
  rt_board_identify(false, &here);
  const int result = rt_board_read(RT_BOARD_FILE, 0, 0, &here, &results, why);
  if (result < 0)
    doctor_say(d, "%s does not exist: the driver uses its default choices", RT_BOARD_FILE);
  else if (result == 0)
    doctor_say(d, "%s is used", RT_BOARD_FILE);
  else
    doctor_say(d, "%s is not used: %s", RT_BOARD_FILE, why);
}

bool step_system(struct doctor *d) {
  struct utsname system;
  doctor_say(d, "tegracl %s, GPU through \"%s\"", TEGRACL_VERSION, d->os->name);
  if (d->os == &nvgpu_os_emulator)
    doctor_say(d, "this is the software Orin, not a board; if this is a board whose nodes are "
                  "missing, set TEGRACL_DEVICE=board");
  if (uname(&system) == 0)
    doctor_say(d, "%s %s on %s", system.sysname, system.release, system.machine);
  doctor_say(d, "page size %ld, %ld CPUs", sysconf(_SC_PAGESIZE), sysconf(_SC_NPROCESSORS_ONLN));
  advise_release(d, "/etc/nv_tegra_release");
  if (d->os == &nvgpu_os_linux) {
    say_board_file(d);
    state_say(d, "");
  } else {
    state_say_memory(d, "");
  }
  return true;
}

/* ---- nodes ------------------------------------------------------------------------ */

static bool in_group(gid_t group) {
  gid_t groups[256];
  int n = getgroups(sizeof(groups) / sizeof(groups[0]), groups);
  for (int i = 0; i < n; i++)
    if (groups[i] == group)
      return true;
  return getegid() == group;
}

/* Prints who may open a node. Prints only the names of system
 * groups, because others may be personal. */
static void say_rights(struct doctor *d, const struct stat *s) {
  enum { USER_IDS_FROM = 1000 };
  const struct group *group = s->st_gid < USER_IDS_FROM ? getgrgid(s->st_gid) : NULL;
  doctor_say(d, "  mode %04o, owner %s, group %s; this process is %sin that group%s",
             s->st_mode & 07777, s->st_uid ? "not root" : "root",
             group ? group->gr_name : "of a user", in_group(s->st_gid) ? "" : "not ",
             geteuid() ? "" : ", and root");
}

/* NULL: not known. */
static const struct stat *node_status(const struct doctor *d, const char *path,
                                      struct stat *status) {
  return d->os == &nvgpu_os_linux && stat(path, status) == 0 ? status : NULL;
}

/* Opens a node and prints the result. needed means that the driver
 * cannot work without it. Returns 0 or -errno. */
static int try_node(struct doctor *d, const char *path, const char *use, bool needed) {
  int fd = d->os->open(path, O_RDWR);
  if (fd >= 0) {
    doctor_say(d, "%s: opened (%s)", path, use);
    d->os->close(fd);
  } else {
    doctor_say(d, "%s: %s, errno %d (%s)", path, strerror(-fd), -fd, use);
  }
  struct stat status;
  const struct stat *known = node_status(d, path, &status);
  if (known)
    say_rights(d, known);
  if (fd < 0 && needed)
    advise_node(d, path, known, fd);
  return fd < 0 ? fd : 0;
}

bool step_nodes(struct doctor *d) {
  struct stat status;
  int memory = try_node(d, NVMAP_NODE, "memory", true);
  int control = try_node(d, NVGPU_CTRL_NODE, "everything else", false);
  if (control == -ENOENT &&
      try_node(d, NVGPU_CTRL_NODE_OLD, "everything else, old name", false) == 0)
    doctor_advise(
        d, "only the old name exists: this release is older than L4T r35, which tegracl does not "
           "support: install JetPack 6");
  else if (control)
    advise_node(d, NVGPU_CTRL_NODE, node_status(d, NVGPU_CTRL_NODE, &status), control);
  if (try_node(d, HOST1X_FENCE_NODE, "sleeping waits", false) &&
      try_node(d, NVHOST_CTRL_NODE, "the same on L4T r35", false))
    doctor_say(d, "  waits will poll instead of sleeping");
  return memory == 0 && control == 0;
}

/* ---- device ----------------------------------------------------------------------- */

static void say_struct(struct doctor *d, const char *name, const void *data, size_t bytes) {
  const struct nvgpu_struct *type = nvgpu_struct_find(name);
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f)
    return;
  explain_struct(f, type, data, NULL, bytes);
  if (fclose(f) == 0)
    doctor_say(d, "%s:%s", name, text);
  free(text);
}

/* Prints the characteristics before the driver checks them. */
static void say_characteristics(struct doctor *d) {
  struct nvgpu_gpu_characteristics c = {0};
  struct nvgpu_gpu_get_characteristics args = {.gpu_characteristics_buf_size = sizeof(c),
                                               .gpu_characteristics_buf_addr = (uintptr_t)&c};
  int fd = d->os->open(NVGPU_CTRL_NODE, O_RDWR);
  if (fd < 0)
    return;
  uint64_t start = base_clock_ns();
  int result = d->os->ioctl(fd, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, &args);
  doctor_say(
      d,
      "GET_CHARACTERISTICS: %d, %llu bytes of %zu, in %.3f ms (the first call powers the GPU up)",
      result, (unsigned long long)args.gpu_characteristics_buf_size, sizeof(c),
      (double)(base_clock_ns() - start) / 1e6);
  c.per_device_identifier = 0; /* identifies the board */
  if (result == 0 && args.gpu_characteristics_buf_size >= sizeof(c))
    say_struct(d, "nvgpu_gpu_characteristics", &c, sizeof(c));
  else if (result == 0)
    doctor_say(d, "%s, whose fields have different offsets; GPU 0x%x.0x%x, revision 0x%x",
               nvgpu_release_find(args.gpu_characteristics_buf_size)
                   ? "L4T r35"
                   : "an older release than L4T r35",
               c.arch, c.impl, c.rev);
  d->os->close(fd);
}

bool step_device(struct doctor *d) {
  say_characteristics(d);
  if (rt_device_create(d->os, &d->device))
    return doctor_say_failure(d);
  const struct rt_device_info *i = rt_device_info(d->device);
  doctor_say(d, "%s%s, %s", i->chip, i->emulated ? " (the software Orin)" : "",
             i->board[0] ? i->board : "board unknown");
  doctor_say(d,
             "%u SMs of at most %u in %u TPCs, at most %u MHz; %llu MiB of memory, %llu KiB of L2",
             i->sm_count, i->tpc_count * SMS_PER_TPC, i->tpc_count, i->max_clock_mhz,
             (unsigned long long)i->memory_bytes >> 20, (unsigned long long)i->l2_bytes >> 10);
  doctor_say(d, "preemption within kernels %s, syncpoint fences %s",
             d->device->preemptions & NVGPU_PREEMPT_COMPUTE_CILP ? "offered" : "not offered",
             d->device->fence_fd >= 0 ? "offered" : "not offered");
  return true;
}
