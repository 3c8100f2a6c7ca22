/* Adversarial mode: for each cache that keeps its contents until it is invalidated, a client that
 * does not invalidate it, which fails under some seeds, and the same client with the invalidation.
 * docs/hardware/command-stream.md 4.4, 8.3; docs/hardware/bring-up.md, trap 38. The test runs on
 * the emulator's SMs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/hw/texture.h"
#include "tests/emulator/modes/hazard.h"

enum {
  BANK = 0x8000, /* of slot 0 */
  BANK_BYTES = 0x200,
  PARAMETERS = 0x160,
  ADDEND = 0x100,
  /* Offsets in the page of results. */
  RESULT = 0,
  SOURCE = 1024,
  FROM = 2048, /* the source of the copy engine */

  COPY_NON_PIPELINED_PITCH = 0x182, /* docs/hardware/command-stream.md 7.1 */
};

/* `*out = *in + ADDEND` for sm_87, as compiled by nvcc 13.0, without the prologue. */
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

/* Sets the parameters in a slot's bank, which are offsets in the page of results. */
static void put_bank(struct fixture *f, unsigned slot, unsigned offset, unsigned to) {
  const uint64_t parameters[] = {f->data.va + offset, f->data.va + to};
  memcpy((char *)f->code.cpu + BANK + slot * BANK_BYTES + PARAMETERS, parameters,
         sizeof(parameters));
}

/* Which caches the flags of a descriptor invalidate. */
enum {
  DROP_CONSTANTS = 1,
  DROP_DATA = 2,
  DROP_CODE = 4,
  DROP_HEADERS = 8,
  DROP_SAMPLERS = 16,
  DROP_TEXELS = 32,
  DROP_ALL = 63,
};

static void put_qmd(struct fixture *f, unsigned slot, unsigned bank, unsigned drop) {
  uint32_t *qmd = fixture_qmd(f, slot);
  qmd_make(qmd, f->code.va, f->code.va + BANK + bank * BANK_BYTES, 1);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(0), BANK_BYTES >> QMD_CONSTANT_SIZE_SHIFT);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_INVALIDATE(0), (drop & DROP_CONSTANTS) != 0);
  qmd_set(qmd, QMD_INVALIDATE_SHADER_DATA_CACHE, (drop & DROP_DATA) != 0);
  qmd_set(qmd, QMD_INVALIDATE_INSTRUCTION_CACHE, (drop & DROP_CODE) != 0);
  qmd_set(qmd, QMD_INVALIDATE_TEXTURE_HEADER_CACHE, (drop & DROP_HEADERS) != 0);
  qmd_set(qmd, QMD_INVALIDATE_TEXTURE_SAMPLER_CACHE, (drop & DROP_SAMPLERS) != 0);
  qmd_set(qmd, QMD_INVALIDATE_TEXTURE_DATA_CACHE, (drop & DROP_TEXELS) != 0);
}

static void compute(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, method, data);
}

/* Runs the pushed words and returns whether the result is as expected. */
static bool gives(struct fixture *f, uint32_t expected) {
  fixture_run(f);
  return *word_at(f, RESULT) == expected;
}

/* Another descriptor at the same address. */
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

/* A descriptor that was prefetched before it was complete. */
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

/* The ways to invalidate a cache: a flag of the descriptor, and data for two methods. */
struct drop {
  unsigned flag;
  uint32_t waiting, at_once;
};

/* Launches a grid with bank 0 after invalidating all caches except the tested one. If right, the
 * round chooses how the tested cache is invalidated; otherwise it is not. */
