/* Check mode: its reports. */
#ifndef TEGRACL_EMULATOR_CHECKS_H
#define TEGRACL_EMULATOR_CHECKS_H

#include <stddef.h>
#include <stdint.h>

struct emu_as;
struct sm_fault;
struct sm_grid;
struct sm_watch;

/* What grids are watched with; NULL: they are not. */
const struct sm_watch *emu_watch(void);
/* Numbers the CTAs of a grid that is about to start. */
void emu_check_grid(struct sm_grid *grid, uint64_t ctas);
/* One line on stderr, while the limit lasts. */
void emu_check_print(const struct sm_grid *grid, const struct sm_fault *fault);
/* Address space that is left unused behind each mapping, so that what runs over its
 * end lands nowhere. */
uint64_t emu_check_gap(void);
/* An address space ends: reports buffers that are still there. gpu.lock held. */
void emu_check_leaks(const struct emu_as *as);
/* The same of all address spaces: the process ends. */
void emu_check_all_leaks(void);
/* A client unmaps what is not mapped. */
void emu_check_unmap(const struct emu_as *as, uint64_t address);
/* Other code lies there: what was reported of it may be reported again. */
void emu_checks_forget(const struct emu_as *as, uint64_t address, uint64_t size);
void emu_checks_forked(void);
/* Appends which freed buffer an address lies in, if it does. */
void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size);

#endif
