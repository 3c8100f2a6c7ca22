/* Compares the hardware formats with words that ran on real boards (docs/hardware/bring-up.md 3 and
 * 4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "gpu/hw/tables.h"
#include "gpu/hw/texture.h"

static void method_headers_match_boards(void **state) {
  (void)state;
  static const struct {
    uint32_t operation, subchannel, method, count, word;
  } known[] = {
      {METHOD_INC, 0, NVC76F_SEM_ADDR_LO, 5, 0x20050017},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_OBJECT, 1, 0x20012000},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, 1, 0x200120b0},
      {METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, 9, 0x800920b0},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, 1, 0x200120ad},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A, 2, 0x200220a8},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A, 2, 0x200221ec},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_A, 2, 0x200221e4},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A, 3,
       0x200320b9},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SHADER_CACHES, 1, 0x20012087},
      {METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SHADER_CACHES, 0x1017, 0x90172087},
      {METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_INVALIDATE_SKED_CACHES, 0, 0x800020a6},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER, 1, 0x20012056},
      {METHOD_INC, SUBCHANNEL_COPY, NVC7B5_OFFSET_IN_UPPER, 4, 0x20048100},
      {METHOD_INC, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 1, 0x200180c0},
      {METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_INLINE_QMD_ADDRESS_A, 66, 0x204220c6},
  };
  for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
    assert_int_equal(
        method_header(known[k].operation, known[k].subchannel, known[k].method, known[k].count),
        known[k].word);
}

static uint32_t release(uint32_t timestamp) {
  return hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE) |
         hw_bits(NVC76F_SEM_EXECUTE_RELEASE_WFI, 1) | hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1) |
         hw_bits(NVC76F_SEM_EXECUTE_RELEASE_TIMESTAMP, timestamp);
}

static void method_fields_are_encoded(void **state) {
  (void)state;
  assert_int_equal(release(1), 0x03100001);
  assert_int_equal(release(0), 0x01100001);
  uint32_t acquire = hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQ_CIRC_GEQ) |
                     hw_bits(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG, 1) |
                     hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1);
  assert_int_equal(acquire, 0x01001003);
  assert_int_equal(hw_field(0x01001003, NVC76F_SEM_EXECUTE_OPERATION), 3);
  assert_int_equal(NVC7C0_LOAD_INLINE_QMD_DATA(63), 0x320 + 63 * 4);
  assert_int_equal(hw_bits(31, 0, 0xffffffff), 0xffffffff);
  assert_int_equal(hw_bits(3, 2, 0xff), 0xc);
}

static void gpfifo_entry_matches_board(void **state) {
  (void)state;
  /* The entry captured on the board, 0x00001AFFFFA01000, also has bit 41 (LEVEL) set. */
  uint64_t entry = gp_entry(0xffffa01000, 6, 0);
  assert_true(entry == (UINT64_C(0x00001affffa01000) & ~(UINT64_C(1) << 41)));
  assert_true(gp_entry_address(entry) == 0xffffa01000);
  assert_int_equal(gp_entry_words(entry), 6);
  entry = gp_entry(0x1000, GP_ENTRY_LENGTH_MAX, 1);
  assert_int_equal(gp_entry_words(entry), GP_ENTRY_LENGTH_MAX);
  assert_int_equal(entry >> 63, 1);
}

struct word {
  unsigned index;
  uint32_t value;
};

static void check_words(const uint32_t *qmd, const struct word *words, size_t count) {
  uint32_t expected[QMD_WORDS] = {0};
  for (size_t i = 0; i < count; i++)
    expected[words[i].index] = words[i].value;
  for (unsigned i = 0; i < QMD_WORDS; i++)
    assert_int_equal(qmd[i], expected[i]);
}

