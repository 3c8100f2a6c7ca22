/* Prints the answers to the open questions of docs/hardware.md,
 * as text and as data for the driver. */
#include <inttypes.h>
#include <string.h>

#include "runtime/device/board_file.h"
#include "tools/doctor/doctor.h"

static const char *answer_word(enum verdict verdict) {
  static const char *const answers[] = {
      [VERDICT_PASS] = "yes",
      [VERDICT_FAIL] = "no",
      [VERDICT_NO_ANSWER] = "no answer",
      [VERDICT_NOT_RUN] = "not tried",
  };
  return answers[verdict];
}

void doctor_say_questions(struct doctor *d) {
  report_print(d->report, "== open questions of docs/hardware.md: does it work?\n");
  for (unsigned i = STEPS_REQUIRED; i < STEPS; i++)
    doctor_say(d, "%-10s %s", answer_word(d->verdicts[i]), doctor_steps[i].question);
}

const char *doctor_best_preemption(const struct doctor *d) {
  static const struct {
    enum step_id step;
    const char *mode;
  } modes[] = {{STEP_CILP, "cilp"}, {STEP_CTA, "cta"}, {STEP_WFI, "wfi"}};
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
    if (d->verdicts[modes[i].step] == VERDICT_PASS)
      return modes[i].mode;
  return "default";
}

static const char *choice_word(enum verdict verdict) {
  return verdict == VERDICT_PASS ? "yes" : verdict == VERDICT_NOT_RUN ? "unknown" : "no";
}

static void put_texture(void *out, const char *name, const char *value) {
  fprintf(out, ",\n  \"texture.%s\": \"%s\"", name, value);
}

/* No string needs escaping: they are words of this program or names of releases. */
void doctor_write_json(struct doctor *d, FILE *out) {
  struct rt_board_identity here;
  rt_board_identify(d->os == &nvgpu_os_emulator, &here);
  fprintf(out,
          "{\n  \"format\": %d,\n  \"driver\": \"%s\",\n  \"l4t\": \"%s\",\n  \"kernel\": \"%s\"",
          RT_BOARD_FORMAT, here.driver, here.l4t, here.kernel);
  fprintf(out, ",\n  \"choice.preemption\": \"%s\"", doctor_best_preemption(d));
  for (unsigned i = 0; i < STEPS; i++)
    if (doctor_steps[i].choice)
      fprintf(out, ",\n  \"choice.%s\": \"%s\"", doctor_steps[i].choice,
              choice_word(d->verdicts[i]));
  if (d->has_textures)
    rt_texture_answers_store(&d->textures, d->board, put_texture, out);
  for (unsigned i = 0; i < STEPS; i++)
    fprintf(out, ",\n  \"step.%s\": \"%s\"", doctor_steps[i].key, doctor_verdict(d->verdicts[i]));
  for (unsigned i = 0; i < MEASURES; i++)
    if (d->measures[i])
      fprintf(out, ",\n  \"measured.%s\": %" PRIu64, doctor_measures[i], d->measures[i]);
  fputs("\n}\n", out);
  if (!*here.l4t)
    doctor_say(d, "--json: the results lack the L4T release, because /etc/nv_tegra_release cannot "
                  "be read, and a driver that can read it does not use them. In a container, run "
                  "tegracl-doctor outside, or use docker run "
                  "-v /etc/nv_tegra_release:/etc/nv_tegra_release:ro");
}
