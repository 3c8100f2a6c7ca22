/* Helper processes. The standard input of a helper is one end of a socket pair. Its output
 * goes to a memory file: what LLVM prints before a crash becomes part of the build log, and
 * nothing reaches the application's terminal. A helper leads its own process group: Ctrl-C for
 * the application does not reach it, and its clang is killed with it.
 */
#include "compiler/client/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/fork.h"
#include "compiler/find.h"
#include "compiler/helper_limits.h"

extern char **environ;

struct helper {
  struct helper *next;
  pid_t pid;
  int pidfd; /* -1 if the kernel has no pidfds (before Linux 5.3) */
  int fd;
  int remote_fd;        /* the helper's end of the socket, while it is being started */
  int output;           /* memory file with its output */
  uint64_t environment; /* hash of the environment at its start */
  bool used;
  struct helper_share *share; /* share of the build that it works for */
  unsigned places;            /* how many of the limits_width places it takes while busy */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* busy, or a list */
static struct helper *idle;
static struct helper *working;
static struct helper *starting;
static struct helper *leaving; /* socket closed, but not yet reaped */
static unsigned busy;          /* places taken by busy helpers and by those being started */

/* A thread that waits for a helper. */
struct waiter {
  struct waiter *next;
  struct helper_share *share;
  enum helper_kind kind;
  unsigned places; /* 0: still waits */
};
static struct waiter *waiters; /* the head has waited longest */

/* A set-user-ID program must not pass on the environment, which the unprivileged user controls. */
static char **helpers_environment(void) {
  static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
  static char *safe[] = {path, NULL};
  return getauxval(AT_SECURE) ? safe : environ;
}

static uint64_t hash_environment(const char *path) {
  uint64_t hash = XXH64(path, strlen(path), 0);
  for (char **variable = helpers_environment(); variable && *variable; variable++)
    hash = XXH64(*variable, strlen(*variable), hash);
  return hash;
}

/* ---- the process -------------------------------------------------------------------- */

/* Not all headers define these numbers. They are the same on all architectures. */
enum { NR_PIDFD_SEND_SIGNAL = 424, NR_PIDFD_OPEN = 434, WAIT_FOR_PIDFD = 3 };
enum { SIGNAL_PROCESS_GROUP = 4 }; /* Linux 6.9 */

/* Waits for the helper to end. Returns 1 if it has ended, with the details in info and used, 0 if
 * it is running, or -1 if the application has reaped it by waiting for all of its children. In that
 * case another process may have its process ID, and must be neither waited for nor signalled. */
static int wait_for(const struct helper *helper, int flags, siginfo_t *info, struct rusage *used) {
  const int kind = helper->pidfd >= 0 ? WAIT_FOR_PIDFD : P_PID;
  const int id = helper->pidfd >= 0 ? helper->pidfd : helper->pid;
  *info = (siginfo_t){0};
  while (syscall(SYS_waitid, kind, id, info, WEXITED | flags, used) != 0)
    if (errno != EINTR)
      return -1;
  return info->si_pid != 0;
}

/* Kills the helper and its children. Its process ID cannot be reused before it has been reaped. */
static void end_group(const struct helper *helper) {
  siginfo_t info;
  if (helper->pidfd >= 0 &&
      syscall(NR_PIDFD_SEND_SIGNAL, helper->pidfd, SIGKILL, NULL, SIGNAL_PROCESS_GROUP) == 0)
    return;
  if (wait_for(helper, WNOHANG | WNOWAIT, &info, NULL) >= 0)
    kill(-helper->pid, SIGKILL);
}

static void close_if_open(int fd) {
  if (fd >= 0)
    close(fd);
}

static void close_files(const struct helper *helper) {
  close_if_open(helper->fd);
  close_if_open(helper->output);
  close_if_open(helper->pidfd);
}

static void remove_from(struct helper **list, struct helper *helper) {
  while (*list != helper)
    list = &(*list)->next;
  *list = helper->next;
}

/* Closes our end of the socket, which makes the helper exit. reap_leaving
 * reaps it later. The caller holds the lock. */
static void release_helper(struct helper *helper) {
  close(helper->fd);
  close(helper->output);
  helper->next = leaving;
  leaving = helper;
}

static void reap_leaving(void) {
  for (struct helper **place = &leaving; *place;) {
    struct helper *helper = *place;
    siginfo_t info;
    if (wait_for(helper, WNOHANG, &info, NULL) == 0) {
      place = &helper->next;
      continue;
    }
    *place = helper->next;
    close_if_open(helper->pidfd);
    free(helper);
  }
}

/* Whether the helper has closed its socket: it is exiting or has exited. */
static bool has_closed(int fd) {
  char byte;
  ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

/* Whether the helper has closed its socket, or has sent bytes that were not requested. */
static bool is_stale(int fd) {
  char byte;
  ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || errno != EAGAIN;
}

/* Returns an idle helper that is alive and was started in this environment, or NULL. Releases idle
 * helpers of other environments and of dead ones. The caller holds the lock. */
static struct helper *take_idle(uint64_t environment) {
  struct helper *taken = NULL;
  for (struct helper **place = &idle; *place;) {
    struct helper *helper = *place;
    bool good = helper->environment == environment && !is_stale(helper->fd);
    if (good && taken) {
      place = &helper->next;
      continue;
    }
    *place = helper->next;
    if (good)
      taken = helper;
    else
      release_helper(helper);
  }
  return taken;
}

static int set_up_spawn(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int fd,
                        int output) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawn_file_actions_adddup2(actions, fd, STDIN_FILENO);
  if (!error)
    error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
  if (!error)
    error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
  if (!error)
    error = posix_spawnattr_setsigmask(attributes, &none);
  if (!error)
    error = posix_spawnattr_setsigdefault(attributes, &all);
  if (!error)
    error = posix_spawnattr_setpgroup(attributes, 0);
  if (!error)
    error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                     POSIX_SPAWN_SETPGROUP);
  return error;
}

