/* Launches: the scheduler's checks, releases and dependents of a descriptor, CTAs that wait for
 * each other, grids of several channels, faults. docs/hardware/command-stream.md 4 and 5. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/hw/memory.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

static uint64_t *word_at(struct fixture *f, unsigned offset) {
  return fixture_data(f, offset);
}

static uint64_t adder(struct fixture *f, unsigned slot, unsigned offset) {
  return fixture_program(
      f, slot,
      &(struct fake_program){.operation = FAKE_ADD, .address = f->data.va + offset, .value = 1});
}

/* Each row makes one field of a good descriptor invalid, which has been launched before. */
static void invalid_descriptor_fields_fault(void **state) {
#define FIELD(name)                                                                                \
#name, {                                                                                         \
    name                                                                                           \
  }
  static const struct {
    const char *name;
    unsigned field[2];
    uint32_t value;
    const char *message;
  } rows[] = {
      {FIELD(QMD_QMD_MAJOR_VERSION), 2, "QMD at"},
      {FIELD(QMD_CTA_THREAD_DIMENSION1), 0, "SKED ESR bit 23:"},
      {FIELD(QMD_CTA_THREAD_DIMENSION1), 33, "SKED ESR bit 18:"},
      {FIELD(QMD_REGISTER_COUNT_V), 256, "SKED ESR bit 13:"},
      {FIELD(QMD_REGISTER_COUNT_V), 0, "SKED ESR bit 13:"},
      {FIELD(QMD_SHARED_MEMORY_SIZE), 164 * 1024 + 128, "SKED ESR bit 21:"},
      {FIELD(QMD_MIN_SM_CONFIG_SHARED_MEM_SIZE), 43, "SKED ESR bit 25:"},
      {FIELD(QMD_PROGRAM_ADDRESS_LOWER), 64, "SKED ESR bit 20:"},
      {FIELD(QMD_SHADER_LOCAL_MEMORY_LOW_SIZE), 8, "SKED ESR bit 9:"},
      {FIELD(QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE), 8, "SKED ESR bit 10:"},
      {FIELD(QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE), 1024, "SKED ESR bit 12:"},
      {FIELD(QMD_CONSTANT_BUFFER_SIZE_SHIFTED4_0), 4097, "SKED ESR bit 7:"},
      {FIELD(QMD_CONSTANT_BUFFER_ADDR_LOWER_0), 0x1000, "read of constant bank 0 at"},
      {FIELD(QMD_BARRIER_COUNT), 17, "QMD at"},
      {FIELD(QMD_IS_QUEUE), 1, "QMD at"},
      {FIELD(QMD_CTA_RASTER_WIDTH_RESUME), 1, "SKED ESR bit 6:"},
      {FIELD(QMD_UNLISTED_447_432), 1, "QMD at"},
      {FIELD(QMD_SM_DISABLE_MASK_LOWER), 0xffff, "QMD at"},
      {FIELD(QMD_SHARED_MEMORY_SIZE), 64, "QMD at"},
      {FIELD(QMD_MIN_SM_CONFIG_SHARED_MEM_SIZE), 4, "QMD at"},
      {FIELD(QMD_TARGET_SM_CONFIG_SHARED_MEM_SIZE), 4, "QMD at"},
      {FIELD(QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE), 41, "QMD at"},
      {FIELD(QMD_CONSTANT_BUFFER_ADDR_LOWER_0), 0x1020, "QMD at"},
      {FIELD(QMD_QMD_RESERVED11C), 1, "QMD at"},
      {FIELD(QMD_SEMAPHORE_RESERVED25A), 1, "QMD at"},
      {FIELD(QMD_UNLISTED_1655_1652), 1, "QMD at"},
      {FIELD(QMD_HW_ONLY_DEPENDENCE_COUNTER), 1, "QMD at"},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fixture_setup(state);
    struct fixture *f = *state;
    uint32_t *q = fixture_qmd(f, 0);
    qmd_make(q, adder(f, 0, 0), f->code.va + 0x8000, 1);
    qmd_set(q, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE, 42);
    push_compute_setup(&f->ch);
    fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
    fixture_run(f);
    qmd_set(q, rows[i].field[0], rows[i].field[1], rows[i].value);
    fixture_launch(f, 0, PCAS_INVALIDATE_COPY_SCHEDULE);
    submit(&f->c, &f->ch);
    bool mmu = strncmp(rows[i].message, "read", 4) == 0;
    assert_true(wait_fault(&f->ch, mmu ? NOTIFIER_MMU_FAULT : NOTIFIER_GR_EXCEPTION));
    struct emulator_fault fault = last_fault(&f->c);
    if (strncmp(fault.message, rows[i].message, strlen(rows[i].message)) != 0)
      print_error("%s: %s\n", rows[i].name, fault.message);
    assert_memory_equal(fault.message, rows[i].message, strlen(rows[i].message));
    assert_int_equal(*word_at(f, 0), 1);
    fixture_teardown(state);
  }
}

