/* Makes every call to the kernel during initialisation fail once with each error. Each failure must
 * return an error and a message, and leak nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/hw/memory.h"
#include "runtime/context/context.h"
#include "runtime/device/available.h"
#include "runtime/device/device.h"
#include "runtime/queue/queue.h"
#include "tests/runtime/fake_os.h"

static const char text[256] = {0};

static struct module_section sections[] = {
    {.kind = MODULE_TEXT, .size = sizeof(text), .align = 128, .data = text},
    {.kind = MODULE_BANK4, .size = 8, .align = 8},
};
static struct module_reloc relocs[] = {
    {.section = 1, .target = 0, .offset = 0, .value = 16, .kind = MODULE_RELOC_ABS64},
};
static struct kernel_code kernels[] = {
    {.name = "k",
     .registers = 16,
     .bank0_bytes = 0x170,
     .param_offset = 0x160,
     .param_bytes = 16,
     .bank2 = MODULE_NO_SECTION,
     .bank3 = MODULE_NO_SECTION,
     .bank4 = 1},
};
static const struct module_code code = {.sections = sections,
                                        .section_count = 2,
                                        .relocs = relocs,
                                        .reloc_count = 1,
                                        .kernels = kernels,
                                        .kernel_count = 1};

/* In the last whole_life no second channel was opened, so the first is shared. */
static bool only_one_channel;

/* Creates every kind of object and destroys them again. Returns the first failure. */
static int whole_life(void) {
  struct rt_device *device = NULL;
  struct rt_context *context = NULL;
  struct rt_queue *queues[2] = {NULL, NULL};
  struct rt_buffer *buffer = NULL;
  struct rt_module *module = NULL;
  struct rt_times *times = NULL;
  int result = rt_device_create(&fake_os, &device);
  if (result == 0)
    result = rt_context_create(device, &context);
  if (result == 0)
    result = rt_queue_create(context, RT_PRIORITY_MEDIUM, &queues[0]);
  if (result == 0)
    result = rt_queue_create(context, RT_PRIORITY_HIGH, &queues[1]);
  if (result == 0)
    result = rt_buffer_create(context, 5000, RT_MEMORY_CACHED, &buffer);
  if (result == 0)
    result = rt_module_create(context, &code, &module);
  if (result == 0)
    result = rt_times_get(context, &times);
  if (result == 0)
    result = rt_pool_grow(context, &context->tsg, 1024);
  if (result == 0)
    result = rt_pool_grow(context, &context->high_tsg, 1024);
  only_one_channel = result == 0 && (queues[0]->channel->shared || queues[1]->channel->shared);
  if (context)
    rt_times_put(context, times);
  rt_module_destroy(module);
  rt_buffer_destroy(buffer);
  rt_queue_destroy(queues[1]);
  rt_queue_destroy(queues[0]);
  rt_context_destroy(context);
  rt_device_close(device);
  return result;
}

static void assert_nothing_alive(const char *after) {
  struct fake_alive a = fake_os_alive();
  if (a.fds || a.handles || a.gpu_mappings || a.cpu_mappings)
    fail_msg("after %s failed: %d fds, %d handles, %d GPU mappings, %d CPU mappings are left",
             after, a.fds, a.handles, a.gpu_mappings, a.cpu_mappings);
  if (fake_os_saw_page_without_power())
    fail_msg("after %s failed: the user-mode page was mapped without a channel", after);
}

/* Calls that may fail without an error. */
static bool optional(const char *call) {
  return strcmp(call, "NVGPU_GPU_IOCTL_CLK_GET_RANGE") == 0 ||
         strcmp(call, "NVMAP_IOC_QUERY_HEAP_PARAMS") == 0 ||
         strcmp(call, "NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE") == 0 ||
         strcmp(call, "/dev/host1x-fence") == 0 || /* then waits poll */
         strcmp(call, "NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT") == 0 ||
         strcmp(call, "mmap") == 0 || /* retried at any address */
         /* Failures of these are ignored: */
         strcmp(call, "NVGPU_AS_IOCTL_UNMAP_BUFFER") == 0 || strcmp(call, "NVMAP_IOC_FREE") == 0 ||
         strcmp(call, "munmap") == 0 || strcmp(call, "close") == 0;
}

