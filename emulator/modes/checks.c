/* Check mode: prints reports and faults of the SMs on stderr, with the buffers near the address.
 * Each kind is printed once for each instruction. */
#include "emulator/modes/checks.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/engine/grid.h"
#include "emulator/engine/mmu.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/modes/notes.h"
#include "emulator/objects.h"
#include "emulator/options.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/emulator_node.h"

enum { SEEN_MAX = 4096, TEXT_BYTES = 256 };

/* Buffers at this distance or farther are not mentioned: no 32-bit index of a vector reaches that
 * far. */
#define FAR_BYTES (UINT64_C(1) << 36)

static struct {
  pthread_mutex_t lock;
  struct {
    const void *space;
    uint64_t pc;
    enum sm_fault_kind kind;
  } seen[SEEN_MAX];
  size_t seen_count;
  uint64_t printed;
} checks = {.lock = PTHREAD_MUTEX_INITIALIZER};

void emu_checks_forked(void) {
  pthread_mutex_init(&checks.lock, NULL);
  checks.seen_count = 0;
}

/* Returns whether this is the first report of its kind for an instruction. Returns false if the
 * table of reports is full. */
static bool first_time(const void *space, enum sm_fault_kind kind, uint64_t pc) {
  for (size_t i = 0; i < checks.seen_count; i++)
    if (checks.seen[i].pc == pc && checks.seen[i].kind == kind && checks.seen[i].space == space)
      return false;
  if (checks.seen_count == SEEN_MAX)
    return false;
  checks.seen[checks.seen_count].space = space;
  checks.seen[checks.seen_count].pc = pc;
  checks.seen[checks.seen_count].kind = kind;
  checks.seen_count++;
  return true;
}

static bool is_wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  pthread_mutex_lock(&checks.lock);
  bool first = first_time(grid->memory.space, kind, pc);
  pthread_mutex_unlock(&checks.lock);
  return first;
}

/* Prints the location of an instruction: kernel, offset and source line, as far as they are
 * known. */
static void put_code(FILE *out, const struct emu_as *as, uint64_t program, uint64_t pc) {
  char text[TEXT_BYTES];
  uint64_t offset = 0;
  uint32_t line = 0;
  if (emu_note_name(as, EMULATOR_NOTE_KERNEL, pc ? pc : program, text, sizeof(text), &offset))
    fprintf(out, "kernel %s +0x%" PRIx64, text, offset);
  else
    fprintf(out, "program 0x%" PRIx64 ", 0x%" PRIx64, program, pc);
  if (emu_note_line(as, pc, &line, text, sizeof(text)))
    fprintf(out, ", line %" PRIu32 " of %s", line, *text ? text : "the program source");
}

/* Copies the client's name for the buffer that starts at gpu. Returns false if there is none. */
static bool buffer_name(const struct emu_as *as, uint64_t gpu, char *text, size_t size) {
  uint64_t offset = 0;
  return emu_note_name(as, EMULATOR_NOTE_BUFFER, gpu, text, size, &offset) && offset == 0;
}

static void put_buffer(FILE *out, const struct emu_as *as, uint64_t gpu, uint64_t bytes,
                       const char *what) {
  char text[TEXT_BYTES];
  fprintf(out, "%s%s of %" PRIu64 " bytes at 0x%" PRIx64, what,
          buffer_name(as, gpu, text, sizeof(text)) ? text : "buffer", bytes, gpu);
}

/* Returns the distance from a mapping to an address outside it, or UINT64_MAX if m is NULL. */
static uint64_t distance_from_mapping(const struct emu_mapping *m, uint64_t address) {
  if (!m)
    return UINT64_MAX;
  return address < m->gpu ? m->gpu - address : address - m->gpu - emu_mapping_asked(m);
}

/* Prints the freed buffer that contained an address, or else the nearest buffer. The caller holds
 * mappings_lock. */
