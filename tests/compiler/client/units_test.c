/* Builds in units, and the order in which helpers serve several builds. The helper is
 * tests/compiler/client/fake_compiler.c: for a source "plan WORDS" each further line is a unit,
 * and a build of the whole source obeys WORDS. "?" marks a unit that may be refused. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/thread.h"
#include "compiler/client/binary.h"
#include "compiler/client/helper.h"
#include "compiler/compiler.h"
#include "compiler/helper_limits.h"
#include "tests/tick.h"

enum { CORES = 2, SHARE_MIB = 600, UNITS_AT = 48 };

static char folder[] = "/tmp/tegracl-units-XXXXXX";

/* The number of cores is the same on every machine. */
unsigned __wrap_base_cores(void);
unsigned __wrap_base_cores(void) {
  return CORES;
}

/* Number of times that threads began to wait for others. */
static atomic_int waits;

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  atomic_fetch_add(&waits, 1);
  return __real_pthread_cond_wait(condition, mutex);
}

static atomic_bool no_processes;

/* If set, starting the next helper also forks a child that only sleeps until it is killed. */
static atomic_bool fork_at_start;
static pid_t child_of_start;

static void fork_idle_child(void) {
  const pid_t parent = getpid();
  child_of_start = fork();
  if (child_of_start == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* in case the test fails */
    while (getppid() == parent)
      pause();
    _exit(1);
  }
}

int __real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *environment);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *environment);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *environment) {
  if (atomic_exchange(&fork_at_start, false))
    fork_idle_child();
  return atomic_load(&no_processes)
             ? EAGAIN
             : __real_posix_spawn(pid, path, actions, attributes, arguments, environment);
}

static void cache_on(void) {
  setenv("TEGRACL_CACHE_DIR", folder, 1);
  unsetenv("TEGRACL_CACHE");
}

static void cache_off(void) {
  setenv("TEGRACL_CACHE", "0", 1);
}

/* ---- builds ------------------------------------------------------------------------ */

static enum cc_status build(const char *source, struct cc_result *result) {
  static const struct cc_device device = {
      .sm = 87, .local_mem_bytes = 49152, .extensions = "", .c_features = ""};
  const struct cc_source text = {source, strlen(source)};
  const struct cc_job job = {.device = &device, .sources = &text, .source_count = 1, .options = ""};
  return cc_build(&job, result);
}

static void check_units(const struct cc_result *result, unsigned units, unsigned cached) {
  assert_int_equal(result->units, units);
  assert_int_equal(result->units_cached, cached);
  assert_null(result->plan);
  assert_true(cc_binary_is_container(result->binary, result->binary_size));
  uint32_t count;
  memcpy(&count, (const char *)result->binary + UNITS_AT, sizeof count);
  assert_int_equal(count, units);
}

static void build_units(const char *source, unsigned units, unsigned cached) {
  struct cc_result result;
  assert_int_equal(build(source, &result), CC_OK);
  check_units(&result, units, cached);
  cc_result_finish(&result);
}

/* The program is built again as a whole. The binary is the fake
 * compiler's description of the build. */
static void build_whole(const char *source, unsigned long long memory_mib) {
  struct cc_result result;
  unsigned long long mib = 0;
  assert_int_equal(build(source, &result), CC_OK);
  assert_int_equal(result.units, 0);
  assert_false(cc_binary_is_container(result.binary, result.binary_size));
  const char *memory = strstr(result.binary, "memory ");
  assert_true(memory && sscanf(memory, "memory %llu", &mib) == 1);
  assert_int_equal(mib, memory_mib);
  cc_result_finish(&result);
}

static void check_failure(const char *source, enum cc_status status, const char *words) {
  struct cc_result result;
  assert_int_equal(build(source, &result), status);
  assert_non_null(result.log);
  assert_null(result.binary);
  assert_null(result.plan);
  if (!strstr(result.log, words))
    fail_msg("\"%s\" does not say \"%s\"", result.log, words);
  cc_result_finish(&result);
}

static void test_caches_each_unit(void **state) {
  (void)state;
  cache_on();
  build_units("plan kernel\na\nb\nc", 3, 0);
  build_units("plan kernel\na\nb\nd\nc", 4, 3);
  /* Two equal units cause one build and one hit, or one build for both. */
  struct cc_result result;
  assert_int_equal(build("plan kernel\na\ne\ne", &result), CC_OK);
  assert_int_equal(result.units, 3);
  assert_in_range(result.units_cached, 1, 2);
  cc_result_finish(&result);
  cache_off();
  build_units("plan kernel\na\nb\nc", 3, 0);
}

