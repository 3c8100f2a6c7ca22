/* Kernels as machine code, for steps that must not require a
 * compiler. kernel_words.h contains their source. */
#ifndef TEGRACL_DOCTOR_KERNELS_H
#define TEGRACL_DOCTOR_KERNELS_H

#include "gpu/cubin/kernel_code.h"

enum doctor_kernel {
  KERNEL_NUMBER,
  KERNEL_PRIVATE_SUM,
  KERNEL_SPIN,
  KERNEL_COPY,
  KERNEL_CROWD,
  KERNEL_BEYOND,
  KERNEL_COUNT,
  KERNEL_PRIVATE_MORE, /* like KERNEL_PRIVATE_SUM, with more private memory than needed */
  KERNELS,
};

extern const struct module_code doctor_code;

/* The parameters of each kernel. */
struct doctor_params {
  uint64_t out;
  uint32_t value;
  uint32_t padding;
};

#endif
