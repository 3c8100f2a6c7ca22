/* Differences of L4T r35 (kernel 5.10) from r36, for TEGRACL_EMULATOR=l4t:r35.
 * nvgpu-uapi.md 10.
 */
#ifndef TEGRACL_EMULATOR_L4T_H
#define TEGRACL_EMULATOR_L4T_H

#include "runtime/emulator/gpu.h"

/* The request of r36 whose function answers this one; 0: unknown to the release. The
 * argument of r35 is the beginning of r36's. */
uint32_t emu_l4t_request(uint32_t request);
/* The node's last request number. */
unsigned emu_l4t_last_number(const struct emu_node *node);
/* Brings characteristics into the release's shape; their size. */
size_t emu_l4t_characteristics(const struct nvgpu_gpu_characteristics *c, void *out);
/* One SM of VSMS_MAPPING in the release's shape; its size. */
size_t emu_l4t_vsm(const struct nvgpu_gpu_vsms_mapping_entry *entry, void *out);
/* MAP_BUFFER_EX's flags that only the release knows. */
uint32_t emu_l4t_map_flags(void);

#endif
