/* Tests the doctor on a software Orin with one fault at a time: the right step must fail and say
 * why, and later steps must say why they cannot run. To save time there is no compiler and no ICD
 * loader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/fds.h"
#include "tools/doctor/doctor.h"

/* ---- the fault ---------------------------------------------------------------------- */

static struct fault {
  const char *path; /* node whose open fails; NULL: none */
  uint32_t request; /* request that fails; 0: none */
  bool page;        /* mmap of the control node fails */
  bool no_doorbell; /* the doorbell has no effect */
  bool illegal;     /* GPFIFO entries are illegal */
  bool hang;        /* the request does not return */
  int signal;       /* signal raised by the request; 0: none */
  int error;        /* -errno of the failing call */
} fault;

static int ctrl_fd = -1;
static uint64_t *gpfifos[2]; /* the two rings that a context maps with its first queue */

/* Serial number of the chip, which must not appear in a report. */
enum { IDENTIFIER = 0x5eed1234 };

static int faulty_open(const char *path, int flags) {
  if (fault.path && strcmp(path, fault.path) == 0)
    return fault.error;
  int fd = nvgpu_os_emulator.open(path, flags);
  if (strcmp(path, NVGPU_CTRL_NODE) == 0)
    ctrl_fd = fd;
  return fd;
}

static int faulty_ioctl(int fd, unsigned long request, void *argument) {
  if (fault.request && request == fault.request) {
    if (fault.signal)
      raise(fault.signal);
    while (fault.hang)
      pause();
    return fault.error;
  }
  int result = nvgpu_os_emulator.ioctl(fd, request, argument);
  const struct nvgpu_gpu_get_characteristics *args = argument;
  if (request == NVGPU_GPU_IOCTL_GET_CHARACTERISTICS && result == 0)
    ((struct nvgpu_gpu_characteristics *)(uintptr_t)args->gpu_characteristics_buf_addr)
        ->per_device_identifier = IDENTIFIER;
  return result;
}

static void *faulty_mmap(void *address, size_t length, int protection, int flags, int fd,
                         off_t offset, int *error) {
  if (fault.page && fd == ctrl_fd) {
    *error = fault.error;
    return NULL;
  }
  void *p = nvgpu_os_emulator.mmap(address, length, protection, flags, fd, offset, error);
  if (length == RT_GPFIFO_ENTRIES * GP_ENTRY_BYTES) {
    gpfifos[0] = gpfifos[1];
    gpfifos[1] = p;
  }
  return p;
}

static void faulty_doorbell(void *page, uint32_t token) {
  for (int i = 0; i < 2 && fault.illegal; i++)
    *gpfifos[i] = (uint64_t)GP_CONTROL_ILLEGAL << 32;
  if (!fault.no_doorbell)
    nvgpu_os_emulator.doorbell(page, token);
}

/* ---- runs of the doctor ------------------------------------------------------------- */

/* Time limits of steps: short if the GPU never responds, else long enough for an emulated CPU. */
static const uint64_t SHORT_NS = 250000000, LONG_NS = 30000000000;
/* Time limit if a step hangs. The other steps must finish within it even on a slow machine. */
static const uint64_t STEP_NS = 6000000000;

static char *text;

/* json receives the results as data, if it is not NULL. */
static void run_steps(struct fault f, uint64_t experiments, FILE *json) {
  struct nvgpu_os os = nvgpu_os_emulator;
  os.open = faulty_open;
  os.ioctl = faulty_ioctl;
  os.mmap = faulty_mmap;
  os.doorbell = faulty_doorbell;
  fault = f;
  size_t size = 0;
  free(text);
  FILE *out = open_memstream(&text, &size);
  struct report report;
  report_begin(&report, out, NULL);
  const struct doctor_options options = {.timeout_ns = f.no_doorbell ? SHORT_NS : LONG_NS,
                                         .step_limit_ns = f.hang ? STEP_NS : 0,
                                         .skip = ~(STEP_BIT(STEP_ACQUIRE) - 1) & ~experiments,
                                         .json = json};
  doctor_run(&os, &options, &report);
  report_end(&report);
  fclose(out);
}

static void run_doctor(struct fault f) {
  run_steps(f, STEP_BIT(STEP_COPY), NULL);
}

static void assert_says(const char *words) {
  if (!strstr(text, words))
    fail_msg("\"%s\" is not in:\n%s", words, text);
}

/* Checks a step's verdict in the summary. */
static void assert_verdict(enum step_id step, const char *verdict) {
  char line[128];
  snprintf(line, sizeof(line), "   %-9s %s\n", verdict, doctor_steps[step].name);
  assert_says(line);
}