static void put_nearest(FILE *out, const struct emu_as *as, uint64_t address) {
  char text[TEXT_BYTES];
  const struct emu_mapping *at = emu_mmu_find(as, address), *below = NULL, *above = NULL;
  for (size_t k = 0; !at && k < EMU_REMOVED; k++) {
    const struct emu_removed *removed =
        &as->removed[(as->next_removed + EMU_REMOVED - 1 - k) % EMU_REMOVED];
    if (address - removed->gpu >= removed->size)
      continue;
    fprintf(out, "; %" PRIu64 " bytes into ", address - removed->gpu);
    put_buffer(out, as, removed->gpu, removed->asked, "the freed ");
    return;
  }
  for (size_t k = 0; k < as->mapping_count; k++) {
    const struct emu_mapping *m = as->mappings[k];
    if (!buffer_name(as, m->gpu, text, sizeof(text)))
      continue;
    if (m->gpu <= address)
      below = m;
    else if (!above)
      above = m;
  }
  const bool is_below =
      distance_from_mapping(below, address) <= distance_from_mapping(above, address);
  const struct emu_mapping *nearest = is_below ? below : above;
  if (distance_from_mapping(nearest, address) >= FAR_BYTES)
    return;
  fprintf(out, "; %" PRIu64 " bytes %s ", distance_from_mapping(nearest, address),
          is_below ? "past the end of" : "before");
  put_buffer(out, as, nearest->gpu, emu_mapping_asked(nearest), "");
  if (at)
    fprintf(out, ", in the padding of its last page");
}

/* Prints the buffer that contains an address, if there is one. The caller holds mappings_lock. */
static void put_holder(FILE *out, const struct emu_as *as, uint64_t address) {
  const struct emu_mapping *at = emu_mmu_find(as, address);
  if (!at)
    return;
  fprintf(out, "; %" PRIu64 " bytes into ", address - at->gpu);
  put_buffer(out, as, at->gpu, emu_mapping_asked(at), "");
}

/* Prints the buffer to which the pointer of an access belongs, and the buffer that was accessed.
 * The caller holds mappings_lock. */
static void put_owner(FILE *out, struct emu_as *as, uint64_t program, const struct sm_fault *f) {
  char text[TEXT_BYTES];
  const struct emu_mapping *owner = emu_mmu_find(as, f->owner), *at = emu_mmu_find(as, f->address);
  if (!owner)
    return;
  const uint64_t asked = emu_mapping_asked(owner);
  fprintf(out, "; %" PRIu64 " bytes ",
          f->address < owner->gpu ? owner->gpu - f->address : f->address - owner->gpu - asked);
  fprintf(out, "%s ", f->address < owner->gpu ? "before" : "past the end of");
  put_buffer(out, as, owner->gpu, asked, "");
  if (emu_note_parameter(as, program, f->parameter, text, sizeof(text)))
    fprintf(out, ", %s", text);
  if (at != owner)
    put_holder(out, as, f->address);
}

static bool within_limit(void) {
  const uint64_t limit = emu_options()->report_limit;
  pthread_mutex_lock(&checks.lock);
  const uint64_t number = checks.printed++;
  pthread_mutex_unlock(&checks.lock);
  if (number == limit)
    fprintf(stderr, "tegracl: check: %" PRIu64 " reports; no more are printed (check:limit=N)\n",
            limit);
  return number < limit;
}

/* Threads print concurrently, so the line is written with one call. */
void emu_check_print(const struct sm_grid *grid, const struct sm_fault *f) {
  struct emu_as *as = grid->memory.space;
  char *text = NULL;
  size_t size = 0;
  if (!within_limit())
    return;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return;
  put_code(out, as, grid->program, f->pc);
  if (f->instruction[0])
    fprintf(out, ": %s", f->instruction);
  fprintf(out, ": work-item (%u,%u,%u) of group (%u,%u,%u): %s", f->tid[0], f->tid[1], f->tid[2],
          f->ctaid[0], f->ctaid[1], f->ctaid[2], f->message);
  if (f->other_pc) {
    fprintf(out, " at ");
    put_code(out, as, grid->program, f->other_pc);
  }
  pthread_rwlock_rdlock(&as->mappings_lock);
  if (f->owner)
    put_owner(out, as, grid->program, f);
  else if (f->kind == SM_FAULT_MMU)
    put_nearest(out, as, f->address);
  else if (f->kind == SM_REPORT_RACE)
    put_holder(out, as, f->address);
  pthread_rwlock_unlock(&as->mappings_lock);
  if (fclose(out) == 0)
    fprintf(stderr, "tegracl: check: %s\n", text);
  free(text);
}

