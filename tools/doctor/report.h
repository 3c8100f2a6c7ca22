/* The report: on the screen, and in a file that can be attached to a bug. The names of the user, of
 * the machine and of the user's home are replaced before anything is written.
 */
#ifndef TEGRACL_DOCTOR_REPORT_H
#define TEGRACL_DOCTOR_REPORT_H

#include <stdio.h>

struct report {
  FILE *screen; /* NULL: none */
  FILE *file;   /* NULL: none */
  char *home, *user, *host;
};

/* Takes the names to replace from the system. The caller closes the streams, after report_end. */
void report_begin(struct report *report, FILE *screen, FILE *file);
void report_end(struct report *report);

__attribute__((format(printf, 2, 3))) void report_print(struct report *report, const char *format,
                                                        ...);

/* Writes the file to the disk: the next step may stop the machine. */
void report_sync(struct report *report);

/* A copy of text without the three names ("" or NULL: none), which the caller frees. NULL: no
 * memory. */
char *report_redact(const char *text, const char *home, const char *user, const char *host);

#endif
