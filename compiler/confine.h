/* The confinement that the helper process sets up for itself and its children before it reads the
 * first request. A program that takes over a compiler then reaches no network and no other process,
 * and can only read files. docs/robustness.md says what each kernel supports. */
#ifndef TEGRACL_CONFINE_H
#define TEGRACL_CONFINE_H

enum {
  CONFINED_CALLS = 1, /* system calls, by seccomp */
  CONFINED_FILES = 2, /* files, by Landlock (Linux 5.13) */
};

/* Closes all files except the standard streams, and confines the process as far as the kernel can;
 * returns the bits above. Call it before other threads start. TEGRACL_CONFINEMENT=0: does nothing.
 */
unsigned confine(void);

#endif
