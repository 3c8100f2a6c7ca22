/* Limits of the compiler; see helper_limits.h. */
#include "compiler/helper_limits.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cores.h"
#include "compiler/message.h"

enum {
  MOST_FILES = 65536,
  DEFAULT_SECONDS = 600,
  MIB_SHIFT = 20,
  KIB_PER_MIB = 1024,
  LEAST_SHARE_MIB = 512, /* enough for NVRTC to compile the 59 kernels of darktable's basic.cl */
};

/* Reads a positive number from the environment. Returns most if it is larger, and 0 if it is unset
 * or invalid. */
static unsigned long environment_number(const char *name, unsigned long most) {
  const char *text = secure_getenv(name);
  if (!text || *text < '0' || *text > '9')
    return 0;
  char *end;
  const unsigned long value = strtoul(text, &end, 10);
  return *end ? 0 : value < most ? value : most;
}

int64_t limits_seconds(void) {
  const unsigned long seconds = environment_number("TEGRACL_COMPILER_TIMEOUT", INT_MAX / 10000);
  return (int64_t)(seconds ? seconds : DEFAULT_SECONDS);
}

int64_t limits_elapsed_seconds(void) {
  enum { ELAPSED_PER_CPU = 10 };
  return limits_seconds() * ELAPSED_PER_CPU;
}

uint64_t limits_memory_mib(void) {
  const uint64_t given = environment_number("TEGRACL_COMPILER_MEMORY", ULONG_MAX >> MIB_SHIFT);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return given ? given : ((uint64_t)pages * (uint64_t)page / 2) >> MIB_SHIFT;
}

unsigned limits_width(void) {
  const unsigned cores = base_cores();
  const uint64_t shares = limits_memory_mib() / LEAST_SHARE_MIB;
  return cores < shares ? cores : shares ? (unsigned)shares : 1;
}

uint64_t limits_share_mib(void) {
  return limits_memory_mib() / limits_width();
}

static void lower_limit(int resource, uint64_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur <= value)
    return;
  limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
  setrlimit(resource, &limit);
}

/* Makes the kernel kill this process first if the machine runs out of memory. */
static void prefer_oom_kill(void) {
  static const char most[] = "1000";
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  (void)!write(fd, most, sizeof most - 1);
  close(fd);
}

void limits_on_memory(void) {
#ifndef __SANITIZE_ADDRESS__ /* ASan's shadow of all memory would count towards the limit */
  lower_limit(RLIMIT_DATA, limits_memory_mib() << MIB_SHIFT);
#endif
  lower_limit(RLIMIT_FSIZE, MESSAGE_MAX);
  prefer_oom_kill();
}

void limits_on_build(uint64_t memory_mib) {
#ifndef __SANITIZE_ADDRESS__
  static rlim_t initial;
  struct rlimit limit;
  if (!memory_mib || getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  initial = initial ? initial : limit.rlim_cur;
  const rlim_t most = (rlim_t)memory_mib << MIB_SHIFT;
  limit.rlim_cur = most < initial ? most : initial;
  setrlimit(RLIMIT_DATA, &limit);
#else
  (void)memory_mib;
#endif
}

void limits_on_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= MOST_FILES)
    return;
  limit.rlim_cur = limit.rlim_max < MOST_FILES ? limit.rlim_max : MOST_FILES;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void limits_on_time(void) {
  struct rusage used;
  struct rlimit limit;
  if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
    return;
  const rlim_t most = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + limits_seconds() + 1);
  limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
}

bool limits_were_met(const struct rusage *used, uint64_t memory_mib) {
  return (uint64_t)used->ru_maxrss / KIB_PER_MIB >= memory_mib / 4;
}

void limits_tell_end(char *words, size_t size, int signal, const struct rusage *used) {
  if (signal == SIGXCPU)
    snprintf(words, size,
             "did not finish in %lld seconds of CPU time; set TEGRACL_COMPILER_TIMEOUT=SECONDS to "
             "allow more time",
             (long long)limits_seconds());
  else
    snprintf(words, size, "was killed by signal %d (%s) after using %ld of %llu MiB of memory",
             signal, strsignal(signal), used->ru_maxrss / KIB_PER_MIB,
             (unsigned long long)limits_memory_mib());
}
