/* Runs random pushbuffers, GPFIFO entries and descriptors through the engines, one after another in
 * one thread: emulator-fuzz stream|qmd COUNT [SEED]. Input n depends only on SEED + n, so COUNT 1
 * repeats one input. At the end the program prints what the inputs reached, and fails if they
 * reached too little. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/method.h"
#include "emulator/engine/pushbuffer.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/tsg.h"
#include "emulator/modes/adversary.h"
#include "emulator/objects.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/tables.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"
#include "tests/emulator/random.h"

enum {
  ENTRIES = 16,
  WORDS_MAX = 600,
  TURNS_MAX = 2,      /* for inputs that never end */
  ALARM_SECONDS = 60, /* for inputs that should end their turn and do not */
  DATA_BYTES = 0x4000,
  PROGRAMS = 8, /* at offset 0 of the code buffer */
  QMDS = 8,     /* at 0x1000 */
  BANK = 0x8000,
  MESSAGES_MAX = 256,
  MESSAGE_BYTES = 40,
};

struct fuzz {
  struct client c;
  struct channel ch;
  struct buffer data, code;
  struct emu_channel *channel;
  uint64_t syncpoint;
  uint32_t *word, *end;
  /* What was reached. */
  uint64_t finished, blocked, cut, faulted;
  unsigned messages;
  struct {
    char text[MESSAGE_BYTES];
    uint64_t count;
  } message[MESSAGES_MAX];
};

/* ---- words ---- */

static void put(struct fuzz *f, uint32_t word) {
  if (f->word < f->end)
    *f->word++ = word;
}

static uint64_t random_address(const struct fuzz *f) {
  switch (below(40)) {
  case 0:
    return f->data.va + DATA_BYTES - below(64);
  case 1:
    return f->ch.push.va + below(0x10000);
  case 2:
    return f->channel->gpfifo_mapping->gpu + below(4096); /* writing there is not allowed */
  case 3:
    return f->syncpoint;
  case 4:
    return GPU_VA_END - below(32) * 4;
  case 5:
    return (uint64_t)rnd() << 32 | rnd();
  case 6:
    return f->data.va + below(DATA_BYTES);
  case 7:
    return (uint64_t)WINDOW_SHARED_HIGH << 32 | below(0x1000000);
  case 8:
    return f->code.va + 0x1000 + below(QMDS) * QMD_BYTES;
  default:
    return f->data.va + below(DATA_BYTES / 16) * 16;
  }
}

static uint32_t random_value(const struct fuzz *f) {
  switch (below(8)) {
  case 0:
    return (uint32_t)random_address(f);
  case 1:
    return (uint32_t)(f->data.va >> 32);
  case 2:
    return 1u << below(32);
  case 3:
    return UINT32_MAX - below(4);
  case 4:
    return rnd();
  default:
    return below(64);
  }
}

/* Returns data for a method; each field gets a small, a large or an arbitrary value. */
static uint32_t random_fields(const struct fuzz *f, const struct hw_method *m) {
  uint32_t word = 0;
  if (m->field_count == 1 && m->fields[0].high - m->fields[0].low > 15)
    return random_value(f);
  for (unsigned i = 0; i < m->field_count; i++) {
    uint32_t value = one_in(3) ? rnd() : below(4);
    word |= hw_bits(m->fields[i].high, m->fields[i].low, value);
  }
  return one_in(50) ? word ^ 1u << below(32) : word;
}

static uint32_t subchannel_of(uint32_t class_id) {
  return class_id == CLASS_COMPUTE ? SUBCHANNEL_COMPUTE
         : class_id == CLASS_COPY  ? SUBCHANNEL_COPY
                                   : below(5);
}

static void put_method(struct fuzz *f, uint32_t subchannel, uint32_t method, uint32_t data) {
  put(f, method_header(one_in(8) ? METHOD_NON_INC : METHOD_INC, subchannel, method, 1));
  put(f, data);
}

static void compute(struct fuzz *f, uint32_t method, uint32_t data) {
  put_method(f, SUBCHANNEL_COMPUTE, method, data);
}

