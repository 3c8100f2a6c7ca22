/* Builds programs in units; see units.h. */
#include "compiler/client/units.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "compiler/client/binary.h"
#include "compiler/helper_limits.h"
#include "compiler/message.h"

enum progress { UNIT_WAITS, UNIT_WORKS, UNIT_ENDED };

struct unit {
  struct cc_source source;
  struct binary_unit binary;
  bool may_be_refused;
  /* Protected by the lock of struct units: */
  bool wanted; /* a thread waits for this unit */
  enum progress progress;
  /* Written by the building thread. Other threads read them after UNIT_ENDED. */
  enum cc_status status;
  struct cc_result result;
  uint64_t ns;
};

struct units {
  void *plan; /* memory that units and kernels point into */
  struct unit *list;
  size_t count;
  struct cc_planned_kernel *kernels;
  size_t kernel_count;
  /* Valid during the build: */
  const struct cc_job *job; /* of the program */
  units_build_fn *build;
  void (*accept)(void *data);
  void *data;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned workers;                     /* building threads besides the caller of units_build */
  unsigned unattended, most_unattended; /* number of units being built that no thread waits for */
  size_t left;                          /* number of unfinished units */
  size_t undecided;                     /* number of unfinished units that may be refused */
  bool accepted, stopped, ended;
  bool all_wanted; /* a thread waits for the program */
};

/* ---- the plan ------------------------------------------------------------------------ */

static bool add_kernels(struct message *plan, struct units *units, unsigned unit) {
  const uint64_t count = message_take_number(plan);
  if (plan->broken || count > plan->size / sizeof(uint64_t))
    return false;
  struct cc_planned_kernel *kernels =
      realloc(units->kernels, (units->kernel_count + count + 1) * sizeof(*kernels));
  if (!kernels)
    return false;
  units->kernels = kernels;
  for (unsigned i = 0; i < count; i++)
    kernels[units->kernel_count++] = (struct cc_planned_kernel){message_take_string(plan), unit};
  return !plan->broken;
}

static bool take_unit(struct message *plan, struct units *units, unsigned number) {
  struct unit *unit = &units->list[number];
  size_t places_size;
  unit->source.text = message_take_bytes(plan, &unit->source.size);
  unit->binary.places = message_take_bytes(plan, &places_size);
  unit->binary.files = message_take_bytes(plan, &unit->binary.files_size);
  unit->binary.place_count = places_size / sizeof(*unit->binary.places);
  unit->may_be_refused = message_take_number(plan) != 0;
  unit->status = CC_INTERNAL_ERROR;
  units->left++;
  units->undecided += unit->may_be_refused;
  return add_kernels(plan, units, number);
}

static enum cc_status take_plan(struct message *plan, struct units *units) {
  const uint64_t count = message_take_number(plan);
  enum { LEAST_BYTES = 5 * sizeof(uint64_t) }; /* a unit has at least three sizes and two numbers */
  if (plan->broken || !count || count > plan->size / LEAST_BYTES)
    return CC_INTERNAL_ERROR;
  units->list = calloc(count, sizeof(*units->list));
  if (!units->list)
    return CC_OUT_OF_MEMORY;
  for (units->count = 0; units->count < count; units->count++)
    if (!take_unit(plan, units, (unsigned)units->count))
      return CC_INTERNAL_ERROR;
  return CC_OK;
}

enum cc_status units_create(struct cc_result *result, struct units **made) {
  struct message plan = {.bytes = result->plan, .size = result->plan_size};
  struct units *units = calloc(1, sizeof(*units));
  if (!units)
    return CC_OUT_OF_MEMORY;
  pthread_mutex_init(&units->lock, NULL);
  pthread_cond_init(&units->changed, NULL);
  units->plan = result->plan;
  result->plan = NULL;
  result->plan_size = 0;
  const enum cc_status status = take_plan(&plan, units);
  if (status == CC_OK)
    *made = units;
  else
    units_destroy(units);
  return status;
}

void units_destroy(struct units *units) {
  if (!units)
    return;
  for (size_t i = 0; i < units->count; i++)
    cc_result_finish(&units->list[i].result);
  pthread_mutex_destroy(&units->lock);
  pthread_cond_destroy(&units->changed);
  free(units->list);
  free(units->kernels);
  free(units->plan);
  free(units);
}

