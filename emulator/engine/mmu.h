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
  uint64_t gpu, size; /* address and bytes */
  uint64_t offset;    /* into the dma-buf */
  struct emu_dmabuf *dmabuf;
  uint8_t *host; /* memory at gpu */
  bool writable;
  bool fixed;     /* its place is in an area of ALLOC_SPACE */
  bool kernel;    /* made by the driver itself: GPFIFO, syncpoint windows */
  bool remap;     /* made by REMAP */
  uint32_t flags; /* of MAP_BUFFER_EX, without the access */
  int16_t kind;
  int count;                       /* how often it was mapped and not unmapped */
  int syncpoint;                   /* the syncpoint whose window for writes it is; -1: memory */
  struct sm_memory_shadow *shadow; /* check mode; else NULL */
  struct emu_mapping *next_unmapped;
  uint64_t unmapped_serial; /* the address space's serial when it was unmapped */
};

/* The last mappings that were removed, for messages. asked: emu_mapping_asked. */
enum { EMU_REMOVED = 256 };

struct emu_removed {
  uint64_t gpu, size, asked;
};

/* A pin keeps all memory that was mapped when the pin was made. */
struct emu_pin {
  struct emu_pin *next, *previous;
  uint64_t serial; /* the address space's when the pin was made */
  bool held;
};

/* Adds a mapping to the table, without a reference to the dma-buf: 0, or -1: no memory. gpu.lock
 * held. */
int emu_mmu_insert(struct emu_as *as, struct emu_mapping *mapping);
/* Removes a mapping from the table, and does not free it. gpu.lock held. */
void emu_mmu_remove(struct emu_as *as, struct emu_mapping *mapping);
/* The mapping that has address, or NULL. mappings_lock or gpu.lock held, here and below. */
struct emu_mapping *emu_mmu_find(const struct emu_as *as, uint64_t address);
/* The mapping that starts at address, or NULL. */
struct emu_mapping *emu_mmu_find_exact(const struct emu_as *as, uint64_t address);
/* The bytes of a mapping without the padding of the buffer's last page. */
uint64_t emu_mapping_asked(const struct emu_mapping *mapping);
/* Whether a mapping has a byte of the range. */
bool emu_mmu_overlaps(const struct emu_as *as, uint64_t address, uint64_t size);
/* The first mapping that has a byte in [start, end), or NULL. */
struct emu_mapping *emu_mmu_first_in(const struct emu_as *as, uint64_t start, uint64_t end);
/* struct sm_memory's find; space is a struct emu_as. Takes mappings_lock, as the accesses below. */
bool emu_mmu_range(void *space, uint64_t address, struct sm_range *range);
/* Accesses of the engine. False: the fault is filled in. A pin must be held. */
bool emu_mmu_read(struct emu_as *as, uint64_t address, void *to, size_t bytes,
                  struct emu_fault *fault);
bool emu_mmu_write(struct emu_as *as, uint64_t address, const void *from, size_t bytes,
                   struct emu_fault *fault);
/* The host address of bytes that are in one mapping; NULL: the fault is filled in. */
void *emu_mmu_host(struct emu_as *as, uint64_t address, size_t bytes, bool write,
                   struct emu_fault *fault);
/* Takes a pin, unless it is held. */
void emu_pin(struct emu_as *as, struct emu_pin *pin);
/* Drops a pin, if it is held, and frees what it kept. locked: gpu.lock is held. */
void emu_unpin(struct emu_as *as, struct emu_pin *pin, bool locked);
/* Frees a removed mapping as soon as no pin keeps it. gpu.lock held. */
void emu_mmu_free_unpinned(struct emu_as *as, struct emu_mapping *mapping);
/* The dma-buf's host memory has moved: updates its mappings. */
void emu_mmu_moved(const struct emu_dmabuf *dmabuf);

#endif
