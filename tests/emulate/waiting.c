/* Doorbells and events: none is lost, none occurs without a cause, every way of waiting reports an
 * event once, and an idle device uses almost no CPU time. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "orin.h"

enum { PAGE = 4096, NS_PER_MS = 1000000, SOON_MS = 60000 };

static void sleep_ms(long ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS}, NULL);
}

/* Checks that work runs only after a doorbell with its token in the right register. */
static void doorbell_only(struct orin *orin, struct orin_channel *channel,
                          const struct orin_buffer *data) {
  orin_push_release(channel, data->va, 1);
  orin_put(channel);
  sleep_ms(300);
  CHECK(orin_word(data->cpu) == 0);
  struct orin_channel other = *channel;
  other.token = 300; /* of no channel */
  orin_ring(&other);
  other.token = channel->token | 1u << 16; /* of another runlist */
  orin_ring(&other);
  *(volatile uint32_t *)(void *)orin->page = channel->token;
  sleep_ms(100);
  CHECK(orin_word(data->cpu) == 0);
  orin_ring(channel);
  CHECK(orin_wait(data->cpu, 1));
}

/* Threads ring the doorbell for their channels at the same time. One token overwrites another in
 * the page, but none is lost. */
enum { RINGERS = 16, ROUNDS = 200 };

struct ringer {
  struct orin_channel channel;
  struct orin_buffer data;
};

static void *ring_often(void *argument) {
  struct ringer *r = argument;
  for (uint32_t i = 1; i <= ROUNDS; i++) {
    orin_push_release(&r->channel, r->data.va, i);
    orin_submit(&r->channel);
    while (orin_word(r->data.cpu) != i)
      sched_yield();
  }
  return NULL;
}

static void ring_together(struct orin *orin) {
  struct ringer ringers[RINGERS];
  pthread_t threads[RINGERS];
  for (int i = 0; i < RINGERS; i++) {
    orin_channel(orin, &ringers[i].channel);
    orin_buffer(orin, &ringers[i].data, PAGE);
  }
  for (int i = 0; i < RINGERS; i++)
    CHECK(pthread_create(&threads[i], NULL, ring_often, &ringers[i]) == 0);
  for (int i = 0; i < RINGERS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < RINGERS; i++) {
    orin_buffer_free(orin, &ringers[i].data);
    orin_channel_close(&ringers[i].channel);
  }
}

/* Submits a release, then the interrupt that posts BLOCKING_SYNC. */
static void submit_awaken(struct orin_channel *channel, const struct orin_buffer *data,
                          uint32_t payload) {
  orin_push_release(channel, data->va, payload);
  orin_push(channel, 0x20010008); /* NON_STALL_INTERRUPT */
  orin_push(channel, 0);
  orin_submit(channel);
}

static int event_open(const struct orin *orin) {
  struct {
    uint32_t command, event;
    int32_t fd;
    uint32_t padding;
  } enable = {.command = 1, .event = 2};
  CHECK(ioctl(orin->tsg, 0xc0105407, &enable) == 0);
  return enable.fd;
}

static int poll_for(int fd, short events, short *revents, int timeout_ms) {
  struct pollfd p = {.fd = fd, .events = events};
  int ready = poll(&p, 1, timeout_ms);
  CHECK(p.events == events);
  *revents = p.revents;
  return ready;
}

static void events_by_poll(struct orin_channel *channel, const struct orin_buffer *data, int fd) {
  short told;
  CHECK(poll_for(fd, POLLIN | POLLPRI, &told, 50) == 0);
  submit_awaken(channel, data, 10);
  CHECK(poll_for(fd, POLLIN | POLLPRI, &told, SOON_MS) == 1 && told == (POLLIN | POLLPRI));
  CHECK(poll_for(fd, POLLIN | POLLPRI, &told, 0) == 0);
  submit_awaken(channel, data, 11);
  CHECK(poll_for(fd, POLLPRI, &told, -1) == 1 && told == POLLPRI);
  CHECK(poll_for(fd, POLLPRI, &told, 50) == 0);
}

/* A pipe in the same call reports its own state, and only requested events are reported. */
static void events_beside_others(struct orin_channel *channel, const struct orin_buffer *data,
                                 int fd) {
  int pipes[2];
  CHECK(pipe(pipes) == 0 && write(pipes[1], "", 1) == 1);
  struct pollfd fds[] = {{.fd = fd, .events = POLLPRI}, {.fd = pipes[0], .events = POLLPRI}};
  CHECK(poll(fds, 2, 50) == 0 && fds[0].revents == 0 && fds[1].revents == 0);
  submit_awaken(channel, data, 12);
  CHECK(poll(fds, 2, SOON_MS) == 1 && fds[0].revents == POLLPRI && fds[1].revents == 0);
  close(pipes[0]);
  close(pipes[1]);
}

