/* Running the executables that the compiler consists of: clang, SPIRV-Tools and the
 * LLVM/SPIR-V translator. Input, output and messages are memory files, so nothing can
 * block on a full pipe, and nothing is left behind. */
#ifndef TEGRACL_COMMAND_H
#define TEGRACL_COMMAND_H

#include "base/text.h"
#include "compiler/compiler.h"

/* The words of a command; NULL-terminated list. */
struct command {
  char **words;
  size_t count;
  bool failed;        /* memory ran out */
  struct text *extra; /* if not NULL, what the command writes to COMMAND_EXTRA is added here */
  int *kept;          /* memory files that it gets beside its standard streams */
  size_t kept_count;
};

#define COMMAND_EXTRA "/dev/fd/3"

/* Adds a word; without memory it sets command->failed. */
void command_add(struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void command_finish(struct command *command);

/* Gives the command a memory file with the bytes, and writes its path. False: no memory. */
enum { COMMAND_FILE_SIZE = 32 };
bool command_keep(struct command *command, const void *bytes, size_t size,
                  char path[COMMAND_FILE_SIZE]);

/* A memory file for the command's standard input: command_write adds to it,
 * command_run reads it from its start; the caller closes it. -1: no memory. */
int command_input(void);
bool command_write(int input, const void *bytes, size_t size);

/* Runs the command until it ends. What it writes to its standard output is added to
 * output, its messages to log. CC_BUILD_FAILURE if it says that it failed,
 * CC_INTERNAL_ERROR if a signal ended it, CC_NOT_AVAILABLE if it cannot be started. */
enum cc_status command_run(const struct command *command, int input, struct text *output,
                           struct text *log);

#endif
