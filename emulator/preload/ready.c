/* Redirected functions that wait for fds.
 *
 * When an event is polled, the driver reports POLLIN and POLLPRI together, and only once. Here the
 * fd is an eventfd, which reports only POLLIN, and does so until it is read
 * (docs/hardware/kernel-interface.md 3.6, 6). */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>

#include "base/clock.h"
#include "emulator/descriptors.h"
#include "emulator/preload/next.h"

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000, US_PER_S = 1000000, NS_PER_US = 1000 };

/* When a wait ends, in the time of base_clock_ns. */
struct wait_end {
  bool set; /* false: no timeout */
  int64_t ns;
  struct timespec left; /* storage for the result of time_left */
};

/* Returns the time at which the timeout ends. A timeout of more than a century never ends. */
static struct wait_end make_end(const struct timespec *timeout) {
  const int64_t longest_s = INT64_MAX / NS_PER_S / 2;
  struct wait_end end = {.set = timeout && timeout->tv_sec <= longest_s};
  if (end.set)
    end.ns = (int64_t)base_clock_ns() + (int64_t)timeout->tv_sec * NS_PER_S + timeout->tv_nsec;
  return end;
}

/* Returns the timeout for the next system call of the wait, or NULL if there is none. */
static const struct timespec *time_left(struct wait_end *end) {
  if (!end->set)
    return NULL;
  int64_t ns = end->ns - (int64_t)base_clock_ns();
  ns = ns < 0 ? 0 : ns;
  end->left = (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
  return &end->left;
}

static bool is_over(const struct wait_end *end) {
  return end->set && (int64_t)base_clock_ns() >= end->ns;
}

static bool has_event(const struct pollfd *fds, nfds_t count) {
  for (nfds_t i = 0; i < count; i++) {
    if (emulator_is_event(fds[i].fd))
      return true;
  }
  return false;
}

/* Takes the events of readable fds. Returns how many fds are ready after that. */
static int poll_report_once(struct pollfd *fds, nfds_t count, const struct pollfd *asked) {
  int ready = 0;
  for (nfds_t i = 0; i < count; i++) {
    if ((fds[i].revents & POLLIN) && emulator_is_event(fds[i].fd))
      fds[i].revents =
          (short)(emulator_event_take(fds[i].fd) ? asked[i].events & (POLLIN | POLLPRI) : 0);
    ready += fds[i].revents != 0;
  }
  return ready;
}

static int poll_events(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask) {
  struct wait_end end = make_end(timeout);
  struct pollfd *asked = malloc(count * sizeof(*fds));
  if (!asked)
    return next_result(-ENOMEM);
  memcpy(asked, fds, count * sizeof(*fds));
  for (nfds_t i = 0; i < count; i++)
    if ((fds[i].events & POLLPRI) && emulator_is_event(fds[i].fd))
      fds[i].events |= POLLIN;
  int ready;
  do {
    emulator_wake_engine();
    ready = NEXT(ppoll)(fds, count, time_left(&end), mask);
    if (ready > 0)
      ready = poll_report_once(fds, count, asked);
  } while (ready == 0 && !is_over(&end));
  for (nfds_t i = 0; i < count; i++)
    fds[i].events = asked[i].events;
  free(asked);
  return ready;
}

REDIRECT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                   const sigset_t *mask) {
  return has_event(fds, count) ? poll_events(fds, count, timeout, mask)
                               : NEXT(ppoll)(fds, count, timeout, mask);
}

REDIRECT int poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  if (!has_event(fds, count))
    return NEXT(poll)(fds, count, timeout_ms);
  struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * NS_PER_MS};
  return poll_events(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

static bool is_requested(int fd, const fd_set *set) {
  return set && FD_ISSET(fd, set);
}

static bool select_has_event(int count, const fd_set *readable, const fd_set *exceptional) {
  for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
    if ((is_requested(fd, readable) || is_requested(fd, exceptional)) && emulator_is_event(fd))
      return true;
  }
  return false;
}

static int select_events(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
                         struct wait_end *end, const sigset_t *mask) {
  fd_set none, asked_r, asked_w, asked_e;
  FD_ZERO(&none);
  asked_r = readable ? *readable : none;
  asked_w = writable ? *writable : none;
  asked_e = exceptional ? *exceptional : none;
  count = count < FD_SETSIZE ? count : FD_SETSIZE;
  int ready;
  do {
    fd_set r = asked_r, w = asked_w, e = asked_e;
    for (int fd = 0; fd < count; fd++) {
      if (FD_ISSET(fd, &e) && emulator_is_event(fd))
        FD_SET(fd, &r);
    }
    emulator_wake_engine();
    ready = NEXT(pselect)(count, &r, &w, &e, time_left(end), mask);
    for (int fd = 0; ready > 0 && fd < count; fd++) {
      if (!FD_ISSET(fd, &r) || !emulator_is_event(fd))
        continue;
      bool news = emulator_event_take(fd);
      ready--;
      FD_CLR(fd, &r);
      if (news && FD_ISSET(fd, &asked_r)) {
        FD_SET(fd, &r);
        ready++;
      }
      if (news && FD_ISSET(fd, &asked_e)) {
        FD_SET(fd, &e);
        ready++;
      }
    }
    if (ready >= 0 && readable)
      *readable = r;
    if (ready >= 0 && writable)
      *writable = w;
    if (ready >= 0 && exceptional)
      *exceptional = e;
  } while (ready == 0 && !is_over(end));
  return ready;
}

REDIRECT int pselect(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
                     const struct timespec *timeout, const sigset_t *mask) {
  if (!select_has_event(count, readable, exceptional))
    return NEXT(pselect)(count, readable, writable, exceptional, timeout, mask);
  struct wait_end end = make_end(timeout);
  return select_events(count, readable, writable, exceptional, &end, mask);
}

/* Like select of Linux, leaves the remaining time in timeout. */
REDIRECT int select(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
                    struct timeval *timeout) {
  if (!select_has_event(count, readable, exceptional))
    return NEXT(select)(count, readable, writable, exceptional, timeout);
  struct timespec time;
  if (timeout)
    time = (struct timespec){.tv_sec = timeout->tv_sec, .tv_nsec = timeout->tv_usec * NS_PER_US};
  struct wait_end end = make_end(timeout ? &time : NULL);
  int ready = select_events(count, readable, writable, exceptional, &end, NULL);
  if (end.set) {
    const struct timespec *rest = time_left(&end);
    *timeout = (struct timeval){.tv_sec = rest->tv_sec, .tv_usec = rest->tv_nsec / NS_PER_US};
  }
  return ready;
}