static void events_by_select(struct orin_channel *channel, const struct orin_buffer *data, int fd) {
  fd_set readable, exceptional;
  struct timeval timeout = {.tv_sec = SOON_MS / 1000};
  submit_awaken(channel, data, 20);
  FD_ZERO(&readable);
  FD_ZERO(&exceptional);
  FD_SET(fd, &exceptional);
  CHECK(select(fd + 1, &readable, NULL, &exceptional, &timeout) == 1);
  CHECK(FD_ISSET(fd, &exceptional) && !FD_ISSET(fd, &readable) && timeout.tv_sec < SOON_MS / 1000);
  timeout = (struct timeval){.tv_usec = 50000};
  FD_SET(fd, &readable);
  CHECK(select(fd + 1, &readable, NULL, NULL, &timeout) == 0 && !FD_ISSET(fd, &readable));
  CHECK(timeout.tv_sec == 0 && timeout.tv_usec == 0);
}

struct later {
  struct orin_channel *channel;
  const struct orin_buffer *data;
};

static void *submit_later(void *argument) {
  const struct later *later = argument;
  nanosleep(&(struct timespec){.tv_nsec = 100 * NS_PER_MS}, NULL);
  submit_awaken(later->channel, later->data, 25);
  return NULL;
}

/* Waits with the longest timeout, whose nanoseconds do not fit in 64 bits. */
static void events_without_end(struct orin_channel *channel, const struct orin_buffer *data,
                               int fd) {
  struct later later = {channel, data};
  const struct timespec longest = {.tv_sec = LONG_MAX};
  struct pollfd p = {.fd = fd, .events = POLLPRI};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, submit_later, &later) == 0);
  CHECK(ppoll(&p, 1, &longest, NULL) == 1 && p.revents == POLLPRI);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void events_by_epoll(struct orin_channel *channel, const struct orin_buffer *data, int fd) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLPRI, .data.u64 = 77};
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);
  for (uint32_t i = 30; i < 33; i++) {
    submit_awaken(channel, data, i);
    CHECK(epoll_wait(set, &event, 1, SOON_MS) == 1 && event.data.u64 == 77);
    CHECK(event.events == (EPOLLIN | EPOLLPRI));
    CHECK(epoll_wait(set, &event, 1, 20) == 0);
  }
  event = (struct epoll_event){.events = EPOLLPRI, .data.fd = fd};
  CHECK(epoll_ctl(set, EPOLL_CTL_MOD, fd, &event) == 0);
  submit_awaken(channel, data, 33);
  CHECK(epoll_pwait(set, &event, 1, SOON_MS, NULL) == 1 && event.events == EPOLLPRI);
  CHECK(event.data.fd == fd);
  CHECK(epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL) == 0);
  close(set);
}

static void events(const struct orin *orin, struct orin_channel *channel,
                   const struct orin_buffer *data) {
  int first = event_open(orin);
  events_by_poll(channel, data, first);
  events_beside_others(channel, data, first);
  events_by_select(channel, data, first);
  events_without_end(channel, data, first);
  events_by_epoll(channel, data, first);
  int fd = dup(first); /* a duplicate still works after the first fd is closed */
  close(first);
  events_by_poll(channel, data, fd);
  close(fd);
}

/* A fence of the channel's syncpoint, which is incremented by a release to its window. */
static void fence(struct orin_channel *channel) {
  int node = open("/dev/host1x-fence", O_RDWR);
  CHECK(node >= 0);
  struct {
    uint32_t id, threshold;
    int32_t fd;
    uint32_t reserved;
  } create = {.id = channel->syncpoint, .threshold = 1};
  short told;
  CHECK(ioctl(node, 0xc0105802, &create) == 0);
  CHECK(poll_for(create.fd, POLLIN, &told, 20) == 0);
  orin_push_release(channel, channel->syncpoint_va, 0);
  orin_submit(channel);
  CHECK(poll_for(create.fd, POLLIN, &told, SOON_MS) == 1 && told == POLLIN);
  close(create.fd);
  close(node);
}

/* The resources that the whole process has used, including its engine. */
struct use {
  int64_t at_us, cpu_us;
  long sleeps;
};

static struct use use_now(void) {
  struct timespec now;
  struct rusage use;
  clock_gettime(CLOCK_MONOTONIC, &now);
  getrusage(RUSAGE_SELF, &use);
  return (struct use){.at_us = now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000,
                      .cpu_us = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * INT64_C(1000000) +
                                use.ru_utime.tv_usec + use.ru_stime.tv_usec,
                      .sleeps = use.ru_nvcsw};
}

/* The engine polls the doorbells 250 times per second and sleeps in between. */
static void idleness(void) {
  enum { LOOK_US = 4000, MS = 1000 };
  sleep_ms(100);
  const struct use before = use_now();
  sleep_ms(MS);
  const struct use after = use_now();
  const int64_t us = after.at_us - before.at_us, cpu_us = after.cpu_us - before.cpu_us;
  printf("an idle device takes %.2f %% of a core, and sleeps %ld times in %.3f s\n",
         100.0 * (double)cpu_us / (double)us, after.sleeps - before.sleeps, (double)us / 1e6);
  CHECK(after.sleeps - before.sleeps < 2 * us / LOOK_US);
  CHECK(cpu_us < us / 4); /* by far */
}

int main(void) {
  struct orin orin;
  struct orin_channel channel;
  struct orin_buffer data;
  orin_begin(&orin, &channel, &data, PAGE);
  doorbell_only(&orin, &channel, &data);
  ring_together(&orin);
  events(&orin, &channel, &data);
  fence(&channel);
  idleness();
  orin_end(&orin, &channel, &data);
  return 0;
}
