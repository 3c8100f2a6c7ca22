/* Releases of the kernel interface. Read in OE4T/linux-nvgpu, branches l4t-r35.1.ga to
 * l4t-35.6.0 (include/uapi/linux/nvgpu*.h, which differ in emc_en_mask alone; ioctl_as.c,
 * ioctl_tsg.c, ioctl_ctrl.c and module.c of os/linux), and nvmap.h of OE4T/linux-tegra-5.10.
 */
#include "gpu/nvgpu/release.h"

#include <string.h>
#include <sys/ioctl.h>

#include "gpu/nvgpu/uapi.h"

/* Bits of r35's MAP_BUFFER_EX. Without the second one the request is refused
 * (gk20a_as_ioctl_map_buffer_ex); the first one changes nothing (nvgpu_vm_translate_linux_flags
 * and what reads its result). */
enum { MAP_IO_COHERENT = 1 << 4, MAP_DIRECT_KIND_CTRL = 1 << 8 };

/* Characteristics flags that r36 has no more (nvgpu_init.c, os/linux/module.c). */
enum { PARTIAL_MAPPINGS = 1 << 1, USERSPACE_MANAGED_AS = 1 << 7, DIRECT_KIND_CTRL = 1 << 23 };

const struct nvgpu_release nvgpu_r36 = {
    .name = "L4T r36",
    .characteristics_bytes = sizeof(struct nvgpu_gpu_characteristics),
    .ctrl_last = 44,
    .tsg_last = 21,
    .nvmap_last = 107,
    .subcontext_requests = true,
    .flags_last = 63,
    .fence_node = HOST1X_FENCE_NODE,
    .time_of_os = true,
};

const struct nvgpu_release nvgpu_r35 = {
    .name = "L4T r35",
    .characteristics_bytes = 312,
    .ctrl_last = 42,
    .tsg_last = 16,
    .nvmap_last = 106,
    .map_flags = MAP_IO_COHERENT | MAP_DIRECT_KIND_CTRL,
    .map_flags_needed = MAP_DIRECT_KIND_CTRL,
    .characteristics_flags = PARTIAL_MAPPINGS | USERSPACE_MANAGED_AS | DIRECT_KIND_CTRL,
    .flags_last = 53,
    .fence_node = NVHOST_CTRL_NODE,
    .vsm_names_two = true,
    .shorter =
        {
            {NVGPU_GPU_IOCTL_OPEN_TSG, 8},        /* nothing of sharing */
            {NVGPU_IOCTL_CHANNEL_SETUP_BIND, 80}, /* no GPU addresses */
            {NVMAP_IOC_ALLOC, 16},                /* no numa_nid */
            {NVMAP_IOC_PARAMETERS, 64},           /* no serial_id */
            {NVMAP_IOC_QUERY_HEAP_PARAMS, 40},    /* no granule_size */
        },
};

const struct nvgpu_release *nvgpu_release_find(uint64_t characteristics_bytes) {
  if (characteristics_bytes >= nvgpu_r36.characteristics_bytes)
    return &nvgpu_r36;
  return characteristics_bytes == nvgpu_r35.characteristics_bytes ? &nvgpu_r35 : NULL;
}

/* The same request with another size. */
static uint32_t resized(uint32_t request, uint32_t bytes) {
  return _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), bytes);
}

uint32_t nvgpu_release_request(const struct nvgpu_release *release, uint32_t request) {
  for (int i = 0; i < NVGPU_SHORTER_MAX && release->shorter[i].request; i++)
    if (request == release->shorter[i].request)
      return resized(request, release->shorter[i].bytes);
  return request;
}

uint32_t nvgpu_release_meaning(const struct nvgpu_release *release, uint32_t request) {
  for (int i = 0; i < NVGPU_SHORTER_MAX && release->shorter[i].request; i++) {
    const uint32_t newer = release->shorter[i].request;
    if (request == newer)
      return 0;
    if (request == resized(newer, release->shorter[i].bytes))
      return newer;
  }
  return request;
}

int nvgpu_create_fence(const struct nvgpu_os *os, const struct nvgpu_release *release, int node_fd,
                       uint32_t id, uint32_t threshold, int *fd) {
  int result;
  if (release == &nvgpu_r35) {
    const struct nvhost_fence_point point = {id, threshold};
    struct nvhost_create_fence args = {.count = 1, .points = (uintptr_t)&point};
    result = os->ioctl(node_fd, NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE, &args);
    *fd = args.fence_fd;
  } else {
    struct host1x_create_fence args = {.id = id, .threshold = threshold};
    result = os->ioctl(node_fd, HOST1X_IOCTL_CREATE_FENCE, &args);
    *fd = args.fence_fd;
  }
  return result;
}

void nvgpu_release_characteristics(const struct nvgpu_release *release,
                                   struct nvgpu_gpu_characteristics *characteristics) {
  typedef struct nvgpu_gpu_characteristics newer;
  enum {
    NUMA = offsetof(newer, numa_domain_id),
    L2 = offsetof(newer, L2_cache_size),
    EMC = offsetof(newer, emc_en_mask),
    CHIPNAME = offsetof(newer, chipname),
    COMPBIT = offsetof(newer, gr_compbit_store_base_hw),
    GAP = L2 - NUMA,
  };
  if (release != &nvgpu_r35)
    return;
  char old[sizeof(newer)];
  char *out = (char *)characteristics;
  memcpy(old, out, sizeof(old));
  memset(out + NUMA, 0, sizeof(old) - NUMA);
  characteristics->numa_domain_id = -1;
  memcpy(out + L2, old + NUMA, EMC - L2);
  memcpy(out + COMPBIT, old + COMPBIT - GAP, nvgpu_r35.characteristics_bytes - (COMPBIT - GAP));
  /* emc_en_mask came with r35.4. Before that, the name began where a mask that is not used
   * ends now. */
  const char *name = old + CHIPNAME - GAP;
  const char *earlier = name - sizeof(characteristics->emc_en_mask);
  memcpy(characteristics->chipname, *earlier ? earlier : name, sizeof(characteristics->chipname));
}
