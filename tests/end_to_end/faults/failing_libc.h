/* Failure injection for functions of the C library that allocate memory, threads, files and
 * mappings. The program is linked with --wrap for each of them (meson.build), which redirects the
 * calls of the driver and the software Orin to failing_libc.c.
 */
#ifndef TEGRACL_TEST_FAILING_LIBC_H
#define TEGRACL_TEST_FAILING_LIBC_H

#include <stdbool.h>

/* Resets the count of calls and fails the nth call from now on. 0 means that none fails. */
void fail_nth_call(unsigned nth);
/* Fails all further calls from one place in the code. Places are numbered in the order of
 * their first call. Returns false if there are fewer places so far. */
bool fail_calls_at_site(unsigned site);
/* Whether a call has failed since then. */
bool injected_failure(void);

#endif
