/* Tests the list of topics in TEGRACL_DEBUG. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/debug.h"

static char seen[64];

static void add_topic(const char *topic) {
  strcat(strcat(seen, topic), ";");
}

static void check(const char *list, const char *expected) {
  seen[0] = 0;
  if (list)
    assert_int_equal(setenv("TEGRACL_DEBUG", list, 1), 0);
  else
    unsetenv("TEGRACL_DEBUG");
  base_debug_topics(add_topic);
  assert_string_equal(seen, expected);
}

static void topics_are_split_at_commas(void **state) {
  (void)state;
  check(NULL, "");
  check("", "");
  check("api", "api;");
  check("api,launch", "api;launch;");
  check(",api,,trace:a:b,", "api;trace:a:b;");
  check(" api", " api;");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(topics_are_split_at_commas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
