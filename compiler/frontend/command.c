/* Runs executables with memory files as their standard streams; see command.h. */
#include "compiler/frontend/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/helper_limits.h"

extern char **environ;

void command_add(struct command *command, const char *format, ...) {
  char **words = realloc(command->words, (command->count + 2) * sizeof *words);
  if (!words) {
    command->failed = true;
    return;
  }
  command->words = words;
  va_list values;
  va_start(values, format);
  char *word = NULL;
  if (vasprintf(&word, format, values) < 0) {
    word = NULL;
    command->failed = true;
  }
  va_end(values);
  words[command->count] = word;
  command->count += word != NULL;
  words[command->count] = NULL;
}

void command_finish(struct command *command) {
  for (size_t i = 0; i < command->count; i++)
    free(command->words[i]);
  free(command->words);
  for (size_t i = 0; i < command->kept_count; i++)
    close(command->kept[i]);
  free(command->kept);
  *command = (struct command){0};
}

int command_input(void) {
  return memfd_create("input", MFD_CLOEXEC);
}

bool command_write(int input, const void *bytes, size_t size) {
  for (const char *at = bytes; size;) {
    ssize_t written = write(input, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

/* File descriptors of a command: its standard streams, and the one for COMMAND_EXTRA. */
enum { FILE_INPUT, FILE_OUTPUT, FILE_MESSAGES, FILE_EXTRA, FILES };

enum { EXIT_NOT_STARTED = 127 };

bool command_keep(struct command *command, const void *bytes, size_t size,
                  char path[COMMAND_FILE_SIZE]) {
  int *kept = realloc(command->kept, (command->kept_count + 1) * sizeof *kept);
  if (!kept)
    return false;
  command->kept = kept;
  const int file = memfd_create("kept", MFD_CLOEXEC);
  const int moved = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, FILES);
  if (file >= 0)
    close(file);
  if (moved < 0)
    return false;
  kept[command->kept_count++] = moved;
  snprintf(path, COMMAND_FILE_SIZE, "/dev/fd/%d", moved);
  return command_write(moved, bytes, size);
}

static bool read_all(int fd, struct text *text) {
  struct stat info;
  if (fstat(fd, &info) || lseek(fd, 0, SEEK_SET))
    return false;
  if (!info.st_size)
    return true;
  char *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED)
    return false;
  text_add(text, bytes, (size_t)info.st_size);
  munmap(bytes, (size_t)info.st_size);
  return true;
}

/* Runs in the child of vfork, which shares the parent's memory. Executes the program,
 * which is killed if its parent ends. Returns an errno value. */
static int execute(const struct command *command, const int files[FILES], pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
    return ESRCH;
  for (int i = 0; i < FILES; i++)
    if (dup2(files[i], i) < 0 || (files[i] == i && fcntl(i, F_SETFD, 0) != 0))
      return errno;
  for (size_t i = 0; i < command->kept_count; i++)
    if (fcntl(command->kept[i], F_SETFD, 0) != 0)
      return errno;
  execve(command->words[0], command->words, environ);
  return errno;
}

/* Runs the program with the files. Returns 0 and its wait status, or an errno
 * value. posix_spawn cannot tie the program's lifetime to this process, and fork
 * would copy the page tables of the compiler libraries. */
static int run_program(const struct command *command, const int files[FILES], int *wait_status,
                       struct rusage *used) {
  volatile int error = 0;
  const pid_t parent = getpid();
  const pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
  if (pid < 0)
    return errno;
  if (pid == 0) {
    error = execute(command, files, parent); /* NOLINT(clang-analyzer-unix.Vfork) */
    _exit(EXIT_NOT_STARTED);
  }
  while (wait4(pid, wait_status, 0, used) < 0)
    if (errno != EINTR)
      return errno;
  return error;
}

/* Removes the crash report of an LLVM program, which is meant for LLVM's developers. */
static void drop_report(struct text *log) {
  char *report = log->data ? strstr(log->data, "PLEASE submit a bug report") : NULL;
  if (!report)
    return;
  log->size = (size_t)(report - log->data);
  *report = 0;
}

enum cc_status command_run(const struct command *command, int input, struct text *output,
                           struct text *log) {
  int files[FILES] = {[FILE_INPUT] = input};
  int wait_status = 0;
  struct rusage used = {0};
  enum cc_status status = CC_OK;
  bool complete = !command->failed && lseek(input, 0, SEEK_SET) == 0;
  for (int i = FILE_OUTPUT; i < FILES; i++) {
    files[i] = memfd_create("output", MFD_CLOEXEC);
    complete = complete && files[i] >= 0;
  }
  if (!complete) {
    status = CC_OUT_OF_MEMORY;
    goto done;
  }
  const int error = run_program(command, files, &wait_status, &used);
  if (error) {
    text_printf(log, "error: cannot start %s: %s\n", command->words[0], strerror(error));
    status = error == E2BIG ? CC_BUILD_FAILURE : CC_NOT_AVAILABLE; /* options are arguments */
  } else if (!read_all(files[FILE_MESSAGES], log) || !read_all(files[FILE_OUTPUT], output) ||
             (command->extra && !read_all(files[FILE_EXTRA], command->extra))) {
    status = CC_OUT_OF_MEMORY;
  } else if (WIFSIGNALED(wait_status)) {
    drop_report(log);
    char end[256];
    limits_tell_end(end, sizeof(end), WTERMSIG(wait_status), &used);
    text_printf(log, "error: %s %s\n", command->words[0], end);
    status = CC_INTERNAL_ERROR;
  } else if (WEXITSTATUS(wait_status)) {
    status = CC_BUILD_FAILURE;
  }

done:
  for (int i = FILE_OUTPUT; i < FILES; i++)
    if (files[i] >= 0)
      close(files[i]);
  return status;
}
