/* What differs between releases of the kernel's driver. See l4t.h.
 */
#include "emulator/kernel/l4t.h"

#include <string.h>

#include "emulator/kernel/dispatch.h"
#include "gpu/nvgpu/release.h"

uint32_t emu_l4t_request(uint32_t request) {
  return nvgpu_release_meaning(emu_release(), request);
}

unsigned emu_l4t_last_number(const struct emu_node *node) {
  if (node == &emu_node_ctrl)
    return emu_release()->ctrl_last;
  if (node == &emu_node_tsg)
    return emu_release()->tsg_last;
  return node->last_number;
}

/* Those of r35.1 to r35.3, before emc_en_mask came; numa_domain_id and device_instance_id
 * are r36's. */
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
  enum { FLAGS_ECC = 60 }; /* the first of them */
  const struct nvgpu_release *release = emu_release();
  struct nvgpu_gpu_characteristics old = *c;
  if (release == &nvgpu_r36) {
    memcpy(out, c, sizeof(*c));
    return sizeof(*c);
  }
  old.gpu_ioctl_nr_last = (int16_t)release->ctrl_last;
  old.tsg_ioctl_nr_last = (int16_t)release->tsg_last;
  old.flags &= ((UINT64_C(1) << (release->flags_last + 1)) - 1) | UINT64_MAX << FLAGS_ECC;
  old.flags |= release->characteristics_flags;
  return characteristics_r35(&old, out);
}

size_t emu_l4t_vsm(const struct nvgpu_gpu_vsms_mapping_entry *entry, void *out) {
  uint8_t old[] = {entry->gpc_logical_index, entry->tpc_local_logical_index};
  const bool two = emu_release()->vsm_names_two;
  size_t bytes = two ? sizeof(old) : sizeof(*entry);
  memcpy(out, two ? (const void *)old : entry, bytes);
  return bytes;
}
