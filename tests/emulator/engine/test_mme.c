/* The macro engine: every operation, control flow, arguments and memories. The test encodes macros
 * from the fields of their instructions; a report semaphore writes the results to memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/engine/mme.h"
#include "tests/emulator/client.h"

static uint32_t *word_at(struct fixture *f, unsigned offset) {
  return fixture_data(f, offset);
}

static void compute(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, method, data);
}

static void set_bits(uint32_t words[3], unsigned low, unsigned count, uint32_t value) {
  for (unsigned i = 0; i < count; i++)
    words[2 - (low + i) / 32] |= (value >> i & 1) << (low + i) % 32;
}

static void encode(const struct mme_instruction *i, uint32_t words[3]) {
  memset(words, 0, 3 * sizeof(words[0]));
  set_bits(words, 0, 1, i->end_next);
  set_bits(words, 1, 4, i->predicate_mode);
  set_bits(words, 5, 5, i->predicate);
  for (unsigned k = 0; k < 2; k++) {
    const unsigned alu = k ? 46 : 10, out = k ? 89 : 82;
    set_bits(words, alu, 5, i->alu[k].operation);
    set_bits(words, alu + 5, 5, i->alu[k].destination);
    set_bits(words, alu + 10, 5, i->alu[k].source[0]);
    set_bits(words, alu + 15, 5, i->alu[k].source[1]);
    set_bits(words, alu + 20, 16, i->alu[k].immediate);
    set_bits(words, out, 3, i->out[k].method);
    set_bits(words, out + 3, 4, i->out[k].emit);
  }
}

#define NOTHING .operation = MME_ADD, .destination = MME_ZERO, .source = {MME_ZERO, MME_ZERO}
/* An ALU operation without effect, and an instruction without effect. */
static const struct mme_instruction nothing = {.predicate = MME_ZERO,
                                               .alu = {{NOTHING}, {NOTHING}}};

/* The method word that directs emitted words to SET_REPORT_SEMAPHORE_A and the following
 * methods. */
enum { TO_REPORT = NVC7C0_SET_REPORT_SEMAPHORE_A / 4 | 1 << 12, ONE_WORD = 1 << 28 };

struct macro {
  struct mme_instruction instruction[64];
  unsigned count;
};

static struct mme_instruction *add(struct macro *m) {
  m->instruction[m->count] = nothing;
  return &m->instruction[m->count++];
}

/* Emits a constant word. */
static void emit_word(struct macro *m, uint32_t word) {
  struct mme_instruction *i = add(m);
  i->alu[0].immediate = (uint16_t)(word >> 16);
  i->alu[1].immediate = (uint16_t)word;
  i->out[0].emit = MME_OUT_IMMEDIATE_32;
}

/* Releases register r at offset. */
static void report(struct fixture *f, struct macro *m, unsigned r, unsigned offset) {
  struct mme_instruction *i = add(m);
  i->alu[0].immediate = TO_REPORT;
  i->out[0].method = MME_OUT_IMMEDIATE0;
  emit_word(m, (uint32_t)(f->data.va >> 32));
  emit_word(m, (uint32_t)f->data.va + offset);
  i = add(m);
  i->alu[0].source[0] = (uint8_t)r;
  i->out[0].emit = MME_OUT_ALU0;
  emit_word(m, ONE_WORD);
}

/* Ends the macro and loads it into the engine as macro 3 at word 30. */
static void load(struct fixture *f, struct macro *m) {
  enum { PLACE = 30, NUMBER = 3 };
  struct mme_instruction *i = add(m);
  i->end_next = true;
  add(m);
  compute(f, NVC7C0_LOAD_MME_START_ADDRESS_RAM_POINTER, NUMBER);
  compute(f, NVC7C0_LOAD_MME_START_ADDRESS_RAM, PLACE);
  push(&f->ch, method_header(METHOD_ONE_INC, SUBCHANNEL_COMPUTE,
                             NVC7C0_LOAD_MME_INSTRUCTION_RAM_POINTER, 1 + 3 * m->count));
  push(&f->ch, PLACE);
  for (unsigned k = 0; k < m->count; k++) {
    uint32_t words[3];
    encode(&m->instruction[k], words);
    const struct mme_instruction back = mme_decode(words);
    assert_memory_equal(&back, &m->instruction[k], sizeof(back));
    for (unsigned j = 0; j < 3; j++)
      push(&f->ch, words[j]);
  }
}

