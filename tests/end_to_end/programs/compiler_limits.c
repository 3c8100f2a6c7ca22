/* Sources that make the compiler run out of memory, run forever or crash, and a compiler that is
 * killed. The build must fail with a log that says so, and the next one must work.
 *
 *   compiler_limits [memory|time|crash|killed]
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

static const char good[] = "kernel void k(global int *out) { *out = 1; }\n";

/* Expects that the build fails within the limits of the variable, which may be NULL, and that
 * the log contains the words. */
static void check_failure(const struct opencl *opencl, const char *source, const char *variable,
                          const char *limit, const char *words) {
  static char log[65536];
  cl_program program = opencl_program(opencl, source);
  if (variable)
    setenv(variable, limit, 1);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  if (variable)
    unsetenv(variable);
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  printf("%.*s\n", 300, log);
  if (!strstr(log, words)) {
    fprintf(stderr, "no \"%s\" in: %s\n", words, log);
    exit(1);
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(opencl_kernel(opencl, good, "k")), CL_SUCCESS);
}

/* Nested macros, each of which expands to two of the next, so the text becomes 2^levels times as
 * long. */
static void add_macros(char *source, const char *first, const char *between, int levels) {
  int at = sprintf(source, "#define M0 %s\n", first);
  for (int i = 1; i <= levels; i++)
    at += sprintf(source + at, "#define M%d M%d %s M%d\n", i, i - 1, between, i - 1);
  sprintf(source + at, "kernel void k(global int *p) { int x = *p; *p = 1 + M%d; }\n", levels);
}

enum { LEVELS = 40 };

static void test_memory(const struct opencl *opencl) {
  static char source[LEVELS * 40];
  add_macros(source, "", "", LEVELS);
  check_failure(opencl, source, "TEGRACL_COMPILER_MEMORY", "300", "of 300 MiB of memory");
}

static void test_time(const struct opencl *opencl) {
  static char source[LEVELS * 40];
  add_macros(source, "x", "+", LEVELS);
  /* 2 seconds of CPU time, or 20 seconds on a busy machine */
  check_failure(opencl, source, "TEGRACL_COMPILER_TIMEOUT", "2", "did not finish in 2");
}

/* Expressions nested so deeply that clang's parser overflows its stack. */
static void test_crash(const struct opencl *opencl) {
  enum { DEPTH = 1000000 };
  char *source = malloc(DEPTH + 128);
  CHECK(source);
  int at = sprintf(source, "kernel void k(global int *p) { *p = ");
  memset(source + at, '~', DEPTH);
  strcpy(source + at + DEPTH, "*p; }\n");
  check_failure(opencl, source, NULL, NULL, "was killed by signal 11");
  free(source);
}

/* ---- killed ------------------------------------------------------------------------- */

/* Returns a child of this process that runs tegraclc, or 0. */
static pid_t find_helper(void) {
  pid_t found = 0;
  DIR *processes = opendir("/proc");
  CHECK(processes);
  for (const struct dirent *item; (item = readdir(processes));) {
    char path[300], name[32] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", item->d_name);
    FILE *file = fopen(path, "r");
    if (!file)
      continue;
    if (fscanf(file, "%*d (%31[^)]) %*c %d", name, &parent) == 2 && parent == getpid() &&
        !strcmp(name, "tegraclc"))
      found = atoi(item->d_name);
    fclose(file);
  }
  closedir(processes);
  return found;
}

static void *kill_helper(void *unused) {
  (void)unused;
  enum { LOOK_US = 20 * 1000, INTO_THE_BUILD_US = 300 * 1000 };
  pid_t helper;
  while (!(helper = find_helper()))
    usleep(LOOK_US);
  usleep(INTO_THE_BUILD_US);
  CHECK(kill(helper, SIGKILL) == 0);
  return NULL;
}

static void test_killed(const struct opencl *opencl) {
  static char source[LEVELS * 40];
  pthread_t killer;
  add_macros(source, "x", "+", LEVELS);
  CHECK(pthread_create(&killer, NULL, kill_helper, NULL) == 0);
  check_failure(opencl, source, NULL, NULL, "it was killed by signal 9");
  pthread_join(killer, NULL);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(const struct opencl *opencl);
  } tests[] = {
      {"memory", test_memory}, {"time", test_time}, {"crash", test_crash}, {"killed", test_killed}};
  struct opencl opencl;
  unsigned run = 0;
  setenv("TEGRACL_CACHE", "0", 1);
  opencl_open(&opencl);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
    if (argc < 2 || !strcmp(argv[1], tests[i].name)) {
      tests[i].run(&opencl);
      run++;
    }
  CHECK(run);
  opencl_close(&opencl);
  return 0;
}
