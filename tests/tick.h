/* File times come from CLOCK_REALTIME_COARSE: two changes within one tick have the same time. */
#ifndef TEGRACL_TEST_TICK_H
#define TEGRACL_TEST_TICK_H

#include <time.h>
#include <unistd.h>

/* Waits until a change of a file would get a later time than a change made now. */
static inline void wait_for_tick(void) {
  enum { LOOK_US = 1000 };
  struct timespec now, ticking;
  clock_gettime(CLOCK_REALTIME, &now);
  do {
    usleep(LOOK_US);
    clock_gettime(CLOCK_REALTIME_COARSE, &ticking);
  } while (ticking.tv_sec < now.tv_sec ||
           (ticking.tv_sec == now.tv_sec && ticking.tv_nsec <= now.tv_nsec));
}

#endif
