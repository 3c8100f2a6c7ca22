/* Adversarial timing: for each timing hazard, a client without the necessary wait, which fails
 * under some seeds, and the same client with the wait, which passes under all.
 * docs/hardware/command-stream.md 3, 4.3, 8; docs/hardware/bring-up.md 6. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"
#include "tests/emulator/modes/hazard.h"

enum {
  BANK = 0x8000,
  /* Offsets in the page of results. */
  COUNT = 0,
  RESULT = 64,
  MARK = 128, /* a semaphore of 16 bytes */
  DONE = 256,
};

static uint64_t *word_at(struct fixture *f, unsigned offset) {
  return fixture_data(f, offset);
}

static bool faulted(struct fixture *f) {
  const struct error_notifier *n = f->ch.notifier.cpu;
  return __atomic_load_n(&n->status, __ATOMIC_SEQ_CST) == ERROR_NOTIFIER_WRITTEN;
}

struct awaited {
  struct fixture *f;
  const uint32_t *word;
};

static bool is_another(const struct awaited *a, uint32_t old) {
  return __atomic_load_n(a->word, __ATOMIC_SEQ_CST) != old;
}

static bool is_over(const void *awaited, uint32_t old) {
  const struct awaited *a = awaited;
  return is_another(a, old) || faulted(a->f);
}

/* Waits until the GPU has changed the word from its old value, or until the work has failed.
 * Returns whether the word changed. */
static bool changes(struct fixture *f, const void *word, uint32_t old) {
  const struct awaited awaited = {f, word};
  return wait_until(is_over, &awaited, old) && is_another(&awaited, old);
}

/* Pushes a semaphore release at this offset of f->data and submits all pushed words. */
static void submit_release(struct fixture *f, unsigned offset, uint64_t payload, uint32_t execute) {
  push_semaphore(&f->ch, f->data.va + offset, payload, execute);
  submit(&f->c, &f->ch);
}

/* Submits the pushed words with a release and waits for it. */
static bool run(struct fixture *f) {
  static uint32_t serial;
  submit_release(f, DONE, ++serial, RELEASE_64_WFI);
  return changes(f, fixture_data(f, DONE), serial - 1);
}

static void wait_for_idle(struct fixture *f) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_WAIT_FOR_IDLE, 0);
}

