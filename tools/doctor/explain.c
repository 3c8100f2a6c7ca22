/* Which kind of file, by its first line. */
#include "tools/doctor/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/trace.h"

int explain(FILE *in, FILE *out) {
  char *line = NULL;
  size_t room = 0;
  bool trace = getline(&line, &room, in) > 0 && strcmp(line, RT_TRACE_HEAD "\n") == 0;
  if (trace) {
    explain_trace(in, out);
  } else {
    while (!feof(in) && !ferror(in)) {
      explain_strace_line(line, out);
      if (getline(&line, &room, in) <= 0)
        break;
    }
  }
  free(line);
  return ferror(in) || ferror(out) ? -EIO : 0;
}