static int spawn_helper(const char *path, int fd, int output, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error)
    return -error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return -error;
  }
  char *arguments[] = {(char *)path, "--serve", NULL};
  struct cc_environment environment = {0};
  error = set_up_spawn(&actions, &attributes, fd, output);
  if (!error && !cc_environment_make(helpers_environment(), &environment))
    error = ENOMEM;
  if (!error)
    error = posix_spawn(pid, path, &actions, &attributes, arguments, environment.variables);
  cc_environment_finish(&environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return -error;
}

/* Moves fd above the standard streams, which set_up_spawn replaces. The application may have
 * closed some of these, so a new descriptor may have got one of their numbers. */
static int above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO)
    return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  return moved;
}

static int open_files(struct helper *helper) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return -errno;
  helper->fd = above_standard(ends[0]);
  helper->remote_fd = above_standard(ends[1]);
  helper->output = above_standard(memfd_create("tegraclc", MFD_CLOEXEC));
  return helper->fd < 0 || helper->remote_fd < 0 || helper->output < 0 ? -errno : 0;
}

/* Forks see either no files or a helper in the list. */
static int begin_start(struct helper *helper) {
  pthread_mutex_lock(&lock);
  const int error = open_files(helper);
  helper->next = starting;
  starting = helper;
  pthread_mutex_unlock(&lock);
  return error;
}

static void end_start(struct helper *helper, bool started) {
  pthread_mutex_lock(&lock);
  remove_from(&starting, helper);
  close_if_open(helper->remote_fd);
  if (started)
    helper->pidfd = (int)syscall(NR_PIDFD_OPEN, helper->pid, 0);
  else
    close_files(helper);
  pthread_mutex_unlock(&lock);
}

static struct helper *start_helper(const char *path, uint64_t environment, int *error) {
  struct helper *helper = malloc(sizeof(*helper));
  *error = -ENOMEM;
  if (!helper)
    return NULL;
  *helper = (struct helper){
      .pidfd = -1, .fd = -1, .remote_fd = -1, .output = -1, .environment = environment};
  *error = begin_start(helper);
  if (!*error)
    *error = spawn_helper(path, helper->remote_fd, helper->output, &helper->pid);
  end_start(helper, !*error);
  if (!*error)
    return helper;
  free(helper);
  return NULL;
}

/* ---- fork --------------------------------------------------------------------- */

/* The lock is never held for long, so fork can wait for it. It
 * protects the lists that the child inherits. */
static void forking(void) {
  pthread_mutex_lock(&lock);
}

static void forked_parent(void) {
  pthread_mutex_unlock(&lock);
}

static void free_list(struct helper **list) {
  while (*list) {
    struct helper *helper = *list;
    *list = helper->next;
    free(helper);
  }
}

