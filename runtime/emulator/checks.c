/* Check mode: what the SM's watcher finds, and faults, go to stderr, each kind
 * once for each instruction; and where an address lies that no buffer holds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/emulator/gpu.h"

enum { SEEN_MAX = 4096 };

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

/* True the first time, while there is room to remember. */
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

static bool wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  pthread_mutex_lock(&checks.lock);
  bool first = first_time(grid->memory.space, kind, pc);
  pthread_mutex_unlock(&checks.lock);
  return first;
}

void emu_check_print(const struct emu_as *as, uint64_t program, uint64_t pc,
                     const char *instruction, const char *message) {
  const uint64_t limit = emu_options()->report_limit;
  char kernel[sizeof(((struct emulator_name *)NULL)->name)];
  uint64_t offset = 0;
  char where[sizeof(kernel) + 64];
  if (emu_name_find(as, pc ? pc : program, kernel, sizeof(kernel), &offset))
    snprintf(where, sizeof(where), "kernel %s +0x%" PRIx64, kernel, offset);
  else
    snprintf(where, sizeof(where), "program 0x%" PRIx64 ", 0x%" PRIx64, program, pc);
  pthread_mutex_lock(&checks.lock);
  uint64_t number = checks.printed++;
  pthread_mutex_unlock(&checks.lock);
  if (number < limit)
    fprintf(stderr, "tegracl: check: %s%s%s: %s\n", where, *instruction ? ": " : "", instruction,
            message);
  else if (number == limit)
    fprintf(stderr, "tegracl: check: %" PRIu64 " reports; no more are printed (check:limit=N)\n",
            limit);
}

static void report(const struct sm_grid *grid, const struct sm_fault *f) {
  emu_check_print(grid->memory.space, grid->program, f->pc, f->instruction, f->message);
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

static struct sm_watch watch = {.wanted = wanted, .report = report, .count = emu_profile_count};

static void watch_init(void) {
  watch.check = emu_options()->check;
  watch.watchdog = emu_options()->watchdog;
  watch.profile = emu_options()->profile;
}

const struct sm_watch *emu_watch(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_init);
  return watch.check || watch.profile ? &watch : NULL;
}

/* --- where an address lies -------------------------------------------------- */

static void say(char *text, size_t size, const char *side, uint64_t distance, uint64_t bytes,
                uint64_t gpu, const char *what) {
  size_t at = strlen(text);
  snprintf(text + at, size - at, "; %" PRIu64 " bytes %s %s of %" PRIu64 " bytes at 0x%" PRIx64,
           distance, side, what, bytes, gpu);
}

void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size) {
  pthread_rwlock_rdlock(&as->mappings_lock);
  const struct emu_mapping *m = emu_mmu_find(as, address);
  const uint64_t asked = m ? emu_mapping_asked(m) : 0;
  if (m && address - m->gpu >= asked) {
    say(text, size, "behind the end of", address - m->gpu - asked, asked, m->gpu, "a buffer");
    size_t at = strlen(text);
    snprintf(text + at, size - at, ", in the padding of its last page");
  } else if (!m) {
    for (size_t k = 0; k < EMU_GONE; k++) {
      const struct emu_gone *gone = &as->gone[(as->gone_next + EMU_GONE - 1 - k) % EMU_GONE];
      if (address - gone->gpu < gone->size) {
        say(text, size, "into", address - gone->gpu, gone->asked, gone->gpu, "a freed buffer");
        break;
      }
    }
  }
  pthread_rwlock_unlock(&as->mappings_lock);
}
