/* The table of faults of a board, and the faults of requests and nodes. */
#include "emulator/modes/inject.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/splitmix.h"
#include "emulator/engine/fault.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"

struct emu_inject emu_inject;

enum kind {
  KIND_NODE,     /* opening a node fails */
  KIND_OLD_NODE, /* the nodes of nvgpu exist only under their old names */
  KIND_REFUSE,   /* a request is refused */
  KIND_HANG,     /* a request does not return */
  KIND_ANSWER,   /* a request returns a wrong answer */
  KIND_MEMORY,   /* little memory is free */
  KIND_PLACE,    /* an engine fails */
  KIND_TEXTURE,  /* the texture units fail */
};

enum { ERRORS = 3 };

struct emu_inject_fault {
  const char *fault_class, *name;
  enum kind kind;
  const char *path;
  uint32_t request;
  int errors[ERRORS]; /* the seed chooses one of them */
  unsigned after;     /* number of calls of the process that succeed first */
  uint64_t bytes;     /* free memory */
  uint32_t class_num; /* affected class of ALLOC_OBJ_CTX; 0 for all */
  enum emu_place place;
  enum emu_texture_fault texture;
};

#define MIB (UINT64_C(1) << 20)

static const struct emu_inject_fault faults[] = {
    {"missing node", "no-nvmap", KIND_NODE, .path = NVMAP_NODE, .errors = {ENOENT}},
    {"missing node", "no-ctrl", KIND_NODE, .path = NVGPU_CTRL_NODE, .errors = {ENOENT}},
    {"missing node", "dead-ctrl", KIND_NODE, .path = NVGPU_CTRL_NODE, .errors = {ENODEV, ENXIO}},
    {"missing node", "no-fence", KIND_NODE, .path = HOST1X_FENCE_NODE, .errors = {ENOENT, ENXIO}},
    {"missing permission", "nvmap-rights", KIND_NODE, .path = NVMAP_NODE,
     .errors = {EACCES, EPERM}},
    {"missing permission", "ctrl-rights", KIND_NODE, .path = NVGPU_CTRL_NODE,
     .errors = {EACCES, EPERM}},
    {"missing permission", "fence-rights", KIND_NODE, .path = HOST1X_FENCE_NODE,
     .errors = {EACCES, EPERM}},
    {"wrong kernel release", "old-nodes", KIND_OLD_NODE},
    {"wrong kernel release", "other-gpu", KIND_ANSWER,
     .request = NVGPU_GPU_IOCTL_GET_CHARACTERISTICS},
    {"wrong kernel release", "no-characteristics", KIND_REFUSE,
     .request = NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, .errors = {ENOTTY, EINVAL}},
    {"wrong kernel release", "no-subcontexts", KIND_REFUSE,
     .request = NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, .errors = {ENOTTY}},
    {"wrong kernel release", "no-gpu-time", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_GET_GPU_TIME,
     .errors = {ENOTTY}},
    {"refused request", "vsms", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_NUM_VSMS,
     .errors = {EINVAL, ENODEV}},
    {"refused request", "tpc-masks", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_GET_TPC_MASKS,
     .errors = {EFAULT, EINVAL}},
    {"refused request", "address-space", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_ALLOC_AS,
     .errors = {EINVAL, ENOMEM}},
    {"refused request", "tsg", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_OPEN_TSG,
     .errors = {ENOMEM, EBUSY}},
    {"refused request", "subcontext", KIND_REFUSE, .request = NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT,
     .errors = {ENOSPC, EINVAL}},
    {"refused request", "map", KIND_REFUSE, .request = NVGPU_AS_IOCTL_MAP_BUFFER_EX,
     .errors = {EINVAL, ENOMEM}},
    {"refused request", "channel", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_OPEN_CHANNEL,
     .errors = {ENOMEM, EBUSY}},
    {"refused request", "second-channel", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_OPEN_CHANNEL,
     .errors = {ENOMEM}, .after = 1},
    {"refused request", "second-space", KIND_REFUSE, .request = NVGPU_GPU_IOCTL_ALLOC_AS,
     .errors = {ENOMEM, EINVAL}, .after = 1},
    {"refused request", "bind", KIND_REFUSE, .request = NVGPU_TSG_IOCTL_BIND_CHANNEL_EX,
     .errors = {EINVAL, EPERM}},
    {"refused request", "setup-bind", KIND_REFUSE, .request = NVGPU_IOCTL_CHANNEL_SETUP_BIND,
     .errors = {EINVAL, ENOMEM, ETIMEDOUT}},
    {"refused request", "compute-object", KIND_REFUSE, .request = NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX,
     .class_num = CLASS_COMPUTE, .errors = {EINVAL, ETIMEDOUT}},
    {"refused request", "copy-object", KIND_REFUSE, .request = NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX,
     .class_num = CLASS_COPY, .errors = {EINVAL, ENOMEM}},
    {"refused request", "notifier", KIND_REFUSE, .request = NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER,
     .errors = {EINVAL, ENOMEM}},
    {"refused request", "syncpoint", KIND_REFUSE, .request = NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT,
     .errors = {ENOMEM, EINVAL}},
    {"refused request", "fence", KIND_REFUSE, .request = HOST1X_IOCTL_CREATE_FENCE,
     .errors = {EINVAL, EMFILE}},
    {"refused request", "preemption", KIND_REFUSE,
     .request = NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, .errors = {EINVAL}},
    {"refused request", "interleave", KIND_REFUSE,
     .request = NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, .errors = {EINVAL, EPERM}},
    {"refused request", "from-va", KIND_REFUSE, .request = NVMAP_IOC_FROM_VA,
     .errors = {EINVAL, ENOTTY}},
    {"low memory", "no-pages", KIND_MEMORY, .bytes = 0},
    {"low memory", "one-mib", KIND_MEMORY, .bytes = MIB},
    {"low memory", "no-pool", KIND_MEMORY, .bytes = 256 * MIB},
    {"low memory", "no-fds", KIND_REFUSE, .request = NVMAP_IOC_GET_FD, .errors = {EMFILE, ENFILE}},
    {"hang", "power-up", KIND_HANG, .request = NVGPU_GPU_IOCTL_GET_CHARACTERISTICS},
    {"hang", "object", KIND_HANG, .request = NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX},
    {"hang", "setup", KIND_HANG, .request = NVGPU_IOCTL_CHANNEL_SETUP_BIND},
    {"hang", "gpu-time", KIND_HANG, .request = NVGPU_GPU_IOCTL_GET_GPU_TIME},
    {"hang", "doorbell", KIND_PLACE, .place = EMU_PLACE_DOORBELL},
    {"hang", "acquire", KIND_PLACE, .place = EMU_PLACE_ACQUIRE_STUCK},
    {"hang", "class", KIND_PLACE, .place = EMU_PLACE_CLASS_STUCK},
    {"hang", "grid", KIND_PLACE, .place = EMU_PLACE_GRID_STUCK},
    {"hang", "copy", KIND_PLACE, .place = EMU_PLACE_COPY_STUCK},
    {"late fence", "fence-late", KIND_PLACE, .place = EMU_PLACE_FENCE_LATE},
    {"late fence", "fence-lost", KIND_PLACE, .place = EMU_PLACE_FENCE_LOST},
    {"late fence", "fence-early", KIND_PLACE, .place = EMU_PLACE_FENCE_EARLY},
    {"late fence", "syncpoint-stuck", KIND_PLACE, .place = EMU_PLACE_SYNCPOINT_STUCK},
    {"lost channel", "host-lost", KIND_PLACE, .place = EMU_PLACE_HOST_LOST},
    {"lost channel", "class-lost", KIND_PLACE, .place = EMU_PLACE_CLASS_LOST},
    {"lost channel", "grid-lost", KIND_PLACE, .place = EMU_PLACE_GRID_FAULT},
    {"lost channel", "local-lost", KIND_PLACE, .place = EMU_PLACE_LOCAL_FAULT},
    {"lost channel", "shared-lost", KIND_PLACE, .place = EMU_PLACE_SHARED_FAULT},
    {"lost channel", "copy-lost", KIND_PLACE, .place = EMU_PLACE_COPY_LOST},
    {"lost channel", "copy-compute-lost", KIND_PLACE, .place = EMU_PLACE_COPY_COMPUTE},
    {"wrong result", "payload", KIND_PLACE, .place = EMU_PLACE_PAYLOAD},
    {"wrong result", "no-time", KIND_PLACE, .place = EMU_PLACE_TIME_ZERO},
    {"wrong result", "other-time", KIND_PLACE, .place = EMU_PLACE_TIME_SKEW},
    {"wrong result", "acquire-early", KIND_PLACE, .place = EMU_PLACE_ACQUIRE_EARLY},
    {"wrong result", "report", KIND_PLACE, .place = EMU_PLACE_REPORT_LOST},
    {"wrong result", "no-grid", KIND_PLACE, .place = EMU_PLACE_GRID_LOST},
    {"wrong result", "short-grid", KIND_PLACE, .place = EMU_PLACE_GRID_SHORT},
    {"wrong result", "action-9", KIND_PLACE, .place = EMU_PLACE_ACTION_9},
    {"wrong result", "action-3", KIND_PLACE, .place = EMU_PLACE_ACTION_3},
    {"wrong result", "inline", KIND_PLACE, .place = EMU_PLACE_INLINE},
    {"wrong result", "dependent", KIND_PLACE, .place = EMU_PLACE_DEPENDENT},
    {"wrong result", "copy-wrong", KIND_PLACE, .place = EMU_PLACE_COPY_WRONG},
    {"wrong result", "clock", KIND_ANSWER, .request = NVGPU_GPU_IOCTL_GET_GPU_TIME},
    {"wrong texture", "texture-swizzle", KIND_TEXTURE, .texture = EMU_TEXTURE_SWIZZLE},
    {"wrong texture", "texture-srgb", KIND_TEXTURE, .texture = EMU_TEXTURE_SRGB},
    {"wrong texture", "texture-border", KIND_TEXTURE, .texture = EMU_TEXTURE_BORDER},
    {"wrong texture", "texture-address-mode", KIND_TEXTURE, .texture = EMU_TEXTURE_ADDRESS_MODE},
    {"wrong texture", "texture-normalized", KIND_TEXTURE, .texture = EMU_TEXTURE_NORMALIZED},
    {"wrong texture", "texture-half-texel", KIND_TEXTURE, .texture = EMU_TEXTURE_HALF_TEXEL},
    {"wrong texture", "texture-weights", KIND_TEXTURE, .texture = EMU_TEXTURE_WEIGHTS},
    {"wrong texture", "texture-filter-bytes", KIND_TEXTURE, .texture = EMU_TEXTURE_FILTER_BYTES},
    {"wrong texture", "texture-pitch", KIND_TEXTURE, .texture = EMU_TEXTURE_PITCH},
    {"wrong texture", "texture-width", KIND_TEXTURE, .texture = EMU_TEXTURE_WIDTH},
    {"wrong texture", "texture-height", KIND_TEXTURE, .texture = EMU_TEXTURE_HEIGHT},
    {"wrong texture", "texture-level", KIND_TEXTURE, .texture = EMU_TEXTURE_LEVEL},
    {"wrong texture", "texture-format", KIND_TEXTURE, .texture = EMU_TEXTURE_FORMAT},
    {"wrong texture", "texture-buffer", KIND_TEXTURE, .texture = EMU_TEXTURE_BUFFER},
    {"wrong texture", "texture-layer", KIND_TEXTURE, .texture = EMU_TEXTURE_LAYER},
    {"wrong texture", "texture-constant-form", KIND_TEXTURE, .texture = EMU_TEXTURE_CONSTANT_FORM},
    {"wrong texture", "texture-uniform-form", KIND_TEXTURE, .texture = EMU_TEXTURE_UNIFORM_FORM},
    {"wrong texture", "texture-store-constant", KIND_TEXTURE,
     .texture = EMU_TEXTURE_STORE_CONSTANT},
    {"wrong texture", "texture-store-register", KIND_TEXTURE,
     .texture = EMU_TEXTURE_STORE_REGISTER},
    {"wrong texture", "texture-sampler-index", KIND_TEXTURE, .texture = EMU_TEXTURE_SAMPLER_INDEX},
    {"wrong texture", "texture-store", KIND_TEXTURE, .texture = EMU_TEXTURE_STORE},
    {"wrong texture", "texture-store-order", KIND_TEXTURE, .texture = EMU_TEXTURE_STORE_ORDER},
    {"wrong texture", "texture-stale-header", KIND_TEXTURE, .texture = EMU_TEXTURE_STALE_HEADER},
    {"wrong texture", "texture-stale-sampler", KIND_TEXTURE, .texture = EMU_TEXTURE_STALE_SAMPLER},
    {"wrong texture", "texture-stale-data", KIND_TEXTURE, .texture = EMU_TEXTURE_STALE_DATA},
    {"wrong texture", "texture-lost", KIND_TEXTURE, .texture = EMU_TEXTURE_LOST},
    {"wrong texture", "texture-store-lost", KIND_TEXTURE, .texture = EMU_TEXTURE_STORE_LOST},
};
enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

