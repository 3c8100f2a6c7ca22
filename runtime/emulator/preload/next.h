/* The functions behind ours: those that a program would call without us. */
#ifndef TEGRACL_EMULATOR_NEXT_H
#define TEGRACL_EMULATOR_NEXT_H

/* What this library puts in front of the C library. Everything else is hidden. */
#define REDIRECT __attribute__((visibility("default")))
/* The names of the same functions for programs with 64-bit file offsets, which on
 * 64-bit machines all are. */
#define REDIRECT_ALIAS(name) __attribute__((visibility("default"), alias(#name)))

/* The next definition of that name behind this library, found once. */
void *next_function(_Atomic(void *) *found, const char *name);
#define NEXT(name)                                                                                 \
  ({                                                                                               \
    static _Atomic(void *) next_##name;                                                            \
    (__typeof__(&(name)))next_function(&next_##name, #name);                                       \
  })

/* For functions that answer 0 or more, or -1 with errno: from 0 or more, or -errno. */
int next_result(int result);

#endif
