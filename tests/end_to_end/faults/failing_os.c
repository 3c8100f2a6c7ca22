/* A kernel boundary that refuses calls. See failing_os.h. */
#include "tests/end_to_end/faults/failing_os.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/nvgpu/os.h"
#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"
#include "tests/end_to_end/opencl.h"

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier) */
extern const struct nvgpu_os __real_nvgpu_os_emulator;
extern const struct nvgpu_os __wrap_nvgpu_os_emulator;
static const struct nvgpu_os *const orin = &__real_nvgpu_os_emulator;
/* NOLINTEND(bugprone-reserved-identifier) */

enum { NAMES = 64, LEFT = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *wanted;
static unsigned wanted_nth;
static int wanted_result;
static bool hit;
static pthread_t hit_on;
static int stage, hit_stage;
static unsigned until_fork; /* calls */
static void (*forked_child)(void);
static int status_of_fork;
static bool forking; /* a thread forked, and its child has not ended */
static pthread_cond_t forked = PTHREAD_COND_INITIALIZER;
static struct alive alive;
static struct {
  const char *name;
  unsigned count;
} made[NAMES];

/* Resources that refused releases have left: mappings and nvmap handles. */
static struct left {
  void *address;
  size_t length;
  int fd;
  void *handle;
} left[LEFT];
static unsigned left_count;

void refuse(const char *call, unsigned nth, int result) {
  pthread_mutex_lock(&lock);
  wanted = call;
  wanted_nth = nth;
  wanted_result = result;
  hit = false;
  memset(made, 0, sizeof made);
  pthread_mutex_unlock(&lock);
}

void fork_at(unsigned nth, void (*function)(void)) {
  refuse(NULL, 0, 0);
  pthread_mutex_lock(&lock);
  until_fork = nth;
  forked_child = function;
  status_of_fork = -1;
  pthread_mutex_unlock(&lock);
}

int fork_status(void) {
  pthread_mutex_lock(&lock);
  while (forking)
    pthread_cond_wait(&forked, &lock);
  const int status = status_of_fork;
  pthread_mutex_unlock(&lock);
  return status;
}

/* Does what another thread of the program could do at any time. */
static void fork_if_due(void) {
  int status;
  pthread_mutex_lock(&lock);
  const bool now = until_fork && --until_fork == 0;
  forking |= now;
  pthread_mutex_unlock(&lock);
  if (!now)
    return;
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    pthread_mutex_init(&lock, NULL);
    forking = false;
    forked_child();
  }
  CHECK(waitpid(child, &status, 0) == child);
  pthread_mutex_lock(&lock);
  status_of_fork = status;
  forking = false;
  pthread_cond_broadcast(&forked);
  pthread_mutex_unlock(&lock);
}

void refuse_end(void) {
  pthread_mutex_lock(&lock);
  wanted = NULL;
  for (unsigned i = 0; i < left_count; i++)
    if (left[i].address)
      orin->munmap(left[i].address, left[i].length);
    else
      orin->ioctl(left[i].fd, NVMAP_IOC_FREE, left[i].handle);
  left_count = 0;
  pthread_mutex_unlock(&lock);
}

bool refused(void) {
  pthread_mutex_lock(&lock);
  const bool yes = hit;
  pthread_mutex_unlock(&lock);
  return yes;
}

bool refused_elsewhere(void) {
  pthread_mutex_lock(&lock);
  const bool yes = hit && !pthread_equal(hit_on, pthread_self());
  pthread_mutex_unlock(&lock);
  return yes;
}

void stage_begins(int number) {
  pthread_mutex_lock(&lock);
  stage = number;
  pthread_mutex_unlock(&lock);
}

int refused_stage(void) {
  pthread_mutex_lock(&lock);
  const int number = hit_stage;
  pthread_mutex_unlock(&lock);
  return number;
}

const char *calls_made(unsigned i, unsigned *count) {
  pthread_mutex_lock(&lock);
  const char *name = i < NAMES ? made[i].name : NULL;
  *count = name ? made[i].count : 0;
  pthread_mutex_unlock(&lock);
  return name;
}

struct alive still_alive(void) {
  pthread_mutex_lock(&lock);
  const struct alive a = alive;
  pthread_mutex_unlock(&lock);
  return a;
}

/* Checks that the same resources exist as before. Waits for them, because threads of the driver may
 * hold resources for a short time. */
void still_as(const struct alive *before, const char *after) {
  enum { MOMENTS = 60000 };
  struct alive now = still_alive();
  for (int i = 0; i < MOMENTS && memcmp(&now, before, sizeof now) != 0; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    now = still_alive();
  }
  if (memcmp(&now, before, sizeof now) == 0)
    return;
  fprintf(stderr, "after %s: %d fds, %d handles and %d mappings too many\n", after,
          now.fds - before->fds, now.handles - before->handles, now.mappings - before->mappings);
  exit(1);
}