static void copy(struct fuzz *f, uint32_t method, uint32_t data) {
  put_method(f, SUBCHANNEL_COPY, method, data);
}

static void put_any_method(struct fuzz *f) {
  const struct hw_method *m = &hw_methods[below(hw_method_count)];
  uint32_t method = m->offset + (m->count > 1 ? below(m->count) * m->step : 0);
  /* The methods of a few classes end nearly every stream. */
  if (method == NVC76F_ILLEGAL || (m->class_id == CLASS_HOST && !one_in(3)))
    return;
  put_method(f, subchannel_of(m->class_id), method, random_fields(f, m));
}

static void put_raw(struct fuzz *f) {
  uint32_t count = below(4);
  put(f, below(8) << 29 | count << 16 | below(8) << 13 | one_in(20) << 12 | below(0x1000));
  for (uint32_t i = 0; i < count; i++)
    put(f, random_value(f));
}

static void put_semaphore(struct fuzz *f) {
  uint64_t address = random_address(f);
  uint32_t execute = below(one_in(30) ? 8 : 7) | below(2) << 12 | below(2) << 20 | below(2) << 24 |
                     below(2) << 25 | below(8) << 27 | below(2) << 31;
  put(f, method_header(METHOD_INC, below(5), NVC76F_SEM_ADDR_LO, 5));
  put(f, (uint32_t)address & ~(one_in(20) ? 0u : 3u));
  put(f, (uint32_t)(address >> 32));
  put(f, random_value(f));
  put(f, one_in(3) ? rnd() : 0);
  put(f, one_in(30) ? rnd() : execute);
}

static void put_inline_data(struct fuzz *f) {
  uint64_t address = random_address(f);
  uint32_t length = 1 + below(40), lines = 1 + below(4);
  uint32_t subchannel = one_in(6) ? SUBCHANNEL_I2M : SUBCHANNEL_COMPUTE;
  if (subchannel == SUBCHANNEL_I2M)
    put_method(f, subchannel, 0, EMU_CLASS_I2M);
  put(f, method_header(METHOD_INC, subchannel, NVC7C0_LINE_LENGTH_IN, 5));
  put(f, length);
  put(f, lines);
  put(f, (uint32_t)(address >> 32));
  put(f, (uint32_t)address);
  put(f, below(100));
  put_method(f, subchannel, NVC7C0_SET_DST_BLOCK_SIZE, below(6) << 4 | below(6) << 8);
  put_method(f, subchannel, NVC7C0_SET_DST_WIDTH, below(200));
  put_method(f, subchannel, NVC7C0_SET_DST_HEIGHT, below(100));
  put_method(f, subchannel, NVC7C0_SET_DST_LAYER, below(4));
  put_method(f, subchannel, NVC7C0_SET_I2M_SEMAPHORE_A, (uint32_t)(f->data.va >> 32));
  put_method(f, subchannel, NVC7C0_SET_I2M_SEMAPHORE_B, (uint32_t)f->data.va + below(256) * 16);
  uint32_t words = (length * lines + 3) / 4 + (one_in(10) ? below(3) : 0);
  uint32_t launch = below(2) | below(3) << 4 | below(2) << 8 | below(2) << 12 | 1 << 6;
  put(f, method_header(METHOD_ONE_INC, subchannel, NVC7C0_LAUNCH_DMA, 1 + words));
  put(f, launch);
  for (uint32_t i = 0; i < words; i++)
    put(f, rnd());
}

