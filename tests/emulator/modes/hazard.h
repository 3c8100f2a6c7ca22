/* Hazards of adversarial mode. A client with the mistake fails under some seeds; the same client
 * without it fails under none. */
#ifndef TEGRACL_TEST_HAZARD_H
#define TEGRACL_TEST_HAZARD_H

#include "tests/emulator/client.h"

enum {
  HAZARD_SEEDS = 24,
  HAZARD_ROUNDS = 20, /* attempts of the client under each seed */
};

/* client runs one round on a channel that has been set up. It makes the mistake unless right, and
 * returns whether the result is correct. */
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