/* "A test 15": 32 threads, a program of 640 bytes at 0xFFFFA04580. */
static void qmd_of_first_kernel_matches_board(void **state) {
  (void)state;
  const uint64_t program = 0xffffa04580, bank0 = 0xffffa06000;
  uint32_t q[QMD_WORDS] = {0};
  qmd_set(q, QMD_QMD_GROUP_ID, QMD_GROUP_COMPUTE);
  qmd_set(q, QMD_SM_GLOBAL_CACHING_ENABLE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_HEADER_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_SAMPLER_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_DATA_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_SHADER_DATA_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_SHADER_CONSTANT_CACHE, 1);
  qmd_set(q, QMD_PROGRAM_PREFETCH_ADDR_LOWER_SHIFTED, (uint32_t)(program >> QMD_ADDRESS_SHIFT));
  qmd_set(q, QMD_CWD_MEMBAR_TYPE, QMD_MEMBAR_L1_SYSMEMBAR);
  qmd_set(q, QMD_API_VISIBLE_CALL_LIMIT, QMD_CALL_LIMIT_NO_CHECK);
  qmd_set(q, QMD_SAMPLER_INDEX, QMD_SAMPLER_VIA_HEADER_INDEX);
  qmd_set(q, QMD_CTA_RASTER_WIDTH, 1);
  qmd_set(q, QMD_CTA_RASTER_HEIGHT, 1);
  qmd_set(q, QMD_CTA_RASTER_DEPTH, 1);
  qmd_set(q, QMD_SHARED_MEMORY_SIZE, 0x400);
  qmd_set(q, QMD_MIN_SM_CONFIG_SHARED_MEM_SIZE, shared_carveout_code(32));
  qmd_set(q, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE, shared_carveout_code(100));
  qmd_set(q, QMD_TARGET_SM_CONFIG_SHARED_MEM_SIZE, shared_carveout_code(32));
  qmd_set(q, QMD_QMD_VERSION, QMD_VERSION_VALUE);
  qmd_set(q, QMD_QMD_MAJOR_VERSION, QMD_MAJOR_VERSION_VALUE);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION0, 32);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION1, 1);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION2, 1);
  qmd_set(q, QMD_CONSTANT_BUFFER_VALID(0), 1);
  qmd_set(q, QMD_REGISTER_COUNT_V, 16);
  qmd_set(q, QMD_BARRIER_COUNT, 1);
  qmd_set(q, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)bank0);
  qmd_set(q, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)(bank0 >> 32));
  qmd_set(q, QMD_CONSTANT_BUFFER_INVALIDATE(0), 1);
  qmd_set(q, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(0), 4096 >> QMD_CONSTANT_SIZE_SHIFT);
  qmd_set(q, QMD_PROGRAM_ADDRESS_LOWER, (uint32_t)program);
  qmd_set(q, QMD_PROGRAM_ADDRESS_UPPER, (uint32_t)(program >> 32));
  qmd_set(q, QMD_PROGRAM_PREFETCH_ADDR_UPPER_SHIFTED, (uint32_t)(program >> 40));
  qmd_set(q, QMD_PROGRAM_PREFETCH_SIZE, 640 >> QMD_PREFETCH_SIZE_SHIFT);
  qmd_set(q, QMD_SASS_VERSION, QMD_SASS_VERSION_87);
  static const struct word words[] = {
      {4, 0x0000007f},  {5, 0xbc000000},  {8, 0xffffa045},  {11, 0x44010000}, {12, 1},
      {13, 1},          {14, 1},          {17, 0x34240400}, {18, 0x00200030}, {19, 0x00010001},
      {20, 0x00121001}, {23, 0x08000000}, {32, 0xffa06000}, {33, 0x080400ff}, {48, 0xffa04580},
      {49, 0x000000ff}, {51, 0x87000400}};
  check_words(q, words, sizeof(words) / sizeof(words[0]));
  assert_int_equal(qmd_get(q, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE), 0x1a);
}

