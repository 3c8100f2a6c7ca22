/* Translation of GPU virtual addresses, and accesses of the engines. */
#ifndef TEGRACL_EMULATOR_MMU_H
#define TEGRACL_EMULATOR_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_as;
struct emu_dmabuf;
struct emu_fault;
struct sm_memory_shadow;
struct sm_range;

struct emu_mapping {
  uint64_t gpu, size;
  uint64_t offset; /* into the dma-buf */
  struct emu_dmabuf *dmabuf;
  uint8_t *host;
  bool writable;
  bool fixed;
  bool kernel; /* made by the driver itself: GPFIFO, syncpoint windows */
  bool remap;  /* by REMAP */
  uint32_t flags;
  int16_t kind;
  int count;                       /* times mapped */
  int syncpoint;                   /* the syncpoint whose write window it is; -1: plain memory */
  struct sm_memory_shadow *shadow; /* check mode; else NULL */
  struct emu_mapping *next_unmapped;
  uint64_t unmapped_serial;
};

/* A mapping that was removed; messages name it. */
enum { EMU_REMOVED = 256 };

struct emu_removed {
  uint64_t gpu, size, asked;
};

/* A pin keeps all memory that was mapped when it was made. */
struct emu_pin {
  struct emu_pin *next, *previous;
  uint64_t serial;
  bool held;
};

int emu_mmu_insert(struct emu_as *as, struct emu_mapping *mapping);
void emu_mmu_remove(struct emu_as *as, struct emu_mapping *mapping);
/* The mapping that holds address; call under mappings_lock or gpu.lock. */
struct emu_mapping *emu_mmu_find(const struct emu_as *as, uint64_t address);
/* The mapping that starts at address. */
struct emu_mapping *emu_mmu_find_exact(const struct emu_as *as, uint64_t address);
/* Bytes of a mapping, without the padding of the buffer's last page. */
uint64_t emu_mapping_asked(const struct emu_mapping *mapping);
bool emu_mmu_overlaps(const struct emu_as *as, uint64_t address, uint64_t size);
/* The first mapping that has a byte in [start, end), or NULL. */
struct emu_mapping *emu_mmu_first_in(const struct emu_as *as, uint64_t start, uint64_t end);
/* struct sm_memory's find; space is a struct emu_as. */
bool emu_mmu_range(void *space, uint64_t address, struct sm_range *range);
/* Accesses of the engine. False: fault filled in. A pin must be held. */
bool emu_mmu_read(struct emu_as *as, uint64_t address, void *to, size_t bytes,
                  struct emu_fault *fault);
bool emu_mmu_write(struct emu_as *as, uint64_t address, const void *from, size_t bytes,
                   struct emu_fault *fault);
/* Host address of bytes that lie in one mapping, else NULL and a fault. */
void *emu_mmu_host(struct emu_as *as, uint64_t address, size_t bytes, bool write,
                   struct emu_fault *fault);
void emu_pin(struct emu_as *as, struct emu_pin *pin);
/* locked: gpu.lock is held. */
void emu_unpin(struct emu_as *as, struct emu_pin *pin, bool locked);
/* Frees an unmapped mapping when no pin needs it. gpu.lock held. */
void emu_mmu_free_unpinned(struct emu_as *as, struct emu_mapping *mapping);
/* The dma-buf's host memory has moved: updates its mappings. */
void emu_mmu_moved(const struct emu_dmabuf *dmabuf);

#endif
