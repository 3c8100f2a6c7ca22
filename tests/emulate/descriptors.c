/* The nodes' fds behave like those of a driver: duplicates, closes of ranges, mappings, stat and
 * access, fork, vfork and exec. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "orin.h"

#define NVMAP     "/dev/nvmap"
#define NODE      "/dev/nvgpu/igpu0/ctrl"
#define POWER     "/dev/nvgpu/igpu0/power"
#define FENCE     "/dev/host1x-fence"
#define FENCE_R35 "/dev/nvhost-ctrl"

enum { PAGE = 4096, USERMODE_BYTES = 65536, SMS = 16 };

/* Checks that the call returns -1 with this errno. */
#define FAILS(number, call) CHECK((errno = 0, (call) == -1) && errno == (number))

/* Returns whether fd is a control node, each of which answers the request NUM_VSMS. */
static bool is_ctrl(int fd) {
  uint32_t sms[2] = {0};
  return ioctl(fd, 0xc0084712, sms) == 0 && sms[0] == SMS;
}

static void flags_of_open(void) {
  int fd = open(NODE, O_RDWR), other = open(NODE, O_RDWR | O_CLOEXEC);
  CHECK(fcntl(fd, F_GETFD) == 0 && fcntl(other, F_GETFD) == FD_CLOEXEC);
  CHECK(close(fd) == 0 && close(other) == 0);
  FAILS(EBADF, close(fd));
  fd = openat(AT_FDCWD, "/dev/nvhost-ctrl-gpu", O_RDWR);
  CHECK(is_ctrl(fd));
  close(fd);
  FAILS(EINVAL, open("/dev/nvgpu/igpu0/as", O_RDWR));
  FAILS(EACCES, open("/dev/nvgpu/igpu0/prof", O_RDWR));
  FAILS(ENOENT, open("/dev/nvgpu/igpu1/ctrl", O_RDWR));
}

static bool fstat_is_character(const char *path) {
  struct stat s;
  int fd = open(path, O_RDWR);
  const bool is = fd >= 0 && fstat(fd, &s) == 0 && S_ISCHR(s.st_mode);
  close(fd);
  return is;
}

static void status(void) {
  struct stat s;
  struct statx x;
  CHECK(stat(NODE, &s) == 0 && S_ISCHR(s.st_mode) && major(s.st_rdev) == 484);
  CHECK(lstat(NVMAP, &s) == 0 && S_ISCHR(s.st_mode));
  CHECK(fstatat(AT_FDCWD, NVMAP, &s, 0) == 0 && S_ISCHR(s.st_mode));
  CHECK(statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &x) == 0 && S_ISCHR(x.stx_mode));
  CHECK(access(NODE, R_OK | W_OK) == 0 && access("/dev/nvhost-gpu", F_OK) == 0);
  CHECK(faccessat(AT_FDCWD, NVMAP, R_OK, 0) == 0);
  FAILS(EACCES, access(NODE, X_OK));
  FAILS(EACCES, access("/dev/nvgpu/igpu0/prof", R_OK));
  FAILS(ENOENT, access("/dev/nvgpu/igpu0", F_OK) | stat("/dev/nvmap0", &s));
  CHECK(fstat_is_character(NODE) && fstat_is_character(NVMAP) && fstat_is_character(POWER));
  CHECK(fstat_is_character(access(FENCE, F_OK) == 0 ? FENCE : FENCE_R35));
}

static void duplicates(void) {
  int fd = open(NODE, O_RDWR | O_CLOEXEC), null = open("/dev/null", O_RDWR);
  int copy = dup(fd), above = fcntl(fd, F_DUPFD_CLOEXEC, 100);
  CHECK(above == 100 && fcntl(above, F_GETFD) == FD_CLOEXEC && fcntl(copy, F_GETFD) == 0);
  close(fd);
  CHECK(is_ctrl(copy) && is_ctrl(above));
  FAILS(EBADF, ioctl(fd, 0xc0084712, &null));
  CHECK(dup2(copy, null) == null && is_ctrl(null)); /* replaces an ordinary fd */
  close(copy);
  close(above);
  CHECK(is_ctrl(null));
  int file = open("/dev/null", O_RDWR);
  CHECK(dup3(file, null, O_CLOEXEC) == null); /* an ordinary fd replaces it */
  FAILS(ENOTTY, ioctl(null, 0xc0084712, &copy));
  fd = open(NODE, O_RDWR);
  CHECK(dup2(fd, fd) == fd && is_ctrl(fd));
  FAILS(EINVAL, dup3(fd, fd, 0));
  FAILS(EBADF, dup2(200, fd));
  CHECK(is_ctrl(fd));
  close(fd);
  close(file);
  close(null);
}

