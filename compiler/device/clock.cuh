/* cl_khr_kernel_clock: clock_read_device returns the nanoseconds of the GPU's timer, and the
 * functions for work-groups and sub-groups return the cycles of the SM. */
#ifndef TEGRACL_CLOCK_CUH
#define TEGRACL_CLOCK_CUH
#include "tegracl.cuh"

namespace ocl {

#define OCL_CLOCK(scope, ptx)                                                                      \
  OCL_FN ulong clock_read_##scope() {                                                              \
    ulong r;                                                                                       \
    asm volatile("mov.u64 %0, " ptx ";" : "=l"(r)::"memory");                                      \
    return r;                                                                                      \
  }                                                                                                \
  OCL_FN vec<uint, 2> clock_read_hilo_##scope() {                                                  \
    ulong r = clock_read_##scope();                                                                \
    return {uint(r), uint(r >> 32)};                                                               \
  }
OCL_CLOCK(device, "%%globaltimer")
OCL_CLOCK(work_group, "%%clock64")
OCL_CLOCK(sub_group, "%%clock64")

} // namespace ocl
#endif
