/* What a CUBIN would say of the kernels, and the driver reads from it. */
#include "tools/doctor/kernels.h"

#include "runtime/hw/constant_bank.h"
#include "runtime/hw/memory.h"
#include "tools/doctor/kernel_words.h"

enum { PARAM_BYTES = sizeof(uint64_t) + sizeof(uint32_t) };

static const struct module_section sections[] = {
    {MODULE_TEXT, sizeof(text_number), TEXT_ALIGN, text_number},
    {MODULE_TEXT, sizeof(text_private_sum), TEXT_ALIGN, text_private_sum},
};

static const struct kernel_code kernels[] = {
    [KERNEL_NUMBER] = {.name = "number",
                       .text = 0,
                       .registers = 8,
                       .bank0_bytes = BANK0_PARAMS + PARAM_BYTES,
                       .param_offset = BANK0_PARAMS,
                       .param_bytes = PARAM_BYTES,
                       .bank2 = MODULE_NO_SECTION},
    [KERNEL_PRIVATE_SUM] = {.name = "private_sum",
                            .text = 1,
                            .registers = 10,
                            .stack_bytes = 256,
                            .bank0_bytes = BANK0_PARAMS + PARAM_BYTES,
                            .param_offset = BANK0_PARAMS,
                            .param_bytes = PARAM_BYTES,
                            .bank2 = MODULE_NO_SECTION},
};

const struct module_code doctor_code = {.sections = sections,
                                        .section_count = 2,
                                        .kernels = kernels,
                                        .kernel_count = 2,
                                        .bank3 = MODULE_NO_SECTION,
                                        .bank4 = MODULE_NO_SECTION};
