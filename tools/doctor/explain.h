/* tegracl-doctor --explain: prints a trace (docs/trace.md) or the output of strace
 * with the names of requests, structs, methods and descriptors.
 */
#ifndef TEGRACL_DOCTOR_EXPLAIN_H
#define TEGRACL_DOCTOR_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "gpu/nvgpu/tables.h"

/* Explains a file. Its first line determines whether it is a trace. Returns 0 or -errno. */
int explain(FILE *in, FILE *out);

/* Returns the character, or '?' if a terminal might treat it as a control character. */
char explain_shown(char c);

/* Reads a line like getline, but replaces NULs by '?'. Returns the number of
 * bytes, 0 at the end of the file, -ENOMEM, or -EFBIG if the line is longer than
 * EXPLAIN_LINE_MAX, which never happens in a trace. */
enum { EXPLAIN_LINE_MAX = 1 << 24 };
ssize_t explain_read_line(FILE *in, char **line, size_t *room);

/* Explains the rest of a trace after its first line. Returns 0 or an error of explain_read_line. */
int explain_trace(FILE *in, FILE *out);

/* Explains a line of strace's output. */
void explain_strace_line(const char *line, FILE *out);

/* Prints the non-zero fields of a struct and, if after is not NULL, the fields that the
 * kernel has changed. bytes is the size of before and after. */
void explain_struct(FILE *out, const struct nvgpu_struct *type, const unsigned char *before,
                    const unsigned char *after, size_t bytes);

#endif