static void put_copy(struct fuzz *f) {
  const uint64_t from = random_address(f), to = random_address(f);
  put(f, method_header(METHOD_INC, SUBCHANNEL_COPY, NVC7B5_OFFSET_IN_UPPER, 8));
  put(f, (uint32_t)(from >> 32));
  put(f, (uint32_t)from);
  put(f, (uint32_t)(to >> 32));
  put(f, (uint32_t)to);
  put(f, one_in(10) ? rnd() : below(300));
  put(f, one_in(10) ? rnd() : below(300));
  put(f, one_in(10) ? rnd() : below(200));
  put(f, one_in(10) ? rnd() : below(20));
  copy(f, NVC7B5_SET_REMAP_COMPONENTS, rnd() & 0x03337777);
  uint32_t blocks = one_in(20) ? 8 : 6;
  copy(f, NVC7B5_SET_DST_BLOCK_SIZE, below(blocks) << 4 | below(blocks) << 8 | 1 << 12);
  copy(f, NVC7B5_SET_SRC_BLOCK_SIZE, below(blocks) << 4 | below(blocks) << 8 | 1 << 12);
  copy(f, NVC7B5_SET_DST_WIDTH, below(300));
  copy(f, NVC7B5_SET_SRC_WIDTH, below(300));
  copy(f, NVC7B5_SET_DST_HEIGHT, below(100));
  copy(f, NVC7B5_SET_SRC_HEIGHT, below(100));
  copy(f, NVC7B5_SET_SEMAPHORE_A, (uint32_t)(f->data.va >> 32));
  copy(f, NVC7B5_SET_SEMAPHORE_B, (uint32_t)f->data.va + below(256) * 16);
  uint32_t launch = 2 | below(2) << 2 | below(3) << 3 | below(3) << 5 | below(16) << 7 |
                    below(9) << 14 | below(4) << 18 | below(2) << 27;
  copy(f, NVC7B5_LAUNCH_DMA, one_in(20) ? rnd() : launch);
}

static void put_report(struct fuzz *f) {
  uint64_t address = random_address(f) & ~UINT64_C(15);
  if (one_in(2)) {
    put(f, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_A, 4));
    put(f, (uint32_t)(address >> 32));
    put(f, (uint32_t)address);
    put(f, rnd());
    put(f, rnd() & 0x10171e0c);
    return;
  }
  put(f,
      method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER, 5));
  put(f, rnd());
  put(f, rnd());
  put(f, (uint32_t)address);
  put(f, (uint32_t)(address >> 32));
  put(f, rnd() & 0x1ffd);
}

static void put_launch(struct fuzz *f) {
  uint64_t va = f->code.va + 0x1000 + below(QMDS) * QMD_BYTES;
  compute(f, NVC7C0_SEND_PCAS_A, (uint32_t)(va >> QMD_ADDRESS_SHIFT));
  compute(f, NVC7C0_SEND_SIGNALING_PCAS2_B,
          one_in(4) ? below(one_in(8) ? 16 : 14) : (uint32_t)PCAS_SCHEDULE);
}

static void put_inline_qmd(struct fuzz *f) {
  unsigned slot = below(QMDS);
  uint64_t place = (f->code.va + 0x1000 + slot * QMD_BYTES) >> QMD_ADDRESS_SHIFT;
  const uint32_t *qmd =
      (const uint32_t *)(const void *)((const char *)f->code.cpu + 0x1000 + slot * QMD_BYTES);
  put(f, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_INLINE_QMD_ADDRESS_A,
                       2 + QMD_WORDS));
  put(f, (uint32_t)(place >> 32));
  put(f, (uint32_t)place);
  for (unsigned i = 0; i < QMD_WORDS; i++)
    put(f, qmd[i]);
}

/* Writes a macro of random instructions that ends, and calls it. */
static void put_macro(struct fuzz *f) {
  uint32_t count = 1 + below(6);
  compute(f, NVC7C0_LOAD_MME_START_ADDRESS_RAM_POINTER, 0);
  compute(f, NVC7C0_LOAD_MME_START_ADDRESS_RAM, 0);
  compute(f, NVC7C0_SET_MME_MEM_ADDRESS_A, (uint32_t)(f->data.va >> 32));
  compute(f, NVC7C0_SET_MME_MEM_ADDRESS_B, (uint32_t)f->data.va + below(DATA_BYTES));
  put(f, method_header(METHOD_ONE_INC, SUBCHANNEL_COMPUTE, NVC7C0_LOAD_MME_INSTRUCTION_RAM_POINTER,
                       1 + 3 * count));
  put(f, 0);
  for (uint32_t i = 0; i < count; i++) {
    put(f, rnd());
    put(f, rnd());
    /* Mostly unpredicated; the bit in the last but one instruction says that the next one is the
     * last. */
    put(f, (rnd() & (one_in(3) ? ~1u : ~0x1fu)) | (i + 2 >= count));
  }
  uint32_t arguments = 1 + below(4);
  put(f, method_header(METHOD_ONE_INC, SUBCHANNEL_COMPUTE, NVC7C0_CALL_MME_MACRO(0), arguments));
  for (uint32_t i = 0; i < arguments; i++)
    put(f, random_value(f));
}