/* The log of a failed unit becomes that of the program. */
static void test_failed_unit_builds_whole_program(void **state) {
  (void)state;
  check_failure("plan wrong\nkernel\nwrong\nkernel", CC_BUILD_FAILURE, "source:1: error: wrong");
  check_failure("plan abort\nkernel\nabort\nkernel", CC_INTERNAL_ERROR, "signal 6");
  build_whole("plan kernel\nkernel\nwrong\nkernel", SHARE_MIB);
  build_whole("plan kernel\nabort\nexit\nbusy", SHARE_MIB);
  /* After a timeout, the whole program does not get another full time limit. */
  setenv("TEGRACL_COMPILER_TIMEOUT", "1", 1);
  check_failure("plan kernel\nkernel\nhang", CC_INTERNAL_ERROR, "did not finish in 10 seconds");
  unsetenv("TEGRACL_COMPILER_TIMEOUT");
  build_units("plan kernel\nkernel\nkernel", 2, 0);
}

/* A helper may run out of its share of the memory when all of it would be enough. */
static void test_retries_with_all_memory(void **state) {
  (void)state;
  assert_int_equal(limits_width(), CORES);
  assert_int_equal(limits_share_mib(), SHARE_MIB);
  build_whole("greedy", CORES * SHARE_MIB);
  build_whole("plan kernel\nkernel\ngreedy", CORES * SHARE_MIB);
  build_whole("plan greedy\nkernel\nwrong", CORES * SHARE_MIB);
  check_failure("plan glutton\nkernel\ngreedy", CC_INTERNAL_ERROR, "ran out of memory");
}

/* Refuses plans that were not requested, come with a binary, or are malformed. */
static void test_refuses_malformed_plans(void **state) {
  (void)state;
  check_failure("plan unasked\nwrong", CC_INTERNAL_ERROR, "malformed answer");
  build_whole("plan kernel\nunasked", SHARE_MIB);
  build_whole("plan kernel", SHARE_MIB); /* no units */
  check_failure("both", CC_INTERNAL_ERROR, "malformed answer");
}

/* ---- turns --------------------------------------------------------------------------- */

static const char *compiler;

struct request {
  pthread_t thread;
  struct helper_share *share;
  enum helper_kind kind;
  struct helper *helper;
  atomic_bool served;
};

static void *get(void *argument) {
  struct request *request = argument;
  bool used;
  int error;
  request->helper = helper_get(compiler, request->share, request->kind, &used, &error);
  atomic_store(&request->served, true);
  return NULL;
}

static void begin(struct request *request) {
  assert_int_equal(pthread_create(&request->thread, NULL, get, request), 0);
}

/* Like begin, but no helper is available: returns when the thread waits. */
static void begin_waiting(struct request *request) {
  const int before = atomic_load(&waits);
  begin(request);
  while (atomic_load(&waits) == before)
    usleep(1000);
}

static void served(struct request *request) {
  pthread_join(request->thread, NULL);
  assert_non_null(request->helper);
}

/* The build with the fewest helpers gets the next one, regardless of the order of waiting. */
static void test_fewest_helpers_first(void **state) {
  (void)state;
  struct helper_share a = {0}, b = {0};
  struct request first[CORES] = {{.share = &a}, {.share = &a}};
  struct request more[] = {{.share = &a}, {.share = &a}, {.share = &b}, {.share = &b}};
  for (int i = 0; i < CORES; i++) {
    begin(&first[i]);
    served(&first[i]);
  }
  for (int i = 0; i < 4; i++)
    begin_waiting(&more[i]);
  helper_put(first[0].helper);
  served(&more[2]); /* a has one, b none */
  assert_false(atomic_load(&more[0].served));
  helper_put(first[1].helper);
  served(&more[0]); /* b has one, a none */
  assert_false(atomic_load(&more[1].served) || atomic_load(&more[3].served));
  helper_put(more[2].helper);
  served(&more[3]);
  assert_false(atomic_load(&more[1].served));
  helper_put(more[0].helper);
  served(&more[1]);
  helper_put(more[3].helper);
  helper_put(more[1].helper);
  assert_int_equal(a.busy + b.busy, 0);
}