/* "B dot4", as run on an Orin Nano. */
static void qmd_of_dot4_matches_board(void **state) {
  (void)state;
  uint32_t q[QMD_WORDS] = {0};
  qmd_set(q, QMD_SM_GLOBAL_CACHING_ENABLE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_HEADER_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_SAMPLER_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_DATA_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_SHADER_DATA_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_INSTRUCTION_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_SHADER_CONSTANT_CACHE, 1);
  qmd_set(q, QMD_API_VISIBLE_CALL_LIMIT, QMD_CALL_LIMIT_NO_CHECK);
  qmd_set(q, QMD_CTA_RASTER_WIDTH, 1);
  qmd_set(q, QMD_CTA_RASTER_HEIGHT, 1);
  qmd_set(q, QMD_CTA_RASTER_DEPTH, 1);
  qmd_set(q, QMD_QMD_MAJOR_VERSION, QMD_MAJOR_VERSION_VALUE);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION0, 1);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION1, 1);
  qmd_set(q, QMD_CTA_THREAD_DIMENSION2, 1);
  qmd_set(q, QMD_CONSTANT_BUFFER_VALID_0, 1);
  qmd_set(q, QMD_REGISTER_COUNT_V, 128);
  qmd_set(q, QMD_CONSTANT_BUFFER_ADDR_LOWER_0, 0x04001000);
  qmd_set(q, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4_0, 512 >> QMD_CONSTANT_SIZE_SHIFT);
  qmd_set(q, QMD_PROGRAM_ADDRESS_LOWER, 0x04000000);
  static const struct word words[] = {{4, 0x00000040},  {5, 0xfc000000},  {11, 0x04000000},
                                      {12, 1},          {13, 1},          {14, 1},
                                      {18, 0x00010030}, {19, 0x00010001}, {20, 0x00008001},
                                      {32, 0x04001000}, {33, 0x01000000}, {48, 0x04000000}};
  check_words(q, words, sizeof(words) / sizeof(words[0]));
}

static void setting_a_field_keeps_the_others(void **state) {
  (void)state;
  for (unsigned f = 0; f < qmd_field_count; f++) {
    unsigned high = qmd_fields[f].high, low = qmd_fields[f].low;
    uint32_t q[QMD_WORDS];
    memset(q, 0xff, sizeof(q));
    qmd_set(q, high, low, 0);
    for (unsigned bit = 0; bit < QMD_WORDS * 32; bit++)
      assert_int_equal((q[bit / 32] >> (bit % 32)) & 1, bit < low || bit > high);
    qmd_set(q, high, low, 0x55555555);
    assert_int_equal(qmd_get(q, high, low), 0x55555555 & (UINT32_MAX >> (31 - (high - low))));
  }
}

static void carveouts_fit_requested_sizes(void **state) {
  (void)state;
  assert_int_equal(shared_carveout_for(0), 1);
  assert_int_equal(shared_carveout_for(1), 3);
  assert_int_equal(shared_carveout_for(8192), 3);
  assert_int_equal(shared_carveout_for(8193), 5);
  assert_int_equal(shared_carveout_for(100 * 1024), 26);
  assert_int_equal(shared_carveout_for(164 * 1024), 42);
  assert_int_equal(shared_carveout_for(1 << 20), 42);
}

static void finds_methods_by_offset(void **state) {
  (void)state;
  uint32_t index = 77;
  const struct hw_method *m = hw_method_find(CLASS_COMPUTE, NVC7C0_SEND_PCAS_A, &index);
  assert_non_null(m);
  assert_string_equal(m->name, "SEND_PCAS_A");
  assert_int_equal(index, 0);
  m = hw_method_find(CLASS_COMPUTE, NVC7C0_LOAD_INLINE_QMD_DATA(63), &index);
  assert_non_null(m);
  assert_string_equal(m->name, "LOAD_INLINE_QMD_DATA");
  assert_int_equal(index, 63);
  assert_null(hw_method_find(CLASS_COMPUTE, NVC7C0_LOAD_INLINE_QMD_DATA(64), NULL));
  m = hw_method_find(CLASS_COMPUTE, NVC7C0_CALL_MME_DATA(2), &index);
  assert_non_null(m);
  assert_string_equal(m->name, "CALL_MME_DATA");
  assert_int_equal(index, 2);
  assert_null(hw_method_find(CLASS_HOST, 0x38, NULL));
  assert_null(hw_method_find(0x1234, 0, NULL));
  for (unsigned i = 1; i < hw_method_count; i++)
    assert_true(hw_methods[i - 1].class_id != hw_methods[i].class_id ||
                hw_methods[i - 1].offset < hw_methods[i].offset);
}

