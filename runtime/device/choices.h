/* Features that no board has proven, or whose best setting depends on the board: which of
 * them the driver uses. A choice comes from, in rising order: the default (unknown), what
 * tegracl-doctor found on this board, the environment. A feature that is refused at its
 * first use becomes "no" for the rest of the process.
 */
#ifndef TEGRACL_RUNTIME_CHOICES_H
#define TEGRACL_RUNTIME_CHOICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum rt_choice {
  RT_CHOICE_PREEMPTION,    /* enum rt_preemption; the others: enum rt_answer */
  RT_CHOICE_COPY_METHODS,  /* the copy engine's methods on a compute channel; unknown: not used */
  RT_CHOICE_HIGH_PRIORITY, /* a second TSG, of high interleave level; unknown: used */
  RT_CHOICE_ACQUIRES,      /* the GPU waits for another queue's timeline; unknown: used */
  RT_CHOICE_CONTEXTS,      /* address spaces in other ranges than the first; unknown: used */
  RT_CHOICE_TSG_REUSE,     /* channels in a TSG whose last one was closed; unknown: used */
  RT_CHOICES
};

enum rt_answer { RT_UNKNOWN, RT_NO, RT_YES };
enum rt_preemption {
  RT_PREEMPTION_DEFAULT,
  RT_PREEMPTION_WFI,
  RT_PREEMPTION_CTA,
  RT_PREEMPTION_CILP
};

/* Values may change while other threads read them. */
struct rt_choices {
  atomic_int value[RT_CHOICES];
};

/* One choice by the name that the environment and tegracl-doctor use ("copies=no"). False:
 * there is no such name or value; nothing has changed. */
bool rt_choices_set(struct rt_choices *choices, const char *name, const char *value);
/* TEGRACL_CHOICES=NAME=VALUE[,...] and TEGRACL_PREEMPTION=VALUE. What is wrong in them is
 * reported on stderr, once per process. */
void rt_choices_read_environment(struct rt_choices *choices);

const char *rt_choice_name(enum rt_choice choice);
/* "unknown", "yes", "cilp", ... */
const char *rt_choice_value(const struct rt_choices *choices, enum rt_choice choice);

/* Whether a feature may be used: tried where it is unknown, or only where it is proven. */
bool rt_choice_may(const struct rt_choices *choices, enum rt_choice choice);
bool rt_choice_proven(const struct rt_choices *choices, enum rt_choice choice);
/* Neither proven nor ruled out: if it fails, its plain alternative is tried. */
bool rt_choice_unknown(const struct rt_choices *choices, enum rt_choice choice);

/* The feature was refused, and is not tried again; why: one sentence, for
 * TEGRACL_DEBUG=choices. */
void rt_choice_refused(struct rt_choices *choices, enum rt_choice choice, const char *why);

#endif