/* A build that needs all the memory waits until no other helper works, and then no other starts. */
static void test_large_build_runs_alone(void **state) {
  (void)state;
  struct helper_share a = {0}, b = {0}, c = {0};
  struct request first[CORES] = {{.share = &a}, {.share = &a}};
  struct request big = {.share = &b, .kind = HELPER_ALONE}, small = {.share = &c};
  for (int i = 0; i < CORES; i++) {
    begin(&first[i]);
    served(&first[i]);
  }
  begin_waiting(&big);
  begin_waiting(&small);
  helper_put(first[0].helper);
  assert_int_equal(b.busy + c.busy, 0); /* small must not take a place that big needs */
  helper_put(first[1].helper);
  served(&big);
  assert_int_equal(c.busy, 0);
  assert_false(atomic_load(&small.served));
  helper_put(big.helper);
  served(&small);
  helper_put(small.helper);
}

/* If no process can be started, the existing helpers do the work. */
static void test_uses_existing_helpers_without_new_processes(void **state) {
  (void)state;
  struct helper_share share = {0};
  struct request first = {.share = &share}, second = {.share = &share};
  bool used;
  int error;
  setenv("TEGRACL_TEST_VARIABLE", "1", 1); /* makes the idle helpers unusable */
  begin(&first);
  served(&first);
  atomic_store(&no_processes, true);
  begin_waiting(&second);
  helper_put(first.helper);
  served(&second);
  assert_ptr_equal(second.helper, first.helper);
  helper_put(second.helper);
  build_units("plan kernel\na\nb\nc\nd\ne", 5, 0);
  setenv("TEGRACL_TEST_VARIABLE", "2", 1);
  assert_null(helper_get(compiler, &share, HELPER_NORMAL, &used, &error));
  assert_int_equal(error, -EAGAIN);
  assert_int_equal(share.busy, 0);
  check_failure("plan kernel\na", CC_OUT_OF_MEMORY, "cannot start the compiler");
  atomic_store(&no_processes, false);
  unsetenv("TEGRACL_TEST_VARIABLE");
  build_units("plan kernel\na\nb\nc\nd\ne", 5, 0);
}

/* AddressSanitizer of gcc 12 does not unlock its allocator in a child of fork. A child that
 * allocates hangs if another thread of the parent was allocating. */
#ifndef __SANITIZE_ADDRESS__
static void *build_slowly(void *argument) {
  struct cc_result result;
  char source[64];
  const char name = *(const char *)argument;
  snprintf(source, sizeof source, "plan kernel\nslow %c\nslow %c%c\nslow", name, name, name);
  const bool good = build(source, &result) == CC_OK && result.units == 3;
  cc_result_finish(&result);
  return good ? argument : NULL;
}

