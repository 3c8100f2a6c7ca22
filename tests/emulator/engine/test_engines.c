/* Less common functions of the engines: block-linear surfaces, component maps, conditional work,
 * dependence counters, time slices, acquires that wait. docs/hardware/command-stream.md 3, 4, 7;
 * docs/hardware/kernel-interface.md 3.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/objects.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

static uint64_t *word_at(struct fixture *f, unsigned offset) {
  return fixture_data(f, offset);
}

/* Submits words that must fail, and checks the notifier's code and the start of the message. */
static void fails(struct fixture *f, uint32_t code, const char *message) {
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, code));
  struct emulator_fault fault = last_fault(&f->c);
  if (strncmp(fault.message, message, strlen(message)) != 0)
    print_error("%s\n", fault.message);
  assert_memory_equal(fault.message, message, strlen(message));
}

static void copy(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COPY, method, data);
}

static void compute(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, method, data);
}

static void copy_ends(struct fixture *f, uint64_t from, uint64_t to, uint32_t length) {
  copy(f, NVC7B5_OFFSET_IN_UPPER, (uint32_t)(from >> 32));
  copy(f, NVC7B5_OFFSET_IN_LOWER, (uint32_t)from);
  copy(f, NVC7B5_OFFSET_OUT_UPPER, (uint32_t)(to >> 32));
  copy(f, NVC7B5_OFFSET_OUT_LOWER, (uint32_t)to);
  copy(f, NVC7B5_LINE_LENGTH_IN, length);
}

static uint64_t adder(struct fixture *f, unsigned slot, unsigned offset) {
  return fixture_program(
      f, slot,
      &(struct fake_program){.operation = FAKE_ADD, .address = f->data.va + offset, .value = 1});
}

static uint64_t qmd_va(const struct fixture *f, unsigned slot) {
  return f->code.va + 0x1000 + slot * QMD_BYTES;
}

/* ---- copies ---- */

/* Returns the offset of a byte according to Mesa's drawing of a GOB (nil/tiling.rs, TuringColor2D):
 * 16 sectors of 16 bytes by 2 rows. Independent of the formula in surface.c. */
static unsigned gob_place(unsigned x, unsigned y) {
  static const unsigned char sectors[4][4] = {
      {0, 2, 8, 10}, {1, 3, 9, 11}, {4, 6, 12, 14}, {5, 7, 13, 15}};
  return sectors[y / 2][x / 16] * 32u + y % 2 * 16 + x % 16;
}

enum { WIDTH = 100, HEIGHT = 40, LAYERS = 3, BLOCK_HEIGHT = 2, BLOCK_DEPTH = 2 };

/* Blocks of 2 x 2 GOBs: two blocks across (100 bytes), three down (40 rows). */
static unsigned surface_place(unsigned x, unsigned y, unsigned z) {
  unsigned block = (z / BLOCK_DEPTH * 3 + y / 16) * 2 + x / 64;
  unsigned gob = z % BLOCK_DEPTH * BLOCK_HEIGHT + y % 16 / 8;
  return (block * BLOCK_HEIGHT * BLOCK_DEPTH + gob) * 512 + gob_place(x % 64, y % 8);
}

static unsigned char pattern(unsigned x, unsigned y, unsigned z) {
  return (unsigned char)(x * 3 + y * 7 + z * 31);
}

enum { SURFACE = 0x2000, BACK = 0xc000 };

static void block_linear_copies_keep_contents(void **state) {
  struct fixture *f = *state;
  unsigned char *bytes = f->code.cpu;
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  for (unsigned z = 0; z < LAYERS; z++) {
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
      bytes[i] = pattern(i % WIDTH, i / WIDTH, z);
    copy_ends(f, f->code.va, f->code.va + SURFACE, WIDTH);
    copy(f, NVC7B5_PITCH_IN, WIDTH);
    copy(f, NVC7B5_LINE_COUNT, HEIGHT);
    copy(f, NVC7B5_SET_DST_BLOCK_SIZE, 1 << 4 | 1 << 8 | 1 << 12);
    copy(f, NVC7B5_SET_DST_WIDTH, WIDTH);
    copy(f, NVC7B5_SET_DST_HEIGHT, HEIGHT);
    copy(f, NVC7B5_SET_DST_DEPTH, LAYERS);
    copy(f, NVC7B5_SET_DST_LAYER, z);
    copy(f, NVC7B5_SET_DST_ORIGIN, 0);
    copy(f, NVC7B5_LAUNCH_DMA, 0x282); /* non-pipelined, several lines, pitch to block-linear */
    fixture_run(f);
  }
  for (unsigned z = 0; z < LAYERS; z++)
    for (unsigned y = 0; y < HEIGHT; y++)
      for (unsigned x = 0; x < WIDTH; x++)
        assert_int_equal(bytes[SURFACE + surface_place(x, y, z)], pattern(x, y, z));
  /* Copies back 20 columns and 9 rows from (50, 13) of layer 2; the origin is given in 32 bits. */
  copy_ends(f, f->code.va + SURFACE, f->code.va + BACK, 20);
  copy(f, NVC7B5_PITCH_OUT, 32);
  copy(f, NVC7B5_LINE_COUNT, 9);
  copy(f, NVC7B5_SET_SRC_BLOCK_SIZE, 1 << 4 | 1 << 8 | 1 << 12);
  copy(f, NVC7B5_SET_SRC_WIDTH, WIDTH);
  copy(f, NVC7B5_SET_SRC_HEIGHT, HEIGHT);
  copy(f, NVC7B5_SET_SRC_LAYER, 2);
  copy(f, NVC7B5_SRC_ORIGIN_X, 50);
  copy(f, NVC7B5_SRC_ORIGIN_Y, 13);
  copy(f, NVC7B5_LAUNCH_DMA, 0x302);
  fixture_run(f);
  for (unsigned y = 0; y < 9; y++)
    for (unsigned x = 0; x < 20; x++)
      assert_int_equal(bytes[BACK + y * 32 + x], pattern(50 + x, 13 + y, 2));
  /* A GOB height other than 8 rows no longer exists. */
  copy(f, NVC7B5_SET_SRC_BLOCK_SIZE, 1 << 4);
  copy(f, NVC7B5_LAUNCH_DMA, 0x302);
  fails(f, NOTIFIER_PBDMA_ERROR, "class 0xc7b5 method 0x0728 SET_SRC_BLOCK_SIZE");
}

