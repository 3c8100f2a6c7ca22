/* Tests the doctor's report about power, clocks, memory and users of the GPU, with files like those
 * of a board. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/doctor/state.h"

static char root[] = "/tmp/tegracl-state-XXXXXX";
static char *text;

/* Creates the folders of a path below root. */
static void make_folders(char *path) {
  for (char *at = path + sizeof(root); (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    mkdir(path, 0755);
  }
}

static void write_file(const char *name, const char *content) {
  char path[256];
  snprintf(path, sizeof(path), "%s%s", root, name);
  make_folders(path);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(content, f);
  fclose(f);
}

static void link_to(const char *target, const char *name) {
  char path[256];
  snprintf(path, sizeof(path), "%s%s", root, name);
  make_folders(path);
  assert_int_equal(symlink(target, path), 0);
}

static void print_state(void) {
  size_t size = 0;
  free(text);
  struct report report = {.screen = open_memstream(&text, &size)};
  struct doctor doctor = {.report = &report};
  state_say(&doctor, root);
  fclose(report.screen);
}

static void assert_says(const char *words) {
  if (!strstr(text, words))
    fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void reports_unknown_state(void **state) {
  (void)state;
  print_state();
  assert_says("cannot find the GPU's folder in /sys/devices/platform");
  assert_says("no process");
}

static void reports_state_of_a_board(void **state) {
  (void)state;
  write_file("/sys/devices/platform/17000000.gpu/power/control", "auto\n");
  write_file("/sys/devices/platform/17000000.gpu/power/runtime_status", "suspended\n");
  write_file("/sys/devices/platform/17000000.gpu/railgate_enable", "1\n");
  write_file("/sys/class/devfreq/17000000.gpu/governor", "nvhost_podgov\n");
  write_file("/sys/class/devfreq/17000000.gpu/cur_freq", "306000000\n");
  write_file("/var/lib/nvpmodel/status", "pmode:0002\n");
  write_file("/proc/meminfo", "MemTotal:  7800000 kB\nMemFree: 1 kB\nMemAvailable: 6500000 kB\n");
  write_file("/var/lib/dpkg/status",
             "Package: nvidia-cuda\nVersion: 12.6\n\n"
             "Package: nvidia-jetpack\nStatus: install\nVersion: 6.2+b77\n\n"
             "Package: zlib\nVersion: 1\n");
  write_file("/proc/42/comm", "Xorg\n");
  link_to("/dev/null", "/proc/42/fd/0");
  link_to("/dev/nvhost-ctrl-gpu", "/proc/42/fd/7");
  write_file("/proc/43/comm", "bash\n");
  link_to("/dev/nvmapper", "/proc/43/fd/0");
  print_state();
  assert_says("power/control: auto\n");
  assert_says("power/runtime_status: suspended\n");
  assert_says("railgate_enable: 1\n");
  assert_says("GPU clock, governor: nvhost_podgov\n");
  assert_says("GPU clock, cur_freq: 306000000\n");
  assert_says("nvpmodel: pmode:0002\n");
  assert_says("MemTotal:  7800000 kB\n");
  assert_says("MemAvailable: 6500000 kB\n");
  assert_says("JetPack: 6.2+b77\n");
  assert_says("the GPU's nodes are open in Xorg (process 42)\n");
  assert_null(strstr(text, "MemFree"));
  assert_null(strstr(text, "bash"));
  assert_null(strstr(text, "12.6"));
}

static int unlink_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s, (void)kind, (void)at;
  return remove(path);
}

static int clean_up(void **state) {
  (void)state;
  free(text);
  return nftw(root, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reports_unknown_state),
      cmocka_unit_test(reports_state_of_a_board),
  };
  return mkdtemp(root) ? cmocka_run_group_tests(tests, NULL, clean_up) : EXIT_FAILURE;
}