const char *emu_inject_name(size_t index, const char **fault_class) {
  if (index >= FAULTS)
    return NULL;
  *fault_class = faults[index].fault_class;
  return faults[index].name;
}

size_t emu_inject_index(void) {
  return (size_t)(emu_inject.fault - faults);
}

static void choose_fault(const struct emu_inject_fault *f, uint64_t seed) {
  unsigned errors = 0;
  while (errors < ERRORS && f->errors[errors])
    errors++;
  emu_inject = (struct emu_inject){.place = f->place, .fault = f};
  emu_texture_fault = f->texture;
  if (errors)
    emu_inject.error = -f->errors[splitmix(~seed) % errors];
}

bool emu_inject_choose(const char *text) {
  char *end;
  const uint64_t seed = strtoull(text, &end, 0);
  if (end != text && !*end) {
    choose_fault(&faults[splitmix(seed) % FAULTS], seed);
    return true;
  }
  for (size_t i = 0; i < FAULTS; i++)
    if (strcmp(text, faults[i].name) == 0) {
      choose_fault(&faults[i], i);
      return true;
    }
  return false;
}

uint64_t emu_inject_free_bytes(uint64_t all) {
  const struct emu_inject_fault *f = emu_inject.fault;
  return f && f->kind == KIND_MEMORY && f->bytes < all ? f->bytes : all;
}

