/* Hazards of adversarial mode: a wrong client fails under some seeds, the same client without the
 * mistake under none.
 */
#ifndef TEGRACL_TEST_HAZARD_H
#define TEGRACL_TEST_HAZARD_H

#include "tests/emulator/client.h"

enum {
  HAZARD_SEEDS = 24,
  HAZARD_ROUNDS = 20, /* chances to be caught, under each seed */
};

/* One round on a channel that has been set up. True: the result is right. */
struct hazard {
  bool (*client)(struct fixture *f, unsigned round, bool right);
  bool right;
};

/* A test of cmocka, whose initial state is a struct hazard. */
void hazard(void **state);

#define HAZARD(function)                                                                           \
  {                                                                                                \
#function, hazard, NULL, NULL, &(struct hazard) {                                              \
      .client = function                                                                           \
    }                                                                                              \
  }

#endif
