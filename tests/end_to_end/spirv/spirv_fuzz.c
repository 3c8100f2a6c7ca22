/* Runs modified SPIR-V modules through all passes of compiler/spirv, in this process and without
 * the tools. A pass must not access memory outside its buffers, hang, or produce a module whose
 * instructions do not fill it exactly. Passes after the validator also get modules that it would
 * refuse.
 *
 *   spirv_fuzz COUNT SEED MODULE ...
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

enum { MODULES_MAX = 32, CHANGES_MAX = 8, GROWTH = 64 };

static struct module {
  const char *name;
  uint32_t *words;
  size_t count;
} modules[MODULES_MAX];
static size_t module_count;

static uint64_t state;

static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static size_t below(size_t limit) {
  return limit ? random64() % limit : 0;
}

static struct module read_module(const char *path) {
  enum { MOST = 1 << 22 };
  static uint32_t words[MOST / sizeof(uint32_t)];
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  const size_t size = fread(words, 1, sizeof words, file);
  fclose(file);
  struct module module = {.name = path, .count = size / sizeof *words};
  module.words = malloc(size);
  if (!module.words || module.count <= SPIRV_HEADER_WORDS)
    exit(2);
  memcpy(module.words, words, size);
  return module;
}

/* ---- changes ------------------------------------------------------------------------------ */

static size_t random_instruction(const uint32_t *words, size_t count) {
  size_t at = SPIRV_HEADER_WORDS, found = at;
  const size_t stop = SPIRV_HEADER_WORDS + below(count - SPIRV_HEADER_WORDS);
  while (at < count && at <= stop) {
    const size_t length = spirv_instruction_at(words + at).length;
    found = at;
    if (!length || length > count - at)
      break;
    at += length;
  }
  return found;
}

/* Opcodes that the passes handle, and arbitrary ones. */
static uint32_t random_opcode(void) {
  static const uint16_t known[] = {OP_UNDEF,
                                   OP_NAME,
                                   OP_EXTENSION,
                                   OP_EXT_INST_IMPORT,
                                   OP_EXT_INST,
                                   OP_ENTRY_POINT,
                                   OP_EXECUTION_MODE,
                                   OP_CAPABILITY,
                                   OP_TYPE_INT,
                                   OP_TYPE_VECTOR,
                                   OP_TYPE_SAMPLER,
                                   OP_TYPE_ARRAY,
                                   OP_TYPE_STRUCT,
                                   OP_TYPE_POINTER,
                                   OP_TYPE_FUNCTION,
                                   OP_CONSTANT,
                                   OP_CONSTANT_NULL,
                                   OP_SPEC_CONSTANT,
                                   OP_FUNCTION,
                                   OP_FUNCTION_END,
                                   OP_VARIABLE,
                                   OP_LOAD,
                                   OP_STORE,
                                   OP_COPY_MEMORY,
                                   OP_ACCESS_CHAIN,
                                   OP_DECORATE,
                                   OP_VECTOR_SHUFFLE,
                                   OP_COMPOSITE_CONSTRUCT,
                                   OP_COMPOSITE_INSERT,
                                   OP_COPY_OBJECT,
                                   OP_IMAGE_READ,
                                   OP_IMAGE_WRITE,
                                   OP_BITCAST,
                                   OP_PHI,
                                   OP_LABEL,
                                   OP_BRANCH_CONDITIONAL,
                                   OP_SWITCH,
                                   OP_DECORATE_ID,
                                   OP_EXECUTION_MODE_ID,
                                   OP_COPY_LOGICAL,
                                   OP_PTR_EQUAL,
                                   OP_PTR_DIFF,
                                   OP_READ_CLOCK,
                                   OP_EXPECT,
                                   OP_DECORATE_STRING,
                                   OP_ALIAS_DOMAIN_DECL,
                                   OP_CONVERT_F_TO_BF16,
                                   OP_CONTROL_BARRIER_ARRIVE,
                                   OP_CONTROL_BARRIER_WAIT,
                                   OP_COMPOSITE_EXTRACT,
                                   OP_CONSTANT_COMPOSITE,
                                   OP_SPEC_CONSTANT_OP,
                                   OP_SPEC_CONSTANT_COMPOSITE,
                                   OP_TYPE_VOID,
                                   OP_FUNCTION_PARAMETER,
                                   OP_FUNCTION_CALL,
                                   OP_F_CONVERT,
                                   OP_S_NEGATE,
                                   OP_F_DIV,
                                   OP_MATRIX_TIMES_SCALAR,
                                   OP_SELECT,
                                   OP_TYPE_MATRIX,
                                   OP_MATRIX_LOAD,
                                   OP_MATRIX_STORE,
                                   OP_MATRIX_MUL_ADD,
                                   OP_MATRIX_LENGTH};
  return random64() % 4 ? known[below(sizeof known / sizeof *known)]
                        : random64() & SPIRV_OPCODE_MASK;
}