/* A channel's number is free again once its last fd is closed. */
static void last_duplicate(struct orin *orin) {
  struct orin_channel first, second;
  orin_channel(orin, &first);
  int copy = dup(first.fd);
  close(first.fd);
  first.fd = copy;
  orin_channel(orin, &second);
  CHECK(second.token == first.token - 1);
  orin_channel_close(&first);
  orin_channel(orin, &first);
  CHECK(first.token == second.token + 1);
  orin_channel_close(&first);
  orin_channel_close(&second);
}

static void ranges(void) {
  int fds[8];
  for (int i = 0; i < 8; i++) {
    int fd = open(i % 2 ? NODE : NVMAP, O_RDWR);
    fds[i] = fcntl(fd, F_DUPFD, 300 + i);
    close(fd);
    CHECK(fds[i] == 300 + i);
  }
  CHECK(close_range(302, 304, 0) == 0);
  CHECK(is_ctrl(301) && is_ctrl(305) && fcntl(303, F_GETFD) == -1);
  CHECK(close_range(300, 300, 0) == 0 && is_ctrl(301) && fcntl(300, F_GETFD) == -1);
  int kept = open(NODE, O_RDWR);
  closefrom(300);
  for (int i = 0; i < 8; i++)
    FAILS(EBADF, ioctl(fds[i], 0xc0084712, fds));
  int another = open(NODE, O_RDWR); /* the device still works */
  CHECK(is_ctrl(kept) && is_ctrl(another));
  close(kept);
  close(another);
}

