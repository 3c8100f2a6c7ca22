/* Failures as values with one sentence each: what rt_last_message() returns. */
#ifndef TEGRACL_RUNTIME_MESSAGE_H
#define TEGRACL_RUNTIME_MESSAGE_H

/* Sets this thread's message and returns error (a negative errno). */
__attribute__((format(printf, 2, 3))) int rt_fail(int error, const char *format, ...);

/* The same for a refused call: appends the errno's text and, where the user can
 * do something about it, what. */
__attribute__((format(printf, 2, 3))) int rt_fail_call(int error, const char *format, ...);

#endif