static void inline_data_is_written_block_linear(void **state) {
  struct fixture *f = *state;
  unsigned char *bytes = f->code.cpu;
  push_compute_setup(&f->ch);
  compute(f, NVC7C0_LINE_LENGTH_IN, 24);
  compute(f, NVC7C0_LINE_COUNT, 11);
  compute(f, NVC7C0_OFFSET_OUT_UPPER, (uint32_t)(f->code.va >> 32));
  compute(f, NVC7C0_OFFSET_OUT, (uint32_t)f->code.va + SURFACE);
  compute(f, NVC7C0_SET_DST_BLOCK_SIZE, 1 << 4 | 1 << 8);
  compute(f, NVC7C0_SET_DST_WIDTH, WIDTH);
  compute(f, NVC7C0_SET_DST_HEIGHT, HEIGHT);
  compute(f, NVC7C0_SET_DST_DEPTH, LAYERS);
  compute(f, NVC7C0_SET_DST_LAYER, 1);
  compute(f, NVC7C0_SET_DST_ORIGIN_BYTES_X, 58);
  compute(f, NVC7C0_SET_DST_ORIGIN_SAMPLES_Y, 14);
  compute(f, NVC7C0_LAUNCH_DMA, 0x40);
  push(&f->ch, method_header(METHOD_NON_INC, SUBCHANNEL_COMPUTE, NVC7C0_LOAD_INLINE_DATA, 66));
  for (unsigned i = 0; i < 66; i++)
    push(&f->ch, (i % 64 * 4) * 0x01010101u + 0x03020100);
  fixture_run(f);
  for (unsigned y = 0; y < 11; y++)
    for (unsigned x = 0; x < 24; x++)
      assert_int_equal(bytes[SURFACE + surface_place(58 + x, 14 + y, 1)],
                       (unsigned char)(y * 24 + x));
  compute(f, NVC7C0_SET_DST_BLOCK_SIZE, 6 << 4);
  compute(f, NVC7C0_LAUNCH_DMA, 0x40);
  fails(f, NOTIFIER_GR_EXCEPTION, "inline-to-memory: method 0x0194");
}

/* Component maps: exchanged components, constants, and components that are not written. */
static void copies_exchange_and_fill_components(void **state) {
  struct fixture *f = *state;
  uint16_t *from = f->code.cpu, *to = (uint16_t *)((char *)f->code.cpu + 0x4000);
  for (unsigned i = 0; i < 3 * 50; i++)
    from[i] = (uint16_t)(0x1000 + i);
  memset(to, 0xee, 4096);
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  copy_ends(f, f->code.va, f->code.va + 0x4000, 50);
  copy(f, NVC7B5_SET_REMAP_CONST_A, 0xaaaabbbb);
  /* Three components of two bytes to four: Z, constant A, nothing, X. */
  copy(f, NVC7B5_SET_REMAP_COMPONENTS, 2 | 4 << 4 | 6 << 8 | 0 << 12 | 1 << 16 | 2 << 20 | 3 << 24);
  copy(f, NVC7B5_LAUNCH_DMA, 0x582);
  fixture_run(f);
  for (unsigned i = 0; i < 50; i++) {
    assert_int_equal(to[i * 4], from[i * 3 + 2]);
    assert_int_equal(to[i * 4 + 1], 0xbbbb);
    assert_int_equal(to[i * 4 + 2], 0xeeee);
    assert_int_equal(to[i * 4 + 3], from[i * 3]);
  }
  /* Eight bytes, constants A and B, over lines of 5 elements. */
  copy(f, NVC7B5_SET_REMAP_CONST_B, 0xccccdddd);
  copy(f, NVC7B5_SET_REMAP_COMPONENTS, 0x01030054);
  copy(f, NVC7B5_LINE_LENGTH_IN, 5);
  copy(f, NVC7B5_LINE_COUNT, 3);
  copy(f, NVC7B5_PITCH_OUT, 48);
  copy(f, NVC7B5_LAUNCH_DMA, 0x782);
  fixture_run(f);
  for (unsigned y = 0; y < 3; y++)
    for (unsigned i = 0; i < 5; i++)
      assert_true(((uint64_t *)(void *)to)[y * 6 + i] == UINT64_C(0xccccddddaaaabbbb));
}

