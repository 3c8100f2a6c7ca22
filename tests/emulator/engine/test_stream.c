/* The command stream: header forms, semaphore operations, GPFIFO entries, inline-to-memory, copies,
 * several channels. docs/hardware/command-stream.md 1 to 4, 7. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "emulator/descriptors.h"
#include "emulator/engine/engine.h"
#include "emulator/gpu.h"
#include "emulator/objects.h"
#include "tests/emulator/client.h"

static uint64_t *word_at(struct fixture *f, unsigned offset) {
  return fixture_data(f, offset);
}

static void semaphore_releases_write_memory(void **state) {
  struct fixture *f = *state;
  memset(f->data.cpu, 0xff, 128);
  push_semaphore(&f->ch, f->data.va, UINT64_C(0x1122334455667788), 1); /* 32 bits */
  push_semaphore(&f->ch, f->data.va + 8, UINT64_C(0x1122334455667788), RELEASE_64);
  push_semaphore(&f->ch, f->data.va + 16, UINT64_C(0x1122334455667788), 0x02000001);
  push_semaphore(&f->ch, f->data.va + 32, UINT64_C(0x1122334455667788), RELEASE_64_WFI_TIME);
  fixture_run(f);
  assert_true(*word_at(f, 0) == UINT64_C(0xffffffff55667788));
  assert_true(*word_at(f, 8) == UINT64_C(0x1122334455667788));
  assert_true(*word_at(f, 16) == UINT64_C(0x55667788)); /* the high word is 0 */
  assert_true(*word_at(f, 24) && *word_at(f, 24) % 32 == 0);
  assert_true(*word_at(f, 32) == UINT64_C(0x1122334455667788));
  assert_true(*word_at(f, 40) >= *word_at(f, 24));
}

static void semaphore_reductions_compute_results(void **state) {
  struct fixture *f = *state;
  const uint32_t wide = 1u << 24, is_unsigned = 1u << 31;
  const struct {
    uint32_t op, flags;
    uint64_t memory, payload, result;
  } rows[] = {
      {0, 0, 5, 0xffffffff, 0xffffffff},
      {0, is_unsigned, 5, 0xffffffff, 5},
      {1, 0, 5, 0xffffffff, 5},
      {1, is_unsigned, 5, 0xffffffff, 0xffffffff},
      {2, 0, 0xf0, 0x3c, 0xcc},
      {3, 0, 0xf0, 0x3c, 0x30},
      {4, 0, 0xf0, 0x3c, 0xfc},
      {5, 0, 0xffffffff, 2, 1},
      {6, is_unsigned, 7, 7, 0},
      {6, is_unsigned, 6, 7, 7},
      {7, is_unsigned, 0, 7, 7},
      {7, is_unsigned, 8, 7, 7},
      {7, is_unsigned, 3, 7, 2},
      {0, wide, 5, UINT64_MAX, UINT64_MAX},
      {1, wide | is_unsigned, 5, UINT64_MAX, UINT64_MAX},
      {5, wide | is_unsigned, 0xffffffff, 2, UINT64_C(0x100000001)},
      {4, wide, 1, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1},
  };
  const unsigned count = sizeof(rows) / sizeof(rows[0]);
  for (unsigned i = 0; i < count; i++) {
    *word_at(f, i * 8) = rows[i].memory;
    push_semaphore(&f->ch, f->data.va + i * 8, rows[i].payload,
                   6 | rows[i].op << 27 | rows[i].flags);
  }
  fixture_run(f);
  for (unsigned i = 0; i < count; i++)
    assert_int_equal(*word_at(f, i * 8), rows[i].result);
}

