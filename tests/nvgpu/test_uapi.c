/* Compares the kernel interface with sizes and codes that worked on boards
 * (docs/hardware/bring-up.md 2.2; docs/hardware/kernel-interface.md 2), and tests the Linux system
 * calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "gpu/hw/host.h"
#include "gpu/nvgpu/os.h"
#include "gpu/nvgpu/uapi.h"

static void sizes_match_boards(void **state) {
  (void)state;
  assert_int_equal(sizeof(struct nvgpu_gpu_characteristics), 328);
  assert_int_equal(sizeof(struct nvgpu_gpu_get_characteristics), 16);
  assert_int_equal(sizeof(struct nvmap_create_handle), 8);
  assert_int_equal(sizeof(struct nvmap_alloc_handle), 20);
  assert_int_equal(sizeof(struct nvmap_rw_handle), 56);
  assert_int_equal(sizeof(struct nvmap_cache_op), 24);
  assert_int_equal(sizeof(struct nvgpu_alloc_as_args), 64);
  assert_int_equal(sizeof(struct nvgpu_as_map_buffer_ex_args), 40);
  assert_int_equal(sizeof(struct nvgpu_as_unmap_buffer_args), 8);
  assert_int_equal(sizeof(struct nvgpu_as_alloc_space_args), 32);
  assert_int_equal(sizeof(struct nvgpu_gpu_open_tsg_args), 24);
  assert_int_equal(sizeof(struct nvgpu_tsg_create_subcontext_args), 16);
  assert_int_equal(sizeof(struct nvgpu_gpu_open_channel_args), 4);
  assert_int_equal(sizeof(struct nvgpu_tsg_bind_channel_ex_args), 24);
  assert_int_equal(sizeof(struct nvgpu_channel_wdt_args), 8);
  assert_int_equal(sizeof(struct nvgpu_channel_setup_bind_args), 104);
  assert_int_equal(sizeof(struct nvgpu_get_user_syncpoint_args), 16);
  assert_int_equal(sizeof(struct nvgpu_alloc_obj_ctx_args), 16);
  assert_int_equal(sizeof(struct nvgpu_set_error_notifier), 24);
  assert_int_equal(sizeof(struct nvgpu_gpu_l2_fb_args), 5);
}

static void request_codes_match_boards(void **state) {
  (void)state;
  assert_int_equal(NVGPU_GPU_IOCTL_ALLOC_AS, _IOWR('G', 8, struct nvgpu_alloc_as_args));
  assert_int_equal(NVGPU_GPU_IOCTL_FLUSH_L2, 0xc005470c);
  assert_int_equal(NVGPU_AS_IOCTL_MAP_BUFFER_EX, 0xc0284107);
  assert_int_equal(NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, 0xc018540b);
  assert_int_equal(NVGPU_IOCTL_CHANNEL_SETUP_BIND, 0xc0684880);
  assert_int_equal(NVMAP_IOC_ALLOC, 0x40144e03);
  assert_int_equal(NVMAP_IOC_FREE, _IO('N', 4));
  assert_string_equal(nvgpu_request_name(0xc0684880), "NVGPU_IOCTL_CHANNEL_SETUP_BIND");
  assert_null(nvgpu_request_name(0x12345678));
}

/* Members with the same offset in the table share memory. */
static void union_members_share_memory(void **state) {
  (void)state;
  struct nvmap_create_handle h = {.size64 = 0x1122334455667788};
  assert_int_equal(h.size, 0x55667788);
  assert_int_equal(h.fd, 0x55667788);
  assert_int_equal(h.handle64, 0x55667788);
  assert_int_equal(h.handle, 0x11223344);
  struct nvgpu_gpu_open_channel_args o = {.in.runlist_id = -1};
  assert_int_equal(o.out.channel_fd, -1);
  assert_int_equal(o.channel_fd, -1);
  struct nvgpu_gpu_l2_fb_args l2 = {.l2_invalidate = 1, .fb_flush = 1};
  assert_int_equal(*(uint8_t *)&l2, 6);
}

static void linux_errors_are_negative(void **state) {
  (void)state;
  const struct nvgpu_os *os = &nvgpu_os_linux;
  int error = 1;
  assert_int_equal(os->open("/nowhere/at/all", O_RDWR), -ENOENT);
  assert_int_equal(os->close(-1), -EBADF);
  int fd = os->open("/dev/null", O_RDWR);
  assert_true(fd >= 0);
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  struct winsize size;
  assert_int_equal(os->ioctl(fd, TIOCGWINSZ, &size), -ENOTTY);
  assert_null(os->mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0, &error));
  assert_int_equal(error, -ENODEV);
  assert_int_equal(os->close(fd), 0);
  void *page =
      os->mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &error);
  assert_non_null(page);
  assert_int_equal(error, 0);
  os->doorbell(page, 0x1ff);
  for (int i = 0; i < 1024; i++)
    assert_int_equal(((uint32_t *)page)[i], i == USERMODE_NOTIFY_CHANNEL_PENDING / 4 ? 0x1ff : 0);
  assert_int_equal(os->munmap(page, 4096), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_match_boards),
      cmocka_unit_test(request_codes_match_boards),
      cmocka_unit_test(union_members_share_memory),
      cmocka_unit_test(linux_errors_are_negative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