/* The helpers belong to the parent. The child closes its copies of their
 * sockets; otherwise the helpers would not notice the end of the parent, nor
 * the parent the end of a helper that is being started. The threads that busy
 * helpers work for do not exist in the child. */
static void forked_child(void) {
  struct helper *const open[] = {idle, working, starting};
  for (int i = 0; i < 3; i++)
    for (const struct helper *helper = open[i]; helper; helper = helper->next)
      close_files(helper);
  for (const struct helper *helper = starting; helper; helper = helper->next)
    close_if_open(helper->remote_fd);
  for (const struct helper *helper = leaving; helper; helper = helper->next)
    close_if_open(helper->pidfd);
  free_list(&starting);
  free_list(&idle);
  free_list(&working);
  free_list(&leaving);
  busy = 0;
  waiters = NULL;
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&changed, NULL);
}

static int watch_forks(void) {
  static const struct base_fork_handlers handlers = {forking, forked_parent, forked_child};
  return -base_fork_watch(BASE_FORK_HELPERS, &handlers);
}

/* ---- turns --------------------------------------------------------------------- */

static bool is_before(const struct waiter *a, const struct waiter *b) {
  const bool a_low = a->kind == HELPER_LOW, b_low = b->kind == HELPER_LOW;
  return a_low != b_low ? b_low : a->share->busy < b->share->busy;
}

/* Finds the next waiter: those of HELPER_LOW come last, else the one whose build has the fewest
 * busy helpers comes first. */
static struct waiter **find_next_waiter(void) {
  struct waiter **next = &waiters;
  for (struct waiter **place = &waiters; *place; place = &(*place)->next)
    if (is_before(*place, *next))
      next = place;
  return next;
}

/* Gives free places to waiters. The caller holds the lock. */
static void grant_places(void) {
  const unsigned width = limits_width();
  while (waiters) {
    struct waiter **place = find_next_waiter();
    struct waiter *waiter = *place;
    const bool alone = waiter->kind == HELPER_ALONE;
    if (alone ? busy > 0 : busy >= width)
      break;
    *place = waiter->next;
    waiter->places = alone ? width : 1;
    waiter->share->busy++;
    busy += waiter->places;
    pthread_cond_broadcast(&changed);
  }
}

/* Gives back places. The caller holds the lock. */
static void leave_busy(unsigned places, struct helper_share *share) {
  busy -= places;
  share->busy--;
  grant_places();
  pthread_cond_broadcast(&changed);
}

static bool is_cancelled(const struct helper_share *share) {
  return share->cancelled && atomic_load(share->cancelled);
}

/* Waits for places. Returns the number of places taken, or 0 if the
 * build is cancelled. The caller holds the lock. */
static unsigned wait_turn(struct helper_share *share, enum helper_kind kind) {
  struct waiter waiter = {.share = share, .kind = kind};
  struct waiter **place = &waiters;
  while (*place)
    place = &(*place)->next;
  *place = &waiter;
  grant_places();
  while (!waiter.places && !is_cancelled(share))
    pthread_cond_wait(&changed, &lock);
  if (!waiter.places) {
    for (place = &waiters; *place != &waiter;)
      place = &(*place)->next;
    *place = waiter.next;
    grant_places(); /* this waiter may have blocked others */
  }
  return waiter.places;
}

/* Releases all idle helpers. The caller holds the lock. */
static void release_idle_helpers(void) {
  while (idle) {
    struct helper *helper = idle;
    idle = helper->next;
    release_helper(helper);
  }
}

/* Takes a helper off the list of busy ones. The caller holds the lock. */
static void stop_working(struct helper *helper) {
  remove_from(&working, helper);
  leave_busy(helper->places, helper->share);
}

/* ---- requests ------------------------------------------------------------------ */

bool helper_is_shortage(int error) {
  return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EAGAIN;
}

/* Returns an idle helper or starts a new one. For HELPER_ALONE it prefers a new one, and releases
 * the idle ones. If the system lacks resources for another helper, waits until a busy one becomes
 * idle. The caller holds the lock, which is released while a helper starts. */
