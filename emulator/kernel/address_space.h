/* A GPU address space: its ranges and mappings. Callers hold gpu.lock. */
#ifndef TEGRACL_EMULATOR_ADDRESS_SPACE_H
#define TEGRACL_EMULATOR_ADDRESS_SPACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/engine/mmu.h"
#include "emulator/kernel/buddy.h"
#include "emulator/objects.h"
#include "gpu/nvgpu/emulator_node.h"

struct emu_code;
struct emu_dmabuf;
struct emu_stale;

/* A range that ALLOC_SPACE has reserved. */
struct emu_area {
  struct emu_area *next;
  uint64_t gpu, size;
  bool fixed, sparse;
};

struct emu_as {
  struct emu_object object;
  uint64_t start, end;
  struct emu_buddy user,
      kernel; /* free ranges: [start, end) for the client, and the driver's after it */
  pthread_rwlock_t mappings_lock; /* protects mappings, areas and removed */
  struct emu_mapping **mappings;  /* sorted by gpu */
  size_t mapping_count, mapping_capacity;
  struct emu_area *areas;
  pthread_mutex_t pin_lock;     /* protects pins, serial and unmapped */
  struct emu_pin pins;          /* list head; oldest first */
  uint64_t serial;              /* counts pins and unmappings to establish their order */
  _Atomic uint64_t insertions;  /* mappings so far */
  _Atomic uint32_t unmappings;  /* so far; includes mappings that moved or hide a part of an area */
  struct emu_mapping *unmapped; /* removed mappings that are still pinned */
  struct emu_code *code;        /* engine thread only */
  struct emu_recent recent;     /* engine thread only */
  struct {
    uint64_t shared, local, insertions;
  } clear_windows; /* have no buffer while insertions equals the other; engine thread only */
  struct emu_stale *stale; /* adversarial mode, engine thread only; NULL before the first grid */
  uint64_t syncpoint_ro;   /* GPU address of the read-only window of syncpoints, or 0 */
  struct emulator_fault fault;
  struct emu_removed removed[EMU_REMOVED]; /* ring */
  size_t next_removed;
};

/* Creates an address space for [start, end). Returns NULL if memory is exhausted. */
struct emu_as *emu_as_create(uint64_t start, uint64_t end);
/* Maps size bytes of the dma-buf in the driver's part of the address space. Returns NULL if there
 * is no room. */
struct emu_mapping *emu_as_map_kernel(struct emu_as *as, struct emu_dmabuf *dmabuf, uint64_t offset,
                                      uint64_t size, bool writable, int syncpoint);
/* Removes a mapping. It is freed when it is no longer pinned. */
void emu_as_unmap(struct emu_as *as, struct emu_mapping *mapping);
/* Maps the part [start, end) of the range that whole describes, for REMAP. Returns 0 or -ENOMEM. */
int emu_as_map_part(struct emu_as *as, const struct emu_mapping *whole, uint64_t start,
                    uint64_t end);
/* Returns the GPU address of the read-only window of all syncpoints, which the first call maps, or
 * 0 if memory is exhausted. */
uint64_t emu_as_syncpoints(struct emu_as *as);
/* Returns the area from ALLOC_SPACE that contains address, or NULL. */
const struct emu_area *emu_area_find(const struct emu_as *as, uint64_t address);
/* Implements the request REMAP (remap.c). */
int emu_as_remap(struct emu_object *object, int fd, void *argument);

#endif
