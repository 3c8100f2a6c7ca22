/* Checks properties of decoder, disassembler and encoder on random input: every row can be reached,
 * encoding a decoded instruction returns the same word, bits that belong to no field are rejected,
 * and no word crashes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sm/isa_encode.h"

#define WORDS_PER_ROW 300
#define RANDOM_WORDS  2000000
#define TEXT_SIZE     256

static uint64_t random_state = 0x9e3779b97f4a7c15;

/* xorshift64* (Vigna) */
static uint64_t random64(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545f4914f6cdd1d;
}

static void set_listed(uint64_t word[2], struct sm_isa_bits bits, unsigned values) {
  const struct sm_isa_values *v = &sm_isa_values[values];
  unsigned value;
  do
    value = (unsigned)(random64() % v->count);
  while (!v->text[value]);
  isa_set_field(word, bits, value);
}

static bool selected(const struct sm_isa_row *row, const uint64_t word[2]) {
  for (unsigned i = 0; i < row->selector_count; i++) {
    const struct sm_isa_selector *s = &sm_isa_selectors[row->first_selector + i];
    if (!(s->set >> sm_isa_field(word, s->bits) & 1))
      return false;
  }
  return true;
}

/* Makes a random legal word of a row, with all fields chosen from their legal values. */
static void random_word(const struct sm_isa_row *row, uint64_t word[2]) {
  const struct sm_isa_bits opcode_low = {{{0, 12}}}, opcode_high = {{{91, 1}}};
  do {
    word[0] = random64() & row->known[0];
    word[1] = random64() & row->known[1];
    isa_set_field(word, opcode_low, row->opcode & 0xfff);
    isa_set_field(word, opcode_high, row->opcode >> 12);
    for (unsigned i = 0; i < row->selector_count; i++) {
      const struct sm_isa_selector *s = &sm_isa_selectors[row->first_selector + i];
      unsigned value;
      do
        value = (unsigned)random64() & 31;
      while (!(s->set >> value & 1));
      isa_set_field(word, s->bits, value);
    }
    for (unsigned i = 0; i < row->mod_count; i++) {
      const struct sm_isa_mod *m = &sm_isa_mods[row->first_mod + i];
      set_listed(word, m->bits, m->values);
    }
    for (unsigned i = 0; i < row->operand_count; i++) {
      const struct sm_isa_operand *d =
          &sm_isa_operands[sm_isa_operand_refs[row->first_operand + i]];
      if (d->select_values)
        set_listed(word, d->select, d->select_values - 1u);
      if (d->values && d->kind != SM_ISA_SPECIAL)
        set_listed(word, d->bits, d->values - 1u);
      /* A descriptor needs a 64-bit register address. */
      if (sm_isa_bit(word, d->desc_bit))
        isa_set_field(word, (struct sm_isa_bits){{{d->wide_bit, 1}}}, 1);
    }
  } while (!selected(row, word));
}

/* Compares two instructions but not their words, which may differ in bits that belong to no
 * field. */
static bool same(const struct sm_insn *a, const struct sm_insn *b) {
  struct sm_insn copy;
  memcpy(&copy, b, sizeof(copy));
  memcpy(copy.word, a->word, sizeof(copy.word));
  /* The decoder clears its whole result first, including padding. */
  return !memcmp(a, &copy, sizeof(copy)); /* NOLINT(bugprone-suspicious-memory-comparison) */
}

static void every_row_is_encoded_and_decoded(void **state) {
  for (unsigned r = 0; r < SM_ISA_ROWS; r++) {
    for (unsigned i = 0; i < WORDS_PER_ROW; i++) {
      uint64_t word[2], again[2], text_only[2];
      struct sm_insn insn, decoded;
      char text[TEXT_SIZE], text_again[TEXT_SIZE];
      random_word(&sm_isa_rows[r], word);
      assert_true(sm_decode(word, &insn));
      assert_int_equal(insn.row, r);
      isa_encode(&insn, again);
      assert_true(sm_decode(again, &decoded));
      assert_true(same(&insn, &decoded));
      isa_encode(&decoded, text_only);
      assert_memory_equal(again, text_only, sizeof(again));
      assert_true(sm_disassemble(&insn, i * 16, text, sizeof(text)) < sizeof(text));
      assert_true(sm_disassemble(&decoded, i * 16, text_again, sizeof(text_again)) > 2);
      assert_string_equal(text, text_again);
    }
  }
}

static void bits_of_no_field_are_rejected(void **state) {
  unsigned tried = 0;
  for (unsigned r = 0; r < SM_ISA_ROWS; r++) {
    const struct sm_isa_row *row = &sm_isa_rows[r];
    for (unsigned bit = 0; bit < 128; bit++) {
      uint64_t word[2];
      struct sm_insn insn;
      if (row->known[bit >> 6] >> (bit & 63) & 1)
        continue;
      random_word(row, word);
      word[bit >> 6] |= 1ull << (bit & 63);
      assert_false(sm_decode(word, &insn));
      assert_true(insn.stray[bit >> 6] == 1ull << (bit & 63));
      tried++;
    }
  }
  assert_true(tried > SM_ISA_ROWS);
}

/* A text buffer that is too small is filled and terminated, but not overrun. */
static void short_buffers_are_not_overrun(void **state) {
  uint64_t word[2];
  struct sm_insn insn;
  random_word(&sm_isa_rows[SM_ISA_ROWS / 2], word);
  assert_true(sm_decode(word, &insn));
  char whole[TEXT_SIZE];
  size_t length = sm_disassemble(&insn, 0, whole, sizeof(whole));
  assert_int_equal(sm_disassemble(&insn, 0, NULL, 0), length);
  for (size_t size = 1; size <= length + 1; size++) {
    char text[TEXT_SIZE];
    memset(text, '#', sizeof(text));
    assert_int_equal(sm_disassemble(&insn, 0, text, size), length);
    assert_int_equal(strlen(text), size - 1);
    assert_memory_equal(text, whole, size - 1);
    assert_int_equal(text[size], '#');
  }
}

static void random_words_are_safe(void **state) {
  unsigned legal = 0;
  for (unsigned i = 0; i < RANDOM_WORDS; i++) {
    uint64_t word[2] = {random64(), random64()};
    struct sm_insn insn;
    char text[TEXT_SIZE];
    if (i & 1) {
      /* Nearly legal: a legal word with up to three bits flipped. */
      random_word(&sm_isa_rows[random64() % SM_ISA_ROWS], word);
      for (unsigned flips = (unsigned)random64() & 3; flips; flips--) {
        unsigned bit = (unsigned)random64() & 127;
        word[bit >> 6] ^= 1ull << (bit & 63);
      }
    }
    if (sm_decode(word, &insn)) {
      assert_true(insn.op < SM_OP_COUNT && insn.operand_count <= SM_MAX_OPERANDS);
      assert_true(sm_disassemble(&insn, random64() & ~15ull, text, sizeof(text)) < sizeof(text));
      legal++;
    } else {
      assert_memory_equal(insn.word, word, sizeof(word));
    }
  }
  assert_true(legal > RANDOM_WORDS / 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_encoded_and_decoded),
      cmocka_unit_test(bits_of_no_field_are_rejected),
      cmocka_unit_test(short_buffers_are_not_overrun),
      cmocka_unit_test(random_words_are_safe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
