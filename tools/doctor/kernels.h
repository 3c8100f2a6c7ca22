/* Two kernels as compiled code, for the steps before there is a compiler. */
#ifndef TEGRACL_DOCTOR_KERNELS_H
#define TEGRACL_DOCTOR_KERNELS_H

#include "compiler/kernel_code.h"

enum { KERNEL_NUMBER, KERNEL_PRIVATE_SUM };

extern const struct module_code doctor_code;

/* Parameters of both: kernel_words.h. */
struct doctor_params {
  uint64_t out;
  uint32_t value;
  uint32_t padding;
};

#endif
