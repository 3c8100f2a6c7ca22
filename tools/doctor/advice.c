/* Advice: see advice.h. Commands are for L4T and Debian, where apt installs packages. */
#include "tools/doctor/advice.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/find.h"
#include "tools/doctor/state.h"

/* The first line of a file. False if there is none. */
static bool read_line(const char *path, char *line, int size) {
  FILE *f = fopen(path, "re");
  bool good = f && fgets(line, size, f);
  if (f)
    fclose(f);
  if (good)
    line[strcspn(line, "\n")] = 0;
  return good;
}

/* ---- release ------------------------------------------------------------------------ */

/* docs/hardware/kernel-interface.md 9 */
enum { L4T_KNOWN = 36, L4T_OLDER = 35 };

/* The number after words, wherever they stand in the line. */
static bool number_behind(const char *line, const char *words, unsigned long *number) {
  const char *at = strstr(line, words);
  char *end = NULL;
  if (!at)
    return false;
  at += strlen(words);
  *number = strtoul(at, &end, 10);
  return end != at;
}

void advise_release(struct doctor *d, const char *file) {
  char line[256];
  unsigned long major, minor;
  if (!read_line(file, line, sizeof(line)))
    return;
  say(d, "release: %s", line);
  if (!number_behind(line, "# R", &major) || !number_behind(line, "REVISION: ", &minor))
    say(d, "this is not how L4T names its releases: which JetPack it is, is unknown");
  else if (major == L4T_KNOWN)
    say(d, "L4T r%lu.%lu: JetPack 6, for which tegracl is made", major, minor);
  else if (major == L4T_OLDER)
    say(d,
        "L4T r%lu.%lu: JetPack 5, whose kernel interface tegracl speaks; what the compiler needs "
        "there is in docs/guide.md",
        major, minor);
  else if (major < L4T_OLDER)
    say(d,
        "L4T r%lu.%lu is older than JetPack 5; tegracl does not speak its kernel's interface: "
        "flash JetPack 6 with NVIDIA's sdkmanager",
        major, minor);
  else
    say(d,
        "L4T r%lu.%lu is newer than JetPack 6 and not known to tegracl: the steps below tell "
        "how far it gets; please attach this report, and the trace that "
        "TEGRACL_DEBUG=trace:tegracl.trace tegracl-doctor writes, to a bug",
        major, minor);
}

/* ---- nodes -------------------------------------------------------------------------- */

static void advise_rights(struct doctor *d, const char *path, const struct stat *status) {
  static const char l4t_group[] = "video"; /* of L4T's udev rules, 99-tegra-devices.rules */
  const mode_t both = S_IRGRP | S_IWGRP;
  const struct group *group = status ? getgrgid(status->st_gid) : NULL;
  const char *name = group ? group->gr_name : l4t_group;
  if (!status || ((status->st_mode & both) == both && status->st_gid != 0))
    advise(d, "permission denied: sudo usermod -aG %s \"$USER\", then log in again", name);
  else
    advise(d,
           "permission denied, and L4T's udev rules are not at work: "
           "sudo chgrp %s %s && sudo chmod 660 %s, until the next start; "
           "sudo usermod -aG %s \"$USER\", then log in again",
           l4t_group, path, path, l4t_group);
}

void advise_node(struct doctor *d, const char *path, const struct stat *status, int error) {
  switch (-error) {
  case EACCES:
  case EPERM:
    advise_rights(d, path, status);
    break;
  case ENOENT:
  case ENOTDIR:
    advise(d, "the node does not exist: is this a Jetson with NVIDIA's kernel? Load the driver: "
              "sudo modprobe nvgpu. A container must be given the nodes: "
              "docker run --runtime nvidia, or --device for each");
    break;
  case ENODEV:
  case ENXIO:
    advise(d, "the node has no driver: nvgpu did not find or start its GPU; see "
              "sudo dmesg | grep -i nvgpu");
    break;
  default:
    advise(d, "the driver itself refused; see sudo dmesg | grep -iE 'nvgpu|nvmap'");
    break;
  }
}

/* ---- requests --------------------------------------------------------------------------- */

#define DMESG "sudo dmesg | grep -iE 'nvgpu|nvmap|host1x'"

void advise_bug(struct doctor *d) {
  advise(d, "please attach this report and the output of " DMESG " to a bug");
}

void advise_no_answer(struct doctor *d) {
  if (d->os == &nvgpu_os_linux) {
    state_say_power(d, "");
    state_say_kernel_log(d);
  }
  advise(d,
         "see why in " DMESG "; close the programs that use the GPU and try again; "
         "if it fails again, reboot the board: a channel that does not answer may block the GPU");
}

