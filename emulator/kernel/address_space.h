/* A GPU address space: its ranges and mappings. gpu.lock held. */
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

/* A range of ALLOC_SPACE. */
struct emu_area {
  struct emu_area *next;
  uint64_t gpu, size;
  bool fixed, sparse;
};

struct emu_as {
  struct emu_object object;
  uint64_t start, end;
  struct emu_buddy user, kernel;
  pthread_rwlock_t mappings_lock;
  struct emu_mapping **mappings; /* sorted by gpu */
  size_t mapping_count, mapping_capacity;
  struct emu_area *areas;
  pthread_mutex_t pin_lock;
  struct emu_pin pins; /* list head; oldest first */
  uint64_t serial;
  _Atomic uint32_t unmappings;
  struct emu_mapping *unmapped; /* unmapped, but perhaps in use by a grid */
  struct emu_code *code;        /* engine thread only */
  struct emu_stale *stale; /* engine thread only; adversarial mode, NULL before the first grid */
  uint64_t syncpoint_ro;   /* GPU address of the read-only window, 0 = none */
  struct emulator_fault fault;
  struct emu_removed removed[EMU_REMOVED]; /* ring; mappings_lock */
  size_t next_removed;
};

struct emu_as *emu_as_create(uint64_t start, uint64_t end);
/* Maps size bytes of the dma-buf in the driver's part of the space; NULL: no room. */
struct emu_mapping *emu_as_map_kernel(struct emu_as *as, struct emu_dmabuf *dmabuf, uint64_t offset,
                                      uint64_t size, bool writable, int syncpoint);
void emu_as_unmap(struct emu_as *as, struct emu_mapping *mapping);
/* Maps the part [start, end) of the range that whole describes: 0 or -ENOMEM. For REMAP. */
int emu_as_map_part(struct emu_as *as, const struct emu_mapping *whole, uint64_t start,
                    uint64_t end);
/* The address at which all syncpoints can be read, mapped at first need; 0: no memory. */
uint64_t emu_as_syncpoints(struct emu_as *as);
/* The area of ALLOC_SPACE that holds address, or NULL. */
const struct emu_area *emu_area_find(const struct emu_as *as, uint64_t address);
int emu_as_remap(struct emu_object *object, int fd, void *argument);

#endif
