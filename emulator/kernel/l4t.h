/* Requests and results of the selected release, r36 or r35 (TEGRACL_EMULATOR=l4t:r35).
 * gpu/nvgpu/release.h has the table of differences. */
#ifndef TEGRACL_EMULATOR_L4T_H
#define TEGRACL_EMULATOR_L4T_H

#include <stddef.h>
#include <stdint.h>

#include "emulator/options.h"
#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"

struct emu_node;

static inline const struct nvgpu_release *emu_release(void) {
  return emu_options()->r35 ? &nvgpu_r35 : &nvgpu_r36;
}

/* Returns the request of r36 whose function implements this request, or 0 if the release does not
 * define it. r35's argument is the beginning of r36's. */
uint32_t emu_l4t_request(uint32_t request);
/* Returns the node's highest request number. */
unsigned emu_l4t_last_number(const struct emu_node *node);
/* Writes an entry of VSMS_MAPPING in the release's layout and returns its size. */
size_t emu_l4t_vsm(const struct nvgpu_gpu_vsms_mapping_entry *entry, void *out);

#endif
