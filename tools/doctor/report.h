/* The report, which is printed on the screen and written to a file for bug reports. The names of
 * the user, the machine and the user's home folder are replaced before anything is written.
 */
#ifndef TEGRACL_DOCTOR_REPORT_H
#define TEGRACL_DOCTOR_REPORT_H

#include <stdio.h>

struct report {
  FILE *screen; /* NULL: none */
  FILE *file;   /* NULL: none */
  char *home, *user, *host;
};

/* Gets the names to be replaced from the system. The caller closes the streams after report_end. */
void report_begin(struct report *report, FILE *screen, FILE *file);
void report_end(struct report *report);

__attribute__((format(printf, 2, 3))) void report_print(struct report *report, const char *format,
                                                        ...);

/* Flushes the file to the disk, because the next step may stop the machine. */
void report_sync(struct report *report);

/* Returns a copy of text without the three names, each of which may be "" or NULL.
 * The caller frees it. Returns NULL if out of memory. */
char *report_redact(const char *text, const char *home, const char *user, const char *host);

#endif
