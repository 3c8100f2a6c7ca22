/* tegracl-doctor tests the parts of the driver on a board, step by step. */
#ifndef TEGRACL_DOCTOR_H
#define TEGRACL_DOCTOR_H

#include "base/clock.h"
#include "runtime/context/texture_check.h"
#include "runtime/queue/queue.h"
#include "tools/doctor/report.h"

/* The steps in the order of execution: first those that the
 * driver requires, then the experiments. */
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
  STEP_TEXTURES, /* this and later steps are the most likely to end a channel */
  STEP_COPY_OWN,
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

/* Measurements of experiments. doctor_measures has their names, which end with the unit. */
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
  MEASURE_TEXTURES,
  MEASURES,
};
extern const char *const doctor_measures[MEASURES];

/* Results of a step, in memory shared with its process so that they survive it. */
struct step_result {
  bool done, passed;
  bool no_answer;              /* the GPU did not finish within the time limit */
  bool skipped;                /* the step did not apply */
  uint64_t measures[MEASURES]; /* 0: not measured */
  char remedy[512];            /* first advice of the step, or "" */
  bool has_textures;           /* STEP_TEXTURES has answers */
  struct rt_texture_answers textures;
  char board[64]; /* rt_device_info.board */
};

struct doctor_options {
  uint64_t timeout_ns;    /* time limit for each wait for the GPU */
  uint64_t step_limit_ns; /* time limit for a step; 0 means the default */
  uint64_t skip;          /* bits of step_id: steps to skip */
  bool suspend;           /* suspend the machine in STEP_SUSPEND */
  FILE *json;             /* receives the results as data; NULL if not wanted */
};

struct doctor {
  const struct nvgpu_os *os;
  struct report *report;
  struct doctor_options options;
  struct rt_device *device; /* device of the running step, opened in its process */
  enum verdict verdicts[STEPS];
  uint64_t measures[MEASURES];
  bool has_textures;
  struct rt_texture_answers textures;
  char board[64];             /* that has the textures */
  struct step_result *result; /* result of the running step, or NULL */
};

struct step {
  const char *key; /* in the JSON */
  const char *name;
  const char *does;
  uint64_t needs; /* bits of step_id: steps that must have passed */
  bool (*run)(struct doctor *doctor);
  const char *meaning; /* of its failure */
  const char *remedy;  /* used if the step itself gives no advice */
  /* The question in docs/hardware.md that an experiment answers, and the driver's choice that
   * depends on it (runtime/device/choices.h). NULL for other steps. */
  const char *question, *choice;
};

#define STEP_BIT(step) (UINT64_C(1) << (step))
/* All experiments. */
#define STEPS_EXPERIMENTS (~(STEP_BIT(STEPS_REQUIRED) - 1))

extern const struct step doctor_steps[STEPS];

/* Runs all steps. Returns the number of failed steps. */
unsigned doctor_run(const struct nvgpu_os *os, const struct doctor_options *options,
                    struct report *report);

/* Runs a step in a separate process with its own device. The process is killed after a time limit.
 * Sets remedy to what to do if the step did not pass, otherwise to "". */
enum verdict doctor_run_step(struct doctor *doctor, enum step_id id, char remedy[512]);

/* Prints a line about the running step. */
__attribute__((format(printf, 2, 3))) void doctor_say(struct doctor *doctor, const char *format,
                                                      ...);

/* Prints a line with advice. The first advice of a step becomes its remedy. */
__attribute__((format(printf, 2, 3))) void doctor_advise(struct doctor *doctor, const char *format,
                                                         ...);

/* Prints the runtime's last failure and what to do. Always returns
 * false, so that a step can return the result. */
bool doctor_say_failure(struct doctor *doctor);

/* Like doctor_say_failure, for a request that the step itself made. result is -errno,
 * or the number of bytes that the kernel could not copy. */
void doctor_say_refusal(struct doctor *doctor, const char *what, int result);

/* Stores a measured value in the step's result. */
void doctor_record(struct doctor *doctor, enum measure measure, uint64_t value);

/* Returns the word for a verdict in the summary. */
const char *doctor_verdict(enum verdict verdict);

/* Prints the verdict on each open question of docs/hardware.md. */
void doctor_say_questions(struct doctor *doctor);
/* Returns the best preemption mode that passed: "cilp", "cta" or
 * "wfi", or "default" if none did. */
const char *doctor_best_preemption(const struct doctor *doctor);
/* Writes the file with choices, verdicts and measurements that the
 * driver reads (runtime/device/board_file.h). Says so if drivers outside of this container would
 * not use it. */
void doctor_write_json(struct doctor *doctor, FILE *out);

/* ---- context and queue of the steps that use the GPU ------------------------------ */

struct setup {
  struct doctor *doctor;
  struct rt_context *context;
  struct rt_queue *queue;
  struct rt_module *module; /* the kernels of kernels.h */
  struct rt_buffer *data;   /* cached, zero */
};

/* Opens a context, a queue and a buffer of data_bytes. On failure prints
 * the cause, closes everything and returns false. */
bool setup_open(struct doctor *doctor, uint64_t data_bytes, struct setup *setup);
/* Closes the set-up. Ends the channel first if it still has work. */
void setup_close(struct setup *setup);
/* Destroys a queue, which may be NULL. Ends its channel if it still has work. */
void setup_destroy_queue(struct rt_queue *queue);
/* Waits for a point of the queue. On a timeout prints hints at the cause and returns false. */
bool setup_wait(struct setup *setup, uint64_t point);

/* ---- pushbuffers ------------------------------------------------------------------ */

void put_word(struct rt_slice *slice, uint32_t word);
/* Writes the header for count words, which go to method and the methods after it. */
void put_methods(struct rt_slice *slice, uint32_t subchannel, uint32_t method, uint32_t count);
/* Writes the header and the five words of a host semaphore. */
void put_semaphore(struct rt_slice *slice, uint64_t address, uint64_t payload, uint32_t execute);

/* Parts of STEP_TIME: check that times written by the GPU agree with the kernel's times. */
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
bool step_textures(struct doctor *doctor);
bool step_copy_own(struct doctor *doctor);
bool step_copy_bare(struct doctor *doctor);
bool step_cilp(struct doctor *doctor);
bool step_cta(struct doctor *doctor);
bool step_wfi(struct doctor *doctor);
bool step_store(struct doctor *doctor);
bool step_beyond(struct doctor *doctor);
bool step_suspend(struct doctor *doctor);

#endif
