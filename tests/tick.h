/* Files get their times from a clock that may tick slowly: of two changes in one tick
 * they cannot be told apart.
 */
#ifndef TEGRACL_TEST_TICK_H
#define TEGRACL_TEST_TICK_H

#include <time.h>
#include <unistd.h>

/* Until that clock is past now. */
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
