/* Builds through helper processes and the disk cache: builds succeed, helpers are reused, and no
 * failure of a helper affects its client. The helper is tests/compiler/client/fake_compiler.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/client/cache.h"
#include "compiler/client/flight.h"
#include "compiler/compiler.h"
#include "compiler/find.h"
#include "compiler/helper_limits.h"
#include "compiler/message.h"
#include "tests/tick.h"

static char folder[] = "/tmp/tegracl-client-XXXXXX"; /* the current folder of all tests */
static char *compiler;                               /* the value of TEGRACL_COMPILER */

static const struct cc_device device = {
    .sm = 87,
    .version = 310,
    .extensions = "cl_khr_one cl_khr_two",
    .c_features = "__opencl_c_fp64",
    .local_mem_bytes = 49152,
};

static enum cc_status build(const char *source, const char *options, struct cc_result *result) {
  const struct cc_source text = {source, strlen(source)};
  const struct cc_job job = {
      .device = &device, .sources = &text, .source_count = 1, .options = options};
  return cc_build(&job, result);
}

/* Returns the process ID of the helper, which the fake compiler reports. */
static int helper_of(const struct cc_result *result) {
  int pid = 0;
  assert_int_equal(sscanf(result->binary, "pid %d", &pid), 1);
  return pid;
}

/* Returns the number of the build among the helper's builds. */
static unsigned build_of(const struct cc_result *result) {
  unsigned number = 0;
  assert_int_equal(sscanf(result->binary, "pid %*d build %u", &number), 1);
  return number;
}

static int build_and_tell_helper(const char *source) {
  struct cc_result result;
  assert_int_equal(build(source, "", &result), CC_OK);
  int pid = helper_of(&result);
  cc_result_finish(&result);
  return pid;
}

static void check_failure(const char *source, enum cc_status status, const char *words) {
  struct cc_result result;
  assert_int_equal(build(source, NULL, &result), status);
  assert_non_null(result.log);
  assert_null(result.binary);
  if (!strstr(result.log, words))
    fail_msg("\"%s\" does not say \"%s\"", result.log, words);
  cc_result_finish(&result);
}

static void cache_on(const char *path) {
  setenv("TEGRACL_CACHE_DIR", path, 1);
  unsetenv("TEGRACL_CACHE");
}

static void cache_off(void) {
  setenv("TEGRACL_CACHE", "0", 1);
}

static void test_compiler_gets_whole_job(void **state) {
  (void)state;
  cache_off();
  struct cc_result result;
  assert_int_equal(build("kernel", "-DX=1", &result), CC_OK);
  assert_string_equal(result.log, "a warning\n");
  assert_false(result.from_cache);
  char expected[8192], here[4096];
  assert_non_null(getcwd(here, sizeof(here)));
  snprintf(
      expected, sizeof(expected),
      "pid %d build %u sm 87 local 49152 ext cl_khr_one cl_khr_two feat __opencl_c_fp64 opt -DX=1 "
      "headers 0 memory %llu in %s",
      helper_of(&result), build_of(&result), (unsigned long long)limits_share_mib(), here);
  assert_string_equal(result.binary, expected);
  cc_result_finish(&result);
}

static void test_helper_is_reused(void **state) {
  (void)state;
  cache_off();
  int first = build_and_tell_helper("kernel");
  assert_int_not_equal(first, getpid());
  assert_int_equal(build_and_tell_helper("kernel"), first);
  /* A different environment may select different tools. */
  setenv("TEGRACL_TEST_VARIABLE", "1", 1);
  assert_int_not_equal(build_and_tell_helper("kernel"), first);
  unsetenv("TEGRACL_TEST_VARIABLE");
}

static void test_helper_survives_build_failure(void **state) {
  (void)state;
  cache_off();
  int helper = build_and_tell_helper("kernel");
  check_failure("wrong", CC_BUILD_FAILURE, "source:1: error: wrong");
  assert_int_equal(build_and_tell_helper("kernel"), helper);
}

static void test_reports_crashed_helper(void **state) {
  (void)state;
  cache_off();
  check_failure("abort", CC_INTERNAL_ERROR, "signal 6");
  check_failure("abort", CC_INTERNAL_ERROR, "last words");
  check_failure("exit", CC_INTERNAL_ERROR, "exited with status 3");
  check_failure("busy", CC_INTERNAL_ERROR, "did not finish in 600 seconds of CPU time");
  build_and_tell_helper("kernel");
}

/* The time limit is one of CPU time, because a helper may get little of it on a busy machine. One
 * that hangs is killed after ten times as long. */
static void test_kills_hanging_helper(void **state) {
  (void)state;
  cache_off();
  setenv("TEGRACL_COMPILER_TIMEOUT", "1", 1);
  build_and_tell_helper("idle");
  int64_t start = message_now_ms();
  check_failure("hang", CC_INTERNAL_ERROR, "did not finish in 10 seconds");
  unsetenv("TEGRACL_COMPILER_TIMEOUT");
  assert_true(message_now_ms() - start >= 9900);
  build_and_tell_helper("kernel");
}

static void test_reports_protocol_errors(void **state) {
  (void)state;
  cache_off();
  setenv("FAKE_COMPILER", "junk", 1);
  check_failure("kernel", CC_INTERNAL_ERROR, "malformed answer");
  setenv("FAKE_COMPILER", "leave", 1);
  check_failure("kernel", CC_INTERNAL_ERROR, "crashed");
  unsetenv("FAKE_COMPILER");
}

