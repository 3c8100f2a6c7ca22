/* Check mode: the records of each mapping. */
#ifndef TEGRACL_EMULATOR_SHADOW_H
#define TEGRACL_EMULATOR_SHADOW_H

#include <stdint.h>

struct emu_as;
struct emu_mapping;
struct emulator_note;

/* Create and destroy the records of a mapping. Without check mode or memory, a mapping has no
 * records. */
void emu_shadow_create(struct emu_mapping *mapping);
void emu_shadow_destroy(struct emu_mapping *mapping);
/* Applies a note about memory. Returns 0, -EINVAL or -ENOMEM. The caller holds gpu.lock. */
int emu_shadow_note(struct emu_as *as, const struct emulator_note *note);
/* Records that bytes of the mapping were written. */
void emu_shadow_written(const struct emu_mapping *mapping, uint64_t address, uint64_t bytes);

#endif