void advise_error(struct doctor *d, int error) {
  switch (-error) {
  case EACCES:
  case EPERM:
    advise(d, "permission denied: sudo usermod -aG video \"$USER\", then log in again; in a "
              "container, its rights");
    break;
  case ENOENT:
  case ENODEV:
  case ENXIO:
    advise(d, "load the driver: sudo modprobe nvgpu; if that is the same: " DMESG);
    break;
  case ENOMEM:
    state_say_memory(d, "");
    advise(d, "memory is short, or channels and address space are used up: close other programs "
              "(free -m shows memory, sudo fuser -v /dev/nvmap who uses the GPU) and try again");
    break;
  case EMFILE:
  case ENFILE:
    advise(d, "raise the limit of open files: ulimit -n 4096");
    break;
  case ENOTTY:
    advise(d, "this kernel's interface is another than L4T r36's: install JetPack 6, or attach "
              "this report to a bug");
    break;
  case EBUSY:
    advise(d,
           "another program holds it: sudo fuser -v /dev/nvmap shows which; close it, or reboot");
    break;
  default:
    advise_bug(d);
    break;
  }
}

/* ---- compiler ----------------------------------------------------------------------- */

/* A part, where it is or what its variable is and what helps. */
static void say_part(struct doctor *d, const char *name, bool found, const char *path,
                     const char *variable, const char *help) {
  const char *forced = getenv(variable);
  if (found)
    say(d, "%s: %s", name, path);
  else if (forced && *forced)
    advise(d, "%s: not where %s says, %s: unset %s", name, variable, forced, variable);
  else
    advise(d, "%s: not found; %s", name, help);
}

void advise_compiler(struct doctor *d) {
  char path[CC_PATH_MAX], translator[CC_PATH_MAX], whole[PATH_MAX];
  char install[64];
  say_part(d, "tegraclc", cc_find_tegraclc(path), path, "TEGRACL_COMPILER",
           "sudo apt install --reinstall tegracl");
  snprintf(install, sizeof(install), "sudo apt install clang-%d", TEGRACL_LLVM_MAJOR);
  say_part(d, "clang", cc_find_clang(path), path, "TEGRACL_CLANG", install);
  const bool nvrtc = cc_find_nvrtc(path);
  say_part(d, "NVRTC", nvrtc, path, "TEGRACL_NVRTC", CC_NVRTC_HELP);
  if (nvrtc && realpath(path, whole) && strcmp(path, whole) != 0)
    say(d, "  that is %s", whole); /* its name has the version */
  if (cc_find_spirv_tools(path, translator))
    say(d, "for SPIR-V: %s, %s", path, translator);
  else
    say(d,
        "for SPIR-V and OpenCL 3.1 (without it the device is one of OpenCL 3.0): sudo apt install "
        "spirv-tools llvm-spirv-%d",
        TEGRACL_LLVM_MAJOR);
}

/* ---- the loader's list --------------------------------------------------------------- */

#define LIBRARY "libtegracl.so.1"

/* The folder of the driver that belongs to this program: of a build, or installed. */
static bool own_library_folder(char path[PATH_MAX]) {
  static const char *const places[] = {"../../icd", "../lib/*", "../lib"};
  char self[PATH_MAX], pattern[2 * PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (length <= 0)
    return false;
  self[length] = 0;
  *strrchr(self, '/') = 0;
  bool found = false;
  for (size_t i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++) {
    glob_t matches;
    snprintf(pattern, sizeof(pattern), "%s/%s/" LIBRARY, self, places[i]);
    if (glob(pattern, 0, NULL, &matches) == 0) {
      *strrchr(matches.gl_pathv[0], '/') = 0;
      found = realpath(matches.gl_pathv[0], path) != NULL;
      globfree(&matches);
    }
  }
  return found;
}

static void say_registration(struct doctor *d, const char *file) {
  char folder[PATH_MAX];
  if (own_library_folder(folder))
    advise(d, "echo %s/" LIBRARY " | sudo tee %s", folder, file);
  else
    advise(d, "sudo apt install --reinstall tegracl");
}

void advise_vendors(struct doctor *d, const char *folder) {
  char file[PATH_MAX], library[PATH_MAX];
  const char *forced = getenv("OCL_ICD_VENDORS");
  if (forced)
    advise(d, "the loader goes by OCL_ICD_VENDORS=%s alone: unset OCL_ICD_VENDORS", forced);
  snprintf(file, sizeof(file), "%s/tegracl.icd", folder);
  if (!read_line(file, library, sizeof(library))) {
    say(d, "there is no %s, by which the loader would find tegracl:", file);
    say_registration(d, file);
  } else if (!dlopen(library, RTLD_LAZY | RTLD_LOCAL)) {
    say(d, "%s names a library that cannot be loaded: %s", file, dlerror());
    say_registration(d, file);
  } else {
    say(d, "%s names %s, which can be loaded", file, library);
  }
}