static void test_reports_missing_compiler(void **state) {
  (void)state;
  cache_off();
  setenv("TEGRACL_COMPILER", "/nonexistent/tegraclc", 1);
  check_failure("kernel", CC_NOT_AVAILABLE, "TEGRACL_COMPILER");
  assert_false(cc_available());
  setenv("TEGRACL_COMPILER", compiler, 1);
  char nvrtc[] = "/tmp/tegracl-nvrtc-XXXXXX";
  assert_non_null(mkdtemp(nvrtc));
  setenv("TEGRACL_NVRTC", nvrtc, 1);
  assert_false(cc_available());
  char library[64], path[CC_PATH_MAX];
  snprintf(library, sizeof(library), "%s/libnvrtc.so.12", nvrtc);
  fclose(fopen(library, "w"));
  assert_true(cc_find_nvrtc(path));
  assert_string_equal(path + strlen(path) - strlen("/libnvrtc.so.12"), "/libnvrtc.so.12");
  unlink(library);
  rmdir(nvrtc);
  unsetenv("TEGRACL_NVRTC");
}

/* A relative name of the compiler does not depend on the folder of the build. */
static void test_finds_relative_compiler_after_chdir(void **state) {
  (void)state;
  cache_off();
  assert_int_equal(symlink(compiler, "compiler"), 0);
  setenv("TEGRACL_COMPILER", "./compiler", 1);
  build_and_tell_helper("kernel");
  assert_int_equal(chdir("/"), 0);
  setenv("TEGRACL_TEST_VARIABLE", "1", 1); /* another helper */
  build_and_tell_helper("kernel");
}

static void check_tools(const char *tools) {
  char path[CC_PATH_MAX], expected[PATH_MAX];
  setenv("TEGRACL_TEST_VARIABLE", tools, 1); /* another helper */
  assert_true(cc_find_nvrtc(path));
  snprintf(expected, sizeof(expected), "%s/libnvrtc.so.12", folder);
  char *found = realpath(path, NULL);
  assert_string_equal(found, expected);
  free(found);
  check_failure("tools", CC_BUILD_FAILURE, tools);
}

/* This process and its helpers find the same tools, wherever the process has changed its folder. */
static void test_finds_relative_tools_after_chdir(void **state) {
  (void)state;
  char tools[PATH_MAX];
  cache_off();
  fclose(fopen("libnvrtc.so.12", "w"));
  setenv("TEGRACL_CLANG", "bin/clang", 1);
  setenv("TEGRACL_NVRTC", ".", 1);
  setenv("TEGRACL_SPIRV_VAL", "/val", 1);
  setenv("TEGRACL_LLVM_SPIRV", "../t", 1);
  snprintf(tools, sizeof(tools), "%s/bin/clang %s/. /val %s/../t ", folder, folder, folder);
  check_tools(tools);
  assert_int_equal(chdir("/"), 0);
  check_tools(tools);
  setenv("TEGRACL_NVRTC", "libnvrtc.so.12", 1);
  snprintf(tools, sizeof(tools), "%s/bin/clang %s/libnvrtc.so.12 ", folder, folder);
  check_tools(tools);
}

/* A helper that was killed while idle is replaced silently. */
static void test_replaces_killed_idle_helper(void **state) {
  (void)state;
  cache_off();
  int helper = build_and_tell_helper("kernel");
  kill(helper, SIGKILL);
  usleep(50 * 1000);
  assert_int_not_equal(build_and_tell_helper("kernel"), helper);
}

static void *build_slowly(void *argument) {
  struct cc_result result;
  bool good = build("slow", argument, &result) == CC_OK;
  cc_result_finish(&result);
  return good ? argument : NULL;
}

static void test_8_threads_build_at_once(void **state) {
  (void)state;
  cache_off();
  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  static char options[THREADS][16];
  for (int i = 0; i < THREADS; i++) {
    snprintf(options[i], sizeof(options[i]), "-DT=%d", i);
    assert_int_equal(pthread_create(&threads[i], NULL, build_slowly, options[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *value = NULL;
    pthread_join(threads[i], &value);
    assert_ptr_equal(value, options[i]);
  }
}

/* Number of threads that wait for another thread's build. */
static atomic_int waiting;

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  atomic_fetch_add(&waiting, 1);
  const int result = __real_pthread_cond_wait(condition, mutex);
  atomic_fetch_sub(&waiting, 1);
  return result;
}

struct same_build {
  pthread_t thread;
  struct cc_result result;
  enum cc_status status;
};

static char same_source[128];

static void *build_the_same(void *argument) {
  struct same_build *same = argument;
  same->status = build(same_source, "-DSAME", &same->result);
  return NULL;
}

/* When many threads build the same source, it is compiled once, with and without the cache.
 * The compiler blocks until all other threads wait for its build. */
static void build_at_once(void) {
  enum { THREADS = 16 };
  static struct same_build same[THREADS];
  char gate[64];
  snprintf(gate, sizeof(gate), "%s/gate", folder);
  snprintf(same_source, sizeof(same_source), "wait %s", gate);
  assert_int_equal(mkfifo(gate, 0600), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&same[i].thread, NULL, build_the_same, &same[i]), 0);
  while (atomic_load(&waiting) < THREADS - 1)
    usleep(1000);
  close(open(gate, O_WRONLY));
  for (int i = 0; i < THREADS; i++)
    pthread_join(same[i].thread, NULL);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(same[i].status, CC_OK);
    assert_string_equal(same[i].result.log, "a warning\n");
    assert_int_equal(same[i].result.binary_size, same[0].result.binary_size);
    assert_string_equal(same[i].result.binary, same[0].result.binary);
  }
  for (int i = 0; i < THREADS; i++)
    cc_result_finish(&same[i].result);
  unlink(gate);
}

