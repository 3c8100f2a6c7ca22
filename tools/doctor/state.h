/* Prints the state of the system: power, clocks, memory, other users of the GPU, the kernel's log.
 * root: the folder that has the system's files: "", or another one in tests.
 */
#ifndef TEGRACL_DOCTOR_STATE_H
#define TEGRACL_DOCTOR_STATE_H

#include "tools/doctor/doctor.h"

/* The first line of the file root + path, without its newline. False if there is none. */
bool state_first_line(const char *root, const char *path, char *line, int size);

void state_say_power(struct doctor *doctor, const char *root);
void state_say_memory(struct doctor *doctor, const char *root);
/* JetPack, power, clocks, memory, processes that have the device nodes open. */
void state_say(struct doctor *doctor, const char *root);
/* The last lines of the GPU's drivers, or the command that shows them. */
void state_say_kernel_log(struct doctor *doctor);

#endif
