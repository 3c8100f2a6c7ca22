/* What differs between releases of the kernel's driver. See l4t.h.
 */
#include "runtime/emulator/l4t.h"

#include <string.h>

/* Beginnings of r36's structs: their sizes in r35. */
enum {
  OPEN_TSG_BYTES = 8,          /* nothing of sharing */
  NVMAP_ALLOC_BYTES = 16,      /* no numa_nid */
  NVMAP_PARAMETERS_BYTES = 64, /* no serial_id */
  CTRL_LAST = 42,
  TSG_LAST = 16,
  FLAGS_LAST = 53, /* characteristics' flags known then, but for those of ECC */
  FLAGS_ECC = 60,
  MAP_IO_COHERENT = 1 << 4,
  MAP_DIRECT_KIND_CTRL = 1 << 8,
};

/* The same request with another size. */
static uint32_t resized(uint32_t request, uint32_t bytes) {
  return _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), bytes);
}

uint32_t emu_l4t_request(uint32_t request) {
  static const struct {
    uint32_t r36, bytes;
  } shorter[] = {
      {NVGPU_GPU_IOCTL_OPEN_TSG, OPEN_TSG_BYTES},
      {NVMAP_IOC_ALLOC, NVMAP_ALLOC_BYTES},
      {NVMAP_IOC_PARAMETERS, NVMAP_PARAMETERS_BYTES},
  };
  for (size_t i = 0; emu_options()->r35 && i < sizeof(shorter) / sizeof(shorter[0]); i++) {
    if (request == shorter[i].r36)
      return 0;
    if (request == resized(shorter[i].r36, shorter[i].bytes))
      return shorter[i].r36;
  }
  return request;
}

unsigned emu_l4t_last_number(const struct emu_node *node) {
  if (emu_options()->r35 && node == &emu_node_ctrl)
    return CTRL_LAST;
  if (emu_options()->r35 && node == &emu_node_tsg)
    return TSG_LAST;
  return node->last_number;
}

/* r35.2: no numa_domain_id, emc_en_mask and device_instance_id. */
static size_t characteristics_r35(const struct nvgpu_gpu_characteristics *c, char *out) {
  typedef struct nvgpu_gpu_characteristics characteristics;
  enum {
    NUMA = offsetof(characteristics, numa_domain_id),
    L2 = offsetof(characteristics, L2_cache_size),
    EMC = offsetof(characteristics, emc_en_mask),
    AFTER_EMC = offsetof(characteristics, max_ltc_per_fbp),
    COMPBIT = offsetof(characteristics, gr_compbit_store_base_hw),
    INSTANCE = offsetof(characteristics, device_instance_id),
    GAP = L2 - NUMA,
  };
  const char *in = (const char *)c;
  memset(out, 0, sizeof(*c));
  memcpy(out, in, NUMA);
  memcpy(out + NUMA, in + L2, EMC - L2);
  memcpy(out + EMC - GAP, in + AFTER_EMC, COMPBIT - AFTER_EMC);
  memcpy(out + COMPBIT - GAP, in + COMPBIT, INSTANCE - COMPBIT);
  return INSTANCE - GAP;
}

size_t emu_l4t_characteristics(const struct nvgpu_gpu_characteristics *c, void *out) {
  struct nvgpu_gpu_characteristics old = *c;
  if (!emu_options()->r35) {
    memcpy(out, c, sizeof(*c));
    return sizeof(*c);
  }
  old.gpu_ioctl_nr_last = CTRL_LAST;
  old.tsg_ioctl_nr_last = TSG_LAST;
  old.flags &= ((UINT64_C(1) << (FLAGS_LAST + 1)) - 1) | UINT64_MAX << FLAGS_ECC;
  return characteristics_r35(&old, out);
}

size_t emu_l4t_vsm(const struct nvgpu_gpu_vsms_mapping_entry *entry, void *out) {
  uint8_t old[] = {entry->gpc_logical_index, entry->tpc_local_logical_index};
  size_t bytes = emu_options()->r35 ? sizeof(old) : sizeof(*entry);
  memcpy(out, emu_options()->r35 ? (const void *)old : entry, bytes);
  return bytes;
}

uint32_t emu_l4t_map_flags(void) {
  return emu_options()->r35 ? MAP_IO_COHERENT | MAP_DIRECT_KIND_CTRL : 0;
}
