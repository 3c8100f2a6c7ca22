/* Fuzzes the interpreter: random code must end with a result, never with a crash or a hang. Words
 * have real opcodes and random fields, or are compiled instructions with flipped bits. They are in
 * sections of code that jump and store anywhere. Then other sections run several times: one warp
 * after the other with general handlers, and in batches with specialised handlers on each build of
 * the core, without and with check mode. All must end in the same state.
 *
 *   interp_fuzz CORPUS [sections [seed [compared sections]]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/lower/note.h"
#include "emulator/sm/sm.h"
#include "emulator/sm/state.h"
#include "gpu/hw/texture.h"
#include "gpu/isa/insn.h"
#include "gpu/isa/isa_table.h"

/* Code and data are separate, so that only the section is decoded. */
enum {
  SECTION_MAX = 128,
  DATA = 1 << 14,
  DEFAULT_SECTIONS = 20000,
  DEFAULT_COMPARED = 3000,
  LIMIT = 2000, /* instructions; LONG_LIMIT in some sections reaches the end of a turn */
  LONG_LIMIT = 20000,
};
enum { BANK = 256 };
static const uint64_t CODE_AT = 0x10000000, DATA_AT = 0x10100000;

struct space {
  uint8_t *code, *data;
  uint64_t code_bytes;
};

static uint64_t state = 88172645463325252ull;
static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static bool find(void *context, uint64_t address, struct sm_range *range) {
  const struct space *space = context;
  if (address - CODE_AT < space->code_bytes)
    *range = (struct sm_range){CODE_AT, space->code_bytes, space->code, true};
  else if (address - DATA_AT < DATA)
    *range = (struct sm_range){DATA_AT, DATA, space->data, true};
  else
    return false;
  return true;
}

/* Compiled instructions: the words recorded for the corpus test. */
static uint64_t (*real)[2];
static size_t real_count;

static bool read_corpus(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f)
    return false;
  char line[512];
  size_t room = 0;
  while (fgets(line, sizeof line, f)) {
    uint64_t high, low;
    if (sscanf(line, "%16" SCNx64 "%16" SCNx64, &high, &low) != 2)
      continue;
    if (real_count == room) {
      room = room ? 2 * room : 1024;
      void *larger = realloc(real, room * sizeof *real);
      if (!larger)
        break;
      real = larger;
    }
    real[real_count][0] = low;
    real[real_count++][1] = high;
  }
  fclose(f);
  return real_count > 0;
}

/* Makes a compiled instruction with up to three flipped bits. */
static void mutated_word(uint64_t word[2]) {
  memcpy(word, real[random64() % real_count], sizeof real[0]);
  for (unsigned flips = (unsigned)(random64() % 4); flips; flips--) {
    unsigned bit = (unsigned)(random64() % 128);
    word[bit / 64] ^= 1ull << bit % 64;
  }
}

/* Makes a word with a known opcode, which mostly has no bits that belong to no field. */
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

/* Returns whether the interpreter executes the word. Sections that fault at once would test
 * little. */
static bool is_executed(const uint64_t word[2], uint32_t registers) {
  struct sm_insn insn;
  struct sm_uop u;
  if (!sm_decode(word, &insn))
    return false;
  const struct sm_core *core = sm_core();
  sm_lower(&u, &insn, CODE_AT, registers, core, NULL);
  return u.handler != core->handler[SM_H_not_implemented] &&
         u.handler != core->handler[SM_H_register_range] && u.handler != core->handler[SM_H_trap];
}

/* Writes a prologue that loads addresses of data into registers from R2 on, with MOV R,
 * c[0x0][offset] from the first words of the constant bank. Returns the number of instructions. */
enum { PROLOGUE = 8 };
static unsigned prologue(uint64_t (*word)[2], unsigned count) {
  enum { FIRST = 2 };
  for (unsigned k = 0; k < count; k++) {
    word[k][0] = 0x7a02 | (uint64_t)(FIRST + k) << 16 | (uint64_t)(k % PROLOGUE) << 40;
    word[k][1] = 0x000fe20000000f00;
  }
  return count;
}

static void random_bank(uint8_t *bank) {
  for (unsigned k = 0; k < BANK; k += 8) {
    uint64_t v = random64() % 3 ? DATA_AT + random64() % (DATA / 16) * 16 : random64();
    memcpy(bank + k, &v, 8);
  }
}

/* --- textures ---------------------------------------------------------------- */