static void call(struct fixture *f, const uint32_t *arguments, unsigned count) {
  push(&f->ch, method_header(METHOD_ONE_INC, SUBCHANNEL_COMPUTE, NVC7C0_CALL_MME_MACRO(3), count));
  for (unsigned k = 0; k < count; k++)
    push(&f->ch, arguments[k]);
}

/* Applies each operation to two arguments; the second ALU can use the first one's carry. */
static void alu_operations_have_expected_results(void **state) {
  static const struct {
    uint8_t first, second;
    uint16_t immediate;
    uint32_t x, y, result, after;
  } rows[] = {
      {MME_ADD, MME_ADDC, 0, 0xfffffffe, 5, 3, 4},
      {MME_SUB, MME_SUBB, 0, 3, 5, 0xfffffffe, 0xfffffffd},
      {MME_MUL, MME_MULH, 0, 0xfffffffe, 3, 0xfffffffa, 0xffffffff},
      {MME_MULU, MME_MULH, 0, 0xfffffffe, 3, 0xfffffffa, 2},
      {MME_CLZ, MME_ADD, 0, 0x1000, 1, 19, 0x1001},
      {MME_SLL, MME_SRL, 0, 0x80000001, 33, 2, 0x40000000},
      {MME_SRA, MME_AND, 0, 0x80000001, 4, 0xf8000000, 0},
      {MME_NAND, MME_OR, 0, 0xff00ff00, 0x0ff00ff0, 0xf0fff0ff, 0xfff0fff0},
      {MME_XOR, MME_SLT, 0, 0xffffffff, 1, 0xfffffffe, 0xffffffff},
      {MME_SLTU, MME_SLE, 0, 0xffffffff, 1, 0, 0xffffffff},
      {MME_SLEU, MME_SEQ, 0, 7, 7, 0xffffffff, 0xffffffff},
      {MME_MERGE, MME_ADD, 4 | 8 << 5 | 16 << 10, 0x11111111, 0xabcde, 0x11cd1111, 0x111bcdef},
  };
  struct fixture *f = *state;
  push_compute_setup(&f->ch);
  for (unsigned k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
    struct macro m = {.count = 0};
    struct mme_instruction *i = add(&m); /* R0 and R1: the arguments */
    i->alu[0].destination = 0;
    i->alu[0].source[0] = MME_LOAD0;
    i->alu[1].destination = 1;
    i->alu[1].source[0] = MME_LOAD1;
    i = add(&m);
    const uint8_t operation[2] = {rows[k].first, rows[k].second};
    for (unsigned a = 0; a < 2; a++) {
      i->alu[a].operation = operation[a];
      i->alu[a].destination = (uint8_t)(2 + a);
      i->alu[a].source[0] = 0;
      i->alu[a].source[1] = 1;
    }
    i->alu[0].immediate = rows[k].immediate;
    report(f, &m, 2, 0);
    report(f, &m, 3, 4);
    load(f, &m);
    call(f, (const uint32_t[]){rows[k].x, rows[k].y}, 2);
    fixture_run(f);
    if (*word_at(f, 0) != rows[k].result || *word_at(f, 4) != rows[k].after)
      print_error("row %u: 0x%x, 0x%x\n", k, *word_at(f, 0), *word_at(f, 4));
    assert_int_equal(*word_at(f, 0), rows[k].result);
    assert_int_equal(*word_at(f, 4), rows[k].after);
  }
}

