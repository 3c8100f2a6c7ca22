/* events FILE [COUNT]: measures the CPU time that a timeline event costs its thread, in ns,
 * including the write to the file. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/debug/timeline.h"

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  const long count = argc > 2 ? atol(argv[2]) : 1000000;
  if (argc < 2 || count < 1) {
    fprintf(stderr, "usage: events FILE [COUNT]\n");
    return 2;
  }
  rt_timeline_open(argv[1]);
  if (!rt_timeline_on())
    return 1;
  const double begin = cpu_ns();
  for (long i = 0; i < count; i++) {
    const struct rt_timeline_detail detail = {"bytes", (uint64_t)i, NULL};
    rt_timeline_span("copy", "copy", base_clock_ns(), &detail, 1);
  }
  printf("%.0f ns of CPU time each\n", (cpu_ns() - begin) / (double)count);
}
