/* Tests the check of the lock order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lock.h"
#include "icd/object/lock.h"

static struct base_mutex program = BASE_MUTEX_INITIALIZER(BASE_LOCK_PROGRAM);
static struct base_mutex context, other_context, cleared;
static struct base_rwlock pool;
static struct icd_lock kernel, queue;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static int setup(void **state) {
  base_mutex_init(&context, BASE_LOCK_CONTEXT);
  base_mutex_init(&other_context, BASE_LOCK_CONTEXT);
  base_rwlock_init(&pool, BASE_LOCK_RT_POOL);
  icd_lock_init(&kernel, BASE_LOCK_KERNEL);
  icd_lock_init(&queue, BASE_LOCK_QUEUE);
  return 0;
}

/* Checks that the function prints the message and aborts. qemu may print a line after the
 * message. */
static void check_abort(void (*take_locks)(void), const char *message) {
  int ends[2];
  char text[512];
  assert_int_equal(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    take_locks();
    _exit(0);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t got; (got = read(ends[0], text + length, sizeof(text) - length)) > 0;)
    length += (size_t)got;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGABRT);
  assert_true(length >= strlen(message));
  assert_memory_equal(text, message, strlen(message));
}

/* Takes locks in order, and each lock again after its release. */
static void accepts_correct_order(void **state) {
  for (int i = 0; i < 2; i++) {
    base_mutex_lock(&program);
    icd_lock(&kernel);
    icd_lock(&queue);
    base_mutex_lock(&context);
    base_rwlock_read(&pool);
    base_rwlock_unlock(&pool);
    base_rwlock_write(&pool);
    base_mutex_unlock(&context);
    icd_unlock(&kernel);
    base_rwlock_unlock(&pool);
    icd_unlock(&queue);
    icd_lock(&kernel);
    icd_unlock(&kernel);
    base_mutex_unlock(&program);
  }
}

static void take_program_after_context(void) {
  base_mutex_lock(&context);
  base_mutex_lock(&program);
}
static void take_kernel_after_queue(void) {
  icd_lock(&queue);
  icd_lock(&kernel);
}
static void take_context_after_pool(void) {
  base_rwlock_read(&pool);
  base_mutex_lock(&context);
}
static void aborts_on_wrong_order(void **state) {
  check_abort(
      take_program_after_context,
      "tegracl: wrong order of locks: PROGRAM (objects.h: program) is taken while the thread "
      "holds CONTEXT (objects.h: context)\n");
  check_abort(take_kernel_after_queue,
              "tegracl: wrong order of locks: KERNEL (objects.h: kernel) is taken while the thread "
              "holds QUEUE (objects.h: command queue)\n");
  check_abort(
      take_context_after_pool,
      "tegracl: wrong order of locks: CONTEXT (objects.h: context) is taken while the thread "
      "holds RT_POOL (context.h: local memory of a TSG)\n");
}

static void take_two_contexts(void) {
  base_mutex_lock(&context);
  base_mutex_lock(&other_context);
}
static void aborts_on_two_locks_of_one_row(void **state) {
  check_abort(
      take_two_contexts,
      "tegracl: wrong order of locks: CONTEXT (objects.h: context) is taken while the thread "
      "holds CONTEXT (objects.h: context)\n");
}

/* A trylock may violate the order, but a lock taken after it may not. */
static void take_program_after_trylock(void) {
  if (base_mutex_trylock(&context) || base_mutex_trylock(&other_context))
    _exit(1);
  base_mutex_lock(&program);
}
static void trylocks_may_break_the_order(void **state) {
  base_mutex_lock(&context);
  assert_int_equal(base_mutex_trylock(&program), 0);
  assert_true(icd_try_lock(&queue));
  assert_false(icd_try_lock(&queue));
  assert_int_equal(base_mutex_trylock(&program), EBUSY);
  base_mutex_unlock(&context);
  base_mutex_unlock(&program);
  icd_unlock(&queue);
  check_abort(
      take_program_after_trylock,
      "tegracl: wrong order of locks: PROGRAM (objects.h: program) is taken while the thread "
      "holds CONTEXT (objects.h: context)\n");
}

/* A thread that wakes from a wait takes the lock again. */
static void wait_with_a_later_lock(void) {
  base_mutex_lock(&program);
  base_mutex_lock(&context);
  base_mutex_wait(&program, &condition);
}
static void waits_check_the_order_again(void **state) {
  base_mutex_lock(&program);
  base_mutex_lock(&context);
  assert_int_equal(base_mutex_wait_until(&context, &condition, 0), ETIMEDOUT);
  base_mutex_unlock(&context);
  base_mutex_unlock(&program);
  check_abort(
      wait_with_a_later_lock,
      "tegracl: wrong order of locks: PROGRAM (objects.h: program) is taken while the thread "
      "holds CONTEXT (objects.h: context)\n");
}

static void take_cleared(void) {
  base_mutex_lock(&cleared);
}
static void aborts_on_uninitialised_lock(void **state) {
  check_abort(take_cleared, "tegracl: a lock that was not initialised is taken\n");
}

/* A child of fork starts without locks. */
static void child_of_fork_holds_no_locks(void **state) {
  base_mutex_lock(&context);
  const pid_t pid = fork();
  if (pid == 0) {
    base_mutex_lock(&program);
    _exit(0);
  }
  base_mutex_unlock(&context);
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts_correct_order),
      cmocka_unit_test(aborts_on_wrong_order),
      cmocka_unit_test(aborts_on_two_locks_of_one_row),
      cmocka_unit_test(trylocks_may_break_the_order),
      cmocka_unit_test(waits_check_the_order_again),
      cmocka_unit_test(aborts_on_uninitialised_lock),
      cmocka_unit_test(child_of_fork_holds_no_locks),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