static void put_set_up(struct fuzz *f) {
  compute(f, NVC7C0_SET_OBJECT, CLASS_COMPUTE);
  compute(f, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A, WINDOW_SHARED_HIGH);
  compute(f, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A, WINDOW_LOCAL_HIGH);
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
}

/* ---- descriptors ---- */

static void write_memory(struct fuzz *f, bool spoil) {
  uint64_t *data = f->data.cpu;
  for (unsigned i = 0; i < 256; i++)
    data[i] = one_in(2) ? below(4) : rnd();
  static const uint32_t operations[] = {FAKE_ADD, FAKE_ADD, FAKE_BANK, FAKE_SPIN, FAKE_WRITE_BAD};
  for (unsigned i = 0; i < PROGRAMS; i++) {
    struct fake_program p = {.operation = operations[one_in(8) ? below(5) : 0],
                             .address = f->data.va + below(256) * 8,
                             .value = 1,
                             .address2 = f->data.va + below(256) * 8};
    memcpy((char *)f->code.cpu + i * TEXT_ALIGN, &p, sizeof(p));
  }
  for (unsigned i = 0; i < QMDS; i++) {
    uint32_t *q = (uint32_t *)(void *)((char *)f->code.cpu + 0x1000 + i * QMD_BYTES);
    qmd_make(q, f->code.va + below(PROGRAMS) * TEXT_ALIGN, f->code.va + BANK, 1 + below(5));
    for (uint32_t changes = spoil ? below(4) : 0; changes; changes--) {
      const struct hw_field_name *field = &qmd_fields[below(qmd_field_count)];
      uint32_t value = one_in(4) ? rnd() : one_in(2) ? below(8) : random_value(f);
      qmd_set(q, field->high, field->low, value);
    }
    if (!one_in(4))
      continue;
    uint64_t release = f->data.va + below(256) * 16;
    qmd_set(q, QMD_RELEASE0_ENABLE, 1);
    qmd_set(q, QMD_RELEASE0_ADDRESS_LOWER, (uint32_t)release);
    qmd_set(q, QMD_RELEASE0_ADDRESS_UPPER, (uint32_t)(release >> 32));
    qmd_set(q, QMD_RELEASE0_STRUCTURE_SIZE, below(3));
    qmd_set(q, QMD_RELEASE0_REDUCTION_ENABLE, below(2));
    qmd_set(q, QMD_RELEASE0_REDUCTION_OP, below(8));
    qmd_set(q, QMD_DEPENDENT_QMD0_ENABLE, below(2));
    qmd_set(q, QMD_DEPENDENT_QMD0_ACTION, one_in(10) ? below(8) : (uint32_t)DEPENDENT_SCHEDULE);
    qmd_set(q, QMD_DEPENDENT_QMD0_POINTER,
            (uint32_t)((f->code.va + 0x1000 + below(QMDS) * QMD_BYTES) >> QMD_ADDRESS_SHIFT));
    qmd_set(q, QMD_DEPENDENCE_COUNTER, one_in(8));
  }
}

/* ---- inputs ---- */

static void stream_input(struct fuzz *f) {
  static void (*const parts[])(struct fuzz *) = {
      put_any_method, put_semaphore, put_semaphore,  put_inline_data, put_inline_data,
      put_copy,       put_copy,      put_report,     put_report,      put_launch,
      put_launch,     put_launch,    put_inline_qmd, put_macro,
  };
  write_memory(f, false);
  if (!one_in(40))
    put_set_up(f);
  for (uint32_t i = 1 + below(10); i; i--)
    parts[below(sizeof(parts) / sizeof(parts[0]))](f);
  if (one_in(5))
    put_raw(f);
  const size_t words = (size_t)(f->word - (uint32_t *)f->ch.push.cpu);
  if (one_in(8) && words)
    ((uint32_t *)f->ch.push.cpu)[below((uint32_t)words)] ^= 1u << below(32);
}