static void launch_again(struct fixture *f) {
  fixture_launch(f, 0, PCAS_INVALIDATE_COPY_SCHEDULE);
  fixture_run(f);
}

/* The engine decodes only what differs from the last launch. */
static void changes_between_launches_count(void **state) {
  struct fixture *f = *state;
  uint32_t *q = fixture_qmd(f, 0);
  const uint64_t bank = f->code.va + 0x8000;
  for (uint32_t i = 0; i < 3; i++)
    *(uint32_t *)((char *)f->code.cpu + 0x8000 + i * 64) = 70 + i;
  qmd_make(q, adder(f, 0, 0), bank, 3);
  push_compute_setup(&f->ch);
  launch_again(f);
  launch_again(f);
  assert_int_equal(*word_at(f, 0), 6);
  qmd_set(q, QMD_CTA_RASTER_WIDTH, 5);
  launch_again(f);
  assert_int_equal(*word_at(f, 0), 11);
  qmd_set(q, QMD_PROGRAM_ADDRESS_LOWER, (uint32_t)adder(f, 1, 8));
  launch_again(f);
  assert_int_equal(*word_at(f, 0), 11);
  assert_int_equal(*word_at(f, 8), 5);
  qmd_set(q, QMD_RELEASE0_ADDRESS_LOWER, (uint32_t)f->data.va + 256);
  qmd_set(q, QMD_RELEASE0_ADDRESS_UPPER, (uint32_t)(f->data.va >> 32));
  qmd_set(q, QMD_RELEASE0_STRUCTURE_SIZE, 1);
  qmd_set(q, QMD_RELEASE0_ENABLE, 1);
  for (uint32_t payload = 7; payload < 9; payload++) {
    qmd_set(q, QMD_RELEASE0_PAYLOAD_LOWER, payload);
    launch_again(f);
    assert_int_equal(*word_at(f, 256), payload);
  }
  qmd_make(q,
           fixture_program(
               f, 2, &(struct fake_program){.operation = FAKE_BANK, .address = f->data.va + 16}),
           bank, 1);
  for (uint32_t i = 0; i < 3; i++) {
    qmd_set(q, QMD_CONSTANT_BUFFER_ADDR_LOWER_0, (uint32_t)bank + i * 64);
    launch_again(f);
    assert_int_equal(*word_at(f, 16), 70 + i);
  }
  /* The state of the front end: both windows at one address. */
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A,
              WINDOW_SHARED_HIGH);
  fixture_launch(f, 0, PCAS_INVALIDATE_COPY_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  assert_memory_equal(last_fault(&f->c).message, "SKED ESR bit 24:", 16);
}

/* Launches slot 0 and returns the number that its grid has in common with like ones. */
static uint64_t like_number(struct fixture *f) {
  launch_again(f);
  return *word_at(f, 0);
}

/* A grid may use what another one has left in the SM only if all but its constant banks is equal,
 * and the code was not invalidated. */
