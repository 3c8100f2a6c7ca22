/* Prints the state of the system. */
#include "tools/doctor/state.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

bool state_first_line(const char *root, const char *path, char *line, int size) {
  char name[PATH_MAX];
  snprintf(name, sizeof(name), "%s%s", root, path);
  FILE *f = fopen(name, "re");
  bool good = f && fgets(line, size, f);
  if (f)
    fclose(f);
  if (good)
    line[strcspn(line, "\n")] = 0;
  return good;
}

static void say_first(struct doctor *d, const char *root, const char *what, const char *path) {
  char line[256];
  if (state_first_line(root, path, line, sizeof(line)))
    doctor_say(d, "%s: %s", what, line);
}

/* ---- power and clocks ------------------------------------------------------------------ */

/* Finds the GPU's folder as a platform device. Its name depends on the L4T release. */
static bool gpu_folder(const char *root, char *path, size_t size) {
  static const char *const places[] = {"/sys/devices/platform/gpu.0",
                                       "/sys/devices/platform/17000000.gpu",
                                       "/sys/devices/platform/bus@0/17000000.gpu"};
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s%s/power", root, places[i]);
    if (access(full, F_OK) == 0) {
      snprintf(path, size, "%s", places[i]);
      return true;
    }
  }
  return false;
}

static void say_clocks(struct doctor *d, const char *root) {
  static const char *const files[] = {"governor", "cur_freq", "min_freq", "max_freq"};
  char pattern[PATH_MAX], line[64];
  glob_t found;
  snprintf(pattern, sizeof(pattern), "%s/sys/class/devfreq/*gpu*", root);
  if (glob(pattern, 0, NULL, &found))
    return;
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "/%s", files[i]);
    if (state_first_line(found.gl_pathv[0], path, line, sizeof(line)))
      doctor_say(d, "GPU clock, %s: %s", files[i], line);
  }
  globfree(&found);
}

void state_say_power(struct doctor *d, const char *root) {
  static const char *const files[] = {"power/control", "power/runtime_status",
                                      "power/autosuspend_delay_ms", "railgate_enable"};
  char folder[64], path[128];
  if (!gpu_folder(root, folder, sizeof(folder))) {
    doctor_say(d, "power: cannot find the GPU's folder in /sys/devices/platform");
    return;
  }
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
    say_first(d, root, files[i], path);
  }
}

/* ---- memory ------------------------------------------------------------------------------ */

void state_say_memory(struct doctor *d, const char *root) {
  char path[PATH_MAX], line[128];
  snprintf(path, sizeof(path), "%s/proc/meminfo", root);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof(line), f)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "MemTotal:", 9) == 0 || strncmp(line, "MemAvailable:", 13) == 0)
      doctor_say(d, "%s", line);
  }
  if (f)
    fclose(f);
}

/* ---- processes that use the GPU ------------------------------------------------------------- */

static bool is_node(const char *target) {
  return strncmp(target, "/dev/nvgpu/", 11) == 0 || strncmp(target, "/dev/nvhost-", 12) == 0 ||
         strcmp(target, "/dev/nvmap") == 0;
}

/* Returns whether the process has opened a node of the GPU, as far as this user may inspect it. */
static bool holds_node(const char *root, const char *pid) {
  char folder[PATH_MAX], target[256];
  snprintf(folder, sizeof(folder), "%s/proc/%s/fd", root, pid);
  DIR *fds = opendir(folder);
  bool found = false;
  for (const struct dirent *e; fds && !found && (e = readdir(fds));) {
    const ssize_t n = readlinkat(dirfd(fds), e->d_name, target, sizeof(target) - 1);
    if (n > 0) {
      target[n] = 0;
      found = is_node(target);
    }
  }
  if (fds)
    closedir(fds);
  return found;
}

static void say_users(struct doctor *d, const char *root) {
  char path[PATH_MAX], name[64];
  unsigned count = 0;
  snprintf(path, sizeof(path), "%s/proc", root);
  DIR *processes = opendir(path);
  for (const struct dirent *e; processes && (e = readdir(processes));) {
    if (!isdigit((unsigned char)e->d_name[0]) || !holds_node(root, e->d_name))
      continue;
    snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
    doctor_say(d, "the GPU's nodes are open in %s (process %s)",
               state_first_line(root, path, name, sizeof(name)) ? name : "?", e->d_name);
    count++;
  }
  if (processes)
    closedir(processes);
  if (count == 0)
    doctor_say(d, "no process%s has the GPU's nodes open",
               geteuid() ? " that this user may inspect" : "");
}

/* ---- release -------------------------------------------------------------------------------- */

/* Prints the version of JetPack's package. */
static void say_jetpack(struct doctor *d, const char *root) {
  char path[PATH_MAX], line[256];
  bool ours = false;
  snprintf(path, sizeof(path), "%s/var/lib/dpkg/status", root);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof(line), f)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "Package: ", 9) == 0)
      ours = strcmp(line + 9, "nvidia-jetpack") == 0;
    else if (ours && strncmp(line, "Version: ", 9) == 0)
      doctor_say(d, "JetPack: %s", line + 9);
  }
  if (f)
    fclose(f);
}

void state_say(struct doctor *d, const char *root) {
  say_jetpack(d, root);
  say_first(d, root, "board", "/proc/device-tree/model");
  say_first(d, root, "nvpmodel", "/var/lib/nvpmodel/status");
  state_say_power(d, root);
  say_clocks(d, root);
  state_say_memory(d, root);
  say_users(d, root);
}

/* ---- the kernel's log ------------------------------------------------------------------------ */

static bool is_driver_line(const char *line) {
  static const char *const words[] = {"nvgpu", "nvmap", "host1x", "gk20a", "ga10b"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    if (strcasestr(line, words[i]))
      return true;
  return false;
}

void state_say_kernel_log(struct doctor *d) {
  enum { READ_ALL = 3, BYTES = 1 << 18, SHOWN = 20 };
  char *text = malloc(BYTES + 1);
  const int bytes = text ? klogctl(READ_ALL, text, BYTES) : -1;
  const char *lines[SHOWN];
  unsigned count = 0;
  if (bytes >= 0) {
    text[bytes] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
      if (is_driver_line(line))
        lines[count++ % SHOWN] = line;
    for (unsigned i = count > SHOWN ? count - SHOWN : 0; i < count; i++)
      doctor_say(d, "kernel: %s", lines[i % SHOWN]);
  }
  if (bytes < 0)
    doctor_say(d, "only root may read the kernel log: sudo dmesg | grep -iE 'nvgpu|nvmap|host1x' | "
                  "tail -20");
  else if (count == 0)
    doctor_say(d, "the kernel log has no lines from nvgpu, nvmap or host1x");
  free(text);
}
