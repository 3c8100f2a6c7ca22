/* Executables run with memory files as their standard streams: see command.h. */
#include "compiler/command.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* The files of a command: its standard streams, and COMMAND_SIDE. */
enum { FILE_INPUT, FILE_OUTPUT, FILE_MESSAGES, FILE_SIDE, FILES };

/* Runs the program with the files; 0 and its wait status, or an errno value. */
static int run(char **words, const int files[FILES], int *wait_status, struct rusage *used) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int error = posix_spawn_file_actions_init(&actions);
  if (error)
    return error;
  for (int i = 0; i < FILES && !error; i++)
    error = posix_spawn_file_actions_adddup2(&actions, files[i], i);
  if (!error)
    error = posix_spawn(&pid, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return error;
  while (wait4(pid, wait_status, 0, used) < 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

/* What LLVM's programs say when they crash is for those who make them. */
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
  const int error = run(command->words, files, &wait_status, &used);
  if (error) {
    text_printf(log, "error: %s cannot be started: %s\n", command->words[0], strerror(error));
    status = error == E2BIG ? CC_BUILD_FAILURE : CC_NOT_AVAILABLE; /* options are arguments */
  } else if (!read_all(files[FILE_MESSAGES], log) || !read_all(files[FILE_OUTPUT], output) ||
             (command->side && !read_all(files[FILE_SIDE], command->side))) {
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