/* Headers are at the start of the data, samplers after them. Handles are mostly 0, the high words
 * of the addresses that the prologue loads. */
enum { HEADERS = 8, SAMPLERS_AT = HEADERS * TEXTURE_BYTES, SAMPLERS = 8 };

/* Makes a header that is mostly valid. */
static void random_header(uint32_t *h) {
  static const uint8_t formats[] = {TIC_COMPONENTS_R8,
                                    TIC_COMPONENTS_A8B8G8R8,
                                    TIC_COMPONENTS_R16_G16,
                                    TIC_COMPONENTS_R32,
                                    TIC_COMPONENTS_R32_G32_B32,
                                    TIC_COMPONENTS_R32_G32_B32_A32,
                                    TIC_COMPONENTS_R16_G16_B16_A16,
                                    TIC_COMPONENTS_B5G6R5};
  static const uint8_t versions[] = {0, 2, 2, 3}, types[] = {0, 1, 2, 4, 5};
  const unsigned version = versions[random64() % sizeof versions];
  const uint64_t address = DATA_AT + random64() % (DATA / 512) * 512;
  memset(h, 0, TEXTURE_BYTES);
  hw_set(h, TIC_COMPONENTS, formats[random64() % sizeof formats]);
  for (unsigned k = 0; k < 4; k++) {
    const unsigned type = random64() % 2 ? TIC_R_DATA_TYPE_NUM_UINT : 1 + random64() % 7;
    h[0] |= type << (7 + 3 * k); /* R_DATA_TYPE to A_DATA_TYPE */
  }
  hw_set(h, TIC_X_SOURCE, TIC_X_SOURCE_IN_R);
  hw_set(h, TIC_W_SOURCE, random64() % 8);
  hw_set(h, TIC_HEADER_VERSION, version);
  hw_set(h, TIC_TEXTURE_TYPE,
         version == 0   ? TIC_TEXTURE_TYPE_ONE_D_BUFFER
         : version == 2 ? TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP
                        : types[random64() % sizeof types]);
  hw_set(h, TIC_ADDRESS_BITS31TO0, (uint32_t)address);
  if (version) {
    hw_set(h, TIC_PITCH_BITS20TO5, 1 + random64() % 8);
    hw_set(h, TIC_WIDTH_MINUS_ONE, random64() % 16);
    hw_set(h, TIC_HEIGHT_MINUS_ONE, random64() % 2 * (random64() % 16));
    hw_set(h, TIC_DEPTH_MINUS_ONE, random64() % 4);
    hw_set(h, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
    hw_set(h, TIC_NORMALIZED_COORDS, random64() % 2);
  } else {
    hw_set(h, TIC_WIDTH_MINUS_ONE_BITS15TO0, random64() % 64);
  }
  if (random64() % 8 == 0)
    h[random64() % TEXTURE_WORDS] ^= 1u << random64() % 32;
}

static void random_textures(struct sm_grid *grid, uint8_t *data) {
  for (unsigned k = 0; k < HEADERS; k++)
    random_header((uint32_t *)(void *)(data + k * TEXTURE_BYTES));
  for (unsigned k = 0; k < SAMPLERS; k++) {
    uint32_t *s = (uint32_t *)(void *)(data + SAMPLERS_AT + k * TEXTURE_BYTES);
    memset(s, 0, TEXTURE_BYTES);
    s[0] = (uint32_t)random64() & 0x1ff; /* address modes */
    hw_set(s, TSC_MAG_FILTER, 1 + random64() % 2);
    hw_set(s, TSC_MIN_FILTER, 1 + random64() % 2);
    hw_set(s, TSC_FLOAT_COORD_NORMALIZATION, random64() % 2);
  }
  grid->headers = (struct sm_pool){DATA_AT, HEADERS - 1};
  grid->samplers = (struct sm_pool){DATA_AT + SAMPLERS_AT, SAMPLERS - 1};
  grid->sampler_of_header = random64() % 8 == 0;
}

/* Check mode with all reports enabled and counted, and profile mode. */
static long reports;
static bool wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  return true;
}
static void report(const struct sm_grid *grid, const struct sm_fault *fault) {
  reports++;
}
static long requests; /* to the texture units */
static void count(const struct sm_grid *grid, const struct sm_counts *counts) {
  requests += (long)counts->texture_requests;
}
static const struct sm_watch watch = {.check = true,
                                      .watchdog = 1000,
                                      .wanted = wanted,
                                      .report = report,
                                      .profile = true,
                                      .count = count};

