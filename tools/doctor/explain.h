/* tegracl-doctor --explain: a trace (docs/trace.md) or the output of strace, with
 * every request, struct, method and descriptor by name.
 */
#ifndef TEGRACL_DOCTOR_EXPLAIN_H
#define TEGRACL_DOCTOR_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "gpu/nvgpu/tables.h"

/* Either kind of file, which its first line tells. 0, or -errno. */
int explain(FILE *in, FILE *out);

/* The character, or '?' for one that a terminal might do more with than show it. */
char explain_shown(char c);

/* The next line, as getline reads it, but with '?' for NUL, and none longer than a line of a trace
 * can be: /dev/zero has no end. Its bytes, 0 at the file's end, -ENOMEM or -EFBIG. */
enum { EXPLAIN_LINE_MAX = 1 << 24 };
ssize_t explain_read_line(FILE *in, char **line, size_t *room);

/* The lines of a trace after its head. 0, or as explain_read_line. */
int explain_trace(FILE *in, FILE *out);

/* One line of strace. */
void explain_strace_line(const char *line, FILE *out);

/* The fields of a struct that are not zero; and, where after is not NULL, what the
 * kernel has changed. bytes: of before and of after. */
void explain_struct(FILE *out, const struct nvgpu_struct *type, const unsigned char *before,
                    const unsigned char *after, size_t bytes);

#endif