static void like_grids_have_a_common_number(void **state) {
  struct fixture *f = *state;
  uint32_t *q = fixture_qmd(f, 0);
  qmd_make(
      q,
      fixture_program(f, 0, &(struct fake_program){.operation = FAKE_LIKE, .address = f->data.va}),
      f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  const uint64_t first = like_number(f);
  assert_int_equal(like_number(f), first);
  qmd_set(q, QMD_CONSTANT_BUFFER_ADDR_LOWER_0, (uint32_t)f->code.va + 0x8040);
  qmd_set(q, QMD_DEBUG_ID_LOWER, 1);
  assert_int_equal(like_number(f), first);
  qmd_set(q, QMD_REGISTER_COUNT_V, 17);
  const uint64_t changed = like_number(f);
  assert_int_not_equal(changed, first);
  assert_int_equal(like_number(f), changed);
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SHADER_CACHES,
              hw_bits(NVC7C0_INVALIDATE_SHADER_CACHES_INSTRUCTION, 1));
  const uint64_t invalidated = like_number(f);
  assert_int_not_equal(invalidated, changed);
  assert_int_equal(like_number(f), invalidated);
  qmd_set(q, QMD_INVALIDATE_INSTRUCTION_CACHE, 1);
  const uint64_t by_descriptor = like_number(f);
  assert_int_not_equal(by_descriptor, invalidated);
  assert_int_not_equal(like_number(f), by_descriptor);
}

/* A channel notices that another one of its address space has invalidated the code. */
static void channels_share_invalidations(void **state) {
  struct fixture *f = *state;
  struct channel other, own;
  uint32_t *q = fixture_qmd(f, 0);
  qmd_make(
      q,
      fixture_program(f, 0, &(struct fake_program){.operation = FAKE_CODE, .address = f->data.va}),
      f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  const uint64_t first = like_number(f);
  assert_int_equal(like_number(f), first);
  channel_open(&f->c, &other, 16, CLASS_COMPUTE);
  own = f->ch;
  f->ch = other;
  push_compute_setup(&f->ch);
  qmd_set(q, QMD_INVALIDATE_INSTRUCTION_CACHE, 1);
  const uint64_t second = like_number(f);
  assert_int_not_equal(second, first);
  qmd_set(q, QMD_INVALIDATE_INSTRUCTION_CACHE, 0);
  other = f->ch;
  f->ch = own;
  assert_int_equal(like_number(f), second);
  channel_close(&f->c, &other);
}

static void too_many_registers_fault(void **state) {
  struct fixture *f = *state;
  uint32_t *q = fixture_qmd(f, 0);
  /* With 128 registers, 512 threads fit and 544 do not. */
  qmd_make(q, adder(f, 0, 0), f->code.va + 0x8000, 1);
  qmd_set(q, QMD_REGISTER_COUNT_V, 128);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION0, 512);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_INVALIDATE_COPY_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 1);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION0, 544);
  fixture_launch(f, 0, PCAS_INVALIDATE_COPY_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  assert_memory_equal(last_fault(&f->c).message, "SKED ESR bit 26:", 16);
}

/* Section 4.2, and docs/hardware/bring-up.md trap 7: windows are 16 MiB and lie below 2^40. */
static void invalid_window_addresses_fault(void **state) {
  static const struct {
    uint32_t high, low;
    const char *message;
  } rows[] = {
      {0x7294, 0, "exceeds 40 bits"},
      {0xfe, 0x800000, "is not a multiple of 16 MiB"},
  };
  for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
    const unsigned row = i / 2;
    const uint32_t a =
        i % 2 ? NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A : NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A;
    fixture_setup(state);
    struct fixture *f = *state;
    qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 1);
    push_compute_setup(&f->ch);
    push_method(&f->ch, SUBCHANNEL_COMPUTE, a, rows[row].high - (row ? i % 2 * 2 : 0));
    push_method(&f->ch, SUBCHANNEL_COMPUTE, a + sizeof(uint32_t), rows[row].low);
    fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
    submit(&f->c, &f->ch);
    assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
    assert_non_null(strstr(last_fault(&f->c).message, rows[row].message));
    fixture_teardown(state);
  }
}

static void unmapped_local_memory_pool_faults(void **state) {
  struct fixture *f = *state;
  const uint32_t per_thread = 1024, tpc = 3 << 20;
  struct buffer pool = buffer_create(&f->c, (uint64_t)tpc * 8, true);
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 1);
  qmd_set(fixture_qmd(f, 0), QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE, per_thread);
  push_compute_setup(&f->ch);
  push(&f->ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_A, 2));
  push(&f->ch, (uint32_t)(pool.va >> 32));
  push(&f->ch, (uint32_t)pool.va);
  push(&f->ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE,
                             NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A, 3));
  push(&f->ch, 0);
  push(&f->ch, tpc);
  push(&f->ch, 0xff);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 1);
  /* The same sizes, but memory at an address that is not mapped. */
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_B, 0x200000);
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_A, 0);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  buffer_destroy(&f->c, &pool);
}