/* Launches, with its own descriptor, a grid that increments COUNT once in each work-group. */
static void launch_count(struct fixture *f, unsigned slot, uint32_t ctas) {
  uint64_t program = fixture_program(
      f, 0,
      &(struct fake_program){.operation = FAKE_ADD, .address = f->data.va + COUNT, .value = 1});
  qmd_make(fixture_qmd(f, slot), program, f->code.va + BANK, ctas);
  fixture_launch(f, slot, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
}

/* Launches, with its own descriptor, a grid that sets RESULT to word 0 of its constant bank. */
static void launch_read(struct fixture *f, unsigned slot, uint64_t bank) {
  uint64_t program = fixture_program(
      f, 1, &(struct fake_program){.operation = FAKE_BANK, .address = f->data.va + RESULT});
  uint32_t *qmd = fixture_qmd(f, slot);
  qmd_make(qmd, program, bank, 1);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_INVALIDATE(0), 1);
  fixture_launch(f, slot, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
}

/* ---- the clients, which return whether all results were as they expect ---- */

/* 8.3, hazard 1: a descriptor is rewritten before the GPU has read it. */
static bool rewritten_qmd(struct fixture *f, unsigned round, bool right) {
  launch_count(f, 0, 1);
  if (!right)
    submit(&f->c, &f->ch);
  else if (!run(f))
    return false;
  launch_count(f, 0, 2);
  return run(f) && *word_at(f, COUNT) == (round + 1) * UINT64_C(3);
}

/* A constant bank is rewritten before the GPU has read it. */
static bool rewritten_bank(struct fixture *f, unsigned round, bool right) {
  uint32_t *bank = (uint32_t *)(void *)((char *)f->code.cpu + BANK);
  *bank = 2 * round + 1;
  launch_read(f, round, f->code.va + BANK);
  submit_release(f, MARK, round + 1, RELEASE_64_WFI);
  if (right && !changes(f, word_at(f, MARK), round))
    return false;
  *bank = 2 * round + 2;
  return changes(f, word_at(f, MARK), round) && *word_at(f, RESULT) == 2 * round + 1;
}

static uint32_t get_pointer(const struct fixture *f) {
  return __atomic_load_n((const uint32_t *)(void *)((char *)f->ch.userd.cpu + USERD_GP_GET),
                         __ATOMIC_SEQ_CST);
}

/* Waits until GP_GET equals GP_PUT, which does not mean that the work is complete. */
static bool believe_get(struct fixture *f) {
  while (get_pointer(f) != f->ch.put && !faulted(f))
    usleep(1);
  return !faulted(f);
}

/* 1.2: part of the pushbuffer is written again once GP_GET has passed its entry. */
static bool reused_pushbuffer(struct fixture *f, unsigned round, bool right) {
  uint32_t *const word = f->ch.word, start = f->ch.start;
  push_semaphore(&f->ch, f->data.va + MARK, round + 1, RELEASE_64);
  submit(&f->c, &f->ch);
  if (right ? !changes(f, word_at(f, MARK), round) : !believe_get(f))
    return false;
  f->ch.word = word;
  f->ch.start = start;
  return run(f) && *word_at(f, MARK) == round + 1;
}

/* 1.2: the pushbuffer is edited after GP_PUT has passed it, although before its turn to be
 * executed. */
static bool edited_pushbuffer(struct fixture *f, unsigned round, bool right) {
  enum { GO = 512, PAYLOAD = 3 };
  push_semaphore(&f->ch, f->data.va + GO, round + 1,
                 hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQ_CIRC_GEQ));
  uint32_t *release = f->ch.word;
  push_semaphore(&f->ch, f->data.va + MARK, 2 * round + 1, RELEASE_64);
  if (right)
    release[PAYLOAD] = 2 * round + 2;
  submit(&f->c, &f->ch);
  usleep(500);
  if (!right)
    __atomic_store_n(&release[PAYLOAD], 2 * round + 2, __ATOMIC_SEQ_CST);
  __atomic_store_n(word_at(f, GO), round + 1, __ATOMIC_SEQ_CST);
  return run(f) && *word_at(f, MARK) == 2 * round + 2;
}

/* 3.1: without RELEASE_WFI the release may overtake running kernels. */
static bool overtaking_release(struct fixture *f, unsigned round, bool right) {
  launch_count(f, round, 10);
  submit_release(f, MARK, round + 1, right ? RELEASE_64_WFI : RELEASE_64);
  bool good = changes(f, word_at(f, MARK), round) &&
              __atomic_load_n(word_at(f, COUNT), __ATOMIC_SEQ_CST) == (round + 1) * UINT64_C(10);
  return run(f) && good;
}

/* 3.1: the time of a report becomes visible before its payload. */
static bool time_before_payload(struct fixture *f, unsigned round, bool right) {
  const struct semaphore_report *mark = fixture_data(f, MARK);
  uint32_t before = (uint32_t)mark->timestamp_ns;
  submit_release(f, MARK, round + 1, RELEASE_64_WFI_TIME);
  bool good = right ? changes(f, &mark->payload, round) : changes(f, &mark->timestamp_ns, before);
  good &= __atomic_load_n(word_at(f, MARK), __ATOMIC_SEQ_CST) == round + 1;
  good &= (uint32_t)mark->timestamp_ns != before;
  return run(f) && good;
}