static void qmd_input(struct fuzz *f) {
  write_memory(f, true);
  put_set_up(f);
  for (uint32_t i = 1 + below(4); i; i--) {
    if (one_in(4))
      put_inline_qmd(f);
    else
      put_launch(f);
  }
  if (one_in(2))
    compute(f, NVC7C0_WAIT_FOR_IDLE, 0);
}

/* Writes GPFIFO entries for the words: one or several, and sometimes a corrupt one. */
static void put_entries(struct fuzz *f) {
  uint64_t *ring = f->ch.ring.cpu;
  uint32_t words = (uint32_t)(f->word - (uint32_t *)f->ch.push.cpu), start = 0, count = 0;
  while (start < words && count < ENTRIES - 2) {
    uint32_t part = one_in(4) ? 1 + below(words - start) : words - start;
    ring[count++] = gp_entry(f->ch.push.va + start * 4u, part, below(2));
    start += part;
  }
  if (one_in(30))
    ring[below(count + 1)] ^= UINT64_C(1) << below(64);
  if (one_in(30))
    ring[count++] = (uint64_t)rnd() << 32 | rnd();
  ((uint32_t *)f->ch.userd.cpu)[USERD_GP_PUT / 4] = one_in(200) ? below(64) : count;
}

/* ---- running ---- */

/* Restores the state that the channel had after SETUP_BIND. */
static void reset_channel(struct fuzz *f) {
  struct emu_channel *channel = f->channel;
  pthread_mutex_lock(&emu_gpu.lock);
  emu_channel_drop_work(channel);
  memset(&channel->engine->host, 0, sizeof(channel->engine->host));
  memset(&channel->engine->compute, 0, sizeof(channel->engine->compute));
  memset(&channel->engine->i2m, 0, sizeof(channel->engine->i2m));
  memset(&channel->engine->copy, 0, sizeof(channel->engine->copy));
  free(channel->engine->mme);
  channel->engine->mme = NULL;
  channel->engine->i2m_bound = false;
  channel->engine->gp_get = channel->engine->ring.put = 0;
  channel->engine->subdevice_mask = 1;
  channel->engine->stored_subdevice_mask = 0;
  atomic_store(&channel->serviceable, true);
  pthread_mutex_unlock(&emu_gpu.lock);
  ((struct error_notifier *)f->ch.notifier.cpu)->status = 0;
}

static void note_message(struct fuzz *f) {
  char text[MESSAGE_BYTES] = "";
  const char *message = f->channel->as->fault.message;
  /* Replaces the numbers, which differ between inputs of the same kind. */
  for (unsigned to = 0; to + 1 < MESSAGE_BYTES && *message; to++) {
    size_t digits = strncmp(message, "0x", 2) == 0 ? 2 + strspn(message + 2, "0123456789abcdef")
                                                   : strspn(message, "0123456789");
    text[to] = digits ? '#' : *message;
    message += digits ? digits : 1;
  }
  unsigned i = 0;
  while (i < f->messages && strcmp(f->message[i].text, text) != 0)
    i++;
  if (i == f->messages && i < MESSAGES_MAX)
    memcpy(f->message[f->messages++].text, text, sizeof(text));
  if (i < MESSAGES_MAX)
    f->message[i].count++;
}

/* Returns whether the channel may be waiting for a delay of adversarial timing to pass, and not for
 * a semaphore. */
static bool held_back(enum emu_outcome outcome, uint64_t since) {
  enum { LONGEST_NS = 1000000 };
  return emu_adversary.on && outcome == EMU_BLOCKED && emu_time_ns() - since < LONGEST_NS;
}