/* Errors of the kernel, and what the runtime returns for them. */
static const struct {
  int refusal, result;
} refusals[] = {
    {-EIO, -EIO},       {-EPERM, -EPERM},         {-ENODEV, -ENODEV},
    {-ENOMEM, -ENOMEM}, {-EMFILE, -EMFILE},       {-ENFILE, -ENFILE},
    {-EBUSY, -EBUSY},   {-ENOTTY, -ENOTTY},       {-ENOSPC, -ENOSPC},
    {-EINTR, -EINTR},   {-ETIMEDOUT, -ETIMEDOUT}, {-EINVAL, -EPROTO}, /* not the caller's fault */
    {24, -EFAULT}, /* number of bytes that were not copied */
};

static void every_call_fails_with(int refusal, int expected) {
  unsigned failures = 0;
  for (unsigned n = 1;; n++) {
    fake_os_reset(n, refusal, false);
    int result = whole_life();
    assert_nothing_alive(fake_os_refused_call());
    if (!fake_os_refused()) {
      assert_int_equal(result, 0);
      /* Opening the first channel of each TSG makes ten calls that may not fail. */
      assert_true(failures > 40);
      break;
    }
    if (result == 0) {
      if (!optional(fake_os_refused_call()) && !only_one_channel)
        fail_msg("the failure of %s went unnoticed", fake_os_refused_call());
      continue;
    }
    failures++;
    if (result != expected)
      fail_msg("%s gives %d: %d instead of %d", fake_os_refused_call(), refusal, result, expected);
    assert_non_null(strstr(rt_last_message(), strerror(refusal > 0 ? EFAULT : -refusal)));
  }
}

static void every_failed_call_is_an_error_without_leaks(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
    every_call_fails_with(refusals[i].refusal, refusals[i].result);
}

/* On a board the software Orin's node does not exist, or a container does not allow opening it. */
static void boards_do_not_need_the_emulator_node(void **state) {
  (void)state;
  static const int errors[] = {-ENOENT, -EACCES, -EPERM, -ENXIO, -ENODEV, -ELOOP, -EMFILE, -EIO};
  for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
    fake_os_reset(0, 0, false);
    fake_os_emulator_node(errors[i]);
    assert_int_equal(whole_life(), 0);
    assert_nothing_alive(strerror(-errors[i]));
  }
}

/* If a preemption mode is refused, the queue works nevertheless, and the mode is not requested
 * again. */
static void refused_preemption_mode_is_not_retried(void **state) {
  (void)state;
  static const char request[] = "NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE";
  bool refused = false;
  for (unsigned n = 1; !refused; n++) {
    struct rt_device *device = NULL;
    struct rt_context *context = NULL;
    struct rt_queue *queue = NULL;
    fake_os_reset(n, -EINVAL, false);
    int result = rt_device_create(&fake_os, &device);
    if (result == 0) {
      assert_true(rt_choices_set(&device->choices, "preemption", "cilp"));
      result = rt_context_create(device, &context);
    }
    if (result == 0)
      result = rt_queue_create(context, RT_PRIORITY_MEDIUM, &queue);
    refused = strcmp(fake_os_refused_call(), request) == 0;
    assert_true(fake_os_refused()); /* otherwise it is not requested at all */
    if (refused) {
      assert_int_equal(result, 0);
      assert_string_equal(rt_choice_value(&device->choices, RT_CHOICE_PREEMPTION), "wfi");
    }
    rt_queue_destroy(queue);
    rt_context_destroy(context);
    rt_device_close(device);
  }
}

/* The mode belongs to the TSG. */
static void preemption_mode_is_set_once(void **state) {
  (void)state;
  struct rt_device *device = NULL;
  struct rt_context *context = NULL;
  struct rt_queue *queues[3];
  fake_os_reset(0, 0, false);
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  assert_true(rt_choices_set(&device->choices, "preemption", "cilp"));
  assert_int_equal(rt_context_create(device, &context), 0);
  fake_os_refuse_named("NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE", 2, -EINVAL);
  for (int i = 0; i < 3; i++)
    assert_int_equal(rt_queue_create(context, RT_PRIORITY_MEDIUM, &queues[i]), 0);
  assert_false(fake_os_refused());
  assert_int_equal(context->tsg.has_mode, true);
  for (int i = 0; i < 3; i++)
    rt_queue_destroy(queues[i]);
  rt_context_destroy(context);
  rt_device_close(device);
}

static void dmabuf_fd_zero_is_avoided(void **state) {
  (void)state;
  fake_os_reset(0, 0, true);
  assert_int_equal(whole_life(), 0);
  assert_false(fake_os_saw_fd_zero());
  assert_nothing_alive("nothing");
}

/* CPU and GPU addresses must be equal even with several contexts, and no range may be near the
 * windows or 2^40. */
