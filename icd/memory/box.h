/* Boxes of bytes: rows and slices at a pitch. */
#ifndef TEGRACL_BOX_H
#define TEGRACL_BOX_H

#include "icd/objects.h"

/* Whether two boxes, whose first bytes are given, share a byte. The rows of each box are in the
 * order of their addresses. */
bool icd_boxes_overlap(const char *a, const struct icd_box *a_box, const char *b,
                       const struct icd_box *b_box);

/* From the first byte of a box to after its last. */
static inline size_t icd_box_span(const size_t region[3], size_t row_bytes, size_t slice_bytes) {
  return (region[2] - 1) * slice_bytes + (region[1] - 1) * row_bytes + region[0];
}

#endif
