/* Builds of programs in units: see units.h. */
#include "compiler/client/units.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "compiler/client/binary.h"
#include "compiler/helper_limits.h"
#include "compiler/message.h"

struct unit {
  struct cc_source source;
  struct binary_unit binary;
  enum cc_status status;
  struct cc_result result;
  uint64_t ns;
};

struct units {
  const struct cc_job *job; /* of the program */
  struct unit *at;
  size_t count;
  units_build_fn *build;
  void *data;
  atomic_size_t next;
  atomic_bool failed; /* the others need not be built */
};

/* ---- the plan ------------------------------------------------------------------------ */

static bool take_unit(struct message *plan, struct unit *unit) {
  size_t places_size;
  unit->source.text = message_take_bytes(plan, &unit->source.size);
  unit->binary.places = message_take_bytes(plan, &places_size);
  unit->binary.files = message_take_bytes(plan, &unit->binary.files_size);
  unit->binary.place_count = places_size / sizeof(*unit->binary.places);
  return !plan->broken;
}

static enum cc_status take_plan(struct cc_result *result, struct units *units) {
  struct message plan = {.bytes = result->plan, .size = result->plan_size};
  const uint64_t count = message_take_number(&plan);
  enum { LEAST_BYTES = 3 * sizeof(uint64_t) }; /* of a unit: the sizes of its parts */
  if (plan.broken || !count || count > plan.size / LEAST_BYTES)
    return CC_INTERNAL_ERROR;
  units->at = calloc(count, sizeof(*units->at));
  if (!units->at)
    return CC_OUT_OF_MEMORY;
  for (units->count = 0; units->count < count; units->count++)
    if (!take_unit(&plan, &units->at[units->count]))
      return CC_INTERNAL_ERROR;
  return CC_OK;
}

/* ---- threads ------------------------------------------------------------------------- */

static void build_unit(const struct units *units, struct unit *unit) {
  const struct cc_job job = {.action = CC_BUILD_UNIT,
                             .device = units->job->device,
                             .sources = &unit->source,
                             .source_count = 1,
                             .options = ""};
  const uint64_t since = base_clock_ns();
  unit->status = units->build(units->data, &job, &unit->result);
  unit->ns = base_clock_ns() - since;
}

static void *build_some(void *argument) {
  struct units *units = argument;
  while (!atomic_load(&units->failed)) {
    const size_t i = atomic_fetch_add(&units->next, 1);
    if (i >= units->count)
      break;
    build_unit(units, &units->at[i]);
    if (units->at[i].status != CC_OK)
      atomic_store(&units->failed, true);
  }
  return NULL;
}

/* This thread takes part, so that all are built where there can be no other. */
static void build_all(struct units *units) {
  const size_t width = limits_width();
  const size_t wanted = (units->count < width ? units->count : width) - 1;
  pthread_t *threads = calloc(wanted + 1, sizeof(*threads));
  size_t started = 0;
  while (threads && started < wanted &&
         base_thread_start(&threads[started], build_some, units) == 0)
    started++;
  build_some(units);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  free(threads);
}

/* ---- the program --------------------------------------------------------------------- */

/* The front end's log and those of the units. */
static bool join_logs(const struct units *units, struct cc_result *result) {
  struct text log = {0};
  text_puts(&log, result->log);
  for (size_t i = 0; i < units->count; i++)
    text_puts(&log, units->at[i].result.log);
  if (log.failed) {
    text_finish(&log);
    return false;
  }
  free(result->log);
  result->log = log.data;
  return true;
}

static void count_unit(const struct unit *unit, struct cc_result *result) {
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
    binaries[i] = units->at[i].binary;
    binaries[i].binary = units->at[i].result.binary;
    binaries[i].size = units->at[i].result.binary_size;
    count_unit(&units->at[i], result);
  }
  const bool joined =
      cc_binary_join(binaries, units->count, &result->binary, &result->binary_size) == 0;
  free(binaries);
  return joined && join_logs(units, result) ? CC_OK : CC_OUT_OF_MEMORY;
}

/* The first that failed; NULL: none. */
static struct unit *find_failure(const struct units *units) {
  for (size_t i = 0; i < units->count; i++)
    if (units->at[i].status != CC_OK)
      return &units->at[i];
  return NULL;
}

enum cc_status units_build(const struct cc_job *job, struct cc_result *result,
                           units_build_fn *build, void *data) {
  struct units units = {.job = job, .build = build, .data = data};
  enum cc_status status = take_plan(result, &units);
  if (status == CC_OK)
    build_all(&units);
  struct unit *failure = status == CC_OK ? find_failure(&units) : NULL;
  if (failure) {
    status = failure->status;
    free(result->log);
    result->log = failure->result.log;
    result->short_of_memory = failure->result.short_of_memory;
    failure->result.log = NULL;
  } else if (status == CC_OK) {
    status = join_units(&units, result);
  }
  for (size_t i = 0; i < units.count; i++)
    cc_result_finish(&units.at[i].result);
  free(units.at);
  free(result->plan);
  result->plan = NULL;
  result->plan_size = 0;
  return status;
}
