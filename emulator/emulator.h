/* The software Orin: device nodes, host engine, compute front end and SMs, with the same
 * table of calls as the Linux kernel. It is independent of its users.
 */
#ifndef TEGRACL_EMULATOR_H
#define TEGRACL_EMULATOR_H

#include "gpu/nvgpu/os.h"

/* Created at the first open; destroyed (threads joined, memory released) when the last fd and
 * mapping are closed. */
extern const struct nvgpu_os nvgpu_os_emulator;

#endif