static void copy_semaphores_release_and_reduce(void **state) {
  struct fixture *f = *state;
  const float a = 1.5f, b = 2.25f, sum = a + b;
  uint32_t b_bits;
  memcpy(&b_bits, &b, sizeof(b_bits));
  memcpy(f->data.cpu, &a, sizeof(a));
  *word_at(f, 16) = UINT64_MAX;
  *word_at(f, 32) = 5;
  const struct {
    unsigned offset;
    uint32_t payload, upper, launch;
  } rows[] = {
      {0, b_bits, 0, 1 << 3 | 10 << 14 | 1 << 19},                /* float add */
      {16, 2, 0, 1 << 3 | 5 << 14 | 1 << 18 | 1 << 19 | 1 << 27}, /* 64-bit add wraps */
      {32, 0xffffffff, 0, 1 << 3 | 0 << 14 | 1 << 19},            /* signed minimum */
      {48, 0x1234, 0x5678, 2 << 3 | 1 << 27},                     /* 64 bits and the time */
  };
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    copy(f, NVC7B5_SET_SEMAPHORE_A, (uint32_t)(f->data.va >> 32));
    copy(f, NVC7B5_SET_SEMAPHORE_B, (uint32_t)f->data.va + rows[i].offset);
    copy(f, NVC7B5_SET_SEMAPHORE_PAYLOAD, rows[i].payload);
    copy(f, NVC7B5_SET_SEMAPHORE_PAYLOAD_UPPER, rows[i].upper);
    copy(f, NVC7B5_LAUNCH_DMA, rows[i].launch);
  }
  fixture_run(f);
  assert_memory_equal(f->data.cpu, &sum, sizeof(sum));
  assert_true(*word_at(f, 16) == 1);
  assert_true(*word_at(f, 32) == 0xffffffff);
  assert_true(*word_at(f, 48) == UINT64_C(0x567800001234));
  assert_true(*word_at(f, 56) != 0);
}

static void invalid_copy_methods_fault(void **state) {
  static const struct {
    uint32_t method, data;
    const char *message;
  } rows[] = {
      {NVC7B5_LAUNCH_DMA, 0x1182,
       "class 0xc7b5 method 0x0300 LAUNCH_DMA, data 0x00001182: HCE_PRIV"},
      {NVC7B5_LAUNCH_DMA, 0x2182,
       "class 0xc7b5 method 0x0300 LAUNCH_DMA, data 0x00002182: HCE_PRIV"},
      {NVC7B5_LAUNCH_DMA, 0x183,
       "class 0xc7b5 method 0x0300 LAUNCH_DMA, data 0x00000183: HCE_RE_ILL"},
      {NVC7B5_LAUNCH_DMA, 0x1000182,
       "class 0xc7b5 method 0x0300 LAUNCH_DMA, data 0x01000182: a res"},
      {NVC7B5_LAUNCH_DMA, 0x18, "class 0xc7b5 method 0x0300 LAUNCH_DMA, data 0x00000018: SEM"},
      {NVC7B5_LAUNCH_DMA, 0x88008 | 12 << 14,
       "class 0xc7b5 method 0x0300 LAUNCH_DMA, data 0x000b8008"},
      {NVC7B5_SET_SRC_PHYS_MODE, 0,
       "class 0xc7b5 method 0x0260 SET_SRC_PHYS_MODE, data 0x00000000: HCE"},
      {0x304, 0, "class 0xc7b5 method 0x0304 (none), data 0x00000000: HCE_ILLEGAL_MTHD"},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fixture_setup(state);
    struct fixture *f = *state;
    copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
    copy_ends(f, f->code.va, f->code.va + 0x1000, 16);
    copy(f, rows[i].method, rows[i].data);
    fails(f, NOTIFIER_PBDMA_ERROR, rows[i].message);
    fixture_teardown(state);
  }
}

/* The second copy reads the data that the first one writes. */
static void pipelined_copies_keep_required_order(void **state) {
  struct fixture *f = *state;
  const uint64_t at = f->code.va;
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  copy_ends(f, at, at + 0x1000, 4096);
  copy(f, NVC7B5_LAUNCH_DMA, 0x181);
  copy_ends(f, at + 0x1000, at + 0x2000, 4096);
  copy(f, NVC7B5_LAUNCH_DMA, 0x182); /* waits */
  copy_ends(f, at + 0x4000, at + 0x3000, 4096);
  copy(f, NVC7B5_LAUNCH_DMA, 0x181); /* independent of the copies before it */
  fixture_run(f);                    /* a wait for idle completes them all */
  copy_ends(f, at + 0x3000, at + 0x5000, 4096);
  copy(f, NVC7B5_LAUNCH_DMA, 0x181);
  fixture_run(f);
  copy(f, NVC7B5_LAUNCH_DMA, 0x181);
  copy_ends(f, at + 0x5fff, at + 0x6000, 1);
  copy(f, NVC7B5_LAUNCH_DMA, 0x181);
  fails(f, NOTIFIER_PBDMA_ERROR, "class 0xc7b5 method 0x0300 LAUNCH_DMA");
}