static struct helper *find_helper(const char *path, uint64_t environment,
                                  const struct helper_share *share, enum helper_kind kind,
                                  int *error) {
  for (bool fresh = kind == HELPER_ALONE;; fresh = false) {
    struct helper *helper = fresh ? NULL : take_idle(environment);
    *error = 0;
    if (helper)
      return helper;
    pthread_mutex_unlock(&lock);
    helper = start_helper(path, environment, error);
    pthread_mutex_lock(&lock);
    if (fresh && helper)
      release_idle_helpers();
    if (helper || !helper_is_shortage(*error))
      return helper;
    while (working && !idle && !is_cancelled(share))
      pthread_cond_wait(&changed, &lock);
    if (!idle)
      return NULL;
  }
}

struct helper *helper_get(const char *path, struct helper_share *share, enum helper_kind kind,
                          bool *used, int *error) {
  const uint64_t environment = hash_environment(path);
  pthread_mutex_lock(&lock);
  const unsigned places = wait_turn(share, kind);
  if (!places) {
    pthread_mutex_unlock(&lock);
    *error = -ECANCELED;
    return NULL;
  }
  *error = watch_forks();
  reap_leaving();
  struct helper *helper = *error ? NULL : find_helper(path, environment, share, kind, error);
  if (is_cancelled(share)) {
    if (helper)
      release_helper(helper);
    helper = NULL;
    *error = -ECANCELED;
  }
  *used = helper && helper->used;
  if (helper) {
    helper->share = share;
    helper->places = places;
    helper->next = working;
    working = helper;
  } else {
    leave_busy(places, share);
  }
  pthread_mutex_unlock(&lock);
  return helper;
}

int helper_ask(struct helper *helper, const struct message *request, struct message *answer,
               int64_t deadline_ms) {
  int error = message_send(helper->fd, request, deadline_ms);
  if (!error)
    error = message_receive(helper->fd, answer, deadline_ms);
  helper->used = true;
  return error;
}

void helper_cancel(atomic_bool *cancelled) {
  pthread_mutex_lock(&lock);
  atomic_store(cancelled, true);
  for (const struct helper *helper = working; helper; helper = helper->next)
    if (helper->share->cancelled == cancelled)
      end_group(helper);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void helper_put(struct helper *helper) {
  pthread_mutex_lock(&lock);
  stop_working(helper);
  helper->next = idle;
  idle = helper;
  pthread_mutex_unlock(&lock);
}

/* Reads the end of the helper's output, at most size - 1 characters. */
static void read_output_end(int output, char *words, size_t size) {
  off_t end = lseek(output, 0, SEEK_END);
  off_t from = end > (off_t)size - 1 ? end - ((off_t)size - 1) : 0;
  ssize_t got = end > 0 ? pread(output, words, size - 1, from) : 0;
  words[got > 0 ? got : 0] = 0;
}

bool helper_end(struct helper *helper, char *words, size_t size, struct rusage *used) {
  char printed[2048], end[256];
  siginfo_t info;
  *used = (struct rusage){0};
  /* A helper that is already exiting gets some time, so that its own cause of death is
   * reported instead of our signal. On a busy machine this may not be enough, but then our
   * signal has no effect on a process that is already dying. */
  enum { POLLS = 2000, POLL_US = 1000 };
  const bool exiting = has_closed(helper->fd);
  int ended = 0;
  for (int i = 0; exiting && i < POLLS && ended == 0; i++) {
    ended = wait_for(helper, WNOHANG | WNOWAIT, &info, used);
    if (ended == 0)
      usleep(POLL_US);
  }
  /* Must come before reaping, which frees the process ID. */
  end_group(helper);
  ended = wait_for(helper, 0, &info, used);
  read_output_end(helper->output, printed, sizeof(printed));
  if (ended < 0)
    snprintf(words, size,
             "it ended, but the application reaped it, so its exit status is "
             "unknown\n%s",
             printed);
  else if (exiting && info.si_code == CLD_EXITED) {
    snprintf(words, size, "it exited with status %d\n%s", info.si_status, printed);
  } else if (exiting) {
    limits_tell_end(end, sizeof(end), info.si_status, used);
    snprintf(words, size, "it %s\n%s", end, printed);
  } else {
    snprintf(words, size, "it was killed\n%s", printed);
  }
  pthread_mutex_lock(&lock);
  stop_working(helper);
  close_files(helper);
  pthread_mutex_unlock(&lock);
  free(helper);
  return exiting && ended > 0 && info.si_code != CLD_EXITED && info.si_status == SIGXCPU;
}
