/* The confinement of the helper process, seen from the inside: the fake compiler tries what a
 * program could do after taking over the helper. Each attack is first tried in an unconfined
 * helper, where it must succeed; otherwise its failure under confinement would prove nothing. The
 * test "confinement off" runs this program with TEGRACL_CONFINEMENT=0 and expects it to fail.
 * Attacks that the kernel does not support are skipped with a message. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/find.h"

static char folder[] = "/tmp/tegracl-confinement-XXXXXX";
static char file[64];

enum { INHERITED = 50 };

static int attack(const char *name, const char *argument) {
  static const struct cc_device device = {
      .sm = 87, .version = 310, .extensions = "", .c_features = ""};
  char text[1024];
  struct cc_result result;
  int error = -1;
  snprintf(text, sizeof(text), "attack %s %s", name, argument);
  const struct cc_source source = {text, strlen(text)};
  const struct cc_job job = {.device = &device, .sources = &source, .source_count = 1};
  if (cc_build(&job, &result) != CC_OK)
    fail_msg("%s: %s", name, result.log);
  assert_int_equal(sscanf(result.binary, "attack %d", &error), 1);
  cc_result_finish(&result);
  assert_int_not_equal(error, ENOENT);
  return error;
}

/* Runs the attack in an unconfined helper. */
static int attack_freely(const char *name, const char *argument) {
  char *before = getenv("TEGRACL_CONFINEMENT");
  before = before ? strdup(before) : NULL;
  setenv("TEGRACL_CONFINEMENT", "0", 1);
  const int error = attack(name, argument);
  if (before)
    setenv("TEGRACL_CONFINEMENT", before, 1);
  else
    unsetenv("TEGRACL_CONFINEMENT");
  free(before);
  return error;
}

static void make_file(void) {
  char other[sizeof(file) + 8];
  snprintf(other, sizeof(other), "%s.new", file);
  remove(other);
  remove(file);
  const int fd = open(file, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
  assert_int_equal(write(fd, "content", 7), 7);
  close(fd);
}

/* Checks that the folder only contains the file, with the contents from make_file. */
static void check_file(const char *name) {
  struct stat status;
  char other[sizeof(file) + 8];
  snprintf(other, sizeof(other), "%s.new", file);
  if (stat(file, &status) != 0 || status.st_size != 7 || (status.st_mode & 0777) != 0600 ||
      lstat(other, &status) == 0)
    fail_msg("%s: the file is another", name);
}

/* Checks that an attack fails under confinement. may_fail: it may also fail
 * without our confinement, for example in a container. */
static void check_refused(const char *name, const char *argument, bool may_fail) {
  make_file();
  const int error = attack(name, argument);
  if (!error)
    fail_msg("%s %s succeeds", name, argument);
  check_file(name);
  const int free_error = attack_freely(name, argument);
  if (free_error && !may_fail)
    fail_msg("%s %s without confinement: %s", name, argument, strerror(free_error));
  print_message("%s: %s; without confinement: %s\n", name, strerror(error),
                free_error ? strerror(free_error) : "succeeds");
}

static long landlock_version(void) {
  enum { CREATE_RULESET = 444, VERSION = 1 };
  return syscall(CREATE_RULESET, NULL, 0, VERSION);
}

static void need_seccomp(void) {
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)
    return;
  print_message("skipped: this kernel, or the emulator of its system calls, has no seccomp\n");
  skip();
}

static void need_landlock(void) {
  if (landlock_version() >= 1)
    return;
  print_message("skipped: this kernel has no Landlock (Linux 5.13): %s\n", strerror(errno));
  skip();
}

static void test_closes_inherited_descriptors(void **state) {
  (void)state;
  char number[16];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(dup2(ends[1], INHERITED), INHERITED);
  snprintf(number, sizeof(number), "%d", INHERITED);
  setenv("TEGRACL_TEST_VARIABLE", "1", 1); /* new helpers */
  check_refused("descriptor", number, false);
  unsetenv("TEGRACL_TEST_VARIABLE");
  close(INHERITED);
  close(ends[0]);
  close(ends[1]);
}

static void test_refuses_system_calls(void **state) {
  (void)state;
  need_seccomp();
  static const char *const of_files[] = {"unlink", "rename", "mkdir", "link",
                                         "chmod",  "times",  "empty", "truncate"};
  char pid[16];
  snprintf(pid, sizeof(pid), "%d", getpid());
  check_refused("internet", "", false);
  check_refused("local-socket", "", false);
  check_refused("netlink", "", true);
  check_refused("privileges", "", true);
  check_refused("ioctl", "", false);
  check_refused("signal", pid, false);
  check_refused("thread-signal", pid, false);
  check_refused("limit", pid, false);
  check_refused("group", pid, true);
  check_refused("asked-signal", pid, false);
  check_refused("processors", pid, false);
#ifndef __SANITIZE_ADDRESS__ /* needed by the leak checker */
  check_refused("trace", pid, true);
  check_refused("memory", pid, true);
#endif
  check_refused("namespace", "", true);
  check_refused("ring", "", true);
  for (size_t i = 0; i < sizeof(of_files) / sizeof(of_files[0]); i++)
    check_refused(of_files[i], file, false);
}

static void test_refuses_file_changes(void **state) {
  (void)state;
  need_landlock();
  check_refused("write", file, false);
  check_refused("append", file, false);
  check_refused("create", file, false);
  char memory[32];
  snprintf(memory, sizeof(memory), "%d/mem", getpid());
  check_refused("memory-file", memory, true);
}

static void test_refuses_other_programs(void **state) {
  (void)state;
  char clang[CC_PATH_MAX];
  need_landlock();
  check_refused("execute", "/bin/true", false);
  check_refused("execute", "/bin/sh", true);
  assert_true(cc_find_clang(clang));
  assert_int_equal(attack("execute", clang), 0);
}

/* Reading the user's own files is allowed, because programs may include them. */
static void test_allows_reading(void **state) {
  (void)state;
  make_file();
  assert_int_equal(attack("read", file), 0);
}

/* A wrapper may start any program. */
static void test_allows_wrappers(void **state) {
  (void)state;
  make_file();
  assert_int_equal(chmod(file, 0700), 0);
  const int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
  assert_int_equal(write(fd, "#!/bin/sh\n/bin/true\n", 20), 20);
  close(fd);
  setenv("TEGRACL_CLANG", file, 1);
  assert_int_equal(attack("execute", file), 0);
  unsetenv("TEGRACL_CLANG");
}

static int make_folder(void **state) {
  (void)state;
  setenv("TEGRACL_CACHE", "0", 1);
  if (!mkdtemp(folder))
    return -1;
  snprintf(file, sizeof(file), "%s/file", folder);
  /* By default the Yama module only allows ancestors to trace a process. */
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  char other[sizeof(file) + 8];
  snprintf(other, sizeof(other), "%s.new", file);
  remove(file);
  remove(other);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_closes_inherited_descriptors),
      cmocka_unit_test(test_refuses_system_calls),
      cmocka_unit_test(test_refuses_file_changes),
      cmocka_unit_test(test_refuses_other_programs),
      cmocka_unit_test(test_allows_reading),
      cmocka_unit_test(test_allows_wrappers),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
