/* Decides which unproven features are used. */
#include "runtime/device/choices.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/debug.h"

static const char *const answers[] = {"unknown", "no", "yes", NULL};
static const char *const preemptions[] = {"default", "wfi", "cta", "cilp", NULL};

static const struct {
  const char *name;
  const char *const *values;
} table[] = {
    [RT_CHOICE_PREEMPTION] = {"preemption", preemptions},
    [RT_CHOICE_COPY_METHODS] = {"copies", answers},
    [RT_CHOICE_HIGH_PRIORITY] = {"priority", answers},
    [RT_CHOICE_ACQUIRES] = {"acquires", answers},
    [RT_CHOICE_CONTEXTS] = {"contexts", answers},
    [RT_CHOICE_TSG_REUSE] = {"tsg-reuse", answers},
};
_Static_assert(sizeof table / sizeof table[0] == RT_CHOICES, "every choice has a name");

bool rt_choices_set(struct rt_choices *choices, const char *name, const char *value) {
  for (int i = 0; i < RT_CHOICES; i++)
    for (int v = 0; strcmp(name, table[i].name) == 0 && table[i].values[v]; v++)
      if (strcmp(value, table[i].values[v]) == 0) {
        atomic_store(&choices->value[i], v);
        return true;
      }
  return false;
}

/* Applies one NAME=VALUE and splits it in place. */
static bool set_pair(struct rt_choices *choices, char *pair) {
  char *value = strchr(pair, '=');
  if (!value)
    return false;
  *value++ = 0;
  const bool right = rt_choices_set(choices, pair, value);
  value[-1] = '=';
  return right;
}

static struct rt_choices from_environment; /* -1: not set there */

static void parse_environment(void) {
  for (int i = 0; i < RT_CHOICES; i++)
    atomic_store(&from_environment.value[i], -1);
  const char *list = secure_getenv("TEGRACL_CHOICES");
  while (list && *list) {
    const size_t length = strcspn(list, ",");
    char *pair = strndup(list, length);
    if (length && pair && !set_pair(&from_environment, pair))
      fprintf(stderr,
              "tegracl: TEGRACL_CHOICES: cannot apply \"%s\"; use NAME=VALUE with copies, "
              "priority, acquires, contexts, tsg-reuse (yes, no, unknown) or preemption (default, "
              "wfi, cta, cilp)\n",
              pair);
    free(pair);
    list += length + (list[length] == ',');
  }
  const char *mode = secure_getenv("TEGRACL_PREEMPTION");
  if (mode && *mode && !rt_choices_set(&from_environment, table[RT_CHOICE_PREEMPTION].name, mode))
    fprintf(stderr, "tegracl: TEGRACL_PREEMPTION: unknown value \"%s\"; use wfi, cta or cilp\n",
            mode);
}

void rt_choices_read_environment(struct rt_choices *choices) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, parse_environment);
  for (int i = 0; i < RT_CHOICES; i++) {
    const int value = atomic_load(&from_environment.value[i]);
    if (value >= 0)
      atomic_store(&choices->value[i], value);
  }
}

const char *rt_choice_name(enum rt_choice choice) {
  return table[choice].name;
}

const char *rt_choice_value(const struct rt_choices *choices, enum rt_choice choice) {
  return table[choice].values[atomic_load(&choices->value[choice])];
}

bool rt_choice_may(const struct rt_choices *choices, enum rt_choice choice) {
  return atomic_load(&choices->value[choice]) != RT_NO;
}

bool rt_choice_proven(const struct rt_choices *choices, enum rt_choice choice) {
  return atomic_load(&choices->value[choice]) == RT_YES;
}

bool rt_choice_unknown(const struct rt_choices *choices, enum rt_choice choice) {
  return atomic_load(&choices->value[choice]) == RT_UNKNOWN;
}

void rt_choice_refused(struct rt_choices *choices, enum rt_choice choice, const char *why) {
  const int before = atomic_exchange(&choices->value[choice], RT_NO);
  if (before != RT_NO && rt_debug_choices())
    fprintf(stderr, "tegracl: %s is no longer used: %s\n", table[choice].name, why);
}
