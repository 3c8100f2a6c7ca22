/* Copies from and to the caller's memory. */
#ifndef TEGRACL_EMULATOR_USER_COPY_H
#define TEGRACL_EMULATOR_USER_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Return 0, -EFAULT for a bad pointer, or the error of memfd_create if process_vm_readv is
 * unavailable. */
int emu_copy_from_user(void *to, uint64_t user, size_t bytes);
int emu_copy_to_user(uint64_t user, const void *from, size_t bytes);

#endif
