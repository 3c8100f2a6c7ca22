/* Copies from and to memory of the caller. */
#ifndef TEGRACL_EMULATOR_USER_COPY_H
#define TEGRACL_EMULATOR_USER_COPY_H

#include <stddef.h>
#include <stdint.h>

/* 0, -EFAULT for a bad pointer, or the error of memfd_create where process_vm_readv is missing. */
int emu_copy_from_user(void *to, uint64_t user, size_t bytes);
int emu_copy_to_user(uint64_t user, const void *from, size_t bytes);

#endif
