/* The work of the C helpers of docs/hardware/bring-up.md (column B) on an Orin Nano: a host
 * semaphore, a report of the compute class, launches; then a fault, and a new channel in the same
 * address space. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "orin.h"

enum { PAGE = 4096, QMD_WORDS = 64, GP_GET = 0x88, CTAS = 8, DATA_BYTES = 64 << 20 };

/* `out[blockIdx.x] = 0xCAFE + blockIdx.x` for sm_87, as compiled by nvcc 13.0. */
static const uint64_t write_cafe[] = {
    0x00000a0000017a02, 0x000fe40000000f00, /* MOV R1, c[0x0][0x28] */
    0x0000000000027919, 0x000e220000002500, /* S2R R2, SR_CTAID.X */
    0x00000004ff037435, 0x000fe200000001ff, /* HFMA2.MMA R3, -RZ, RZ, 0, 2.4e-07 */
    0x0000460000047ab9, 0x000fe20000000a00, /* ULDC.64 UR4, c[0x0][0x118] */
    0x0000cafe02057810, 0x001fd00007ffe0ff, /* IADD3 R5, R2, 0xcafe, RZ */
    0x0000580002027625, 0x000fca00078e0003, /* IMAD.WIDE.U32 R2, R2, R3, c[0x0][0x160] */
    0x0000000502007986, 0x000fe2000c101904, /* STG.E [R2.64], R5 */
    0x000000000000794d, 0x000fea0003800000, /* EXIT */
    0xfffffff000007947, 0x000fc0000383ffff, /* BRA . */
};

static void host_semaphore(struct orin_channel *channel, const struct orin_buffer *data) {
  orin_push_release(channel, data->va, 0xcafe);
  orin_submit(channel);
  CHECK(orin_wait(data->cpu, 0xcafe));
  CHECK(orin_wait(channel->userd.cpu + GP_GET, 1));
}

/* Pushes SET_OBJECT, then a report of one word that follows the launched work. */
static void push_report(struct orin_channel *channel, uint64_t va, uint32_t payload) {
  const uint32_t words[] = {0x20012000, 0xc7c0,     0x20012056,   payload,    0x20012057,
                            0,          0x20012058, (uint32_t)va, 0x20012059, (uint32_t)(va >> 32),
                            0x2001205a, 8};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    orin_push(channel, words[i]);
}

static void report(struct orin_channel *channel, const struct orin_buffer *data) {
  push_report(channel, data->va + 64, 0xcafe);
  orin_submit(channel);
  CHECK(orin_wait(data->cpu + 64, 0xcafe));
}

/* Fills in the words of section 4 that are not zero, for a grid of CTAS. */
static void fill_descriptor(uint32_t *qmd, uint64_t program, uint64_t bank) {
  memset(qmd, 0, QMD_WORDS * sizeof(*qmd));
  qmd[4] = 0x00000040;
  qmd[5] = 0xfc000000;
  qmd[11] = 0x04000000;
  qmd[12] = CTAS;
  qmd[13] = qmd[14] = 1;
  qmd[18] = 0x00010030;
  qmd[19] = 0x00010001;
  qmd[20] = 0x00008001;
  qmd[32] = (uint32_t)bank;
  qmd[33] = 0x01000000 | (uint32_t)(bank >> 32);
  qmd[48] = (uint32_t)program;
  qmd[49] = (uint32_t)(program >> 32);
}

static void launch(struct orin *orin, struct orin_channel *channel) {
  struct orin_buffer code, bank, qmd, out;
  orin_buffer(orin, &code, PAGE);
  orin_buffer(orin, &bank, PAGE);
  orin_buffer(orin, &qmd, PAGE);
  orin_buffer(orin, &out, PAGE);
  memcpy(code.cpu, write_cafe, sizeof(write_cafe));
  memcpy(bank.cpu + 0x160, &out.va, sizeof(out.va));
  fill_descriptor((uint32_t *)(void *)qmd.cpu, code.va, bank.va);
  const uint32_t words[] = {0x20012000, 0xc7c0, /* SET_OBJECT */
                            0x200220a8, 0,
                            0xfe000000, /* shared window */
                            0x200221ec, 0,
                            0xff000000, /* local window */
                            0x90172087, 0x800020a6,
                            0x80002091, /* caches */
                            0x200120ad, (uint32_t)(qmd.va >> 8),
                            0x800a20b0}; /* SEND_PCAS_A, PCAS2_B action 10 */
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    orin_push(channel, words[i]);
  push_report(channel, out.va + PAGE / 2, 0xcafedead);
  orin_submit(channel);
  CHECK(orin_wait(out.cpu + PAGE / 2, 0xcafedead));
  for (uint32_t i = 0; i < CTAS; i++)
    CHECK(orin_word(out.cpu + i * sizeof(i)) == 0xcafe + i);
  struct orin_buffer *all[] = {&code, &bank, &qmd, &out};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
    orin_buffer_free(orin, all[i]);
}

/* After a write to an unmapped address the notifier has 31 (MMU fault) and the channel is dead; a
 * new TSG can use the same buffers and address space. */
static void fault(struct orin *orin, struct orin_channel *channel, const struct orin_buffer *data) {
  const uint32_t timed_out_request = 0x8004480c;
  uint32_t timed_out = 1;
  CHECK(ioctl(channel->fd, timed_out_request, &timed_out) == 0 && !timed_out);
  orin_push_release(channel, 0x1000000000, 1);
  orin_submit(channel);
  CHECK(orin_wait(channel->notifier.cpu + 12, 0xffff0000)); /* status, after info16 */
  CHECK(orin_word(channel->notifier.cpu + 8) == 31);
  CHECK(ioctl(channel->fd, timed_out_request, &timed_out) == 0 && timed_out);
  orin_channel_close(channel);
  close(orin->tsg);
  uint64_t tsg[3] = {0};
  CHECK(ioctl(orin->ctrl, 0xc0184709, tsg) == 0);
  orin->tsg = (int)(uint32_t)tsg[0];
  orin->veid = 0;
  orin_channel(orin, channel);
  orin_push_release(channel, data->va + 128, 0xcafe);
  orin_submit(channel);
  CHECK(orin_wait(data->cpu + 128, 0xcafe));
}

static void everything(void) {
  struct orin orin;
  struct orin_channel channel;
  struct orin_buffer data;
  orin_begin(&orin, &channel, &data, DATA_BYTES);
  CHECK(channel.token == 511);
  memset(data.cpu, 0, DATA_BYTES);
  host_semaphore(&channel, &data);
  report(&channel, &data);
  for (int i = 0; i < 8; i++)
    launch(&orin, &channel);
  fault(&orin, &channel, &data);
  orin_end(&orin, &channel, &data);
}

/* plain [forever] */
int main(int argc, char **argv) {
  do
    everything();
  while (argc > 1 && strcmp(argv[1], "forever") == 0);
  puts("semaphore, report, launches, fault: as on a board");
  return 0;
}