static void contexts_have_separate_addresses(void **state) {
  (void)state;
  enum { CONTEXTS = 9 };
  fake_os_reset(0, 0, false);
  struct rt_device *device = NULL;
  struct rt_context *contexts[CONTEXTS];
  struct rt_buffer *buffers[CONTEXTS];
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  unsigned same = 0;
  for (int i = 0; i < CONTEXTS; i++) {
    assert_int_equal(rt_context_create(device, &contexts[i]), 0);
    assert_true(fake_os_last_va_end() + (1ull << 32) <= RT_LOCAL_WINDOW);
    assert_int_equal(rt_buffer_create(contexts[i], 4096, RT_MEMORY_CACHED, &buffers[i]), 0);
    same += buffers[i]->gpu == (uintptr_t)buffers[i]->cpu;
    memset(buffers[i]->cpu, i, 4096);
  }
  for (int i = 0; i < CONTEXTS; i++)
    assert_int_equal(*(unsigned char *)buffers[i]->cpu, i);
#ifndef __SANITIZE_ADDRESS__
  assert_true(same >= 7);
#endif
  for (int i = 0; i < CONTEXTS; i++) {
    rt_buffer_destroy(buffers[i]);
    rt_context_destroy(contexts[i]);
  }
  rt_device_close(device);
  assert_nothing_alive("nothing");
}

static void device_information_is_complete(void **state) {
  (void)state;
  fake_os_reset(0, 0, false);
  struct rt_device *device = NULL;
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  const struct rt_device_info *info = rt_device_info(device);
  assert_string_equal(info->chip, "ga10b");
  assert_string_equal(info->identity, "0123456789abcdef");
  assert_int_equal(info->sm_count, 16);
  assert_int_equal(info->tpc_count, 8);
  assert_int_equal(info->max_clock_mhz, 1300);
  assert_false(info->emulated);
  assert_true(info->memory_bytes > 0);
  uint64_t count;
  assert_int_equal(rt_device_warp_instructions(device, &count), -95);
  rt_device_close(device);
}

/* nvmap does not report its heap's free memory, so the system's counts: for large buffers, and for
 * many small ones. */
static void large_buffers_fail_with_little_free_memory(void **state) {
  (void)state;
  enum { MIB = 1 << 20, LEFT_MIB = 200 };
  char name[] = "/tmp/tegracl-meminfo-XXXXXX";
  const int fd = mkstemp(name);
  assert_true(fd >= 0);
  assert_true(dprintf(fd,
                      "MemTotal:        3995592 kB\nMemFree:           62300 kB\n"
                      "MemAvailable:   %d kB\nBuffers:           41224 kB\n",
                      LEFT_MIB << 10) > 0);
  close(fd);
  fake_os_reset(0, 0, false);
  struct rt_device *device = NULL;
  struct rt_context *context = NULL;
  struct rt_buffer *large = NULL;
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  assert_int_equal(rt_context_create(device, &context), 0);
  device->meminfo = name;
  assert_int_equal(rt_buffer_create(context, LEFT_MIB * MIB, RT_MEMORY_CACHED, &large), -ENOMEM);
  assert_non_null(strstr(rt_last_message(), "cannot allocate 200 MiB of memory: 200 MiB are free"));
  assert_int_equal(rt_buffer_create(context, UINT64_C(1) << 62, RT_MEMORY_CACHED, &large), -ENOMEM);
  assert_int_equal(rt_buffer_create(context, LEFT_MIB / 2 * MIB, RT_MEMORY_CACHED, &large), 0);
  rt_buffer_destroy(large);
  unlink(name);
  assert_int_equal(rt_buffer_create(context, LEFT_MIB * MIB, RT_MEMORY_CACHED, &large), 0);
  rt_buffer_destroy(large); /* if there is no such file, nothing is checked */
  device->meminfo = "/dev/null";
  assert_int_equal(rt_buffer_create(context, LEFT_MIB * MIB, RT_MEMORY_CACHED, &large), 0);
  rt_buffer_destroy(large);
  rt_context_destroy(context);
  rt_device_close(device);
  /* The RAM of boards with 4, 8 and 64 GB, and what is reported for them. */
  assert_int_equal(rt_available_share(UINT64_C(3900) * MIB), UINT64_C(1950) * MIB);
  assert_int_equal(rt_available_share(UINT64_C(7600) * MIB), UINT64_C(5700) * MIB);
  assert_int_equal(rt_available_share(UINT64_C(62800) * MIB), UINT64_C(47100) * MIB);
}