/* While a copy of four billion empty lines runs, its channel can be closed and others continue. */
static void endless_copy_does_not_block_others(void **state) {
  struct fixture *f = *state;
  struct channel other;
  struct client own = f->c; /* its channel is bound to another TSG, which ends with it */
  client_open_tsg(&own);
  channel_open(&own, &other, 64, CLASS_COPY);
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_SET_OBJECT, CLASS_COPY);
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_OFFSET_OUT_UPPER, (uint32_t)(f->code.va >> 32));
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_OFFSET_OUT_LOWER, (uint32_t)f->code.va);
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_LINE_LENGTH_IN, 1);
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_LINE_COUNT, UINT32_MAX);
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_SET_REMAP_COMPONENTS, 4);
  push_method(&other, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 0x782);
  submit(&own, &other);
  fixture_run(f);
  channel_close(&own, &other);
  assert_int_equal(OS->close(own.tsg), 0);
  fixture_run(f);
}

/* ---- conditional work ---- */

static void render_enable_skips_work(void **state) {
  static const struct {
    uint32_t mode;
    uint64_t here, there; /* 16 bytes further on */
    bool holds;
  } rows[] = {
      {0, 1, 1, false}, {1, 0, 0, true},  {2, 0, 1, false}, {2, UINT64_C(1) << 40, 0, true},
      {3, 7, 7, true},  {3, 7, 8, false}, {4, 7, 7, false}, {4, 7, UINT64_C(7) << 32, true},
  };
  struct fixture *f = *state;
  const unsigned place = 512;
  const uint32_t low = (uint32_t)f->data.va + place, high = (uint32_t)(f->data.va >> 32);
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  uint64_t ran = 0;
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    *word_at(f, place) = rows[i].here;
    *word_at(f, place + 16) = rows[i].there;
    *(uint32_t *)fixture_data(f, 64) = 0;
    /* Uses the channel's condition and the global one in turn. */
    compute(f, i % 2 ? NVC7C0_SET_RENDER_ENABLE_A : NVC7C0_SET_GLOBAL_RENDER_ENABLE_A, high);
    compute(f, i % 2 ? NVC7C0_SET_RENDER_ENABLE_B : NVC7C0_SET_GLOBAL_RENDER_ENABLE_B, low);
    compute(f, i % 2 ? NVC7C0_SET_RENDER_ENABLE_C : NVC7C0_SET_GLOBAL_RENDER_ENABLE_C,
            rows[i].mode);
    fixture_launch(f, 0, PCAS_SCHEDULE);
    compute(f, NVC7C0_SET_RENDER_ENABLE_C, RENDER_ENABLE_ALWAYS);
    compute(f, NVC7C0_SET_GLOBAL_RENDER_ENABLE_C, RENDER_ENABLE_ALWAYS);
    copy(f, NVC7B5_SET_RENDER_ENABLE_A, high);
    copy(f, NVC7B5_SET_RENDER_ENABLE_B, low);
    copy(f, NVC7B5_SET_RENDER_ENABLE_C, rows[i].mode);
    copy(f, NVC7B5_SET_SEMAPHORE_A, high);
    copy(f, NVC7B5_SET_SEMAPHORE_B, (uint32_t)f->data.va + 64);
    copy(f, NVC7B5_SET_SEMAPHORE_PAYLOAD, 1);
    copy(f, NVC7B5_LAUNCH_DMA, 1 << 3);
    fixture_run(f);
    ran += rows[i].holds;
    if (*word_at(f, 0) != ran)
      print_error("row %u\n", i);
    assert_int_equal(*word_at(f, 0), ran);
    assert_int_equal(*(uint32_t *)fixture_data(f, 64), rows[i].holds);
  }
  /* The override takes precedence over the channel's condition. */
  compute(f, NVC7C0_SET_RENDER_ENABLE_C, RENDER_ENABLE_NEVER);
  compute(f, NVC7C0_SET_RENDER_ENABLE_OVERRIDE, RENDER_OVERRIDE_ALWAYS);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), ran + 1);
  compute(f, NVC7C0_SET_RENDER_ENABLE_C, RENDER_ENABLE_ALWAYS);
  compute(f, NVC7C0_SET_RENDER_ENABLE_OVERRIDE, RENDER_OVERRIDE_NEVER);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), ran + 1);
  compute(f, NVC7C0_SET_RENDER_ENABLE_OVERRIDE, RENDER_OVERRIDE_NONE);
  compute(f, NVC7C0_SET_RENDER_ENABLE_B, low + 8);
  compute(f, NVC7C0_SET_RENDER_ENABLE_C, RENDER_ENABLE_CONDITIONAL);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fails(f, NOTIFIER_GR_EXCEPTION, "SET_RENDER_ENABLE: address");
}

/* ---- scheduling ---- */

