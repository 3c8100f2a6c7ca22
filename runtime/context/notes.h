/* What the runtime reports to the software Orin's check and profile modes about its code
 * and memory. Nothing on a board, and nothing while the modes are off.
 */
#ifndef TEGRACL_RUNTIME_NOTES_H
#define TEGRACL_RUNTIME_NOTES_H

#include "runtime/context/context.h"
#include "runtime/context/module.h"

/* True if the modes are on. */
bool rt_notes_wanted(const struct nvgpu_os *os, int emulator_fd);
/* Names, parameters and source lines of a module's kernels. */
void rt_note_module(const struct rt_module *module);
/* The name of a buffer: its number among the context's. */
void rt_note_buffer_name(const struct rt_own_buffer *buffer, unsigned number);

#endif
