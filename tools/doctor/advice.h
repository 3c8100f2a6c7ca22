/* Prints what is missing on a machine, and the command that helps. */
#ifndef TEGRACL_DOCTOR_ADVICE_H
#define TEGRACL_DOCTOR_ADVICE_H

#include <sys/stat.h>

#include "tools/doctor/doctor.h"

/* The release of L4T that the file (/etc/nv_tegra_release) names, and whether tegracl supports it.
 * Prints nothing if there is no file. */
void advise_release(struct doctor *doctor, const char *file);

/* A node cannot be opened. error: -errno. status: of the node, or NULL. */
void advise_node(struct doctor *doctor, const char *path, const struct stat *status, int error);

/* A request was refused. error: -errno. */
void advise_error(struct doctor *doctor, int error);
/* The GPU or the kernel did not answer: power state, kernel log, what to do next. */
void advise_no_answer(struct doctor *doctor);
/* Failures without a known remedy. */
void advise_bug(struct doctor *doctor);

/* The paths of the compiler's parts, or how to get them. */
void advise_compiler(struct doctor *doctor);

/* Why an ICD loader that reads this folder (/etc/OpenCL/vendors) does not find tegracl. */
void advise_vendors(struct doctor *doctor, const char *folder);

#endif
