/* A fake kernel in which every call succeeds. See fake_os.h. */
#include "tests/runtime/fake_os.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/hw/methods.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"

enum { FDS = 1024, FIRST_FD = 3 };

static struct {
  unsigned calls, refuse;
  const char *name; /* the call to fail */
  unsigned named;   /* counts down the calls with this name until it fails */
  int result;       /* name of the failed call */
  const char *refused_always;
  bool refused, zero_fds, saw_zero;
  char refused_call[64];
  bool open[FDS], ctrl[FDS], powers[FDS];
  int powering; /* channels after their SETUP_BIND */
  void *page;   /* address of the user-mode page */
  bool page_without_power;
  struct fake_alive alive;
  uint32_t next_handle;
  uint64_t next_va, va_end;
  unsigned error_sm;
  uint64_t error_pc; /* 0: none */
  int emulator_node;
} os;

void fake_os_reset(unsigned refuse, int result, bool zero_fds) {
  memset(&os, 0, sizeof(os));
  os.refuse = refuse;
  os.result = result;
  os.zero_fds = zero_fds;
  os.next_handle = 0x80000001;
  os.emulator_node = -ENOENT;
}

void fake_os_refuse_all(const char *call, int result) {
  os.refused_always = call;
  os.result = result;
}

bool fake_os_refused(void) {
  return os.refused;
}
const char *fake_os_refused_call(void) {
  return os.refused_call;
}
struct fake_alive fake_os_alive(void) {
  return os.alive;
}
unsigned long long fake_os_last_va_end(void) {
  return os.va_end;
}
bool fake_os_saw_fd_zero(void) {
  return os.saw_zero;
}

bool fake_os_saw_page_without_power(void) {
  return os.page_without_power;
}

void fake_os_emulator_node(int result) {
  os.emulator_node = result;
}

void fake_os_sm_error(unsigned sm, unsigned long long pc) {
  os.error_sm = sm;
  os.error_pc = pc;
}

void fake_os_refuse_named(const char *call, unsigned nth, int result) {
  os.name = call;
  os.named = nth;
  os.result = result;
  os.refused = false;
}

static bool refuse(const char *call) {
  if (os.name && strcmp(call, os.name) == 0 && os.named && --os.named == 0) {
    os.refused = true;
    return true;
  }
  if (os.refused_always && strcmp(call, os.refused_always) == 0)
    return true;
  if (++os.calls != os.refuse)
    return false;
  os.refused = true;
  snprintf(os.refused_call, sizeof(os.refused_call), "%s", call);
  return true;
}

/* Returns the error of a request that copies no struct. */
static int plain_error(void) {
  return os.result > 0 ? -EFAULT : os.result;
}

static int new_fd(int lowest) {
  for (int fd = lowest; fd < FDS; fd++)
    if (!os.open[fd]) {
      os.open[fd] = true;
      os.alive.fds++;
      return fd;
    }
  return -EMFILE;
}

static int fake_open(const char *path, int flags) {
  (void)flags;
  if (strcmp(path, EMULATOR_NODE_PATH) == 0)
    return os.emulator_node;
  if (refuse(path))
    return plain_error();
  int fd = new_fd(FIRST_FD);
  if (fd >= 0)
    os.ctrl[fd] = strcmp(path, NVGPU_CTRL_NODE) == 0;
  return fd;
}

static int fake_close(int fd) {
  if (fd < 0 || fd >= FDS || !os.open[fd])
    return -EBADF;
  os.powering -= os.powers[fd];
  if (os.powers[fd] && !os.powering && os.page)
    os.page_without_power = true;
  os.open[fd] = os.ctrl[fd] = os.powers[fd] = false;
  os.alive.fds--;
  return refuse("close") ? plain_error() : 0;
}

static void characteristics(struct nvgpu_gpu_get_characteristics *a) {
  struct nvgpu_gpu_characteristics c = {.num_gpc = 2,
                                        .num_tpc_per_gpc = 4,
                                        .L2_cache_size = 4 << 20,
                                        .sm_arch_sm_version = 0x807,
                                        .compute_class = CLASS_COMPUTE,
                                        .gpfifo_class = CLASS_HOST,
                                        .max_freq = 1300000000,
                                        .compute_preemption_mode_flags = 7,
                                        .per_device_identifier = 0x123456789abcdef,
                                        .flags = 0x01bf5fff7f5d035d};
  memcpy(c.chipname, "ga10b", 5);
  memcpy((void *)(uintptr_t)a->gpu_characteristics_buf_addr, &c, sizeof(c));
  a->gpu_characteristics_buf_size = sizeof(c);
}

