/* Prints advice. The commands are for L4T and Debian, which install packages with apt. */
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

/* ---- release ------------------------------------------------------------------------ */

/* Major releases of L4T: docs/hardware/kernel-interface.md 10. */
enum { L4T_KNOWN = 36, L4T_OLDER = 35 };

/* Reads the number after the first occurrence of words in the line. */
static bool number_after(const char *line, const char *words, unsigned long *number) {
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
  if (!state_first_line("", file, line, sizeof(line)))
    return;
  doctor_say(d, "release: %s", line);
  if (!number_after(line, "# R", &major) || !number_after(line, "REVISION: ", &minor))
    doctor_say(d, "unknown release: the line does not have L4T's format");
  else if (major == L4T_KNOWN)
    doctor_say(d, "L4T r%lu.%lu: JetPack 6, which tegracl is made for", major, minor);
  else if (major == L4T_OLDER)
    doctor_say(
        d,
        "L4T r%lu.%lu: JetPack 5, which tegracl supports; docs/guide.md lists the compiler's "
        "requirements there",
        major, minor);
  else if (major < L4T_OLDER)
    doctor_say(
        d,
        "L4T r%lu.%lu is older than JetPack 5, and tegracl does not support its kernel interface: "
        "install JetPack 6 with NVIDIA's sdkmanager",
        major, minor);
  else
    doctor_say(
        d,
        "L4T r%lu.%lu is newer than JetPack 6 and unknown to tegracl: the steps below show what "
        "works; please report a bug with this report and the trace that "
        "TEGRACL_DEBUG=trace:tegracl.trace tegracl-doctor writes",
        major, minor);
}

/* ---- nodes -------------------------------------------------------------------------- */

static void advise_rights(struct doctor *d, const char *path, const struct stat *status) {
  static const char l4t_group[] = "video"; /* in L4T's udev rules, 99-tegra-devices.rules */
  const mode_t both = S_IRGRP | S_IWGRP;
  const struct group *group = status ? getgrgid(status->st_gid) : NULL;
  const char *name = group ? group->gr_name : l4t_group;
  if (!status || ((status->st_mode & both) == both && status->st_gid != 0))
    doctor_advise(d, "permission denied: sudo usermod -aG %s \"$USER\", then log in again", name);
  else
    doctor_advise(d,
                  "permission denied, and L4T's udev rules are not in effect: "
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
    doctor_advise(
        d, "the node does not exist: is this a Jetson with NVIDIA's kernel? Load the driver: "
           "sudo modprobe nvgpu. A container must be given the nodes: "
           "docker run --runtime nvidia, or --device for each");
    break;
  case ENODEV:
  case ENXIO:
    doctor_advise(d, "the node has no driver: nvgpu did not find or start the GPU; see sudo dmesg "
                     "| grep -i nvgpu");
    break;
  default:
    doctor_advise(d, "the driver itself refused the request; see sudo dmesg | grep -iE "
                     "'nvgpu|nvmap'");
    break;
  }
}

/* ---- requests --------------------------------------------------------------------------- */

#define DMESG "sudo dmesg | grep -iE 'nvgpu|nvmap|host1x'"

void advise_bug(struct doctor *d) {
  doctor_advise(d, "please attach this report and the output of " DMESG " to a bug");
}

void advise_no_answer(struct doctor *d) {
  if (d->os == &nvgpu_os_linux) {
    state_say_power(d, "");
    state_say_kernel_log(d);
  }
  doctor_advise(
      d, "see why in " DMESG "; close the programs that use the GPU and try again; "
         "if it fails again, reboot the board: a channel that does not answer may block the GPU");
}

void advise_error(struct doctor *d, int error) {
  switch (-error) {
  case EACCES:
  case EPERM:
    doctor_advise(d, "permission denied: sudo usermod -aG video \"$USER\", then log in again; a "
                     "container must be given the nodes");
    break;
  case ENOENT:
  case ENODEV:
  case ENXIO:
    doctor_advise(d, "load the driver: sudo modprobe nvgpu; if that does not help, see " DMESG);
    break;
  case ENOMEM:
    state_say_memory(d, "");
    doctor_advise(
        d, "out of memory, channels or address space: close other programs (free -m shows memory, "
           "sudo fuser -v /dev/nvmap the users of the GPU) and try again");
    break;
  case EMFILE:
  case ENFILE:
    doctor_advise(d, "raise the limit of open files: ulimit -n 4096");
    break;
  case ENOTTY:
    doctor_advise(d, "this kernel's interface is not L4T r36's: install JetPack 6, or attach "
                     "this report to a bug");
    break;
  case EBUSY:
    doctor_advise(
        d, "another program is using it: find it with sudo fuser -v /dev/nvmap and close it, or "
           "reboot");
    break;
  default:
    advise_bug(d);
    break;
  }
}

/* ---- compiler ----------------------------------------------------------------------- */

/* Prints the path of a part, or how to install it. The environment variable overrides the path. */
static void say_part(struct doctor *d, const char *name, bool found, const char *path,
                     const char *variable, const char *help) {
  const char *forced = getenv(variable);
  if (found)
    doctor_say(d, "%s: %s", name, path);
  else if (forced && *forced)
    doctor_advise(d, "%s: %s=%s does not lead to it: unset %s", name, variable, forced, variable);
  else
    doctor_advise(d, "%s: not found; %s", name, help);
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
    doctor_say(d, "  which is %s", whole); /* its name has the version */
  if (cc_find_spirv_tools(path, translator))
    doctor_say(d, "for SPIR-V: %s, %s", path, translator);
  else
    doctor_say(
        d,
        "for SPIR-V and OpenCL 3.1 (without it the device reports OpenCL 3.0): sudo apt install "
        "spirv-tools llvm-spirv-%d",
        TEGRACL_LLVM_MAJOR);
}

/* ---- the ICD loader ------------------------------------------------------------------ */

#define LIBRARY "libtegracl.so.1"

/* Finds the folder of the driver that was built or installed together with this program. */
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
    doctor_advise(d, "echo %s/" LIBRARY " | sudo tee %s", folder, file);
  else
    doctor_advise(d, "sudo apt install --reinstall tegracl");
}

void advise_vendors(struct doctor *d, const char *folder) {
  char file[PATH_MAX], library[PATH_MAX];
  const char *forced = getenv("OCL_ICD_VENDORS");
  if (forced)
    doctor_advise(d, "the loader reads only OCL_ICD_VENDORS=%s: unset OCL_ICD_VENDORS", forced);
  snprintf(file, sizeof(file), "%s/tegracl.icd", folder);
  if (!state_first_line("", file, library, sizeof(library))) {
    doctor_say(d, "%s does not exist, so the loader cannot find tegracl:", file);
    say_registration(d, file);
  } else if (!dlopen(library, RTLD_LAZY | RTLD_LOCAL)) {
    doctor_say(d, "%s refers to a library that cannot be loaded: %s", file, dlerror());
    say_registration(d, file);
  } else {
    doctor_say(d, "%s refers to %s, which can be loaded", file, library);
  }
}
