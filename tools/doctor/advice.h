/* Prints what is missing on a machine, and the command that fixes it. */
#ifndef TEGRACL_DOCTOR_ADVICE_H
#define TEGRACL_DOCTOR_ADVICE_H

#include <sys/stat.h>

#include "tools/doctor/doctor.h"

/* Prints the L4T release in the file (/etc/nv_tegra_release) and whether tegracl
 * supports it. Prints nothing if the file does not exist. */
void advise_release(struct doctor *doctor, const char *file);

/* Explains why a node cannot be opened. error is -errno, status describes the node or is NULL. */
void advise_node(struct doctor *doctor, const char *path, const struct stat *status, int error);

/* Explains why a request was refused. error is -errno. */
void advise_error(struct doctor *doctor, int error);
/* Prints power state, kernel log and what to do if the GPU or the kernel did not answer. */
void advise_no_answer(struct doctor *doctor);
/* Asks for a bug report, because no remedy is known. */
void advise_bug(struct doctor *doctor);

/* Prints the paths of the compiler's parts, or how to install them. */
void advise_compiler(struct doctor *doctor);

/* Explains why an ICD loader that reads this folder (/etc/OpenCL/vendors) does not find tegracl. */
void advise_vendors(struct doctor *doctor, const char *folder);

#endif
