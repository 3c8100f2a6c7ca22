/* Handlers that parts of the driver run around a fork, in a fixed order. A child has copies of the
 * memory and of the fds, but only one thread. A lock that another thread held stays locked in it,
 * so a part either takes its locks before a fork or initialises them in the child.
 */
#ifndef TEGRACL_BASE_FORK_H
#define TEGRACL_BASE_FORK_H

/* The prepare handlers run from the last part to the first, so a part may still use those above
 * it. The parent and child handlers run from the first part to the last. */
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

/* A NULL is skipped. */
struct base_fork_handlers {
  void (*prepare)(void);
  void (*parent)(void);
  void (*child)(void);
};

/* Sets the handlers of a part, from the next fork on. A second call for the part has no effect.
 * handlers must stay valid until the process ends. A fork during the call runs the parent and child
 * handlers only if it has run prepare. Returns 0 or an error number. */
int base_fork_watch(enum base_fork_part part, const struct base_fork_handlers *handlers);

#endif