/* Each acquire gets a value that does not satisfy it, then one that does. */
static void semaphore_acquires_wait_for_values(void **state) {
  struct fixture *f = *state;
  const uint32_t wide = 1u << 24, others = 1u << 12;
  const struct {
    uint32_t execute;
    uint64_t payload, no, yes;
  } rows[] = {
      {0, 7, 8, 7},
      {0 | wide, UINT64_C(7) << 32 | 1, 1, UINT64_C(7) << 32 | 1},
      {2, 0x80000000, 0x7fffffff, 0x80000001},
      {2 | wide, 10, 9, UINT64_MAX},
      {3, 5, 0xfffffff0, 6},
      {3, 0xfffffff0, 0xffffffef, 3},
      {3 | wide | others, 100, 99, 101},
      {4, 0x30, 0xf, 0x10},
      {5, 0xffff0000, 0xffff, 0x7fff},
      {5 | wide, UINT64_MAX - 1, 1, 0},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    *word_at(f, 0) = rows[i].no;
    *word_at(f, 8) = 0;
    push_semaphore(&f->ch, f->data.va, rows[i].payload, rows[i].execute);
    push_semaphore(&f->ch, f->data.va + 8, 1, 1);
    submit(&f->c, &f->ch);
    usleep(3000);
    assert_int_equal(*word_at(f, 8), 0);
    __atomic_store_n(word_at(f, 0), rows[i].yes, __ATOMIC_SEQ_CST);
    assert_true(wait_word(fixture_data(f, 8), 1));
  }
}

static void all_method_header_forms_are_decoded(void **state) {
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  uint32_t va = (uint32_t)f->data.va, high = (uint32_t)(f->data.va >> 32);
  /* The old increasing form: count 28:18, address 12:2. */
  push(ch, 5u << 18 | NVC76F_SEM_ADDR_LO);
  push(ch, va);
  push(ch, high);
  push(ch, 0x11);
  push(ch, 0);
  push(ch, 1);
  /* The old fixed form, and IMMD for the payload and the execution. */
  push(ch, 2u << 29 | 1u << 18 | NVC76F_SEM_ADDR_LO);
  push(ch, va + 8);
  push(ch, method_header(METHOD_IMMD, SUBCHANNEL_3D, NVC76F_SEM_PAYLOAD_LO, 0x1fff));
  push(ch, method_header(METHOD_IMMD, SUBCHANNEL_3D, NVC76F_SEM_EXECUTE, 1));
  /* NON_INC: of three payloads, the last one counts. */
  push(ch, method_header(METHOD_NON_INC, SUBCHANNEL_3D, NVC76F_SEM_PAYLOAD_LO, 3));
  push(ch, 1);
  push(ch, 2);
  push(ch, 0x33);
  push_method(ch, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, va + 16);
  push_method(ch, SUBCHANNEL_3D, NVC76F_SEM_EXECUTE, 1);
  /* ONE_INC: the first word goes to the low payload, all others to the high one. */
  push(ch, method_header(METHOD_ONE_INC, SUBCHANNEL_3D, NVC76F_SEM_PAYLOAD_LO, 3));
  push(ch, 0x44);
  push(ch, 9);
  push(ch, 0x55);
  push_method(ch, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, va + 24);
  push_method(ch, SUBCHANNEL_3D, NVC76F_SEM_EXECUTE, RELEASE_64);
  push(ch, 0);                                                               /* no-op */
  push(ch, method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_EXECUTE, 0)); /* count 0 */
  /* The methods are for another sub-device, so they are skipped. */
  push(ch, 1u << 16 | 2u << 4);
  push_semaphore(ch, f->data.va + 32, 0x66, 1);
  push(ch, 1u << 16 | 1u << 4);
  fixture_run(f);
  assert_int_equal(*word_at(f, 0), 0x11);
  assert_int_equal(*word_at(f, 8), 0x1fff);
  assert_int_equal(*word_at(f, 16), 0x33);
  assert_int_equal(*word_at(f, 24), UINT64_C(0x5500000044));
  assert_int_equal(*word_at(f, 32), 0);
  /* END_PB_SEGMENT: the rest of the segment is skipped. */
  push(ch, method_header(METHOD_END_PB_SEGMENT, SUBCHANNEL_3D, 0, 0));
  push_semaphore(ch, f->data.va + 40, 0x77, 1);
  submit(&f->c, ch);
  fixture_run(f);
  assert_int_equal(*word_at(f, 40), 0);
}

static bool is_asleep(const void *ch, uint32_t unused) {
  pthread_mutex_lock(&emu_gpu.lock);
  const bool busy =
      emu_channel_busy(emu_table_get_kind(((const struct channel *)ch)->fd, EMU_CHANNEL));
  pthread_mutex_unlock(&emu_gpu.lock);
  return !busy;
}

/* A header in one segment and its data in others; entries with SYNC and LEVEL, and control
 * entries. */