static void change_operand(uint32_t *words, size_t at, size_t length) {
  static const uint32_t odd[] = {0, 1, 2, 3, 16, 17, 4096, 0xffff, 0x10000, 0x7fffffff, 0xffffffff};
  if (length < 2)
    return;
  uint32_t *word = words + at + 1 + below(length - 1);
  switch (random64() % 4) {
  case 0:
    *word = odd[below(sizeof odd / sizeof *odd)];
    break;
  case 1:
    *word ^= 1u << below(32);
    break;
  default: /* mostly another id */
    *word = (uint32_t)below(words[SPIRV_BOUND_WORD]);
  }
}

/* Splits an instruction in two, or joins it with the next one. */
static void change_length(uint32_t *words, size_t count, size_t at, size_t length) {
  const uint32_t opcode = words[at] & SPIRV_OPCODE_MASK;
  const size_t shorter = 1 + below(length);
  if (random64() % 2 && shorter < length) {
    words[at] = (uint32_t)shorter << SPIRV_LENGTH_SHIFT | opcode;
    words[at + shorter] = (uint32_t)(length - shorter) << SPIRV_LENGTH_SHIFT | random_opcode();
  } else if (at + length < count) {
    const size_t next = spirv_instruction_at(words + at + length).length;
    if (next && at + length + next <= count && length + next <= 0xffff)
      words[at] = (uint32_t)(length + next) << SPIRV_LENGTH_SHIFT | opcode;
  }
}

/* Replaces instructions with another one, or removes some. */
static size_t change_order(uint32_t *words, size_t count, size_t at, size_t length) {
  const size_t other = random_instruction(words, count);
  const size_t other_length = spirv_instruction_at(words + other).length;
  if (random64() % 2 && other_length == length) {
    for (size_t i = 0; i < length; i++) {
      const uint32_t word = words[at + i];
      words[at + i] = words[other + i];
      words[other + i] = word;
    }
    return count;
  }
  memmove(words + at, words + at + length, (count - at - length) * sizeof *words);
  return count - length;
}

static size_t mutate(uint32_t *words, size_t count) {
  for (size_t changes = 1 + below(CHANGES_MAX); changes; changes--) {
    const size_t at = random_instruction(words, count);
    const size_t length = spirv_instruction_at(words + at).length;
    if (!length || length > count - at)
      return count;
    switch (random64() % 8) {
    case 0:
      words[at] = (words[at] & ~(uint32_t)SPIRV_OPCODE_MASK) | random_opcode();
      break;
    case 1:
      change_length(words, count, at, length);
      break;
    case 2:
      count = change_order(words, count, at, length);
      break;
    case 3:
      if (random64() % 8 == 0)
        words[SPIRV_BOUND_WORD] = (uint32_t)below(2 * (size_t)words[SPIRV_BOUND_WORD]);
      break;
    default:
      change_operand(words, at, length);
    }
    if (count <= SPIRV_HEADER_WORDS + 1)
      return count;
  }
  return count;
}

/* ---- what translate.c does ------------------------------------------------------------------ */

static void stop(const char *what, unsigned long number) {
  fprintf(stderr, "module %lu: %s\n", number, what);
  exit(1);
}

static void check_whole(const uint32_t *words, size_t count, size_t from, const char *pass,
                        unsigned long number) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
    length = spirv_instruction_at(words + at).length;
    if (!length || length > count - at)
      stop(pass, number);
  }
  if (count > (from + SPIRV_HEADER_WORDS) * GROWTH + REWORD_WORDS_MAX)
    stop("a pass makes far more of it", number);
}