static void test_equal_builds_compile_once(void **state) {
  (void)state;
  char path[256];
  cache_off();
  build_at_once();
  snprintf(path, sizeof(path), "%s/once", folder);
  cache_on(path);
  build_at_once();
}

/* The simulated kernel's support for pidfds: complete, without signals to
 * groups (before Linux 6.9), or none (before 5.3). */
static enum { PIDFD_GROUPS, PIDFD_SINGLE, PIDFD_NONE } pidfds;

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  enum { PIDFD_SEND_SIGNAL = 424, PIDFD_OPEN = 434 };
  if ((number == PIDFD_OPEN && pidfds == PIDFD_NONE) ||
      (number == PIDFD_SEND_SIGNAL && d && pidfds != PIDFD_GROUPS)) {
    errno = number == PIDFD_OPEN ? ENOSYS : EINVAL;
    return -1;
  }
  return __real_syscall(number, a, b, c, d, e, f);
}

/* Number of process groups that were killed by their ID. */
static int groups_killed;

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal) {
  groups_killed += pid < 0;
  return __real_kill(pid, signal);
}

/* If an application waits for all its children, it reaps the helper, whose process
 * ID may be reused at once. No signal may be sent to it. */
static void test_reaped_helper_gets_no_signal(void **state) {
  (void)state;
  cache_off();
  for (pidfds = PIDFD_GROUPS; pidfds <= PIDFD_NONE; pidfds++) {
    char number[16];
    snprintf(number, sizeof(number), "%d", pidfds);
    setenv("TEGRACL_TEST_VARIABLE", number, 1); /* new helpers */
    const int helper = build_and_tell_helper("kernel");
    signal(SIGCHLD, SIG_IGN);
    groups_killed = 0;
    check_failure("exit", CC_INTERNAL_ERROR, "the application");
    assert_int_equal(groups_killed, 0);
    assert_int_equal(__real_kill(helper, 0), -1);
    signal(SIGCHLD, SIG_DFL);
    check_failure("exit", CC_INTERNAL_ERROR, "exited with status 3");
    check_failure("abort", CC_INTERNAL_ERROR, "signal 6");
    setenv("TEGRACL_COMPILER_TIMEOUT", "1", 1);
    check_failure("hang", CC_INTERNAL_ERROR, "did not finish in 10 seconds");
    unsetenv("TEGRACL_COMPILER_TIMEOUT");
  }
  pidfds = PIDFD_GROUPS;
  unsetenv("TEGRACL_TEST_VARIABLE");
  build_and_tell_helper("kernel");
}

/* Neither successful nor failed builds leak descriptors. */
static int open_files(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (readdir(directory))
    count++;
  closedir(directory);
  return count;
}

static void test_leaks_no_descriptors(void **state) {
  (void)state;
  cache_off();
  int before = 0;
  for (int i = 0; i < 10; i++) {
    check_failure("exit", CC_INTERNAL_ERROR, "exited with status");
    build_and_tell_helper("kernel");
    if (i == 4) /* the helpers of earlier tests have exited */
      before = open_files();
  }
  assert_int_equal(open_files(), before);
}

/* If a helper cannot be started for lack of descriptors, the error is not a missing compiler. */
static void test_reports_lack_of_descriptors(void **state) {
  (void)state;
  cache_off();
  struct rlimit before, none;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = (struct rlimit){.rlim_cur = STDERR_FILENO + 1, .rlim_max = before.rlim_max};
  setenv("TEGRACL_TEST_VARIABLE", "1", 1); /* another helper */
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  check_failure("kernel", CC_OUT_OF_MEMORY, "cannot start the compiler");
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  unsetenv("TEGRACL_TEST_VARIABLE");
  build_and_tell_helper("kernel");
}

/* After fork the parent keeps its helpers, and the child starts its own. */
static void test_child_starts_own_helpers(void **state) {
  (void)state;
  cache_off();
  int helper = build_and_tell_helper("kernel");
  pid_t child = fork();
  if (child == 0) {
    struct cc_result result;
    bool good = build("kernel", "", &result) == CC_OK && helper_of(&result) != helper;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(build_and_tell_helper("kernel"), helper);
}

/* Whether a process runs. Zombies do not count. */
static bool is_running(int pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file)
    return false;
  if (fscanf(file, "%*d %*s %c", &state) != 1)
    state = 'Z';
  fclose(file);
  return state != 'Z' && state != 'X';
}

static void wait_for_end(int pid) {
  while (is_running(pid))
    usleep(10 * 1000);
}

/* If an application dies during a build, its helper exits. */
static void test_helper_dies_with_application(void **state) {
  (void)state;
  cache_off();
  int ends[2], helper = 0;
  assert_int_equal(pipe(ends), 0);
  pid_t application = fork();
  if (application == 0) {
    helper = build_and_tell_helper("kernel");
    if (write(ends[1], &helper, sizeof(helper)) == sizeof(helper)) {
      struct cc_result result;
      build("hang", "", &result);
    }
    _exit(0);
  }
  assert_int_equal(read(ends[0], &helper, sizeof(helper)), sizeof(helper));
  usleep(100 * 1000);
  assert_true(is_running(helper));
  kill(application, SIGKILL);
  waitpid(application, NULL, 0);
  wait_for_end(helper);
  close(ends[0]);
  close(ends[1]);
}

