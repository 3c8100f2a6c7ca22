/* The MMU: translates GPU virtual addresses to host memory. Its table is sorted by address and has
 * no overlaps. Pins keep memory that is unmapped while a grid uses it. */
#include "emulator/engine/mmu.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/engine/fault.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/modes/notes.h"
#include "emulator/modes/shadow.h"
#include "emulator/objects.h"
#include "emulator/options.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

/* Mappings that were removed or moved so far, in all address spaces. */
static _Atomic uint64_t removals;

/* The recent accesses of a thread that runs CTAs. */
static _Thread_local struct {
  const struct emu_as *as;
  struct emu_recent recent;
} thread;

/* Returns the index of the first mapping that ends after address. */
static size_t mapping_index(const struct emu_as *as, uint64_t address) {
  size_t low = 0, high = as->mapping_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct emu_mapping *m = as->mappings[middle];
    if (m->gpu + m->size <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct emu_mapping *emu_mmu_find(const struct emu_as *as, uint64_t address) {
  size_t i = mapping_index(as, address);
  return i < as->mapping_count && as->mappings[i]->gpu <= address ? as->mappings[i] : NULL;
}

struct emu_mapping *emu_mmu_find_exact(const struct emu_as *as, uint64_t address) {
  struct emu_mapping *m = emu_mmu_find(as, address);
  return m && m->gpu == address ? m : NULL;
}

struct emu_mapping *emu_mmu_first_in(const struct emu_as *as, uint64_t start, uint64_t end) {
  size_t i = mapping_index(as, start);
  return i < as->mapping_count && as->mappings[i]->gpu < end ? as->mappings[i] : NULL;
}

bool emu_mmu_overlaps(const struct emu_as *as, uint64_t address, uint64_t size) {
  return emu_mmu_first_in(as, address, address + size) != NULL;
}

int emu_mmu_insert(struct emu_as *as, struct emu_mapping *mapping) {
  int error = 0;
  emu_notes_forget(as, mapping->gpu, mapping->size);
  emu_shadow_create(mapping);
  pthread_rwlock_wrlock(&as->mappings_lock);
  if (as->mapping_count == as->mapping_capacity) {
    size_t capacity = as->mapping_capacity ? as->mapping_capacity * 2 : 64;
    struct emu_mapping **grown = realloc(as->mappings, capacity * sizeof(*grown));
    if (grown) {
      as->mappings = grown;
      as->mapping_capacity = capacity;
    } else {
      error = -1;
    }
  }
  if (!error) {
    size_t i = mapping_index(as, mapping->gpu);
    memmove(&as->mappings[i + 1], &as->mappings[i],
            (as->mapping_count - i) * sizeof(*as->mappings));
    as->mappings[i] = mapping;
    as->mapping_count++;
    atomic_fetch_add(&as->insertions, 1);
  }
  pthread_rwlock_unlock(&as->mappings_lock);
  if (error)
    emu_shadow_destroy(mapping);
  return error;
}

uint64_t emu_mapping_asked(const struct emu_mapping *m) {
  const uint64_t asked = m->dmabuf->asked;
  return asked > m->offset && asked - m->offset < m->size ? asked - m->offset : m->size;
}

void emu_mmu_remove(struct emu_as *as, struct emu_mapping *mapping) {
  pthread_rwlock_wrlock(&as->mappings_lock);
  as->removed[as->next_removed] =
      (struct emu_removed){mapping->gpu, mapping->size, emu_mapping_asked(mapping)};
  as->next_removed = (as->next_removed + 1) % EMU_REMOVED;
  size_t i = mapping_index(as, mapping->gpu);
  as->mapping_count--;
  atomic_fetch_add(&removals, 1);
  memmove(&as->mappings[i], &as->mappings[i + 1], (as->mapping_count - i) * sizeof(*as->mappings));
  pthread_rwlock_unlock(&as->mappings_lock);
}

/* Returns the mapping at address if its page-table entries are valid, else NULL. Mappings with
 * UNMAPPED_PTE (MAP_BUFFER_EX) have invalid ones. */
static const struct emu_mapping *find_valid(const struct emu_as *as, uint64_t address) {
  const struct emu_mapping *m = emu_mmu_find(as, address);
  return m && !(m->flags & NVGPU_MAP_UNMAPPED_PTE) ? m : NULL;
}

/* Returns the place of a recent access that contains address, or NULL. */
static const struct emu_recent_place *find_recent(const struct emu_recent *recent,
                                                  uint64_t address) {
  if (recent->removals == atomic_load(&removals))
    for (unsigned i = 0; i < EMU_RECENT; i++)
      if (address - recent->place[i].gpu < recent->place[i].size)
        return &recent->place[i];
  return NULL;
}

/* Notes the place of an access. The caller holds mappings_lock. In check mode each access looks up
 * its mapping. */
static void note_recent(struct emu_recent *recent, const struct emu_mapping *m) {
  if (emu_options()->check)
    return;
  const uint64_t now = atomic_load(&removals);
  if (recent->removals != now)
    *recent = (struct emu_recent){.removals = now};
  recent->place[recent->next++ % EMU_RECENT] =
      (struct emu_recent_place){m->gpu, m->size, m->host, m->writable, m->syncpoint};
}

/* Sets *range to a page of zeros if address is in a sparse area. A board silently drops stores to
 * such a page; here they fault. */
static bool find_sparse(const struct emu_as *as, uint64_t address, struct sm_range *range) {
  static const _Alignas(GPU_PAGE_BYTES) uint8_t zeros[GPU_PAGE_BYTES];
  const struct emu_area *area = emu_area_find(as, address);
  if (!area || !area->sparse)
    return false;
  *range = (struct sm_range){.gpu = address / GPU_PAGE_BYTES * GPU_PAGE_BYTES,
                             .size = GPU_PAGE_BYTES,
                             .host = (uint8_t *)(uintptr_t)zeros};
  return true;
}

static bool find_range(struct emu_as *as, struct emu_recent *recent, uint64_t address,
                       struct sm_range *range) {
  const struct emu_recent_place *place = find_recent(recent, address);
  if (place) {
    *range = (struct sm_range){.gpu = place->gpu,
                               .size = place->size,
                               .host = place->host,
                               .writable = place->writable && place->syncpoint < 0};
    return true;
  }
  pthread_rwlock_rdlock(&as->mappings_lock);
  const struct emu_mapping *m = find_valid(as, address);
  if (m)
    note_recent(recent, m);
  if (m)
    *range = (struct sm_range){.gpu = m->gpu,
                               .size = emu_options()->check ? emu_mapping_asked(m) : m->size,
                               .host = m->host,
                               .writable = m->writable && m->syncpoint < 0,
                               .shadow = m->shadow};
  /* In check mode the padding in the last page of a buffer is out of bounds. */
  bool found = m ? address - m->gpu < range->size : find_sparse(as, address, range);
  pthread_rwlock_unlock(&as->mappings_lock);
  return found;
}

bool emu_mmu_range(void *space, uint64_t address, struct sm_range *range) {
  if (thread.as != space) {
    thread.as = space;
    thread.recent = (struct emu_recent){0};
  }
  return find_range(space, &thread.recent, address, range);
}

static __attribute__((noinline)) const uint8_t *find_span(struct emu_as *as, uint64_t address,
                                                          uint64_t *left) {
  struct sm_range range;
  if (!find_range(as, &as->recent, address, &range))
    return NULL;
  *left = range.gpu + range.size - address;
  return range.host + (address - range.gpu);
}

const uint8_t *emu_mmu_span(struct emu_as *as, uint64_t address, uint64_t *left) {
  const struct emu_recent_place *place = find_recent(&as->recent, address);
  if (!place)
    return find_span(as, address, left);
  *left = place->gpu + place->size - address;
  return place->host + (address - place->gpu);
}

static void mmu_fault(struct emu_fault *fault, uint64_t address, size_t bytes, bool write,
                      bool mapped) {
  emu_fault_set(fault, NOTIFIER_MMU_FAULT, address, "%s of %zu bytes at 0x%llx: %s",
                write ? "write" : "read", bytes, (unsigned long long)address,
                mapped ? "the mapping is read-only, or the address is in a sparse area"
                       : "no mapping");
  fault->record.access_bytes = (uint32_t)bytes;
  fault->record.is_write = write;
}

/* Does what translate_address does where no recent access was. */
static __attribute__((noinline)) size_t translate_slowly(struct emu_as *as, uint64_t address,
                                                         size_t bytes, bool write, uint8_t **host,
                                                         int *syncpoint, struct emu_fault *fault) {
  size_t length = 0;
  bool mapped = false;
  pthread_rwlock_rdlock(&as->mappings_lock);
  const struct emu_mapping *m = find_valid(as, address);
  if (m && (m->writable || !write)) {
    uint64_t left = m->gpu + m->size - address;
    length = left < bytes ? (size_t)left : bytes;
    *host = m->host + (address - m->gpu);
    *syncpoint = m->syncpoint;
    note_recent(&as->recent, m);
    if (write)
      emu_shadow_written(m, address, length);
  }
  struct sm_range zeros;
  mapped = m || find_sparse(as, address, &zeros);
  if (!m && mapped && !write) {
    uint64_t left = zeros.gpu + zeros.size - address;
    length = left < bytes ? (size_t)left : bytes;
    *host = zeros.host + (address - zeros.gpu);
    *syncpoint = EMU_NO_SYNCPOINT;
  }
  pthread_rwlock_unlock(&as->mappings_lock);
  if (!length)
    mmu_fault(fault, address, bytes, write, mapped);
  return length;
}

/* Finds the host memory at address. Returns how many of the bytes are in its mapping, or 0 with
 * *fault set. */
static inline size_t translate_address(struct emu_as *as, uint64_t address, size_t bytes,
                                       bool write, uint8_t **host, int *syncpoint,
                                       struct emu_fault *fault) {
  const struct emu_recent_place *place = find_recent(&as->recent, address);
  if (!place || (write && !place->writable))
    return translate_slowly(as, address, bytes, write, host, syncpoint, fault);
  const uint64_t left = place->gpu + place->size - address;
  *host = place->host + (address - place->gpu);
  *syncpoint = place->syncpoint;
  return left < bytes ? (size_t)left : bytes;
}

/* Does what emu_mmu_host does where no recent access was. */
static __attribute__((noinline)) void *find_host(struct emu_as *as, uint64_t address, size_t bytes,
                                                 bool write, struct emu_fault *fault) {
  uint8_t *host;
  int syncpoint;
  size_t length = translate_address(as, address, bytes, write, &host, &syncpoint, fault);
  if (!length)
    return NULL;
  if (length < bytes || (write && syncpoint >= 0)) {
    mmu_fault(fault, address + length, bytes - length, write, false);
    return NULL;
  }
  return host;
}

void *emu_mmu_host(struct emu_as *as, uint64_t address, size_t bytes, bool write,
                   struct emu_fault *fault) {
  const struct emu_recent_place *place = find_recent(&as->recent, address);
  const uint64_t at = place ? address - place->gpu : 0;
  if (place && bytes <= place->size - at && (!write || (place->writable && place->syncpoint < 0)))
    return place->host + at;
  return find_host(as, address, bytes, write, fault);
}

bool emu_mmu_read(struct emu_as *as, uint64_t address, void *to, size_t bytes,
                  struct emu_fault *fault) {
  uint8_t *out = to;
  while (bytes) {
    uint8_t *host;
    int syncpoint;
    size_t length = translate_address(as, address, bytes, false, &host, &syncpoint, fault);
    if (!length)
      return false;
    memcpy(out, host, length);
    out += length;
    address += length;
    bytes -= length;
  }
  return true;
}

bool emu_mmu_write(struct emu_as *as, uint64_t address, const void *from, size_t bytes,
                   struct emu_fault *fault) {
  const uint8_t *in = from;
  while (bytes) {
    uint8_t *host;
    int syncpoint;
    size_t length = translate_address(as, address, bytes, true, &host, &syncpoint, fault);
    if (!length)
      return false;
    /* Any write to the page of a syncpoint increments it (docs/hardware/command-stream.md 3.3). */
    if (syncpoint >= 0)
      emu_syncpoint_increment(syncpoint);
    else
      memmove(host, in, length); /* inline data may overwrite the pushbuffer that contains it */
    in += length;
    address += length;
    bytes -= length;
  }
  return true;
}

void emu_pin(struct emu_as *as, struct emu_pin *pin) {
  if (pin->held)
    return;
  pthread_mutex_lock(&as->pin_lock);
  pin->serial = ++as->serial;
  pin->held = true;
  pin->next = &as->pins;
  pin->previous = as->pins.previous;
  pin->previous->next = pin;
  as->pins.previous = pin;
  pthread_mutex_unlock(&as->pin_lock);
}

/* Unlinks the unmapped mappings that no pin protects any more. The caller holds pin_lock. */
static struct emu_mapping *unlink_unpinned(struct emu_as *as) {
  uint64_t oldest = as->pins.next == &as->pins ? UINT64_MAX : as->pins.next->serial;
  struct emu_mapping *taken = NULL;
  for (struct emu_mapping **link = &as->unmapped; *link;) {
    struct emu_mapping *m = *link;
    if (m->unmapped_serial < oldest) {
      *link = m->next_unmapped;
      m->next_unmapped = taken;
      taken = m;
    } else {
      link = &m->next_unmapped;
    }
  }
  return taken;
}

/* Frees a list of unmapped mappings. The caller holds gpu.lock. */
static void free_mappings(struct emu_mapping *list) {
  while (list) {
    struct emu_mapping *m = list;
    list = m->next_unmapped;
    emu_object_put(&m->dmabuf->object);
    emu_shadow_destroy(m);
    free(m);
  }
}

void emu_unpin(struct emu_as *as, struct emu_pin *pin, bool locked) {
  if (!pin->held)
    return;
  pthread_mutex_lock(&as->pin_lock);
  pin->previous->next = pin->next;
  pin->next->previous = pin->previous;
  pin->held = false;
  struct emu_mapping *unmapped = unlink_unpinned(as);
  pthread_mutex_unlock(&as->pin_lock);
  if (!unmapped)
    return;
  if (!locked)
    pthread_mutex_lock(&emu_gpu.lock);
  free_mappings(unmapped);
  if (!locked)
    pthread_mutex_unlock(&emu_gpu.lock);
}

void emu_mmu_free_unpinned(struct emu_as *as, struct emu_mapping *mapping) {
  pthread_mutex_lock(&as->pin_lock);
  mapping->unmapped_serial = ++as->serial;
  mapping->next_unmapped = as->unmapped;
  as->unmapped = mapping;
  struct emu_mapping *unmapped = unlink_unpinned(as);
  pthread_mutex_unlock(&as->pin_lock);
  free_mappings(unmapped);
}

static void move_mappings(struct emu_as *as, const struct emu_dmabuf *dmabuf) {
  if (!as)
    return;
  pthread_rwlock_wrlock(&as->mappings_lock);
  for (size_t i = 0; i < as->mapping_count; i++) {
    struct emu_mapping *m = as->mappings[i];
    if (m->dmabuf == dmabuf)
      m->host = dmabuf->host + m->offset;
  }
  /* In this order: a thread that sees the second change must not find a recent place again. */
  atomic_fetch_add(&removals, 1);
  atomic_fetch_add(&as->unmappings, 1);
  pthread_rwlock_unlock(&as->mappings_lock);
}

void emu_mmu_moved(const struct emu_dmabuf *dmabuf) {
  for (int fd = 0; fd < emu_objects.table_size; fd++)
    move_mappings((struct emu_as *)emu_table_get_kind(fd, EMU_AS), dmabuf);
  for (int id = 0; id < EMU_CHANNELS; id++)
    if (emu_channels.by_id[id])
      move_mappings(emu_channels.by_id[id]->as, dmabuf);
}
