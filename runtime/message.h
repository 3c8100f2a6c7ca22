/* Failures as values with one sentence each: what rt_last_message() returns. */
#ifndef TEGRACL_RUNTIME_MESSAGE_H
#define TEGRACL_RUNTIME_MESSAGE_H

/* Sets this thread's message and returns error (a negative errno). */
__attribute__((format(printf, 2, 3))) int rt_fail(int error, const char *format, ...);

/* The same for a refused system call, whose result is not 0: appends the errno's text
 * and, where the user can do something about it, what. What the kernel calls invalid
 * was made here, so -EINVAL, which blames the caller's arguments, becomes -EPROTO. */
__attribute__((format(printf, 2, 3))) int rt_fail_call(int result, const char *format, ...);

#endif
