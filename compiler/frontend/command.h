/* Runs the executables that the compiler consists of: clang, SPIRV-Tools and the
 * LLVM/SPIR-V translator. Input, output and messages are memory files, so
 * nothing can block on a full pipe, and no files are left. */
#ifndef TEGRACL_COMMAND_H
#define TEGRACL_COMMAND_H

#include "base/text.h"
#include "compiler/compiler.h"

/* A command to run. */
struct command {
  char **words; /* executable and arguments, NULL-terminated */
  size_t count;
  bool failed;        /* memory ran out */
  struct text *extra; /* if not NULL, receives what the command writes to COMMAND_EXTRA */
  int *kept;          /* memory files that the command inherits besides its standard streams */
  size_t kept_count;
};

#define COMMAND_EXTRA "/dev/fd/3"

/* Adds an argument. Sets command->failed if out of memory. */
void command_add(struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void command_finish(struct command *command);

/* Creates a memory file with the bytes that the command inherits, and
 * writes its path. Returns false if out of memory. */
enum { COMMAND_FILE_SIZE = 32 };
bool command_keep(struct command *command, const void *bytes, size_t size,
                  char path[COMMAND_FILE_SIZE]);

/* Creates a memory file for the command's standard input. command_write appends to it, command_run
 * reads it from the start, and the caller closes it. Returns -1 if out of memory. */
int command_input(void);
bool command_write(int input, const void *bytes, size_t size);

/* Runs the command and waits for its end. Appends its standard output to output and its
 * messages to log. Returns CC_BUILD_FAILURE if its exit status is an error, CC_INTERNAL_ERROR
 * if a signal ended it, CC_NOT_AVAILABLE if it cannot be started. */
enum cc_status command_run(const struct command *command, int input, struct text *output,
                           struct text *log);

#endif
