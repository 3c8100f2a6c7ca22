/* The functions of the C library that this library replaces in the program. */
#ifndef TEGRACL_EMULATOR_NEXT_H
#define TEGRACL_EMULATOR_NEXT_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

/* Exports a function, so that programs call it instead of the C library's. All other functions are
 * hidden. */
#define REDIRECT __attribute__((visibility("default")))
/* The name of the same function for 64-bit file offsets. 64-bit programs use both. */
#define REDIRECT_ALIAS(name) __attribute__((visibility("default"), alias(#name)))

/* Returns the next definition of a name after this library's, in the loader's search order, and
 * caches it in *found. */
void *next_function(_Atomic(void *) *found, const char *name);
#define NEXT(name)                                                                                 \
  ({                                                                                               \
    static _Atomic(void *) next_##name;                                                            \
    (__typeof__(&(name)))next_function(&next_##name, #name);                                       \
  })

/* The mode argument of an open, or 0 if flags do not require one. */
#define OPEN_MODE(flags)                                                                           \
  ({                                                                                               \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    bool given = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;                            \
    mode_t mode = given ? va_arg(arguments, mode_t) : 0;                                           \
    va_end(arguments);                                                                             \
    mode;                                                                                          \
  })

/* Converts a result >= 0 or -errno to the convention of the C library: a result >= 0, or -1 with
 * errno set. */
int next_result(int result);

#endif
