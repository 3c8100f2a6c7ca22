/* Called by gcc's -finstrument-functions at the entry and exit of each function. Stalls the thread
 * about every third time in functions chosen by STALL_SEED. Preloaded by tests/stalls. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define UNSEEN __attribute__((no_instrument_function))

enum {
  CHOSEN_ONE_IN = 24,
  STALLED_ONE_IN = 3,
  LONG_ONE_IN = 50,
  SHORT_US = 4000,
  LONG_US = 30000,
  PROCESS_US = 3000000, /* total per process, because a function may be called millions of times */
  PAGE = 4096,
};

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static uint32_t seed; /* 0: none is chosen */
static _Atomic uint32_t stalls;
static _Atomic long stalled_us;

UNSEEN __attribute__((constructor)) static void read_seed(void) {
  const char *text = getenv("STALL_SEED");
  seed = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

UNSEEN static uint32_t mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352d; /* Wellons' lowbias32 */
  x = (x ^ x >> 15) * 0x846ca68b;
  return x ^ x >> 16;
}

/* Chooses by the function's offset in its page, which does not depend on the library's address. */
UNSEEN static bool is_chosen(const void *function, uint32_t at_exit) {
  const uint32_t place = (uint32_t)((uintptr_t)function % PAGE);
  return seed && mix(mix(seed) ^ (place << 1 | at_exit)) % CHOSEN_ONE_IN == 0;
}

UNSEEN static void stall(const void *function, uint32_t at_exit) {
  if (!is_chosen(function, at_exit) || stalled_us >= PROCESS_US)
    return;
  const uint32_t random = mix(mix(seed) + stalls++);
  if (random % STALLED_ONE_IN)
    return;
  const bool is_long = random / STALLED_ONE_IN % LONG_ONE_IN == 0;
  const long us = is_long ? LONG_US : 1 + (long)(random >> 8) % SHORT_US;
  stalled_us += us;
  const int error = errno;
  nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
  errno = error;
}

UNSEEN void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  stall(function, 0);
}

UNSEEN void __cyg_profile_func_exit(void *function, void *caller) {
  (void)caller;
  stall(function, 1);
}
