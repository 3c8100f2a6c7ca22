/* Redirected epoll functions. To the kernel, an event of the device is an eventfd, which only
 * reports POLLIN. The events that the program requested, and their data, are kept here. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/fork.h"
#include "emulator/descriptors.h"
#include "emulator/preload/next.h"

/* The fd of a device event in an epoll set. */
struct watch {
  struct watch *next;
  int set, fd;
  struct epoll_event asked;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch *watches;

/* A child of fork has no event fds, and no thread that could unlock the lock. */
static void forked_child(void) {
  pthread_mutex_init(&lock, NULL);
  watches = NULL;
}

__attribute__((constructor)) static void set_fork_handlers(void) {
  static const struct base_fork_handlers handlers = {.child = forked_child};
  base_fork_watch(BASE_FORK_EPOLL, &handlers);
}

/* Removes an fd from a set. Also removes all fds that have been closed, as the kernel has done. */
static void drop_watch(int set, int fd) {
  for (struct watch **link = &watches; *link;) {
    struct watch *w = *link;
    if ((w->set == set && w->fd == fd) || !emulator_is_event(w->fd)) {
      *link = w->next;
      free(w);
    } else {
      link = &w->next;
    }
  }
}

static int add_watch(int set, int fd, const struct epoll_event *asked) {
  struct watch *w = malloc(sizeof(*w));
  if (!w)
    return -ENOMEM;
  pthread_mutex_lock(&lock);
  drop_watch(set, fd);
  *w = (struct watch){watches, set, fd, *asked};
  watches = w;
  pthread_mutex_unlock(&lock);
  return 0;
}

REDIRECT int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
  if (!emulator_is_event(fd))
    return NEXT(epoll_ctl)(set, operation, fd, event);
  if (operation == EPOLL_CTL_DEL || !event) {
    pthread_mutex_lock(&lock);
    drop_watch(set, fd);
    pthread_mutex_unlock(&lock);
    return NEXT(epoll_ctl)(set, operation, fd, event);
  }
  struct epoll_event changed = *event;
  changed.events |= changed.events & EPOLLPRI ? (uint32_t)EPOLLIN : 0;
  int result = NEXT(epoll_ctl)(set, operation, fd, &changed);
  return result < 0 ? result : next_result(add_watch(set, fd, event));
}

/* Replaces POLLIN of an eventfd by what the driver would report for the event, once. */
static int report_once(int set, struct epoll_event *events, int count) {
  if (count <= 0)
    return count;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++) {
    for (const struct watch *w = watches; w; w = w->next) {
      if (w->set != set || w->asked.data.u64 != events[i].data.u64 ||
          !(events[i].events & EPOLLIN) || !emulator_is_event(w->fd) || !emulator_event_take(w->fd))
        continue;
      events[i].events =
          (events[i].events & ~(uint32_t)EPOLLIN) | (w->asked.events & (EPOLLIN | EPOLLPRI));
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return count;
}

REDIRECT int epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms) {
  return report_once(set, events, NEXT(epoll_wait)(set, events, most, timeout_ms));
}

REDIRECT int epoll_pwait(int set, struct epoll_event *events, int most, int timeout_ms,
                         const sigset_t *mask) {
  return report_once(set, events, NEXT(epoll_pwait)(set, events, most, timeout_ms, mask));
}

REDIRECT int epoll_pwait2(int set, struct epoll_event *events, int most,
                          const struct timespec *timeout, const sigset_t *mask) {
  return report_once(set, events, NEXT(epoll_pwait2)(set, events, most, timeout, mask));
}