static void nothing_else_fails(enum step_id step) {
  for (unsigned i = 0; i < STEPS; i++) {
    char line[128];
    snprintf(line, sizeof(line), "   FAIL      %s\n", doctor_steps[i].name);
    if (i != step && i != STEP_COMPILER && i != STEP_OPENCL && strstr(text, line))
      fail_msg("%s fails as well:\n%s", doctor_steps[i].name, text);
  }
}

/* ---- tests -------------------------------------------------------------------------- */

static void all_steps_pass_without_faults(void **state) {
  (void)state;
  run_doctor((struct fault){0});
  for (unsigned i = 0; i < STEP_COMPILER; i++)
    assert_verdict((enum step_id)i, "pass");
  assert_says("19 steps passed, 2 failed, 20 not run\n");
  assert_says("chipname=\"ga10b\"");
  assert_null(strstr(text, "5eed1234"));
}

static void missing_nodes_are_reported(void **state) {
  (void)state;
  run_doctor((struct fault){.path = NVMAP_NODE, .error = -ENOENT});
  assert_says("/dev/nvmap: No such file or directory, errno 2");
  assert_says("is this a Jetson with NVIDIA's kernel");
  assert_says("/dev/nvgpu/igpu0/ctrl: opened");
  assert_says("NOT RUN: it requires the step \"nodes\", which failed");
  assert_says("NOT RUN: it requires the step \"device\", which did not run");
  assert_verdict(STEP_NODES, "FAIL");
  assert_verdict(STEP_LOCAL, "not run");
  nothing_else_fails(STEP_NODES);

  run_doctor((struct fault){.path = NVGPU_CTRL_NODE, .error = -EACCES});
  assert_says("/dev/nvgpu/igpu0/ctrl: Permission denied, errno 13");
  assert_says("sudo usermod -aG video \"$USER\"");
  nothing_else_fails(STEP_NODES);

  run_doctor((struct fault){.path = NVGPU_CTRL_NODE, .error = -ENOENT});
  assert_says("/dev/nvhost-ctrl-gpu: opened");
  assert_says("only the old name");
  nothing_else_fails(STEP_NODES);

  run_doctor((struct fault){.path = NVGPU_CTRL_NODE, .error = -ENODEV});
  assert_says("nvgpu did not find or start the GPU");

  run_doctor((struct fault){.path = HOST1X_FENCE_NODE, .error = -ENOENT});
  assert_says("waits will poll instead");
  assert_verdict(STEP_NODES, "pass");
  assert_verdict(STEP_SLEEP, "FAIL");
  nothing_else_fails(STEP_SLEEP);
}

