/* The products of cooperative matrices: those that mma.sync computes with one instruction, and
 * twice as wide ones, which take two. */
#include "compiler/compiler.h"

/* One instruction covers all of k, so a sum can be clamped. The instructions clamp to the range of
 * int alone. Other sums are exact modulo 2^32, so the accumulator may be of either sign: SYCL's
 * compilers leave out the bits that say that it is signed. */
#define INTEGERS(n)                                                                                \
  {16, n, 32, CC_SINT8, CC_SINT8, CC_SINT32, CC_SINT32, false},                                    \
      {16, n, 32, CC_SINT8, CC_UINT8, CC_SINT32, CC_SINT32, false},                                \
      {16, n, 32, CC_UINT8, CC_SINT8, CC_SINT32, CC_SINT32, false},                                \
      {16, n, 32, CC_UINT8, CC_UINT8, CC_SINT32, CC_SINT32, false},                                \
      {16, n, 32, CC_SINT8, CC_SINT8, CC_UINT32, CC_UINT32, false},                                \
      {16, n, 32, CC_SINT8, CC_UINT8, CC_UINT32, CC_UINT32, false},                                \
      {16, n, 32, CC_UINT8, CC_SINT8, CC_UINT32, CC_UINT32, false},                                \
      {16, n, 32, CC_UINT8, CC_UINT8, CC_UINT32, CC_UINT32, false},                                \
      {16, n, 32, CC_SINT8, CC_SINT8, CC_SINT32, CC_SINT32, true},                                 \
      {16, n, 32, CC_SINT8, CC_UINT8, CC_SINT32, CC_SINT32, true},                                 \
      {16, n, 32, CC_UINT8, CC_SINT8, CC_SINT32, CC_SINT32, true}, {                               \
    16, n, 32, CC_UINT8, CC_UINT8, CC_SINT32, CC_SINT32, true                                      \
  }
#define HALVES(n, k)                                                                               \
  {16, n, k, CC_FP16, CC_FP16, CC_FP32, CC_FP32, false}, {                                         \
    16, n, k, CC_FP16, CC_FP16, CC_FP16, CC_FP16, false                                            \
  }

const struct cc_matrix_product *cc_il_matrix_products(size_t *count) {
  static const struct cc_matrix_product products[] = {
      HALVES(16, 16), HALVES(8, 16), HALVES(8, 8), INTEGERS(16), INTEGERS(8),
  };
  *count = sizeof products / sizeof *products;
  return products;
}