static void methods_continue_across_segments(void **state) {
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  push_semaphore(ch, f->data.va, 0xabcd, 1);
  uint64_t level = UINT64_C(1) << 41, control_nop = 0;
  submit_entry(&f->c, ch, gp_entry(ch->push.va, 1, 0));
  submit_entry(&f->c, ch, control_nop);
  submit_entry(&f->c, ch, gp_entry(ch->push.va + 4, 3, 1) | level);
  usleep(2000);
  assert_int_equal(*word_at(f, 0), 0);
  submit_entry(&f->c, ch, gp_entry(ch->push.va + 16, 2, 0));
  assert_true(wait_word(f->data.cpu, 0xabcd));
  /* One doorbell for many entries. The engine is asleep, so it will not read GP_PUT before that. */
  assert_true(wait_until(is_asleep, ch, 0));
  ch->start = (uint32_t)(ch->word - (uint32_t *)ch->push.cpu);
  for (uint32_t i = 0; i < 8; i++) {
    push_semaphore(ch, f->data.va + 64, i, 1);
    ((uint64_t *)ch->ring.cpu)[ch->put] = gp_entry(ch->push.va + ch->start * 4, 6, 0);
    ch->put++;
    ch->start += 6;
  }
  __atomic_store_n((uint32_t *)(void *)((char *)ch->userd.cpu + USERD_GP_PUT), ch->put,
                   __ATOMIC_SEQ_CST);
  usleep(3000);
  assert_int_equal(*word_at(f, 64), 0); /* writing GP_PUT without a doorbell has no effect */
  OS->doorbell(f->c.page, ch->token);
  assert_true(wait_word(fixture_data(f, 64), 7));
  assert_true(wait_word((char *)ch->userd.cpu + USERD_GP_GET, ch->put));
}

/* The host need not write its progress for each entry, but must before it waits. */
static void progress_is_written_before_a_wait(void **state) {
  enum { ENTRIES = 20, WAITS_AT = 5, WORDS = 6 };
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  const void *get = (char *)ch->userd.cpu + USERD_GP_GET;
  const uint32_t begin = ch->put;
  *word_at(f, 0) = 0;
  for (uint32_t i = 0; i < ENTRIES; i++) {
    const bool waits = i == WAITS_AT;
    push_semaphore(ch, f->data.va + (waits ? 0 : 64), waits ? 1 : i, waits ? 0 : 1);
    ((uint64_t *)ch->ring.cpu)[ch->put] = gp_entry(ch->push.va + ch->start * 4, WORDS, 0);
    ch->put = (ch->put + 1) % ch->entries;
    ch->start += WORDS;
  }
  __atomic_store_n((uint32_t *)(void *)((char *)ch->userd.cpu + USERD_GP_PUT), ch->put,
                   __ATOMIC_SEQ_CST);
  OS->doorbell(f->c.page, ch->token);
  assert_true(wait_word(get, (begin + WAITS_AT + 1) % ch->entries));
  assert_int_equal(*word_at(f, 64), WAITS_AT - 1);
  __atomic_store_n(word_at(f, 0), 1, __ATOMIC_SEQ_CST);
  assert_true(wait_word(get, ch->put));
  assert_true(wait_word(fixture_data(f, 64), ENTRIES - 1));
}

static void host_methods_are_executed(void **state) {
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  push_method(ch, SUBCHANNEL_COPY, NVC76F_NOP, 1);
  push_method(ch, SUBCHANNEL_3D, NVC76F_WFI, 1);
  push(ch, method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_MEM_OP_A, 4));
  push(ch, 0);
  push(ch, 0);
  push(ch, 0);
  push(ch, 5u << 27);
  push_method(ch, SUBCHANNEL_3D, NVC76F_YIELD, 3);
  push_method(ch, SUBCHANNEL_3D, NVC76F_SET_REFERENCE, 0x1234);
  fixture_run(f);
  assert_int_equal(*(uint32_t *)(void *)((char *)ch->userd.cpu + USERD_REF), 0x1234);
}