/* Counts the call. Returns the error with which it is refused, or 0. */
static int refusal(const char *name) {
  pthread_mutex_lock(&lock);
  unsigned i = 0;
  while (made[i].name && strcmp(made[i].name, name) != 0)
    CHECK(++i < NAMES);
  made[i].name = name;
  made[i].count++;
  const bool yes = wanted && (!strcmp(wanted, name) || !strcmp(wanted, CALL_ANY)) &&
                   (!wanted_nth || made[i].count == wanted_nth);
  if (yes) {
    hit = true;
    hit_on = pthread_self();
    hit_stage = stage;
  }
  const int result = yes ? wanted_result : 0;
  pthread_mutex_unlock(&lock);
  return result;
}

/* Like refusal, and forks here if requested. */
static int fork_or_refuse(const char *name) {
  const int result = refusal(name);
  fork_if_due();
  return result;
}

/* Returns the error of a call in which the kernel copies no struct. */
static int plain_error(int result) {
  return result > 0 ? -EFAULT : result;
}

static void count(int *what, int by) {
  pthread_mutex_lock(&lock);
  *what += by;
  pthread_mutex_unlock(&lock);
}

static void leave(struct left what) {
  pthread_mutex_lock(&lock);
  CHECK(left_count < LEFT);
  left[left_count++] = what;
  pthread_mutex_unlock(&lock);
}

static int refusing_open(const char *path, int flags) {
  const int no = fork_or_refuse(path);
  if (no)
    return plain_error(no);
  const int fd = orin->open(path, flags);
  count(&alive.fds, fd >= 0);
  return fd;
}

static int refusing_close(int fd) {
  const int no = refusal(CALL_CLOSE);
  const int result = orin->close(fd);
  /* Before the close, because the driver has forgotten the file descriptor and the child would
   * keep it. */
  fork_if_due();
  count(&alive.fds, result ? 0 : -1);
  return no ? plain_error(no) : result;
}

static int refusing_ioctl(int fd, unsigned long request, void *argument) {
  const char *name = nvgpu_request_name((uint32_t)request);
  const int no = fork_or_refuse(name ? name : CALL_EMULATOR);
  if (request == NVMAP_IOC_FREE)
    count(&alive.handles, -1);
  if (no && request == NVMAP_IOC_FREE)
    leave((struct left){.fd = fd, .handle = argument});
  if (no)
    return no;
  const int result = orin->ioctl(fd, request, argument);
  /* Of either release. */
  const uint32_t meaning = nvgpu_release_meaning(&nvgpu_r35, (uint32_t)request);
  if (result == 0)
    switch (meaning ? meaning : request) {
    case NVGPU_GPU_IOCTL_ALLOC_AS:
    case NVGPU_GPU_IOCTL_OPEN_TSG:
    case NVGPU_GPU_IOCTL_OPEN_CHANNEL:
    case NVMAP_IOC_GET_FD:
    case HOST1X_IOCTL_CREATE_FENCE:
    case NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE:
      count(&alive.fds, 1);
      break;
    case NVMAP_IOC_CREATE_64:
      count(&alive.handles, 1);
    }
  return result;
}

static void *refusing_mmap(void *address, size_t length, int protection, int flags, int fd,
                           off_t offset, int *error) {
  const int no = fork_or_refuse(flags & MAP_FIXED_NOREPLACE ? CALL_MMAP_AT : CALL_MMAP);
  if (no) {
    *error = plain_error(no);
    return NULL;
  }
  void *p = orin->mmap(address, length, protection, flags, fd, offset, error);
  count(&alive.mappings, p != NULL);
  return p;
}

static int refusing_munmap(void *address, size_t length) {
  const int no = fork_or_refuse(CALL_MUNMAP);
  const int result = no ? plain_error(no) : orin->munmap(address, length);
  if (no)
    leave((struct left){.address = address, .length = length});
  count(&alive.mappings, -1);
  return result;
}

static int refusing_poll(struct pollfd *fds, unsigned fd_count, int timeout_ms) {
  const int no = fork_or_refuse(CALL_POLL);
  return no ? plain_error(no) : orin->poll(fds, fd_count, timeout_ms);
}

static void doorbell(void *page, uint32_t token) {
  orin->doorbell(page, token);
}

const struct nvgpu_os __wrap_nvgpu_os_emulator = {
    /* NOLINT(bugprone-reserved-identifier) */
    .name = "refusing",      .open = refusing_open, .close = refusing_close,
    .ioctl = refusing_ioctl, .mmap = refusing_mmap, .munmap = refusing_munmap,
    .poll = refusing_poll,   .doorbell = doorbell,
};
