/* The mappings of the emulator's process. */
#ifndef TEGRACL_EMULATOR_VMA_H
#define TEGRACL_EMULATOR_VMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emu_vma {
  uint64_t start, end;
  bool writable, shared;
  dev_t device; /* of the mapped file; 0 if anonymous */
  uintmax_t inode;
};

/* Finds the first mapping that ends above address. Returns false if there is none. */
bool emu_vma_find(uint64_t address, struct emu_vma *vma);

#endif
