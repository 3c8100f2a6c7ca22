/* The list of running builds. It is short, because few threads build at a time. */
#include "compiler/client/flight.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"

struct flight {
  struct flight *next;
  const struct cache_key *key; /* the caller's, or own_key */
  struct timespec began;       /* CLOCK_REALTIME_COARSE */
  unsigned followers;          /* number of other threads with the same job */
  atomic_bool wanted;
  const void *plan; /* the first thread's; NULL if there is none */
  size_t plan_size;
  struct cc_result beside_plan; /* copies of the log and the places that come with the plan */
  bool stale;                   /* no more threads may follow it */
  bool landed;
  enum cc_status status;
  struct cc_result result;  /* a copy, made only if there are followers */
  struct flight *failed;    /* of a program: landed flights of its units that failed */
  struct cache_key own_key; /* of a flight in such a list */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a flight has a plan or has landed */
static struct flight *flights;                            /* builds that have not finished */

/* ---- fork: the child has no building threads --------------------------------------- */

static void forking(void) {
  pthread_mutex_lock(&lock);
}

static void forked_parent(void) {
  pthread_mutex_unlock(&lock);
}

static void forked_child(void) {
  flights = NULL;
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&changed, NULL);
}

static bool watch_forks(void) {
  static const struct base_fork_handlers handlers = {forking, forked_parent, forked_child};
  return !base_fork_watch(BASE_FORK_BUILDS, &handlers);
}

/* ---- builds ------------------------------------------------------------------------ */

static void *copy_bytes(const void *bytes, size_t size) {
  void *copy = bytes ? malloc(size) : NULL;
  return copy ? memcpy(copy, bytes, size) : NULL;
}

/* Copies the parts of the result that the application gets.
 * Returns the status, or CC_OUT_OF_MEMORY. */
static enum cc_status copy_outcome(struct cc_result *to, enum cc_status status,
                                   const struct cc_result *from) {
  *to = (struct cc_result){.log = from->log ? strdup(from->log) : NULL,
                           .binary = copy_bytes(from->binary, from->binary_size),
                           .binary_size = from->binary_size,
                           .from_cache = from->from_cache,
                           .short_of_memory = from->short_of_memory,
                           .timed_out = from->timed_out};
  if (to->log && !to->binary == !from->binary)
    return status;
  cc_result_finish(to);
  return CC_OUT_OF_MEMORY;
}

static void destroy_flight(struct flight *flight) {
  while (flight->failed) {
    struct flight *unit = flight->failed;
    flight->failed = unit->next;
    destroy_flight(unit);
  }
  cc_result_finish(&flight->beside_plan);
  cc_result_finish(&flight->result);
  cache_key_finish(&flight->own_key);
  free(flight);
}

static struct flight *find_flight(struct flight *list, const struct cache_key *key) {
  for (; list; list = list->next)
    if (!list->stale && cache_key_equal(list->key, key))
      break;
  return list;
}

struct flight *flight_join(const struct cache_key *key, const struct flight *program, bool *first) {
  pthread_mutex_lock(&lock);
  struct flight *flight = find_flight(flights, key);
  if (!flight && program)
    flight = find_flight(program->failed, key);
  *first = !flight;
  if (flight)
    flight->followers++;
  else
    flight = watch_forks() ? calloc(1, sizeof(*flight)) : NULL;
  if (flight && *first) {
    flight->key = key;
    flight->next = flights;
    clock_gettime(CLOCK_REALTIME_COARSE, &flight->began);
    flights = flight;
  }
  pthread_mutex_unlock(&lock);
  return flight;
}

const struct timespec *flight_began(const struct flight *flight) {
  return &flight->began;
}

atomic_bool *flight_wanted(struct flight *flight) {
  return &flight->wanted;
}

/* ---- the first thread ---------------------------------------------------------------- */

