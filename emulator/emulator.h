/* The software Orin: device nodes, host engine, compute front end and SMs,
 * behind the same table as the Linux kernel. It does not know who drives it.
 */
#ifndef TEGRACL_EMULATOR_H
#define TEGRACL_EMULATOR_H

#include "gpu/nvgpu/os.h"

/* Created at the first open; gone (threads joined, memory released) when the
 * last fd and mapping are closed. */
extern const struct nvgpu_os nvgpu_os_emulator;

#endif
