/* Headers that a program passes, as files for clang. They are memory files, which clang sees in a
 * folder that does not exist. Nothing remains of them even if a process is killed. */
#ifndef TEGRACL_HEADER_FILES_H
#define TEGRACL_HEADER_FILES_H

#include "compiler/frontend/command.h"

/* A path that cannot exist in any file system. */
#define HEADER_FOLDER "/proc/tegraclc-headers"

/* Adds options to clang's command that make the job's headers appear in the folder, and clang's
 * standard input as source_name. Returns false, with the reason in log, on failure. */
bool header_files_add(struct command *command, const struct cc_job *job, const char *source_name,
                      struct text *log);

#endif