static void launch_with(struct fixture *f, unsigned round, bool right, const struct drop *drop) {
  const unsigned way = right ? round % 3 : 3;
  put_qmd(f, round, 0, DROP_ALL & ~(way == 0 ? 0 : drop->flag));
  if (way == 1)
    compute(f, NVC7C0_INVALIDATE_SHADER_CACHES, drop->waiting);
  if (way == 2)
    compute(f, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI, drop->at_once);
  fixture_launch(f, round, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
}

/* Other constants at the same address. */
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

/* Other code at the same address. */
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

/* Launches a grid that reads a word which the CPU, the copy engine or another SM has just
 * written. */
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

/* The next grid, on another SM, reads a grid's own writes. */
static bool data_of_a_grid(struct fixture *f, unsigned round, bool right) {
  if (round == 0)
    *word_at(f, SOURCE) = 0;
  launch_reader(f, round, right, SOURCE);
  fixture_run(f);
  return *word_at(f, SOURCE) == (round + 1) * ADDEND;
}

/* --- textures ---------------------------------------------------------------- */

/* Offsets in the page of results: two pools of headers, one of samplers, one texel in each 32
 * bytes. */
enum { HEADERS = 256, OTHER_HEADERS = 384, SAMPLERS = 512, TEXELS = 1024, PLACES = 8 };
enum { HEADER = 1, SAMPLER = 2 }; /* indices in the pools */

/* `*out = tex2D(handle, x, 0.5)` for sm_87, as NVRTC 13.0 compiled it, without the prologue. */
static const uint64_t sample[] = {
    0x00005c0000057a02, 0x000fe20000000f00, /* MOV R5, c[0x0][0x170] */
    0x3f000000ff007424, 0x000fca00078e00ff, /* IMAD.MOV.U32 R0, RZ, RZ, 0x3f000000 */
    0x3000580005057b60, 0x000f4200009e01ff, /* TEX.SCR.LZ RZ, R5, R5, R0, 0x0, 0x58, 2D, 0x1 */
    0x00005a0000027a02, 0x000fe20000000f00, /* MOV R2, c[0x0][0x168] */
    0x00005b00ff037624, 0x000fe200078e00ff, /* IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x16c] */
    0x0000460000047ab9, 0x000fc80000000a00, /* ULDC.64 UR4, c[0x0][0x118] */
    0x0000000502007986, 0x020fe2000c101904, /* STG.E [R2.64], R5 */
    0x000000000000794d, 0x000fea0003800000, /* EXIT */
};

/* A header for one texel: R32 UINT. */
static void put_header(struct fixture *f, unsigned pool, unsigned texel) {
  uint32_t *h = word_at(f, pool + HEADER * TEXTURE_BYTES);
  const uint64_t address = f->data.va + texel;
  memset(h, 0, TEXTURE_BYTES);
  hw_set(h, TIC_COMPONENTS, TIC_COMPONENTS_R32);
  hw_set(h, TIC_R_DATA_TYPE, TIC_R_DATA_TYPE_NUM_UINT);
  hw_set(h, TIC_X_SOURCE, TIC_X_SOURCE_IN_R);
  hw_set(h, TIC_HEADER_VERSION, TIC_HEADER_VERSION_SELECT_PITCH);
  hw_set(h, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP);
  hw_set(h, TIC_ADDRESS_BITS31TO5, (uint32_t)address >> 5);
  hw_set(h, TIC_ADDRESS_BITS48TO32, (uint32_t)(address >> 32));
  hw_set(h, TIC_PITCH_BITS20TO5, 1);
  hw_set(h, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(h, TIC_NORMALIZED_COORDS, 1);
}

static void put_sampler(struct fixture *f, uint32_t border) {
  uint32_t *s = word_at(f, SAMPLERS + SAMPLER * TEXTURE_BYTES);
  memset(s, 0, TEXTURE_BYTES);
  hw_set(s, TSC_ADDRESS_U, TSC_ADDRESS_U_BORDER);
  hw_set(s, TSC_ADDRESS_V, TSC_ADDRESS_U_BORDER);
  hw_set(s, TSC_ADDRESS_P, TSC_ADDRESS_U_BORDER);
  hw_set(s, TSC_MAG_FILTER, TSC_MAG_FILTER_MAG_POINT);
  hw_set(s, TSC_MIN_FILTER, TSC_MIN_FILTER_MIN_POINT);
  hw_set(s, TSC_FLOAT_COORD_NORMALIZATION, 1);
  hw_set(s, TSC_BORDER_COLOR_R, border);
}

static void set_pools(struct fixture *f, unsigned headers) {
  compute(f, NVC7C0_SET_TEX_HEADER_POOL_A, (uint32_t)(f->data.va >> 32));
  compute(f, NVC7C0_SET_TEX_HEADER_POOL_B, (uint32_t)f->data.va + headers);
  compute(f, NVC7C0_SET_TEX_HEADER_POOL_C, HEADER);
  compute(f, NVC7C0_SET_TEX_SAMPLER_POOL_A, (uint32_t)(f->data.va >> 32));
  compute(f, NVC7C0_SET_TEX_SAMPLER_POOL_B, (uint32_t)f->data.va + SAMPLERS);
  compute(f, NVC7C0_SET_TEX_SAMPLER_POOL_C, SAMPLER);
}

static unsigned texel_at(unsigned place) {
  return TEXELS + place % PLACES * 32;
}

/* Each texel has its index as value, unless the test changes it. */
static void put_texels(struct fixture *f) {
  for (unsigned k = 0; k < PLACES; k++)
    *word_at(f, texel_at(k)) = k;
}

/* Samples at x after invalidating all caches except the tested one. If right, the round chooses how
 * the tested cache is invalidated: by the descriptor's flag, by methods with or without a wait, or,
 * if line is not 0, by a method for that line. */
static bool samples(struct fixture *f, unsigned round, bool right, unsigned flag,
                    const uint32_t methods[2], uint32_t line, float x, uint32_t expected) {
  const unsigned way = right ? round % (line ? 4 : 3) : 5;
  const struct {
    uint64_t handle, out;
    float x;
  } parameters = {HEADER | SAMPLER << TEXTURE_HANDLE_HEADER_BITS, f->data.va + RESULT, x};
  memcpy(f->code.cpu, sample, sizeof(sample));
  memcpy((char *)f->code.cpu + BANK + PARAMETERS, &parameters, sizeof(parameters));
  put_qmd(f, round, 0, DROP_ALL & ~(way == 0 ? 0 : flag));
  if (way == 1 || way == 2)
    compute(f, methods[way - 1], 0);
  if (way == 3)
    compute(f, methods[round / 4 % 2],
            hw_bits(NVC7C0_INVALIDATE_SAMPLER_CACHE_LINES, INVALIDATE_ONE_LINE) |
                hw_bits(NVC7C0_INVALIDATE_SAMPLER_CACHE_TAG, line));
  fixture_launch(f, round, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
  return gives(f, expected);
}

static const uint32_t of_headers[] = {NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE,
                                      NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE_NO_WFI};
static const uint32_t of_samplers[] = {NVC7C0_INVALIDATE_SAMPLER_CACHE,
                                       NVC7C0_INVALIDATE_SAMPLER_CACHE_NO_WFI};
static const uint32_t of_texels[] = {NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE,
                                     NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE_NO_WFI};

/* Another header at the same address. */
static bool texture_header(struct fixture *f, unsigned round, bool right) {
  set_pools(f, HEADERS);
  put_texels(f);
  put_sampler(f, 0);
  put_header(f, HEADERS, texel_at(round));
  return samples(f, round, right, DROP_HEADERS, of_headers, HEADER, 0.5f, round % PLACES);
}

/* Another pool, with another header at the same index. */
static bool header_pool(struct fixture *f, unsigned round, bool right) {
  const unsigned pool = round % 2 ? OTHER_HEADERS : HEADERS;
  compute(f, NVC7C0_WAIT_FOR_IDLE, 0);
  set_pools(f, pool);
  put_texels(f);
  put_sampler(f, 0);
  put_header(f, pool, texel_at(round % 2));
  return samples(f, round, right, DROP_HEADERS, of_headers, HEADER, 0.5f, round % 2);
}

/* Another sampler at the same address. */
static bool texture_sampler(struct fixture *f, unsigned round, bool right) {
  set_pools(f, HEADERS);
  put_header(f, HEADERS, TEXELS);
  put_sampler(f, round);
  return samples(f, round, right, DROP_SAMPLERS, of_samplers, SAMPLER, -1.5f, round);
}

/* Texels that the CPU has written. */
static bool texels_of_the_cpu(struct fixture *f, unsigned round, bool right) {
  set_pools(f, HEADERS);
  put_sampler(f, 0);
  put_header(f, HEADERS, TEXELS);
  *word_at(f, TEXELS) = round;
  return samples(f, round, right, DROP_TEXELS, of_texels, 0, 0.5f, round);
}

/* Texels that the previous grid has written; its stores do not invalidate the cache. */
static bool texels_of_a_grid(struct fixture *f, unsigned round, bool right) {
  set_pools(f, HEADERS);
  put_sampler(f, 0);
  put_header(f, HEADERS, TEXELS);
  *word_at(f, SOURCE + 512) = round;
  put_code(f, ADDEND);
  put_bank(f, 0, SOURCE + 512, TEXELS);
  put_qmd(f, round, 0, DROP_ALL & ~DROP_TEXELS);
  fixture_launch(f, round, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
  fixture_run(f);
  return samples(f, round, right, DROP_TEXELS, of_texels, 0, 0.5f, round + ADDEND);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HAZARD(descriptor),        HAZARD(prefetched_descriptor),
      HAZARD(constants),         HAZARD(code),
      HAZARD(data_of_the_cpu),   HAZARD(data_of_the_copy_engine),
      HAZARD(data_of_a_grid),    HAZARD(texture_header),
      HAZARD(header_pool),       HAZARD(texture_sampler),
      HAZARD(texels_of_the_cpu), HAZARD(texels_of_a_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
