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

/* Truncates the file, or appends to it if another process is writing it. On failure prints an error
 * on stderr and traces nothing. */
void rt_trace_open(const char *path);

/* Returns os, or while there is a trace a table that records each call and forwards it to os. Only
 * one os can be traced at a time. */
const struct nvgpu_os *rt_trace_os(const struct nvgpu_os *os);

bool rt_trace_on(void);

/* A submission: the GPFIFO entry, and the piece of GPU memory that contains the pushbuffer and the
 * data to which it points. */
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