static uint32_t *copy_of(const uint32_t *words, size_t count) {
  uint32_t *copy = malloc(count * sizeof *copy);
  if (!copy)
    exit(2);
  memcpy(copy, words, count * sizeof *copy);
  return copy;
}

static void run_validation_passes(const uint32_t *words, size_t count, unsigned long number) {
  const size_t from = count;
  uint32_t *copy = copy_of(words, count);
  count = spirv_drop_merges(copy, count);
  count = spirv_join_samplers(copy, count);
  if (!spirv_drop_sets(copy, &count, "OpenCL.DebugInfo.") || !spirv_order(copy, count))
    exit(2);
  check_whole(copy, count, from, "the blocks in order are no module", number);
  uint32_t *mended = spirv_mend(copy, &count);
  if (!mended)
    exit(2);
  check_whole(mended, count, from, "what is repaired is no module", number);
  uint32_t *phis = spirv_phis(mended, &count, false);
  if (!phis)
    exit(2);
  check_whole(phis, count, from, "with one phi for a block it is no module", number);
  free(phis);
  free(mended);
  free(copy);
}

static void run_translation_passes(uint32_t *words, size_t count, unsigned long number) {
  const size_t from = count;
  uint32_t *loaded = NULL, *phis = NULL;
  if (!spirv_reword(&words, &count)) {
    free(words); /* the module is too large, or there is no memory */
    return;
  }
  check_whole(words, count, from, "reworded it is no module", number);
  if (!(loaded = spirv_load_builtins(words, &count)))
    exit(2);
  check_whole(loaded, count, from, "with loads of built-in values it is no module", number);
  if (!(phis = spirv_phis(loaded, &count, true)))
    exit(2);
  check_whole(phis, count, from, "with a phi for each edge it is no module", number);
  if (!spirv_drop_sets(phis, &count, "OpenCL.DebugInfo."))
    exit(2);
  check_whole(phis, count, from, "without debug information it is no module", number);
  free(phis);
  free(loaded);
  free(words);
}

static bool try_module(const uint32_t *bytes, size_t count, unsigned long number) {
  const char *why;
  uint32_t *words;
  struct text log = {0};
  if (cc_il_read(bytes, count * sizeof *bytes, &words, &why) != CC_OK)
    return false;
  bool offered = spirv_check(words, count, true, &log);
  for (uint32_t id = 0; id < 20; id++) {
    const uint64_t value = random64();
    const size_t size = cc_il_constant_size(words, count, id);
    if (size > sizeof value)
      stop("it has a constant that is too wide", number);
    if (size)
      cc_il_specialize(words, count, id, &value);
  }
  spirv_sub_groups(words, count, "kernel");
  count = spirv_drop_aliasing(words, count);
  if (!spirv_plain(words, &count))
    exit(2);
  const size_t before = count;
  if (spirv_matrices(&words, &count, &log) != CC_OK) {
    if (!log.size)
      stop("it is refused without a message", number);
    offered = false;
  }
  check_whole(words, count, before, "without matrices it is no module", number);
  text_finish(&log);
  run_validation_passes(words, count, number);
  run_translation_passes(copy_of(words, count), count, number);
  free(words);
  return offered;
}

/* ---- modules for particular passes -------------------------------------------------- */

enum { HOSTILE_WORDS = 1 << 20, HOSTILE_BOUND = 1 << 18 };

struct builder {
  uint32_t words[HOSTILE_WORDS];
  size_t count;
};

static void put(struct builder *b, enum spirv_opcode opcode, const uint32_t *operands,
                size_t count) {
  b->words[b->count++] = (uint32_t)(count + 1) << SPIRV_LENGTH_SHIFT | opcode;
  for (size_t i = 0; i < count; i++)
    b->words[b->count++] = operands[i];
}

