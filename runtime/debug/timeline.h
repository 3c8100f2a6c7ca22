/* TEGRACL_DEBUG=timeline:FILE records events with their times in Chrome's trace format, which
 * Perfetto and chrome://tracing display and tegracl-report summarises. docs/timeline.md lists the
 * events.
 *
 * Each event is one line of the file. Lines are written through a mapping, so an event costs no
 * system call and survives a crash of the program. Times are those of base_clock_ns. All functions
 * are thread-safe. */
#ifndef TEGRACL_RUNTIME_TIMELINE_H
#define TEGRACL_RUNTIME_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Whether events are recorded. Valid after rt_timeline_begin. */
extern bool rt_timeline_is_on;
#define rt_timeline_on() __builtin_expect(rt_timeline_is_on, false)

/* Parses TEGRACL_DEBUG on the first call and opens the file if it is requested (debug.c). */
bool rt_timeline_begin(void);

/* Opens the file as rt_log_open does. Called for TEGRACL_DEBUG and by tests. */
void rt_timeline_open(const char *path);

/* Gives a child of fork its own chunk and lanes. Must be called while the child has one thread. */
void rt_timeline_forked(void);

/* A detail of an event: a number or a text. */
struct rt_timeline_detail {
  const char *name;
  uint64_t number;
  const char *text; /* NULL: the number */
};

/* A lane is a thread, or a queue of the GPU, identified by its number. */
enum { RT_LANE_THREAD = -1 };

struct rt_timeline_event {
  const char *category, *name;
  int lane;                  /* RT_LANE_THREAD for the calling thread, or the number of a queue */
  uint64_t begin_ns, end_ns; /* the same: a moment */
  const struct rt_timeline_detail *details;
  size_t detail_count;
};
void rt_timeline_put(const struct rt_timeline_event *event);

/* Records an event of the calling thread that ends now. */
void rt_timeline_span(const char *category, const char *name, uint64_t begin_ns,
                      const struct rt_timeline_detail *details, size_t detail_count);

/* Records the fault of a context. */
void rt_timeline_fault(const char *message);

/* Names a queue's lane. */
void rt_timeline_name_lane(int lane, const char *name);

#endif