/* An idle helper exits after ten seconds, not earlier. */
static void test_idle_helper_exits(void **state) {
  (void)state;
  cache_off();
  const int64_t begin = message_now_ms();
  int helper = build_and_tell_helper("kernel");
  wait_for_end(helper);
  assert_true(message_now_ms() - begin >= 10000);
  assert_int_not_equal(build_and_tell_helper("kernel"), helper);
}

/* ---- the cache ---------------------------------------------------------------- */

static int count_entries(const char *path, char last[512]) {
  int count = 0;
  DIR *directory = opendir(path);
  if (!directory)
    return 0;
  for (struct dirent *item; (item = readdir(directory));)
    if (strstr(item->d_name, ".bin")) {
      snprintf(last, 512, "%s/%s", path, item->d_name);
      count++;
    }
  closedir(directory);
  return count;
}

static void build_expecting(const char *source, const char *options, bool from_cache) {
  struct cc_result result;
  assert_int_equal(build(source, options, &result), CC_OK);
  assert_int_equal(result.from_cache, from_cache);
  assert_string_equal(result.log, "a warning\n");
  assert_true(result.binary_size > 0);
  cc_result_finish(&result);
}

static void test_second_build_hits_cache(void **state) {
  (void)state;
  char path[256], entry[512];
  snprintf(path, sizeof(path), "%s/a/b", folder); /* created with its parents */
  cache_on(path);
  build_expecting("cached", "-DA", false);
  build_expecting("cached", "-DA", true);
  build_expecting("cached", "-DB", false);
  build_expecting("cached ", "-DA", false);
  assert_int_equal(count_entries(path, entry), 3);
  check_failure("wrong", CC_BUILD_FAILURE, "wrong"); /* failures are not cached */
  assert_int_equal(count_entries(path, entry), 3);
  cache_off();
  build_expecting("cached", "-DA", false);
}

/* A cached build does not need NVRTC, but a different NVRTC makes a new build. */
static void test_cached_without_nvrtc(void **state) {
  (void)state;
  char path[256], nvrtc[2][280];
  snprintf(path, sizeof(path), "%s/without-nvrtc", folder);
  cache_on(path);
  for (int i = 0; i < 2; i++) {
    snprintf(nvrtc[i], sizeof(nvrtc[i]), "%s/nvrtc-%d", folder, i);
    close(open(nvrtc[i], O_CREAT | O_WRONLY, 0600));
  }
  setenv("TEGRACL_NVRTC", nvrtc[0], 1);
  build_expecting("build", "", false);
  build_expecting("build", "", true);
  unlink(nvrtc[0]);
  build_expecting("build", "", true);
  setenv("TEGRACL_NVRTC", nvrtc[1], 1);
  build_expecting("build", "", false);
  unlink(nvrtc[1]);
  unsetenv("TEGRACL_NVRTC");
}

/* A damaged entry is a miss, and is replaced. */
static void test_replaces_corrupt_entry(void **state) {
  (void)state;
  char path[256], entry[512];
  snprintf(path, sizeof(path), "%s/corrupt", folder);
  cache_on(path);
  build_expecting("corrupt", "", false);
  assert_int_equal(count_entries(path, entry), 1);
  struct stat status;
  assert_int_equal(stat(entry, &status), 0);
  for (off_t at = 0; at < status.st_size; at += 7) {
    FILE *file = fopen(entry, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x10, file);
    fclose(file);
    build_expecting("corrupt", "", false);
    build_expecting("corrupt", "", true);
  }
  for (off_t size = 0; size < status.st_size; size += 13) {
    assert_int_equal(truncate(entry, size), 0);
    build_expecting("corrupt", "", false);
    build_expecting("corrupt", "", true);
  }
}

/* Programs that may depend on things that the cache does not watch are built each time. */
static void test_unpredictable_programs_not_cached(void **state) {
  (void)state;
  char path[256], entry[512];
  snprintf(path, sizeof(path), "%s/world", folder);
  cache_on(path);
  static const char *const sources[] = {
      "kernel\n#inc\\\nlude <x>\n", "kernel\n__TIME__\n",
      "kernel\n__TI\\\n\\\nME__\n", "kernel\n#if __has_include(<x>)\n",
      "kernel\n#include unknown\n",
  };
  for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
    for (int again = 0; again < 2; again++)
      build_expecting(sources[i], "", false);
  for (int again = 0; again < 2; again++)
    build_expecting("kernel", "-DNOW=__DATE__", false);
  assert_int_equal(count_entries(path, entry), 0);
}