/* Slot 0 waits for two events: the end of the grid of slot 1, and an action. */
static void dependent_grid_waits_for_counter(void **state) {
  struct fixture *f = *state;
  const uint64_t bank = f->code.va + 0x8000;
  qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), bank, 3);
  qmd_set(fixture_qmd(f, 0), QMD_DEPENDENCE_COUNTER, 1);
  qmd_make(fixture_qmd(f, 1), adder(f, 1, 8), bank, 5);
  qmd_set(fixture_qmd(f, 1), QMD_DEPENDENT_QMD0_ENABLE, 1);
  qmd_set(fixture_qmd(f, 1), QMD_DEPENDENT_QMD0_ACTION, DEPENDENT_DECREMENT_DEPENDENCE);
  qmd_set(fixture_qmd(f, 1), QMD_DEPENDENT_QMD0_POINTER, (uint32_t)(qmd_va(f, 0) >> 8));
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_INCREMENT_DEPENDENCE);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fixture_launch(f, 1, PCAS_SCHEDULE);
  push_semaphore(&f->ch, f->data.va + 64, 1, RELEASE_64);
  submit(&f->c, &f->ch);
  assert_true(wait_word(word_at(f, 8), 5));
  assert_true(wait_word(word_at(f, 64), 1));
  assert_int_equal(*word_at(f, 0), 0);
  fixture_launch(f, 0, PCAS_DECREMENT_DEPENDENCE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 3);
  /* The counter reaches zero, but the descriptor also requires a scheduling action. */
  qmd_set(fixture_qmd(f, 0), QMD_REQUIRE_SCHEDULING_PCAS, 1);
  fixture_launch(f, 0, PCAS_DECREMENT_DEPENDENCE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 3);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 6);
  /* The action, instead of the field, can require scheduling. */
  qmd_set(fixture_qmd(f, 0), QMD_REQUIRE_SCHEDULING_PCAS, 0);
  fixture_launch(f, 0, PCAS_INVALIDATE_PREFETCH_COPY_FORCE_REQUIRE_SCHEDULING);
  fixture_launch(f, 0, PCAS_DECREMENT_DEPENDENCE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 6);
  /* The counter is reset. */
  fixture_launch(f, 0, PCAS_INVALIDATE);
  fixture_launch(f, 0, PCAS_DECREMENT_DEPENDENCE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 9);
  /* These change nothing. */
  fixture_launch(f, 1, PCAS_NOP);
  fixture_launch(f, 1, PCAS_PREFETCH);
  fixture_launch(f, 1, PCAS_INCREMENT_CWD_REF_COUNTER);
  fixture_run(f);
  assert_int_equal(*word_at(f, 8), 5);
}

static void invalid_launch_actions_fault(void **state) {
  static const struct {
    uint32_t counter, actions[2];
    const char *message;
  } rows[] = {
      {0, {PCAS_DECREMENT_DEPENDENCE, PCAS_NOP}, "SKED ESR bit 8:"},
      {0, {PCAS_SCHEDULE, PCAS_INVALIDATE_COPY_SCHEDULE}, "SKED ESR bit 29:"},
      {1, {PCAS_SCHEDULE, PCAS_INVALIDATE}, "SKED ESR bit 29:"},
      {1, {PCAS_SCHEDULE, PCAS_NOP}, "QMD at"}, /* and WAIT_FOR_IDLE waits for it */
      {0, {PCAS_INCREMENT_PUT, PCAS_NOP}, "QMD at"},
      {0, {15, PCAS_NOP}, "QMD at"},
      {0xffff, {PCAS_INCREMENT_DEPENDENCE, PCAS_NOP}, "QMD at"},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fixture_setup(state);
    struct fixture *f = *state;
    qmd_make(fixture_qmd(f, 0), adder(f, 0, 0), f->code.va + 0x8000, 1);
    qmd_set(fixture_qmd(f, 0), QMD_DEPENDENCE_COUNTER, rows[i].counter);
    push_compute_setup(&f->ch);
    fixture_launch(f, 0, rows[i].actions[0]);
    fixture_launch(f, 0, rows[i].actions[1]);
    compute(f, NVC7C0_WAIT_FOR_IDLE, 0);
    fails(f, NOTIFIER_GR_EXCEPTION, rows[i].message);
    fixture_teardown(state);
  }
}

/* A preempted grid that is launched again runs only the CTAs that had not run. */
static void resumed_grid_runs_remaining_ctas(void **state) {
  struct fixture *f = *state;
  uint32_t *q = fixture_qmd(f, 0);
  qmd_make(q, adder(f, 0, 0), f->code.va + 0x8000, 10);
  qmd_set(q, QMD_CTA_RASTER_HEIGHT, 4);
  qmd_set(q, QMD_CTA_RASTER_WIDTH_RESUME, 7);
  qmd_set(q, QMD_CTA_RASTER_HEIGHT_RESUME, 2);
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 13);
}