#define PUT(b, opcode, ...)                                                                        \
  put(b, opcode, (const uint32_t[]){__VA_ARGS__},                                                  \
      sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void begin(struct builder *b) {
  enum { VERSION_1_4 = 0x10400, ADDRESSES = 4, KERNEL = 6, PHYSICAL64 = 2, OPENCL = 2 };
  const uint32_t header[SPIRV_HEADER_WORDS] = {SPIRV_MAGIC, VERSION_1_4, 0, HOSTILE_BOUND, 0};
  memcpy(b->words, header, sizeof header);
  b->count = SPIRV_HEADER_WORDS;
  PUT(b, OP_CAPABILITY, ADDRESSES);
  PUT(b, OP_CAPABILITY, KERNEL);
  PUT(b, OP_MEMORY_MODEL, PHYSICAL64, OPENCL);
}

/* More variables than an entry point can list. */
static void many_variables(struct builder *b) {
  enum { VARIABLES = 0x10000 - 4, KERNEL = 6, INPUT = 1 };
  PUT(b, OP_ENTRY_POINT, KERNEL, 1, 0x6b /* k */);
  for (uint32_t i = 0; i < VARIABLES; i++)
    PUT(b, OP_VARIABLE, 2, 3 + i, INPUT);
}

/* A phi whose predecessors have two edges each. With an entry for each edge the phi is too long
 * for an instruction. */
static void long_phi(struct builder *b) {
  enum { BLOCKS = 20000, FIRST = 10, ENTRIES = 2 * BLOCKS };
  static uint32_t operands[2 + ENTRIES] = {1, 2};
  for (uint32_t i = 0; i < BLOCKS; i++) {
    operands[2 + 2 * i] = 3;
    operands[3 + 2 * i] = FIRST + i;
    PUT(b, OP_LABEL, FIRST + i);
    PUT(b, OP_BRANCH_CONDITIONAL, 4, 5, 5);
  }
  PUT(b, OP_LABEL, 5);
  put(b, OP_PHI, operands, sizeof operands / sizeof *operands);
}

/* A copy between two structs that contain themselves. */
static void endless_type(struct builder *b) {
  PUT(b, OP_TYPE_STRUCT, 10, 10, 10);
  PUT(b, OP_TYPE_STRUCT, 11, 11, 11);
  PUT(b, OP_UNDEF, 10, 12);
  PUT(b, OP_FUNCTION, 1, 13, 0, 14);
  PUT(b, OP_COPY_LOGICAL, 11, 15, 12);
}

/* A number whose type no application uses. */
static void wide_constant(struct builder *b) {
  enum { BITS = 96 };
  PUT(b, OP_DECORATE, 11, DECORATION_SPEC_ID, 1);
  PUT(b, OP_TYPE_INT, 10, BITS, 0);
  PUT(b, OP_SPEC_CONSTANT, 10, 11, 1, 2, 3);
}

/* Arrays of arrays with more elements than fit in any memory. */
static void large_type(struct builder *b) {
  enum { LEVELS = 4, ELEMENTS = 4096, FIRST = 20 };
  PUT(b, OP_TYPE_INT, 10, 32, 0);
  PUT(b, OP_CONSTANT, 10, 11, ELEMENTS);
  for (uint32_t kind = 0; kind < 2; kind++)
    for (uint32_t i = 0; i < LEVELS; i++)
      PUT(b, OP_TYPE_ARRAY, FIRST + kind * LEVELS + i, i ? FIRST + kind * LEVELS + i - 1 : 10, 11);
  PUT(b, OP_UNDEF, FIRST + LEVELS - 1, 12);
  PUT(b, OP_FUNCTION, 1, 13, 0, 14);
  PUT(b, OP_COPY_LOGICAL, FIRST + 2 * LEVELS - 1, 15, 12);
}

static void try_hostile(void) {
  static void (*const makers[])(struct builder *) = {many_variables, long_phi, endless_type,
                                                     wide_constant, large_type};
  static struct builder builder;
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    begin(&builder);
    makers[i](&builder);
    if (!try_module(builder.words, builder.count, 0))
      stop("a module that was made is refused", i);
  }
}

/* ---- literals that equal ids ---------------------------------------------------------------- */

/* Finds the first instruction with the opcode and the first operand. Returns NULL if there is
 * none. */
static const uint32_t *find(const struct builder *b, enum spirv_opcode opcode, uint32_t operand) {
  for (size_t at = SPIRV_HEADER_WORDS; at < b->count;
       at += spirv_instruction_at(b->words + at).length)
    if (spirv_instruction_at(b->words + at).opcode == opcode && b->words[at + 1] == operand)
      return b->words + at;
  return NULL;
}

