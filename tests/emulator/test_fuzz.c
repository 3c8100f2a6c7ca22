/* Random pushbuffers, GPFIFO entries and descriptors for the whole device, with its threads, while
 * clients are created and closed. The device may report faults to its client, but must not crash or
 * hang. The program prints the seed, which can be given as the argument. (fuzz_engines.c and
 * fuzz_requests.c run many more inputs, without the threads.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/hw/tables.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

static uint64_t seed = 20260101;

static uint32_t rnd(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 16);
}

/* Returns a random word that is plausible more often than by chance. */
static uint32_t data_word(uint64_t va) {
  switch (rnd() % 6) {
  case 0:
    return (uint32_t)va + rnd() % 4096;
  case 1:
    return (uint32_t)(va >> 32);
  case 2:
    return rnd() % 16;
  case 3:
    return 0;
  case 4:
    return 1u << rnd() % 32;
  default:
    return rnd();
  }
}

static uint32_t header_word(void) {
  const struct hw_method *m = &hw_methods[rnd() % hw_method_count];
  uint32_t op = rnd() % 8 ? METHOD_INC : rnd() % 8;
  uint32_t subchannel = m->class_id == CLASS_COMPUTE ? SUBCHANNEL_COMPUTE
                        : m->class_id == CLASS_COPY  ? SUBCHANNEL_COPY
                                                     : rnd() % 8;
  return op << 29 | (rnd() % 6) << 16 | subchannel << 13 | (uint32_t)m->offset >> 2;
}

static void fuzz_stream(struct client *c, bool with_setup) {
  struct channel ch;
  channel_open(c, &ch, 64, CLASS_COMPUTE);
  struct buffer b = buffer_create(c, 8192, true);
  uint32_t *w = b.cpu;
  for (int i = 0; i < 1024; i++)
    w[i] = data_word(b.va);
  if (with_setup) {
    push_compute_setup(&ch);
    push_method(&ch, SUBCHANNEL_COPY, NVC7B5_SET_OBJECT, CLASS_COPY);
  }
  for (int i = 0; i < 200; i++)
    push(&ch, rnd() % 2 ? header_word() : data_word(b.va));
  submit(c, &ch);
  if (rnd() % 2)
    submit_entry(c, &ch, (uint64_t)rnd() << 32 | rnd());
  usleep(rnd() % 200);
  buffer_destroy(c, &b);
  channel_close(c, &ch);
}

/* Runs valid descriptors with a few bits changed. */
static void fuzz_qmd(struct client *c) {
  struct channel ch;
  channel_open(c, &ch, 64, CLASS_COMPUTE);
  struct buffer b = buffer_create(c, 0x10000, true);
  struct fake_program p = {.operation = FAKE_ADD, .address = b.va + 0x4000, .value = 1};
  memcpy(b.cpu, &p, sizeof(p));
  push_compute_setup(&ch);
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t *q = (uint32_t *)(void *)((char *)b.cpu + 0x1000 + i * QMD_BYTES);
    qmd_make(q, b.va, b.va + 0x8000, 1 + rnd() % 8);
    for (uint32_t j = rnd() % 3; j > 0; j--) {
      /* Keeps the grid's size, because 2^32 CTAs are legal but take too long. */
      const struct hw_field_name *field = &qmd_fields[rnd() % qmd_field_count];
      if (strncmp(field->name, "CTA_RASTER", 10) != 0)
        qmd_set(q, field->high, field->low, rnd());
    }
    push_method(&ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A,
                (uint32_t)((b.va + 0x1000 + i * QMD_BYTES) >> 8));
    push_method(&ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_PREFETCH_SCHEDULE);
  }
  submit(c, &ch);
  usleep(rnd() % 500);
  buffer_destroy(c, &b);
  channel_close(c, &ch);
}

static void device_survives_random_input(void **state) {
  printf("seed %llu\n", (unsigned long long)seed);
  for (int i = 0; i < 150; i++) {
    struct client c;
    client_open(&c);
    fuzz_stream(&c, i % 3 != 0);
    client_close(&c);
    client_open(&c);
    fuzz_qmd(&c);
    client_close(&c);
  }
  struct client c;
  /* The device still works after the random input. */
  struct channel ch;
  client_open(&c);
  channel_open(&c, &ch, 64, CLASS_COMPUTE);
  push_semaphore(&ch, ch.push.va + 0x8000, 3, 1);
  submit(&c, &ch);
  assert_true(wait_word((char *)ch.push.cpu + 0x8000, 3));
  channel_close(&c, &ch);
  client_close(&c);
}

int main(int argc, char **argv) {
  if (argc > 1)
    seed = strtoull(argv[1], NULL, 0);
  const struct CMUnitTest tests[] = {cmocka_unit_test(device_survives_random_input)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