/* --- batches ----------------------------------------------------------------------- */

static bool is_clock(int64_t special) {
  enum { CLOCK = 1, CLOCKLO = 80, GLOBALTIMERHI = 83 };
  return special == CLOCK || (special >= CLOCKLO && special <= GLOBALTIMERHI);
}

/* Returns whether the order of warps may change what an instruction does: it may write memory that
 * other warps read, read a clock, or wait for other warps. */
static bool depends_on_order(const uint64_t word[2]) {
  struct sm_insn insn;
  struct sm_uop u;
  struct sm_note note = {0};
  sm_decode(word, &insn);
  sm_lower(&u, &insn, CODE_AT, SM_RZ, sm_core(), &note);
  for (unsigned k = 0; k < insn.operand_count; k++)
    if (insn.operand[k].kind == SM_OPERAND_SPECIAL && is_clock(insn.operand[k].value))
      return true;
  return note.handler == SM_H_bar || (note.space != SM_SPACE_NONE && note.space != SM_SPACE_LOCAL &&
                                      note.access != SM_ACCESS_LOAD);
}

/* Makes instructions for a comparison. Most do not access memory and do not jump, because a section
 * that faults is compared only if it has one warp, and only where it faults. */
static void comparable_word(uint64_t word[2], uint32_t registers) {
  static const uint64_t unknown_register[2] = {0x679c3, 0x000fe2000000c800}; /* S2UR UR6, SR200 */
  for (;;) {
    random64() % 2 ? mutated_word(word) : random_word(word);
    struct sm_insn insn;
    if (random64() % 1024 == 0) {
      memcpy(word, unknown_register, sizeof unknown_register);
      return;
    }
    if (!is_executed(word, registers) && random64() % 1024 == 0)
      return;
    if (!is_executed(word, registers) || depends_on_order(word))
      continue;
    struct sm_uop u;
    struct sm_note note = {0};
    sm_decode(word, &insn);
    sm_lower(&u, &insn, CODE_AT, registers, sm_core(), &note);
    const bool risky = note.space != SM_SPACE_NONE || note.klass == SM_CLASS_CONTROL;
    if (!risky || random64() % 16 == 0)
      return;
  }
}

/* A copy of a warp's registers and predicates, 0 for lanes that the warp does not have. */
struct registers {
  uint32_t r[SM_SLOT_R + SM_RZ][SM_LANES], pred[SM_PRED_FILE];
};

static void copy_registers(struct registers *to, const struct sm_warp *w, uint32_t registers) {
  memset(to, 0, sizeof *to);
  memcpy(to->r[SM_SLOT_UR], sm_file(w) + SM_SLOT_UR * SM_REG_BYTES, SM_UR_COUNT * SM_REG_BYTES);
  memcpy(to->r[SM_SLOT_R], sm_file(w) + SM_SLOT_R * SM_REG_BYTES, (size_t)registers * SM_REG_BYTES);
  memcpy(to->pred, w->pred, sizeof to->pred);
  to->pred[SM_PRED_DISCARD] = 0;
  for (unsigned k = 0; k < SM_PRED_UNIFORM; k++)
    to->pred[k] &= w->lanes;
  for (unsigned k = SM_SLOT_R; k < SM_SLOT_R + registers; k++)
    for (unsigned lane = 0; lane < SM_LANES; lane++)
      to->r[k][lane] = w->lanes >> lane & 1 ? to->r[k][lane] : 0;
}

/* Runs a section, and copies the registers of each warp. */
static enum sm_result run_section(struct sm_worker *worker, struct sm_grid *grid,
                                  struct registers *warps, struct sm_fault *fault) {
  enum { BUDGET = 100000 };
  memset(fault, 0, sizeof *fault);
  sm_code_invalidate(grid->code);
  struct sm_cta *cta = sm_cta_start(worker, grid, 0, 0, 0);
  if (!cta)
    exit(1);
  const enum sm_result result = sm_cta_run(worker, cta, BUDGET, fault);
  for (uint32_t k = 0; k < cta->warps; k++)
    copy_registers(&warps[k], sm_warp_at(cta, k), grid->registers);
  sm_cta_finish(worker, cta);
  return result;
}