/* The second sampler type is renamed, but not the capability and the storage class with the same
 * number. */
static void check_samplers(void) {
  enum { FIRST = 10, NUMBER = 11 /* Int64 */, POINTER = 12 };
  static struct builder b;
  begin(&b);
  PUT(&b, OP_CAPABILITY, NUMBER);
  PUT(&b, OP_NAME, NUMBER, 0x6b /* k */);
  PUT(&b, OP_TYPE_SAMPLER, FIRST);
  PUT(&b, OP_TYPE_SAMPLER, NUMBER);
  PUT(&b, OP_TYPE_POINTER, POINTER, NUMBER, NUMBER);
  b.count = spirv_join_samplers(b.words, b.count);
  const uint32_t *pointer = find(&b, OP_TYPE_POINTER, POINTER);
  if (!find(&b, OP_CAPABILITY, NUMBER) || !find(&b, OP_NAME, FIRST) || !pointer ||
      pointer[2] != NUMBER || pointer[3] != FIRST || find(&b, OP_TYPE_SAMPLER, NUMBER))
    stop("sampler types are not joined", 0);
}

/* A case literal and a branch weight have the number of a label in a later loop. The blocks must
 * keep their order. */
static void check_blocks(bool is_switch) {
  enum { ENTRY = 30, FIRST, HEADER, BODY, END, SELECTOR = 4, OP_RETURN = 253 };
  static struct builder b;
  begin(&b);
  PUT(&b, OP_FUNCTION, 1, 20, 0, 2);
  PUT(&b, OP_LABEL, ENTRY);
  PUT(&b, OP_BRANCH_CONDITIONAL, SELECTOR, FIRST, HEADER);
  PUT(&b, OP_LABEL, FIRST);
  if (is_switch)
    PUT(&b, OP_SWITCH, SELECTOR, END, BODY, END);
  else
    PUT(&b, OP_BRANCH_CONDITIONAL, SELECTOR, END, END, BODY, 1);
  PUT(&b, OP_LABEL, HEADER);
  PUT(&b, OP_BRANCH_CONDITIONAL, SELECTOR, BODY, END);
  PUT(&b, OP_LABEL, BODY);
  PUT(&b, OP_BRANCH_CONDITIONAL, SELECTOR, HEADER, END);
  PUT(&b, OP_LABEL, END);
  PUT(&b, (enum spirv_opcode)OP_RETURN, 0);
  PUT(&b, OP_FUNCTION_END, 0);
  if (!spirv_order(b.words, b.count))
    exit(2);
  if (find(&b, OP_LABEL, BODY) < find(&b, OP_LABEL, HEADER))
    stop("a block comes before its dominator", is_switch);
}

int main(int argc, char **argv) {
  if (argc < 4 || argc - 3 > MODULES_MAX)
    return 2;
  const unsigned long count = strtoul(argv[1], NULL, 10), seed = strtoul(argv[2], NULL, 10);
  unsigned long offered = 0, unread = 0;
  for (int i = 3; i < argc; i++)
    modules[module_count++] = read_module(argv[i]);
  try_hostile();
  check_samplers();
  check_blocks(true);
  check_blocks(false);
  for (size_t i = 0; i < module_count; i++)
    if (!try_module(modules[i].words, modules[i].count, 0))
      stop(modules[i].name, 0);
  for (unsigned long n = 1; n <= count; n++) {
    /* Seeds by number, so that a module can be produced again. */
    state = (seed * 0x9e3779b97f4a7c15u) ^ (n * 0xbf58476d1ce4e5b9u) ^ 1;
    for (int i = 0; i < 4; i++)
      random64();
    const struct module *from = &modules[below(module_count)];
    uint32_t *words = copy_of(from->words, from->count);
    const size_t size = mutate(words, from->count);
    /* In separate memory, so that a sanitizer detects accesses beyond its end. */
    uint32_t *exact = copy_of(words, size);
    const bool is_offered = try_module(exact, size, n);
    offered += is_offered;
    unread += !is_offered;
    free(exact);
    free(words);
  }
  printf("%lu modules: %lu go to the tools, %lu do not\n", count, offered, unread);
  for (size_t i = 0; i < module_count; i++)
    free(modules[i].words);
  return count && (!offered || !unread);
}