/* A release of a descriptor can be a reduction, or a store of one word or of two. */
static void qmd_releases_can_reduce(void **state) {
  struct fixture *f = *state;
  uint32_t *q = fixture_qmd(f, 0);
  qmd_make(q, adder(f, 0, 0), f->code.va + 0x8000, 1);
  *word_at(f, 128) = 40;
  *word_at(f, 144) = UINT64_MAX;
  qmd_set(q, QMD_RELEASE0_ENABLE, 1);
  qmd_set(q, QMD_RELEASE0_ADDRESS_LOWER, (uint32_t)f->data.va + 128);
  qmd_set(q, QMD_RELEASE0_ADDRESS_UPPER, (uint32_t)(f->data.va >> 32));
  qmd_set(q, QMD_RELEASE0_STRUCTURE_SIZE, REPORT_ONE_WORD);
  qmd_set(q, QMD_RELEASE0_REDUCTION_ENABLE, 1);
  qmd_set(q, QMD_RELEASE0_PAYLOAD_LOWER, 2); /* operation 0: add */
  qmd_set(q, QMD_RELEASE1_ENABLE, 1);
  qmd_set(q, QMD_RELEASE1_ADDRESS_LOWER, (uint32_t)f->data.va + 144);
  qmd_set(q, QMD_RELEASE1_ADDRESS_UPPER, (uint32_t)(f->data.va >> 32));
  qmd_set(q, QMD_RELEASE1_STRUCTURE_SIZE, REPORT_TWO_WORDS);
  qmd_set(q, QMD_RELEASE1_PAYLOAD_LOWER, 9);
  qmd_set(q, QMD_RELEASE1_PAYLOAD_UPPER, 9); /* not asked for */
  push_compute_setup(&f->ch);
  fixture_launch(f, 0, PCAS_SCHEDULE);
  fixture_run(f);
  assert_true(*word_at(f, 128) == 42);
  assert_true(*word_at(f, 144) == 9);
}

/* The acquire of the compute engine's front end. */
static void report_acquire_waits_for_payload(void **state) {
  struct fixture *f = *state;
  push_compute_setup(&f->ch);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER, 7);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_UPPER, 0);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_LOWER, (uint32_t)f->data.va);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER, (uint32_t)(f->data.va >> 32));
  compute(f, NVC7C0_REPORT_SEMAPHORE_EXECUTE, REPORT_ACQUIRE | REPORT_ONE_WORD << 3);
  push_semaphore(&f->ch, f->data.va + 8, 1, 1);
  submit(&f->c, &f->ch);
  usleep(3000);
  assert_int_equal(*word_at(f, 8), 0);
  __atomic_store_n(word_at(f, 0), 7, __ATOMIC_SEQ_CST);
  assert_true(wait_word(fixture_data(f, 8), 1));
}

/* Which methods wait for earlier grids, and which discard decoded code. */
static void methods_wait_for_grids_as_on_a_board(void **state) {
  static const struct {
    uint32_t method, data;
    bool waits, forgets;
  } rows[] = {
      {NVC7C0_NO_OPERATION, 0, false, false},
      {NVC7C0_WAIT_FOR_IDLE, 0, true, false},
      {NVC7C0_PM_TRIGGER_WFI, 0, true, false},
      {NVC7C0_INVALIDATE_SHADER_CACHES, 0x1010, true, false},
      {NVC7C0_INVALIDATE_SHADER_CACHES, 0x1011, true, true},
      {NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI, 0x1010, false, false},
      {NVC7C0_INVALIDATE_SAMPLER_CACHE, 0, true, false},
      {NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE, 0, true, false},
      {NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE, 0, true, false},
      {NVC7C0_INVALIDATE_SAMPLER_CACHE_NO_WFI, 0, false, false},
      {NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE_NO_WFI, 0, false, false},
      {NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE_NO_WFI, 0, false, false},
      {NVC7C0_INVALIDATE_SKED_CACHES, 0, false, false},
  };
  struct fixture *f = *state;
  uint64_t p = fixture_program(
      f, 0,
      &(struct fake_program){
          .operation = FAKE_SPIN, .address = f->data.va, .value = 1, .address2 = f->data.va + 8});
  qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, 1);
  push_compute_setup(&f->ch);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    __atomic_store_n(word_at(f, 0), 0, __ATOMIC_SEQ_CST);
    *word_at(f, 64) = 0;
    unsigned before = fake_sm_invalidations;
    fixture_launch(f, 0, PCAS_SCHEDULE);
    compute(f, rows[i].method, rows[i].data);
    push_semaphore(&f->ch, f->data.va + 64, 1, RELEASE_64);
    submit(&f->c, &f->ch);
    if (rows[i].waits)
      usleep(2000);
    else
      assert_true(wait_word(word_at(f, 64), 1));
    assert_int_equal(*word_at(f, 64), !rows[i].waits);
    __atomic_store_n(word_at(f, 0), 1, __ATOMIC_SEQ_CST);
    fixture_run(f);
    assert_int_equal(fake_sm_invalidations - before, rows[i].forgets);
  }
  /* The variant that does not wait, while nothing runs. */
  unsigned before = fake_sm_invalidations;
  compute(f, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI, 1);
  fixture_run(f);
  assert_int_equal(fake_sm_invalidations - before, 1);
}

/* ---- turns ---- */

static struct client client_of_tsg(const struct client *c, uint32_t timeslice_us, uint32_t level) {
  struct client other = *c;
  struct nvgpu_gpu_open_tsg_args tsg = {0};
  EXPECT(0, c->ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, tsg);
  other.tsg = (int)tsg.tsg_fd;
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = c->as};
  EXPECT(0, other.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  other.veid = sub.veid;
  struct nvgpu_timeslice_args slice = {.timeslice_us = timeslice_us};
  EXPECT(0, other.tsg, NVGPU_IOCTL_TSG_SET_TIMESLICE, slice);
  struct nvgpu_runlist_interleave_args interleave = {.level = level};
  EXPECT(0, other.tsg, NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, interleave);
  return other;
}

/* Offsets: the grids wait until GATE is written, and end when END is. */
enum { END = 0, GATE = 8 };

