/* TEGRACL_DEBUG=timeline:FILE: what happened when, in Chrome's trace format, which
 * Perfetto and chrome://tracing show and tegracl-report sums up. docs/timeline.md lists
 * the events.
 *
 * An event is one line of the file. Lines are written into a mapping of it, so that an
 * event costs no system call and none is lost when the program dies. Times are those of
 * base_clock_ns. All functions may be called from several threads at once.
 */
#ifndef TEGRACL_RUNTIME_TIMELINE_H
#define TEGRACL_RUNTIME_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Whether there is a timeline; rt_timeline_begin must have been called. */
extern bool rt_timeline_is_on;
#define rt_timeline_on() __builtin_expect(rt_timeline_is_on, false)

/* Reads TEGRACL_DEBUG, once, and begins the file if it asks for one (debug.c). */
bool rt_timeline_begin(void);

/* Begins the file as rt_log_open does. For TEGRACL_DEBUG, and for tests. */
void rt_timeline_open(const char *path);

/* In a child of fork, while it has one thread: its events are its own. */
void rt_timeline_forked(void);

/* A detail of an event: a number, or a text. */
struct rt_timeline_detail {
  const char *name;
  uint64_t number;
  const char *text; /* NULL: the number */
};

/* Lanes are threads, or the GPU's: queues by number. */
enum { RT_LANE_THREAD = -1 };

struct rt_timeline_event {
  const char *category, *name;
  int lane;                  /* RT_LANE_THREAD: the calling thread; else a queue's number */
  uint64_t begin_ns, end_ns; /* the same: a moment */
  const struct rt_timeline_detail *details;
  size_t detail_count;
};
void rt_timeline_put(const struct rt_timeline_event *event);

/* An event of the calling thread that ends now. */
void rt_timeline_span(const char *category, const char *name, uint64_t begin_ns,
                      const struct rt_timeline_detail *details, size_t detail_count);

/* A context has faulted. */
void rt_timeline_fault(const char *message);

/* Names a queue's lane. */
void rt_timeline_name_lane(int lane, const char *name);

#endif
