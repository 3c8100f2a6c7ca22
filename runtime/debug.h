/* TEGRACL_DEBUG: a comma-separated list of topics, read once. Output to stderr.
 *   launch  every launch: kernel, shapes, pushbuffer, QMD and bank 0 by name
 *   ioctl   every call through struct nvgpu_os
 */
#ifndef TEGRACL_RUNTIME_DEBUG_H
#define TEGRACL_RUNTIME_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/nvgpu/os.h"

bool rt_debug_launch(void);

/* os itself, or with the topic ioctl a table that prints each call and passes it
 * on. One implementation at a time can be traced. */
const struct nvgpu_os *rt_debug_trace_os(const struct nvgpu_os *os);

/* Pushbuffer words by class, method and field; non-zero QMD fields; non-zero
 * words of constant bank 0; a GPFIFO entry. */
void rt_dump_pushbuffer(FILE *out, const uint32_t *words, size_t count);
void rt_dump_qmd(FILE *out, const uint32_t *qmd);
void rt_dump_bank0(FILE *out, const uint32_t *bank, size_t bytes, uint32_t param_offset);
void rt_dump_gp_entry(FILE *out, uint32_t index, uint64_t entry);

#endif
