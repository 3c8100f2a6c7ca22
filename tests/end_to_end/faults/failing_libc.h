/* The C library's functions that allocate memory, threads, files and mappings, made to
 * fail. The program is linked with --wrap for each of them (meson.build), which redirects
 * the calls of the driver and of the software Orin to failing_libc.c.
 */
#ifndef TEGRACL_TEST_FAILING_LIBC_H
#define TEGRACL_TEST_FAILING_LIBC_H

#include <stdbool.h>

/* Resets the count of calls; the nth from now on fails, 0: none does. */
void fail_nth_call(unsigned nth);
/* From now on all calls from one place in the code fail. Places are numbered in the order of
 * their first call. False: there are fewer places so far. */
bool fail_calls_at_site(unsigned site);
/* True if a call has been made to fail since then. */
bool injected_failure(void);

#endif