static void run_input(struct fuzz *f) {
  enum emu_outcome outcome = EMU_MORE;
  for (int turn = 0; turn < TURNS_MAX && (outcome == EMU_MORE || outcome == EMU_GAVE_UP); turn++) {
    const uint64_t start = emu_time_ns();
    do {
      outcome = emu_pushbuffer_run(f->channel);
    } while (held_back(outcome, start));
  }
  if (((struct error_notifier *)f->ch.notifier.cpu)->status) {
    f->faulted++;
    note_message(f);
  } else if (outcome == EMU_IDLE) {
    f->finished++;
  } else if (outcome == EMU_BLOCKED) {
    f->blocked++;
  } else {
    f->cut++;
  }
}

static void set_up(struct fuzz *f) {
  client_open(&f->c);
  channel_open(&f->c, &f->ch, ENTRIES, CLASS_COMPUTE);
  f->data = buffer_create(&f->c, DATA_BYTES, true);
  f->code = buffer_create(&f->c, 0x10000, true);
  struct nvgpu_get_user_syncpoint_args syncpoint = {0};
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, syncpoint);
  f->syncpoint = syncpoint.gpu_va;
  pthread_mutex_lock(&emu_gpu.lock);
  f->channel = emu_table_get_kind(f->ch.fd, EMU_CHANNEL);
  /* No doorbell is rung, so the engine's own thread sleeps. Two more scheduled channels make turns
   * end. */
  emu_engine.scheduled_count += 2;
  pthread_mutex_unlock(&emu_gpu.lock);
  f->end = (uint32_t *)f->ch.push.cpu + WORDS_MAX;
}

static void tear_down(struct fuzz *f) {
  reset_channel(f);
  emu_engine.scheduled_count -= 2;
  buffer_destroy(&f->c, &f->data);
  buffer_destroy(&f->c, &f->code);
  channel_close(&f->c, &f->ch);
  client_close(&f->c);
}

static bool only_one_cpu(void) {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof(all), &all) < 0)
    return false;
  for (size_t i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET(i, &all) && !CPU_COUNT(&one))
      CPU_SET(i, &one);
  }
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

int main(int argc, char **argv) {
  static struct fuzz f;
  bool stream = argc > 2 && strcmp(argv[1], "stream") == 0;
  if (argc < 3 || (!stream && strcmp(argv[1], "qmd") != 0)) {
    fprintf(stderr, "usage: emulator-fuzz stream|qmd COUNT [SEED]\n");
    return 2;
  }
  uint64_t count = strtoull(argv[2], NULL, 0);
  uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 0) : 20260101;
  /* On one CPU, grids run only in this thread. */
  if (!only_one_cpu())
    return 1;
  set_up(&f);
  for (uint64_t i = 0; i < count; i++) {
    alarm(ALARM_SECONDS);
    begin_input(first + i);
    reset_channel(&f);
    f.word = f.ch.push.cpu;
    if (stream)
      stream_input(&f);
    else
      qmd_input(&f);
    put_entries(&f);
    run_input(&f);
  }
  struct emulator_counters counters = {0};
  EXPECT(0, f.c.node, EMULATOR_IOCTL_COUNTERS, counters);
  printf("%s: %llu inputs from seed %llu: %llu finished, %llu wait, %llu cut off, %llu faulted in "
         "%u ways; %llu grids, %llu CTAs\n",
         argv[1], (unsigned long long)count, (unsigned long long)first,
         (unsigned long long)f.finished, (unsigned long long)f.blocked, (unsigned long long)f.cut,
         (unsigned long long)f.faulted, f.messages, (unsigned long long)counters.grids,
         (unsigned long long)counters.ctas);
  for (unsigned i = 0; i < f.messages; i++)
    printf("%10llu %s\n", (unsigned long long)f.message[i].count, f.message[i].text);
  tear_down(&f);
  /* A generator whose inputs all fail early would find nothing. */
  bool deep = f.finished * 20 >= count && counters.grids * 5 >= count && f.messages >= 20;
  if (count >= 1000 && !deep)
    fprintf(stderr, "the inputs do not reach deep\n");
  return count >= 1000 && !deep;
}