void emu_inject_stop(uint32_t notifier, struct emu_fault *fault) {
  emu_fault_set(fault, notifier, 0, "the channel was lost");
}

int emu_inject_open(const char *path) {
  const struct emu_inject_fault *f = emu_inject.fault;
  if (!f)
    return 0;
  if (f->kind == KIND_NODE && strcmp(path, f->path) == 0)
    return emu_inject.error;
  return f->kind == KIND_OLD_NODE && strncmp(path, "/dev/nvgpu/", strlen("/dev/nvgpu/")) == 0
             ? -ENOENT
             : 0;
}

int emu_inject_request(uint32_t request, const void *argument) {
  static atomic_uint calls;
  const struct emu_inject_fault *f = emu_inject.fault;
  if (!f)
    return 0;
  if (request != f->request || (f->kind != KIND_REFUSE && f->kind != KIND_HANG))
    return 0;
  if (f->class_num &&
      ((const struct nvgpu_alloc_obj_ctx_args *)argument)->class_num != f->class_num)
    return 0;
  if (atomic_fetch_add(&calls, 1) < f->after)
    return 0;
  while (f->kind == KIND_HANG)
    pause();
  return emu_inject.error;
}

static bool changes_answer(uint32_t request) {
  const struct emu_inject_fault *f = emu_inject.fault;
  return f && f->kind == KIND_ANSWER && f->request == request;
}

uint64_t emu_inject_time(uint64_t ns) {
  return changes_answer(NVGPU_GPU_IOCTL_GET_GPU_TIME) ? 2 * ns : ns;
}

uint32_t emu_inject_sm_version(uint32_t version) {
  return changes_answer(NVGPU_GPU_IOCTL_GET_CHARACTERISTICS) ? 0x900 : version;
}
