/* Kernels of the experiments and checks of their results. */
#ifndef TEGRACL_DOCTOR_EXPERIMENTS_H
#define TEGRACL_DOCTOR_EXPERIMENTS_H

#include "tools/doctor/doctor.h"
#include "tools/doctor/kernels.h"

enum { EXPERIMENT_BLOCK = 64 };

/* Launches a kernel with work-groups of 64 work-items, whose results start at the GPU address out.
 * Returns 0, or an error of the runtime, which has recorded a message. */
int start_kernel(struct setup *setup, struct rt_queue *queue, enum doctor_kernel kernel,
                 uint32_t groups, uint64_t out, uint32_t value, uint64_t *point);

/* Like setup_wait, for any queue and time limit. */
bool wait_for(struct setup *setup, struct rt_queue *queue, uint64_t point, uint64_t timeout_ns);

/* Returns the number of rounds after which KERNEL_SPIN has run
 * for about ns, or 0 after a failure. */
uint32_t spin_rounds(struct setup *setup, uint64_t ns);
/* Returns how long a long kernel should run: 2.5 s on a board, 0.1 s on the software Orin. */
uint64_t long_ns(const struct doctor *doctor);
/* Checks the results of KERNEL_SPIN, and prints the first wrong one. */
bool check_spin(struct setup *setup, const uint32_t *out, uint32_t groups, uint32_t rounds);

#endif