/* Checks the values that texture instructions use: the pools, and which sampler applies. */
static void instructions_get_pools_and_sampler_index(void **state) {
  struct fixture *f = *state;
  const uint64_t program =
      fixture_program(f, 0, &(struct fake_program){.operation = FAKE_POOLS, .address = f->data.va});
  uint32_t *q = fixture_qmd(f, 0);
  qmd_make(q, program, f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  push(&f->ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_HEADER_POOL_A, 3));
  push(&f->ch, 0x12);
  push(&f->ch, 0x34567800);
  push(&f->ch, 0x3fffff);
  push(&f->ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_SAMPLER_POOL_A, 3));
  push(&f->ch, 0x1f);
  push(&f->ch, 0x9abcde00);
  push(&f->ch, 4095);
  for (uint32_t via_header = 0; via_header < 2; via_header++) {
    const uint64_t expected[] = {0x1234567800, 0x3fffff, 0x1f9abcde00, 4095, via_header};
    qmd_set(q, QMD_SAMPLER_INDEX, via_header);
    fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
    fixture_run(f);
    assert_memory_equal(word_at(f, 0), expected, sizeof expected);
  }
}

/* A pool whose base is not a multiple of its entries' size. */
static void misaligned_sampler_pool_faults(void **state) {
  struct fixture *f = *state;
  uint32_t *q = fixture_qmd(f, 0);
  qmd_make(q, adder(f, 0, 0), f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_SAMPLER_POOL_B, 0x34567810);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  const struct emulator_fault fault = last_fault(&f->c);
  assert_non_null(strstr(fault.message, "SET_TEX_SAMPLER_POOL is not a multiple of 32"));
}

/* An inline descriptor, its releases and a chain of dependents. */
static void inline_qmd_releases_and_starts_dependents(void **state) {
  struct fixture *f = *state;
  uint32_t inline_qmd[QMD_WORDS];
  uint64_t bank = f->code.va + 0x8000;
  for (unsigned i = 1; i < 4; i++) {
    uint32_t *q = fixture_qmd(f, i);
    qmd_make(q, adder(f, i, 0), bank, 10);
    if (i < 3) {
      qmd_set(q, QMD_DEPENDENT_QMD0_ENABLE, 1);
      qmd_set(q, QMD_DEPENDENT_QMD0_ACTION, 1);
      qmd_set(q, QMD_DEPENDENT_QMD0_POINTER,
              (uint32_t)((f->code.va + 0x1000 + (i + 1) * QMD_BYTES) >> 8));
    }
  }
  qmd_make(inline_qmd, adder(f, 0, 0), bank, 5);
  const struct {
    unsigned low[2], high[2], enable[2], wide[2], size[2], payload[2];
  } slots[] = {
      {{QMD_RELEASE0_ADDRESS_LOWER},
       {QMD_RELEASE0_ADDRESS_UPPER},
       {QMD_RELEASE0_ENABLE},
       {QMD_RELEASE0_PAYLOAD64B},
       {QMD_RELEASE0_STRUCTURE_SIZE},
       {QMD_RELEASE0_PAYLOAD_LOWER}},
      {{QMD_RELEASE1_ADDRESS_LOWER},
       {QMD_RELEASE1_ADDRESS_UPPER},
       {QMD_RELEASE1_ENABLE},
       {QMD_RELEASE1_PAYLOAD64B},
       {QMD_RELEASE1_STRUCTURE_SIZE},
       {QMD_RELEASE1_PAYLOAD_LOWER}},
      {{QMD_RELEASE2_ADDRESS_LOWER},
       {QMD_RELEASE2_ADDRESS_UPPER},
       {QMD_RELEASE2_ENABLE},
       {QMD_RELEASE2_PAYLOAD64B},
       {QMD_RELEASE2_STRUCTURE_SIZE},
       {QMD_RELEASE2_PAYLOAD_LOWER}},
  };
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t va = f->data.va + 256 + i * 32;
    qmd_set(inline_qmd, slots[i].low[0], slots[i].low[1], (uint32_t)va);
    qmd_set(inline_qmd, slots[i].high[0], slots[i].high[1], (uint32_t)(va >> 32));
    qmd_set(inline_qmd, slots[i].enable[0], slots[i].enable[1], 1);
    qmd_set(inline_qmd, slots[i].wide[0], slots[i].wide[1], i == 2);
    qmd_set(inline_qmd, slots[i].size[0], slots[i].size[1], i ? 0 : 1);
    qmd_set(inline_qmd, slots[i].payload[0], slots[i].payload[1], 0x70 + i);
  }
  push_compute_setup(&f->ch);
  uint64_t place = (f->code.va + 0x1000) >> 8;
  push(&f->ch, 0x204220c6);
  push(&f->ch, (uint32_t)(place >> 32));
  push(&f->ch, (uint32_t)place);
  for (unsigned i = 0; i < QMD_WORDS; i++)
    push(&f->ch, inline_qmd[i]);
  fixture_launch(f, 1, PCAS_PREFETCH_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 35);
  assert_memory_equal(fixture_qmd(f, 0), inline_qmd, QMD_BYTES);
  assert_int_equal(*word_at(f, 256), 0x70);
  assert_int_equal(*word_at(f, 264), 0);
  assert_int_equal(*word_at(f, 288), 0x71);
  assert_true(*word_at(f, 296) != 0);
  assert_int_equal(*word_at(f, 320), 0x72);
}

