/* Loads and stores of all sizes in all address spaces, with all qualifiers, by some or all lanes of
 * a warp, at addresses in many patterns (forms_place.h). */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/sass/forms.h"
#include "tests/sass/forms_place.h"

#define MIX      0x9e3779b97f4a7c15ull
#define MIX_TEXT "0x9e3779b97f4a7c15"

static const char read_back[] =
    "__syncwarp(); r = ((const volatile u64 *)b)[2 * (i % 32) + (v0 & 1)];";

static const struct shape {
  const char *name;
  int bytes, count;
  bool is_signed;
} shapes[] = {{".u8", 1, 1, false},     {".s8", 1, 1, true},      {".u16", 2, 1, false},
              {".s16", 2, 1, true},     {".b32", 4, 1, false},    {".b64", 8, 1, false},
              {".v2.u8", 1, 2, false},  {".v4.s8", 1, 4, true},   {".v2.s16", 2, 2, true},
              {".v4.u16", 2, 4, false}, {".v2.b32", 4, 2, false}, {".v4.b32", 4, 4, false},
              {".v2.b64", 8, 2, false}, {".b128", 8, 2, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SCALARS = 6 };

static const char *const elements[] = {NULL, "e0", "{e0, e1}", NULL, "{e0, e1, e2, e3}"};

/* p[1]: bytes of an element, p[2]: number of elements, p[3]: signed */
static int offset_of(const struct form *f, uint64_t place) {
  return place_offset(place) - f->place.bias + f->place.added;
}

static void e_load(const struct form *f, const uint64_t (*in)[32], uint64_t *out) {
  for (int lane = 0; lane < LANES; lane++) {
    const uint64_t place = in[2][lane];
    const int bits = 8 * f->p[1], unused = 64 - bits;
    out[lane] = 0;
    for (int k = 0; k < f->p[2]; k++) {
      const int at = offset_of(f, place) + k * f->p[1];
      const uint64_t high = place_word(in, place_space_of(f, place), lane, at / 8) >> (8 * (at % 8))
                                                                                          << unused;
      out[lane] =
          out[lane] * MIX + (f->p[3] ? (uint64_t)((int64_t)high >> unused) : high >> unused);
    }
    if (!place_active(place))
      out[lane] = in[0][lane];
  }
}

/* Returns the value that a lane stores to an element after its address. */
static uint64_t stored(const uint64_t (*in)[32], int lane, int element) {
  return in[1][lane] * (uint64_t)(2 * element + 3);
}

/* p[4]: for cp.async, the number of bytes to copy: all, the low bits of operand 1, or all or none
 * according to bit 0 of operand 1 */
enum { NO_COPY, COPY_ALL, COPY_SOME, COPY_IGNORE };
static uint64_t copied(const struct form *f, const uint64_t (*in)[32], int lane, int at, int byte) {
  const int all = f->place.element;
  const int n = f->p[4] == COPY_SOME     ? (int)(in[1][lane] % (unsigned)(all + 1))
                : f->p[4] == COPY_IGNORE ? (in[1][lane] & 1 ? 0 : all)
                                         : all;
  return byte < n ? ~place_word(in, GLOBAL, lane, at / 8) >> (8 * (at % 8)) : 0;
}

/* Returns the lanes whose stored value is wrong. If several lanes write to one place, each of their
 * values is right. */
static uint32_t wrong_store(const struct form *f, const uint64_t (*in)[32], const uint64_t *got) {
  uint32_t wrong = 0;
  const int size = f->place.element, step = f->p[1];
  for (int lane = 0; lane < LANES; lane++) {
    const enum space space = place_space_of(f, in[2][lane]);
    const int index = 2 * lane + (int)(in[0][lane] & 1);
    for (int at = 8 * index; at < 8 * index + 8; at += step) {
      const int shift = 8 * (at % 8);
      const uint64_t value = place_bytes(got[lane] >> shift, step);
      bool written = false, right = false;
      for (int other = 0; other < LANES; other++) {
        const int from = at - offset_of(f, in[2][other]);
        if (!place_active(in[2][other]) || place_space_of(f, in[2][other]) != space || from < 0 ||
            from >= size || (space == LOCAL && other != lane))
          continue;
        written = true;
        const uint64_t now =
            f->p[4] ? copied(f, in, other, at, from) : stored(in, other, from / step);
        right = right || value == place_bytes(now, step);
      }
      if (!written)
        right = value == place_bytes(place_word(in, space, lane, index) >> shift, step);
      wrong |= (uint32_t)!right << lane;
    }
  }
  return wrong;
}

static struct form *shaped(struct form *f, const struct shape *shape, enum space space, int bias) {
  f->p[1] = shape->bytes, f->p[2] = shape->count, f->p[3] = shape->is_signed;
  place_form(f, space, shape->bytes * shape->count, bias);
  return f;
}

/* Adds a load with qualifiers before and after the space. first: instructions before it. */
static struct form *load(const char *first, const char *name, const char *before, enum space space,
                         const char *after, const struct shape *shape) {
  char unpack[320];
  int n = 0;
  const bool whole = !strcmp(shape->name, ".b128");
  const int bias = space == GENERIC ? 0 : place_next_bias();
  if (whole)
    n = snprintf(unpack, sizeof unpack, "mov.b128 {e0, e1}, w;");
  for (int k = 0; k < shape->count; k++)
    n += snprintf(unpack + n, sizeof unpack - (size_t)n,
                  shape->bytes == 8  ? "mad.lo.u64 r, r, " MIX_TEXT ", e%d;"
                  : shape->is_signed ? "cvt.s64.s32 x, e%d; mad.lo.u64 r, r, " MIX_TEXT ", x;"
                                     : "cvt.u64.u32 x, e%d; mad.lo.u64 r, r, " MIX_TEXT ", x;",
                  k);
  struct form *f =
      form_add("lla", 'l',
               ".reg .pred q; .reg .b64 x, r; .reg .b%d e0, e1, e2, e3;%s setp.ne.s32 q, %%5, 0; "
               "%s %s %s%s%s%s%s %s, [%%4+%d]; out: mov.b64 r, 0; %s selp.b64 %%0, r, %%1, q;",
               shape->bytes == 8 ? 64 : 32, whole ? ".reg .b128 w;" : "", first, place_next_guard(),
               name, before, space_name[space], after, shape->name,
               whole ? "w" : elements[shape->count], -bias, unpack);
  f->expect_warp = e_load;
  shaped(f, shape, space, bias);
  if (space == GENERIC)
    f->place.spaces = SPACES;
  return f;
}

static struct form *store(const char *before, enum space space, const char *after,
                          const struct shape *shape) {
  char pack[320];
  int n = 0;
  const bool whole = !strcmp(shape->name, ".b128");
  const int bias = place_next_bias();
  for (int k = 0; k < shape->count; k++)
    n += snprintf(pack + n, sizeof pack - (size_t)n,
                  shape->bytes == 8 ? "mul.lo.u64 e%1$d, %%2, %2$d;"
                                    : "mul.lo.u64 x, %%2, %2$d; cvt.u32.u64 e%1$d, x;",
                  k, 2 * k + 3);
  struct form *f = form_add(
      "lla", 'l',
      ".reg .pred q; .reg .b64 x; .reg .b%d e0, e1, e2, e3;%s setp.ne.s32 q, %%5, 0; %s %s %s "
      "st%s%s%s%s [%%4+%d], %s; out: mov.b64 %%0, 0;",
      shape->bytes == 8 ? 64 : 32, whole ? ".reg .b128 w;" : "", pack,
      whole ? "mov.b128 w, {e0, e1};" : "", place_next_guard(), before, space_name[space], after,
      shape->name, -bias, whole ? "w" : elements[shape->count]);
  f->wrong_lanes = wrong_store;
  f->after = read_back;
  shaped(f, shape, space, bias);
  if (space == GENERIC)
    f->place.spaces = CONST;
  return f;
}

struct qualifier {
  const char *before, *after;
  bool shared, scalar; /* also in shared memory, but not of vectors */
};

static void qualified(void) {
  static const struct qualifier loads[] = {{".weak", "", true, false},
                                           {".volatile", "", true, false},
                                           {".relaxed.cta", "", true, false},
                                           {".relaxed.gpu", "", true, false},
                                           {".relaxed.sys", "", true, false},
                                           {".acquire.cta", "", true, false},
                                           {".acquire.gpu", "", true, false},
                                           {".acquire.sys", "", true, false},
                                           {"", ".ca", true, false},
                                           {"", ".cg", false, false},
                                           {"", ".cs", true, false},
                                           {"", ".lu", true, false},
                                           {"", ".cv", false, false},
                                           {"", ".L1::evict_last", false, false},
                                           {"", ".L1::no_allocate", false, false},
                                           {"", ".L2::128B", false, false},
                                           {"", ".L2::64B", false, false},
                                           {".mmio.relaxed.sys", "", false, true}};
  static const struct qualifier stores[] = {{".weak", "", true, false},
                                            {".volatile", "", true, false},
                                            {".relaxed.cta", "", true, false},
                                            {".relaxed.gpu", "", true, false},
                                            {".relaxed.sys", "", true, false},
                                            {".release.cta", "", true, false},
                                            {".release.gpu", "", true, false},
                                            {".release.sys", "", true, false},
                                            {"", ".wb", true, false},
                                            {"", ".cg", false, false},
                                            {"", ".cs", true, false},
                                            {"", ".wt", false, false},
                                            {"", ".L1::evict_first", false, false},
                                            {".mmio.relaxed.sys", "", false, true}};
  static const enum space spaces[] = {GLOBAL, GENERIC, SHARED};
  unsigned turn = 0;
  for (unsigned s = 0; s < 3; s++) {
    const unsigned times = spaces[s] == GLOBAL ? 2 : 1; /* each with a different shape */
    for (unsigned k = 0; k < sizeof loads / sizeof *loads; k++)
      for (unsigned j = 0; j < times && (spaces[s] != SHARED || loads[k].shared); j++)
        load("", "ld", loads[k].before, spaces[s], loads[k].after,
             &shapes[(turn += 3) % (loads[k].scalar ? SCALARS : SHAPES)]);
    for (unsigned k = 0; k < sizeof stores / sizeof *stores; k++)
      for (unsigned j = 0; j < times && (spaces[s] != SHARED || stores[k].shared); j++)
        store(stores[k].before, spaces[s], stores[k].after,
              &shapes[(turn += 3) % (stores[k].scalar ? SCALARS : SHAPES)]);
  }
  static const char *const read_only[] = {".nc",    ".nc.L1::no_allocate", ".ca.nc", ".cg.nc",
                                          ".cs.nc", ".nc.L2::256B"};
  for (unsigned k = 0; k < sizeof read_only / sizeof *read_only; k++)
    for (unsigned j = 0; j < 2; j++)
      load("", "ld", "", GLOBAL, read_only[k], &shapes[(turn += 3) % SHAPES]);
  load("", "ldu", "", GLOBAL, "", &shapes[4]);
}

/* Copies from global memory, which holds the complement, to shared memory. */
static void copies(void) {
  static const struct {
    const char *name, *size;
    int bytes, kind;
  } rows[] = {{".ca", "4", 4, COPY_ALL},        {".ca", "8", 8, COPY_ALL},
              {".ca", "16", 16, COPY_ALL},      {".cg", "16", 16, COPY_ALL},
              {".ca", "4, n", 4, COPY_SOME},    {".ca", "8, n", 8, COPY_SOME},
              {".ca", "16, n", 16, COPY_SOME},  {".cg", "16, n", 16, COPY_SOME},
              {".ca", "4, z", 4, COPY_IGNORE},  {".ca", "8, z", 8, COPY_IGNORE},
              {".cg", "16, z", 16, COPY_IGNORE}};
  static const char *const waits[] = {"cp.async.wait_all;", "cp.async.commit_group; "
                                                            "cp.async.wait_group 0;"};
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    const int bias = place_next_bias();
    struct form *f = form_add(
        "lla", 'l',
        ".reg .pred q, z; .reg .b64 x; .reg .b32 n; setp.ne.s32 q, %%5, 0; rem.u64 x, %%2, %d; "
        "cvt.u32.u64 n, x; and.b64 x, %%2, 1; setp.ne.u64 z, x, 0; %s cp.async%s.shared.global%s "
        "[%%4+%d], [%%6+%d], %s; out: %s mov.b64 %%0, 0;",
        rows[k].bytes + 1, place_next_guard(), rows[k].name, k & 1 ? ".L2::128B" : "", -bias, -bias,
        rows[k].size, waits[k & 1]);
    f->wrong_lanes = wrong_store;
    place_form(f, SHARED, rows[k].bytes, bias);
    f->before = PLACE_IN_SHARED PLACE_BASE("d") "u64 *c = (u64 *)s + i / 32 * 64;" PLACE_FILL(
        c, "~v0", "~v1");
    f->further = PLACE_SHARED ", \"l\"((char *)c + (int)v2)";
    f->after = read_back;
    f->p[1] = 1, f->p[4] = rows[k].kind;
  }
}