/* A child does not inherit builds that its parent runs or waits for. */
static void test_forked_child_can_build_during_parents_builds(void **state) {
  (void)state;
  enum { THREADS = 3 }; /* more than CORES, so some threads wait */
  pthread_t threads[THREADS];
  char names[] = "uvw";
  int status = -1;
  const int before = atomic_load(&waits);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, build_slowly, &names[i]), 0);
  while (atomic_load(&waits) == before)
    usleep(1000);
  const pid_t child = fork();
  if (child == 0) {
    struct cc_result result;
    _exit(build("kernel", &result) == CC_OK ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  for (int i = 0; i < THREADS; i++) {
    void *value = NULL;
    pthread_join(threads[i], &value);
    assert_ptr_equal(value, &names[i]);
  }
}
#endif

static void test_time_limit_is_read_from_environment(void **state) {
  (void)state;
  enum { DEFAULT_SECONDS = 600, MOST_SECONDS = INT_MAX / 10000 };
  static const struct {
    const char *text;
    int64_t seconds;
  } cases[] = {
      {"30", 30},
      {"4000000", MOST_SECONDS},
      {"99999999999999999999", MOST_SECONDS},
      {"", DEFAULT_SECONDS},
      {"-1", DEFAULT_SECONDS},
      {"ten", DEFAULT_SECONDS},
      {"5s", DEFAULT_SECONDS},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    setenv("TEGRACL_COMPILER_TIMEOUT", cases[k].text, 1);
    assert_int_equal(limits_seconds(), cases[k].seconds);
  }
  unsetenv("TEGRACL_COMPILER_TIMEOUT");
}

/* A child that was forked while a helper was started does not keep the helper's end of the socket
 * open, so the client notices the helper's crash at once. */
static void test_forked_child_does_not_hide_helper_crash(void **state) {
  (void)state;
  int status;
  setenv("TEGRACL_TEST_VARIABLE", "3", 1); /* other helpers than the idle ones */
  setenv("TEGRACL_COMPILER_TIMEOUT", "60", 1);
  build_whole("kernel", SHARE_MIB); /* the handlers of forks are there */
  setenv("TEGRACL_TEST_VARIABLE", "4", 1);
  atomic_store(&fork_at_start, true);
  check_failure("abort", CC_INTERNAL_ERROR, "signal 6");
  assert_true(child_of_start > 0);
  assert_int_equal(kill(child_of_start, SIGKILL), 0);
  assert_int_equal(waitpid(child_of_start, &status, 0), child_of_start);
  unsetenv("TEGRACL_TEST_VARIABLE");
  unsetenv("TEGRACL_COMPILER_TIMEOUT");
}

/* Runs many builds at once, some of which fail in different ways. */
static void *build_several(void *argument) {
  static const char *const sources[] = {
      "plan kernel\na\nb\nc\nd",
      "plan kernel\nslow\nwrong\nslow\nslow",
      "plan kernel\nc\ngreedy\nslow\nd",
      "plan kernel\nabort\nslow",
  };
  bool good = true;
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    struct cc_result result;
    char source[128];
    snprintf(source, sizeof source, "%s\n%c", sources[i], *(const char *)argument);
    good &= build(source, &result) == CC_OK;
    cc_result_finish(&result);
  }
  return good ? argument : NULL;
}

static void test_builds_in_6_threads(void **state) {
  (void)state;
  enum { THREADS = 6 };
  pthread_t threads[THREADS];
  char names[] = "uvwxyz";
  cache_on();
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, build_several, &names[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    void *value = NULL;
    pthread_join(threads[i], &value);
    assert_ptr_equal(value, &names[i]);
  }
  cache_off();
}

/* ---- in the background ------------------------------------------------------------------ */

enum { GATES = 3, GATE_BYTES = 64 };

/* A unit "wait GATE" is built after open_gate has been called. */
static char gates[GATES][GATE_BYTES];

static void make_gates(void) {
  for (int i = 0; i < GATES; i++) {
    snprintf(gates[i], GATE_BYTES, "%s/gate%d", folder, i);
    unlink(gates[i]);
    assert_int_equal(mkfifo(gates[i], 0600), 0);
  }
}

/* Waits until a helper is at the gate, and opens it. */
static void open_gate(int i) {
  const int gate = open(gates[i], O_WRONLY);
  assert_true(gate >= 0);
  close(gate);
}

static void *build_there(void *background) {
  const struct cc_result *result;
  cc_background_build(background, &result);
  cc_background_end(background);
  cc_background_drop(background);
  return NULL;
}

static struct cc_background *start(const char *source) {
  static const struct cc_device device = {
      .sm = 87, .local_mem_bytes = 49152, .extensions = "", .c_features = ""};
  const struct cc_source text = {source, strlen(source)};
  const struct cc_job job = {.device = &device, .sources = &text, .source_count = 1, .options = ""};
  struct cc_background *background = cc_background_create(&job);
  assert_non_null(background);
  cc_background_hold(background);
  assert_int_equal(base_thread_start(NULL, build_there, background), 0);
  return background;
}

static void check_end(struct cc_background *background, enum cc_status wanted) {
  struct cc_result *result;
  assert_int_equal(cc_background_wait(background, &result), wanted);
  assert_true(cc_background_has_ended(background));
  if (wanted == CC_OK)
    check_units(result, result->units, 0);
  cc_background_drop(background);
}

struct wanted {
  struct cc_background *background;
  unsigned unit;
  enum cc_status status;
};

static void *want(void *argument) {
  struct wanted *wanted = argument;
  void *binary;
  size_t size;
  wanted->status = cc_background_unit(wanted->background, wanted->unit, &binary, &size);
  if (wanted->status == CC_OK)
    free(binary);
  return NULL;
}

/* Half of the helpers build units that no thread waits for, so another is free for one that a
 * thread begins to wait for. */
