/* Reads a trace or the output of strace, and sanitizes what is printed. */
#include "tools/doctor/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/trace.h"

enum { LINE_BYTES_FIRST = 4096 };

ssize_t explain_read_line(FILE *in, char **line, size_t *room) {
  size_t size = 0;
  for (int c = 0; c != '\n' && (c = getc_unlocked(in)) != EOF;) {
    if (size + 2 > *room) {
      const size_t more = *room ? *room * 2 : LINE_BYTES_FIRST;
      char *grown = more <= EXPLAIN_LINE_MAX ? realloc(*line, more) : NULL;
      if (!grown)
        return more <= EXPLAIN_LINE_MAX ? -ENOMEM : -EFBIG;
      *line = grown;
      *room = more;
    }
    (*line)[size++] = (char)(c ? c : '?');
  }
  if (size)
    (*line)[size] = 0;
  return (ssize_t)size;
}

/* ---- control characters ----------------------------------------------------------- */

/* Control characters in files must not reach the terminal. Neither must bytes above ASCII, which
 * the formats do not need: some terminals interpret parts of invalid UTF-8 as control characters
 * (c0 9b is an escape), and some characters change the direction of text. */
char explain_shown(char c) {
  return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' ? c : '?';
}

static ssize_t write_filtered(void *data, const char *bytes, size_t size) {
  FILE *out = data;
  for (size_t i = 0; i < size; i++)
    putc_unlocked(explain_shown(bytes[i]), out);
  return ferror(out) ? 0 : (ssize_t)size;
}

static int explain_into(FILE *in, FILE *out) {
  char *line = NULL;
  size_t room = 0;
  ssize_t size = explain_read_line(in, &line, &room);
  if (size > 0 && strcmp(line, RT_TRACE_HEAD "\n") == 0) {
    size = explain_trace(in, out);
  } else {
    for (; size > 0; size = explain_read_line(in, &line, &room))
      explain_strace_line(line, out);
  }
  free(line);
  return size < 0 ? (int)size : ferror(in) || ferror(out) ? -EIO : 0;
}

int explain(FILE *in, FILE *out) {
  FILE *filtered = fopencookie(out, "w", (cookie_io_functions_t){.write = write_filtered});
  if (!filtered)
    return -ENOMEM;
  int result = explain_into(in, filtered);
  if (fclose(filtered) && !result)
    result = -EIO;
  return result;
}
