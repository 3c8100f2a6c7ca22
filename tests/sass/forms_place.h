/* The memory of the forms of memory operations (forms_memory.c, forms_atomic.c): a
 * warp has 64 words of 64 bits in each address space, filled from operands 0 and
 * 1. Operand 2 is the place that each lane accesses, with its space if it is generic.
 */
#ifndef TEGRACL_TESTS_SASS_FORMS_PLACE_H
#define TEGRACL_TESTS_SASS_FORMS_PLACE_H

#include "tests/sass/forms.h"

enum { LANES = 32 };
enum space { GLOBAL, SHARED, LOCAL, CONST, PARAM, SPACES, GENERIC = SPACES };
extern const char *const space_name[]; /* in PTX */

/* Sets the place of a form: p[0] gets the space; %4 is the address, to which the form must
 * add -bias, and %5 is 1 if the lane is active. In C, b points to the words. */
void place_form(struct form *f, enum space space, int element, int bias);
/* Makes the addresses of shared or local memory 64 bits wide. */
void place_wide(struct form *f);
/* Forms the address of elements of 4, 8 or 16 bytes in shared memory from a scaled register and a
 * uniform register. */
void place_scaled(struct form *f);
/* Returns the next immediate offset of a cycle: none, small ones, and the extremes of 24 bits. */
int place_next_bias(void);
/* Excludes inactive lanes, alternately by a predicate q and by a branch to out. */
const char *place_next_guard(void);

enum space place_space_of(const struct form *f, uint64_t place);
/* Returns the initial contents of word k in a lane's space. */
uint64_t place_word(const uint64_t (*in)[32], enum space space, int lane, int k);

static inline uint64_t place_bytes(uint64_t v, int bytes) {
  return bytes == 8 ? v : v & ((1ull << 8 * bytes) - 1);
}

/* C text that fills the words of global or shared memory. */
#define PLACE_FILL(c, first, second)                                                               \
#c "[i % 32] = " first "; " #c "[32 + i % 32] = " second "; __syncwarp(); "
#define PLACE_IN_SHARED                                                                            \
  "__shared__ __align__(16) u64 m[8][64]; u64 *d = m[threadIdx.x / 32]; " PLACE_FILL(d, "v0", "v1")
#define PLACE_BASE(expression) "const char *b = (const char *)" expression ";"
#define PLACE_ACTIVE           ", \"r\"((int)(v2 >> 32 & 1))"
#define PLACE_SHARED           "\"r\"((int)__cvta_generic_to_shared(b) + (int)v2)" PLACE_ACTIVE

#endif
