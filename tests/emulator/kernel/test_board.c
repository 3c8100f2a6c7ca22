/* TEGRACL_EMULATOR=board:NAME: the properties and the memory of each board as a client sees them.
 * The option is read only once, so each board runs in a child process. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

/* docs/hardware/command-stream.md 9.2 */
static const struct row {
  const char *option;
  uint32_t gpcs, sms, masks[2];
  uint64_t hz;
} rows[] = {
    {NULL, 2, 16, {0xf, 0xf}, 1300000000},
    {"board:agx64", 2, 16, {0xf, 0xf}, 1300000000},
    {"board:agx32", 2, 14, {0xf, 0x7}, 930000000},
    {"check,board:nx16", 1, 8, {0xf, 0}, 918000000},
    {"board:nano8", 1, 8, {0xf, 0}, 625000000},
    {"board:nx8", 1, 8, {0xf, 0}, 765000000},
    {"board:nano8super", 1, 8, {0xf, 0}, 1020000000},
    {"board:nano4", 1, 4, {0x3, 0}, 625000000},
};

static void look(const void *argument) {
  enum { HZ_PER_MHZ = 1000000 };
  const struct row *row = argument;
  struct client c;
  client_open(&c);
  struct nvgpu_gpu_characteristics ch;
  struct nvgpu_gpu_get_characteristics args = {.gpu_characteristics_buf_size = sizeof(ch),
                                               .gpu_characteristics_buf_addr = (uintptr_t)&ch};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, args);
  assert_int_equal(ch.num_gpc, row->gpcs);
  assert_int_equal(ch.gpc_mask, (1u << row->gpcs) - 1);
  assert_int_equal(ch.max_freq, row->hz);
  struct nvgpu_gpu_num_vsms vsms = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_NUM_VSMS, vsms);
  assert_int_equal(vsms.num_vsms, row->sms);
  struct nvgpu_gpu_vsms_mapping_entry entry[17] = {[16] = {.sm_local_id = 0xee}};
  entry[row->sms].sm_local_id = 0xee; /* the entry after the last one must not be written */
  struct nvgpu_gpu_vsms_mapping map = {.vsms_map_buf_addr = (uintptr_t)entry};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_VSMS_MAPPING, map);
  assert_int_equal(entry[row->sms].sm_local_id, 0xee);
  assert_int_equal(entry[row->sms - 1].gpc_logical_index, row->gpcs - 1);
  assert_int_equal(entry[row->sms - 1].tpc_global_logical_index, row->sms / 2 - 1);
  uint32_t masks[2] = {0};
  struct nvgpu_gpu_get_tpc_masks_args tpc = {.mask_buf_size = 8, .mask_buf_addr = (uintptr_t)masks};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_TPC_MASKS, tpc);
  assert_int_equal(masks[0], row->masks[0]);
  assert_int_equal(masks[1], row->masks[1]);
  /* Clocks are whole MHz, and an entry's flags are cleared: nvgpu, common/clk_arb/clk_arb.c and
   * os/linux/ioctl_ctrl.c, nvgpu_gpu_clk_get_range. */
  struct nvgpu_gpu_clk_range range = {.clk_domain = NVGPU_CLK_DOMAIN_GPCCLK, .flags = 1};
  struct nvgpu_gpu_clk_range_args clk = {
      .flags = 1, .num_entries = 1, .clk_range_entries = (uintptr_t)&range};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_RANGE, clk);
  assert_int_equal(range.flags, 0);
  assert_int_equal(range.min_hz, 114000000);
  assert_int_equal(range.max_hz, row->hz);
  struct nvgpu_gpu_clk_vf_points_args points = {.clk_domain = NVGPU_CLK_DOMAIN_GPCCLK};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS, points);
  uint64_t hz[32] = {0};
  points.clk_vf_point_entries = (uintptr_t)hz;
  assert_in_range(points.max_entries, 2, 31);
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS, points);
  assert_int_equal(hz[points.num_entries - 1], row->hz);
  assert_true(hz[points.num_entries - 2] < row->hz);
  for (int i = 0; i < points.num_entries; i++)
    assert_int_equal(hz[i] % HZ_PER_MHZ, 0);
  client_close(&c);
}

/* Allocates all memory to the last page. The next allocation ends the process, unless memory has
 * been freed before. */
static void fill(const void *too_much) {
  struct client c;
  client_open(&c);
  struct nvmap_query_heap_params heap = {.heap_mask = NVMAP_HEAP_IOVMM};
  EXPECT(0, c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, heap);
  struct nvmap_create_handle create[2] = {{.size64 = heap.free - 4096}, {.size64 = 8192}};
  for (int i = 0; i < 2; i++) {
    struct nvmap_create_handle get = create[i];
    EXPECT(0, c.nvmap, NVMAP_IOC_CREATE_64, get);
    create[i].handle = get.handle64;
  }
  struct nvmap_alloc_handle most = {.handle = create[0].handle, .heap_mask = NVMAP_HEAP_IOVMM};
  struct nvmap_alloc_handle more = {.handle = create[1].handle, .heap_mask = NVMAP_HEAP_IOVMM};
  EXPECT(0, c.nvmap, NVMAP_IOC_ALLOC, most);
  EXPECT(0, c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, heap);
  assert_int_equal(heap.free, 4096);
  if (too_much) {
    EXPECT(0, c.nvmap, NVMAP_IOC_ALLOC, more); /* does not return */
    _exit(1);
  }
  assert_int_equal(OS->ioctl(c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)create[0].handle), 0);
  EXPECT(0, c.nvmap, NVMAP_IOC_ALLOC, more);
  client_close(&c);
}

/* Checks that the process is killed as by Linux's OOM killer, with a message. */
static void killed(const char *option) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("TEGRACL_EMULATOR", option, 1);
    fill(option);
    _exit(0);
  }
  close(ends[1]);
  char text[1024] = "";
  size_t size = 0;
  for (ssize_t n; (n = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0;)
    size += (size_t)n;
  close(ends[0]);
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  assert_non_null(strstr(text, "nvmap ALLOC of 8192 bytes, but only 4096 of 67108864 are free"));
  assert_non_null(strstr(text, "OOM killer"));
}

static void boards_report_their_units(void **state) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    with_emulator(rows[i].option, look, &rows[i]);
}

static void memory_is_limited(void **state) {
  with_emulator(NULL, fill, NULL);
  with_emulator("board:nano8", fill, NULL);
  with_emulator("memory:64", fill, NULL);
  killed("memory:64");
}

/* An unknown board yields no device, not a device for another board. */
static void refused(const void *unused) {
  if (OS->open("/dev/nvmap", O_RDWR) != -ENODEV)
    _exit(1);
}

static void unknown_boards_are_refused(void **state) {
  const char *const bad[] = {"board:tx2", "board:nano4super", "board",
                             "board:",    "boards:agx64",     "l4t:r34"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    with_emulator(bad[i], refused, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boards_report_their_units),
                                     cmocka_unit_test(memory_is_limited),
                                     cmocka_unit_test(unknown_boards_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