/* 1.3: the client takes GP_GET equal to GP_PUT for the end of all work. */
static bool believed_get(struct fixture *f, unsigned round, bool right) {
  launch_count(f, round, 10);
  bool good = true;
  if (right) {
    good = run(f);
  } else {
    submit(&f->c, &f->ch);
    good = believe_get(f);
  }
  good &= __atomic_load_n(word_at(f, COUNT), __ATOMIC_SEQ_CST) == (round + 1) * UINT64_C(10);
  return run(f) && good;
}

/* 8.4: grids in a channel overlap unless a wait orders them. */
static bool dependent_grids(struct fixture *f, unsigned round, bool right) {
  launch_count(f, 2 * round, 10);
  if (right)
    wait_for_idle(f);
  launch_read(f, 2 * round + 1, f->data.va + COUNT);
  return run(f) && *word_at(f, RESULT) == (round + 1) * UINT64_C(10);
}

enum { TPC_BYTES = 3 << 20, TPCS = 8, THREAD_BYTES = 1024 };

static void set_pool(struct fixture *f, const struct buffer *pool) {
  push(&f->ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_A, 2));
  push(&f->ch, (uint32_t)(pool->va >> 32));
  push(&f->ch, (uint32_t)pool->va);
  push(&f->ch, method_header(METHOD_INC, SUBCHANNEL_COMPUTE,
                             NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A, 3));
  push(&f->ch, 0);
  push(&f->ch, TPC_BYTES);
  push(&f->ch, 0xff);
}

static void launch_with_stack(struct fixture *f, unsigned slot) {
  launch_count(f, slot, 1);
  qmd_set(fixture_qmd(f, slot), QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE, THREAD_BYTES);
}

/* 4.3, trap 23: the local-memory pool is replaced while a kernel uses the old one. */
static bool replaced_pool(struct fixture *f, unsigned round, bool right) {
  struct buffer pools[2];
  for (unsigned i = 0; i < 2; i++)
    pools[i] = buffer_create(&f->c, (uint64_t)TPC_BYTES * TPCS, true);
  wait_for_idle(f);
  set_pool(f, &pools[0]);
  launch_with_stack(f, 2 * round);
  if (right)
    wait_for_idle(f);
  set_pool(f, &pools[1]);
  launch_with_stack(f, 2 * round + 1);
  bool good = run(f) && *word_at(f, COUNT) == 2 * (round + 1);
  for (unsigned i = 0; i < 2; i++)
    buffer_destroy(&f->c, &pools[i]);
  return good;
}

/* 4.3, trap 23: the local-memory pool is freed while a kernel uses it. */
static bool freed_pool(struct fixture *f, unsigned round, bool right) {
  struct buffer pool = buffer_create(&f->c, (uint64_t)TPC_BYTES * TPCS, true);
  wait_for_idle(f);
  set_pool(f, &pool);
  launch_with_stack(f, round);
  bool good = true;
  if (right)
    good = run(f);
  else
    submit(&f->c, &f->ch);
  buffer_destroy(&f->c, &pool);
  return run(f) && good && *word_at(f, COUNT) == round + 1;
}

/* docs/hardware/textures.md 4.1: another pool of texture headers while a kernel may use the old
 * one. */
static bool moved_textures(struct fixture *f, unsigned round, bool right) {
  for (unsigned i = 0; i < 2; i++) {
    push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_HEADER_POOL_B,
                (uint32_t)f->data.va + 1024 * (1 + (2 * round + i) % 2));
    launch_count(f, 2 * round + i, 1);
    if (right)
      wait_for_idle(f);
  }
  return run(f) && *word_at(f, COUNT) == 2 * (round + 1);
}

/* The same with fewer headers. The kernel before has ended, so there may be more of them again. */
static bool shrunk_textures(struct fixture *f, unsigned round, bool right) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_HEADER_POOL_B, (uint32_t)f->data.va);
  for (unsigned i = 0; i < 2; i++) {
    push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_HEADER_POOL_C, 9 - i);
    launch_count(f, 2 * round + i, 1);
    if (right)
      wait_for_idle(f);
  }
  return run(f) && *word_at(f, COUNT) == 2 * (round + 1);
}

