/* tegracl-doctor --explain: prints a trace (docs/trace.md) or the output of strace, with the names
 * of requests, structs, methods and descriptors.
 */
#ifndef TEGRACL_DOCTOR_EXPLAIN_H
#define TEGRACL_DOCTOR_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "gpu/nvgpu/tables.h"

/* Explains a file of either kind, by its first line. Returns 0 or -errno. */
int explain(FILE *in, FILE *out);

/* The character, or '?' for one that a terminal may take for a control character. */
char explain_shown(char c);

/* Reads a line as getline does, but with '?' for NUL. Returns its bytes, 0 at the end of the file,
 * -ENOMEM, or -EFBIG: a line of a trace is never longer than EXPLAIN_LINE_MAX. */
enum { EXPLAIN_LINE_MAX = 1 << 24 };
ssize_t explain_read_line(FILE *in, char **line, size_t *room);

/* Explains a trace after its first line. Returns 0 or an error of explain_read_line. */
int explain_trace(FILE *in, FILE *out);

/* Explains a line of strace. */
void explain_strace_line(const char *line, FILE *out);

/* Prints the fields of a struct that are not zero and, if after is not NULL, those that the kernel
 * has changed. bytes: size of before and of after. */
void explain_struct(FILE *out, const struct nvgpu_struct *type, const unsigned char *before,
                    const unsigned char *after, size_t bytes);

#endif
