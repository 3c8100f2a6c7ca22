/* Check mode: its reports. */
#ifndef TEGRACL_EMULATOR_CHECKS_H
#define TEGRACL_EMULATOR_CHECKS_H

#include <stddef.h>
#include <stdint.h>

struct emu_as;
struct sm_fault;
struct sm_grid;
struct sm_watch;

/* The watch for grids; NULL: not in check mode. */
const struct sm_watch *emu_watch(void);
/* Numbers the CTAs of a grid that is about to start. */
void emu_check_grid(struct sm_grid *grid, uint64_t ctas);
/* Prints one line on stderr, up to the limit of reports. */
void emu_check_print(const struct sm_grid *grid, const struct sm_fault *fault);
/* The size of the unused gap after each mapping, so that overruns hit no other mapping. */
uint64_t emu_check_gap(void);
/* Call when an address space ends: reports remaining buffers. gpu.lock held. */
void emu_check_leaks(const struct emu_as *as);
/* The same for all address spaces, when the process ends. */
void emu_check_all_leaks(void);
/* Reports that a client unmaps an address that is not mapped. */
void emu_check_unmap(const struct emu_as *as, uint64_t address);
/* The code in the range was replaced: its reports may be repeated. */
void emu_checks_forget(const struct emu_as *as, uint64_t address, uint64_t size);
void emu_checks_forked(void);
/* Appends the freed buffer that held an address, if there is one. */
void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size);

#endif
