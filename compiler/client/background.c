/* Background builds. One thread runs the build that cc_build would
 * run; other threads wait for its progress. */
#include "compiler/client/background.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/client/flight.h"
#include "compiler/client/helper.h"

struct cc_background {
  atomic_uint references;
  struct cc_job job; /* owns its sources and options, which are copies */
  struct cc_source *sources;
  char *options, *folder;
  atomic_bool cancelled;
  /* Protects units, log, accepted and ended. Each of them is set once. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct units *units; /* NULL until planned, and always if the program is built as a whole */
  char *log;           /* the front end's */
  bool accepted, ended;
  /* Written by the building thread. Other threads read them once ended is set. */
  enum cc_status status;
  struct cc_result result;
};

static void destroy_background(struct cc_background *background) {
  units_destroy(background->units);
  cc_result_finish(&background->result);
  pthread_mutex_destroy(&background->lock);
  pthread_cond_destroy(&background->changed);
  for (size_t i = 0; i < background->job.source_count; i++)
    free((char *)background->sources[i].text);
  free(background->sources);
  free(background->options);
  free(background->folder);
  free(background->log);
  free(background);
}

void cc_background_hold(struct cc_background *background) {
  atomic_fetch_add_explicit(&background->references, 1, memory_order_relaxed);
}

void cc_background_drop(struct cc_background *background) {
  if (background &&
      atomic_fetch_sub_explicit(&background->references, 1, memory_order_acq_rel) == 1)
    destroy_background(background);
}

void cc_background_cancel(struct cc_background *background) {
  helper_cancel(&background->cancelled);
  flight_wake_cancelled();
}

/* ---- the building thread --------------------------------------------------------------- */

static bool copy_job(struct cc_background *background, const struct cc_job *job) {
  background->options = strdup(job->options ? job->options : "");
  background->folder = job->folder ? strdup(job->folder) : getcwd(NULL, 0);
  background->sources = calloc(job->source_count + 1, sizeof(*background->sources));
  background->job = (struct cc_job){.action = job->action,
                                    .device = job->device,
                                    .sources = background->sources,
                                    .options = background->options,
                                    .folder = background->folder};
  for (size_t i = 0; background->sources && i < job->source_count; i++) {
    char *text = malloc(job->sources[i].size + 1);
    if (!text)
      return false;
    if (job->sources[i].size)
      memcpy(text, job->sources[i].text, job->sources[i].size);
    background->sources[i] = (struct cc_source){text, job->sources[i].size};
    background->job.source_count++;
  }
  return background->options && background->sources && (background->folder || !job->folder);
}

struct cc_background *cc_background_create(const struct cc_job *job) {
  struct cc_background *background = calloc(1, sizeof(*background));
  if (!background)
    return NULL;
  atomic_init(&background->references, 1);
  pthread_mutex_init(&background->lock, NULL);
  pthread_cond_init(&background->changed, NULL);
  if (copy_job(background, job))
    return background;
  destroy_background(background);
  return NULL;
}

enum cc_status cc_background_build(struct cc_background *background,
                                   const struct cc_result **result) {
  background->status = client_build(&background->job, background, &background->result);
  *result = &background->result;
  return background->status;
}

void cc_background_end(struct cc_background *background) {
  if (background->units)
    units_end(background->units);
  pthread_mutex_lock(&background->lock);
  background->ended = true;
  pthread_cond_broadcast(&background->changed);
  pthread_mutex_unlock(&background->lock);
}

atomic_bool *background_cancelled(struct cc_background *background) {
  return &background->cancelled;
}

void background_plan(struct cc_background *background, struct units *units, const char *log) {
  char *copy = strdup(log);
  pthread_mutex_lock(&background->lock);
  background->units = units;
  background->log = copy;
  pthread_mutex_unlock(&background->lock);
}

void background_accept(struct cc_background *background) {
  pthread_mutex_lock(&background->lock);
  background->accepted = true;
  pthread_cond_broadcast(&background->changed);
  pthread_mutex_unlock(&background->lock);
}

/* ---- other threads ------------------------------------------------------------------------- */

bool cc_background_accepted(struct cc_background *background, const char **log) {
  pthread_mutex_lock(&background->lock);
  while (!background->accepted && !background->ended)
    pthread_cond_wait(&background->changed, &background->lock);
  const bool accepted = background->accepted;
  *log = background->log ? background->log : "";
  pthread_mutex_unlock(&background->lock);
  return accepted;
}

const struct cc_planned_kernel *cc_background_kernels(const struct cc_background *background,
                                                      size_t *count) {
  return units_kernels(background->units, count);
}

enum cc_status cc_background_unit(struct cc_background *background, unsigned unit, void **binary,
                                  size_t *size) {
  return units_wait(background->units, unit, binary, size);
}

bool cc_background_has_ended(struct cc_background *background) {
  pthread_mutex_lock(&background->lock);
  const bool ended = background->ended;
  pthread_mutex_unlock(&background->lock);
  return ended;
}

enum cc_status cc_background_wait(struct cc_background *background, struct cc_result **result) {
  pthread_mutex_lock(&background->lock);
  if (background->units)
    units_want_all(background->units);
  while (!background->ended)
    pthread_cond_wait(&background->changed, &background->lock);
  pthread_mutex_unlock(&background->lock);
  *result = &background->result;
  return background->status;
}
