/* The mappings of the emulator's process. */
#ifndef TEGRACL_EMULATOR_VMA_H
#define TEGRACL_EMULATOR_VMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emu_vma {
  uint64_t start, end;
  bool writable, shared;
  dev_t device; /* of the mapped file; device and inode 0: none */
  uintmax_t inode;
};

/* The first mapping that ends above address. False: none. */
bool emu_vma_find(uint64_t address, struct emu_vma *vma);

#endif