/* Both sets of report-semaphore methods wait for the grid before them. */
static void report_semaphores_wait_for_grids(void **state) {
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 7);
  push_compute_setup(ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  push(ch,
       method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER, 5));
  push(ch, 0xcafe);
  push(ch, 0);
  push(ch, (uint32_t)f->data.va + 64);
  push(ch, (uint32_t)(f->data.va >> 32));
  push(ch, 8); /* release, one word */
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_A, 4));
  push(ch, (uint32_t)(f->data.va >> 32));
  push(ch, (uint32_t)f->data.va + 80);
  push(ch, 0xbeef);
  push(ch, 0); /* release, four words */
  submit(&f->c, ch);
  assert_true(wait_word(word_at(f, 80), 0xbeef));
  assert_int_equal(*word_at(f, 64), 0xcafe);
  assert_int_equal(*word_at(f, 0), 7);
  assert_true(*word_at(f, 88) != 0);
}

/* CTA i continues only after CTA i + 1, so all must be resident and get turns. */
static void ctas_that_wait_for_each_other_end(void **state) {
  struct fixture *f = *state;
  uint64_t p = fixture_program(
      f, 0, &(struct fake_program){.operation = FAKE_TICKET, .address = f->data.va});
  qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, 100);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 100);
}

/* CTA i continues only after CTA i - 1, and many more exist than may be resident, so a lower one
 * must always be able to start. */
static void ctas_that_wait_for_lower_ones_end(void **state) {
  enum { CTAS = 1000, SHARED = 100 * 1024, CARVEOUT = 26, ROUNDS = 8 };
  struct fixture *f = *state;
  push_compute_setup(&f->ch);
  for (uint64_t turns = 0; turns < ROUNDS; turns++) {
    *word_at(f, 0) = 0;
    const uint64_t p = fixture_program(
        f, 0,
        &(struct fake_program){.operation = FAKE_ORDER, .address = f->data.va, .value = turns});
    qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, CTAS);
    qmd_set(fixture_qmd(f, 0), QMD_SHARED_MEMORY_SIZE, SHARED); /* one for each SM */
    qmd_set(fixture_qmd(f, 0), QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE, CARVEOUT);
    fixture_launch(f, 0, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
    fixture_run(f);
    assert_int_equal(*word_at(f, 0), CTAS);
  }
}

/* Two limits on the number of resident work-groups: the registers in each of an SM's four
 * partitions, and the shared memory of the largest carve-out that is allowed. */
