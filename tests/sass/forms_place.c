/* See forms_place.h. */
#include "tests/sass/forms_place.h"

#include <stddef.h>

enum { WORDS = 64, PARAM_WORDS = 8 };

const char *const space_name[] = {".global", ".shared", ".local", ".const", ".param", ""};

/* Each lane fills its words of local memory. */
#define IN_GLOBAL "u64 *c = (u64 *)s + i / 32 * 64; " PLACE_FILL(c, "v0", "v1")
#define IN_LOCAL                                                                                   \
  "__align__(16) u64 e[64]; _Pragma(\"unroll 1\") for (int k = 0; k < 64; k++) e[k] = (k < 32 ? "  \
  "v0 : v1) * (2 * k + 1); "
static const char *const before[] = {
    IN_GLOBAL PLACE_BASE("c"),
    PLACE_IN_SHARED PLACE_BASE("d"),
    IN_LOCAL PLACE_BASE("e"),
    PLACE_BASE("table"),
    PLACE_BASE("&t"),
    IN_GLOBAL PLACE_IN_SHARED IN_LOCAL
    "const unsigned space = v2 >> 33; const char *b = space == 0 ? (char *)c : space == 1 ? (char "
    "*)d : space == 2 ? (char *)e : space == 3 ? (char *)table : (char *)&t - (v2 & 0x1c0);",
};
static const char *const address[] = {
    "\"l\"(b + (int)v2)" PLACE_ACTIVE,
    PLACE_SHARED,
    "\"r\"((int)__cvta_generic_to_local(b) + (int)v2)" PLACE_ACTIVE,
    "\"l\"(__cvta_generic_to_constant(b) + (int)v2)" PLACE_ACTIVE,
    "\"l\"(__cvta_generic_to_grid_constant(b) + (int)v2)" PLACE_ACTIVE,
    "\"l\"(b + (int)v2)" PLACE_ACTIVE,
};

void place_form(struct form *f, enum space space, int element, int bias) {
  f->before = before[space];
  f->further = address[space];
  f->place.element = element;
  f->place.bytes = 8 * (space == PARAM ? PARAM_WORDS : WORDS);
  f->place.bias = bias;
  f->p[0] = space;
}

void place_wide(struct form *f) {
  f->further = f->p[0] == SHARED ? "\"l\"(__cvta_generic_to_shared(b) + (int)v2)" PLACE_ACTIVE
                                 : "\"l\"(__cvta_generic_to_local(b) + (int)v2)" PLACE_ACTIVE;
}

#define SCALED(shift)                                                                              \
  "\"r\"((int)__cvta_generic_to_shared(m) + (((int)v2 >> " #shift                                  \
  ") + (int)(threadIdx.x / 32 * 512 >> " #shift ")) * (1 << " #shift                               \
  ") + (int)(t.word[3] & 0x70))" PLACE_ACTIVE

void place_scaled(struct form *f) {
  f->further = f->place.element == 4 ? SCALED(2) : f->place.element == 8 ? SCALED(3) : SCALED(4);
  f->place.added = (int)(form_constant(3) & 0x70);
}

int place_next_bias(void) {
  static const int biases[] = {0, -16, 48, 0x800000, -0x7ffff0, 4096};
  static unsigned turn;
  return biases[turn++ % (sizeof biases / sizeof *biases)];
}

const char *place_next_guard(void) {
  static unsigned turn;
  return turn++ % 3 ? "@q" : "@!q bra out;";
}

enum space place_space_of(const struct form *f, uint64_t place) {
  return f->p[0] == GENERIC ? (enum space)place_space(place) : (enum space)f->p[0];
}

uint64_t place_word(const uint64_t (*in)[32], enum space space, int lane, int k) {
  switch (space) {
  case LOCAL:
    return in[k / LANES][lane] * (uint64_t)(2 * k + 1);
  case CONST:
    return form_constant((unsigned)k);
  case PARAM:
    return form_constant((unsigned)k % PARAM_WORDS);
  default:
    return in[k / LANES][k % LANES];
  }
}
