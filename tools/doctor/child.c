/* Runs each step in a separate process, so that a hang or crash does not affect later steps. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "tools/doctor/advice.h"
#include "tools/doctor/doctor.h"

#define NS_PER_MS UINT64_C(1000000)
/* A step waits for the GPU several times; a build takes longer. */
enum { WAITS_PER_STEP = 4, KILL_MS = 2000 };
#define STEP_NS     UINT64_C(20000000000)
#define COMPILER_NS UINT64_C(180000000000)

/* The driver opens the device for STEP_OPENCL. */
static bool needs_device(enum step_id id) {
  return id > STEP_DEVICE && id != STEP_COMPILER && id != STEP_OPENCL;
}

static uint64_t limit_ns(const struct doctor *d, enum step_id id) {
  const uint64_t waits = d->options.timeout_ns * WAITS_PER_STEP;
  const bool compiles = id == STEP_COMPILER || id == STEP_OPENCL;
  const uint64_t least = compiles ? COMPILER_NS : STEP_NS;
  if (d->options.step_limit_ns)
    return d->options.step_limit_ns;
  return waits < least ? least : waits;
}

/* ---- the child ---------------------------------------------------------------------- */

/* Enables all features that experiments test and that the driver can do without. */
static void try_everything(struct rt_choices *choices) {
  for (unsigned i = 0; i < STEPS; i++)
    if (doctor_steps[i].choice)
      rt_choices_set(choices, doctor_steps[i].choice, "yes");
}

static bool choice_is(const struct rt_choices *choices, const char *name, const char *value) {
  for (int i = 0; i < RT_CHOICES; i++)
    if (strcmp(rt_choice_name(i), name) == 0)
      return strcmp(rt_choice_value(choices, i), value) == 0;
  return false;
}

static _Noreturn void run_child(struct doctor *d, enum step_id id, int text_fd) {
  const struct step *step = &doctor_steps[id];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct report report = {.screen = fdopen(text_fd, "w")};
  if (!report.screen)
    _exit(1);
  setvbuf(report.screen, NULL, _IOLBF, 0);
  d->report = &report;
  bool passed =
      !needs_device(id) || rt_device_create(d->os, &d->device) == 0 || doctor_say_failure(d);
  if (passed && d->device && id >= STEPS_REQUIRED)
    try_everything(&d->device->choices);
  passed = passed && step->run(d);
  if (passed && step->choice && !choice_is(&d->device->choices, step->choice, "yes")) {
    doctor_say(d, "nvgpu refused the request, and the driver continued without the feature");
    passed = false;
  }
  rt_device_close(d->device);
  d->result->passed = passed;
  d->result->done = true;
  fclose(report.screen);
  exit(0);
}

/* ---- the parent --------------------------------------------------------------------- */

/* Prints the child's output until it ends. Returns false if it does not end in time. */
static bool pass_text(struct doctor *d, int fd, uint64_t end_ns) {
  char line[4096];
  size_t used = 0;
  for (;;) {
    const uint64_t now = base_clock_ns();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int ready =
        now < end_ns ? poll(&p, 1, (int)((end_ns - now + NS_PER_MS - 1) / NS_PER_MS)) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    const ssize_t n = ready > 0 ? read(fd, line + used, sizeof(line) - 1 - used) : 0;
    if (n <= 0) {
      report_print(d->report, "%.*s", (int)used, line);
      return ready > 0;
    }
    used += (size_t)n;
    /* Processes whole lines, so that a name to be replaced is never split. */
    const char *last = memrchr(line, '\n', used);
    const size_t whole = last ? (size_t)(last - line) + 1 : used == sizeof(line) - 1 ? used : 0;
    report_print(d->report, "%.*s", (int)whole, line);
    report_sync(d->report);
    memmove(line, line + whole, used - whole);
    used -= whole;
  }
}

/* Returns false if the process has not ended. */
static bool wait_for_exit(pid_t pid, int *status) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  const uint64_t end = base_clock_ns() + KILL_MS * NS_PER_MS;
  do {
    if (waitpid(pid, status, WNOHANG) == pid)
      return true;
    nanosleep(&pause, NULL);
  } while (base_clock_ns() < end);
  return false;
}

static enum verdict judge_step(struct doctor *d, enum step_id id, pid_t pid, bool ended) {
  int status = 0;
  bool gone = ended && wait_for_exit(pid, &status);
  if (!gone) {
    kill(pid, SIGKILL);
    doctor_say(d, "no answer: the step did not end within %" PRIu64 " s and was killed",
               limit_ns(d, id) / (1000 * NS_PER_MS));
    if (!wait_for_exit(pid, &status))
      doctor_say(d, "its process %d does not end: it hangs in the kernel", (int)pid);
    advise_no_answer(d);
    return VERDICT_NO_ANSWER;
  }
  if (!d->result->done) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      doctor_say(d, "the step was killed, probably because memory is short: see sudo dmesg");
      advise_error(d, -ENOMEM);
      return VERDICT_FAIL;
    }
    if (WIFSIGNALED(status))
      doctor_say(d, "the step was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
      doctor_say(d, "the step exited with status %d and without a result", WEXITSTATUS(status));
    advise_bug(d);
    return VERDICT_FAIL;
  }
  if (d->result->no_answer) {
    advise_no_answer(d);
    return VERDICT_NO_ANSWER;
  }
  for (int i = 0; i < MEASURES; i++)
    d->measures[i] = d->result->measures[i] ? d->result->measures[i] : d->measures[i];
  if (d->result->has_textures) {
    d->has_textures = true;
    d->textures = d->result->textures;
    memcpy(d->board, d->result->board, sizeof(d->board));
  }
  if (d->result->skipped)
    return VERDICT_NOT_RUN;
  return d->result->passed ? VERDICT_PASS : VERDICT_FAIL;
}

/* Allocates memory that the step's process shares. Returns NULL,
 * with the reason in errno, on failure. */
static struct step_result *create_result(void) {
  void *shared = mmap(NULL, sizeof(struct step_result), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return shared == MAP_FAILED ? NULL : shared;
}

enum verdict doctor_run_step(struct doctor *d, enum step_id id, char remedy[512]) {
  int fds[2] = {-1, -1};
  enum verdict verdict = VERDICT_FAIL;
  pid_t pid = -1;
  d->result = create_result();
  if (d->result && pipe2(fds, O_CLOEXEC) == 0) {
    report_sync(d->report);
    pid = fork();
  }
  if (pid == 0) {
    close(fds[0]);
    run_child(d, id, fds[1]);
  }
  if (pid < 0) {
    const int error = errno;
    doctor_say(d, "cannot create a process for this step: %s", strerror(error));
    advise_error(d, -error);
  }
  if (fds[1] >= 0)
    close(fds[1]);
  if (pid > 0)
    verdict = judge_step(d, id, pid, pass_text(d, fds[0], base_clock_ns() + limit_ns(d, id)));
  if (fds[0] >= 0)
    close(fds[0]);
  remedy[0] = 0;
  if (verdict != VERDICT_PASS)
    snprintf(remedy, 512, "%s",
             d->result && *d->result->remedy ? d->result->remedy : doctor_steps[id].remedy);
  if (d->result)
    munmap(d->result, sizeof(*d->result));
  d->result = NULL;
  return verdict;
}
