/* Adversarial mode: for each cache that keeps its contents until it is invalidated, a client that
 * does not invalidate it, which fails under some seeds, and the same client when it does.
 * docs/hardware/command-stream.md 4.4, 8.3; docs/hardware/bring-up.md, trap 38. On the emulator's
 * SMs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/emulator/modes/hazard.h"

enum {
  BANK = 0x8000, /* of slot 0 */
  BANK_BYTES = 0x200,
  PARAMETERS = 0x160,
  ADDEND = 0x100,
  /* In the page of results. */
  RESULT = 0,
  SOURCE = 1024,
  FROM = 2048, /* what the copy engine copies */

  COPY_NON_PIPELINED_PITCH = 0x182, /* docs/hardware/command-stream.md 7.1 */
};

/* `*out = *in + ADDEND` for sm_87, as nvcc 13.0 compiled it, without the prologue. */
static const uint64_t add[] = {
    0x00000a00ff017624, 0x000fe400078e00ff, /* IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] */
    0x0000580000027a02, 0x000fe20000000f00, /* MOV R2, c[0x0][0x160] */
    0x00005900ff037624, 0x000fe200078e00ff, /* IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x164] */
    0x0000460000047ab9, 0x000fc80000000a00, /* ULDC.64 UR4, c[0x0][0x118] */
    0x0000000402027981, 0x000ea2000c1e1900, /* LDG.E R2, [R2.64] */
    0x00005a0000047a02, 0x000fe20000000f00, /* MOV R4, c[0x0][0x168] */
    0x00005b00ff057624, 0x000fe200078e00ff, /* IMAD.MOV.U32 R5, RZ, RZ, c[0x0][0x16c] */
    0x0000010002077810, 0x004fca0007ffe0ff, /* IADD3 R7, R2, 0x100, RZ */
    0x0000000704007986, 0x000fe2000c101904, /* STG.E [R4.64], R7 */
    0x000000000000794d, 0x000fea0003800000, /* EXIT */
};
enum { ADDEND_WORD = 14, ADDEND_SHIFT = 32 };

static uint32_t *word_at(struct fixture *f, unsigned offset) {
  return fixture_data(f, offset);
}

static void put_code(struct fixture *f, uint32_t addend) {
  uint64_t code[sizeof(add) / sizeof(add[0])];
  memcpy(code, add, sizeof(code));
  code[ADDEND_WORD] = (code[ADDEND_WORD] & UINT32_MAX) | (uint64_t)addend << ADDEND_SHIFT;
  memcpy(f->code.cpu, code, sizeof(code));
}

/* The parameters in a slot's bank: offsets in the page of results. */
static void put_bank(struct fixture *f, unsigned slot, unsigned offset, unsigned to) {
  const uint64_t parameters[] = {f->data.va + offset, f->data.va + to};
  memcpy((char *)f->code.cpu + BANK + slot * BANK_BYTES + PARAMETERS, parameters,
         sizeof(parameters));
}

/* Flags of a descriptor that drop what a grid must not see. */
enum { DROP_CONSTANTS = 1, DROP_DATA = 2, DROP_CODE = 4, DROP_ALL = 7 };

static void put_qmd(struct fixture *f, unsigned slot, unsigned bank, unsigned drop) {
  uint32_t *qmd = fixture_qmd(f, slot);
  qmd_make(qmd, f->code.va, f->code.va + BANK + bank * BANK_BYTES, 1);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(0), BANK_BYTES >> QMD_CONSTANT_SIZE_SHIFT);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_INVALIDATE(0), (drop & DROP_CONSTANTS) != 0);
  qmd_set(qmd, QMD_INVALIDATE_SHADER_DATA_CACHE, (drop & DROP_DATA) != 0);
  qmd_set(qmd, QMD_INVALIDATE_INSTRUCTION_CACHE, (drop & DROP_CODE) != 0);
}

static void compute(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, method, data);
}

/* Runs what was pushed. */
static bool gives(struct fixture *f, uint32_t expected) {
  fixture_run(f);
  return *word_at(f, RESULT) == expected;
}

/* Another descriptor in the same place. */
static bool descriptor(struct fixture *f, unsigned round, bool right) {
  const unsigned place = SOURCE + round % 8 * 128;
  put_code(f, ADDEND);
  *word_at(f, place) = round;
  put_bank(f, round % 8, place, RESULT);
  put_qmd(f, 0, round % 8, DROP_ALL);
  if (right && round % 2)
    compute(f, NVC7C0_INVALIDATE_SKED_CACHES, 0);
  fixture_launch(f, 0,
                 right && round % 2 == 0 ? PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE
                                         : PCAS_PREFETCH_SCHEDULE);
  return gives(f, round + ADDEND);
}

