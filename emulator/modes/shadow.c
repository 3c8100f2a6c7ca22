/* Check mode: records for each mapping which bytes were written, who accessed them last, and
 * whether kernels may read or write them. */
#include "emulator/modes/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulator/engine/mmu.h"
#include "emulator/options.h"
#include "emulator/sm/sm.h"
#include "gpu/nvgpu/emulator_node.h"

/* Larger mappings are not checked for races, because the records are many times as large as the
 * mapping. */
#define RACES_BYTES_MAX (UINT64_C(1) << 28)

/* Returns zeroed memory whose pages are allocated when first accessed, or NULL if there is no
 * address space. */
static void *reserve_zeroed(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* The same for memory of which most will be accessed. With huge pages a kernel that accesses a
 * large buffer in steps need not wait for the host's page tables. */
static void *reserve_dense(size_t bytes) {
  void *p = reserve_zeroed(bytes);
  if (p)
    madvise(p, bytes, MADV_HUGEPAGE); /* not all hosts have them */
  return p;
}

static size_t cells_bytes(const struct emu_mapping *m) {
  return m->size / SM_CELL_BYTES * SM_CELL_SIZE;
}

static size_t rows_bytes(const struct emu_mapping *m) {
  return m->size / SM_ROW_BYTES * SM_ROW_SIZE;
}

static size_t stamps_bytes(const struct emu_mapping *m) {
  return m->size / SM_ROW_BYTES * sizeof(uint64_t);
}

static void release_records(const struct emu_mapping *m, struct sm_memory_shadow *shadow) {
  if (shadow->cells)
    munmap(shadow->cells, cells_bytes(m));
  if (shadow->rows)
    munmap(shadow->rows, rows_bytes(m));
  if (shadow->stamps)
    munmap(shadow->stamps, stamps_bytes(m));
  shadow->cells = NULL;
  shadow->rows = NULL;
  shadow->stamps = NULL;
}

static void reserve_records(const struct emu_mapping *m, struct sm_memory_shadow *shadow) {
  shadow->cells = reserve_zeroed(cells_bytes(m));
  shadow->rows = reserve_dense(rows_bytes(m));
  shadow->stamps = reserve_dense(stamps_bytes(m));
  if (!shadow->cells || !shadow->rows || !shadow->stamps)
    release_records(m, shadow);
}

void emu_shadow_create(struct emu_mapping *m) {
  if (!emu_options()->check || m->kernel)
    return;
  m->shadow = calloc(1, sizeof(*m->shadow));
  if (m->shadow && m->size <= RACES_BYTES_MAX)
    reserve_records(m, m->shadow);
}

void emu_shadow_destroy(struct emu_mapping *m) {
  if (!m->shadow)
    return;
  release_records(m, m->shadow);
  if (m->shadow->written)
    munmap(m->shadow->written, m->size);
  free(m->shadow);
  m->shadow = NULL;
}

/* Records that a range of the mapping is unwritten. If there were no records yet, the rest counts
 * as written. */
static int set_unwritten(struct emu_mapping *m, uint64_t at, uint64_t bytes) {
  uint8_t *written = m->shadow->written;
  if (!written) {
    written = reserve_dense(m->size);
    if (!written)
      return -ENOMEM;
    memset(written, 1, at);
    memset(written + at + bytes, 1, m->size - at - bytes);
    __atomic_store_n(&m->shadow->written, written, __ATOMIC_RELEASE);
  } else {
    memset(written + at, 0, bytes);
  }
  return 0;
}

void emu_shadow_written(const struct emu_mapping *m, uint64_t address, uint64_t bytes) {
  if (m->shadow && m->shadow->written)
    memset(m->shadow->written + (address - m->gpu), 1, bytes);
}

int emu_shadow_note(struct emu_as *as, const struct emulator_note *note) {
  struct emu_mapping *m = emu_mmu_find(as, note->address); /* the caller holds gpu.lock */
  if (!m || note->size > m->gpu + m->size - note->address)
    return -EINVAL;
  if (!m->shadow)
    return 0;
  switch (note->kind) {
  case EMULATOR_NOTE_READ_ONLY:
    m->shadow->read_only = true;
    return 0;
  case EMULATOR_NOTE_WRITE_ONLY:
    m->shadow->write_only = true;
    return 0;
  case EMULATOR_NOTE_UNWRITTEN:
    return set_unwritten(m, note->address - m->gpu, note->size);
  default:
    emu_shadow_written(m, note->address, note->size);
    return 0;
  }
}