static void test_builds_wanted_unit_first(void **state) {
  (void)state;
  char source[512];
  const char *log;
  make_gates();
  snprintf(source, sizeof source, "plan kernel\nwait %s\nwait %s\nlast", gates[0], gates[1]);
  struct cc_background *background = start(source);
  assert_true(cc_background_accepted(background, &log));
  usleep(100 * 1000); /* by now a helper builds the first unit */
  struct wanted last = {.background = background, .unit = 2};
  want(&last);
  assert_int_equal(last.status, CC_OK);
  open_gate(0);
  open_gate(1);
  check_end(background, CC_OK);
}

/* The program is accepted when all units that may be refused are built. The
 * other units are built even if one of them fails. */
static void test_accepts_before_all_units_are_built(void **state) {
  (void)state;
  char source[512];
  const char *log;
  make_gates();
  struct cc_background *background = start("plan wrong\na\n?wrong\nb");
  assert_false(cc_background_accepted(background, &log));
  check_end(background, CC_BUILD_FAILURE);
  snprintf(source, sizeof source, "plan wrong\nwait %s\n?a\nwrong\n?b\nc", gates[0]);
  background = start(source);
  assert_true(cc_background_accepted(background, &log));
  struct wanted unit = {.background = background, .unit = 4};
  want(&unit);
  assert_int_equal(unit.status, CC_OK);
  unit.unit = 2;
  want(&unit);
  assert_int_equal(unit.status, CC_BUILD_FAILURE);
  open_gate(0);
  check_end(background, CC_BUILD_FAILURE);
  /* No units remain after the last one that may be refused. */
  background = start("plan kernel\n?a\n?b");
  assert_false(cc_background_accepted(background, &log));
  check_end(background, CC_OK);
}

static void *build_again(void *source) {
  struct cc_result result;
  const bool good = build(source, &result) == CC_OK && result.units == 2;
  cc_result_finish(&result);
  return good ? source : NULL;
}

/* Cancelled builds end at any stage. A thread that waited for a
 * cancelled build builds the program itself. */
static void test_cancelled_builds_end(void **state) {
  (void)state;
  char source[512];
  const char *log;
  pthread_t thread;
  void *value = NULL;
  make_gates();
  snprintf(source, sizeof source, "wait %s", gates[0]);
  struct cc_background *background = start(source);
  cc_background_cancel(background);
  check_end(background, CC_CANCELLED);
  snprintf(source, sizeof source, "plan kernel\nwait %s\nwait %s\nwait %s", gates[0], gates[1],
           gates[2]);
  background = start(source);
  assert_true(cc_background_accepted(background, &log));
  cc_background_cancel(background);
  struct wanted unit = {.background = background, .unit = 2};
  want(&unit);
  assert_int_equal(unit.status, CC_CANCELLED);
  check_end(background, CC_CANCELLED);
  cache_on();
  snprintf(source, sizeof source, "plan kernel\nwait %s\nwait %s", gates[0], gates[1]);
  background = start(source);
  assert_true(cc_background_accepted(background, &log));
  const int before = atomic_load(&waits);
  assert_int_equal(pthread_create(&thread, NULL, build_again, source), 0);
  while (atomic_load(&waits) == before)
    usleep(1000);
  cc_background_cancel(background);
  check_end(background, CC_CANCELLED);
  open_gate(0);
  open_gate(1);
  pthread_join(thread, &value);
  assert_ptr_equal(value, source);
  cache_off();
}

static char *unit_text(struct cc_background *background, unsigned unit) {
  void *binary;
  size_t size;
  assert_int_equal(cc_background_unit(background, unit, &binary, &size), CC_OK);
  const char *text = memmem(binary, size, "pid ", strlen("pid "));
  assert_non_null(text);
  char *copy = strdup(text);
  free(binary);
  return copy;
}

/* Checks that both builds have the result of the same compilation. */
static void check_shared_unit(struct cc_background *a, struct cc_background *b, unsigned unit) {
  char *one = unit_text(a, unit), *other = unit_text(b, unit);
  assert_string_equal(one, other);
  free(one);
  free(other);
}

/* Starts a build and waits until it is accepted. Returns the log of its plan. */
static const char *start_accepted(const char *source, struct cc_background **background) {
  const char *log;
  *background = start(source);
  assert_true(cc_background_accepted(*background, &log));
  return log;
}