void emu_checks_forget(const struct emu_as *as, uint64_t address, uint64_t size) {
  pthread_mutex_lock(&checks.lock);
  size_t kept = 0;
  for (size_t i = 0; i < checks.seen_count; i++)
    if (checks.seen[i].space != as || checks.seen[i].pc - address >= size)
      checks.seen[kept++] = checks.seen[i];
  checks.seen_count = kept;
  pthread_mutex_unlock(&checks.lock);
}

static struct sm_watch watch = {
    .wanted = is_wanted, .report = emu_check_print, .count = emu_grid_count};

static void watch_init(void) {
  watch.check = emu_options()->check;
  watch.watchdog = emu_options()->watchdog;
  watch.profile = emu_options()->profile;
}

void emu_check_grid(struct sm_grid *grid, uint64_t ctas) {
  static _Atomic uint32_t next = 1;
  if (!emu_options()->check)
    return;
  grid->first_number = atomic_fetch_add(&next, (uint32_t)ctas);
  atomic_fetch_add(&watch.unfinished_grids, 1);
}

void emu_check_grid_over(void) {
  if (emu_options()->check)
    atomic_fetch_sub(&watch.unfinished_grids, 1);
}

const struct sm_watch *emu_watch(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_init);
  return watch.check || watch.profile ? &watch : NULL;
}

uint64_t emu_check_gap(void) {
  return emu_options()->check ? GPU_PAGE_BYTES : 0;
}

void emu_check_leaks(const struct emu_as *as) {
  char name[TEXT_BYTES];
  if (!emu_options()->leaks)
    return;
  for (size_t k = 0; k < as->mapping_count; k++) {
    const struct emu_mapping *m = as->mappings[k];
    if (buffer_name(as, m->gpu, name, sizeof(name)) && within_limit())
      fprintf(stderr,
              "tegracl: check: %s of %" PRIu64 " bytes at 0x%" PRIx64 " was never released\n", name,
              emu_mapping_asked(m), m->gpu);
  }
}

void emu_check_all_leaks(void) {
  if (!emu_options()->leaks)
    return;
  pthread_mutex_lock(&emu_gpu.lock);
  for (int fd = 0; fd < emu_objects.table_size; fd++) {
    const struct emu_as *as = emu_table_get_kind(fd, EMU_AS);
    if (as)
      emu_check_leaks(as);
  }
  pthread_mutex_unlock(&emu_gpu.lock);
}

void emu_check_unmap(const struct emu_as *as, uint64_t address) {
  char name[TEXT_BYTES];
  if (!emu_options()->check || !within_limit())
    return;
  const bool freed = buffer_name(as, address, name, sizeof(name));
  fprintf(stderr, "tegracl: check: UNMAP_BUFFER of 0x%" PRIx64 ", where nothing is mapped%s%s\n",
          address, freed ? ": already done for " : "", freed ? name : "");
}

void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size) {
  pthread_rwlock_rdlock(&as->mappings_lock);
  for (size_t k = 0; !emu_mmu_find(as, address) && k < EMU_REMOVED; k++) {
    const struct emu_removed *removed =
        &as->removed[(as->next_removed + EMU_REMOVED - 1 - k) % EMU_REMOVED];
    if (address - removed->gpu >= removed->size)
      continue;
    size_t at = strlen(text);
    snprintf(text + at, size - at,
             "; %" PRIu64 " bytes into a freed buffer of %" PRIu64 " bytes at 0x%" PRIx64,
             address - removed->gpu, removed->asked, removed->gpu);
    break;
  }
  pthread_rwlock_unlock(&as->mappings_lock);
}
