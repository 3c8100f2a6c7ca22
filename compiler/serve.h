/* The helper's side of the build protocol (`tegraclc --serve`). */
#ifndef TEGRACL_SERVE_H
#define TEGRACL_SERVE_H

/* Answers build requests on the connected socket fd until the client closes it or has been idle for
 * a few seconds. Returns the exit status for main(). With --serve, fd is standard input (0). */
int cc_serve(int fd);

#endif
