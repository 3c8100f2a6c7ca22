/* The reports of check mode. */
#ifndef TEGRACL_EMULATOR_CHECKS_H
#define TEGRACL_EMULATOR_CHECKS_H

#include <stddef.h>
#include <stdint.h>

struct emu_as;
struct sm_fault;
struct sm_grid;
struct sm_watch;

/* Returns the hooks of check and profile mode for the SMs, or NULL if both are off. */
const struct sm_watch *emu_watch(void);
/* Check mode: assigns numbers to the CTAs of a grid that is about to start. */
void emu_check_grid(struct sm_grid *grid, uint64_t ctas);
/* Must follow when the grid has ended or is dropped. */
void emu_check_grid_over(void);
/* Prints one report on stderr, unless the limit of reports is reached. */
void emu_check_print(const struct sm_grid *grid, const struct sm_fault *fault);
/* Returns how many bytes are left unused after each mapping, so that an overrun does not reach the
 * next one: 0 outside check mode. */
uint64_t emu_check_gap(void);
/* check:leaks: reports the buffers that are left in an address space at its end. The caller holds
 * gpu.lock. */
void emu_check_leaks(const struct emu_as *as);
/* Calls emu_check_leaks for all address spaces at the end of the process. Takes gpu.lock. */
void emu_check_all_leaks(void);
/* Check mode: reports an unmap request for an address where nothing is mapped. */
void emu_check_unmap(const struct emu_as *as, uint64_t address);
/* Allows reports to be repeated for code in the range. Call when that code was replaced. */
void emu_checks_forget(const struct emu_as *as, uint64_t address, uint64_t size);
/* Resets the lock and the table of reports. Call in the child after fork. */
void emu_checks_forked(void);
/* Appends the freed buffer that contained an address, if there is one, to text of size bytes. */
void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size);

#endif