static void inline_to_memory_writes_lines(void **state) {
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  push_compute_setup(ch);
  /* Two lines of 6 bytes, 16 bytes apart; the ONE_INC header that NVK uses. */
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_LINE_LENGTH_IN, 5));
  push(ch, 6);
  push(ch, 2);
  push(ch, (uint32_t)(f->data.va >> 32));
  push(ch, (uint32_t)f->data.va);
  push(ch, 16);
  push(ch, method_header(METHOD_ONE_INC, SUBCHANNEL_COMPUTE, NVC7C0_LAUNCH_DMA, 4));
  push(ch, 0x41);
  push(ch, 0x64636261);
  push(ch, 0x68676665);
  push(ch, 0x6c6b6a69);
  /* 3001 bytes through NON_INC, then its own semaphore. */
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_LINE_LENGTH_IN, 4));
  push(ch, 3001);
  push(ch, 1);
  push(ch, (uint32_t)(f->data.va >> 32));
  push(ch, (uint32_t)f->data.va + 64);
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_I2M_SEMAPHORE_A, 3));
  push(ch, (uint32_t)(f->data.va >> 32));
  push(ch, (uint32_t)f->data.va + 3200);
  push(ch, 0x5a5a);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_LAUNCH_DMA, 0x1 | 2 << 4 | 1 << 12);
  push(ch, method_header(METHOD_NON_INC, SUBCHANNEL_COMPUTE, NVC7C0_LOAD_INLINE_DATA, 751));
  for (uint32_t i = 0; i < 751; i++)
    push(ch, i * 0x01010101);
  fixture_run(f);
  assert_memory_equal(f->data.cpu, "abcdef", 7);
  assert_memory_equal(fixture_data(f, 16), "ghijkl", 7);
  for (uint32_t i = 0; i < 750; i++)
    assert_int_equal(*(uint32_t *)fixture_data(f, 64 + i * 4), i * 0x01010101);
  assert_int_equal(*(uint32_t *)fixture_data(f, 64 + 3000), (750 * UINT32_C(0x01010101)) & 0xff);
  assert_int_equal(*(uint32_t *)fixture_data(f, 3200), 0x5a5a);
}

static void linear_and_pitch_copies_keep_contents(void **state) {
  struct fixture *f = *state;
  struct channel *ch = &f->ch;
  char *from = f->code.cpu;
  for (int i = 0; i < 4096; i++)
    from[i] = (char)(i * 7);
  uint32_t high = (uint32_t)(f->code.va >> 32);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_SET_OBJECT, CLASS_COPY);
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COPY, NVC7B5_OFFSET_IN_UPPER, 4));
  push(ch, high);
  push(ch, (uint32_t)f->code.va + 3);
  push(ch, high);
  push(ch, (uint32_t)f->code.va + 8192);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_LINE_LENGTH_IN, 3000);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 0x182);
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COPY, NVC7B5_SET_SEMAPHORE_A, 3));
  push(ch, (uint32_t)(f->data.va >> 32));
  push(ch, (uint32_t)f->data.va);
  push(ch, 0x77);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 0x14);
  /* Five lines of 8 bytes, from a pitch of 16 to a pitch of 10. */
  push(ch, method_header(METHOD_INC, SUBCHANNEL_COPY, NVC7B5_OFFSET_OUT_LOWER, 5));
  push(ch, (uint32_t)f->code.va + 16384);
  push(ch, 16);
  push(ch, 10);
  push(ch, 8);
  push(ch, 5);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 0x382);
  /* A fill of seven words. */
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_OFFSET_OUT_LOWER, (uint32_t)f->code.va + 20480);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_LINE_LENGTH_IN, 7);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_SET_REMAP_CONST_A, 0xcafef00d);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_SET_REMAP_COMPONENTS, 0x00030004);
  push_method(ch, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 0x582);
  fixture_run(f);
  assert_memory_equal(from + 8192, from + 3, 3000);
  assert_int_equal(*word_at(f, 0), 0x77);
  assert_true(*word_at(f, 8) != 0);
  for (int i = 0; i < 5; i++)
    assert_memory_equal(from + 16384 + i * 10, from + 3 + i * 16, 8);
  for (int i = 0; i < 7; i++)
    assert_int_equal(*(uint32_t *)(void *)(from + 20480 + i * 4), 0xcafef00d);
  assert_int_equal(*(uint32_t *)(void *)(from + 20480 + 28), 0);
}

