/* One PTX operation in one form, as ptxas encodes it, compared with an independent computation.
 * Each form is a kernel that applies the operation to thousands of random and edge operands. */
#ifndef TEGRACL_TESTS_SASS_FORMS_H
#define TEGRACL_TESTS_SASS_FORMS_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of operands and results, which give their width and the values to try:
 *   i 32-bit integer    l 64-bit integer    s 16-bit integer   n 32-bit, not 0
 *   m 64-bit, not 0     t 16-bit, not 0     c shift count      p 0 or 1
 *   f f32   d f64   h f16   b bf16   H f16x2   B bf16x2
 *   I two 32-bit integers   F two f32   Q four f16   a a place in memory */
struct form {
  char ptx[640]; /* %0 the result, %1 to %3 the operands */
  char in[4], out;
  /* A form has exactly one of the next four. Operands and results are bits, zero-extended. */
  uint64_t (*expect)(const struct form *f, const uint64_t *in);
  bool (*accept)(const struct form *f, const uint64_t *in, uint64_t got);
  /* Computes the results of a whole warp from its operands in[operand][lane]. */
  void (*expect_warp)(const struct form *f, const uint64_t (*in)[32], uint64_t *out);
  /* Returns the lanes whose results are wrong, for operations with several right results. */
  uint32_t (*wrong_lanes)(const struct form *f, const uint64_t (*in)[32], const uint64_t *got);
  int p[6];         /* parameters of these functions */
  bool vector_only; /* no operand may come from a constant bank or an immediate */
  /* C text around the operation, or NULL, and further inputs of the operation as asm operands.
   * Operands are v0 to v2, the result is r, i is the thread, s is a piece of global memory with 512
   * bytes for each warp, and t is a parameter of 8 words. */
  const char *before, *after, *further;
  struct {
    int element; /* number of bytes of one access, a power of 2 */
    int bytes;   /* all places lie in this many bytes */
    int bias;    /* added to places */
    int added;   /* subtracted from places, because the address adds it */
    bool few;    /* at most 6 lanes have the same place */
    int spaces;  /* address spaces to choose from, or 0 */
  } place;
};

/* Decode operand a: a place, whether the lane is active, and an address space. */
static inline int32_t place_offset(uint64_t a) {
  return (int32_t)(uint32_t)a;
}
static inline bool place_active(uint64_t a) {
  return a >> 32 & 1;
}
static inline unsigned place_space(uint64_t a) {
  return (unsigned)(a >> 33);
}

/* Word k of constant memory (table, 64 words) and of parameter 3 (8 words). */
static inline uint64_t form_constant(unsigned k) {
  return 0x8877f655c433e211ull * (2 * k + 1);
}

/* Adds a form to the table; its text has a printf format. */
struct form *form_add(const char *in, char out, const char *ptx, ...)
    __attribute__((format(printf, 3, 4)));

/* Add the forms of a group to the table. */
void forms_integer(void);
void forms_bits(void);
void forms_float(void);
void forms_half(void);
void forms_convert(void);
void forms_special(void);
void forms_warp(void);
void forms_memory(void);
void forms_atomic(void);
void forms_video(void);

uint64_t form_random(void);

#endif
