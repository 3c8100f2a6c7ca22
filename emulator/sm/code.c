/* The code cache: pages of instructions, which are lowered when first executed. Looking up a page
 * takes no lock; lowering one does. Also selects the build of the core. */
#include <pthread.h>
#include <stdlib.h>

#include "emulator/sm/lower/chain.h"
#include "emulator/sm/lower/entry.h"
#include "emulator/sm/lower/lower.h"
#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"

enum { BUCKETS = 1024, ENTRY_BUCKETS = 64 };

struct sm_code {
  struct sm_memory memory;
  pthread_mutex_t lock; /* for lowering */
  uint32_t ur_high;     /* lowered code writes only uniform registers below this one */
  bool annotated;       /* pages have notes */
  bool cached;          /* loads and stores go through the L1 cache */
  struct sm_page *bucket[BUCKETS];
  struct sm_entry *entries[ENTRY_BUCKETS];
};

extern const struct sm_core sm_core_base;
#if defined(SM_X86_BUILDS)
extern const struct sm_core sm_core_v3, sm_core_v4;
#endif

const struct sm_core *sm_core_override;

const struct sm_core *sm_core_build(unsigned level) {
#if defined(SM_X86_BUILDS)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  if (level == 2)
    return v4 ? &sm_core_v4 : NULL;
  if (level == 1)
    return v3 ? &sm_core_v3 : NULL;
#endif
  return level == 0 ? &sm_core_base : NULL;
}

const struct sm_core *sm_core(void) {
  static const struct sm_core *best;
  const struct sm_core *core = sm_core_override;
  if (!core)
    core = __atomic_load_n(&best, __ATOMIC_RELAXED);
  for (unsigned level = SM_CORE_BUILDS; !core && level-- > 0;)
    __atomic_store_n(&best, core = sm_core_build(level), __ATOMIC_RELAXED);
  return core;
}

struct sm_code *sm_code_create(const struct sm_memory *memory) {
  struct sm_code *code = calloc(1, sizeof *code);
  if (!code)
    return NULL;
  code->memory = *memory;
  pthread_mutex_init(&code->lock, NULL);
  return code;
}

void sm_code_annotate(struct sm_code *code) {
  code->annotated = true;
}

void sm_code_cache(struct sm_code *code) {
  code->cached = true;
}

void sm_code_invalidate(struct sm_code *code) {
  for (unsigned b = 0; b < BUCKETS; b++) {
    struct sm_page *page = code->bucket[b];
    code->bucket[b] = NULL;
    while (page) {
      struct sm_page *next = page->next;
      free(page);
      page = next;
    }
  }
  for (unsigned b = 0; b < ENTRY_BUCKETS; b++) {
    struct sm_entry *entry = code->entries[b];
    code->entries[b] = NULL;
    while (entry) {
      struct sm_entry *next = entry->next;
      free(entry);
      entry = next;
    }
  }
}

void sm_code_destroy(struct sm_code *code) {
  if (!code)
    return;
  sm_code_invalidate(code);
  pthread_mutex_destroy(&code->lock);
  free(code);
}

uint32_t sm_code_ur_high(const struct sm_code *code) {
  return __atomic_load_n(&code->ur_high, __ATOMIC_RELAXED);
}

static struct sm_page **bucket_of(struct sm_code *code, uint64_t va, uint32_t registers) {
  uint64_t key = (va / SM_PAGE_BYTES) ^ (uint64_t)registers << 7;
  return &code->bucket[key % BUCKETS];
}

static const struct sm_page *find_page(struct sm_page *const *bucket, uint64_t va,
                                       uint32_t registers) {
  const struct sm_page *page = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
  while (page && (page->va != va || page->registers != registers))
    page = page->next;
  return page;
}

/* Copies the instruction at va. Returns false if nothing is mapped there. */
static bool fetch_instruction(const struct sm_memory *memory, uint64_t va, uint64_t word[2]) {
  struct sm_range range;
  if (!memory->find(memory->space, va, &range) || va < range.gpu || range.size < SM_INSN_BYTES ||
      va - range.gpu > range.size - SM_INSN_BYTES)
    return false;
  memcpy(word, range.host + (va - range.gpu), SM_INSN_BYTES);
  return true;
}