/* A channel waits for one that is submitted later. */
static void channels_wait_for_each_other(void **state) {
  struct fixture *f = *state;
  struct channel other;
  channel_open(&f->c, &other, 64, CLASS_COPY);
  assert_int_equal(f->ch.token, 511);
  assert_int_equal(other.token, 510);
  for (uint32_t i = 1; i <= 200; i++) {
    f->ch.word = f->ch.push.cpu;
    other.word = other.push.cpu;
    f->ch.start = other.start = 0;
    push_semaphore(&f->ch, f->data.va, i, 0x01001003);
    push_semaphore(&f->ch, f->data.va + 16, i, RELEASE_64);
    submit(&f->c, &f->ch);
    push_semaphore(&other, f->data.va, i, RELEASE_64_WFI);
    push_semaphore(&other, f->data.va + 16, i, 0x01000003);
    push_semaphore(&other, f->data.va + 32, i, RELEASE_64);
    submit(&f->c, &other);
    assert_true(wait_word(fixture_data(f, 32), i));
  }
  channel_close(&f->c, &other);
}

/* A channel whose acquire is never satisfied can be closed. */
static void waiting_channel_closes(void **state) {
  struct fixture *f = *state;
  struct channel other;
  struct client own = f->c; /* its channel is bound to another TSG, which ends with it */
  client_open_tsg(&own);
  channel_open(&own, &other, 64, CLASS_COMPUTE);
  push_semaphore(&other, f->data.va, 1, 0);
  submit(&own, &other);
  fixture_run(f);
  channel_close(&own, &other);
  assert_int_equal(OS->close(own.tsg), 0);
  fixture_run(f);
}

/* A write of any value increments the syncpoint. The read-only window of this address range lies
 * above 40 bits: docs/hardware/kernel-interface.md trap T1. */
static void window_writes_increment_syncpoint(void **state) {
  struct fixture *f = *state;
  struct nvgpu_get_user_syncpoint_args sync = {0}, later = {0};
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, &sync), 0);
  struct nvgpu_as_get_sync_ro_map_args map = {0};
  assert_int_equal(OS->ioctl(f->c.as, NVGPU_AS_IOCTL_GET_SYNC_RO_MAP, &map), 0);
  assert_int_equal(map.sync_size, 0x10000);
  assert_int_equal(map.num_syncpoints, 1024);
  assert_true(map.base_gpuva >= GPU_VA_END);
  push_semaphore(&f->ch, sync.gpu_va, 0, 1);
  push_semaphore(&f->ch, sync.gpu_va, 0, 1);
  push_semaphore(&f->ch, sync.gpu_va, sync.syncpoint_max + 2, 3);
  fixture_run(f);
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, &later), 0);
  assert_int_equal(later.syncpoint_max, sync.syncpoint_max + 2);
}

