/* Boxes of bytes: rows and slices with pitches. */
#ifndef TEGRACL_BOX_H
#define TEGRACL_BOX_H

#include "icd/objects.h"

/* Whether two boxes, which begin at a and b, have a byte in common. The rows of each box must be
 * in ascending order of address. */
bool icd_boxes_overlap(const char *a, const struct icd_box *a_box, const char *b,
                       const struct icd_box *b_box);

/* Returns the distance from the first byte of a box to the end of its last. */
static inline size_t icd_box_span(const size_t region[3], size_t row_bytes, size_t slice_bytes) {
  return (region[2] - 1) * slice_bytes + (region[1] - 1) * row_bytes + region[0];
}

#endif
