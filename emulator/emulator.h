/* The software Orin: device nodes, host engine, compute front end and SMs, behind the same table of
 * calls as the Linux kernel (gpu/nvgpu/os.h). */
#ifndef TEGRACL_EMULATOR_H
#define TEGRACL_EMULATOR_H

#include "gpu/nvgpu/os.h"

/* The device is created when it is first opened, and destroyed when its last fd and mapping are
 * closed: threads are joined and memory is released. */
extern const struct nvgpu_os nvgpu_os_emulator;

#endif