/* One that was fetched before it was complete. */
static bool prefetched_descriptor(struct fixture *f, unsigned round, bool right) {
  put_code(f, ADDEND);
  for (unsigned i = 0; i < 2; i++) {
    *word_at(f, SOURCE + i * 128) = i;
    put_bank(f, i, SOURCE + i * 128, RESULT);
  }
  put_qmd(f, round, 0, DROP_ALL);
  fixture_launch(f, round, PCAS_PREFETCH);
  fixture_run(f);
  put_qmd(f, round, 1, DROP_ALL);
  fixture_launch(f, round, right ? PCAS_INVALIDATE_COPY_SCHEDULE : PCAS_SCHEDULE);
  return gives(f, 1 + ADDEND);
}

/* What drops a cache: a flag of the descriptor, and two methods. */
struct drop {
  unsigned flag;
  uint32_t waiting, at_once;
};

/* Launches with bank 0 and what is right but for one cache, which is dropped in one of
 * the three ways, or in none. */
static void launch_with(struct fixture *f, unsigned round, bool right, const struct drop *drop) {
  const unsigned way = right ? round % 3 : 3;
  put_qmd(f, round, 0, DROP_ALL & ~(way == 0 ? 0 : drop->flag));
  if (way == 1)
    compute(f, NVC7C0_INVALIDATE_SHADER_CACHES, drop->waiting);
  if (way == 2)
    compute(f, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI, drop->at_once);
  fixture_launch(f, round, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
}

/* Other constants in the same place. */
static bool constants(struct fixture *f, unsigned round, bool right) {
  const unsigned place = SOURCE + round % 8 * 128;
  put_code(f, ADDEND);
  *word_at(f, place) = round;
  put_bank(f, 0, place, RESULT);
  launch_with(f, round, right,
              &(struct drop){
                  DROP_CONSTANTS,
                  hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_CONSTANT, 1),
                  hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_CONSTANT, 1),
              });
  return gives(f, round + ADDEND);
}

/* Other code in the same place. */
static bool code(struct fixture *f, unsigned round, bool right) {
  put_code(f, round);
  *word_at(f, SOURCE) = 0;
  put_bank(f, 0, SOURCE, RESULT);
  launch_with(f, round, right,
              &(struct drop){
                  DROP_CODE,
                  hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_INSTRUCTION, 1),
                  hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_INSTRUCTION, 1),
              });
  return gives(f, round);
}

/* A launch that reads a word which another channel has just written. */
static void launch_reader(struct fixture *f, unsigned round, bool right, unsigned to) {
  put_code(f, ADDEND);
  put_bank(f, 0, SOURCE, to);
  launch_with(f, round, right,
              &(struct drop){
                  DROP_DATA,
                  hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_DATA, 1),
                  hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_GLOBAL_DATA, 1),
              });
}

static bool data_of_the_cpu(struct fixture *f, unsigned round, bool right) {
  *word_at(f, SOURCE) = round;
  launch_reader(f, round, right, RESULT);
  return gives(f, round + ADDEND);
}

static bool data_of_the_copy_engine(struct fixture *f, unsigned round, bool right) {
  const uint64_t from = f->data.va + FROM, to = f->data.va + SOURCE;
  const struct {
    uint32_t method, data;
  } copy[] = {
      {NVC7B5_SET_OBJECT, CLASS_COPY},
      {NVC7B5_OFFSET_IN_UPPER, (uint32_t)(from >> 32)},
      {NVC7B5_OFFSET_IN_LOWER, (uint32_t)from},
      {NVC7B5_OFFSET_OUT_UPPER, (uint32_t)(to >> 32)},
      {NVC7B5_OFFSET_OUT_LOWER, (uint32_t)to},
      {NVC7B5_LINE_LENGTH_IN, sizeof(uint32_t)},
      {NVC7B5_LAUNCH_DMA, COPY_NON_PIPELINED_PITCH},
  };
  *word_at(f, FROM) = round;
  for (size_t i = 0; i < sizeof(copy) / sizeof(copy[0]); i++)
    push_method(&f->ch, SUBCHANNEL_COPY, copy[i].method, copy[i].data);
  fixture_run(f);
  launch_reader(f, round, right, RESULT);
  return gives(f, round + ADDEND);
}

/* A grid's own writes, read by the next one on another SM. */
static bool data_of_a_grid(struct fixture *f, unsigned round, bool right) {
  if (round == 0)
    *word_at(f, SOURCE) = 0;
  launch_reader(f, round, right, SOURCE);
  fixture_run(f);
  return *word_at(f, SOURCE) == (round + 1) * ADDEND;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HAZARD(descriptor),     HAZARD(prefetched_descriptor), HAZARD(constants),
      HAZARD(code),           HAZARD(data_of_the_cpu),       HAZARD(data_of_the_copy_engine),
      HAZARD(data_of_a_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
