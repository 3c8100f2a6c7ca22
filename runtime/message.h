/* Reports failures as an errno and a sentence, which rt_last_message() returns. */
#ifndef TEGRACL_RUNTIME_MESSAGE_H
#define TEGRACL_RUNTIME_MESSAGE_H

/* Sets the calling thread's message and returns error, a negative errno. */
__attribute__((format(printf, 2, 3))) int rt_fail(int error, const char *format, ...);

/* Like rt_fail, for a failed system call with a non-zero result. Appends the text of the errno and,
 * if possible, advice for the user. -EINVAL becomes -EPROTO: the runtime made the invalid argument,
 * and -EINVAL would blame its caller. */
__attribute__((format(printf, 2, 3))) int rt_fail_call(int result, const char *format, ...);

#endif
