/* The bring-up, one step at a time, through the parts of which the driver is made. */
#ifndef TEGRACL_DOCTOR_H
#define TEGRACL_DOCTOR_H

#include "base/clock.h"
#include "runtime/queue/queue.h"
#include "tools/doctor/report.h"

/* In the order in which they are walked: first what the driver requires, then the
 * experiments. */
enum step_id {
  STEP_SYSTEM,
  STEP_NODES,
  STEP_DEVICE,
  STEP_MEMORY,
  STEP_ADDRESSES,
  STEP_MAPPING,
  STEP_CHANNEL,
  STEP_HOST,
  STEP_COHERENCE,
  STEP_CLASS,
  STEP_LAUNCH_DRIVER,
  STEP_LOCAL,
  STEP_TIME,
  STEP_COMPILER,
  STEP_OPENCL,
  STEP_SLEEP, /* the first experiment */
  STEP_LAUNCH_PREFETCH,
  STEP_LAUNCH_COPY,
  STEP_LAUNCH_INLINE,
  STEP_LAUNCH_CHAIN,
  STEP_ACQUIRE,
  STEP_REUSE,
  STEP_CONTEXTS,
  STEP_PRIORITY,
  STEP_IMPORT,
  STEP_GROW,
  STEP_CROWD,
  STEP_ATOMICS,
  STEP_SPEED,
  STEP_IDLE,
  STEP_COPY_OWN, /* from here on: what is most likely to end a channel */
  STEP_COPY,
  STEP_COPY_BARE,
  STEP_CILP,
  STEP_CTA,
  STEP_WFI,
  STEP_QUEUES,
  STEP_STORE,
  STEP_BEYOND,
  STEP_SUSPEND,
  STEPS,
  STEPS_REQUIRED = STEP_SLEEP,
};

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_NO_ANSWER, VERDICT_NOT_RUN };

/* What experiments measure; the unit is in the name (doctor_measures). */
enum measure {
  MEASURE_WAKE,
  MEASURE_LAUNCH,
  MEASURE_LAUNCHES,
  MEASURE_COPY,
  MEASURE_SHORT_CILP,
  MEASURE_SHORT_CTA,
  MEASURE_SHORT_WFI,
  MEASURE_QUEUE,
  MEASURE_IDLE,
  MEASURE_GROUPS,
  MEASURES,
};
extern const char *const doctor_measures[MEASURES];

/* What a step hands back from its process, and keeps if that is killed. */
struct step_result {
  bool done, passed;
  bool no_answer;              /* the GPU did not answer within the time limit */
  bool skipped;                /* there was nothing to do */
  uint64_t measures[MEASURES]; /* 0: not measured */
  char remedy[512];            /* the first advice that the step gave; "": none */
};

struct doctor_options {
  uint64_t timeout_ns;    /* how long the GPU may take for anything */
  uint64_t step_limit_ns; /* how long a step may take; 0: what is usual */
  uint64_t skip;          /* bits of steps that are not walked */
  bool suspend;           /* let the machine sleep */
  FILE *json;             /* the results as data. NULL: none */
};

struct doctor {
  const struct nvgpu_os *os;
  struct report *report;
  struct doctor_options options;
  struct rt_device *device; /* the step's own, in its process */
  enum verdict verdicts[STEPS];
  uint64_t measures[MEASURES];
  struct step_result *result; /* of the step that runs; shared with its process. NULL: none */
};

struct step {
  const char *key; /* in the JSON */
  const char *name;
  const char *does;
  uint64_t needs; /* bits of step_id: without them it cannot run */
  bool (*run)(struct doctor *doctor);
  const char *meaning; /* of its failure */
  const char *remedy;  /* where the step itself knows no better one */
  /* Of experiments: the question of docs/hardware.md that it answers, and the driver's
   * choice that depends on it (runtime/device/choices.h). NULL: none. */
  const char *question, *choice;
};

#define STEP_BIT(step) (UINT64_C(1) << (step))
/* All experiments. */
#define STEPS_EXPERIMENTS (~(STEP_BIT(STEPS_REQUIRED) - 1))

extern const struct step doctor_steps[STEPS];

/* Walks all steps. The number of those that failed. */
unsigned doctor_run(const struct nvgpu_os *os, const struct doctor_options *options,
                    struct report *report);

/* Runs a step in a process with its own device, and ends it after a time limit.
 * *remedy is the caller's: what the step advised, or "". */
enum verdict step_run_apart(struct doctor *doctor, enum step_id id, char remedy[512]);

