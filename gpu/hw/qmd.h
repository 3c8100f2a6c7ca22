/* The QMD (version 3.0), the 256-byte descriptor of a grid. Field names and bits come from
 * qmd-v03.csv, e.g. qmd_set(qmd, QMD_BARRIER_COUNT, 1). */
#ifndef TEGRACL_HW_QMD_H
#define TEGRACL_HW_QMD_H

#include "gpu/hw/field.h"
#include "gpu/hw/qmd_gen.h"

enum {
  QMD_WORDS = 64,
  QMD_BYTES = 256,
  QMD_ALIGN = 256, /* launch methods take address >> 8 */
  QMD_ADDRESS_SHIFT = 8,
  QMD_CONSTANT_BANKS = 8,
  QMD_CONSTANT_SIZE_SHIFT = 4, /* for SIZE_SHIFTED4; docs/hardware/command-stream.md 5.3 */
  QMD_PREFETCH_SIZE_SHIFT = 8, /* PROGRAM_PREFETCH_SIZE */
  QMD_PREFETCH_SIZE_MAX = 0x1ff,
};

/* Field values; docs/hardware/command-stream.md 5.1 and qmd-v03.csv. */
enum {
  QMD_MAJOR_VERSION_VALUE = 3,
  QMD_VERSION_VALUE = 0,
  QMD_GROUP_COMPUTE = 0x3f, /* as in CUDA and the AGX notes (docs/hardware/bring-up.md) */
  QMD_MEMBAR_NONE = 0,
  QMD_MEMBAR_L1_SYSMEMBAR = 1,
  QMD_MEMBAR_L1_MEMBAR = 3,
  QMD_CALL_LIMIT_NO_CHECK = 1,
  QMD_SAMPLER_INDEPENDENTLY = 0,
  QMD_SAMPLER_VIA_HEADER_INDEX = 1,
  QMD_SASS_VERSION_87 = 0x87,
};

/* Values of DEPENDENT_QMD0_ACTION; qmd-v03.csv. */
enum qmd_dependent_action {
  DEPENDENT_INCREMENT_PUT = 0,
  DEPENDENT_SCHEDULE = 1,
  DEPENDENT_INVALIDATE_COPY_SCHEDULE = 3,
  DEPENDENT_DECREMENT_DEPENDENCE = 4,
};

/* Returns the word that contains the field, with the field set to value. */
static inline void qmd_copy_with(uint32_t *to, const uint32_t *from, unsigned high, unsigned low,
                                 uint32_t value) {
  to[low / 32] = (from[low / 32] & ~hw_bits(high % 32, low % 32, UINT32_MAX)) |
                 hw_bits(high % 32, low % 32, value);
}

static inline void qmd_set(uint32_t *qmd, unsigned high, unsigned low, uint32_t value) {
  hw_set(qmd, high, low, value);
}

static inline uint32_t qmd_get(const uint32_t *qmd, unsigned high, unsigned low) {
  return hw_get(qmd, high, low);
}

#endif