static void registers_and_shared_memory_limit_resident_ctas(void **state) {
  static const struct {
    uint32_t registers, shared, carveout, ctas; /* on 16 SMs */
  } rows[] = {
      {184, 0, 0,
       8 * 16}, /* 5888 registers for a warp: 2 warps fit in 16384, 11 would fit in 65536 */
      {16, 50 * 1024, 26, 2 * 16}, /* 2 groups in 100 KiB; 3 would fit in 164 KiB */
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fixture_setup(state);
    struct fixture *f = *state;
    uint64_t p = fixture_program(
        f, 0, &(struct fake_program){.operation = FAKE_TICKET, .address = f->data.va});
    for (uint32_t more = 0; more < 2; more++) {
      uint32_t *q = fixture_qmd(f, more);
      qmd_make(q, p, f->code.va + 0x8000, rows[i].ctas + more);
      qmd_set(q, QMD_REGISTER_COUNT_V, rows[i].registers);
      qmd_set(q, QMD_SHARED_MEMORY_SIZE, rows[i].shared);
      qmd_set(q, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE, rows[i].carveout);
    }
    push_compute_setup(&f->ch);
    fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
    fixture_run(f);
    assert_int_equal(*word_at(f, 0), rows[i].ctas);
    *word_at(f, 0) = 0;
    fixture_launch(f, 1, PCAS_PREFETCH_SCHEDULE);
    push_semaphore(&f->ch, f->data.va + 8, 1, RELEASE_64_WFI);
    submit(&f->c, &f->ch);
    usleep(20000);
    assert_int_equal(*word_at(f, 0), 0);
    fixture_teardown(state);
  }
}

/* A grid spins until another channel's grid has run and the CPU has written a word. */
static void grids_of_two_channels_alternate(void **state) {
  struct fixture *f = *state;
  struct channel other;
  channel_open(&f->c, &other, 64, CLASS_COMPUTE);
  uint64_t spin = fixture_program(
      f, 0,
      &(struct fake_program){
          .operation = FAKE_SPIN, .address = f->data.va, .value = 8, .address2 = f->data.va + 8});
  qmd_make(fixture_qmd(f, 0), spin, f->code.va + 0x8000, 3);
  qmd_make(fixture_qmd(f, 1), adder(f, 1, 0), f->code.va + 0x8000, 8);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  /* A release that does not wait for the grid may be visible while the grid runs. */
  push_semaphore(&f->ch, f->data.va + 16, 1, RELEASE_64);
  push_semaphore(&f->ch, f->data.va + 24, 1, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(word_at(f, 16), 1));
  usleep(3000);
  assert_int_equal(*word_at(f, 24), 0);
  push_compute_setup(&other);
  push_method(&other, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A,
              (uint32_t)((f->code.va + 0x1000 + QMD_BYTES) >> 8));
  push_method(&other, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &other);
  assert_true(wait_word(word_at(f, 24), 1));
  assert_int_equal(*word_at(f, 8), 3);
  channel_close(&f->c, &other);
}

/* While an endless grid runs, its buffers can be unmapped and its channel can be closed. */
static void endless_grid_can_be_closed(void **state) {
  struct fixture *f = *state;
  struct channel other;
  struct client own = f->c; /* its channel is bound to another TSG, which ends with it */
  client_open_tsg(&own);
  channel_open(&own, &other, 64, CLASS_COMPUTE);
  struct buffer flag = buffer_create(&f->c, 4096, true);
  uint64_t spin = fixture_program(
      f, 0, &(struct fake_program){.operation = FAKE_SPIN, .address = flag.va, .value = 8});
  qmd_make(fixture_qmd(f, 0), spin, f->code.va + 0x8000, 300);
  push_compute_setup(&other);
  push_method(&other, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A,
              (uint32_t)((f->code.va + 0x1000) >> 8));
  push_method(&other, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_PREFETCH_SCHEDULE);
  submit(&own, &other);
  usleep(5000);
  fixture_run(f); /* the engine runs other channels in the meantime */
  channel_close(&own, &other);
  assert_int_equal(OS->close(own.tsg), 0);
  buffer_destroy(&f->c, &flag);
  fixture_run(f);
}

/* The constants of a grid must remain mapped until it has ended. A board that has not cached all of
 * them faults. */
