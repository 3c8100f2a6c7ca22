/* The confinement that the helper process applies to itself and its children before
 * it reads the first request. A program that takes over a compiler can then neither
 * reach the network nor other processes, and can only read files.
 * docs/robustness.md lists what each kernel version supports. */
#ifndef TEGRACL_CONFINE_H
#define TEGRACL_CONFINE_H

enum {
  CONFINED_CALLS = 1, /* system calls, with seccomp */
  CONFINED_FILES = 2, /* files, with Landlock (Linux 5.13) */
};

/* Closes all files except the standard streams, and confines the process as far as
 * the kernel supports it. Returns the bits above. Must be called before other
 * threads start. Does nothing if TEGRACL_CONFINEMENT=0.
 */
unsigned confine(void);

#endif
