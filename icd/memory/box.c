/* See box.h. */
#include "icd/memory/box.h"

/* Returns the start of row i, counted through all slices of the box. */
static const char *row_of(const char *first, const struct icd_box *box, size_t i) {
  return first + i / box->region[1] * box->slice_bytes + i % box->region[1] * box->row_bytes;
}

bool icd_boxes_overlap(const char *a, const struct icd_box *a_box, const char *b,
                       const struct icd_box *b_box) {
  const size_t a_rows = a_box->region[1] * a_box->region[2];
  const size_t b_rows = b_box->region[1] * b_box->region[2];
  for (size_t i = 0, k = 0; i < a_rows && k < b_rows;) {
    const char *a_row = row_of(a, a_box, i), *b_row = row_of(b, b_box, k);
    if (a_row + a_box->region[0] <= b_row)
      i++;
    else if (b_row + b_box->region[0] <= a_row)
      k++;
    else
      return true;
  }
  return false;
}