static void track_uniform_writes(struct sm_code *code, const struct sm_insn *insn) {
  uint32_t high = code->ur_high;
  for (unsigned k = 0; k < insn->operand_count; k++) {
    const struct sm_operand *o = &insn->operand[k];
    if (o->kind == SM_OPERAND_UREG && o->dst && o->reg != SM_URZ && o->reg + 2u > high)
      high = o->reg + 2u; /* the operand may be a pair */
  }
  __atomic_store_n(&code->ur_high, high, __ATOMIC_RELAXED);
}

/* Reads the instruction at an index of the page, or after it, and lowers it. */
static void lower_instruction(struct sm_code *code, struct sm_page *page, unsigned index,
                              uint64_t word[2], const struct sm_core *core) {
  struct sm_uop *u = &page->uop[index];
  struct sm_insn insn;
  const uint64_t pc = page->va + index * SM_INSN_BYTES;
  if (!fetch_instruction(&code->memory, pc, word)) {
    u->handler = core->handler[SM_H_pc_range];
    u->guard = SM_PRED_TRUE;
  } else if (!sm_decode(word, &insn)) {
    u->handler = core->handler[SM_H_illegal];
    u->guard = SM_PRED_TRUE;
  } else {
    struct sm_note *note = code->annotated ? &sm_annotation_of(page)->note[index] : NULL;
    track_uniform_writes(code, &insn);
    sm_lower(u, &insn, pc, page->registers, core, note);
    if (code->cached)
      sm_lower_l1(u, &insn, core, note ? &note->execute : &u->handler);
  }
}

static struct sm_page *lower_page(struct sm_code *code, uint64_t va, uint32_t registers) {
  const struct sm_core *core = sm_core();
  struct sm_page *page = NULL;
  const size_t bytes = code->annotated ? sizeof(struct sm_annotated_page) : sizeof *page;
  if (posix_memalign((void **)&page, _Alignof(struct sm_uop), bytes))
    return NULL;
  memset(page, 0, bytes);
  page->va = va;
  page->registers = registers;
  for (unsigned k = 0; k < SM_PAGE_UOPS; k++)
    lower_instruction(code, page, k, page->word[k], core);
  for (unsigned k = SM_PAGE_UOPS; !code->annotated && k < SM_PAGE_UOPS + SM_FUSED_AFTER; k++)
    lower_instruction(code, page, k, (uint64_t[2]){0}, core);
  if (!sm_general_handlers)
    sm_fuse(page->uop, code->annotated ? sm_annotation_of(page)->note : NULL, core);
  page->uop[SM_PAGE_UOPS] = (struct sm_uop){.handler = core->handler[SM_H_page_end]};
  if (code->annotated)
    sm_find_chains(page, core->watch);
  return page;
}

const struct sm_page *sm_code_page_locked(struct sm_code *code, uint64_t va, uint32_t registers) {
  struct sm_page **bucket = bucket_of(code, va, registers);
  const struct sm_page *found = find_page(bucket, va, registers);
  if (found)
    return found;
  struct sm_page *page = lower_page(code, va, registers);
  if (page) {
    page->next = *bucket;
    __atomic_store_n(bucket, page, __ATOMIC_RELEASE);
  }
  return page;
}

const struct sm_page *sm_code_page(struct sm_code *code, uint64_t va, uint32_t registers) {
  const struct sm_page *found = find_page(bucket_of(code, va, registers), va, registers);
  if (found)
    return found;
  pthread_mutex_lock(&code->lock);
  found = sm_code_page_locked(code, va, registers);
  pthread_mutex_unlock(&code->lock);
  return found;
}

static const struct sm_entry *find_entry(struct sm_entry *const *bucket, uint64_t program,
                                         uint32_t registers) {
  const struct sm_entry *entry = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
  while (entry && (entry->program != program || entry->registers != registers))
    entry = entry->next;
  return entry;
}

const struct sm_entry *sm_code_entry(struct sm_code *code, uint64_t program, uint32_t registers) {
  struct sm_entry **bucket = &code->entries[program / SM_INSN_BYTES % ENTRY_BUCKETS];
  const struct sm_entry *found = find_entry(bucket, program, registers);
  if (found)
    return found;
  pthread_mutex_lock(&code->lock);
  found = find_entry(bucket, program, registers);
  if (!found) {
    struct sm_entry *entry = sm_entry_create(code, program, registers);
    if (entry) {
      entry->next = *bucket;
      __atomic_store_n(bucket, entry, __ATOMIC_RELEASE);
      found = entry;
    }
  }
  pthread_mutex_unlock(&code->lock);
  return found;
}
