/* Tests the doctor's advice: it must say what the machine lacks and which command helps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "tools/doctor/advice.h"

static char folder[] = "/tmp/tegracl-advice-XXXXXX";
static char *text;
static size_t text_size;
static struct report report;
static struct doctor doctor = {.report = &report};

static void begin_report(void) {
  free(text);
  text = NULL;
  report_begin(&report, open_memstream(&text, &text_size), NULL);
}

static void assert_says(const char *words) {
  fflush(report.screen);
  if (!strstr(text, words))
    fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void end_report(void) {
  fclose(report.screen);
  report_end(&report);
}

/* Writes a file in the folder. Returns its path, which is valid until the next call. */
static const char *write_file(const char *name, const char *content) {
  static char path[128];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(content, f);
  fclose(f);
  return path;
}

static void names_l4t_release(void **state) {
  static const struct {
    const char *line, *says;
  } cases[] = {
      {"# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\nmore\n",
       "L4T r36.4: JetPack 6, which tegracl is made for"},
      {"# R35 (release), REVISION: 5.0, GCID: 35550185, BOARD: t186ref, EABI: aarch64\n",
       "L4T r35.5: JetPack 5, which tegracl supports; docs/guide.md lists the compiler's "
       "requirements "
       "there"},
      {"# R32 (release), REVISION: 7.1, GCID: 29689809, BOARD: t186ref, EABI: aarch64\n",
       "L4T r32.7 is older than JetPack 5, and tegracl does not support its kernel interface: "
       "install "
       "JetPack 6 with NVIDIA's sdkmanager"},
      {"# R39 (release), REVISION: 1.0\n",
       "L4T r39.1 is newer than JetPack 6 and unknown to tegracl"},
      {"Tegra\n", "unknown release: the line does not have L4T's format"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    begin_report();
    advise_release(&doctor, write_file("release", cases[i].line));
    assert_says(cases[i].says);
    end_report();
  }
  begin_report();
  advise_release(&doctor, "/nowhere");
  fflush(report.screen);
  assert_int_equal(text_size, 0);
  end_report();
}

static void explains_refused_node(void **state) {
  enum { VIDEO = 44 }; /* group id on Debian and on L4T */
  static const struct {
    struct stat status;
    int error;
    const char *says;
  } cases[] = {
      {{.st_mode = S_IFCHR | 0660, .st_gid = VIDEO},
       -EACCES,
       "permission denied: sudo usermod -aG video \"$USER\", then log in again"},
      {{.st_mode = S_IFCHR | 0660},
       -EACCES,
       "udev rules are not in effect: sudo chgrp video /dev/nvmap && sudo chmod 660 /dev/nvmap"},
      {{.st_mode = S_IFCHR | 0600, .st_gid = VIDEO}, -EPERM, "sudo chmod 660 /dev/nvmap"},
      {{.st_mode = S_IFCHR | 0660, .st_gid = VIDEO}, -ENODEV, "sudo dmesg | grep -i nvgpu"},
      {{.st_mode = S_IFCHR | 0660, .st_gid = VIDEO}, -EBUSY, "the driver itself refused"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    begin_report();
    advise_node(&doctor, "/dev/nvmap", &cases[i].status, cases[i].error);
    assert_says(cases[i].says);
    end_report();
  }
  begin_report();
  advise_node(&doctor, "/dev/nvmap", NULL, -ENOENT);
  assert_says("sudo modprobe nvgpu");
  assert_says("docker run --runtime nvidia");
  end_report();
}

static void finds_parts_of_the_compiler(void **state) {
  setenv("TEGRACL_COMPILER", "/nowhere/c", 1);
  setenv("TEGRACL_CLANG", "/nowhere/clang", 1);
  setenv("TEGRACL_NVRTC", "/nowhere", 1);
  setenv("TEGRACL_SPIRV_VAL", "/nowhere/val", 1);
  begin_report();
  advise_compiler(&doctor);
  assert_says("tegraclc: TEGRACL_COMPILER=/nowhere/c does not lead to it: unset TEGRACL_COMPILER");
  assert_says("clang: TEGRACL_CLANG=/nowhere/clang does not lead to it: unset TEGRACL_CLANG");
  assert_says("NVRTC: TEGRACL_NVRTC=/nowhere does not lead to it: unset TEGRACL_NVRTC");
  assert_says("sudo apt install spirv-tools llvm-spirv-");
  end_report();
  setenv("TEGRACL_COMPILER", "/bin/true", 1);
  setenv("TEGRACL_CLANG", "/bin/true", 1);
  setenv("TEGRACL_NVRTC", write_file("libnvrtc.so.12", ""), 1);
  setenv("TEGRACL_SPIRV_VAL", "/bin/true", 1);
  setenv("TEGRACL_LLVM_SPIRV", "/bin/false", 1);
  begin_report();
  advise_compiler(&doctor);
  assert_says("tegraclc: /bin/true\n");
  assert_says("clang: /bin/true\n");
  assert_says("/libnvrtc.so.12\n");
  assert_says("for SPIR-V: /bin/true, /bin/false\n");
  end_report();
}

static void explains_missing_vendors_file(void **state) {
  setenv("OCL_ICD_VENDORS", "/elsewhere", 1);
  begin_report();
  advise_vendors(&doctor, folder);
  assert_says("the loader reads only OCL_ICD_VENDORS=/elsewhere: unset OCL_ICD_VENDORS");
  assert_says("/tegracl.icd does not exist, so the loader cannot find tegracl:");
  assert_says("/icd/libtegracl.so.1 | sudo tee ");
  end_report();
  unsetenv("OCL_ICD_VENDORS");
  begin_report();
  write_file("tegracl.icd", "/nowhere/libtegracl.so.1\n");
  advise_vendors(&doctor, folder);
  assert_says("refers to a library that cannot be loaded: /nowhere/libtegracl.so.1");
  assert_null(strstr(text, "OCL_ICD_VENDORS"));
  end_report();
  begin_report();
  write_file("tegracl.icd", "libc.so.6");
  advise_vendors(&doctor, folder);
  assert_says("refers to libc.so.6, which can be loaded");
  end_report();
}

static int clean_up(void **state) {
  static const char *const names[] = {"release", "libnvrtc.so.12", "tegracl.icd"};
  char path[128];
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
    unlink(path);
  }
  free(text);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_l4t_release),
      cmocka_unit_test(explains_refused_node),
      cmocka_unit_test(finds_parts_of_the_compiler),
      cmocka_unit_test(explains_missing_vendors_file),
  };
  return mkdtemp(folder) ? cmocka_run_group_tests(tests, NULL, clean_up) : EXIT_FAILURE;
}
