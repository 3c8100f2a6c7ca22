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
  struct emu_buddy user, kernel;  /* addresses from start to end, and the driver's after them */
  pthread_rwlock_t mappings_lock; /* for mappings, areas and removed */
  struct emu_mapping **mappings;  /* sorted by gpu */
  size_t mapping_count, mapping_capacity;
  struct emu_area *areas;
  pthread_mutex_t pin_lock;     /* for pins, serial and unmapped */
  struct emu_pin pins;          /* list head; oldest first */
  uint64_t serial;              /* counts pins and unmappings, to order them */
  _Atomic uint32_t unmappings;  /* so far */
  struct emu_mapping *unmapped; /* removed mappings that a pin keeps */
  struct emu_code *code;        /* engine thread only */
  struct emu_stale *stale; /* engine thread only; adversarial mode, NULL before the first grid */
  uint64_t syncpoint_ro;   /* GPU address of the read-only window, 0 = none */
  struct emulator_fault fault;
  struct emu_removed removed[EMU_REMOVED]; /* ring */
  size_t next_removed;
};

/* A new address space for [start, end); NULL: no memory. */
struct emu_as *emu_as_create(uint64_t start, uint64_t end);
/* Maps size bytes of the dma-buf in the driver's part of the space; NULL: no room. */
struct emu_mapping *emu_as_map_kernel(struct emu_as *as, struct emu_dmabuf *dmabuf, uint64_t offset,
                                      uint64_t size, bool writable, int syncpoint);
/* Removes a mapping, which is freed when no pin keeps it. */
void emu_as_unmap(struct emu_as *as, struct emu_mapping *mapping);
/* Maps the part [start, end) of the range that whole describes: 0 or -ENOMEM. For REMAP. */
int emu_as_map_part(struct emu_as *as, const struct emu_mapping *whole, uint64_t start,
                    uint64_t end);
/* The GPU address at which all syncpoints can be read, mapped at the first call; 0: no memory. */
uint64_t emu_as_syncpoints(struct emu_as *as);
/* The area of ALLOC_SPACE that has address, or NULL. */
const struct emu_area *emu_area_find(const struct emu_as *as, uint64_t address);
/* The request REMAP (remap.c). */
int emu_as_remap(struct emu_object *object, int fd, void *argument);

#endif