/* Copies what comes with a plan. Returns false, with an empty copy, if out of memory. */
static bool copy_beside_plan(struct cc_result *to, const struct cc_result *from) {
  *to = (struct cc_result){.log = from->log ? strdup(from->log) : NULL,
                           .places = copy_bytes(from->places, from->places_size),
                           .places_size = from->places_size};
  if (to->log && !to->places == !from->places)
    return true;
  cc_result_finish(to);
  return false;
}

void flight_plan(struct flight *flight, const void *plan, size_t size,
                 const struct cc_result *result) {
  pthread_mutex_lock(&lock);
  if (copy_beside_plan(&flight->beside_plan, result)) {
    flight->plan = plan;
    flight->plan_size = size;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
}

void flight_end_plan(struct flight *flight) {
  pthread_mutex_lock(&lock);
  flight->plan = NULL;
  cc_result_finish(&flight->beside_plan);
  pthread_mutex_unlock(&lock);
}

/* Keeps the failure of a unit as long as threads build the program, so that each of them gets it.
 * Returns false if out of memory. The caller holds the lock. */
static bool keep_failure(struct flight *flight, struct flight *program) {
  flight->own_key = *flight->key;
  flight->own_key.bytes = (struct text){0};
  text_add(&flight->own_key.bytes, flight->key->bytes.data, flight->key->bytes.size);
  if (flight->own_key.bytes.failed)
    return false;
  flight->key = &flight->own_key;
  flight->next = program->failed;
  program->failed = flight;
  return true;
}

void flight_land(struct flight *flight, struct flight *program, enum cc_status status,
                 const struct cc_result *result) {
  pthread_mutex_lock(&lock);
  struct flight **place = &flights;
  while (*place != flight)
    place = &(*place)->next;
  *place = flight->next;
  const bool failed = program && status != CC_OK && status != CC_CANCELLED;
  bool kept = flight->followers != 0;
  flight->landed = true;
  if (kept || failed)
    flight->status = copy_outcome(&flight->result, status, result);
  if (failed && keep_failure(flight, program))
    kept = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (!kept)
    destroy_flight(flight);
}

/* ---- the followers ------------------------------------------------------------------- */

static bool is_cancelled(const atomic_bool *cancelled) {
  return cancelled && atomic_load(cancelled);
}

bool flight_wait_for_plan(struct flight *flight, const atomic_bool *cancelled,
                          struct cc_result *plan) {
  pthread_mutex_lock(&lock);
  while (!flight->landed && !flight->plan && !is_cancelled(cancelled))
    pthread_cond_wait(&changed, &lock);
  bool planned = flight->plan && copy_beside_plan(plan, &flight->beside_plan);
  if (planned) {
    plan->plan = copy_bytes(flight->plan, flight->plan_size);
    plan->plan_size = flight->plan_size;
    planned = plan->plan != NULL;
  }
  if (!planned)
    cc_result_finish(plan);
  pthread_mutex_unlock(&lock);
  return planned;
}

void flight_refuse(struct flight *flight) {
  pthread_mutex_lock(&lock);
  flight->stale = true;
  pthread_mutex_unlock(&lock);
}

enum cc_status flight_wait(struct flight *flight, const atomic_bool *cancelled,
                           struct cc_result *result) {
  pthread_mutex_lock(&lock);
  while (!flight->landed && !is_cancelled(cancelled))
    pthread_cond_wait(&changed, &lock);
  const enum cc_status status =
      flight->landed ? copy_outcome(result, flight->status, &flight->result) : CC_CANCELLED;
  pthread_mutex_unlock(&lock);
  return status;
}

void flight_wake_cancelled(void) {
  pthread_mutex_lock(&lock);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

bool flight_has_built(struct flight *flight) {
  pthread_mutex_lock(&lock);
  const bool built = flight->landed && flight->status == CC_OK;
  pthread_mutex_unlock(&lock);
  return built;
}

void flight_leave(struct flight *flight) {
  pthread_mutex_lock(&lock);
  const bool last = !--flight->followers && flight->landed && flight->key != &flight->own_key;
  pthread_mutex_unlock(&lock);
  if (last)
    destroy_flight(flight);
}
