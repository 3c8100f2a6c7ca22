/* Tests faults as boards report them: an error notifier and SM error states. The fake kernel runs
 * no work, so launches stay unfinished. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "gpu/hw/host.h"
#include "runtime/context/module.h"
#include "runtime/device/device.h"
#include "runtime/queue/queue.h"
#include "tests/runtime/fake_os.h"

static const char text[512];
static const struct module_section sections[] = {
    {.kind = MODULE_TEXT, .size = sizeof(text), .align = 128, .data = text}};
static const struct kernel_code kernels[] = {{.name = "culprit",
                                              .registers = 16,
                                              .bank0_bytes = 0x160,
                                              .param_offset = 0x160,
                                              .bank2 = MODULE_NO_SECTION,
                                              .bank3 = MODULE_NO_SECTION,
                                              .bank4 = MODULE_NO_SECTION}};
static const struct module_line lines[] = {{0, 0x10, 3, 0}, {0, 0x40, 7, 1}, {0, 0x80, 0, 0}};
static const char *const files[] = {"", "part.clh"};
static const struct module_code code = {.lines = lines,
                                        .line_count = 3,
                                        .files = files,
                                        .file_count = 2,
                                        .sections = sections,
                                        .section_count = 1,
                                        .kernels = kernels,
                                        .kernel_count = 1};

struct board {
  struct rt_device *device;
  struct rt_context *context;
  struct rt_queue *queue;
  struct rt_module *module;
  uint64_t point;
};

static void begin(struct board *b) {
  fake_os_reset(0, 0, false);
  assert_int_equal(rt_device_create(&fake_os, &b->device), 0);
  assert_int_equal(rt_context_create(b->device, &b->context), 0);
  assert_int_equal(rt_queue_create(b->context, RT_PRIORITY_MEDIUM, &b->queue), 0);
  assert_int_equal(rt_module_create(b->context, &code, &b->module), 0);
  struct rt_launch l = {.module = b->module, .grid = {1, 1, 1}, .block = {32, 1, 1}};
  assert_int_equal(rt_queue_launch(b->queue, &l, &b->point), 0);
  assert_int_equal(rt_queue_wait(b->queue, b->point, 1000000), -ETIMEDOUT);
  assert_null(rt_context_fault(b->context));
}

static void end(struct board *b) {
  rt_queue_destroy(b->queue);
  rt_module_destroy(b->module);
  rt_context_destroy(b->context);
  rt_device_close(b->device);
  struct fake_alive a = fake_os_alive();
  assert_int_equal(a.fds | a.handles | a.gpu_mappings | a.cpu_mappings, 0);
}

static void post(struct board *b, uint32_t error) {
  struct error_notifier *n = b->queue->channel->notifier.cpu;
  n->code = error;
  n->status = ERROR_NOTIFIER_WRITTEN;
}

static void sm_error_names_the_kernel(void **state) {
  (void)state;
  struct board b;
  begin(&b);
  fake_os_sm_error(3, b.module->memory.gpu + 0x50);
  post(&b, NOTIFIER_GR_EXCEPTION);
  assert_int_equal(rt_queue_wait(b.queue, b.point, UINT64_MAX), -EIO);
  const char *fault = rt_context_fault(b.context);
  assert_non_null(strstr(fault, "exception in a shader or the scheduler (error notifier 13)"));
  assert_non_null(strstr(fault, "in kernel culprit at +0x50, line 7 of part.clh (SM 3, warp error "
                                "0xf: misaligned address, "));
  /* The message does not change. */
  assert_ptr_equal(rt_context_fault(b.context), fault);
  end(&b);
}

/* Before the first known line and after the last one, no line is reported. */
static void finds_line_of_each_instruction(void **state) {
  (void)state;
  static const struct {
    uint64_t offset;
    const char *text;
  } rows[] = {{0, "at +0x0 (SM"},
              {0x10, "at +0x10, line 3 of the program source (SM"},
              {0x30, "at +0x30, line 3 of the program source (SM"},
              {0x70, "at +0x70, line 7 of part.clh (SM"},
              {0x90, "at +0x90 (SM"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct board b;
    begin(&b);
    fake_os_sm_error(3, b.module->memory.gpu + rows[i].offset);
    post(&b, NOTIFIER_GR_EXCEPTION);
    assert_non_null(strstr(rt_context_fault(b.context), rows[i].text));
    end(&b);
  }
}

static void names_oldest_launch_without_sm_error(void **state) {
  (void)state;
  struct board b;
  begin(&b);
  post(&b, NOTIFIER_MMU_FAULT);
  /* The next launch finds the fault, and so does a wait. */
  struct rt_launch l = {.module = b.module, .grid = {1, 1, 1}, .block = {32, 1, 1}};
  assert_int_equal(rt_queue_launch(b.queue, &l, NULL), -EIO);
  assert_non_null(strstr(rt_last_message(), "MMU fault (error notifier 31)"));
  assert_non_null(strstr(rt_last_message(), "oldest unfinished launch is kernel culprit"));
  end(&b);
}

/* Work that completed before the fault stays completed. */
static void point_reached_before_fault_counts(void **state) {
  (void)state;
  struct board b;
  begin(&b);
  *(volatile uint64_t *)b.queue->timeline = b.point;
  post(&b, NOTIFIER_PBDMA_ERROR);
  assert_int_equal(rt_queue_wait(b.queue, b.point, UINT64_MAX), 0);
  assert_non_null(rt_context_fault(b.context));
  end(&b);
}

static void fault_message_outlives_its_queue(void **state) {
  (void)state;
  struct board b;
  begin(&b);
  post(&b, NOTIFIER_IDLE_TIMEOUT);
  rt_queue_destroy(b.queue);
  b.queue = NULL;
  assert_non_null(strstr(rt_context_fault(b.context), "error notifier 8"));
  assert_int_equal(rt_queue_create(b.context, RT_PRIORITY_LOW, &b.queue), -EIO);
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sm_error_names_the_kernel),
      cmocka_unit_test(finds_line_of_each_instruction),
      cmocka_unit_test(names_oldest_launch_without_sm_error),
      cmocka_unit_test(point_reached_before_fault_counts),
      cmocka_unit_test(fault_message_outlives_its_queue),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
