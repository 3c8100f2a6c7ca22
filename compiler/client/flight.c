/* The list of running builds. It is short, because few threads build at a time. */
#include "compiler/client/flight.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"

struct flight {
  struct flight *next;
  const struct cache_key *key; /* the caller's */
  struct timespec began;       /* CLOCK_REALTIME_COARSE */
  unsigned followers;          /* number of other threads with the same job */
  struct cc_result plan; /* a copy of the plan and what comes with it; empty if there is none */
  bool landed;
  enum cc_status status;
  struct cc_result result; /* a copy, made only if there are followers */
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
                           .short_of_memory = from->short_of_memory};
  if (to->log && !to->binary == !from->binary)
    return status;
  cc_result_finish(to);
  return CC_OUT_OF_MEMORY;
}

static void destroy_flight(struct flight *flight) {
  cc_result_finish(&flight->plan);
  cc_result_finish(&flight->result);
  free(flight);
}

struct flight *flight_join(const struct cache_key *key, bool *first) {
  struct flight *flight = NULL;
  pthread_mutex_lock(&lock);
  for (flight = flights; flight; flight = flight->next)
    if (cache_key_equal(flight->key, key))
      break;
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

/* ---- the first thread ---------------------------------------------------------------- */

/* Copies a plan and what comes with it. Returns false, with an empty copy, if out of memory. */
static bool copy_plan(struct cc_result *to, const struct cc_result *from) {
  *to = (struct cc_result){.log = from->log ? strdup(from->log) : NULL,
                           .plan = copy_bytes(from->plan, from->plan_size),
                           .plan_size = from->plan_size,
                           .places = copy_bytes(from->places, from->places_size),
                           .places_size = from->places_size};
  if (to->log && to->plan && !to->places == !from->places)
    return true;
  cc_result_finish(to);
  return false;
}

void flight_plan(struct flight *flight, const struct cc_result *plan) {
  pthread_mutex_lock(&lock);
  if (copy_plan(&flight->plan, plan))
    pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void flight_land(struct flight *flight, enum cc_status status, const struct cc_result *result) {
  pthread_mutex_lock(&lock);
  struct flight **place = &flights;
  while (*place != flight)
    place = &(*place)->next;
  *place = flight->next;
  const bool followed = flight->followers != 0;
  flight->landed = true;
  if (followed) {
    flight->status = copy_outcome(&flight->result, status, result);
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  if (!followed)
    destroy_flight(flight);
}

/* ---- the followers ------------------------------------------------------------------- */

static bool is_cancelled(const atomic_bool *cancelled) {
  return cancelled && atomic_load(cancelled);
}

bool flight_wait_for_plan(struct flight *flight, const atomic_bool *cancelled,
                          struct cc_result *plan) {
  pthread_mutex_lock(&lock);
  while (!flight->landed && !flight->plan.plan && !is_cancelled(cancelled))
    pthread_cond_wait(&changed, &lock);
  const bool planned = !flight->landed && copy_plan(plan, &flight->plan);
  pthread_mutex_unlock(&lock);
  return planned;
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
  const bool last = !--flight->followers && flight->landed;
  pthread_mutex_unlock(&lock);
  if (last)
    destroy_flight(flight);
}
