/* What the parts of the driver do around a fork, in one fixed order. A child has copies of
 * the memory and of the fds, but one thread: a lock that another thread held stays locked
 * there, so a part either takes its locks before a fork or initialises them in the child.
 */
#ifndef TEGRACL_BASE_FORK_H
#define TEGRACL_BASE_FORK_H

/* Before a fork the last part comes first: its locks are taken first, and it may still use
 * the earlier ones. After it, in parent and child, the first part comes first. */
enum base_fork_part {
  BASE_FORK_EPOLL,      /* tegracl-emulate's epoll sets */
  BASE_FORK_DRIVER,     /* handles of the OpenCL layer, fds and mappings of the runtime */
  BASE_FORK_WATCHERS,   /* threads that wait for events with callbacks */
  BASE_FORK_EMULATOR,   /* the software Orin */
  BASE_FORK_HELPERS,    /* compiler processes */
  BASE_FORK_BUILDS,     /* builds that several callers wait for */
  BASE_FORK_HOST_PAGES, /* buffers in the application's pages: waits for the GPU */
  BASE_FORK_PARTS
};

/* Each may be NULL. */
struct base_fork_handlers {
  void (*prepare)(void);
  void (*parent)(void);
  void (*child)(void);
};

/* From the next fork on; again has no effect. The handlers must be static. A fork that has
 * begun calls only the parts whose prepare it has called. 0, or an error number. */
int base_fork_watch(enum base_fork_part part, const struct base_fork_handlers *handlers);

#endif
