/* Handlers that parts of the driver run around a fork, in a fixed order. A child has copies of the
 * memory and of the fds, but only one thread. A lock that another thread held would stay locked in
 * the child, so each part either takes its locks before a fork or initialises them in the child. */
#ifndef TEGRACL_BASE_FORK_H
#define TEGRACL_BASE_FORK_H

/* Prepare handlers run from the last part to the first, so a part can still use the parts before
 * it. Parent and child handlers run from the first part to the last. */
enum base_fork_part {
  BASE_FORK_EPOLL,      /* tegracl-emulate's epoll sets */
  BASE_FORK_DRIVER,     /* handles of the OpenCL layer; the runtime's fds and mappings */
  BASE_FORK_WATCHERS,   /* threads that wait for events */
  BASE_FORK_CALLBACKS,  /* the thread that calls callbacks */
  BASE_FORK_EMULATOR,   /* the software Orin */
  BASE_FORK_HELPERS,    /* compiler processes */
  BASE_FORK_BUILDS,     /* builds for which several callers wait */
  BASE_FORK_HOST_PAGES, /* buffers in the application's pages; waits for the GPU */
  BASE_FORK_PARTS
};

/* A NULL is skipped. */
struct base_fork_handlers {
  void (*prepare)(void);
  void (*parent)(void);
  void (*child)(void);
};

/* Registers the handlers of a part, for all later forks. Further calls for the same part have no
 * effect. handlers must remain valid until the process exits. During a concurrent fork, the parent
 * and child handlers run only if the prepare handler has run. Returns 0 or a (positive) error
 * number. */
int base_fork_watch(enum base_fork_part part, const struct base_fork_handlers *handlers);

#endif
