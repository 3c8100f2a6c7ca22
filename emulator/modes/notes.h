/* Notes of clients about their code and memory. */
#ifndef TEGRACL_EMULATOR_NOTES_H
#define TEGRACL_EMULATOR_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/nvgpu/emulator_node.h"

struct emu_as;

/* Keeps a note of a client in check and profile mode. Returns 0, -EINVAL, -EFAULT or -ENOMEM. The
 * caller holds gpu.lock. */
int emu_note(struct emu_as *as, const struct emulator_note *note);
/* The next three functions return false if there is no such note. */

/* Copies the name of the kernel or buffer that contains address, and sets *offset to the offset of
 * address in it. */
bool emu_note_name(const struct emu_as *as, enum emulator_note_kind kind, uint64_t address,
                   char *text, size_t size, uint64_t *offset);
/* Finds the source line of the instruction at address. file is "" for the source of the program. */
bool emu_note_line(const struct emu_as *as, uint64_t address, uint32_t *line, char *file,
                   size_t size);
/* Copies the name of the parameter at an offset in constant bank 0 of a kernel. */
bool emu_note_parameter(const struct emu_as *as, uint64_t program, uint32_t offset, char *text,
                        size_t size);
/* Drops the notes on a range whose contents change. */
void emu_notes_forget(const struct emu_as *as, uint64_t address, uint64_t size);
/* Drops all notes and resets the lock in a child of fork. */
void emu_notes_forked(void);

#endif