/* A macro sums its arguments: their number, then each of them. The loop waits for them. */
static void loop_waits_for_arguments(void **state) {
  struct fixture *f = *state;
  struct macro m = {.count = 0};
  struct mme_instruction *i = add(&m);
  i->alu[0].operation = MME_LOOP;
  i->alu[0].source[0] = MME_LOAD0;
  i->alu[0].immediate = 2; /* the instruction after this one */
  i = add(&m);
  i->alu[0].destination = 5;
  i->alu[0].source[0] = 5;
  i->alu[0].source[1] = MME_LOAD0;
  report(f, &m, 5, 0);
  push_compute_setup(&f->ch);
  load(f, &m);
  call(f, (const uint32_t[]){4, 10, 200}, 3);
  push_semaphore(&f->ch, f->data.va + 8, 1, 1);
  submit(&f->c, &f->ch);
  assert_true(wait_word(fixture_data(f, 8), 1));
  assert_int_equal(*word_at(f, 0), 0);
  compute(f, NVC7C0_CALL_MME_DATA(3), 3000);
  compute(f, NVC7C0_CALL_MME_DATA(3), 40000);
  compute(f, NVC7C0_CALL_MME_DATA(3), 9); /* surplus argument, which must be ignored */
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 43210);
}

/* Branches, a jump over an instruction, and predicates. */
static void branches_and_predicates_skip_instructions(void **state) {
  struct fixture *f = *state;
  struct macro m = {.count = 0};
  struct mme_instruction *i = add(&m); /* 0: R0 = argument */
  i->alu[0].destination = 0;
  i->alu[0].source[0] = MME_LOAD0;
  i = add(&m); /* 1: R1 += R0; R0 -= 1 */
  i->alu[0].destination = 1;
  i->alu[0].source[0] = 1;
  i->alu[0].source[1] = 0;
  i->alu[1] = (typeof(i->alu[1])){MME_SUB, 0, {0, MME_IMMEDIATE}, 1};
  i = add(&m); /* 2: back to 1 unless R0 == 0 */
  i->alu[0] = (typeof(i->alu[0])){MME_BEQ, MME_ZERO, {0, MME_ZERO}, 0x1fff};
  i = add(&m); /* 3: jump over 4 */
  i->alu[0] = (typeof(i->alu[0])){MME_JAL, MME_ZERO, {MME_ZERO, MME_ZERO}, 0x8002};
  i = add(&m); /* 4: never */
  i->alu[0] = (typeof(i->alu[0])){MME_ADD, 1, {MME_ZERO, MME_ZERO}, 0};
  i = add(&m); /* 5: FFFF: not executed if R0 == 0, which is the case */
  i->predicate_mode = 2;
  i->predicate = 0;
  i->alu[0] = (typeof(i->alu[0])){MME_ADD, 1, {MME_ZERO, MME_ZERO}, 0};
  report(f, &m, 1, 0);
  i = add(&m); /* leaves the macro; the next instructions are not executed */
  i->alu[0] = (typeof(i->alu[0])){MME_BEQ, MME_ZERO, {MME_ZERO, MME_ZERO}, 0x8000 | 0x1000};
  report(f, &m, 0, 4);
  push_compute_setup(&f->ch);
  load(f, &m);
  *word_at(f, 4) = 77;
  call(f, (const uint32_t[]){100}, 1);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 5050);
  assert_int_equal(*word_at(f, 4), 77);
}

