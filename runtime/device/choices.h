/* Decides which features the driver uses if they are unproven on boards or if their best setting
 * depends on the board. In order of increasing precedence a choice comes from the default
 * (unknown), tegracl-doctor's results for this board, and the environment. A feature that fails at
 * its first use is set to "no" for the rest of the process. */
#ifndef TEGRACL_RUNTIME_CHOICES_H
#define TEGRACL_RUNTIME_CHOICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum rt_choice {
  RT_CHOICE_PREEMPTION,    /* values: enum rt_preemption; others: enum rt_answer */
  RT_CHOICE_COPY_METHODS,  /* copy methods on a compute channel; not used if unknown */
  RT_CHOICE_HIGH_PRIORITY, /* a second TSG with a high interleave level; used if unknown */
  RT_CHOICE_ACQUIRES,      /* the GPU waits for another queue's timeline; used if unknown */
  RT_CHOICE_CONTEXTS,      /* address ranges beyond the first; used if unknown */
  RT_CHOICE_TSG_REUSE,     /* new channels in a TSG whose last one was closed; used if unknown */
  RT_CHOICES
};

enum rt_answer { RT_UNKNOWN, RT_NO, RT_YES };
enum rt_preemption {
  RT_PREEMPTION_DEFAULT,
  RT_PREEMPTION_WFI,
  RT_PREEMPTION_CTA,
  RT_PREEMPTION_CILP
};

/* Values may change while other threads read them, hence the atomics. */
struct rt_choices {
  atomic_int value[RT_CHOICES];
};

/* Sets one choice by the name used in the environment and by tegracl-doctor ("copies=no"). Returns
 * false and changes nothing if the name or the value is unknown. */
bool rt_choices_set(struct rt_choices *choices, const char *name, const char *value);
/* Parses TEGRACL_CHOICES=NAME=VALUE[,...] and TEGRACL_PREEMPTION=VALUE. Errors are reported on
 * stderr once per process. */
void rt_choices_read_environment(struct rt_choices *choices);

const char *rt_choice_name(enum rt_choice choice);
/* Returns the value as a word: "unknown", "yes", "cilp", ... */
const char *rt_choice_value(const struct rt_choices *choices, enum rt_choice choice);

/* rt_choice_may returns true unless the feature is ruled out, rt_choice_proven only if it is
 * proven. */
bool rt_choice_may(const struct rt_choices *choices, enum rt_choice choice);
bool rt_choice_proven(const struct rt_choices *choices, enum rt_choice choice);
/* Returns true if the choice is neither proven nor ruled out. If such a feature fails, the caller
 * uses the alternative. */
bool rt_choice_unknown(const struct rt_choices *choices, enum rt_choice choice);

/* Rules a feature out after it failed. why is a sentence for TEGRACL_DEBUG=choices. */
void rt_choice_refused(struct rt_choices *choices, enum rt_choice choice, const char *why);

#endif
