/* A model of the arithmetic of tensor instructions, for tests. Elements are given as bits. */
#ifndef TEGRACL_TESTS_SASS_TENSOR_MODEL_H
#define TEGRACL_TESTS_SASS_TENSOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum element { F16, BF16, TF32, F64, U8, S8, U4, S4, B1, F32, S32 };

unsigned element_bits(enum element type);
const char *element_name(enum element type);

/* Computes one element of D: the sum of count products and c. */
struct dot {
  enum element a_type, b_type, c_type;
  unsigned count;
  uint64_t a[256], b[256], c;
  bool saturate, and; /* of integers; of bits: AND instead of XOR */
  int round;          /* of doubles: FE_TONEAREST, ... */
};
uint64_t dot_product(const struct dot *d);

#endif
