/* Tests how choices are set: by name, by the environment, and by a failed first use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "runtime/device/choices.h"

static void choices_are_set_by_name(void **state) {
  (void)state;
  struct rt_choices c = {0};
  for (int i = 0; i < RT_CHOICES; i++)
    assert_string_equal(rt_choice_value(&c, i), i == RT_CHOICE_PREEMPTION ? "default" : "unknown");
  assert_true(rt_choices_set(&c, "copies", "yes"));
  assert_true(rt_choices_set(&c, "priority", "no"));
  assert_true(rt_choices_set(&c, "preemption", "cta"));
  assert_false(rt_choices_set(&c, "copies", "cta"));
  assert_false(rt_choices_set(&c, "preemption", "yes"));
  assert_false(rt_choices_set(&c, "copy", "yes"));
  assert_false(rt_choices_set(&c, "", ""));
  assert_true(rt_choice_proven(&c, RT_CHOICE_COPY_METHODS));
  assert_false(rt_choice_may(&c, RT_CHOICE_HIGH_PRIORITY));
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_PREEMPTION), "cta");
  /* Names that are not choices. */
  assert_true(rt_choice_may(&c, RT_CHOICE_ACQUIRES));
  assert_false(rt_choice_proven(&c, RT_CHOICE_ACQUIRES));
}

/* Changes only the choices that it lists. */
static void environment_sets_choices(void **state) {
  (void)state;
  struct rt_choices c = {0};
  assert_true(rt_choices_set(&c, "contexts", "no"));
  assert_true(rt_choices_set(&c, "acquires", "no"));
  rt_choices_read_environment(&c);
  assert_false(rt_choice_may(&c, RT_CHOICE_CONTEXTS));
  assert_true(rt_choice_proven(&c, RT_CHOICE_ACQUIRES));
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_COPY_METHODS), "unknown");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_PREEMPTION), "wfi");
}

static void refusal_disables_only_that_choice(void **state) {
  (void)state;
  struct rt_choices c = {0};
  rt_choice_refused(&c, RT_CHOICE_TSG_REUSE, "a test refuses it");
  assert_false(rt_choice_may(&c, RT_CHOICE_TSG_REUSE));
  assert_true(rt_choice_may(&c, RT_CHOICE_CONTEXTS));
}

int main(void) {
  setenv("TEGRACL_CHOICES", "acquires=yes,,copies,preemption=cilp,copies=perhaps", 1);
  setenv("TEGRACL_PREEMPTION", "wfi", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices_are_set_by_name),
      cmocka_unit_test(environment_sets_choices),
      cmocka_unit_test(refusal_disables_only_that_choice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
