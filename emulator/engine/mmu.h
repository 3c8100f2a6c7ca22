/* Translation of GPU virtual addresses, and memory accesses of the engines. */
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
  uint64_t offset;    /* in the dma-buf */
  struct emu_dmabuf *dmabuf;
  uint8_t *host; /* memory at gpu */
  bool writable;
  bool fixed;                      /* placed in an area of ALLOC_SPACE */
  bool kernel;                     /* created by the kernel driver: GPFIFO, syncpoint windows */
  bool remap;                      /* made by REMAP */
  bool read_only;                  /* of a read-only dma-buf */
  bool compressible;               /* has the compressible kind */
  uint32_t flags;                  /* those of MAP_BUFFER_EX */
  int16_t kind;                    /* the one by which MAP_BUFFER_EX finds the mapping */
  int count;                       /* number of mappings minus number of unmappings */
  int syncpoint;                   /* the syncpoint that a write increments, or -1 for memory */
  struct sm_memory_shadow *shadow; /* NULL unless in check mode */
  struct emu_mapping *next_unmapped;
  uint64_t unmapped_serial; /* serial of the address space when it was unmapped */
};

/* Where recent accesses were, so that most of them take no lock. Memory that is removed
 * during an access remains: the channel's turn (emu_pushbuffer_run) has pinned it. */
enum { EMU_RECENT = 4 };

struct emu_recent {
  uint64_t removals; /* when the places were found */
  unsigned next;
  struct emu_recent_place {
    uint64_t gpu, size;
    uint8_t *host;
    bool writable;
    int syncpoint;
  } place[EMU_RECENT];
};

/* The mappings that were removed last, for messages. asked is from emu_mapping_asked. */
enum { EMU_REMOVED = 256 };

struct emu_removed {
  uint64_t gpu, size, asked;
};

/* A pin keeps all memory that was mapped when it was taken. */
struct emu_pin {
  struct emu_pin *next, *previous;
  uint64_t serial; /* serial of the address space when the pin was taken */
  bool held;
};

/* Adds a mapping to the table. Does not take a reference to the dma-buf. Returns 0, or -1 if out of
 * memory. The caller holds gpu.lock. */
int emu_mmu_insert(struct emu_as *as, struct emu_mapping *mapping);
/* Removes a mapping from the table without freeing it. The caller holds gpu.lock. */
void emu_mmu_remove(struct emu_as *as, struct emu_mapping *mapping);
/* Returns the mapping that contains address, or NULL. The caller holds mappings_lock or gpu.lock,
 * here and in the next functions. */
struct emu_mapping *emu_mmu_find(const struct emu_as *as, uint64_t address);
/* Returns the mapping that starts at address, or NULL. */
struct emu_mapping *emu_mmu_find_exact(const struct emu_as *as, uint64_t address);
/* Returns the size of a mapping without the padding in the last page of the buffer. */
uint64_t emu_mapping_asked(const struct emu_mapping *mapping);
/* Returns whether any mapping overlaps the range. */
bool emu_mmu_overlaps(const struct emu_as *as, uint64_t address, uint64_t size);
/* Returns the first mapping that overlaps [start, end), or NULL. */
struct emu_mapping *emu_mmu_first_in(const struct emu_as *as, uint64_t start, uint64_t end);
/* Implements find of struct sm_memory; space is a struct emu_as. Takes mappings_lock, like the
 * accesses below. */
bool emu_mmu_range(void *space, uint64_t address, struct sm_range *range);
/* For reads of the engine thread: returns the host address, and sets *left to the number of bytes
 * from there to the end of the mapping. Returns NULL if there is no mapping. */
const uint8_t *emu_mmu_span(struct emu_as *as, uint64_t address, uint64_t *left);
/* Accesses of the engine thread. Return false with *fault set on an error. The caller holds a
 * pin. */
bool emu_mmu_read(struct emu_as *as, uint64_t address, void *to, size_t bytes,
                  struct emu_fault *fault);
bool emu_mmu_write(struct emu_as *as, uint64_t address, const void *from, size_t bytes,
                   struct emu_fault *fault);
/* Returns the host address of bytes in one mapping, or NULL with *fault set. */
void *emu_mmu_host(struct emu_as *as, uint64_t address, size_t bytes, bool write,
                   struct emu_fault *fault);
/* Takes a pin unless it is held. */
void emu_pin(struct emu_as *as, struct emu_pin *pin);
/* Releases a pin if it is held, and frees the mappings that only it kept. locked is true if the
 * caller holds gpu.lock. */
void emu_unpin(struct emu_as *as, struct emu_pin *pin, bool locked);
/* Frees a removed mapping as soon as no pin keeps it. The caller holds gpu.lock. */
void emu_mmu_free_unpinned(struct emu_as *as, struct emu_mapping *mapping);
/* Updates the mappings of a dma-buf whose host memory has moved. */
void emu_mmu_moved(const struct emu_dmabuf *dmabuf);

#endif