static void finds_names_of_values(void **state) {
  (void)state;
  const struct hw_method *m = hw_method_find(CLASS_HOST, NVC76F_SEM_EXECUTE, NULL);
  assert_non_null(m);
  assert_string_equal(m->fields[0].name, "OPERATION");
  assert_string_equal(hw_value_find(&m->fields[0], SEM_RELEASE), "SEM_RELEASE");
  assert_null(hw_value_find(&m->fields[0], 7));
  assert_string_equal(m->fields[1].name, "ACQUIRE_SWITCH_TSG");
  assert_null(hw_value_find(&m->fields[1], 1));
}

/* Expected words computed by hand from docs/hardware/textures.md 1 and 2. */
static void texture_words_match_hand_computation(void **state) {
  (void)state;
  const uint64_t address = 0x1234567820;
  uint32_t header[TEXTURE_WORDS] = {0}, sampler[TEXTURE_WORDS] = {0};
  hw_set(header, TIC_COMPONENTS, TIC_COMPONENTS_A8B8G8R8);
  hw_set(header, TIC_R_DATA_TYPE, TIC_R_DATA_TYPE_NUM_UNORM);
  hw_set(header, TIC_A_DATA_TYPE, TIC_R_DATA_TYPE_NUM_FLOAT);
  hw_set(header, TIC_X_SOURCE, TIC_X_SOURCE_IN_R);
  hw_set(header, TIC_W_SOURCE, TIC_X_SOURCE_IN_ONE_FLOAT);
  hw_set(header, TIC_ADDRESS_BITS31TO5, (uint32_t)address >> 5);
  hw_set(header, TIC_ADDRESS_BITS48TO32, (uint32_t)(address >> 32));
  hw_set(header, TIC_HEADER_VERSION, TIC_HEADER_VERSION_SELECT_PITCH);
  hw_set(header, TIC_PITCH_BITS20TO5, 2097120 >> 5);
  hw_set(header, TIC_WIDTH_MINUS_ONE, 0x1ffff);
  hw_set(header, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP);
  hw_set(header, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(header, TIC_HEIGHT_MINUS_ONE, 64999);
  hw_set(header, TIC_NORMALIZED_COORDS, 1);
  const uint32_t header_words[TEXTURE_WORDS] = {0x70170108, 0x34567820, 0x00400012, 0x0000ffff,
                                                0xe381ffff, 0x8000fde7, 0,          0};
  assert_memory_equal(header, header_words, sizeof header);
  hw_set(sampler, TSC_ADDRESS_U, TSC_ADDRESS_U_BORDER);
  hw_set(sampler, TSC_ADDRESS_P, TSC_ADDRESS_U_MIRROR);
  hw_set(sampler, TSC_MAG_FILTER, TSC_MAG_FILTER_MAG_LINEAR);
  hw_set(sampler, TSC_MIN_FILTER, TSC_MIN_FILTER_MIN_LINEAR);
  hw_set(sampler, TSC_FLOAT_COORD_NORMALIZATION, 1);
  hw_set(sampler, TSC_BORDER_COLOR_A, 0x3f800000);
  const uint32_t sampler_words[TEXTURE_WORDS] = {0x43, 0x02000022, 0, 0, 0, 0, 0, 0x3f800000};
  assert_memory_equal(sampler, sampler_words, sizeof sampler);
  assert_int_equal(hw_get(header, TIC_WIDTH_MINUS_ONE), 0x1ffff);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(method_headers_match_boards),
      cmocka_unit_test(method_fields_are_encoded),
      cmocka_unit_test(gpfifo_entry_matches_board),
      cmocka_unit_test(qmd_of_first_kernel_matches_board),
      cmocka_unit_test(qmd_of_dot4_matches_board),
      cmocka_unit_test(setting_a_field_keeps_the_others),
      cmocka_unit_test(carveouts_fit_requested_sizes),
      cmocka_unit_test(finds_methods_by_offset),
      cmocka_unit_test(finds_names_of_values),
      cmocka_unit_test(texture_words_match_hand_computation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