static void mappings(struct orin *orin) {
  const int protection = PROT_READ | PROT_WRITE;
  int fd = open(NODE, O_RDWR);
  void *page = mmap(NULL, USERMODE_BYTES, protection, MAP_SHARED, fd, 0);
  CHECK(page != MAP_FAILED);
#define NO_MAP(number, length, of, offset)                                                         \
  CHECK(mmap(NULL, length, protection, MAP_SHARED, of, offset) == MAP_FAILED && errno == (number))
  NO_MAP(EBUSY, PAGE, fd, 0);
  CHECK(munmap(page, USERMODE_BYTES) == 0);
  NO_MAP(EINVAL, USERMODE_BYTES + PAGE, fd, 0);
  NO_MAP(EINVAL, PAGE, fd, PAGE);
  page = mmap(NULL, PAGE, protection, MAP_SHARED, fd, 0);
  CHECK(page != MAP_FAILED && munmap(page, PAGE) == 0);
  close(fd);
  NO_MAP(EPERM, PAGE, orin->nvmap, 0);
  NO_MAP(ENODEV, PAGE, orin->as, 0);
  struct orin_buffer buffer;
  orin_buffer(orin, &buffer, 3 * PAGE);
  CHECK(lseek(buffer.fd, 0, SEEK_END) == 3 * PAGE);
  NO_MAP(EINVAL, 4 * PAGE, buffer.fd, 0);
  char *second = mmap(NULL, PAGE, protection, MAP_SHARED, buffer.fd, 2 * PAGE);
  CHECK(second != MAP_FAILED);
  char *cpu = buffer.cpu;
  buffer.cpu = mmap(NULL, buffer.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  orin_buffer_free(orin, &buffer); /* the mappings outlive the fd */
  strcpy(cpu + 2 * PAGE, "still there");
  CHECK(strcmp(second, "still there") == 0);
  CHECK(munmap(cpu, 3 * PAGE) == 0 && munmap(second, PAGE) == 0);
}

static void use(void) {
  struct orin orin;
  struct orin_channel channel;
  struct orin_buffer data;
  orin_begin(&orin, &channel, &data, PAGE);
  orin_push_release(&channel, data.va, 1);
  orin_submit(&channel);
  CHECK(orin_wait(data.cpu, 1));
  orin_end(&orin, &channel, &data);
}

static void expect_success(pid_t child) {
  int result;
  CHECK(child > 0 && waitpid(child, &result, 0) == child);
  CHECK(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

static void virtual_fork(int fd) {
  pid_t child = vfork();
  if (child == 0) {
    close(fd);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    _exit(0);
  }
  expect_success(child);
}

/* A child does not inherit the mappings, and can close all its fds without an effect on the parent.
 * It has a separate device. */
static void forks(const struct orin *orin) {
  int fd = open(NODE, O_RDWR);
  void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(msync(page, PAGE, MS_ASYNC) == -1 && errno == ENOMEM);
    closefrom(STDERR_FILENO + 1);
    use();
    _exit(0);
  }
  expect_success(child);
  CHECK(is_ctrl(fd) && is_ctrl(orin->ctrl));
  virtual_fork(fd);
  CHECK(is_ctrl(fd) && is_ctrl(orin->ctrl));
  munmap(page, PAGE);
  close(fd);
}

/* A child's GPU writes to a dma-buf of the parent: an fd shares its memory. */
static void shares(struct orin *orin) {
  struct orin_buffer buffer;
  orin_buffer(orin, &buffer, PAGE);
  pid_t child = fork();
  if (child == 0) {
    struct orin own;
    struct orin_channel channel;
    struct orin_buffer data;
    orin_begin(&own, &channel, &data, PAGE);
    orin_map(&own, &buffer);
    orin_push_release(&channel, buffer.va, 0xcafe);
    orin_push_release(&channel, data.va, 1);
    orin_submit(&channel);
    CHECK(orin_wait(data.cpu, 1));
    int32_t not_a_dmabuf = orin->ctrl; /* the parent's fd, invalid in the child */
    FAILS(EINVAL, ioctl(own.ctrl, 0xc0184729, (uint64_t[3]){(uint32_t)not_a_dmabuf}));
    orin_end(&own, &channel, &data);
    _exit(0);
  }
  expect_success(child);
  CHECK(orin_word(buffer.cpu) == 0xcafe);
  orin_buffer_free(orin, &buffer);
}

static void executes(const char *self) {
  extern char **environ;
  pid_t child;
  char *arguments[] = {(char *)self, "child", NULL};
  CHECK(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0);
  expect_success(child);
}

/* ioctl is redirected even if a program gets its address from dlopen and dlsym. A library that only
 * the RUNPATH of this program leads to is still found. */
static void libraries(void) {
  void *libc = dlopen("libc.so.6", RTLD_NOW), *own = dlopen("libemulate-plugin.so", RTLD_NOW);
  CHECK(libc && own);
  int (*other_ioctl)(int, unsigned long, ...) =
      (int (*)(int, unsigned long, ...))dlsym(libc, "ioctl");
  CHECK(dlsym(libc, "qsort") == dlsym(RTLD_DEFAULT, "qsort"));
  int fd = open(NODE, O_RDWR);
  uint32_t sms[2] = {0};
  CHECK(other_ioctl(fd, 0xc0084712, sms) == 0 && sms[0] == SMS);
  close(fd);
  CHECK(dlclose(libc) == 0 && dlclose(own) == 0);
}

/* descriptors [libraries|child] */
int main(int argc, char **argv) {
  if (argc > 1) {
    if (strcmp(argv[1], "libraries") == 0)
      libraries();
    else if (strcmp(argv[1], "nodes") == 0)
      status();
    else
      use();
    return 0;
  }
  struct orin orin;
  flags_of_open();
  status();
  duplicates();
  ranges();
  orin_open(&orin);
  last_duplicate(&orin);
  mappings(&orin);
  forks(&orin);
  shares(&orin);
  executes(argv[0]);
  use();
  orin_close(&orin);
  puts("fds do what fds do");
  return 0;
}