static void check_success(struct cc_background *background) {
  struct cc_result *result;
  assert_int_equal(cc_background_wait(background, &result), CC_OK);
  cc_background_drop(background);
}

/* A thread that builds what another thread is building gets its plan, waits only for the units that
 * it needs, and no unit is compiled twice. */
static void test_second_build_shares_units_of_first(void **state) {
  (void)state;
  char source[512];
  struct cc_background *first, *second;
  make_gates();
  cache_on();
  snprintf(source, sizeof source, "plan kernel\nwait %s shared\nquick", gates[0]);
  const char *log = start_accepted(source, &first);
  assert_string_equal(start_accepted(source, &second), log);
  check_shared_unit(first, second, 1);
  assert_false(cc_background_has_ended(first) || cc_background_has_ended(second));
  open_gate(0);
  check_shared_unit(first, second, 0);
  check_success(first);
  check_success(second);
  cache_off();
}

/* If the first build is cancelled, the second one is not affected, and its result is cached. */
static void test_second_build_survives_cancelled_first(void **state) {
  (void)state;
  char source[512];
  struct cc_result result;
  struct cc_background *first, *second;
  make_gates();
  cache_on();
  snprintf(source, sizeof source, "plan kernel\nwait %s survivor\nquick", gates[0]);
  start_accepted(source, &first);
  start_accepted(source, &second);
  cc_background_cancel(first);
  check_end(first, CC_CANCELLED);
  open_gate(0);
  check_success(second);
  assert_int_equal(build(source, &result), CC_OK);
  assert_true(result.from_cache);
  cc_result_finish(&result);
  cache_off();
}

/* A build that begins after a header of the program has changed does not use an older plan. */
static void test_plan_of_changed_header_is_not_shared(void **state) {
  (void)state;
  char header[64], source[512];
  struct cc_background *first, *second, *third;
  const char *late;
  make_gates();
  cache_on();
  snprintf(header, sizeof header, "%s/x.h", folder);
  fclose(fopen(header, "w"));
  wait_for_tick();
  snprintf(source, sizeof source, "plan kernel\nwait %s header\n// #include %s", gates[0], header);
  const char *log = start_accepted(source, &first);
  assert_string_equal(start_accepted(source, &second), log);
  fclose(fopen(header, "w"));
  const int before = atomic_load(&waits);
  third = start(source);
  while (atomic_load(&waits) == before)
    usleep(1000);
  open_gate(0);
  cc_background_accepted(third, &late);
  assert_string_not_equal(late, log);
  check_success(first);
  check_success(second);
  check_success(third);
  cache_off();
}

static int set_up(void **state) {
  (void)state;
  char memory[16];
  compiler = getenv("TEGRACL_COMPILER");
  if (!compiler)
    fprintf(stderr, "TEGRACL_COMPILER must be the path of fake_compiler\n");
  snprintf(memory, sizeof memory, "%d", CORES * SHARE_MIB);
  setenv("TEGRACL_COMPILER_MEMORY", memory, 1);
  cache_off();
  return compiler && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_caches_each_unit),
      cmocka_unit_test(test_failed_unit_builds_whole_program),
      cmocka_unit_test(test_retries_with_all_memory),
      cmocka_unit_test(test_refuses_malformed_plans),
      cmocka_unit_test(test_fewest_helpers_first),
      cmocka_unit_test(test_large_build_runs_alone),
      cmocka_unit_test(test_uses_existing_helpers_without_new_processes),
#ifndef __SANITIZE_ADDRESS__
      cmocka_unit_test(test_forked_child_can_build_during_parents_builds),
#endif
      cmocka_unit_test(test_forked_child_does_not_hide_helper_crash),
      cmocka_unit_test(test_builds_in_6_threads),
      cmocka_unit_test(test_builds_wanted_unit_first),
      cmocka_unit_test(test_accepts_before_all_units_are_built),
      cmocka_unit_test(test_cancelled_builds_end),
      cmocka_unit_test(test_time_limit_is_read_from_environment),
      cmocka_unit_test(test_second_build_shares_units_of_first),
      cmocka_unit_test(test_second_build_survives_cancelled_first),
      cmocka_unit_test(test_plan_of_changed_header_is_not_shared),
  };
  return cmocka_run_group_tests(tests, set_up, remove_folder);
}
