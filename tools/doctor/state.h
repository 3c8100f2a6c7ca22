/* The system around the GPU: power, clocks, memory, who else uses it, the kernel's log.
 * root: "" for this system's files, a folder for those of another (tests).
 */
#ifndef TEGRACL_DOCTOR_STATE_H
#define TEGRACL_DOCTOR_STATE_H

#include "tools/doctor/doctor.h"

void state_say_power(struct doctor *doctor, const char *root);
void state_say_memory(struct doctor *doctor, const char *root);
/* JetPack; power, memory, processes that hold the device nodes. */
void state_say(struct doctor *doctor, const char *root);
/* The last lines of the drivers, or the command that shows them. */
void state_say_kernel_log(struct doctor *doctor);

#endif
