/* The reports of check mode. */
#ifndef TEGRACL_EMULATOR_CHECKS_H
#define TEGRACL_EMULATOR_CHECKS_H

#include <stddef.h>
#include <stdint.h>

struct emu_as;
struct sm_fault;
struct sm_grid;
struct sm_watch;

/* The settings of check and profile mode for the SMs; NULL: neither mode is on. */
const struct sm_watch *emu_watch(void);
/* Check mode: numbers the CTAs of a grid that is about to start. */
void emu_check_grid(struct sm_grid *grid, uint64_t ctas);
/* Prints one line on stderr, up to the limit of reports. */
void emu_check_print(const struct sm_grid *grid, const struct sm_fault *fault);
/* Bytes that stay unused after each mapping, so that overruns do not reach another; 0 outside check
 * mode. */
uint64_t emu_check_gap(void);
/* check:leaks: reports the buffers that remain in an address space at its end. gpu.lock held. */
void emu_check_leaks(const struct emu_as *as);
/* emu_check_leaks of all address spaces, at the end of the process. Takes gpu.lock. */
void emu_check_all_leaks(void);
/* Check mode: reports that a client unmaps an address where nothing is mapped. */
void emu_check_unmap(const struct emu_as *as, uint64_t address);
/* Call when code in the range was replaced: reports may be repeated. */
void emu_checks_forget(const struct emu_as *as, uint64_t address, uint64_t size);
/* Call in a child of fork. */
void emu_checks_forked(void);
/* Appends to text (size bytes) the freed buffer that had an address, if there is one. */
void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size);

#endif
