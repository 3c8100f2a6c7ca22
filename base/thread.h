/* Threads of the driver. They block signals: the application's handlers must not run on threads
 * that it does not know, nor interrupt the driver's system calls. Signals that are raised
 * synchronously by an instruction are not blocked, because callbacks run on these threads, and a
 * fault in a callback must reach the application's handler (or a sandbox's, for SIGSYS). */
#ifndef TEGRACL_BASE_THREAD_H
#define TEGRACL_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

/* Starts function(data). If thread is NULL, the new thread is detached; otherwise the caller joins
 * it. Returns 0 or an error number of pthread_create. */
static inline int base_thread_start(pthread_t *thread, void *(*function)(void *), void *data) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  pthread_attr_t attributes;
  pthread_t detached;
  sigset_t blocked, before;
  int error = pthread_attr_init(&attributes);
  if (error)
    return error;
  if (!thread)
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&blocked);
  for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
    sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  error = pthread_create(thread ? thread : &detached, &attributes, function, data);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

/* Waits for the condition until the time ns of CLOCK_MONOTONIC at the latest. The caller holds the
 * lock. Returns 0 or ETIMEDOUT. */
static inline int base_cond_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock,
                                       uint64_t ns) {
  enum { NS_PER_S = 1000000000 };
  const struct timespec until = {.tv_sec = (time_t)(ns / NS_PER_S),
                                 .tv_nsec = (long)(ns % NS_PER_S)};
  return pthread_cond_clockwait(condition, lock, CLOCK_MONOTONIC, &until);
}

#endif
