/* The headers that a program brings along, as files for clang: memory files, which clang sees
 * in a folder that does not exist. Nothing is left of them, whichever process dies first. */
#ifndef TEGRACL_HEADER_FILES_H
#define TEGRACL_HEADER_FILES_H

#include "compiler/frontend/command.h"

/* No file system has it. */
#define HEADER_FOLDER "/proc/tegraclc-headers"

/* Makes the command, which is clang's, see the job's headers in the folder, and its own standard
 * input as a file of the name there. False: the log says why not. */
bool header_files_add(struct command *command, const struct cc_job *job, const char *source_name,
                      struct text *log);

#endif
