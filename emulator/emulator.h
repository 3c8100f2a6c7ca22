/* The software Orin: device nodes, host engine, compute front end and SMs. Its table of calls is
 * that of the Linux kernel's interface (gpu/nvgpu/os.h). */
#ifndef TEGRACL_EMULATOR_H
#define TEGRACL_EMULATOR_H

#include "gpu/nvgpu/os.h"

/* Created at the first open; destroyed (threads joined, memory released) when the last fd and
 * mapping are closed. */
extern const struct nvgpu_os nvgpu_os_emulator;

#endif