/* ---- threads ------------------------------------------------------------------------- */

static void build_unit(const struct units *units, struct unit *unit, bool unattended) {
  const struct cc_job job = {.action = CC_BUILD_UNIT,
                             .device = units->job->device,
                             .sources = &unit->source,
                             .source_count = 1,
                             .options = "",
                             .unattended = unattended};
  const uint64_t since = base_clock_ns();
  unit->status = units->build(units->data, &job, &unit->result);
  unit->ns = base_clock_ns() - since;
}

/* Units that a thread waits for are built first, then those that may be refused, and of these the
 * largest, so that no helper is left with a large one at the end. */
static bool is_before(const struct unit *a, const struct unit *b) {
  if (a->wanted != b->wanted)
    return a->wanted;
  if (a->may_be_refused != b->may_be_refused)
    return a->may_be_refused;
  return a->source.size > b->source.size;
}

/* Returns the next unit to build, or NULL if none is left. The caller holds the lock. */
static struct unit *find_next_unit(const struct units *units) {
  struct unit *next = NULL;
  for (size_t i = 0; i < units->count && !units->stopped; i++) {
    struct unit *unit = &units->list[i];
    if (unit->progress == UNIT_WAITS && (!next || is_before(unit, next)))
      next = unit;
  }
  return next;
}

/* Takes the next unit. Waits while the next one is unattended and most_unattended are being built,
 * which leaves the other cores to the application. The caller holds the lock. */
static struct unit *take_next_unit(struct units *units, bool *unattended) {
  struct unit *next;
  for (;;) {
    next = find_next_unit(units);
    *unattended = next && units->accepted && !units->all_wanted && !next->wanted;
    if (!*unattended || units->unattended < units->most_unattended)
      break;
    pthread_cond_wait(&units->changed, &units->lock);
  }
  if (next)
    next->progress = UNIT_WORKS;
  units->unattended += *unattended;
  return next;
}

/* Marks the unit as ended. Returns true if that makes the program
 * accepted. The caller holds the lock. */
static bool end_unit(struct units *units, struct unit *unit) {
  unit->progress = UNIT_ENDED;
  units->left--;
  units->undecided -= unit->may_be_refused;
  if (unit->status == CC_CANCELLED || (unit->status != CC_OK && !units->accepted))
    units->stopped = true;
  const bool accepted =
      units->accept && units->left && !units->undecided && !units->stopped && !units->accepted;
  units->accepted |= accepted;
  pthread_cond_broadcast(&units->changed);
  return accepted;
}

/* Builds units until none is left. The caller holds the lock,
 * which is released during each build. */
static void build_while_any(struct units *units) {
  struct unit *unit;
  bool unattended;
  while ((unit = take_next_unit(units, &unattended))) {
    pthread_mutex_unlock(&units->lock);
    build_unit(units, unit, unattended);
    pthread_mutex_lock(&units->lock);
    units->unattended -= unattended;
    if (!end_unit(units, unit))
      continue;
    pthread_mutex_unlock(&units->lock);
    units->accept(units->data);
    pthread_mutex_lock(&units->lock);
  }
}

static void *worker_main(void *argument) {
  struct units *units = argument;
  pthread_mutex_lock(&units->lock);
  build_while_any(units);
  units->workers--;
  pthread_cond_broadcast(&units->changed);
  pthread_mutex_unlock(&units->lock);
  return NULL;
}

/* Builds all units. The calling thread takes part, so the build
 * works even if no thread can be started. */
static void build_all(struct units *units) {
  const size_t width = limits_width();
  const size_t most = units->count < width ? units->count : width;
  units->most_unattended = (unsigned)(width + 1) / 2;
  if (units->accept && !units->undecided) {
    units->accepted = true;
    units->accept(units->data);
  }
  pthread_mutex_lock(&units->lock);
  while (units->workers + 1 < most && base_thread_start(NULL, worker_main, units) == 0)
    units->workers++;
  build_while_any(units);
  while (units->workers)
    pthread_cond_wait(&units->changed, &units->lock);
  pthread_mutex_unlock(&units->lock);
}