/* Pushes a grid that counts its turns in word i, from the time when GATE is written until END
 * is. */
static void count_turns(struct fixture *f, struct channel *ch, unsigned i) {
  *word_at(f, 64 + i * 64) = 0;
  uint64_t p = fixture_program(f, i,
                               &(struct fake_program){.operation = FAKE_COUNT,
                                                      .address = f->data.va + END,
                                                      .value = 1,
                                                      .address2 = f->data.va + 64 + i * 64});
  qmd_make(fixture_qmd(f, i), p, f->code.va + 0x8000, 1);
  push_semaphore(ch, f->data.va + GATE, 1, 0);
  push_compute_setup(ch);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, (uint32_t)(qmd_va(f, i) >> 8));
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_SCHEDULE);
}

static void open_gate(struct fixture *f) {
  fake_slice_count = 0;
  __atomic_store_n(word_at(f, GATE), 1, __ATOMIC_SEQ_CST);
}

struct sharer {
  uint32_t timeslice_us, level;
};

static bool slices_have_passed(const void *unused, uint32_t count) {
  return fake_slice_count > count;
}

/* Runs endless grids of count TSGs until they have had this many slices. */
static void share(struct fixture *f, const struct sharer *sharers, unsigned count,
                  uint32_t slices) {
  enum { SHARERS_MAX = 4 };
  struct client c[SHARERS_MAX];
  struct channel ch[SHARERS_MAX];
  *word_at(f, END) = *word_at(f, GATE) = 0;
  for (unsigned i = 0; i < count; i++) {
    c[i] = client_of_tsg(&f->c, sharers[i].timeslice_us, sharers[i].level);
    channel_open(&c[i], &ch[i], 64, CLASS_COMPUTE);
    count_turns(f, &ch[i], i);
    submit(&c[i], &ch[i]);
  }
  open_gate(f);
  assert_true(wait_until(slices_have_passed, NULL, slices));
  __atomic_store_n(word_at(f, END), 1, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < count; i++) {
    channel_close(&c[i], &ch[i]);
    assert_int_equal(OS->close(c[i].tsg), 0);
  }
}

/* Returns the sharer that had the slice. */
static unsigned sharer_of(const struct fixture *f, uint32_t slice) {
  return (unsigned)(fake_slices[slice].address2 - f->data.va) / 64 - 1;
}

/* Bounds of a sharer's shortest slice. It began after the last turn of the slice before it and
 * ended before the first turn of the one after it; its own turns lie within it. */
struct shortest {
  uint64_t at_most_us, at_least_us;
};

static struct shortest shortest_slice(const struct fixture *f, unsigned sharer, uint32_t slices) {
  struct shortest shortest = {UINT64_MAX, UINT64_MAX};
  for (uint32_t i = 1; i + 1 < slices; i++) {
    const struct fake_slice *slice = &fake_slices[i];
    const uint64_t most = (slice[1].first_ns - slice[-1].last_ns) / 1000;
    const uint64_t least = (slice->last_ns - slice->first_ns) / 1000;
    if (sharer_of(f, i) != sharer)
      continue;
    shortest.at_most_us = most < shortest.at_most_us ? most : shortest.at_most_us;
    shortest.at_least_us = least < shortest.at_least_us ? least : shortest.at_least_us;
  }
  return shortest;
}

static bool counts_more(const void *turns, uint32_t than) {
  return __atomic_load_n((const uint64_t *)turns, __ATOMIC_SEQ_CST) > than;
}

/* Endless grids on three channels of two TSGs all get turns. */
static void all_channels_get_turns(void **state) {
  struct fixture *f = *state;
  enum { CHANNELS = 3, TURNS = 20 };
  struct client other = client_of_tsg(&f->c, 1000, NVGPU_INTERLEAVE_HIGH);
  struct client *of[CHANNELS] = {&f->c, &f->c, &other};
  struct channel ch[CHANNELS];
  for (unsigned i = 0; i < CHANNELS; i++) {
    channel_open(of[i], &ch[i], 64, CLASS_COMPUTE);
    count_turns(f, &ch[i], i);
    submit(of[i], &ch[i]);
  }
  open_gate(f);
  for (unsigned i = 0; i < CHANNELS; i++)
    assert_true(wait_until(counts_more, word_at(f, 64 + i * 64), TURNS));
  __atomic_store_n(word_at(f, END), 1, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < CHANNELS; i++)
    channel_close(of[i], &ch[i]);
  assert_int_equal(OS->close(other.tsg), 0);
}

/* However busy the machine is, a slice is not shorter than its length, and no turn begins long
 * after its end. */
static void time_slices_have_their_length(void **state) {
  struct fixture *f = *state;
  enum { SHARERS = 2, SLICES = 30, LATE_US = 25000 };
  static const struct sharer rows[][SHARERS] = {{{1024, 0}, {1024, 0}}, {{1000, 0}, {50000, 0}}};
  for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
    share(f, rows[row], SHARERS, SLICES);
    for (unsigned i = 0; i < SHARERS; i++) {
      const struct shortest shortest = shortest_slice(f, i, SLICES);
      assert_true(shortest.at_most_us >= rows[row][i].timeslice_us);
      assert_true(shortest.at_least_us < rows[row][i].timeslice_us + LATE_US);
    }
  }
}

