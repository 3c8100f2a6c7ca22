/* tegracl-doctor --explain: a trace (docs/trace.md) or the output of strace, with
 * every request, struct, method and descriptor by name.
 */
#ifndef TEGRACL_DOCTOR_EXPLAIN_H
#define TEGRACL_DOCTOR_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/nvgpu/tables.h"

/* Either kind of file, which its first line tells. 0, or -errno. */
int explain(FILE *in, FILE *out);

/* The lines of a trace behind its head. */
void explain_trace(FILE *in, FILE *out);

/* One line of strace. */
void explain_strace_line(const char *line, FILE *out);

/* The fields of a struct that are not zero; and, where after is not NULL, what the
 * kernel has changed. bytes: of before and of after. */
void explain_struct(FILE *out, const struct nvgpu_struct *type, const unsigned char *before,
                    const unsigned char *after, size_t bytes);

#endif