void units_end(struct units *units) {
  pthread_mutex_lock(&units->lock);
  units->ended = true;
  pthread_cond_broadcast(&units->changed);
  pthread_mutex_unlock(&units->lock);
}

void units_want_all(struct units *units) {
  pthread_mutex_lock(&units->lock);
  units->all_wanted = true;
  pthread_cond_broadcast(&units->changed);
  pthread_mutex_unlock(&units->lock);
}

const struct cc_planned_kernel *units_kernels(const struct units *units, size_t *count) {
  *count = units->kernel_count;
  return units->kernels;
}

enum cc_status units_wait(struct units *units, unsigned number, void **binary, size_t *size) {
  struct unit *unit = &units->list[number];
  pthread_mutex_lock(&units->lock);
  unit->wanted = true;
  pthread_cond_broadcast(&units->changed);
  while (unit->progress != UNIT_ENDED && !units->ended)
    pthread_cond_wait(&units->changed, &units->lock);
  const enum cc_status status = unit->progress == UNIT_ENDED ? unit->status : CC_CANCELLED;
  pthread_mutex_unlock(&units->lock);
  if (status != CC_OK)
    return status;
  struct binary_unit one = unit->binary;
  one.binary = unit->result.binary;
  one.size = unit->result.binary_size;
  return cc_binary_join(&one, 1, binary, size) == 0 ? CC_OK : CC_OUT_OF_MEMORY;
}

/* ---- the program --------------------------------------------------------------------- */

/* Joins the logs of the front end and of the units. */
static bool join_logs(const struct units *units, struct cc_result *result) {
  struct text log = {0};
  text_puts(&log, result->log);
  for (size_t i = 0; i < units->count; i++)
    text_puts(&log, units->list[i].result.log);
  if (log.failed) {
    text_finish(&log);
    return false;
  }
  free(result->log);
  result->log = log.data;
  return true;
}

static void add_unit_times(const struct unit *unit, struct cc_result *result) {
  const struct cc_span *span = &unit->result.stages[CC_STAGE_NVRTC];
  struct cc_span *all = &result->stages[CC_STAGE_NVRTC];
  result->unit_ns[result->units++] = unit->result.from_cache ? 0 : unit->ns;
  result->units_cached += unit->result.from_cache;
  if (!span->end_ns)
    return;
  if (!all->end_ns || span->begin_ns < all->begin_ns)
    all->begin_ns = span->begin_ns;
  if (span->end_ns > all->end_ns)
    all->end_ns = span->end_ns;
}

static enum cc_status join_units(struct units *units, struct cc_result *result) {
  struct binary_unit *binaries = calloc(units->count, sizeof(*binaries));
  result->unit_ns = calloc(units->count, sizeof(*result->unit_ns));
  if (!binaries || !result->unit_ns) {
    free(binaries);
    return CC_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < units->count; i++) {
    binaries[i] = units->list[i].binary;
    binaries[i].binary = units->list[i].result.binary;
    binaries[i].size = units->list[i].result.binary_size;
    add_unit_times(&units->list[i], result);
  }
  const bool joined =
      cc_binary_join(binaries, units->count, &result->binary, &result->binary_size) == 0;
  free(binaries);
  return joined && join_logs(units, result) ? CC_OK : CC_OUT_OF_MEMORY;
}

/* Returns the first unit that failed, or NULL. */
static const struct unit *find_failure(const struct units *units) {
  for (size_t i = 0; i < units->count; i++)
    if (units->list[i].progress == UNIT_ENDED && units->list[i].status != CC_OK)
      return &units->list[i];
  return NULL;
}

enum cc_status units_build(struct units *units, const struct cc_job *job, struct cc_result *result,
                           units_build_fn *build, void *data, void (*accept)(void *data)) {
  units->job = job;
  units->build = build;
  units->data = data;
  units->accept = accept;
  build_all(units);
  const struct unit *failure = find_failure(units);
  if (!failure)
    return join_units(units, result);
  char *log = failure->result.log ? strdup(failure->result.log) : NULL;
  free(result->log);
  result->log = log;
  result->short_of_memory = failure->result.short_of_memory;
  return log ? failure->status : CC_OUT_OF_MEMORY;
}
