/* Differences between releases of the kernel driver. */
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

size_t emu_l4t_vsm(const struct nvgpu_gpu_vsms_mapping_entry *entry, void *out) {
  uint8_t old[] = {entry->gpc_logical_index, entry->tpc_local_logical_index};
  const bool two = emu_release()->vsm_names_two;
  size_t bytes = two ? sizeof(old) : sizeof(*entry);
  memcpy(out, two ? (const void *)old : entry, bytes);
  return bytes;
}
