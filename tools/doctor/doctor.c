/* Runs the steps of steps.c, and prints a summary and a diagnosis. */
#include "tools/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/debug/debug.h"

/* Returns the first step that is required but has not passed, or STEPS if there is none. */
static enum step_id find_missing_step(const struct doctor *d, const struct step *step) {
  for (unsigned i = 0; i < STEPS; i++)
    if (step->needs & STEP_BIT(i) && d->verdicts[i] != VERDICT_PASS)
      return (enum step_id)i;
  return STEPS;
}

static const char *const verdict_words[] = {
    [VERDICT_PASS] = "pass",
    [VERDICT_FAIL] = "FAIL",
    [VERDICT_NO_ANSWER] = "NO ANSWER",
    [VERDICT_NOT_RUN] = "not run",
};

const char *doctor_verdict(enum verdict verdict) {
  return verdict_words[verdict];
}

static enum verdict walk_step(struct doctor *d, enum step_id id, char remedy[512]) {
  const struct step *step = &doctor_steps[id];
  enum step_id without = find_missing_step(d, step);
  if (d->options.skip & STEP_BIT(id))
    return VERDICT_NOT_RUN;
  if (id == STEPS_REQUIRED)
    report_print(d->report, "== experiments: features that no board has confirmed\n");
  report_print(d->report, "== %s: %s\n", step->name, step->does);
  report_sync(d->report);
  if (without != STEPS) {
    doctor_say(d, "NOT RUN: it requires the step \"%s\", which %s", doctor_steps[without].name,
               d->verdicts[without] == VERDICT_NOT_RUN ? "did not run" : "failed");
    return VERDICT_NOT_RUN;
  }
  enum verdict verdict = doctor_run_step(d, id, remedy);
  if (verdict == VERDICT_PASS)
    doctor_say(d, "PASS");
  else if (verdict == VERDICT_NOT_RUN)
    doctor_say(d, "NOT RUN");
  else
    doctor_say(d, "%s: %s", verdict_words[verdict], step->meaning);
  return verdict;
}

static bool has_failed(enum verdict verdict) {
  return verdict == VERDICT_FAIL || verdict == VERDICT_NO_ANSWER;
}

/* Prints the first failure, which is often the cause of the others. */
static void diagnose(struct doctor *d, char remedies[STEPS][512]) {
  unsigned i = 0;
  while (i < STEPS && !has_failed(d->verdicts[i]))
    i++;
  report_print(d->report, "== diagnosis\n");
  if (i == STEPS) {
    doctor_say(d, "no step failed");
    return;
  }
  doctor_say(d, "first: %s (%s, %s)", doctor_steps[i].name, verdict_words[d->verdicts[i]],
             i < STEPS_REQUIRED ? "required" : "an experiment: the driver works without it");
  doctor_say(d, "that means: %s", doctor_steps[i].meaning);
  doctor_say(d, "what to do: %s", remedies[i]);
}

unsigned doctor_run(const struct nvgpu_os *os, const struct doctor_options *options,
                    struct report *report) {
  struct doctor d = {.os = os, .report = report, .options = *options};
  static char remedies[STEPS][512];
  unsigned counts[VERDICT_NOT_RUN + 1] = {0};
  rt_debug_begin(); /* all processes write to one trace */
  for (unsigned i = 0; i < STEPS; i++) {
    d.verdicts[i] = walk_step(&d, (enum step_id)i, remedies[i]);
    counts[d.verdicts[i]]++;
  }
  report_print(report, "== summary\n");
  for (unsigned i = 0; i < STEPS; i++)
    report_print(report, "   %-9s %s\n", verdict_words[d.verdicts[i]], doctor_steps[i].name);
  doctor_say_questions(&d);
  diagnose(&d, remedies);
  const unsigned bad = counts[VERDICT_FAIL] + counts[VERDICT_NO_ANSWER];
  report_print(report, "%u steps passed, %u failed, %u not run\n", counts[VERDICT_PASS], bad,
               counts[VERDICT_NOT_RUN]);
  if (options->json)
    doctor_write_json(&d, options->json);
  report_sync(report);
  return bad;
}