/* nvgpu's runlist for the levels low, low, medium, high: H M H L H M H L. */
static void runlist_interleaves_levels(void **state) {
  struct fixture *f = *state;
  static const struct sharer sharers[] = {{1000, NVGPU_INTERLEAVE_LOW},
                                          {1000, NVGPU_INTERLEAVE_LOW},
                                          {1000, NVGPU_INTERLEAVE_MEDIUM},
                                          {1000, NVGPU_INTERLEAVE_HIGH}};
  static const unsigned list[] = {0, 3, 2, 3, 1, 3, 2, 3};
  enum { LENGTH = sizeof(list) / sizeof(list[0]), ROUNDS = 4 };
  share(f, sharers, sizeof(sharers) / sizeof(sharers[0]), (ROUNDS + 2) * LENGTH);
  /* During the first round the channels find the gate open one after another. */
  uint32_t first = LENGTH;
  while (first < 2 * LENGTH && sharer_of(f, first) != list[0])
    first++;
  for (uint32_t i = 0; i < ROUNDS * LENGTH; i++)
    assert_int_equal(sharer_of(f, first + i), list[i % LENGTH]);
}

/* ---- waiting ---- */

static uint32_t turns_of(const struct channel *ch) {
  pthread_mutex_lock(&emu_gpu.lock);
  const uint32_t turns =
      ((const struct emu_channel *)emu_table_get_kind(ch->fd, EMU_CHANNEL))->engine->turns;
  pthread_mutex_unlock(&emu_gpu.lock);
  return turns;
}

static bool had_turns(const void *ch, uint32_t count) {
  return turns_of(ch) >= count;
}

/* While two channels wait for words that only the CPU can write, the engine polls rarely. */
static void waiting_acquires_poll_rarely(void **state) {
  struct fixture *f = *state;
  enum { PAUSE_US = 500 }; /* between two unsuccessful polls */
  struct channel other;
  channel_open(&f->c, &other, 64, CLASS_COMPUTE);
  push_semaphore(&f->ch, f->data.va, 1, 0);
  push_semaphore(&f->ch, f->data.va + 64, 1, 1);
  submit(&f->c, &f->ch);
  push_semaphore(&other, f->data.va, 1, 0x1000);
  push_semaphore(&other, f->data.va + 128, 1, 1);
  submit(&f->c, &other);
  assert_true(wait_until(had_turns, &f->ch, 1) && wait_until(had_turns, &other, 1));
  usleep(100000);
  const uint64_t begin = emu_time_ns();
  const uint32_t before = turns_of(&f->ch) + turns_of(&other);
  usleep(200000);
  const uint32_t turns = turns_of(&f->ch) + turns_of(&other) - before;
  const uint64_t us = (emu_time_ns() - begin) / 1000;
  print_message("%u turns in %u us\n", turns, (unsigned)us);
  assert_true(turns <= us / PAUSE_US + 2);
  __atomic_store_n(word_at(f, 0), 1, __ATOMIC_SEQ_CST);
  assert_true(wait_word(fixture_data(f, 64), 1));
  assert_true(wait_word(fixture_data(f, 128), 1));
  channel_close(&f->c, &other);
}

/* A process can exit while its channels execute an acquire, a grid or a copy. */
static void process_exits_while_busy(void **state) {
  (void)state;
  for (unsigned what = 0; what < 3; what++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      void *own = NULL;
      alarm(PATIENCE_MS / 1000);
      fixture_setup(&own);
      struct fixture *f = own;
      push_compute_setup(&f->ch);
      copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
      if (what == 0)
        push_semaphore(&f->ch, f->data.va, 1, 0);
      uint64_t p = fixture_program(
          f, 0, &(struct fake_program){.operation = FAKE_SPIN, .address = f->data.va, .value = 1});
      qmd_make(fixture_qmd(f, 0), p, f->code.va + 0x8000, 40);
      if (what == 1)
        fixture_launch(f, 0, PCAS_SCHEDULE);
      copy_ends(f, 0, f->code.va, 1);
      copy(f, NVC7B5_LINE_COUNT, UINT32_MAX);
      copy(f, NVC7B5_SET_REMAP_COMPONENTS, 4);
      copy(f, NVC7B5_LAUNCH_DMA, 0x782);
      submit(&f->c, &f->ch);
      usleep(20000);
      exit(3);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(process_exits_while_busy), /* first: it forks */
      TEST(block_linear_copies_keep_contents),
      TEST(inline_data_is_written_block_linear),
      TEST(copies_exchange_and_fill_components),
      TEST(copy_semaphores_release_and_reduce),
      cmocka_unit_test(invalid_copy_methods_fault),
      TEST(pipelined_copies_keep_required_order),
      TEST(endless_copy_does_not_block_others),
      TEST(render_enable_skips_work),
      TEST(dependent_grid_waits_for_counter),
      cmocka_unit_test(invalid_launch_actions_fault),
      TEST(resumed_grid_runs_remaining_ctas),
      TEST(qmd_releases_can_reduce),
      TEST(report_acquire_waits_for_payload),
      TEST(methods_wait_for_grids_as_on_a_board),
      TEST(all_channels_get_turns),
      TEST(time_slices_have_their_length),
      TEST(runlist_interleaves_levels),
      TEST(waiting_acquires_poll_rarely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