/* Words that end the channel, the notifier's code and the start of the message. */
static void invalid_words_fault(void **state) {
  struct fixture *f = *state;
  const uint32_t high = (uint32_t)(f->data.va >> 32), low = (uint32_t)f->data.va;
  const struct {
    uint32_t words[6];
    uint32_t code;
    const char *message;
  } rows[] = {
      {{6u << 29 | 1u << 16}, 32, "PBDMA PBENTRY"},
      {{1u << 29 | 1u << 16 | 1u << 12, 0}, 32, "PBDMA PBENTRY"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, 0x3ffc, 2), 0, 0}, 25, "method 0x3ffc"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_ILLEGAL, 1), 0}, 32, "PBDMA METHOD"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, 0x98, 1), 0}, 32, "PBDMA METHOD"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEMAPHOREA, 1), 0}, 32, "PBDMA METHOD"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_MEM_OP_D, 1), 9u << 27},
       32,
       "PBDMA METHOD"},
      {{method_header(METHOD_INC, 6, 0x100, 1), 0}, 32, "PBDMA DEVICE"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, 0, 1), 0xc7c0}, 13, "FE CLASS_SUBCH_MISMATCH"},
      {{method_header(METHOD_INC, SUBCHANNEL_COMPUTE, 0x110, 1), 0}, 25, "method 0x0110"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), low, high, 0, 0, 7},
       32,
       "PBDMA SEMAPHORE"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), low, high, 0, 0, 0x11},
       32,
       "PBDMA SEMAPHORE"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), low + 4, high, 0, 0,
        RELEASE_64},
       32,
       "PBDMA SEMAPHORE"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), low + 8, high, 0, 0,
        RELEASE_64_WFI_TIME},
       32,
       "PBDMA SEMAPHORE"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), low, high, 0, 0,
        6 | 6u << 27 | 1u << 24},
       32,
       "PBDMA SEMAPHORE"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), 0x1000, 0, 0, 0, 1},
       31,
       "write of 4 bytes at 0x1000: no mapping"},
      {{method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5), 0x1000, 0, 0, 0, 0},
       31,
       "read of 4 bytes at 0x1000: no mapping"},
  };
  uint64_t serial = last_fault(&f->c).serial;
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct client c;
    struct channel ch;
    /* In a separate TSG and address space; those of the fixture must continue to work. */
    client_open(&c);
    channel_open(&c, &ch, 64, CLASS_COMPUTE);
    for (unsigned j = 0; j < 6; j++)
      push(&ch, rows[i].words[j]);
    /* The last two rows use the fixture's buffer, which is not mapped in this address space. */
    struct buffer data = buffer_create(&c, 4096, true);
    if (rows[i].words[2] == high && rows[i].words[1] - low < 4096) {
      uint32_t *w = ch.push.cpu;
      w[1] = (uint32_t)data.va + (rows[i].words[1] - low);
      w[2] = (uint32_t)(data.va >> 32);
    }
    submit(&c, &ch);
    assert_true(wait_fault(&ch, rows[i].code));
    const struct error_notifier *n = ch.notifier.cpu;
    assert_int_equal(n->status, 0xffff);
    assert_int_equal(n->reserved, 0);
    assert_true(n->time_low || n->time_high);
    struct emulator_fault fault = last_fault(&c);
    if (strncmp(fault.message, rows[i].message, strlen(rows[i].message)) != 0)
      print_error("row %u: %s\n", i, fault.message);
    assert_memory_equal(fault.message, rows[i].message, strlen(rows[i].message));
    assert_int_equal(fault.code, rows[i].code);
    assert_int_equal(fault.serial, ++serial);
    struct nvgpu_get_param_args timedout = {0};
    assert_int_equal(OS->ioctl(ch.fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, &timedout), 0);
    assert_int_equal(timedout.value, 1);
    buffer_destroy(&c, &data);
    channel_close(&c, &ch);
    client_close(&c);
  }
  fixture_run(f);
}

static void bad_entries_fault(void **state) {
  struct fixture *f = *state;
  const struct {
    uint64_t entry;
    const char *message;
  } rows[] = {
      {1, "PBDMA GPENTRY"},                                          /* opcode 0, but FETCH */
      {UINT64_C(1) << 32, "PBDMA GPENTRY"},                          /* ILLEGAL */
      {UINT64_C(2) << 32, "PBDMA GPCRC"},                            /* a CRC */
      {gp_entry(0x1000, 1, 0) | 2, "PBDMA GPENTRY"},                 /* reserved */
      {gp_entry(0x1000, 1, 0) | UINT64_C(1) << 40, "PBDMA GPENTRY"}, /* reserved */
      {gp_entry(GPU_VA_END - 8, 2, 0), "PBDMA GPENTRY"},
      {gp_entry(0x1000, 2, 0), "read of a pushbuffer at 0x1000: no mapping"},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct channel ch;
    struct client c;
    client_open(&c);
    channel_open(&c, &ch, 64, CLASS_COMPUTE);
    submit_entry(&c, &ch, rows[i].entry);
    if (i == 0) { /* an empty control entry does not end the channel */
      push_semaphore(&ch, ch.push.va + 0x8000, 5, 1);
      submit(&c, &ch);
      assert_true(wait_word((char *)ch.push.cpu + 0x8000, 5));
    } else {
      assert_true(wait_fault(&ch, i == 6 ? NOTIFIER_MMU_FAULT : NOTIFIER_PBDMA_ERROR));
      assert_memory_equal(last_fault(&c).message, rows[i].message, strlen(rows[i].message));
    }
    channel_close(&c, &ch);
    client_close(&c);
  }
  /* GP_PUT lies beyond the ring. The other channel of the TSG is notified too. */
  struct channel ch;
  channel_open(&f->c, &ch, 64, CLASS_COMPUTE);
  *(uint32_t *)(void *)((char *)ch.userd.cpu + USERD_GP_PUT) = 64;
  OS->doorbell(f->c.page, ch.token);
  assert_true(wait_fault(&ch, NOTIFIER_PBDMA_ERROR));
  assert_true(wait_fault(&f->ch, NOTIFIER_PBDMA_ERROR));
  assert_memory_equal(last_fault(&f->c).message, "PBDMA GPPTR", 11);
  struct nvgpu_submit_gpfifo_args submit_args = {0};
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, &submit_args), -110);
  channel_close(&f->c, &ch);
  OS->doorbell(f->c.page, 77); /* a token that belongs to no channel */
}