static void unmapped_constants_of_running_grid_fault(void **state) {
  struct fixture *f = *state;
  struct buffer bank = buffer_create(&f->c, 4096, true);
  const uint64_t spin = fixture_program(f, 0,
                                        &(struct fake_program){.operation = FAKE_SPIN,
                                                               .address = f->data.va + 8,
                                                               .value = 1,
                                                               .address2 = f->data.va + 16});
  qmd_make(fixture_qmd(f, 0), spin, bank.va, 1);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  push_semaphore(&f->ch, f->data.va + 24, 1, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  usleep(5000); /* the grid may have begun; if not, it faults when it begins */
  buffer_destroy(&f->c, &bank);
  __atomic_store_n(word_at(f, 8), 1, __ATOMIC_SEQ_CST);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  assert_int_equal(*word_at(f, 24), 0);
}

static void descriptor_overwritten_before_use_faults(void **state) {
  struct fixture *f = *state;
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  /* The grid that reads descriptor 2 must still be waiting when the descriptor is overwritten, so a
   * grid that spins until the CPU writes a word runs before it. */
  uint64_t spin = fixture_program(f, 1,
                                  &(struct fake_program){.operation = FAKE_SPIN,
                                                         .address = f->data.va + 8,
                                                         .value = 1,
                                                         .address2 = f->data.va + 16});
  qmd_make(fixture_qmd(f, 1), spin, f->code.va + 0x8000, 1);
  qmd_make(fixture_qmd(f, 2), adder(f, 0, 0), f->code.va + 0x8000, 1);
  fixture_launch(f, 1, PCAS_PREFETCH_SCHEDULE);
  fixture_launch(f, 2, PCAS_PREFETCH_SCHEDULE);
  push_semaphore(&f->ch, f->data.va + 24, 1, RELEASE_64);
  submit(&f->c, &f->ch);
  assert_true(wait_word(word_at(f, 24), 1));
  qmd_set(fixture_qmd(f, 2), QMD_CTA_RASTER_WIDTH, 2);
  __atomic_store_n(word_at(f, 8), 1, __ATOMIC_SEQ_CST);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  assert_non_null(strstr(last_fault(&f->c).message, "overwritten"));
}

static void grid_fault_is_recorded(void **state) {
  struct fixture *f = *state;
  uint64_t p = fixture_program(f, 0,
                               &(struct fake_program){.operation = FAKE_WRITE_BAD,
                                                      .address = f->data.va,
                                                      .value = 0x123456000});
  qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, 50);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  struct emulator_fault fault = last_fault(&f->c);
  assert_int_equal(fault.address, 0x123456000);
  assert_int_equal(fault.program, p);
  assert_int_equal(fault.pc, p);
  assert_int_equal(fault.access_bytes, 4);
  assert_int_equal(fault.is_write, 1);
  /* A new TSG and channel in the same address space work. */
  struct nvgpu_gpu_open_tsg_args tsg = {0};
  assert_int_equal(OS->ioctl(f->c.ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, &tsg), 0);
  struct nvgpu_tsg_create_subcontext_args sub = {.type = 1, .as_fd = f->c.as};
  assert_int_equal(OS->ioctl((int)tsg.tsg_fd, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, &sub), 0);
  struct client second = f->c;
  second.tsg = (int)tsg.tsg_fd;
  struct channel ch;
  channel_open(&second, &ch, 64, CLASS_COMPUTE);
  push_semaphore(&ch, f->data.va + 32, 9, RELEASE_64_WFI);
  submit(&second, &ch);
  assert_true(wait_word(word_at(f, 32), 9));
  channel_close(&second, &ch);
  assert_int_equal(OS->close(second.tsg), 0);
}

static void invalid_methods_fault(void **state) {
  static const struct {
    uint32_t method, data, code;
    const char *message;
  } rows[] = {
      {0x0ffc, 5, 25, "class 0xc7c0 method 0x0ffc (none), data 0x00000005: illegal method"},
      {0x0220, 0, 25, "class 0xc7c0 method 0x0220 SET_RESERVED_SW_METHOD00"},
      {0x02bc, 3, 13, "class 0xc7c0 method 0x02bc SEND_SIGNALING_PCAS_B"},
      {0x3800, 0, 13, "MME: macro at word 0x0, instruction 4096"}, /* there is none */
      {0x014c, 0, 13, "class 0xc7c0 method 0x014c FE_ATOMIC_SEQUENCE_END"},
      {0x010c, 0, 25, "class 0xc7c0 method 0x010c NOTIFY"},
      {0x0168, 2, 13, "class 0xc7c0 method 0x0168 REPORT_SEMAPHORE_EXECUTE"},
      {0x0168, 0x18, 13, "class 0xc7c0 method 0x0168 REPORT_SEMAPHORE_EXECUTE"},
      {0x1b0c, 3, 13, "class 0xc7c0 method 0x1b0c SET_REPORT_SEMAPHORE_D"},
      {0x1944, 3, 13, "class 0xc7c0 method 0x1944 SET_RENDER_ENABLE_OVERRIDE"},
      {0x01b4, 0, 13, "inline-to-memory: method 0x01b4"},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fixture_setup(state);
    struct fixture *f = *state;
    push_compute_setup(&f->ch);
    push_method(&f->ch, SUBCHANNEL_COMPUTE, rows[i].method, rows[i].data);
    submit(&f->c, &f->ch);
    assert_true(wait_fault(&f->ch, rows[i].code));
    assert_memory_equal(last_fault(&f->c).message, rows[i].message, strlen(rows[i].message));
    fixture_teardown(state);
  }
}

