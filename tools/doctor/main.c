/* tegracl-doctor, the command. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/explain.h"

/* What orin-bringup-lessons.md 9 asks for: answers within 2 to 5 s. The software Orin's
 * processor may have much else to do. */
#define TIMEOUT_NS          UINT64_C(5000000000)
#define EMULATOR_TIMEOUT_NS UINT64_C(60000000000)
#define NS_PER_S            UINT64_C(1000000000)

static const char default_report[] = "tegracl-doctor.txt";

static const char help[] =
    "usage: tegracl-doctor [-o REPORT] [--timeout SECONDS]\n"
    "       tegracl-doctor --explain FILE\n"
    "Brings the GPU up step by step and says what works, what does not, and what that means.\n"
    "  -o          where to write the report (tegracl-doctor.txt); attach it to a bug\n"
    "  --timeout   how long the GPU may take for an answer (5; the software Orin: 60)\n"
    "  --explain   print a trace (TEGRACL_DEBUG=trace:FILE), or the output of strace, with\n"
    "              requests, structs, methods and descriptors by name; - is standard input\n"
    "TEGRACL_DEVICE=board|emulator: which Orin; default: the board if its nodes exist.\n";

static int explain_file(const char *name) {
  FILE *in = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
  int result = in ? explain(in, stdout) : -errno;
  if (result)
    fprintf(stderr, "tegracl-doctor: %s: %s\n", name, strerror(-result));
  if (in && in != stdin)
    fclose(in);
  return result ? 1 : 0;
}

/* seconds 0: what is usual. */
static int walk(const char *name, unsigned seconds) {
  const struct nvgpu_os *os = rt_device_os();
  if (!os) {
    fprintf(stderr, "tegracl-doctor: %s\n", rt_last_message());
    return 2;
  }
  FILE *file = fopen(name, "we");
  if (!file)
    fprintf(stderr, "tegracl-doctor: no report in %s: %s\n", name, strerror(errno));
  struct report report;
  report_begin(&report, stdout, file);
  const bool emulator = strcmp(os->name, "emulator") == 0;
  const uint64_t usual = emulator ? EMULATOR_TIMEOUT_NS : TIMEOUT_NS;
  const struct doctor_options options = {.timeout_ns = seconds ? seconds * NS_PER_S : usual};
  unsigned failed = doctor_run(os, &options, &report);
  report_end(&report);
  if (file && fclose(file) == 0)
    fprintf(stdout, "The report is in %s.\n", name);
  return failed ? 1 : 0;
}

/* False: no whole number of seconds. */
static bool read_seconds(const char *text, unsigned *seconds) {
  enum { SECONDS_MAX = 3600 };
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  *seconds = (unsigned)n;
  return end != text && !*end && n > 0 && n <= SECONDS_MAX;
}

int main(int argc, char **argv) {
  const char *report = default_report;
  unsigned seconds = 0;
  if (argc == 3 && strcmp(argv[1], "--explain") == 0)
    return explain_file(argv[2]);
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(help, stdout);
    return 0;
  }
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && strcmp(argv[i], "-o") == 0) {
      report = argv[i + 1];
    } else if (!(i + 1 < argc && strcmp(argv[i], "--timeout") == 0 &&
                 read_seconds(argv[i + 1], &seconds))) {
      fputs(help, stderr);
      return 2;
    }
  }
  return walk(report, seconds);
}