/* Prints the first difference of two runs, and the section. */
static void print_difference(const struct space *space, long n, bool checked, unsigned level,
                             const struct registers *batched, const struct registers *single,
                             unsigned warps) {
  const size_t words = sizeof *batched / sizeof(uint32_t);
  unsigned w = 0;
  size_t at = 0;
  while (w < warps && !memcmp(&batched[w], &single[w], sizeof *batched))
    w++;
  while (w < warps && at < words &&
         ((const uint32_t *)&batched[w])[at] == ((const uint32_t *)&single[w])[at])
    at++;
  fprintf(stderr, "section %ld differs with batches%s, build %u of the core", n,
          checked ? " in check mode" : "", level);
  if (w < warps)
    fprintf(stderr, ": warp %u, slot %zu (R0 is %d, then the predicates), lane %zu", w,
            at / SM_LANES, SM_SLOT_R, at % SM_LANES);
  fprintf(stderr, "\n");
  for (uint64_t k = 0; k < space->code_bytes; k += SM_INSN_BYTES) {
    struct sm_insn insn;
    char text[256] = "?";
    uint64_t word[2];
    memcpy(word, space->code + k, sizeof word);
    if (sm_decode(word, &insn))
      sm_disassemble(&insn, k, text, sizeof text);
    fprintf(stderr, "  %s\n", text);
  }
}

/* Returns whether two runs of a section ended in the same way. Which of several warps faults first
 * depends on their order. */
static bool ended_alike(const struct sm_fault *a, const struct sm_fault *b, uint32_t threads) {
  return threads > SM_LANES || (a->kind == b->kind && a->pc == b->pc && a->tid[0] == b->tid[0]);
}

/* Compares batches, on each build of the core, and batches in check mode, with single warps on the
 * build that runs everywhere. Returns false at the first difference. */
static bool compare_batches(struct space *space, uint8_t *bank, struct sm_worker *worker,
                            long sections) {
  enum { WARPS = 9, WORDS = 48, DEFINED = 32 };
  static const uint64_t exit_word[2] = {0x000000000000794d, 0x000fea0003800000};
  static const struct sm_watch profile = {.profile = true, .count = count}; /* without batches */
  static const struct sm_watch check = {.check = true, .wanted = wanted, .report = report};
  static struct registers expected[WARPS], found[WARPS];
  const struct sm_memory memory = {find, space};
  struct sm_code *const single = sm_code_create(&memory), *const batched = sm_code_create(&memory),
                        *const checked = sm_code_create(&memory);
  struct sm_fault fault, other;
  if (!single || !batched || !checked)
    return false;
  sm_code_annotate(single);
  sm_code_annotate(checked);
  long done = 0;
  bool equal = true;
  for (long n = 0; n < sections && equal; n++) {
    const uint32_t registers = 32 + (uint32_t)(random64() % 33);
    const unsigned warps = random64() % 2 ? WARPS : 1;
    const uint32_t threads = 1 + (uint32_t)(random64() % (warps * SM_LANES));
    space->code_bytes = WORDS * sizeof exit_word;
    const unsigned loaded = random64() % 4 ? DEFINED - PROLOGUE : PROLOGUE;
    for (unsigned k = prologue((uint64_t(*)[2])space->code, loaded); k < WORDS - 1; k++) {
      uint64_t word[2];
      comparable_word(word, registers);
      memcpy(space->code + k * sizeof word, word, sizeof word);
    }
    memcpy(space->code + (WORDS - 1) * sizeof exit_word, exit_word, sizeof exit_word);
    random_bank(bank);
    struct sm_grid grid = {.code = single,
                           .memory = memory,
                           .program = CODE_AT,
                           .grid = {1, 1, 1},
                           .block = {threads, 1, 1},
                           .registers = registers,
                           .shared_bytes = 4096,
                           .local_low = 256,
                           .shared_window = 0x729400000000,
                           .local_window = 0x729300000000,
                           .sm_count = 1,
                           .watch = &profile};
    for (unsigned b = 0; b < SM_BANKS; b++) {
      grid.bank[b].data = bank;
      grid.bank[b].size = BANK;
    }
    memset(expected, 0, sizeof expected);
    sm_core_override = sm_core_build(0);
    sm_general_handlers = true;
    const enum sm_result result = run_section(worker, &grid, expected, &fault);
    sm_general_handlers = false;
    done += result == SM_DONE;
    for (unsigned k = 0; k < 2 * SM_CORE_BUILDS && equal && result != SM_PREEMPTED; k++) {
      const unsigned level = k % SM_CORE_BUILDS;
      if (!(sm_core_override = sm_core_build(level)))
        continue;
      grid.code = k < SM_CORE_BUILDS ? batched : checked;
      grid.watch = k < SM_CORE_BUILDS ? NULL : &check;
      memset(found, 0, sizeof found);
      equal = run_section(worker, &grid, found, &other) == result &&
              ended_alike(&fault, &other, threads) &&
              (result != SM_DONE || !memcmp(expected, found, sizeof expected));
      if (!equal)
        print_difference(space, n, k >= SM_CORE_BUILDS, level, found, expected, WARPS);
    }
  }
  sm_core_override = NULL;
  printf("%ld sections compared, of which %ld ended\n", sections, done);
  sm_code_destroy(single);
  sm_code_destroy(batched);
  sm_code_destroy(checked);
  return equal && done >= sections / 2;
}