static void buffer_in_shared_window_faults(void **state) {
  struct fixture *f = *state;
  struct nvgpu_as_alloc_space_args space = {
      .pages = 1, .page_size = 4096, .flags = 1, .o_a.offset = UINT64_C(0xfe00fff000)};
  assert_int_equal(OS->ioctl(f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, &space), 0);
  struct buffer b = buffer_create(&f->c, 4096, false);
  struct nvgpu_as_map_buffer_ex_args map = {
      .flags = 1, .compr_kind = -1, .dmabuf_fd = (uint32_t)b.fd, .offset = space.o_a.offset};
  assert_int_equal(OS->ioctl(f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, &map), 0);
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_GR_EXCEPTION));
  assert_non_null(strstr(last_fault(&f->c).message, "inside the shared memory window"));
  buffer_destroy(&f->c, &b);
}

/* NON_STALL_INTERRUPT wakes a thread that polls the TSG's event. The counters are incremented. */
static void interrupt_signals_event_and_counters_count(void **state) {
  struct fixture *f = *state;
  struct nvgpu_event_id_ctrl_args event = {.cmd = 1, .event_id = 2};
  assert_int_equal(OS->ioctl(f->c.tsg, NVGPU_IOCTL_TSG_EVENT_ID_CTRL, &event), 0);
  struct pollfd p = {.fd = event.event_fd, .events = POLLIN | POLLPRI};
  assert_int_equal(poll(&p, 1, 0), 0);
  struct emulator_counters before, after;
  assert_int_equal(OS->ioctl(f->c.node, EMULATOR_IOCTL_COUNTERS, &before), 0);
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 12);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_PREFETCH_SCHEDULE);
  push_method(&f->ch, SUBCHANNEL_3D, NVC76F_NON_STALL_INTERRUPT, 0);
  submit(&f->c, &f->ch);
  assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
  fixture_run(f);
  assert_int_equal(OS->ioctl(f->c.node, EMULATOR_IOCTL_COUNTERS, &after), 0);
  assert_int_equal(after.grids - before.grids, 1);
  assert_int_equal(after.ctas - before.ctas, 12);
  assert_int_equal(after.warp_instructions - before.warp_instructions, 12);
  assert_int_equal(OS->close(event.event_fd), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(invalid_descriptor_fields_fault),
      TEST(changes_between_launches_count),
      TEST(like_grids_have_a_common_number),
      TEST(channels_share_invalidations),
      TEST(too_many_registers_fault),
      cmocka_unit_test(invalid_window_addresses_fault),
      TEST(unmapped_local_memory_pool_faults),
      TEST(instructions_get_pools_and_sampler_index),
      TEST(misaligned_sampler_pool_faults),
      TEST(inline_qmd_releases_and_starts_dependents),
      TEST(report_semaphores_wait_for_grids),
      TEST(ctas_that_wait_for_each_other_end),
      TEST(ctas_that_wait_for_lower_ones_end),
      cmocka_unit_test(registers_and_shared_memory_limit_resident_ctas),
      TEST(grids_of_two_channels_alternate),
      TEST(endless_grid_can_be_closed),
      TEST(unmapped_constants_of_running_grid_fault),
      TEST(descriptor_overwritten_before_use_faults),
      TEST(grid_fault_is_recorded),
      cmocka_unit_test(invalid_methods_fault),
      TEST(buffer_in_shared_window_faults),
      TEST(interrupt_signals_event_and_counters_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
