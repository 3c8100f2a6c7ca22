/* Which kind of file, by its first line. */
#include "tools/doctor/explain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/trace.h"

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

/* ---- what a terminal only shows ------------------------------------------------- */

struct filter {
  FILE *out;
  bool held;    /* the first byte of two, c2, which is not written yet */
  unsigned due; /* bytes that a character of UTF-8 still needs */
};

/* One byte. Control characters come from files: none goes on, neither those of ASCII but the ends
 * of lines, nor 80 to 9f, which UTF-8 writes as c2 80 to c2 9f. */
static void put_filtered(struct filter *filter, unsigned char c) {
  enum { DELETE = 0x7f, MORE = 0x80, PRINTED = 0xa0, LEAD = 0xc0, LATIN = 0xc2, LEAD3 = 0xe0 };
  const bool more = c >= MORE && c<LEAD, due = filter->due> 0;
  bool control = (c < ' ' && c != '\n' && c != '\t') || c == DELETE || (more && !due);
  if (filter->held && more && c < PRINTED)
    control = true;
  else if (filter->held)
    putc_unlocked(LATIN, filter->out);
  filter->held = c == LATIN;
  if (more)
    filter->due -= due;
  else
    filter->due = c < LEAD ? 0 : c < LEAD3 ? 1 : 3;
  if (!filter->held)
    putc_unlocked(control ? '?' : c, filter->out);
}

static ssize_t write_filtered(void *data, const char *bytes, size_t size) {
  struct filter *filter = data;
  for (size_t i = 0; i < size; i++)
    put_filtered(filter, (unsigned char)bytes[i]);
  return ferror(filter->out) ? 0 : (ssize_t)size;
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
  struct filter filter = {.out = out};
  FILE *filtered = fopencookie(&filter, "w", (cookie_io_functions_t){.write = write_filtered});
  if (!filtered)
    return -ENOMEM;
  int result = explain_into(in, filtered);
  if (fclose(filtered) && !result)
    result = -EIO;
  return result;
}