/* The reset occurs only on request, and the notifier keeps the first error. */
static void reset_keeps_first_error(void **state) {
  struct fixture *f = *state;
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
  assert_true(wait_fault(&f->ch, NOTIFIER_FORCE_RESET));
  push(&f->ch, 6u << 29 | 1u << 16);
  submit(&f->c, &f->ch);
  usleep(2000);
  assert_int_equal(((struct error_notifier *)f->ch.notifier.cpu)->code, NOTIFIER_FORCE_RESET);
}

/* Submits a semaphore release with a store to the mapped page, which the engine must notice, and
 * waits for it. */
static void run_by_store(struct fixture *f, uint32_t serial) {
  uint32_t *put = (void *)((char *)f->ch.userd.cpu + USERD_GP_PUT);
  uint32_t *doorbell = (void *)((char *)f->c.page + USERMODE_NOTIFY_CHANNEL_PENDING);
  uint64_t *ring = f->ch.ring.cpu;
  f->ch.word = f->ch.push.cpu;
  f->ch.start = 0;
  push_semaphore(&f->ch, f->data.va, serial, RELEASE_64);
  ring[f->ch.put] = gp_entry(f->ch.push.va, (uint32_t)(f->ch.word - (uint32_t *)f->ch.push.cpu), 0);
  f->ch.put = (f->ch.put + 1) % f->ch.entries;
  __atomic_store_n(put, f->ch.put, __ATOMIC_SEQ_CST);
  __atomic_store_n(doorbell, f->ch.token, __ATOMIC_SEQ_CST);
  assert_true(wait_word(f->data.cpu, serial));
}

/* The engine is awake when a client submits steadily, also after a pause. It cannot know when the
 * client stored the token, and the shortest sleep takes longer than it spins. */
static void engine_spins_for_stored_doorbells(void **state) {
  struct fixture *f = *state;
  enum { SUBMISSIONS = 500, SUBMIT_AFTER_NS = 10000, PAUSE_US = 2000 };
  int awake = 0;
  emulator_watch_doorbell();
  emulator_wake_engine();
  for (uint32_t i = 1; i <= SUBMISSIONS; i++) {
    run_by_store(f, i);
    if (i < 3) {
      usleep(PAUSE_US);
      continue;
    }
    const uint64_t end = base_clock_ns() + SUBMIT_AFTER_NS;
    while (base_clock_ns() < end)
      continue;
    awake += !atomic_load(&emu_engine.asleep);
  }
  print_message("awake at %d of %d submissions\n", awake, SUBMISSIONS);
  assert_true(awake > SUBMISSIONS / 100 || emu_engine.cpus < 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(semaphore_releases_write_memory),
      TEST(semaphore_reductions_compute_results),
      TEST(semaphore_acquires_wait_for_values),
      TEST(all_method_header_forms_are_decoded),
      TEST(methods_continue_across_segments),
      TEST(progress_is_written_before_a_wait),
      TEST(host_methods_are_executed),
      TEST(inline_to_memory_writes_lines),
      TEST(linear_and_pitch_copies_keep_contents),
      TEST(channels_wait_for_each_other),
      TEST(waiting_channel_closes),
      TEST(window_writes_increment_syncpoint),
      TEST(invalid_words_fault),
      TEST(bad_entries_fault),
      TEST(reset_keeps_first_error),
      TEST(engine_spins_for_stored_doorbells), /* the last one: watching does not end */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
