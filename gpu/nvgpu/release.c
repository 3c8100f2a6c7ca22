/* Differences between releases of the kernel interface. Sources: OE4T/linux-nvgpu, branches
 * l4t-r35.1.ga to l4t-35.6.0 (include/uapi/linux/nvgpu*.h, which differ only in emc_en_mask;
 * ioctl_as.c, ioctl_tsg.c, ioctl_ctrl.c and module.c of os/linux), and nvmap.h of
 * OE4T/linux-tegra-5.10. */
#include "gpu/nvgpu/release.h"

#include <string.h>
#include <sys/ioctl.h>

#include "gpu/nvgpu/uapi.h"

/* Flags of MAP_BUFFER_EX that only r35 has. The first has no effect (nvgpu_vm_translate_linux_flags
 * and its callers). r35 refuses requests without the second (gk20a_as_ioctl_map_buffer_ex). */
enum { MAP_IO_COHERENT = 1 << 4, MAP_DIRECT_KIND_CTRL = 1 << 8 };

/* Characteristics flags that r36 has removed (nvgpu_init.c, os/linux/module.c). */
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
            {NVGPU_GPU_IOCTL_OPEN_TSG, 8},        /* without the member "source" of a share */
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

/* Builds the code of the same request with another argument size. */
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
    const uint32_t r36 = release->shorter[i].request;
    if (request == r36)
      return 0;
    if (request == resized(r36, release->shorter[i].bytes))
      return r36;
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

/* r35's characteristics contain r36's fields at other offsets, in contiguous runs. They lack
 * numa_domain_id and device_instance_id, and have emc_en_mask only since r35.4. */
typedef struct nvgpu_gpu_characteristics characteristics_r36;
enum {
  NUMA = offsetof(characteristics_r36, numa_domain_id),
  L2 = offsetof(characteristics_r36, L2_cache_size),
  EMC = offsetof(characteristics_r36, emc_en_mask),
  AFTER_EMC = offsetof(characteristics_r36, max_ltc_per_fbp),
  CHIPNAME = offsetof(characteristics_r36, chipname),
  COMPBIT = offsetof(characteristics_r36, gr_compbit_store_base_hw),
  INSTANCE = offsetof(characteristics_r36, device_instance_id),
  GAP = L2 - NUMA,
};
static const struct run {
  size_t r36, r35, bytes; /* offsets and size of a run */
} runs[] = {
    {0, 0, NUMA},
    {L2, NUMA, EMC - L2},
    {COMPBIT, COMPBIT - GAP, INSTANCE - COMPBIT},
    {AFTER_EMC, EMC - GAP, COMPBIT - AFTER_EMC}, /* only before r35.4 */
};
enum { RUNS = sizeof(runs) / sizeof(runs[0]), RUNS_OF_ALL_R35 = RUNS - 1 };

void nvgpu_release_characteristics(const struct nvgpu_release *release,
                                   struct nvgpu_gpu_characteristics *characteristics) {
  if (release != &nvgpu_r35)
    return;
  char old[sizeof(characteristics_r36)];
  char *out = (char *)characteristics;
  memcpy(old, out, sizeof(old));
  memset(out, 0, sizeof(old));
  for (const struct run *r = runs; r < runs + RUNS_OF_ALL_R35; r++)
    memcpy(out + r->r36, old + r->r35, r->bytes);
  characteristics->numa_domain_id = -1;
  /* Before r35.4 emc_en_mask did not exist, so the name was at a lower offset. */
  const char *name = old + CHIPNAME - GAP;
  const char *earlier = name - sizeof(characteristics->emc_en_mask);
  memcpy(characteristics->chipname, *earlier ? earlier : name, sizeof(characteristics->chipname));
}

size_t nvgpu_release_pack_characteristics(const struct nvgpu_release *release,
                                          const struct nvgpu_gpu_characteristics *characteristics,
                                          void *out) {
  enum { FLAGS_ECC = 60 }; /* first of the ECC flags */
  characteristics_r36 old = *characteristics;
  if (release != &nvgpu_r35) {
    memcpy(out, &old, sizeof(old));
    return sizeof(old);
  }
  old.gpu_ioctl_nr_last = (int16_t)release->ctrl_last;
  old.tsg_ioctl_nr_last = (int16_t)release->tsg_last;
  old.flags &= ((UINT64_C(1) << (release->flags_last + 1)) - 1) | UINT64_MAX << FLAGS_ECC;
  old.flags |= release->characteristics_flags;
  memset(out, 0, release->characteristics_bytes);
  for (const struct run *r = runs; r < runs + RUNS; r++)
    memcpy((char *)out + r->r35, (const char *)&old + r->r36, r->bytes);
  return release->characteristics_bytes;
}