static void put_file(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* The key contains the contents of headers, and of files that would hide them. */
static void test_changed_headers_cause_builds(void **state) {
  (void)state;
  char path[256], here[4096];
  static const char source[] = "kernel\n#include x.h\n";
  assert_non_null(getcwd(here, sizeof(here)));
  snprintf(path, sizeof(path), "%s/headers", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_int_equal(chdir(path), 0);
  strcat(path, "/cache");
  cache_on(path);
  build_expecting(source, "", false); /* the header does not exist yet */
  build_expecting(source, "", false);
  put_file("x.h", "one");
  wait_for_tick();
  build_expecting(source, "", false);
  build_expecting(source, "", true);
  put_file("x.h", "two");
  wait_for_tick();
  build_expecting(source, "", false);
  build_expecting(source, "", true);
  put_file("x.h", "one");
  build_expecting(source, "", true);
  assert_int_equal(mkdir("front", 0700), 0);
  build_expecting(source, "", true);
  put_file("front/x.h", "one");
  wait_for_tick();
  build_expecting(source, "", false);
  build_expecting(source, "", true);
  unlink("front/x.h");
  build_expecting(source, "", true);
  build_expecting(source, "-DX", false);
  put_file("x.h", "__TIME__");
  wait_for_tick();
  build_expecting(source, "", false);
  build_expecting(source, "", false);
  /* The build itself changes the header, and may have read it before or after the change. */
  static const char changing[] = "change\n#include x.h\n";
  setenv("TEGRACL_CONFINEMENT", "0", 1);
  for (int again = 0; again < 2; again++)
    build_expecting(changing, "", false);
  unsetenv("TEGRACL_CONFINEMENT");
  assert_int_equal(chdir("front"), 0); /* same names, other files */
  put_file("x.h", "one");
  wait_for_tick();
  build_expecting(source, "", false);
  assert_int_equal(chdir(here), 0);
}

static void check_folder(const char *wanted, const char *builds_in) {
  const struct cc_source text = {"kernel", strlen("kernel")};
  const struct cc_job job = {
      .device = &device, .sources = &text, .source_count = 1, .options = "", .folder = wanted};
  struct cc_result result;
  char link[32], now[4096] = "";
  assert_int_equal(cc_build(&job, &result), CC_OK);
  assert_string_equal(strstr(result.binary, " in ") + strlen(" in "), builds_in);
  snprintf(link, sizeof(link), "/proc/%d/cwd", helper_of(&result));
  assert_true(readlink(link, now, sizeof(now) - 1) > 0);
  assert_string_equal(now, "/");
  cc_result_finish(&result);
}

/* A job is built in its folder, which the helper leaves afterwards. If the folder does not exist,
 * the job is built in /, not in the folder of the last job. */
static void test_builds_in_folder_of_job(void **state) {
  (void)state;
  setenv("TEGRACL_CACHE", "0", 1);
  check_folder("/usr", "/usr");
  check_folder("/no such folder", "/");
}

/* Free space of the simulated disk; negative: unlimited. */
static long room = -1;
/* Simulates file systems without O_TMPFILE. */
static bool names_needed;

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size) {
  if (room == 0) {
    errno = ENOSPC;
    return -1;
  }
  if (room > 0 && (size_t)room < size)
    size = (size_t)room;
  const ssize_t written = __real_write(fd, bytes, size);
  if (room > 0 && written > 0)
    room -= written;
  return written;
}

int __real_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (names_needed && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return __real_openat64(at, path, flags, mode);
}

static int count_files(const char *path) {
  int count = 0;
  DIR *directory = opendir(path);
  if (!directory)
    return 0;
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2; /* . and .. */
}

/* The disk may become full at any time: the build succeeds, and no partial entry remains. */
static void test_builds_with_full_disk(void **state) {
  (void)state;
  enum { STEP = 20, LEAST_BYTES = 100 }; /* smaller than an entry */
  char path[256], entry[512];
  for (int named = 0; named < 2; named++) {
    names_needed = named;
    snprintf(path, sizeof(path), "%s/full%d", folder, named);
    cache_on(path);
    long space = -STEP;
    do {
      room = space += STEP;
      build_expecting("full", "", false);
      room = -1;
      assert_in_range(count_files(path), 0, count_entries(path, entry));
    } while (!count_files(path));
    assert_in_range(space, LEAST_BYTES, 1000);
    build_expecting("full", "", true);
  }
  names_needed = false;
}

static void test_entries_are_private(void **state) {
  (void)state;
  char path[256], entry[512];
  struct stat status;
  const mode_t old = umask(0);
  for (int named = 0; named < 2; named++) {
    names_needed = named;
    snprintf(path, sizeof(path), "%s/rights%d", folder, named);
    cache_on(path);
    build_expecting("rights", "", false);
    assert_int_equal(count_entries(path, entry), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(stat(entry, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
  }
  names_needed = false;
  umask(old);
}

/* Many processes build the same programs, and some are killed. */
static void test_survives_killed_processes(void **state) {
  (void)state;
  enum { PROCESSES = 6, ROUNDS = 4, SOURCES = 5 };
  char path[256], source[32];
  snprintf(path, sizeof(path), "%s/processes", folder);
  cache_on(path);
  for (int round = 0; round < ROUNDS; round++) {
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
      children[i] = fork();
      if (children[i] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* no builders survive a failed assertion */
        bool good = true;
        for (int n = 0; good; n++) {
          struct cc_result result;
          snprintf(source, sizeof(source), "many %d %d", n % SOURCES, n / 50);
          good = build(source, "", &result) == CC_OK && !strcmp(result.log, "a warning\n");
          cc_result_finish(&result);
        }
        _exit(1);
      }
    }
    char entry[512];
    do {
      usleep(150 * 1000);
      assert_int_equal(waitpid(children[0], NULL, WNOHANG), 0); /* it still builds */
    } while (count_entries(path, entry) < SOURCES);
    for (int i = 0; i < PROCESSES; i++) {
      int status;
      kill(children[i], SIGKILL);
      assert_int_equal(waitpid(children[i], &status, 0), children[i]);
      assert_true(WIFSIGNALED(status));
    }
  }
  char entry[512];
  const int entries = count_entries(path, entry);
  assert_int_equal(count_files(path), entries);
  for (int n = 0; n < SOURCES; n++) {
    snprintf(source, sizeof(source), "many %d 0", n);
    build_expecting(source, "", true);
  }
}

/* The least recently used entry is removed first. */
static void test_size_limit_removes_oldest_entry(void **state) {
  (void)state;
  enum { FILLER = 300 * 1000, BUILDS = 8 };
  char path[256], name[512], source[32];
  snprintf(path, sizeof(path), "%s/limit", folder);
  cache_on(path);
  setenv("TEGRACL_CACHE_SIZE", "1", 1);
  for (int i = 0; i < BUILDS; i++) {
    snprintf(source, sizeof(source), "big %d", i);
    build_expecting(source, "", false);
    wait_for_tick();
    build_expecting("big 0", "", true); /* used repeatedly */
    wait_for_tick();
  }
  assert_in_range(count_entries(path, name), 2, (1 << 20) / FILLER);
  build_expecting("big 0", "", true);
  build_expecting("big 1", "", false);
  setenv("TEGRACL_CACHE_SIZE", "0", 1);
  build_expecting("big 0", "", false);
  unsetenv("TEGRACL_CACHE_SIZE");
}

static void test_builds_without_writable_cache(void **state) {
  (void)state;
  cache_on("/proc/nowhere");
  build_expecting("unwritable", "", false);
  build_expecting("unwritable", "", false);
}

static void write_file(const char *path, size_t size, time_t age) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  for (size_t i = 0; i < size; i++)
    fputc('x', file);
  fclose(file);
  struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Writes a file that begins like a cache entry and has the name of one. */
static void write_entry(const char *path, char number, size_t size, time_t age) {
  char name[1024];
  snprintf(name, sizeof(name), "%s/%032d.bin", path, number);
  write_file(name, size, age);
  FILE *file = fopen(name, "r+");
  fputs(CACHE_MAGIC, file);
  fclose(file);
  const struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
  assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static bool has(const char *path, const char *name) {
  char whole[1024];
  struct stat status;
  snprintf(whole, sizeof(whole), "%s/%s", path, name);
  return lstat(whole, &status) == 0;
}

static void test_removes_oldest_entries(void **state) {
  (void)state;
  char path[256], name[512];
  snprintf(path, sizeof(path), "%s/evict", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  for (char i = 0; i < 10; i++)
    write_entry(path, i, 1000, 100 + i); /* the last entry is the oldest */
  snprintf(name, sizeof(name), "%s/tegracl-abcd09.tmp", path);
  write_file(name, 10, 24 * 3600);
  snprintf(name, sizeof(name), "%s/tegracl-abcd10.tmp", path);
  write_file(name, 10, 0);
  const int writer = open(name, O_RDONLY), trimmed = open(path, O_RDONLY);
  assert_int_equal(flock(writer, LOCK_EX), 0);
  cache_trim(trimmed, 3500);
  for (int i = 0; i < 10; i++) {
    snprintf(name, sizeof(name), "%032d.bin", i);
    assert_int_equal(has(path, name), i < 3);
  }
  assert_false(has(path, "tegracl-abcd09.tmp"));
  assert_true(has(path, "tegracl-abcd10.tmp"));
  close(writer);
  close(trimmed);
}

/* Files that do not belong to the cache are never removed, whatever their names. */
static void test_keeps_foreign_files(void **state) {
  (void)state;
  static const char hash[] = "0123456789abcdef0123456789abcdef.bin",
                    link_name[] = "0123456789abcdef0123456789abcde0.bin",
                    pipe_name[] = "0123456789abcdef0123456789abcde1.bin";
  static const char *const files[] = {
      "pytorch_model.bin",  "old.tmp", "tegracl-abc.tmp", "tegracl-notes.tmp",
      "tegracl-ABCDEF.tmp", hash,      "0123.bin",        "precious.txt"};
  char path[256], name[512], target[512];
  snprintf(path, sizeof(path), "%s/others", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    snprintf(name, sizeof(name), "%s/%s", path, files[i]);
    write_file(name, 5000, 24 * 3600);
  }
  snprintf(target, sizeof(target), "%s/target", folder);
  assert_int_equal(mkdir(target, 0700), 0);
  write_entry(target, 1, 5000, 24 * 3600);
  strcat(target, "/00000000000000000000000000000001.bin");
  snprintf(name, sizeof(name), "%s/%s", path, link_name);
  assert_int_equal(symlink(target, name), 0);
  snprintf(name, sizeof(name), "%s/%s", path, pipe_name);
  assert_int_equal(mkfifo(name, 0600), 0);
  const int trimmed = open(path, O_RDONLY);
  cache_trim(trimmed, 1);
  close(trimmed);
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
    if (!has(path, files[i]))
      fail_msg("%s was removed", files[i]);
  assert_true(has(path, link_name));
  assert_true(has(path, pipe_name));
  assert_int_equal(access(target, F_OK), 0);
}

/* A pipe in place of an entry is neither read nor waited for. */
static void test_ignores_pipe_as_entry(void **state) {
  (void)state;
  char path[256], entry[512], moved[512];
  snprintf(path, sizeof(path), "%s/pipe", folder);
  cache_on(path);
  build_expecting("piped", "", false);
  assert_int_equal(count_entries(path, entry), 1);
  assert_int_equal(unlink(entry), 0);
  assert_int_equal(mkfifo(entry, 0600), 0);
  build_expecting("piped", "", false);
  build_expecting("piped", "", true); /* replaced */
  snprintf(moved, sizeof(moved), "%s/moved", folder);
  assert_int_equal(rename(entry, moved), 0);
  assert_int_equal(symlink(moved, entry), 0);
  build_expecting("piped", "", false);
  assert_int_equal(access(moved, F_OK), 0);
}

/* A folder that others can write to is not used, because their code would be executed. */
static void test_ignores_writable_folder(void **state) {
  (void)state;
  char path[256];
  static const mode_t modes[] = {0777, 0770, 0702, 01777};
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
    snprintf(path, sizeof(path), "%s/open%zu", folder, i);
    cache_on(path);
    build_expecting("open", "", false);
    build_expecting("open", "", true);
    assert_int_equal(chmod(path, modes[i]), 0);
    build_expecting("open", "", false);
    build_expecting("open", "-DX", false);
    assert_int_equal(count_files(path), 1);
  }
  if (geteuid() != 0) {
    print_message("no folder of another user: the test does not run as root\n");
    return;
  }
  assert_int_equal(chmod(path, 0700), 0);
  build_expecting("open", "", true);
  assert_int_equal(chown(path, 1, 1), 0);
  build_expecting("open", "", false);
  assert_int_equal(count_files(path), 1);
}

/* ---- forged entries --------------------------------------------------------------- */

/* Returns the place of a source in the key of its build, which the cache's only entry
 * contains after its header. entry gets the name of the entry's file. */
static size_t place_in_key(const char *path, const char *source, char entry[512]) {
  enum { HEADER_BYTES = 56, FILE_BYTES = 65536 };
  static char bytes[FILE_BYTES];
  assert_int_equal(count_entries(path, entry), 1);
  FILE *file = fopen(entry, "r");
  assert_non_null(file);
  const size_t size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  const char *found = memmem(bytes, size, source, strlen(source));
  assert_non_null(found);
  return (size_t)(found - bytes) - HEADER_BYTES;
}

/* Makes two sources with the same hash. For each of the eight lanes of its stripes, XXH3
 * multiplies the two halves of the lane, xored with a public secret, and adds the product and
 * the lane. If one half is equal to the secret, all products are 0, and the other half may
 * increase in one stripe and decrease by the same amount in the next. */
static void collide(char *one, char *other, size_t offset) {
  enum { STRIPE = 64, STRIPES = 16, LANE = 8, HALF = 4 };
  size_t at = LANE - offset % LANE;
  for (;; at += LANE) {
    const size_t place = (offset + at) % (STRIPE * STRIPES), stripe = place / STRIPE;
    const unsigned char *secret = XXH3_kSecret + stripe * LANE + place % STRIPE;
    assert_true(at + 4 * STRIPE < strlen(one));
    if (stripe == STRIPES - 1 || memchr(secret, 0, LANE + HALF))
      continue;
    for (int i = 0; i < 2; i++)
      memcpy(one + at + i * STRIPE, secret + i * LANE, HALF);
    break;
  }
  strcpy(other, one);
  other[at + HALF]++;
  other[at + STRIPE + HALF]--;
}

/* A program whose hash is equal to that of another program does not get its code. */
static void test_equal_hashes_in_cache(void **state) {
  (void)state;
  enum { BYTES = 3000 };
  char one[BYTES + 1], other[BYTES + 1], path[256], entry[512], again[512];
  snprintf(path, sizeof(path), "%s/forged", folder);
  cache_on(path);
  memset(one, 'B', BYTES);
  one[BYTES] = 0;
  build_expecting(one, "", false);
  const size_t offset = place_in_key(path, one, entry);
  unlink(entry);
  collide(one, other, offset);
  assert_string_not_equal(one, other);
  build_expecting(one, "", false);
  build_expecting(one, "", true);
  assert_int_equal(count_entries(path, entry), 1);
  build_expecting(other, "", false);
  build_expecting(other, "", true);
  assert_int_equal(count_entries(path, again), 1);
  assert_string_equal(entry, again); /* both have the same hash */
  build_expecting(one, "", false);
}

/* Concurrent builds with the same hash are not merged. */
static void test_equal_hashes_are_not_merged(void **state) {
  (void)state;
  static const struct cache_tools tools;
  struct cache_key keys[2];
  struct flight *flights[2];
  for (int i = 0; i < 2; i++) {
    const struct cc_source source = {i ? "two" : "one", 3};
    const struct cc_job job = {.device = &device, .sources = &source, .source_count = 1};
    assert_int_equal(cache_key_make(&job, "/", &tools, &keys[i]), CACHE_JOB);
  }
  memcpy(keys[1].hash, keys[0].hash, sizeof(keys[0].hash));
  for (int i = 0; i < 2; i++) {
    bool first;
    flights[i] = flight_join(&keys[i], &first);
    assert_non_null(flights[i]);
    assert_true(first);
  }
  for (int i = 0; i < 2; i++) {
    flight_land(flights[i], CC_OK, NULL);
    cache_key_finish(&keys[i]);
  }
}

/* ---- messages ------------------------------------------------------------------ */

/* A truncated request is refused and never misread. */
static void test_refuses_truncated_request(void **state) {
  (void)state;
  const struct cc_source sources[2] = {{"one", 3}, {"", 0}};
  const struct cc_header headers[1] = {{"h.h", "#define H"}};
  const struct cc_job job = {.device = &device,
                             .sources = sources,
                             .source_count = 2,
                             .headers = headers,
                             .header_count = 1,
                             .options = NULL};
  struct message message = {0};
  message_put_job(&message, &job, "/");
  assert_false(message.broken);
  for (size_t size = 0; size <= message.size; size++) {
    unsigned char *exact = malloc(size + 1);
    memcpy(exact, message.bytes, size);
    struct message cut = {.bytes = exact, .size = size};
    struct message_job taken;
    bool good = message_take_job(&cut, &taken);
    assert_int_equal(good, size == message.size);
    if (good) {
      assert_int_equal(taken.job.source_count, 2);
      assert_memory_equal(taken.sources[0].text, "one", 3);
      assert_string_equal(taken.headers[0].text, "#define H");
      assert_string_equal(taken.job.options, "");
    }
    message_free_job(&taken);
    free(exact);
  }
  message_finish(&message);
}

/* Undoes what a test that failed may have left. */
static int restore_process(void **state) {
  (void)state;
  unsetenv("FAKE_COMPILER");
  unsetenv("TEGRACL_TEST_VARIABLE");
  unsetenv("TEGRACL_COMPILER_TIMEOUT");
  unsetenv("TEGRACL_CLANG");
  unsetenv("TEGRACL_NVRTC");
  unsetenv("TEGRACL_SPIRV_VAL");
  unsetenv("TEGRACL_LLVM_SPIRV");
  return setenv("TEGRACL_COMPILER", compiler, 1) || chdir(folder);
}

static int make_folder(void **state) {
  const char *given = getenv("TEGRACL_COMPILER");
  compiler = given ? realpath(given, NULL) : NULL;
  if (!compiler) {
    fprintf(stderr, "TEGRACL_COMPILER must be the path of fake_compiler\n");
    return -1;
  }
  return mkdtemp(folder) ? restore_process(state) : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[64];
  free(compiler);
  snprintf(command, sizeof(command), "rm -rf %s", folder);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_compiler_gets_whole_job, restore_process),
      cmocka_unit_test_teardown(test_helper_is_reused, restore_process),
      cmocka_unit_test_teardown(test_helper_survives_build_failure, restore_process),
      cmocka_unit_test_teardown(test_reports_crashed_helper, restore_process),
      cmocka_unit_test_teardown(test_kills_hanging_helper, restore_process),
      cmocka_unit_test_teardown(test_reports_protocol_errors, restore_process),
      cmocka_unit_test_teardown(test_reports_missing_compiler, restore_process),
      cmocka_unit_test_teardown(test_finds_relative_compiler_after_chdir, restore_process),
      cmocka_unit_test_teardown(test_finds_relative_tools_after_chdir, restore_process),
      cmocka_unit_test_teardown(test_replaces_killed_idle_helper, restore_process),
      cmocka_unit_test_teardown(test_8_threads_build_at_once, restore_process),
      cmocka_unit_test_teardown(test_equal_builds_compile_once, restore_process),
      cmocka_unit_test_teardown(test_reaped_helper_gets_no_signal, restore_process),
      cmocka_unit_test_teardown(test_leaks_no_descriptors, restore_process),
      cmocka_unit_test_teardown(test_reports_lack_of_descriptors, restore_process),
      cmocka_unit_test_teardown(test_child_starts_own_helpers, restore_process),
      cmocka_unit_test_teardown(test_helper_dies_with_application, restore_process),
      cmocka_unit_test_teardown(test_idle_helper_exits, restore_process),
      cmocka_unit_test_teardown(test_second_build_hits_cache, restore_process),
      cmocka_unit_test_teardown(test_cached_without_nvrtc, restore_process),
      cmocka_unit_test_teardown(test_replaces_corrupt_entry, restore_process),
      cmocka_unit_test_teardown(test_unpredictable_programs_not_cached, restore_process),
      cmocka_unit_test_teardown(test_changed_headers_cause_builds, restore_process),
      cmocka_unit_test_teardown(test_builds_in_folder_of_job, restore_process),
      cmocka_unit_test_teardown(test_builds_with_full_disk, restore_process),
      cmocka_unit_test_teardown(test_entries_are_private, restore_process),
      cmocka_unit_test_teardown(test_survives_killed_processes, restore_process),
      cmocka_unit_test_teardown(test_size_limit_removes_oldest_entry, restore_process),
      cmocka_unit_test_teardown(test_builds_without_writable_cache, restore_process),
      cmocka_unit_test_teardown(test_removes_oldest_entries, restore_process),
      cmocka_unit_test_teardown(test_keeps_foreign_files, restore_process),
      cmocka_unit_test_teardown(test_ignores_pipe_as_entry, restore_process),
      cmocka_unit_test_teardown(test_ignores_writable_folder, restore_process),
      cmocka_unit_test_teardown(test_equal_hashes_in_cache, restore_process),
      cmocka_unit_test_teardown(test_equal_hashes_are_not_merged, restore_process),
      cmocka_unit_test_teardown(test_refuses_truncated_request, restore_process),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
