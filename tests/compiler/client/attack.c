/* Attacks; see attack.h. Each one reverts its changes to its own process. */
#include "tests/compiler/client/attack.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int outcome(long result) {
  return result < 0 ? errno : 0;
}

static int closing(int fd) {
  if (fd < 0)
    return errno;
  close(fd);
  return 0;
}

static int file_of(const char *argument, const char *suffix, int flags) {
  char path[512];
  snprintf(path, sizeof(path), "%s%s", argument, suffix);
  return closing(open(path, flags | O_CLOEXEC, 0600));
}

static int execute(const char *path) {
  char *words[] = {(char *)path, "--version", NULL};
  char *none[] = {NULL};
  pid_t pid;
  int status;
  const int error = posix_spawn(&pid, path, NULL, NULL, words, none);
  if (error)
    return error;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ECHILD;
}

static int ask_pipe(void) {
  int ends[2], on = 1;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno;
  const int error = outcome(ioctl(ends[0], FIOASYNC, &on));
  close(ends[0]);
  close(ends[1]);
  return error;
}

/* Requests a signal to another process when a pipe becomes readable. */
static int ask_signals(pid_t pid) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno;
  const int error =
      outcome(fcntl(ends[0], F_SETSIG, SIGURG)) ? errno : outcome(fcntl(ends[0], F_SETOWN, pid));
  close(ends[0]);
  close(ends[1]);
  return error;
}

/* Joins the process group of another process, all of which kill(0) would then signal. */
static int join_group(pid_t pid) {
  const pid_t own = getpgid(0);
  const int error = outcome(setpgid(0, getpgid(pid)));
  if (!error)
    setpgid(0, own);
  return error;
}

static int set_processors(pid_t pid) {
  cpu_set_t all;
  memset(&all, 0xff, sizeof(all));
  return outcome(sched_setaffinity(pid, sizeof(all), &all));
}

static int read_memory(pid_t pid) {
  char byte, *here = &byte; /* the address does not matter, because permissions are checked first */
  struct iovec own = {here, 1}, other = {here, 1};
  const int error = outcome(process_vm_readv(pid, &own, 1, &other, 1, 0));
  return error == EFAULT ? 0 : error;
}

static int trace(pid_t pid) {
  const int error = outcome(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
  if (!error)
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
  return error;
}

static int namespaces(void) {
  const pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (pid == 0)
    _exit(0);
  const int error = outcome(pid);
  if (!error)
    waitpid(pid, NULL, 0);
  return error;
}

static int ring(void) {
  enum { IO_URING_SETUP = 425, PARAMETERS = 256 };
  char parameters[PARAMETERS] = {0};
  return closing((int)syscall(IO_URING_SETUP, 1, parameters));
}

int attack(const char *name, const char *argument) {
  const int number = atoi(argument);
  struct rlimit limit;
  char other[512];
  snprintf(other, sizeof(other), "%s.new", argument);
#define ATTACK(word, action)                                                                       \
  if (strcmp(name, word) == 0)                                                                     \
    return action;
  ATTACK("descriptor", outcome(fcntl(number, F_GETFD)))
  ATTACK("internet", closing(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)))
  ATTACK("local-socket", closing(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)))
  ATTACK("netlink", closing(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)))
  ATTACK("read", file_of(argument, "", O_RDONLY))
  ATTACK("write", file_of(argument, "", O_WRONLY))
  ATTACK("append", file_of(argument, "", O_RDWR | O_APPEND))
  ATTACK("create", file_of(argument, ".new", O_CREAT | O_WRONLY))
  ATTACK("empty", file_of(argument, "", O_RDONLY | O_TRUNC))
  ATTACK("truncate", outcome(truncate(argument, 1)))
  ATTACK("chmod", outcome(chmod(argument, 0644)))
  ATTACK("times", outcome(utimensat(AT_FDCWD, argument, NULL, 0)))
  ATTACK("mkdir", outcome(mkdir(other, 0700)))
  ATTACK("link", outcome(symlink(argument, other)))
  ATTACK("rename", outcome(rename(argument, other)))
  ATTACK("unlink", outcome(unlink(argument)))
  ATTACK("execute", execute(argument))
  ATTACK("signal", outcome(kill(number, 0)))
  ATTACK("thread-signal", outcome(syscall(SYS_tgkill, number, number, 0)))
  ATTACK("group", join_group(number))
  ATTACK("asked-signal", ask_signals(number))
  ATTACK("processors", set_processors(number))
  ATTACK("memory-file", file_of("/proc/", argument, O_RDONLY))
  ATTACK("limit", outcome(prlimit(number, RLIMIT_NOFILE, NULL, &limit)))
  ATTACK("trace", trace(number))
  ATTACK("memory", read_memory(number))
  ATTACK("ioctl", ask_pipe())
  ATTACK("namespace", namespaces())
  ATTACK("ring", ring())
  ATTACK("privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0)
  return ENOENT;
}
