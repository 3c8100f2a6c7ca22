/* Tests the order of the handlers around a fork, and registering handlers during a fork. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fork.h"

static char calls[64]; /* each handler appends two letters */

static void driver_prepare(void) {
  strcat(calls, "dp ");
}
static void driver_parent(void) {
  strcat(calls, "dP ");
}
static void driver_child(void) {
  strcat(calls, "dC ");
}
static const struct base_fork_handlers driver = {driver_prepare, driver_parent, driver_child};

static void late_call(void) {
  strcat(calls, "l ");
}
static const struct base_fork_handlers late = {late_call, late_call, late_call};

/* These register handlers while a fork is in progress. */
static void pages_prepare(void) {
  strcat(calls, "pp ");
  base_fork_watch(BASE_FORK_HELPERS, &late);
}
static void pages_parent(void) {
  strcat(calls, "pP ");
  base_fork_watch(BASE_FORK_BUILDS, &late);
}
static const struct base_fork_handlers pages = {pages_prepare, pages_parent, NULL};

static void check_fork(const char *in_parent, const char *in_child) {
  calls[0] = 0;
  const pid_t pid = fork();
  if (pid == 0)
    _exit(strcmp(calls, in_child) != 0);
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_string_equal(calls, in_parent);
}

/* Handlers run in the order of enum base_fork_part, not in that of registration. */
static void handlers_run_in_order_of_parts(void **state) {
  (void)state;
  assert_int_equal(base_fork_watch(BASE_FORK_HOST_PAGES, &pages), 0);
  assert_int_equal(base_fork_watch(BASE_FORK_DRIVER, &driver), 0);
  assert_int_equal(base_fork_watch(BASE_FORK_DRIVER, &driver), 0);
  /* HELPERS is registered before its turn in prepare, BUILDS after its turn in the parent. */
  check_fork("pp l dp dP l pP ", "pp l dp dC l ");
  check_fork("pp l l dp dP l l pP ", "pp l l dp dC l l ");
}

/* Another thread may fork after pthread_atfork has returned but before base_fork_watch records
 * that. This test runs first, because handlers are registered only once. */
static bool forks_at_registration;
static int status_at_registration = -1;

int __real_pthread_atfork(void (*)(void), void (*)(void), void (*)(void)); // NOLINT
int __wrap_pthread_atfork(void (*)(void), void (*)(void), void (*)(void)); // NOLINT

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  const int error = __real_pthread_atfork(prepare, parent, child);
  if (!forks_at_registration)
    return error;
  forks_at_registration = false;
  const pid_t pid = fork();
  if (pid == 0) {
    const bool watched = base_fork_watch(BASE_FORK_DRIVER, &driver) == 0;
    calls[0] = 0;
    if (fork() == 0)
      _exit(0);
    wait(NULL);
    _exit(!watched || strcmp(calls, "dp dP ") != 0);
  }
  if (waitpid(pid, &status_at_registration, 0) != pid)
    status_at_registration = -1;
  return error;
}

static void fork_during_registration_works(void **state) {
  static const struct base_fork_handlers none = {NULL, NULL, NULL};
  (void)state;
  forks_at_registration = true;
  assert_int_equal(base_fork_watch(BASE_FORK_EMULATOR, &none), 0);
  assert_int_equal(status_at_registration, 0);
}

static void *fork_often(void *failures) {
  for (int i = 0; i < 50; i++) {
    const pid_t pid = fork();
    if (pid == 0)
      _exit(0);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
      ++*(int *)failures;
  }
  return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int held; /* must be 1 during each fork: handlers of two forks must not interleave */

static void take_lock(void) {
  pthread_mutex_lock(&lock);
  held++;
}
static void release_lock(void) {
  held--;
  pthread_mutex_unlock(&lock);
}
static void check_child(void) {
  if (held != 1)
    _exit(1);
}
static const struct base_fork_handlers locking = {take_lock, release_lock, check_child};

/* When several threads fork, each runs the parent handlers for what it has prepared. This test must
 * precede the next one, whose handlers support only one thread. */
static void threads_can_fork_concurrently(void **state) {
  (void)state;
  pthread_t others[4];
  int failures[4] = {0};
  assert_int_equal(base_fork_watch(BASE_FORK_EPOLL, &locking), 0);
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&others[i], NULL, fork_often, &failures[i]), 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(others[i], NULL);
    assert_int_equal(failures[i], 0);
  }
  assert_int_equal(held, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fork_during_registration_works),
                                     cmocka_unit_test(threads_can_fork_concurrently),
                                     cmocka_unit_test(handlers_run_in_order_of_parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