static void copy(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COPY, method, data);
}

/* Pushes a copy of COUNT to RESULT; launch adds bits of LAUNCH_DMA. */
static void launch_copy(struct fixture *f, unsigned round, uint32_t launch) {
  const uint64_t from = f->data.va + COUNT, to = f->data.va + RESULT;
  *word_at(f, COUNT) = round + 1;
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  copy(f, NVC7B5_OFFSET_IN_UPPER, (uint32_t)(from >> 32));
  copy(f, NVC7B5_OFFSET_IN_LOWER, (uint32_t)from);
  copy(f, NVC7B5_OFFSET_OUT_UPPER, (uint32_t)(to >> 32));
  copy(f, NVC7B5_OFFSET_OUT_LOWER, (uint32_t)to);
  copy(f, NVC7B5_LINE_LENGTH_IN, sizeof(uint64_t));
  copy(f, NVC7B5_LAUNCH_DMA, 0x182 | launch); /* non-pipelined, pitch to pitch */
}

/* Waits until MARK changes; returns whether the copy is complete by then. */
static bool copied(struct fixture *f, unsigned round) {
  return changes(f, word_at(f, MARK), round) &&
         __atomic_load_n(word_at(f, RESULT), __ATOMIC_SEQ_CST) == round + 1;
}

/* 7.1, 3.1: a copy, and a release of the host class that does not wait for it. */
static bool overtaken_copy(struct fixture *f, unsigned round, bool right) {
  launch_copy(f, round, 0);
  submit_release(f, MARK, round + 1, right ? RELEASE_64_WFI : RELEASE_64);
  bool good = copied(f, round);
  return run(f) && good;
}

/* 7.1: the semaphore of the copy class, without a flush before it. */
static bool unflushed_copy(struct fixture *f, unsigned round, bool right) {
  const uint64_t mark = f->data.va + MARK;
  copy(f, NVC7B5_SET_OBJECT, CLASS_COPY);
  copy(f, NVC7B5_SET_SEMAPHORE_A, (uint32_t)(mark >> 32));
  copy(f, NVC7B5_SET_SEMAPHORE_B, (uint32_t)mark);
  copy(f, NVC7B5_SET_SEMAPHORE_PAYLOAD, round + 1);
  launch_copy(f, round,
              hw_bits(NVC7B5_LAUNCH_DMA_SEMAPHORE_TYPE, 1) |
                  hw_bits(NVC7B5_LAUNCH_DMA_FLUSH_ENABLE, right));
  submit(&f->c, &f->ch);
  bool good = copied(f, round);
  return run(f) && good;
}

/* 8.5: a channel reads the result of another one without an acquire. */
static bool unordered_channels(struct fixture *f, unsigned round, bool right) {
  static struct channel other;
  if (!round) {
    channel_open(&f->c, &other, 64, CLASS_COMPUTE);
    push_compute_setup(&other);
  }
  launch_count(f, 2 * round, 10);
  submit_release(f, MARK, round + 1, RELEASE_64_WFI);
  struct channel first = f->ch;
  f->ch = other; /* the fixture's functions now write to this channel */
  if (right)
    push_semaphore(&f->ch, f->data.va + MARK, round + 1,
                   hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQ_CIRC_GEQ) |
                       hw_bits(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG, 1) |
                       hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1));
  launch_read(f, 2 * round + 1, f->data.va + COUNT);
  bool good = run(f) && *word_at(f, RESULT) == (round + 1) * UINT64_C(10);
  other = f->ch;
  f->ch = first;
  return run(f) && good;
}

static void preempt_in_the_middle(struct channel *ch) {
  struct nvgpu_preemption_mode_args mode = {.compute_preempt_mode = NVGPU_PREEMPT_COMPUTE_CILP};
  assert_int_equal(OS->ioctl(ch->fd, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, &mode), 0);
}

