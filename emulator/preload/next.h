/* The C library's functions, which the functions of this library replace for the program. */
#ifndef TEGRACL_EMULATOR_NEXT_H
#define TEGRACL_EMULATOR_NEXT_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

/* A function that this library exports, so that programs call it instead of the C library's. All
 * others are hidden. */
#define REDIRECT __attribute__((visibility("default")))
/* The name of the same function for 64-bit file offsets, which all programs of 64-bit machines
 * have. */
#define REDIRECT_ALIAS(name) __attribute__((visibility("default"), alias(#name)))

/* The next definition of a name after this library's, in the order of the loader. found keeps
 * it. */
void *next_function(_Atomic(void *) *found, const char *name);
#define NEXT(name)                                                                                 \
  ({                                                                                               \
    static _Atomic(void *) next_##name;                                                            \
    (__typeof__(&(name)))next_function(&next_##name, #name);                                       \
  })

/* The mode argument of an open, if flags require one. */
#define OPEN_MODE(flags)                                                                           \
  ({                                                                                               \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    bool given = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;                            \
    mode_t mode = given ? va_arg(arguments, mode_t) : 0;                                           \
    va_end(arguments);                                                                             \
    mode;                                                                                          \
  })

/* Converts a result of 0 or more, or -errno, to one of 0 or more, or -1 with errno. */
int next_result(int result);

#endif
