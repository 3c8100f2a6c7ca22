/* Hazards of adversarial mode. A client with the mistake fails under some seeds; the same client
 * without it fails under none. */
#ifndef TEGRACL_TEST_HAZARD_H
#define TEGRACL_TEST_HAZARD_H

#include "tests/emulator/client.h"

enum {
  HAZARD_SEEDS = 24,
  HAZARD_ROUNDS = 20, /* rounds under each seed in which the client can fail */
};

/* client runs one round on a channel that has been set up, and returns whether the result is
 * right. */
struct hazard {
  bool (*client)(struct fixture *f, unsigned round, bool right);
  bool right;
};

/* A cmocka test whose initial state is a struct hazard. */
void hazard(void **state);

#define HAZARD(function)                                                                           \
  {                                                                                                \
#function, hazard, NULL, NULL, &(struct hazard) {                                              \
      .client = function                                                                           \
    }                                                                                              \
  }

#endif
