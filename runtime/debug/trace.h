/* TEGRACL_DEBUG=trace:FILE: every call to the kernel and every submission, as lines
 * of text. Format: docs/trace.md; tegracl-doctor --explain reads it.
 */
#ifndef TEGRACL_RUNTIME_TRACE_H
#define TEGRACL_RUNTIME_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/nvgpu/os.h"

#define RT_TRACE_HEAD "tegracl-trace 1"

/* Begins the file anew, or appends to it while another process writes it. On failure
 * one message on stderr, and no trace. */
void rt_trace_open(const char *path);

/* os itself, or while there is a trace a table that records each call and passes
 * it on. One implementation at a time can be traced. */
const struct nvgpu_os *rt_trace_os(const struct nvgpu_os *os);

bool rt_trace_on(void);

/* What is about to be submitted: the GPFIFO entry, and a piece of GPU memory with
 * the pushbuffer in it and what it points to. */
struct rt_trace_submission {
  uint32_t token;
  uint64_t point;
  uint32_t index; /* in the ring */
  uint64_t entry;
  uint64_t gpu; /* address of data */
  const void *data;
  size_t bytes;
};
void rt_trace_submit(const struct rt_trace_submission *submission);

#endif