static int fake_ioctl(int fd, unsigned long request, void *argument) {
  if (request == NVMAP_IOC_FREE) {
    os.alive.handles--;
    return refuse("NVMAP_IOC_FREE") ? os.result : 0;
  }
  if (fd < 0 || fd >= FDS || !os.open[fd])
    return -EBADF;
  if (request == NVGPU_AS_IOCTL_UNMAP_BUFFER) {
    os.alive.gpu_mappings--;
    return refuse("NVGPU_AS_IOCTL_UNMAP_BUFFER") ? os.result : 0;
  }
  const char *name = nvgpu_request_name((uint32_t)request);
  if (!name)
    return -ENOTTY;
  if (refuse(name))
    return os.result;
  switch (request) {
  case NVGPU_GPU_IOCTL_GET_CHARACTERISTICS:
    characteristics(argument);
    return 0;
  case NVGPU_GPU_IOCTL_NUM_VSMS:
    ((struct nvgpu_gpu_num_vsms *)argument)->num_vsms = 16;
    return 0;
  case NVGPU_GPU_IOCTL_GET_TPC_MASKS: {
    struct nvgpu_gpu_get_tpc_masks_args *a = argument;
    memcpy((void *)(uintptr_t)a->mask_buf_addr, (uint32_t[]){0xf, 0xf}, 8);
    a->mask_buf_size = 8;
    return 0;
  }
  case NVGPU_GPU_IOCTL_ALLOC_AS: {
    struct nvgpu_alloc_as_args *a = argument;
    os.va_end = a->va_range_end;
    os.next_va = a->va_range_start;
    a->as_fd = new_fd(FIRST_FD);
    return 0;
  }
  case NVGPU_GPU_IOCTL_OPEN_TSG:
    ((struct nvgpu_gpu_open_tsg_args *)argument)->tsg_fd = (uint32_t)new_fd(FIRST_FD);
    return 0;
  case NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT:
    ((struct nvgpu_tsg_create_subcontext_args *)argument)->veid = 1;
    return 0;
  case NVGPU_GPU_IOCTL_OPEN_CHANNEL:
    ((struct nvgpu_gpu_open_channel_args *)argument)->out.channel_fd = new_fd(FIRST_FD);
    return 0;
  case NVMAP_IOC_CREATE_64:
    ((struct nvmap_create_handle *)argument)->handle64 = os.next_handle++;
    os.alive.handles++;
    return 0;
  case NVMAP_IOC_GET_FD:
    ((struct nvmap_create_handle *)argument)->fd = new_fd(os.zero_fds ? 0 : FIRST_FD);
    return 0;
  case NVGPU_AS_IOCTL_ALLOC_SPACE: {
    struct nvgpu_as_alloc_space_args *a = argument;
    a->o_a.offset = os.next_va;
    os.next_va += a->pages * a->page_size;
    os.alive.reservations++;
    return 0;
  }
  case NVGPU_AS_IOCTL_FREE_SPACE:
    os.alive.reservations--;
    return 0;
  case NVGPU_AS_IOCTL_MAP_BUFFER_EX: {
    struct nvgpu_as_map_buffer_ex_args *a = argument;
    if (!(a->flags & NVGPU_MAP_FIXED_OFFSET)) {
      a->offset = os.next_va;
      os.next_va += 2 << 20;
    }
    os.alive.gpu_mappings++;
    return 0;
  }
  case NVGPU_IOCTL_CHANNEL_SETUP_BIND: {
    struct nvgpu_channel_setup_bind_args *a = argument;
    os.saw_zero = os.saw_zero || a->gpfifo_dmabuf_fd == 0 || a->userd_dmabuf_fd == 0;
    a->work_submit_token = 511;
    os.powers[fd] = true;
    os.powering++;
    return 0;
  }
  case NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE: {
    struct nvgpu_tsg_read_single_sm_error_state_args *a = argument;
    struct nvgpu_tsg_sm_error_state_record record = {0};
    if (os.error_pc && a->sm_id == os.error_sm)
      record =
          (struct nvgpu_tsg_sm_error_state_record){.warp_esr = 0xf, .warp_esr_pc = os.error_pc};
    memcpy((void *)(uintptr_t)a->record_mem, &record, sizeof(record));
    return 0;
  }
  default:
    return 0;
  }
}

static void *fake_mmap(void *address, size_t length, int protection, int flags, int fd,
                       off_t offset, int *error) {
  (void)flags;
  (void)offset;
  *error = plain_error();
  if (refuse("mmap"))
    return NULL;
  int fixed = address ? MAP_FIXED_NOREPLACE : 0;
  void *p = mmap(address, length, protection, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  *error = p == MAP_FAILED ? -errno : 0;
  if (p == MAP_FAILED)
    return NULL;
  os.alive.cpu_mappings++;
  if (fd >= 0 && fd < FDS && os.ctrl[fd]) {
    os.page = p;
    os.page_without_power |= !os.powering;
  }
  return p;
}

static int fake_munmap(void *address, size_t length) {
  os.alive.cpu_mappings--;
  if (address == os.page)
    os.page = NULL;
  int result = munmap(address, length) ? -errno : 0;
  return refuse("munmap") ? plain_error() : result;
}

static int fake_poll(struct pollfd *fds, unsigned count, int timeout_ms) {
  (void)fds;
  (void)count;
  (void)timeout_ms;
  return 0;
}

static void fake_doorbell(void *page, uint32_t token) {
  (void)page;
  (void)token;
}

const struct nvgpu_os fake_os = {
    .name = "fake",
    .open = fake_open,
    .close = fake_close,
    .ioctl = fake_ioctl,
    .mmap = fake_mmap,
    .munmap = fake_munmap,
    .poll = fake_poll,
    .doorbell = fake_doorbell,
};
