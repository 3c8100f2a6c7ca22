/* Random code must end in a result, never in a crash or a hang: words with real
 * opcodes and random fields, sections that jump and store wherever they like.
 * interp_fuzz [sections [seed]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/emulator/sm/insn.h"
#include "runtime/emulator/sm/isa_table.h"
#include "runtime/emulator/sm/sm.h"
#include "runtime/emulator/sm/state.h"

enum { SECTION = 128, SPACE = 1 << 16, DEFAULT_SECTIONS = 3000, LIMIT = 20000 };
static const uint64_t BASE = 0x10000000;

static uint64_t state = 88172645463325252ull;
static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static bool find(void *space, uint64_t address, struct sm_range *range) {
  if (address - BASE >= SPACE)
    return false;
  *range = (struct sm_range){BASE, SPACE, space, true};
  return true;
}

/* A word with a known opcode; mostly without bits that no field claims. */
static void random_word(uint64_t word[2]) {
  const struct sm_isa_row *row = &sm_isa_rows[random64() % SM_ISA_ROWS];
  word[0] = random64();
  word[1] = random64();
  if (random64() % 8) {
    word[0] &= row->known[0];
    word[1] &= row->known[1];
  }
  if (random64() % 4 == 0) { /* small registers and offsets */
    word[0] &= 0xff00000707070fffull | 0xf000;
    word[0] |= 0x7000;
  }
  if (random64() % 2)
    word[0] = (word[0] & ~0xf000ull) | 0x7000; /* guard PT */
  word[0] = (word[0] & ~0xfffull) | (row->opcode & 0xfff);
  word[1] = (word[1] & ~(1ull << 27)) | (uint64_t)(row->opcode >> 12) << 27;
}

/* Would it run? Sections of nothing but faults test little. */
static bool runs(const uint64_t word[2], uint32_t registers) {
  struct sm_insn insn;
  struct sm_uop u;
  if (!sm_decode(word, &insn))
    return false;
  const struct sm_core *core = sm_core();
  sm_lower(&u, &insn, BASE, registers, core, NULL);
  return u.handler != core->handler[SM_H_not_implemented] &&
         u.handler != core->handler[SM_H_register_range] && u.handler != core->handler[SM_H_trap];
}

int main(int argc, char **argv) {
  const long sections = argc > 1 ? atol(argv[1]) : DEFAULT_SECTIONS;
  if (argc > 2)
    state ^= strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull;
  uint8_t *space = calloc(1, SPACE);
  uint8_t bank[1024];
  const struct sm_memory memory = {find, space};
  struct sm_worker *worker = sm_worker_create(0);
  struct sm_code *code = sm_code_create(&memory);
  long results[3] = {0}, kinds[SM_FAULT_NOT_IMPLEMENTED + 1] = {0};
  for (long n = 0; n < sections; n++) {
    const uint32_t registers = random64() % 3 ? 255 : 1 + (uint32_t)(random64() % 64);
    for (unsigned k = 0; k < SECTION; k++) {
      uint64_t word[2];
      do
        random_word(word);
      while (random64() % 256 && !runs(word, registers));
      memcpy(space + k * 16, word, 16);
    }
    for (unsigned k = 0; k < sizeof bank; k += 8) {
      uint64_t v = random64() % 3 ? BASE + random64() % SPACE : random64();
      memcpy(bank + k, &v, 8);
    }
    sm_code_invalidate(code);
    struct sm_grid grid = {.code = code,
                           .memory = memory,
                           .program = BASE + random64() % 4 * 16,
                           .grid = {1, 1, 1},
                           .block = {1 + random64() % 48, 1 + random64() % 2, 1},
                           .registers = registers,
                           .barriers = (uint32_t)(random64() % 17),
                           .shared_bytes = (uint32_t)(random64() % 4096),
                           .local_low = (uint32_t)(random64() % 256),
                           .local_high = (uint32_t)(random64() % 256),
                           .shared_window = 0x729400000000,
                           .local_window = 0x729300000000,
                           .sm_count = 1};
    for (unsigned k = 0; k < SM_BANKS; k++) {
      grid.bank[k].data = k % 3 == 2 ? NULL : bank;
      grid.bank[k].size = (uint32_t)(random64() % (sizeof bank + 1));
    }
    struct sm_fault fault = {0};
    struct sm_cta *cta = sm_cta_start(worker, &grid, 0, 0, 0);
    if (!cta)
      return 1;
    enum sm_result result = sm_cta_run(worker, cta, LIMIT, &fault);
    results[result]++;
    if (result == SM_FAULTED) {
      kinds[fault.kind]++;
      if (fault.kind == SM_FAULT_NONE || !fault.message[0])
        return 1;
    }
    sm_cta_finish(worker, cta);
  }
  printf("%ld done, %ld at the limit, %ld faulted:", results[0], results[1], results[2]);
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
    printf(" %ld", kinds[k]);
  printf("\n%llu instructions\n", (unsigned long long)sm_worker_instructions(worker));
  sm_code_destroy(code);
  sm_worker_destroy(worker);
  free(space);
  return 0;
}
