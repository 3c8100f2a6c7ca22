/* Descriptions of the kernels, which the runtime otherwise reads from a CUBIN. */
#include "tools/doctor/kernels.h"

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/memory.h"
#include "tools/doctor/kernel_words.h"

enum { PARAM_BYTES = sizeof(uint64_t) + sizeof(uint32_t) };

#define TEXT(words)                                                                                \
  { .kind = MODULE_TEXT, .size = sizeof(words), .align = TEXT_ALIGN, .data = words }

/* In the order of enum doctor_kernel. The last kernel shares the code of another one. */
static const struct module_section sections[] = {
    TEXT(text_number), TEXT(text_private_sum), TEXT(text_spin),  TEXT(text_copy),
    TEXT(text_crowd),  TEXT(text_beyond),      TEXT(text_count),
};

#define KERNEL(title, section, count)                                                              \
  .name = (title), .text = (section), .registers = (count),                                        \
  .bank0_bytes = BANK0_PARAMS + PARAM_BYTES, .param_offset = BANK0_PARAMS,                         \
  .param_bytes = PARAM_BYTES, .hidden_offset = UINT32_MAX, .bank2 = MODULE_NO_SECTION,             \
  .bank3 = MODULE_NO_SECTION, .bank4 = MODULE_NO_SECTION

static const struct kernel_code kernels[KERNELS] = {
    [KERNEL_NUMBER] = {KERNEL("number", KERNEL_NUMBER, 8)},
    [KERNEL_PRIVATE_SUM] = {KERNEL("private_sum", KERNEL_PRIVATE_SUM, 10), .stack_bytes = 256},
    [KERNEL_SPIN] = {KERNEL("spin", KERNEL_SPIN, 8)},
    [KERNEL_COPY] = {KERNEL("copy", KERNEL_COPY, 10)},
    [KERNEL_CROWD] = {KERNEL("crowd", KERNEL_CROWD, 14), .barriers = 1, .shared_bytes = 49152},
    [KERNEL_BEYOND] = {KERNEL("beyond", KERNEL_BEYOND, 8), .shared_bytes = 4},
    [KERNEL_COUNT] = {KERNEL("count", KERNEL_COUNT, 8)},
    [KERNEL_PRIVATE_MORE] = {KERNEL("private_more", KERNEL_PRIVATE_SUM, 10), .stack_bytes = 8192},
};

const struct module_code doctor_code = {.sections = sections,
                                        .section_count = sizeof(sections) / sizeof(sections[0]),
                                        .kernels = kernels,
                                        .kernel_count = KERNELS};
