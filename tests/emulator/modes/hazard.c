/* See hazard.h. */
#include "tests/emulator/modes/hazard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CAUGHT = 98 }; /* differs from the exit status of a sanitizer's report */

static int in_child(const struct hazard *h) {
  void *state;
  fixture_setup(&state);
  struct fixture *f = state;
  push_compute_setup(&f->ch);
  for (unsigned round = 0; round < HAZARD_ROUNDS; round++)
    if (!h->client(f, round, h->right))
      return CAUGHT;
  return 0;
}

/* Returns the number of seeds, starting at 1, under which the client fails. */
static unsigned caught(const struct hazard *h) {
  unsigned count = 0;
  for (unsigned seed = 1; seed <= HAZARD_SEEDS; seed++) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      char word[64];
      snprintf(word, sizeof(word), "adversarial:%u", seed);
      setenv("TEGRACL_EMULATOR", word, 1);
      _exit(in_child(h));
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) && WEXITSTATUS(status) != CAUGHT))
      fail_msg("seed %u: status 0x%x", seed, (unsigned)status);
    count += status != 0;
  }
  return count;
}

void hazard(void **state) {
  struct hazard h = {.client = ((const struct hazard *)*state)->client, .right = true};
  assert_int_equal(caught(&h), 0);
  h.right = false;
  unsigned count = caught(&h);
  print_message("caught under %u of %u seeds\n", count, (unsigned)HAZARD_SEEDS);
  assert_true(count > 0);
}