/* The data memory, DMA reads and writes of it, READ_FIFOED, and the shadow memory. */
static void data_and_shadow_memory_keep_values(void **state) {
  struct fixture *f = *state;
  struct macro m = {.count = 0};
  for (uint32_t k = 0; k < 8; k++)
    *word_at(f, 256 + 4 * k) = 1000 + k;
  struct mme_instruction *i = add(&m); /* data[21] += data[20] */
  i->alu[0] = (typeof(i->alu[0])){MME_DREAD, 0, {MME_IMMEDIATE, MME_ZERO}, 20};
  i->alu[1] = (typeof(i->alu[1])){MME_DREAD, 1, {MME_IMMEDIATE, MME_ZERO}, 21};
  i = add(&m);
  i->alu[0] = (typeof(i->alu[0])){MME_ADD, 2, {0, 1}, 0};
  i = add(&m);
  i->alu[0] = (typeof(i->alu[0])){MME_DWRITE, MME_ZERO, {MME_IMMEDIATE, 2}, 21};
  i = add(&m); /* two words of memory become arguments */
  i->alu[0].immediate = NVC7C0_MME_DMA_READ_FIFOED / 4;
  i->alu[1].immediate = 2;
  i->out[0].method = MME_OUT_IMMEDIATE0;
  i->out[0].emit = MME_OUT_IMMEDIATE1;
  i = add(&m);
  i->alu[0] =
      (typeof(i->alu[0])){MME_EXTENDED, MME_ZERO, {MME_IMMEDIATE, MME_IMMEDIATE_PAIR}, 0x1000};
  i->alu[1].immediate = 1;
  i = add(&m);
  i->alu[0] = (typeof(i->alu[0])){MME_SUB, 3, {MME_LOAD1, MME_LOAD0}, 0};
  i = add(&m);
  i->alu[0] = (typeof(i->alu[0])){MME_STATE, 4, {MME_IMMEDIATE, MME_ZERO}, 0x3400 / 4 + 7};
  report(f, &m, 3, 0);
  report(f, &m, 4, 4);
  push_compute_setup(&f->ch);
  load(f, &m);
  compute(f, NVC7C0_SET_MME_SHADOW_SCRATCH(7), 0x5c4a7c);
  compute(f, NVC7C0_SET_MME_MEM_ADDRESS_A, (uint32_t)(f->data.va >> 32));
  compute(f, NVC7C0_SET_MME_MEM_ADDRESS_B, (uint32_t)f->data.va + 256);
  compute(f, NVC7C0_SET_MME_DATA_RAM_ADDRESS, 20);
  compute(f, NVC7C0_MME_DMA_READ, 4);
  call(f, (const uint32_t[]){0}, 1);
  compute(f, NVC7C0_SET_MME_MEM_ADDRESS_B, (uint32_t)f->data.va + 512);
  compute(f, NVC7C0_MME_DMA_WRITE, 4);
  compute(f, NVC7C0_MME_DMA_SYSMEMBAR, 0);
  /* Replay uses the earlier data. */
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_C, 5);
  compute(f, NVC7C0_SET_MME_SHADOW_RAM_CONTROL, MME_SHADOW_REPLAY);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_C, 6);
  compute(f, NVC7C0_SET_MME_SHADOW_RAM_CONTROL, MME_SHADOW_PASS_THROUGH);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_B, (uint32_t)f->data.va + 8);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_D, ONE_WORD);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 1);
  assert_int_equal(*word_at(f, 4), 0x5c4a7c);
  assert_int_equal(*word_at(f, 8), 5);
  const uint32_t expected[4] = {1000, 2001, 1002, 1003};
  assert_memory_equal(word_at(f, 512), expected, sizeof(expected));
}

/* A macro without an end, a macro that calls another, and a call of a macro that waits. */
static void bad_macros_fault(void **state) {
  for (unsigned which = 0; which < 3; which++) {
    fixture_setup(state);
    struct fixture *f = *state;
    struct macro m = {.count = 0};
    struct mme_instruction *i = add(&m);
    if (which == 0)
      i->alu[0] = (typeof(i->alu[0])){MME_JAL, MME_ZERO, {MME_ZERO, MME_ZERO}, 0xffff};
    if (which == 1) {
      i->alu[0].immediate = NVC7C0_CALL_MME_MACRO(3) / 4;
      i->out[0].method = i->out[0].emit = MME_OUT_IMMEDIATE0;
    }
    if (which == 2)
      i->alu[0].source[0] = MME_LOAD0, i->alu[0].source[1] = MME_LOAD1;
    push_compute_setup(&f->ch);
    load(f, &m);
    call(f, (const uint32_t[]){0}, 1);
    call(f, (const uint32_t[]){0}, 1);
    submit(&f->c, &f->ch);
    assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
    assert_memory_equal(last_fault(&f->c).message, "MME: macro at word 0x1e", 23);
    fixture_teardown(state);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(alu_operations_have_expected_results),
      TEST(loop_waits_for_arguments),
      TEST(branches_and_predicates_skip_instructions),
      TEST(data_and_shadow_memory_keep_values),
      cmocka_unit_test(bad_macros_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
