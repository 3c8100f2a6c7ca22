/* The command tegracl-doctor. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/board_file.h"
#include "runtime/device/device.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/explain.h"

/* The GPU should answer within 2 to 5 s (docs/hardware/bring-up.md 9).
 * The software Orin may run on a busy machine. */
#define TIMEOUT_NS          UINT64_C(5000000000)
#define EMULATOR_TIMEOUT_NS UINT64_C(60000000000)
#define NS_PER_S            UINT64_C(1000000000)

static const char default_report[] = "tegracl-doctor.txt";

static const char help[] =
    "usage: tegracl-doctor [-o REPORT] [--json FILE] [--required] [--skip KEYS]\n"
    "                      [--timeout SECONDS] [--suspend]\n"
    "       tegracl-doctor --explain FILE\n"
    "Tests the GPU and the driver step by step: what works, what does not, and what to do.\n"
    "  -o          where to write the report (tegracl-doctor.txt); attach it to a bug\n"
    "  --json      write the results as data: the driver chooses features by them\n"
    "  --required  no experiments: only what the driver needs\n"
    "  --skip      leave out experiments: keys of docs/hardware.md, separated by commas\n"
    "  --timeout   how long the GPU may take for an answer (5; the software Orin: 60)\n"
    "  --suspend   suspend the machine for 10 s as the last experiment; needs root\n"
    "  --explain   print a trace (TEGRACL_DEBUG=trace:FILE), or the output of strace, with\n"
    "              requests, structs, methods and descriptors by name; - is standard input\n"
    "TEGRACL_DEVICE=board|emulator: which Orin; default: the board if its nodes exist.\n";

/* The file and its name may come from another user. After the file is opened, the name
 * is only printed, so its control characters are replaced. */
static int explain_file(char *name) {
  FILE *in = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
  int result = in ? explain(in, stdout) : -errno;
  for (char *c = name; *c; c++)
    *c = explain_shown(*c);
  if (result == -EFBIG)
    fprintf(stderr,
            "tegracl-doctor: %s: neither a trace nor strace output: a line has more than %d MiB\n",
            name, EXPLAIN_LINE_MAX >> 20);
  else if (result)
    fprintf(stderr, "tegracl-doctor: %s: %s\n", name, strerror(-result));
  if (in && in != stdin)
    fclose(in);
  return result ? 1 : 0;
}

static FILE *open_output(const char *name, const char *what) {
  FILE *file = fopen(name, "we");
  if (!file)
    fprintf(stderr, "tegracl-doctor: cannot write the %s %s: %s\n", name, what, strerror(errno));
  return file;
}

static bool close_output(FILE *file, const char *name) {
  const bool failed = ferror(file);
  if (fclose(file) == 0 && !failed)
    return true;
  fprintf(stderr,
          "tegracl-doctor: %s is incomplete: check for a full disk or a low limit (ulimit "
          "-f)\n",
          name);
  return false;
}

/* json: NULL for no file. */
static int run_doctor(const char *name, const char *json, const struct doctor_options *asked) {
  const struct nvgpu_os *os = rt_device_os();
  struct doctor_options options = *asked;
  if (!os) {
    fprintf(stderr, "tegracl-doctor: %s\n", rt_last_message());
    return 2;
  }
  setenv("TEGRACL_BOARD_FILE", "0", 1); /* ignore the results of an earlier run */
  FILE *file = open_output(name, "report");
  options.json = json ? open_output(json, "data") : NULL;
  if (json && !options.json)
    return 2;
  struct report report;
  report_begin(&report, stdout, file);
  if (!options.timeout_ns)
    options.timeout_ns = os == &nvgpu_os_emulator ? EMULATOR_TIMEOUT_NS : TIMEOUT_NS;
  unsigned failed = doctor_run(os, &options, &report);
  report_end(&report);
  const bool has_json = options.json && close_output(options.json, json);
  const bool has_report = file && close_output(file, name);
  if (has_json)
    fprintf(stdout,
            os == &nvgpu_os_emulator
                ? "To use the results on the software Orin: export TEGRACL_BOARD_FILE=%s\n"
                : "To use the results in the driver: sudo install -D -m 644 %s " RT_BOARD_FILE "\n",
            json);
  if (has_report)
    fprintf(stdout, "The report is in %s.\n", name);
  return failed || !has_report || (json && !has_json) ? 1 : 0;
}

/* Reads a whole number of seconds. Prints a message and returns false on failure. */
static bool read_timeout(const char *text, uint64_t *ns) {
  enum { SECONDS_MAX = 3600 };
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  *ns = n * NS_PER_S;
  if (end != text && !*end && n > 0 && n <= SECONDS_MAX)
    return true;
  fprintf(stderr, "tegracl-doctor: --timeout: \"%s\" is not a number of seconds from 1 to %d\n",
          text, SECONDS_MAX);
  return false;
}

/* Reads keys of experiments, separated by commas. If one is
 * unknown, prints a message and returns false. */
static bool read_skip(const char *list, uint64_t *skip) {
  while (*list) {
    const size_t length = strcspn(list, ",");
    unsigned i = STEPS_REQUIRED;
    while (i < STEPS &&
           (strncmp(list, doctor_steps[i].key, length) != 0 || doctor_steps[i].key[length] != 0))
      i++;
    if (i == STEPS) {
      fprintf(stderr, "tegracl-doctor: --skip: unknown experiment \"%.*s\"\n", (int)length, list);
      return false;
    }
    *skip |= STEP_BIT(i);
    list += length + (list[length] == ',');
  }
  return true;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"explain", required_argument, NULL, 'e'}, {"json", required_argument, NULL, 'j'},
      {"timeout", required_argument, NULL, 't'}, {"required", no_argument, NULL, 'r'},
      {"suspend", no_argument, NULL, 's'},       {"skip", required_argument, NULL, 'x'},
      {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
  };
  const char *report = default_report, *json = NULL;
  struct doctor_options asked = {0};
  bool good = true;
  signal(SIGXFSZ, SIG_IGN); /* report exceeded file size limits as errors */
  for (int c; good && (c = getopt_long(argc, argv, "o:", options, NULL)) != -1;) {
    switch (c) {
    case 'o':
      report = optarg;
      break;
    case 'j':
      json = optarg;
      break;
    case 't':
      good = read_timeout(optarg, &asked.timeout_ns);
      break;
    case 'r':
      asked.skip |= STEPS_EXPERIMENTS;
      break;
    case 'x':
      good = read_skip(optarg, &asked.skip);
      break;
    case 's':
      asked.suspend = true;
      break;
    case 'e':
      return explain_file(optarg);
    case 'h':
      fputs(help, stdout);
      return 0;
    default:
      good = false;
    }
  }
  if (good && optind == argc)
    return run_doctor(report, json, &asked);
  fputs(help, stderr);
  return 2;
}