int main(int argc, char **argv) {
  if (argc < 2 || !read_corpus(argv[1])) {
    fprintf(stderr, "usage: interp_fuzz CORPUS [sections [seed [compared sections]]]\n");
    return 2;
  }
  const long sections = argc > 2 ? atol(argv[2]) : DEFAULT_SECTIONS;
  if (argc > 3)
    state ^= strtoull(argv[3], NULL, 0) * 0x9e3779b97f4a7c15ull;
  /* Heap blocks of exactly these sizes, so that a sanitizer detects accesses outside them. */
  struct space space = {aligned_alloc(16, SECTION_MAX * 16), calloc(1, DATA), 0};
  uint8_t *bank = malloc(BANK);
  const struct sm_memory memory = {find, &space};
  struct sm_worker *worker = sm_worker_create(0);
  struct sm_code *const plain = sm_code_create(&memory), *const watched = sm_code_create(&memory);
  if (!space.code || !space.data || !bank || !worker || !plain || !watched)
    return 1;
  sm_code_annotate(watched);
  long results[3] = {0}, kinds[SM_FAULT_WATCHDOG + 1] = {0};
  for (long n = 0; n < sections; n++) {
    const uint32_t registers = random64() % 8 ? 1 + (uint32_t)(random64() % 64) : 255;
    const bool compiled = random64() % 2;
    struct sm_code *const code = random64() % 4 ? plain : watched;
    const unsigned words = random64() % 32 ? 16 + (unsigned)(random64() % 24) : SECTION_MAX;
    space.code_bytes = words * 16;
    for (unsigned k = random64() % 4 ? prologue((uint64_t(*)[2])space.code, PROLOGUE) : 0;
         k < words; k++) {
      uint64_t word[2];
      do
        compiled ? mutated_word(word) : random_word(word);
      while (random64() % 4096 && !is_executed(word, registers));
      memcpy(space.code + k * 16, word, 16);
    }
    random_bank(bank);
    sm_code_invalidate(code);
    struct sm_grid grid = {.code = code,
                           .memory = memory,
                           .program = CODE_AT,
                           .grid = {1, 1, 1},
                           .block = {1 + random64() % (random64() % 8 ? 32 : 96), 1, 1},
                           .registers = registers,
                           .barriers = (uint32_t)(random64() % 17),
                           .shared_bytes = (uint32_t)(random64() % 4096),
                           .local_low = (uint32_t)(random64() % 256),
                           .local_high = (uint32_t)(random64() % 256),
                           .shared_window = 0x729400000000,
                           .local_window = 0x729300000000,
                           .sm_count = 1,
                           .watch = code == watched ? &watch : NULL};
    for (unsigned k = 0; k < SM_BANKS; k++) {
      grid.bank[k].data = k % 3 == 2 ? NULL : bank;
      grid.bank[k].size = (uint32_t)(random64() % (BANK + 1));
    }
    random_textures(&grid, space.data);
    struct sm_fault fault = {0};
    struct sm_cta *cta = sm_cta_start(worker, &grid, 0, 0, 0);
    if (!cta)
      return 1;
    enum sm_result result = sm_cta_run(worker, cta, random64() % 64 ? LIMIT : LONG_LIMIT, &fault);
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
  printf("\n%" PRIu64 " instructions, %ld reports, %ld requests of textures\n",
         sm_worker_instructions(worker), reports, requests);
  const bool equal =
      compare_batches(&space, bank, worker, argc > 4 ? atol(argv[4]) : DEFAULT_COMPARED);
  sm_code_destroy(plain);
  sm_code_destroy(watched);
  sm_worker_destroy(worker);
  free(bank);
  free(space.code);
  free(space.data);
  free(real);
  return !equal || (sections >= DEFAULT_SECTIONS && !requests);
}
