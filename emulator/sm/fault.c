/* Fault records and their messages. */
#include <inttypes.h>
#include <stdio.h>

#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"

/* No buffer starts below this address: a lower one is a null pointer plus a small offset. */
enum { NULL_PAGE_BYTES = 4096 };

static void describe_access(struct sm_fault *f, const struct sm_grid *grid) {
  const int length = snprintf(f->message, sizeof f->message, "%s of %u bytes at 0x%" PRIx64,
                              f->is_write ? "write" : "read", f->access_bytes, f->address);
  char *rest = f->message + length;
  const size_t size = sizeof f->message - (size_t)length;
  if (f->kind == SM_FAULT_MISALIGNED)
    snprintf(rest, size, ", a misaligned address: not a multiple of %u", f->access_bytes);
  else if (f->kind == SM_FAULT_SHARED_RANGE)
    snprintf(rest, size, " in local memory is out of range: the work-group has %u bytes",
             grid->shared_bytes);
  else if (f->kind == SM_FAULT_LOCAL_RANGE)
    snprintf(rest, size, " in private memory is out of range: a work-item has %u bytes",
             grid->local_low + grid->local_high);
  else if (f->address < NULL_PAGE_BYTES)
    snprintf(rest, size, " in global memory that is not mapped: a null pointer?");
  else
    snprintf(rest, size, " in global memory that is not mapped%s",
             f->is_write ? ", or mapped read-only" : "");
}

static void write_message(struct sm_fault *f, const struct sm_grid *grid) {
  const char *name = f->instruction[0] ? f->instruction : "an instruction";
  switch (f->kind) {
  case SM_FAULT_MMU:
  case SM_FAULT_SHARED_RANGE:
  case SM_FAULT_LOCAL_RANGE:
  case SM_FAULT_MISALIGNED:
    describe_access(f, grid);
    break;
  case SM_FAULT_ILLEGAL_INSTRUCTION:
    snprintf(f->message, sizeof f->message,
             "no SM 8.7 instruction has the words 0x%016" PRIx64 " 0x%016" PRIx64, f->word[0],
             f->word[1]);
    break;
  case SM_FAULT_REGISTER_RANGE:
    snprintf(f->message, sizeof f->message,
             "%s uses a register beyond the %u that the launch allocated", name, grid->registers);
    break;
  case SM_FAULT_BARRIER_RANGE:
    snprintf(f->message, sizeof f->message,
             "%s uses a barrier beyond the %u that the launch allocated", name, grid->barriers);
    break;
  case SM_FAULT_PC_RANGE:
    snprintf(f->message, sizeof f->message,
             "instruction fetch from 0x%" PRIx64 ", where no code is mapped", f->pc);
    break;
  case SM_FAULT_TRAP:
    snprintf(f->message, sizeof f->message, "the kernel trapped");
    break;
  case SM_FAULT_DEADLOCK:
    snprintf(f->message, sizeof f->message,
             "deadlock: each remaining work-item of group (%u,%u,%u) waits for another",
             f->ctaid[0], f->ctaid[1], f->ctaid[2]);
    break;
  case SM_FAULT_NOT_IMPLEMENTED:
    snprintf(f->message, sizeof f->message, "the emulator does not execute %s yet", name);
    break;
  case SM_FAULT_WATCHDOG:
    snprintf(f->message, sizeof f->message,
             "group (%u,%u,%u) has executed %" PRIu64 " warp instructions: an endless loop?",
             f->ctaid[0], f->ctaid[1], f->ctaid[2], grid->watch->watchdog);
    break;
  default: /* sm_report has written the message */
    break;
  }
}

void sm_fault_fill(struct sm_fault *f, const struct sm_warp *w, uint64_t pc, const uint64_t *word,
                   enum sm_fault_kind kind, uint32_t lane) {
  *f = (struct sm_fault){.kind = kind, .pc = pc};
  for (unsigned k = 0; k < 3; k++) {
    f->ctaid[k] = w->cta->id[k];
    f->tid[k] = w->tid[k].l[lane];
  }
  struct sm_insn insn;
  if (word) {
    memcpy(f->word, word, sizeof f->word);
    if (sm_decode(word, &insn))
      sm_disassemble(&insn, pc, f->instruction, sizeof f->instruction);
  }
}

static void record_fault(struct sm_warp *w, uint64_t pc, const uint64_t *word,
                         enum sm_fault_kind kind, uint32_t lane, uint64_t address, uint32_t bytes,
                         bool is_write) {
  struct sm_fault *f = w->cta->fault;
  w->event = SM_EVENT_FAULT;
  sm_fault_fill(f, w, pc, word, kind, lane);
  f->address = address;
  f->access_bytes = bytes;
  f->is_write = is_write;
  write_message(f, w->cta->grid);
}

const struct sm_uop *sm_raise(struct sm_warp *w, const struct sm_uop *u, enum sm_fault_kind kind,
                              uint32_t lane, uint64_t address, uint32_t bytes, bool is_write) {
  if (w == w->cta->batch)
    sm_account(w, u, u);
  record_fault(w, sm_pc_of(w, u), w->page->word[u - w->page->uop], kind, lane, address, bytes,
               is_write);
  if (kind == SM_FAULT_MMU && w->cta->grid->watch)
    sm_watch_owner(w, u, w->cta->fault, lane);
  return NULL;
}

void sm_raise_at(struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind) {
  const struct sm_grid *grid = w->cta->grid;
  const struct sm_page *page =
      kind == SM_FAULT_DEADLOCK
          ? sm_code_page(grid->code, pc & ~(uint64_t)(SM_PAGE_BYTES - 1), grid->registers)
          : NULL;
  record_fault(w, pc, page ? page->word[(pc - page->va) / SM_INSN_BYTES] : NULL, kind,
               w->active[0] ? (uint32_t)__builtin_ctz(w->active[0]) : 0, 0, 0, false);
}
