/* The headers that a program brings along, as files for clang: memory files, which clang sees
 * in a folder that does not exist. Nothing is left of them, whichever process dies first. */
#ifndef TEGRACL_HEADER_FILES_H
#define TEGRACL_HEADER_FILES_H

#include "compiler/frontend/command.h"

/* A path that no file system has. */
#define HEADER_FOLDER "/proc/tegraclc-headers"

/* Adds options to clang's command, with which it finds in the folder the job's headers and, as
 * source_name, its standard input. False: the log says why. */
bool header_files_add(struct command *command, const struct cc_job *job, const char *source_name,
                      struct text *log);

#endif