/* 4.3, trap T13: TSGs that preempt each other's grids share one local-memory pool. */
static bool shared_pool(struct fixture *f, unsigned round, bool right) {
  static struct channel other;
  static struct buffer pools[2];
  if (!round) {
    struct client second = f->c;
    client_open_tsg(&second);
    channel_open(&second, &other, 64, CLASS_COMPUTE);
    push_compute_setup(&other);
    preempt_in_the_middle(&f->ch);
    preempt_in_the_middle(&other);
    for (unsigned i = 0; i < 2; i++)
      pools[i] = buffer_create(&f->c, (uint64_t)TPC_BYTES * TPCS, true);
  }
  /* A grid that runs until the CPU writes MARK. */
  const struct fake_program until = {.operation = FAKE_COUNT,
                                     .address = f->data.va + MARK,
                                     .value = round + 1,
                                     .address2 = f->data.va + RESULT};
  const uint32_t turns = (uint32_t)*word_at(f, RESULT);
  set_pool(f, &pools[0]);
  launch_with_stack(f, 0);
  qmd_set(fixture_qmd(f, 0), QMD_PROGRAM_ADDRESS_LOWER, (uint32_t)fixture_program(f, 2, &until));
  submit(&f->c, &f->ch);
  if (!changes(f, word_at(f, RESULT), turns))
    return false;
  struct channel first = f->ch;
  f->ch = other; /* the fixture's functions now write to this channel */
  set_pool(f, &pools[right]);
  launch_with_stack(f, 1);
  bool good = run(f);
  other = f->ch;
  f->ch = first;
  __atomic_store_n(word_at(f, MARK), round + 1, __ATOMIC_SEQ_CST);
  return run(f) && good && *word_at(f, COUNT) == round + 1;
}

/* ---- the word ---- */

/* A random seed is printed once; a given seed is not printed. */
static void opens(const void *told) {
  char text[256] = "";
  FILE *diverted = tmpfile();
  if (!diverted || dup2(fileno(diverted), STDERR_FILENO) < 0)
    _exit(1);
  struct client c;
  for (unsigned i = 0; i < 2; i++) {
    client_open(&c);
    client_close(&c);
  }
  rewind(diverted);
  text[fread(text, 1, sizeof(text) - 1, diverted)] = 0;
  unsigned long drawn = 0, again = 0;
  char more;
  const int fields = sscanf(
      text, "tegracl: adversarial: the seed is %lu (TEGRACL_EMULATOR=adversarial:%lu)%*1[\n]%c",
      &drawn, &again, &more);
  if (told ? fields != 2 || drawn != again : *text)
    _exit(1);
}

static void no_device(const void *unused) {
  if (OS->open("/dev/nvmap", O_RDWR) >= 0)
    _exit(1);
}

static void random_seed_is_printed(void **state) {
  with_emulator("adversarial", opens, "told");
  with_emulator("adversarial:0x7fffffffffffffff", opens, NULL);
  with_emulator("check,adversarial:5", opens, NULL);
  const char *const bad[] = {"adversarial:", "adversarial:x", "adversarial:-1", "adversary"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    with_emulator(bad[i], no_device, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HAZARD(rewritten_qmd),
      HAZARD(rewritten_bank),
      HAZARD(reused_pushbuffer),
      HAZARD(edited_pushbuffer),
      HAZARD(overtaking_release),
      HAZARD(time_before_payload),
      HAZARD(believed_get),
      HAZARD(dependent_grids),
      HAZARD(replaced_pool),
      HAZARD(freed_pool),
      cmocka_unit_test(random_seed_is_printed),
      HAZARD(overtaken_copy),
      HAZARD(unflushed_copy),
      HAZARD(unordered_channels),
      HAZARD(shared_pool),
      HAZARD(moved_textures),
      HAZARD(shrunk_textures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
