/* Notes of clients on their code and memory. */
#ifndef TEGRACL_EMULATOR_NOTES_H
#define TEGRACL_EMULATOR_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/nvgpu/emulator_node.h"

struct emu_as;

/* Keeps a client's note, in check and profile mode: 0, -EINVAL, -EFAULT or -ENOMEM. gpu.lock
 * held. */
int emu_note(struct emu_as *as, const struct emulator_note *note);
/* The next three functions return false if there is no such note. */

/* The name of the kernel or buffer that has address, and the offset in it. */
bool emu_note_name(const struct emu_as *as, enum emulator_note_kind kind, uint64_t address,
                   char *text, size_t size, uint64_t *offset);
/* The source line of the instruction at address. file is "" for the program's source. */
bool emu_note_line(const struct emu_as *as, uint64_t address, uint32_t *line, char *file,
                   size_t size);
/* The name of the parameter at an offset in constant bank 0 of a kernel. */
bool emu_note_parameter(const struct emu_as *as, uint64_t program, uint32_t offset, char *text,
                        size_t size);
/* Drops the notes on a range, whose contents change. */
void emu_notes_forget(const struct emu_as *as, uint64_t address, uint64_t size);
/* Call in a child of fork. */
void emu_notes_forked(void);

#endif
