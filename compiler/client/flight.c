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
  unsigned waiting;            /* number of threads that wait for the outcome */
  bool landed;
  enum cc_status status;
  struct cc_result result; /* a copy, made only if threads wait */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t landed = PTHREAD_COND_INITIALIZER;
static struct flight *flights; /* builds that have not finished */

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
  pthread_cond_init(&landed, NULL);
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

/* Waits until the flight has landed. The caller holds the lock. */
static void wait_for(struct flight *flight, enum cc_status *status, struct cc_result *result) {
  flight->waiting++;
  while (!flight->landed)
    pthread_cond_wait(&landed, &lock);
  *status = copy_outcome(result, flight->status, &flight->result);
  if (--flight->waiting)
    return;
  cc_result_finish(&flight->result);
  free(flight);
}

struct flight *flight_take_off(const struct cache_key *key, enum cc_status *status,
                               struct cc_result *result) {
  struct flight *flight = NULL;
  pthread_mutex_lock(&lock);
  for (flight = flights; flight; flight = flight->next)
    if (cache_key_equal(flight->key, key))
      break;
  if (flight) {
    wait_for(flight, status, result);
    pthread_mutex_unlock(&lock);
    return NULL;
  }
  flight = watch_forks() ? calloc(1, sizeof(*flight)) : NULL;
  *status = CC_OUT_OF_MEMORY;
  if (flight) {
    flight->key = key;
    flight->next = flights;
    flights = flight;
  }
  pthread_mutex_unlock(&lock);
  return flight;
}

void flight_land(struct flight *flight, enum cc_status status, const struct cc_result *result) {
  pthread_mutex_lock(&lock);
  struct flight **place = &flights;
  while (*place != flight)
    place = &(*place)->next;
  *place = flight->next;
  const bool wanted = flight->waiting != 0;
  flight->landed = true;
  if (wanted) {
    flight->status = copy_outcome(&flight->result, status, result);
    pthread_cond_broadcast(&landed);
  }
  pthread_mutex_unlock(&lock);
  if (!wanted)
    free(flight);
}
