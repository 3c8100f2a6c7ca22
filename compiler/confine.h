/* What the helper process takes from itself and what it starts, for good, before it reads the first
 * request. A program that makes a compiler do what it should not then reaches no network, no other
 * process, and no file but to read it. docs/robustness.md says what each kernel gives. */
#ifndef TEGRACL_CONFINE_H
#define TEGRACL_CONFINE_H

enum {
  CONFINED_CALLS = 1, /* system calls, by seccomp */
  CONFINED_FILES = 2, /* files, by Landlock (Linux 5.13) */
};

/* Closes all files but the standard streams, and confines the process: what the kernel can, as
 * bits. Before other threads start. TEGRACL_CONFINEMENT=0: does nothing. */
unsigned confine(void);

#endif
