/* Notes about code and memory that the runtime sends to the software Orin's check and profile
 * modes. The functions do nothing on a board or while both modes are off. */
#ifndef TEGRACL_RUNTIME_NOTES_H
#define TEGRACL_RUNTIME_NOTES_H

#include "runtime/context/context.h"
#include "runtime/context/module.h"

/* Returns true if check mode or profile mode is on. Sets *checks to whether check mode is. */
bool rt_notes_wanted(const struct nvgpu_os *os, int emulator_fd, bool *checks);
/* Sends the names, parameters and source lines of a module's kernels. */
void rt_note_module(const struct rt_module *module);
/* Sends a buffer's name, which contains its number within the context. */
void rt_note_buffer_name(const struct rt_own_buffer *buffer, unsigned number);

#endif