static void bad_modules_are_rejected(void **state) {
  (void)state;
  fake_os_reset(0, 0, false);
  struct rt_device *device = NULL;
  struct rt_context *context = NULL;
  struct rt_module *module = NULL;
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  assert_int_equal(rt_context_create(device, &context), 0);
  struct kernel_code good = kernels[0];
  kernels[0].entry = 256;
  assert_int_equal(rt_module_create(context, &code, &module), -22);
  kernels[0] = good;
  kernels[0].registers = 256;
  assert_int_equal(rt_module_create(context, &code, &module), -22);
  kernels[0] = good;
  kernels[0].param_bytes = 17;
  assert_int_equal(rt_module_create(context, &code, &module), -22);
  kernels[0] = good;
  relocs[0].offset = 1;
  assert_int_equal(rt_module_create(context, &code, &module), -22);
  assert_non_null(strstr(rt_last_message(), "relocation 0"));
  relocs[0].offset = 0;
  sections[1].align = 3;
  assert_int_equal(rt_module_create(context, &code, &module), -22);
  sections[1].align = 8;
  sections[1].size = UINT64_MAX;
  assert_int_equal(rt_module_create(context, &code, &module), -22);
  sections[1].size = 8;
  assert_int_equal(rt_module_create(context, &code, &module), 0);
  rt_module_destroy(module);
  rt_context_destroy(context);
  rt_device_close(device);
  assert_nothing_alive("nothing");
}

static void launch_limits_are_checked(void **state) {
  (void)state;
  fake_os_reset(0, 0, false);
  struct rt_device *device = NULL;
  struct rt_context *context = NULL;
  struct rt_module *module = NULL;
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  assert_int_equal(rt_context_create(device, &context), 0);
  assert_int_equal(rt_module_create(context, &code, &module), 0);
  struct rt_launch l = {.module = module, .grid = {1, 1, 1}, .block = {1024, 1, 1}};
  assert_int_equal(rt_launch_check(context, &l), 0);
  l.block[0] = 1025;
  assert_int_equal(rt_launch_check(context, &l), -22);
  l.block[0] = 0;
  assert_int_equal(rt_launch_check(context, &l), -22);
  /* More than a QMD's 16 bits: becomes several grids if the kernel has a hidden block. */
  l = (struct rt_launch){.module = module, .grid = {1, 65536, 1}, .block = {1, 1, 1}};
  assert_int_equal(rt_launch_check(context, &l), 0);
  kernels[0].hidden_offset = UINT32_MAX;
  assert_int_equal(rt_launch_check(context, &l), -22);
  kernels[0].hidden_offset = 0;
  l = (struct rt_launch){.module = module, .grid = {1, 1, 1}, .block = {1, 1, 1}};
  l.dynamic_shared_bytes = 49152;
  assert_int_equal(rt_launch_check(context, &l), 0);
  l.dynamic_shared_bytes = 49153;
  assert_int_equal(rt_launch_check(context, &l), -7);
  l.dynamic_shared_bytes = 0;
  l.kernel = 1;
  assert_int_equal(rt_launch_check(context, &l), -22);
  struct kernel_code k = kernels[0];
  k.registers = 255;
  assert_int_equal(rt_kernel_max_threads(context, &k), 256);
  k.registers = 64;
  assert_int_equal(rt_kernel_max_threads(context, &k), 1024);
  k.registers = 65;
  assert_int_equal(rt_kernel_max_threads(context, &k), 896);
  k.max_threads = 100;
  assert_int_equal(rt_kernel_max_threads(context, &k), 100);
  assert_int_equal(rt_kernel_local_bytes(&k), 0);
  k.stack_bytes = 8;
  assert_int_equal(rt_kernel_local_bytes(&k), 608);
  k.frame_unknown = 1;
  assert_int_equal(rt_kernel_local_bytes(&k), 1632);
  rt_module_destroy(module);
  rt_context_destroy(context);
  rt_device_close(device);
}

int main(void) {
  /* Disables optional features, so that each failure is an error. */
  setenv("TEGRACL_CHOICES", "priority=yes,contexts=yes,tsg-reuse=yes", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failed_call_is_an_error_without_leaks),
      cmocka_unit_test(boards_do_not_need_the_emulator_node),
      cmocka_unit_test(refused_preemption_mode_is_not_retried),
      cmocka_unit_test(preemption_mode_is_set_once),
      cmocka_unit_test(dmabuf_fd_zero_is_avoided),
      cmocka_unit_test(contexts_have_separate_addresses),
      cmocka_unit_test(device_information_is_complete),
      cmocka_unit_test(large_buffers_fail_with_little_free_memory),
      cmocka_unit_test(bad_modules_are_rejected),
      cmocka_unit_test(launch_limits_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