/* Fails each request of the driver and checks which step fails and what it says. */
static void failed_requests_are_reported(void **state) {
  (void)state;
  static const struct {
    uint32_t request;
    int error;
    enum step_id step;
    const char *says;
  } cases[] = {
      {NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, -ENOTTY, STEP_DEVICE,
       "GET_CHARACTERISTICS: Inappropriate ioctl for device (errno 25); this kernel's nvgpu "
       "interface differs"},
      {NVGPU_GPU_IOCTL_NUM_VSMS, -EINVAL, STEP_DEVICE, "NUM_VSMS: Invalid argument"},
      {NVGPU_GPU_IOCTL_GET_TPC_MASKS, -EFAULT, STEP_DEVICE, "GET_TPC_MASKS: Bad address"},
      {NVMAP_IOC_CREATE_64, -ENOMEM, STEP_MEMORY, "nvmap CREATE of 4096 bytes: Cannot allocate"},
      {NVMAP_IOC_ALLOC, -ENOMEM, STEP_MEMORY, "nvmap ALLOC of 4096 bytes: Cannot allocate"},
      {NVMAP_IOC_GET_FD, -EMFILE, STEP_MEMORY, "raise the limit of open files"},
      {NVGPU_GPU_IOCTL_ALLOC_AS, -EINVAL, STEP_ADDRESSES,
       "ALLOC_AS from 0x4000000 to 0x2000000000: Invalid argument (errno 22)"},
      {NVGPU_GPU_IOCTL_OPEN_TSG, -ENOMEM, STEP_ADDRESSES, "OPEN_TSG: Cannot allocate memory"},
      {NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, -ENOSPC, STEP_ADDRESSES, "CREATE_SUBCONTEXT: No space"},
      {NVGPU_AS_IOCTL_GET_VA_REGIONS, -EFAULT, STEP_ADDRESSES, "GET_VA_REGIONS: Bad address"},
      {NVGPU_AS_IOCTL_MAP_BUFFER_EX, -ENOMEM, STEP_MAPPING, "MAP_BUFFER_EX of 4096 bytes"},
      {NVGPU_GPU_IOCTL_OPEN_CHANNEL, -ENOMEM, STEP_CHANNEL, "OPEN_CHANNEL: Cannot allocate"},
      {NVGPU_AS_IOCTL_BIND_CHANNEL, -EINVAL, STEP_CHANNEL, "AS BIND_CHANNEL: Invalid argument"},
      {NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, -EPERM, STEP_CHANNEL,
       "TSG BIND_CHANNEL_EX, subcontext 1: Operation not permitted (errno 1)"},
      {NVGPU_IOCTL_CHANNEL_WDT, -EINVAL, STEP_CHANNEL, "channel WDT: Invalid argument"},
      {NVGPU_IOCTL_CHANNEL_SETUP_BIND, -EINVAL, STEP_CHANNEL,
       "channel SETUP_BIND with 1024 entries: Invalid argument"},
      {NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, -EINVAL, STEP_CHANNEL, "ALLOC_OBJ_CTX of class 0xc7c0"},
      {NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, -ENOMEM, STEP_CHANNEL, "SET_ERROR_NOTIFIER: "},
      {NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, -ENOMEM, STEP_SLEEP,
       "GET_USER_SYNCPOINT returned none"},
      {HOST1X_IOCTL_CREATE_FENCE, -EINVAL, STEP_SLEEP, "CREATE_FENCE of the syncpoint: "},
      {NVGPU_GPU_IOCTL_GET_GPU_TIME, -ENOTTY, STEP_TIME, "GET_GPU_TIME: Inappropriate ioctl"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    run_doctor((struct fault){.request = cases[i].request, .error = cases[i].error});
    assert_says(cases[i].says);
    assert_verdict(cases[i].step, "FAIL");
    assert_says(doctor_steps[cases[i].step].meaning);
    nothing_else_fails(cases[i].step);
  }
}

static void failed_mmap_of_page_is_reported(void **state) {
  (void)state;
  run_doctor((struct fault){.page = true, .error = -EBUSY});
  assert_says("mmap of the user-mode page of /dev/nvgpu/igpu0/ctrl: Device or resource busy");
  assert_verdict(STEP_CHANNEL, "FAIL");
  nothing_else_fails(STEP_CHANNEL);
}

/* A GPU fault is reported with the driver's message, and does not affect the next step. */
static void gpu_fault_is_reported(void **state) {
  (void)state;
  run_doctor((struct fault){.illegal = true});
  assert_says("GPU fault, error in a pushbuffer or its ring (error notifier 32)");
  assert_verdict(STEP_HOST, "FAIL");
  assert_verdict(STEP_COPY, "not run");
  nothing_else_fails(STEP_HOST);
}

static void dead_doorbell_is_reported(void **state) {
  (void)state;
  run_doctor((struct fault){.no_doorbell = true});
  assert_says("the GPU did not reach timeline point 1 within 250 ms; GP_GET is 0, GP_PUT 1");
  assert_says("the doorbell has no effect (token 0x");
  assert_verdict(STEP_CHANNEL, "pass");
  assert_verdict(STEP_HOST, "NO ANSWER");
  assert_verdict(STEP_LAUNCH_DRIVER, "not run");
  assert_says("first: host engine (NO ANSWER, required)");
  nothing_else_fails(STEP_HOST);
}

/* The doctor closes channels whose work does not end. If another fd later gets the number of such a
 * channel, a child of fork must not close it. */
static void closed_channels_are_forgotten(void **state) {
  (void)state;
  enum { NUMBERS = 256 };
  struct nvgpu_os os = nvgpu_os_emulator;
  struct report report;
  struct rt_slice slice;
  struct setup setup;
  int status;
  os.doorbell = faulty_doorbell;
  fault = (struct fault){.no_doorbell = true};
  report_begin(&report, stderr, NULL);
  struct doctor doctor = {.os = &os, .report = &report, .options = {.timeout_ns = SHORT_NS}};
  assert_int_equal(rt_device_create(&os, &doctor.device), 0);
  assert_true(setup_open(&doctor, GPU_PAGE_BYTES, &setup));
  const int channel_fd = setup.queue->channel->fd;
  assert_int_equal(rt_slice_begin(setup.queue, 0, &slice), 0);
  put_semaphore(&slice, setup.data->gpu, 1, hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE));
  assert_false(setup_wait(&setup, rt_slice_submit(setup.queue, &slice, NULL)));
  setup_close(&setup);
  assert_in_range(channel_fd, STDERR_FILENO + 1, NUMBERS - 1);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(STDERR_FILENO, channel_fd);
    rt_fds_close_copies();
    _exit(fcntl(channel_fd, F_GETFD) < 0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  rt_device_close(doctor.device);
  report_end(&report);
}

/* A step that hangs or crashes must not affect the steps after it. */
static void hanging_step_is_killed(void **state) {
  (void)state;
  run_doctor((struct fault){.request = NVGPU_GPU_IOCTL_GET_GPU_TIME, .hang = true});
  assert_says("no answer: the step did not end within 6 s and was killed");
  assert_says("sudo dmesg | grep -iE 'nvgpu|nvmap|host1x'");
  assert_verdict(STEP_TIME, "NO ANSWER");
  assert_says("first: time (NO ANSWER, required)");
  assert_verdict(STEP_COPY, "pass");
  nothing_else_fails(STEP_TIME);
}

static void killed_step_is_reported(void **state) {
  (void)state;
  run_doctor((struct fault){.request = NVGPU_GPU_IOCTL_GET_GPU_TIME, .signal = SIGKILL});
  assert_says("the step was killed, probably because memory is short");
  assert_verdict(STEP_TIME, "FAIL");
  assert_verdict(STEP_COPY, "pass");
  nothing_else_fails(STEP_TIME);
}

static void crashed_step_is_reported(void **state) {
  (void)state;
  run_doctor((struct fault){.request = NVGPU_GPU_IOCTL_GET_GPU_TIME, .signal = SIGABRT});
  assert_says("the step was killed by signal 6 (Aborted)");
  assert_verdict(STEP_TIME, "FAIL");
  assert_verdict(STEP_COPY, "pass");
  nothing_else_fails(STEP_TIME);
}

/* A container hides the board's name. The driver would not know which board the results are of. */
static void textures_of_an_unknown_board_are_not_stored(void **state) {
  (void)state;
  static const char stored[] = "\"texture.";
  if (access("/proc/device-tree/model", R_OK) == 0)
    skip(); /* this is a board */
  for (int is_board = 0; is_board < 2; is_board++) {
    char *data = NULL;
    size_t size = 0;
    FILE *json = open_memstream(&data, &size);
    run_steps((struct fault){.path = is_board ? EMULATOR_NODE_PATH : NULL, .error = -ENOENT},
              STEP_BIT(STEP_TEXTURES), json);
    fclose(json);
    assert_verdict(STEP_TEXTURES, "pass");
    assert_int_equal(!strstr(data, stored), is_board);
    assert_int_equal(strstr(text, "does not store these results: the board's name is unknown") !=
                         NULL,
                     is_board);
    free(data);
  }
  assert_says("/proc/device-tree/model cannot be read");
}

/* A container may also hide the L4T release, which a driver outside of it compares. The words are
 * in the report exactly if the file cannot be read here. */
static void unknown_release_is_reported(void **state) {
  (void)state;
  char *data = NULL;
  size_t size = 0;
  FILE *json = open_memstream(&data, &size);
  run_steps((struct fault){.path = NULL}, 0, json);
  fclose(json);
  const bool unknown = strstr(data, "\"l4t\": \"\"");
  assert_int_equal(unknown, access("/etc/nv_tegra_release", R_OK) != 0);
  assert_int_equal(strstr(text, "a driver that can read it does not use them") != NULL, unknown);
  free(data);
}

/* ---- names in reports --------------------------------------------------------------- */

static void assert_redacted(const char *from, const char *to) {
  char *got = report_redact(from, "/home/ann", "ann", "box.lan");
  assert_string_equal(got, to);
  free(got);
}

static void report_redacts_names(void **state) {
  (void)state;
  assert_redacted("NVRTC in /home/ann/cuda/lib, on box.lan.", "NVRTC in ~/cuda/lib, on HOST.");
  assert_redacted("box.lan.x, xbox.lan, box.lan-2", "box.lan.x, xbox.lan, box.lan-2");
  assert_redacted("on box.lan: /home/ann", "on HOST: ~");
  assert_redacted("/media/ann/disk and /home/anna/x", "/media/USER/disk and /home/anna/x");
  assert_redacted("annotate, ann", "annotate, ann");
  assert_redacted("", "");
  char *same = report_redact("/a/root", "/", "", NULL);
  assert_string_equal(same, "/a/root");
  free(same);
}

int main(void) {
  setenv("TEGRACL_COMPILER", "/nowhere", 1);
  setenv("OCL_ICD_VENDORS", "/nowhere", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(report_redacts_names),
      cmocka_unit_test(all_steps_pass_without_faults),
      cmocka_unit_test(missing_nodes_are_reported),
      cmocka_unit_test(failed_requests_are_reported),
      cmocka_unit_test(failed_mmap_of_page_is_reported),
      cmocka_unit_test(dead_doorbell_is_reported),
      cmocka_unit_test(closed_channels_are_forgotten),
      cmocka_unit_test(gpu_fault_is_reported),
      cmocka_unit_test(hanging_step_is_killed),
      cmocka_unit_test(killed_step_is_reported),
      cmocka_unit_test(crashed_step_is_reported),
      cmocka_unit_test(textures_of_an_unknown_board_are_not_stored),
      cmocka_unit_test(unknown_release_is_reported),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(text);
  return failed;
}
