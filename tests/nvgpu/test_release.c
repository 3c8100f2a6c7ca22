/* Compares requests and characteristics of L4T r35 with its headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/tables.h"
#include "gpu/nvgpu/uapi.h"

/* Computed from OE4T/linux-nvgpu, l4t-35.6.0, and linux-tegra-5.10. */
static const struct {
  uint32_t r36, r35;
} requests[] = {
    {NVGPU_GPU_IOCTL_OPEN_TSG, 0xc0084709},
    {NVGPU_IOCTL_CHANNEL_SETUP_BIND, 0xc0504880},
    {NVMAP_IOC_ALLOC, 0x40104e03},
    {NVMAP_IOC_PARAMETERS, 0x80404e1b},
    {NVMAP_IOC_QUERY_HEAP_PARAMS, 0x80284e69},
    {NVMAP_IOC_CREATE_64, NVMAP_IOC_CREATE_64},
    {NVGPU_AS_IOCTL_MAP_BUFFER_EX, NVGPU_AS_IOCTL_MAP_BUFFER_EX},
};

static void request_codes_match_r35(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
    const uint32_t r36 = requests[i].r36, r35 = requests[i].r35;
    assert_int_equal(nvgpu_release_request(&nvgpu_r36, r36), r36);
    assert_int_equal(nvgpu_release_request(&nvgpu_r35, r36), r35);
    assert_int_equal(nvgpu_release_meaning(&nvgpu_r35, r35), r36);
    assert_int_equal(nvgpu_release_meaning(&nvgpu_r36, r36), r36);
    if (r35 != r36)
      assert_int_equal(nvgpu_release_meaning(&nvgpu_r35, r36), 0);
    assert_string_equal(nvgpu_request_name(r35), nvgpu_request_name(r36));
  }
}

static void size_of_characteristics_selects_release(void **state) {
  (void)state;
  assert_ptr_equal(nvgpu_release_find(328), &nvgpu_r36);
  assert_ptr_equal(nvgpu_release_find(336), &nvgpu_r36);
  assert_ptr_equal(nvgpu_release_find(312), &nvgpu_r35);
  assert_null(nvgpu_release_find(304));
}

/* Offsets in r35's characteristics. r35.4 added emc_en_mask before the name. */
enum { FLAGS = 56, SM_VERSION = 92, NAME_R35_3 = 148, NAME_R35_4 = 152, MAX_FREQ = 192 };

static void r35_characteristics_are_converted(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    struct nvgpu_gpu_characteristics c;
    char *raw = (char *)&c;
    memset(&c, 0, sizeof(c));
    memcpy(raw + 16, &(uint64_t){0x400000}, 8); /* L2 */
    memcpy(raw + FLAGS, &(uint64_t){UINT64_C(1) << 53}, 8);
    memcpy(raw + SM_VERSION, &(uint32_t){0x807}, 4);
    memcpy(raw + (i ? NAME_R35_4 : NAME_R35_3), "ga10b", 5);
    memcpy(raw + MAX_FREQ, &(uint64_t){1300000000}, 8);
    memset(raw + 312, 0xee, sizeof(c) - 312); /* r35 does not write these bytes */
    nvgpu_release_characteristics(&nvgpu_r35, &c);
    assert_int_equal(c.numa_domain_id, -1);
    assert_int_equal(c.L2_cache_size, 0x400000);
    assert_int_equal(c.flags, UINT64_C(1) << 53);
    assert_int_equal(c.sm_arch_sm_version, 0x807);
    assert_string_equal((const char *)c.chipname, "ga10b");
    assert_int_equal(c.max_freq, 1300000000);
    assert_int_equal(c.device_instance_id, 0);
  }
}

static void characteristics_round_trip(void **state) {
  struct nvgpu_gpu_characteristics c, back = {0};
  for (size_t i = 0; i < sizeof(c); i++)
    ((uint8_t *)&c)[i] = (uint8_t)(i % 251 + 1);
  c.flags = nvgpu_r35.characteristics_flags | 1;
  assert_int_equal(nvgpu_release_pack_characteristics(&nvgpu_r36, &c, &back), sizeof(c));
  assert_memory_equal(&c, &back, sizeof(c));
  memset(&back, 0, sizeof(back));
  assert_int_equal(nvgpu_release_pack_characteristics(&nvgpu_r35, &c, &back),
                   nvgpu_r35.characteristics_bytes);
  nvgpu_release_characteristics(&nvgpu_r35, &back);
  assert_int_equal(back.L2_cache_size, c.L2_cache_size);
  assert_int_equal(back.flags, c.flags);
  assert_int_equal(back.max_freq, c.max_freq);
  assert_int_equal(back.gpu_ioctl_nr_last, nvgpu_r35.ctrl_last);
  assert_int_equal(back.tsg_ioctl_nr_last, nvgpu_r35.tsg_last);
  assert_memory_equal(back.chipname, c.chipname, sizeof(c.chipname));
  assert_int_equal(back.numa_domain_id, -1);
  assert_int_equal(back.device_instance_id, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(request_codes_match_r35),
      cmocka_unit_test(size_of_characteristics_selects_release),
      cmocka_unit_test(r35_characteristics_are_converted),
      cmocka_unit_test(characteristics_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
