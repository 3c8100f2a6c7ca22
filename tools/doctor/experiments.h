/* What experiments share: long kernels with results that are known. */
#ifndef TEGRACL_DOCTOR_EXPERIMENTS_H
#define TEGRACL_DOCTOR_EXPERIMENTS_H

#include "tools/doctor/doctor.h"
#include "tools/doctor/kernels.h"

enum { EXPERIMENT_BLOCK = 64 };

/* A launch of 64-item work-groups that writes from out on. 0 or an error with a message. */
int start_kernel(struct setup *setup, struct rt_queue *queue, enum doctor_kernel kernel,
                 uint32_t groups, uint64_t out, uint32_t value, uint64_t *point);

/* Waits like setup_wait, for a queue other than the setup's own. */
bool wait_for(struct setup *setup, struct rt_queue *queue, uint64_t point, uint64_t timeout_ns);

/* Rounds of KERNEL_SPIN that take about the time given. 0: it failed. */
uint32_t spin_rounds(struct setup *setup, uint64_t ns);
/* How long a long kernel runs here: seconds on a board, less on the software Orin. */
uint64_t long_ns(const struct doctor *doctor);
/* Results of KERNEL_SPIN. Says which is wrong. */
bool check_spin(struct setup *setup, const uint32_t *out, uint32_t groups, uint32_t rounds);

#endif
