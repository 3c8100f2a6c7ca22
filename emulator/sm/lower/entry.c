/* Finds the registers that a kernel may read before it writes them, so that the other ones need not
 * be cleared for each CTA.
 *
 * One pass over the first instructions, in the order of their addresses, keeps the set of registers
 * that are written on all paths to each. Nothing takes a register out of this set along a path. So
 * where a path leaves what the pass sees (a computed branch, the end of the pass, a branch back),
 * the registers that are not yet written, or not written as the target expects, count as read. */
#include "emulator/sm/lower/entry.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/sm/lower/lower.h"

enum {
  LIMIT = 1024, /* instructions */
  WORD_BITS = 64,
  SLOTS = SM_SLOT_R + SM_RZ,
  WORDS = (SLOTS + WORD_BITS - 1) / WORD_BITS,
};

/* A set of slots of the register file. */
struct slots {
  uint64_t word[WORDS];
};

struct pass {
  struct slots needed;
  bool reached[LIMIT];
  struct slots written[LIMIT]; /* before each instruction */
};

static void add_uses(struct slots *to, const struct sm_use *use, unsigned count) {
  for (unsigned k = 0; k < count; k++)
    for (unsigned slot = use[k].slot; slot < use[k].slot + use[k].count && slot < SLOTS; slot++)
      to->word[slot / WORD_BITS] |= 1ull << slot % WORD_BITS;
}

/* Adds to needed the slots of wanted that are not written. All slots are wanted if it is NULL. */
static void need(struct pass *pass, const struct slots *wanted, const struct slots *written) {
  for (unsigned k = 0; k < WORDS; k++)
    pass->needed.word[k] |= (wanted ? wanted->word[k] : ~0ull) & ~written->word[k];
}

/* Continues at instruction to, from instruction from. */
static void flow(struct pass *pass, uint64_t from, uint64_t to, const struct slots *written) {
  if (to >= LIMIT || (to <= from && !pass->reached[to])) {
    need(pass, NULL, written);
  } else if (to <= from) {
    need(pass, &pass->written[to], written);
  } else if (!pass->reached[to]) {
    pass->reached[to] = true;
    pass->written[to] = *written;
  } else {
    for (unsigned k = 0; k < WORDS; k++)
      pass->written[to].word[k] &= written->word[k];
  }
}

/* Returns whether an operand is only a part of a register that is written. */
static bool writes_part(const struct sm_insn *insn) {
  for (unsigned k = 0; k < insn->operand_count; k++)
    if (insn->operand[k].dst && insn->operand[k].select)
      return true;
  return false;
}

static void visit(struct pass *pass, uint64_t at, const struct sm_insn *insn, uint64_t program,
                  uint32_t registers) {
  struct slots read = {{0}}, after = pass->written[at];
  struct sm_note note = {0};
  struct sm_uop u;
  sm_lower(&u, insn, program + at * SM_INSN_BYTES, registers, sm_core(), &note);
  add_uses(&read, note.read, note.read_count);
  need(pass, &read, &pass->written[at]);
  const bool always = sm_is_unguarded(&u) && !(u.pnot & 1) && u.pp == SM_PRED_TRUE;
  if (sm_is_unguarded(&u) && !writes_part(insn))
    add_uses(&after, note.write, note.write_count);
  switch (note.handler) {
  case SM_H_bra:
  case SM_H_bra_far:
  case SM_H_bra_cond:
    flow(pass, at, ((uint64_t)u.branch.target - program) / SM_INSN_BYTES, &after);
    if (note.handler == SM_H_bra_cond || !always)
      flow(pass, at, at + 1, &after);
    break;
  case SM_H_brx:
    need(pass, NULL, &after);
    flow(pass, at, at + 1, &after);
    break;
  case SM_H_exit:
    if (!always)
      flow(pass, at, at + 1, &after);
    break;
  default:
    flow(pass, at, at + 1, &after);
  }
}

/* Sets the runs of needed slots. The last one includes what would be further ones. */
static void set_runs(struct sm_entry *entry, const struct slots *needed, uint32_t registers) {
  unsigned last = SM_SLOT_UR;
  for (unsigned slot = SM_SLOT_UR; slot < SM_SLOT_R + registers; slot++) {
    if (!(needed->word[slot / WORD_BITS] >> slot % WORD_BITS & 1))
      continue;
    struct sm_run *run = entry->run_count ? &entry->run[entry->run_count - 1] : NULL;
    const bool crosses = run && run->slot < SM_SLOT_R && slot >= SM_SLOT_R;
    if (run && !crosses && (slot == last + 1 || entry->run_count >= SM_ENTRY_RUNS - 1)) {
      run->count = (uint16_t)(slot + 1 - run->slot);
    } else {
      entry->run[entry->run_count++] = (struct sm_run){(uint16_t)slot, 1};
    }
    last = slot;
  }
}

/* Visits the instructions that will be executed: those of the cached pages, which the memory may no
 * longer have. Returns false if out of memory. */
static bool visit_all(struct pass *pass, struct sm_code *code, uint64_t program,
                      uint32_t registers) {
  pass->reached[0] = true;
  for (uint64_t at = 0; at < LIMIT; at++) {
    const uint64_t va = program + at * SM_INSN_BYTES;
    struct sm_insn insn;
    if (!pass->reached[at])
      continue;
    const struct sm_page *page =
        sm_code_page_locked(code, va & ~(uint64_t)(SM_PAGE_BYTES - 1), registers);
    if (!page)
      return false;
    if (sm_decode(page->word[va % SM_PAGE_BYTES / SM_INSN_BYTES], &insn))
      visit(pass, at, &insn, program, registers);
  }
  return true;
}

struct sm_entry *sm_entry_create(struct sm_code *code, uint64_t program, uint32_t registers) {
  struct sm_entry *entry = calloc(1, sizeof *entry);
  struct pass *pass = calloc(1, sizeof *pass);
  if (!entry || !pass || !visit_all(pass, code, program, registers)) {
    free(entry);
    free(pass);
    return NULL;
  }
  entry->program = program;
  entry->registers = registers;
  set_runs(entry, &pass->needed, registers);
  free(pass);
  return entry;
}