static void e_isspacep(const struct form *f, const uint64_t (*in)[32], uint64_t *out) {
  for (int lane = 0; lane < LANES; lane++) {
    const enum space space = (enum space)place_space(in[2][lane]);
    /* Addresses of parameters are also global addresses. */
    out[lane] = space == (enum space)f->p[1] || (space == PARAM && f->p[1] == GLOBAL);
  }
}

void forms_memory(void) {
  for (unsigned k = 0; k < SHAPES; k++) {
    for (int s = 0; s <= GENERIC; s++)
      load("", "ld", "", (enum space)s, "", &shapes[k]);
    for (int s = 0; s <= LOCAL; s++)
      store("", (enum space)s, "", &shapes[k]);
    store("", GENERIC, "", &shapes[k]);
  }
  for (int s = SHARED; s <= LOCAL; s++) {
    place_wide(load("", "ld", "", (enum space)s, "", &shapes[4]));
    place_wide(store("", (enum space)s, "", &shapes[11]));
  }
  static const unsigned scaled[] = {4, 5, 11, 12, 13}; /* of 4, 8 and 16 bytes */
  for (unsigned k = 0; k < sizeof scaled / sizeof *scaled; k++) {
    place_scaled(load("", "ld", "", SHARED, "", &shapes[scaled[k]]));
    place_scaled(store("", SHARED, "", &shapes[scaled[k]]));
  }
  qualified();
  copies();
  static const char *const hints[] = {"prefetch.global.L1 [%4];",
                                      "prefetch.global.L2 [%4];",
                                      "prefetch.L1 [%4];",
                                      "prefetchu.L1 [%4];",
                                      "prefetch.global.L2::evict_last [%4];",
                                      "membar.cta;",
                                      "membar.gl;",
                                      "membar.sys;",
                                      "fence.sc.cta;",
                                      "fence.acq_rel.gpu;"};
  for (unsigned k = 0; k < sizeof hints / sizeof *hints; k++)
    load(hints[k], "ld", "", GLOBAL, "", &shapes[k]);
  for (int s = GLOBAL; s < SPACES; s++) {
    struct form *f = form_add("lla", 'i', ".reg .pred q; isspacep%s q, %%4; selp.b32 %%0, 1, 0, q;",
                              space_name[s]);
    place_form(f, GENERIC, 8, 0);
    f->place.spaces = SPACES;
    f->p[1] = s;
    f->expect_warp = e_isspacep;
  }
}
