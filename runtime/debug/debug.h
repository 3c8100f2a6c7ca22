/* TEGRACL_DEBUG: a comma-separated list of topics, read once. Output to stderr;
 * a word that is no topic gives one message.
 *   launch  every launch: kernel, shapes, pushbuffer, QMD and bank 0 by name
 *   ioctl   every call through struct nvgpu_os
 *   choices which unproven features are used, and which were refused
 *   trace:FILE  calls and submissions, into FILE (runtime/debug/trace.h)
 *   timeline:FILE  what happened when, into FILE (runtime/debug/timeline.h)
 */
#ifndef TEGRACL_RUNTIME_DEBUG_H
#define TEGRACL_RUNTIME_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpu/nvgpu/os.h"

/* Parses TEGRACL_DEBUG on the first call. */
void rt_debug_begin(void);

bool rt_debug_launch(void);
bool rt_debug_choices(void);

/* Returns os, or a table that reports each call and forwards it to os if the topic ioctl or trace
 * is on. Only one os can be traced at a time. */
const struct nvgpu_os *rt_debug_trace_os(const struct nvgpu_os *os);

/* Returns the name of a request of the kernel interface or of the software Orin's own node. Never
 * NULL. */
const char *rt_request_name(uint32_t request);

/* One data word of a pushbuffer, or a header without data. */
struct rt_method {
  uint32_t header;
  bool first; /* of its header */
  bool has_data;
  uint32_t class_id; /* class bound to the subchannel; 0 if the driver does not use it */
  uint32_t address;
  uint32_t data;
};
typedef void rt_method_fn(void *user, const struct rt_method *method);
void rt_pushbuffer_walk(const uint32_t *words, size_t count, rt_method_fn *method, void *user);

/* Print pushbuffer words as classes, methods and fields; the non-zero QMD fields; the non-zero
 * words of constant bank 0; a GPFIFO entry. */
void rt_dump_pushbuffer(FILE *out, const uint32_t *words, size_t count);
void rt_dump_qmd(FILE *out, const uint32_t *qmd);
void rt_dump_bank0(FILE *out, const uint32_t *bank, size_t bytes, uint32_t param_offset);
void rt_dump_gp_entry(FILE *out, uint32_t index, uint64_t entry);

#endif
