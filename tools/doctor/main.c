/* tegracl-doctor, the command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/doctor/explain.h"

static const char help[] =
    "usage: tegracl-doctor --explain FILE\n"
    "  --explain   print a trace (TEGRACL_DEBUG=trace:FILE), or the output of strace, with\n"
    "              requests, structs, methods and descriptors by name; - is standard input\n";

static int explain_file(const char *name) {
  FILE *in = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
  int result = in ? explain(in, stdout) : -errno;
  if (result)
    fprintf(stderr, "tegracl-doctor: %s: %s\n", name, strerror(-result));
  if (in && in != stdin)
    fclose(in);
  return result ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--explain") == 0)
    return explain_file(argv[2]);
  fputs(help, stderr);
  return 2;
}
