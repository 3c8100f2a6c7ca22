/* Boxes of bytes: rows and slices at a pitch. */
#ifndef TEGRACL_BOX_H
#define TEGRACL_BOX_H

#include "icd/objects.h"

/* Whether two boxes share a byte, of which the first bytes are given. The rows of each stand
 * one after the other. */
bool icd_boxes_overlap(const char *a, const struct icd_box *a_box, const char *b,
                       const struct icd_box *b_box);

/* From the first byte of a box to after its last. */
static inline size_t icd_box_span(const size_t region[3], size_t row, size_t slice) {
  return (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
}

#endif