/* One line of a step's account. */
__attribute__((format(printf, 2, 3))) void say(struct doctor *doctor, const char *format, ...);

/* One line that says what to do. The first one of a step is its remedy. */
__attribute__((format(printf, 2, 3))) void advise(struct doctor *doctor, const char *format, ...);

/* Says what the runtime's last failure was, and what to do about it. False, for the step
 * to return. */
bool say_failure(struct doctor *doctor);

/* The same of a request that the step made itself; result is -errno, or a count of bytes that
 * the kernel could not copy. */
void say_refusal(struct doctor *doctor, const char *what, int result);

void measured(struct doctor *doctor, enum measure measure, uint64_t value);

/* How a verdict reads in the summary. */
const char *doctor_verdict(enum verdict verdict);

/* The verdict on each open question of docs/hardware.md. */
void doctor_say_questions(struct doctor *doctor);
/* The best mode of preemption that works: cilp, cta, wfi; default if none was tried. */
const char *doctor_best_preemption(const struct doctor *doctor);
/* What the driver should choose, and all verdicts and measures: a file for the driver
 * (runtime/device/board_file.h). */
void doctor_write_json(struct doctor *doctor, FILE *out);

/* ---- a context and its own queue for each step on the GPU, so that what one
 * step breaks is not the next one's fault ------------------------------------------ */

struct setup {
  struct doctor *doctor;
  struct rt_context *context;
  struct rt_queue *queue;
  struct rt_module *module; /* the kernels of kernels.h */
  struct rt_buffer *data;   /* cached, zero */
};

/* Says what failed, and leaves nothing, if it is false. */
bool setup_open(struct doctor *doctor, uint64_t data_bytes, struct setup *setup);
/* Ends the channel first if its work has not. */
void setup_close(struct setup *setup);
/* Destroys a queue, whose work may not have ended. NULL is fine. */
void setup_end(struct rt_queue *queue);
/* Waits for a point. If it does not come, says what is known of why. */
bool setup_wait(struct setup *setup, uint64_t point);

/* ---- pushbuffers ------------------------------------------------------------------ */

void put_word(struct rt_slice *slice, uint32_t word);
/* The header of count words for methods from the given one on. */
void put_methods(struct rt_slice *slice, uint32_t subchannel, uint32_t method, uint32_t count);
/* The five words of a host semaphore. */
void put_semaphore(struct rt_slice *slice, uint64_t address, uint64_t payload, uint32_t execute);

/* Parts of the step on time: times that the GPU writes are those of the kernel. */
bool time_semaphores(struct setup *setup);
bool time_qmd(struct setup *setup);

/* ---- steps ------------------------------------------------------------------------ */

bool step_system(struct doctor *doctor);
bool step_nodes(struct doctor *doctor);
bool step_device(struct doctor *doctor);
bool step_memory(struct doctor *doctor);
bool step_addresses(struct doctor *doctor);
bool step_mapping(struct doctor *doctor);
bool step_channel(struct doctor *doctor);
bool step_host(struct doctor *doctor);
bool step_sleep(struct doctor *doctor);
bool step_coherence(struct doctor *doctor);
bool step_class(struct doctor *doctor);
bool step_launch_driver(struct doctor *doctor);
bool step_launch_prefetch(struct doctor *doctor);
bool step_launch_copy(struct doctor *doctor);
bool step_launch_inline(struct doctor *doctor);
bool step_launch_chain(struct doctor *doctor);
bool step_local(struct doctor *doctor);
bool step_copy(struct doctor *doctor);
bool step_time(struct doctor *doctor);
bool step_compiler(struct doctor *doctor);
bool step_opencl(struct doctor *doctor);
bool step_acquire(struct doctor *doctor);
bool step_reuse(struct doctor *doctor);
bool step_contexts(struct doctor *doctor);
bool step_priority(struct doctor *doctor);
bool step_queues(struct doctor *doctor);
bool step_import(struct doctor *doctor);
bool step_grow(struct doctor *doctor);
bool step_crowd(struct doctor *doctor);
bool step_atomics(struct doctor *doctor);
bool step_speed(struct doctor *doctor);
bool step_idle(struct doctor *doctor);
bool step_copy_own(struct doctor *doctor);
bool step_copy_bare(struct doctor *doctor);
bool step_cilp(struct doctor *doctor);
bool step_cta(struct doctor *doctor);
bool step_wfi(struct doctor *doctor);
bool step_store(struct doctor *doctor);
bool step_beyond(struct doctor *doctor);
bool step_suspend(struct doctor *doctor);

#endif
