/* The helper's side of the build protocol: `tegraclc --serve`. */
#ifndef TEGRACL_SERVE_H
#define TEGRACL_SERVE_H

/* Answers build requests on the connected socket fd, one after another, until
 * the client closes it or has been silent for a few seconds. Returns the exit
 * status for main(). Standard input is the socket when tegraclc is started with
 * --serve, so fd is 0. */
int cc_serve(int fd);

#endif
