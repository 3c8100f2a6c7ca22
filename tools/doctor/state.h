/* Prints the state of the system: power, clocks, memory, other users of the GPU, and the kernel
 * log. root is prepended to the paths of system files: "", or another folder in tests.
 */
#ifndef TEGRACL_DOCTOR_STATE_H
#define TEGRACL_DOCTOR_STATE_H

#include "tools/doctor/doctor.h"

/* Reads the first line of the file root + path without its
 * newline. Returns false if there is none. */
bool state_first_line(const char *root, const char *path, char *line, int size);

void state_say_power(struct doctor *doctor, const char *root);
void state_say_memory(struct doctor *doctor, const char *root);
/* Prints JetPack's version, power, clocks, memory, and the
 * processes that have the device nodes open. */
void state_say(struct doctor *doctor, const char *root);
/* Prints the GPU drivers' last lines in the kernel log, or the command that shows them. */
void state_say_kernel_log(struct doctor *doctor);

#endif
