/* Tests texture instructions, with the handle in each of its three forms (a constant, a uniform
 * register, a register). Operands and results are compared with direct calls of the texture units,
 * which emulator-texture tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulator/texture/texture.h"
#include "gpu/hw/texture.h"
#include "gpu/isa/insn.h"
#include "tests/sm/harness.h"

enum { LANES = 64, TEXTURE_DATA = 1 << 16, SOURCE_BYTES = 1 << 16, VARIANTS = 2 };

/* --- textures -------------------------------------------------------------- */

enum shape { FLAT, ARRAY, VOLUME, LINES, BUFFER, SHAPES };
static const struct {
  uint8_t version, type, components, data;
  uint32_t width, height, depth;
} shapes[SHAPES] = {
    [FLAT] = {2, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP, TIC_COMPONENTS_A8B8G8R8, 2, 13, 9, 1},
    [ARRAY] = {3, TIC_TEXTURE_TYPE_TWO_D_ARRAY, TIC_COMPONENTS_R16_G16_B16_A16, 2, 13, 9, 4},
    [VOLUME] = {3, TIC_TEXTURE_TYPE_THREE_D, TIC_COMPONENTS_A8B8G8R8, 1, 13, 9, 6},
    [LINES] = {3, TIC_TEXTURE_TYPE_ONE_D_ARRAY, TIC_COMPONENTS_A8B8G8R8, 2, 13, 1, 5},
    [BUFFER] = {0, TIC_TEXTURE_TYPE_ONE_D_BUFFER, TIC_COMPONENTS_R32_G32_B32_A32, 4, 300, 1, 1},
};

/* Makes the texture header of a shape. The second variant exchanges two components. */
static void make_header(uint32_t *h, enum shape shape, unsigned variant, uint64_t address) {
  memset(h, 0, TEXTURE_BYTES);
  hw_set(h, TIC_COMPONENTS, shapes[shape].components);
  hw_set(h, TIC_R_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_G_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_B_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_A_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_X_SOURCE, TIC_X_SOURCE_IN_R + (variant ? 3 : 0));
  hw_set(h, TIC_Y_SOURCE, TIC_X_SOURCE_IN_G);
  hw_set(h, TIC_Z_SOURCE, TIC_X_SOURCE_IN_B);
  hw_set(h, TIC_W_SOURCE, TIC_X_SOURCE_IN_A - (variant ? 3 : 0));
  hw_set(h, TIC_HEADER_VERSION, shapes[shape].version);
  hw_set(h, TIC_TEXTURE_TYPE, shapes[shape].type);
  hw_set(h, TIC_ADDRESS_BITS48TO32, (uint32_t)(address >> 32));
  if (shape == BUFFER) {
    hw_set(h, TIC_ADDRESS_BITS31TO0, (uint32_t)address);
    hw_set(h, TIC_WIDTH_MINUS_ONE_BITS15TO0, shapes[shape].width - 1);
    return;
  }
  hw_set(h, TIC_WIDTH_MINUS_ONE, shapes[shape].width - 1);
  hw_set(h, TIC_HEIGHT_MINUS_ONE, shapes[shape].height - 1);
  hw_set(h, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(h, TIC_NORMALIZED_COORDS, 1);
  if (shape == FLAT) {
    hw_set(h, TIC_ADDRESS_BITS31TO5, (uint32_t)address >> 5);
    hw_set(h, TIC_PITCH_BITS20TO5, 2);
    return;
  }
  hw_set(h, TIC_ADDRESS_BITS31TO9, (uint32_t)address >> 9);
  hw_set(h, TIC_DEPTH_MINUS_ONE, shapes[shape].depth - 1);
}

static void make_sampler(uint32_t *s, unsigned variant) {
  memset(s, 0, TEXTURE_BYTES);
  hw_set(s, TSC_ADDRESS_U, variant ? TSC_ADDRESS_U_CLAMP_TO_EDGE : TSC_ADDRESS_U_MIRROR);
  hw_set(s, TSC_ADDRESS_V, TSC_ADDRESS_U_BORDER);
  hw_set(s, TSC_ADDRESS_P, TSC_ADDRESS_U_WRAP);
  hw_set(s, TSC_MAG_FILTER, TSC_MAG_FILTER_MAG_LINEAR);
  hw_set(s, TSC_MIN_FILTER, TSC_MIN_FILTER_MIN_POINT);
  hw_set(s, TSC_FLOAT_COORD_NORMALIZATION, 1);
  hw_set(s, TSC_BORDER_COLOR_G, 0x3f000000 + variant);
}

/* --- instructions ---------------------------------------------------------- */

enum action { SAMPLE, FETCH, GATHER, QUERY };
enum level { NO_LEVEL, LEVEL_ZERO, LEVEL, GRADIENT /* l in each direction */ };
/* In text, H is the handle; f and n are coordinates as floats and as integers, of which [0] is the
 * layer of an array; l is a level and q an integer level. */
static const struct row {
  const char *name, *text;
  enum shape shape;
  enum action action;
  unsigned coordinates;
  bool layer;
  enum level level;
  int offset[3];
  unsigned component, mask; /* mask of the results in r0 to r3 */
} rows[] = {
    {"tex_2d",
     "tex.2d.v4.f32.f32 {R}, [H, {f1,f2}];",
     FLAT,
     SAMPLE,
     2,
     false,
     NO_LEVEL,
     {0},
     0,
     15},
    {"tex_2d_zero",
     "tex.level.2d.v4.f32.f32 {R}, [H, {f1,f2}], 0f00000000;",
     FLAT,
     SAMPLE,
     2,
     false,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tex_2d_level",
     "tex.level.2d.v4.f32.f32 {R}, [H, {f1,f2}], l;",
     FLAT,
     SAMPLE,
     2,
     false,
     LEVEL,
     {0},
     0,
     15},
    {"tex_2d_yw",
     "tex.level.2d.v4.f32.f32 {_,r1,_,r3}, [H, {f1,f2}], 0f00000000;",
     FLAT,
     SAMPLE,
     2,
     false,
     LEVEL_ZERO,
     {0},
     0,
     10},
    {"tex_2d_xyw",
     "tex.level.2d.v4.f32.f32 {r0,r1,_,r3}, [H, {f1,f2}], l;",
     FLAT,
     SAMPLE,
     2,
     false,
     LEVEL,
     {0},
     0,
     11},
    {"tex_2d_z",
     "tex.level.2d.v4.f32.f32 {_,_,r2,_}, [H, {f1,f2}], l;",
     FLAT,
     SAMPLE,
     2,
     false,
     LEVEL,
     {0},
     0,
     4},
    {"tex_2d_offset",
     "tex.level.2d.v4.f32.f32 {R}, [H, {f1,f2}], l, {3,-2};",
     FLAT,
     SAMPLE,
     2,
     false,
     LEVEL,
     {3, -2},
     0,
     15},
    {"tex_3d",
     "tex.3d.v4.f32.f32 {R}, [H, {f1,f2,f3,f3}];",
     VOLUME,
     SAMPLE,
     3,
     false,
     NO_LEVEL,
     {0},
     0,
     15},
    {"tex_3d_zero",
     "tex.level.3d.v4.f32.f32 {R}, [H, {f1,f2,f3,f3}], 0f00000000;",
     VOLUME,
     SAMPLE,
     3,
     false,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tex_3d_offset",
     "tex.level.3d.v4.f32.f32 {R}, [H, {f1,f2,f3,f3}], l, {-8,7,1,0};",
     VOLUME,
     SAMPLE,
     3,
     false,
     LEVEL,
     {-8, 7, 1},
     0,
     15},
    {"tex_a2d",
     "tex.a2d.v4.f32.f32 {R}, [H, {n0,f1,f2,f2}];",
     ARRAY,
     SAMPLE,
     2,
     true,
     NO_LEVEL,
     {0},
     0,
     15},
    {"tex_a2d_zero",
     "tex.level.a2d.v4.f32.f32 {R}, [H, {n0,f1,f2,f2}], 0f00000000;",
     ARRAY,
     SAMPLE,
     2,
     true,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tex_a2d_offset",
     "tex.level.a2d.v4.f32.f32 {R}, [H, {n0,f1,f2,f2}], l, {1,2};",
     ARRAY,
     SAMPLE,
     2,
     true,
     LEVEL,
     {1, 2},
     0,
     15},
    {"tex_a1d",
     "tex.level.a1d.v4.f32.f32 {R}, [H, {n0,f1}], l;",
     LINES,
     SAMPLE,
     1,
     true,
     LEVEL,
     {0},
     0,
     15},
    {"txd_2d",
     "tex.grad.2d.v4.f32.f32 {R}, [H, {f1,f2}], { l, l}, { l, l};",
     FLAT,
     SAMPLE,
     2,
     false,
     GRADIENT,
     {0},
     0,
     15},
    {"txd_2d_offset",
     "tex.grad.2d.v4.f32.f32 {R}, [H, {f1,f2}], { l, l}, { l, l}, {3,-2};",
     FLAT,
     SAMPLE,
     2,
     false,
     GRADIENT,
     {3, -2},
     0,
     15},
    {"txd_a2d",
     "tex.grad.a2d.v4.f32.f32 {R}, [H, {n0,f1,f2,f2}], { l, l}, { l, l};",
     ARRAY,
     SAMPLE,
     2,
     true,
     GRADIENT,
     {0},
     0,
     15},
    {"txd_a2d_offset",
     "tex.grad.a2d.v4.f32.f32 {R}, [H, {n0,f1,f2,f2}], { l, l}, { l, l}, {-8,7};",
     ARRAY,
     SAMPLE,
     2,
     true,
     GRADIENT,
     {-8, 7},
     0,
     15},
    {"txd_a1d",
     "tex.grad.a1d.v4.f32.f32 {R}, [H, {n0,f1}], { l}, { l};",
     LINES,
     SAMPLE,
     1,
     true,
     GRADIENT,
     {0},
     0,
     15},
    {"tld_2d",
     "tex.2d.v4.u32.s32 {R}, [H, {n1,n2}];",
     FLAT,
     FETCH,
     2,
     false,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tld_2d_level",
     "tex.level.2d.v4.u32.s32 {R}, [H, {n1,n2}], q;",
     FLAT,
     FETCH,
     2,
     false,
     LEVEL,
     {0},
     0,
     15},
    {"tld_2d_offset",
     "tex.2d.v4.u32.s32 {R}, [H, {n1,n2}], {-1,1};",
     FLAT,
     FETCH,
     2,
     false,
     LEVEL_ZERO,
     {-1, 1},
     0,
     15},
    {"tld_3d",
     "tex.3d.v4.u32.s32 {R}, [H, {n1,n2,n3,n3}];",
     VOLUME,
     FETCH,
     3,
     false,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tld_a2d",
     "tex.a2d.v4.u32.s32 {R}, [H, {n0,n1,n2,n2}];",
     ARRAY,
     FETCH,
     2,
     true,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tld_a1d",
     "tex.a1d.v4.u32.s32 {R}, [H, {n0,n1}];",
     LINES,
     FETCH,
     1,
     true,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tld_1d",
     "tex.1d.v4.u32.s32 {R}, [H, {n1}];",
     BUFFER,
     FETCH,
     1,
     false,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tld4_r",
     "tld4.r.2d.v4.f32.f32 {R}, [H, {f1,f2}];",
     FLAT,
     GATHER,
     2,
     false,
     LEVEL_ZERO,
     {0},
     0,
     15},
    {"tld4_a",
     "tld4.a.2d.v4.f32.f32 {R}, [H, {f1,f2}];",
     FLAT,
     GATHER,
     2,
     false,
     LEVEL_ZERO,
     {0},
     3,
     15},
    {"tld4_a2d",
     "tld4.g.a2d.v4.f32.f32 {R}, [H, {n0,f1,f2,f2}];",
     ARRAY,
     GATHER,
     2,
     true,
     LEVEL_ZERO,
     {0},
     1,
     15},
    {"txq_width", "txq.width.b32 r0, [H];", FLAT, QUERY, 0, false, LEVEL_ZERO, {0}, 0, 1},
    {"txq_height", "txq.height.b32 r1, [H];", FLAT, QUERY, 0, false, LEVEL_ZERO, {0}, 0, 2},
    {"txq_depth", "txq.depth.b32 r2, [H];", VOLUME, QUERY, 0, false, LEVEL_ZERO, {0}, 0, 4},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Expressions for the handle. ptxas emits a different form for each. */
static const struct form {
  const char *name, *handle;
} forms[] = {{"constant", "t"}, {"uniform", "t + blockIdx.x"}, {"general", "t + threadIdx.x % 2"}};
enum { FORMS = sizeof forms / sizeof *forms };

/* Input of one lane. */
struct input {
  uint32_t layer;
  float at[3];
  int32_t texel[3];
  float level;
  uint32_t integer_level;
};

static void append(char *out, const char *text) {
  strncat(out, text, SOURCE_BYTES - strlen(out) - 1);
}

/* Appends PTX, and replaces R, H, r, f, n, l and q by operands. */
static void append_instruction(char *out, const char *text) {
  for (const char *c = text; *c; c++) {
    char piece[40] = {*c, 0};
    if (*c == 'R' && c[1] == '}')
      snprintf(piece, sizeof piece, "%%0,%%1,%%2,%%3");
    else if (*c == 'H')
      snprintf(piece, sizeof piece, "%%4");
    else if ((*c == 'r' || *c == 'f' || *c == 'n') && c[1] >= '0' && c[1] <= '3' &&
             (c == text || strchr(" ,{", c[-1])))
      snprintf(piece, sizeof piece, "%%%d",
               *c == 'r'   ? *++c - '0'
               : *c == 'n' ? 8 + *++c - '0'
                           : 4 + *++c - '0');
    else if ((*c == 'l' || *c == 'q') && strchr(";,}", c[1]) && c[-1] == ' ')
      snprintf(piece, sizeof piece, "%%%d", *c == 'l' ? 12 : 13);
    append(out, piece);
  }
}

static char *make_source(void) {
  char *source = calloc(1, SOURCE_BYTES);
  assert_non_null(source);
  append(source,
         "struct input { unsigned layer; float at[3]; int texel[3]; float level; unsigned q; "
         "};\ntypedef unsigned long long u64;\n");
  for (unsigned f = 0; f < FORMS; f++)
    for (unsigned k = 0; k < ROWS; k++) {
      char line[400];
      snprintf(
          line, sizeof line,
          "extern \"C\" __global__ void %s_%s(u64 t, const input *in, uint4 *out) {\n"
          "  input i = in[threadIdx.x]; u64 h = %s; uint4 r = make_uint4(7, 7, 7, 7);\n  asm(\"",
          rows[k].name, forms[f].name, forms[f].handle);
      append(source, line);
      append_instruction(source, rows[k].text);
      append(source,
             "\" : \"+r\"(r.x), \"+r\"(r.y), \"+r\"(r.z), \"+r\"(r.w) : \"l\"(h), \"f\"(i.at[0]), "
             "\"f\"(i.at[1]), \"f\"(i.at[2]), \"r\"(i.layer), \"r\"(i.texel[0]), "
             "\"r\"(i.texel[1]), \"r\"(i.texel[2]), \"f\"(i.level), \"r\"(i.q));\n"
             "  out[threadIdx.x] = r;\n}\n");
    }
  return source;
}

/* --- running and comparing ------------------------------------------------- */

static struct module *module;
static uint64_t headers, samplers, data, inputs, outputs;

static bool read_module(void *space, uint64_t address, void *to, size_t bytes) {
  (void)space;
  memcpy(to, module_host(module, address), bytes);
  return true;
}

/* Moves coordinates to the nearest texel, and the layer to the nearest one. */
static void clamp_texel(const struct emu_texture *t, int32_t texel[3], uint32_t *layer) {
  const int32_t last[] = {(int32_t)t->width - 1, (int32_t)t->height - 1, (int32_t)t->depth - 1};
  for (unsigned k = 0; k < 3; k++)
    texel[k] = texel[k] < 0 ? 0 : texel[k] > last[k] ? last[k] : texel[k];
  if (*layer >= t->layers)
    *layer = t->layers - 1;
}

static void expect(const struct row *row, const struct input *in, unsigned header, unsigned sampler,
                   uint32_t result[4]) {
  const struct emu_texture_memory memory = {read_module, NULL};
  struct emu_texture texture;
  struct emu_sampler decoded;
  char wrong[EMU_TEXTURE_MESSAGE];
  const uint32_t *h = module_host(module, headers + header * TEXTURE_BYTES);
  const uint32_t *s = module_host(module, samplers + sampler * TEXTURE_BYTES);
  if (!emu_texture_decode(h, &texture, wrong) || !emu_sampler_decode(s, &decoded, wrong))
    fail_msg("%s", wrong);
  struct emu_texture_place place = {.layer = row->layer ? in->layer : 0,
                                    .minified = row->level == LEVEL && in->level > 0};
  if (row->level == GRADIENT) /* longer than a texel: the square root of 2 */
    place.minified = in->level != 0 && row->coordinates > 1;
  int32_t texel[3];
  for (unsigned k = 0; k < 3; k++) {
    place.at[k] = in->at[k];
    place.offset[k] = row->offset[k];
    texel[k] = in->texel[k] + row->offset[k];
  }
  switch (row->action) {
  case SAMPLE:
    emu_texture_sample(&texture, &decoded, &place, &memory, result);
    break;
  case FETCH:
    if (strstr(row->text, "tex.level")) /* TLD.CL */
      clamp_texel(&texture, texel, &place.layer);
    if (row->level == LEVEL && in->integer_level)
      texel[0] = -1;
    emu_texture_fetch(&texture, texel, place.layer, &memory, result);
    break;
  case GATHER:
    emu_texture_gather(&texture, &decoded, &place, row->component, &memory, result);
    break;
  default:
    emu_texture_query(&texture, 0, result);
  }
}

/* Returns the form of the handle in the texture instruction of a kernel, as an index of forms[]. */
static unsigned form_of(const char *kernel) {
  size_t count;
  uint64_t(*code)[2] = module_code(module, kernel, &count);
  for (size_t k = 0; k < count; k++) {
    struct sm_insn insn;
    if (!sm_decode(code[k], &insn))
      continue;
    switch (insn.op) {
    case SM_OP_TEX_B:
    case SM_OP_TLD_B:
    case SM_OP_TLD4_B:
    case SM_OP_TXD_B:
    case SM_OP_TXQ_B:
      return 2;
    case SM_OP_TEX:
    case SM_OP_TLD:
    case SM_OP_TLD4:
    case SM_OP_TXD:
    case SM_OP_TXQ:
      for (unsigned o = 0; o < insn.operand_count; o++)
        if (insn.operand[o].kind == SM_OPERAND_UREG)
          return 1;
      return 0;
    default:
      break;
    }
  }
  fail_msg("%s: no texture instruction", kernel);
  return FORMS;
}

static bool run(const char *kernel, uint64_t handle, struct sm_fault *fault) {
  struct {
    uint64_t handle, inputs, outputs;
  } parameters = {handle, inputs, outputs};
  const struct launch l = {.grid = {1, 1, 1},
                           .block = {LANES, 1, 1},
                           .params = &parameters,
                           .param_bytes = sizeof parameters};
  return module_run(module, kernel, &l, fault, NULL) == SM_DONE;
}

static void instructions_match_texture_units(void **state) {
  (void)state;
  unsigned uniform = 0;
  for (unsigned f = 0; f < FORMS; f++)
    for (unsigned k = 0; k < ROWS; k++)
      for (unsigned sampler = 0; sampler < VARIANTS; sampler++) {
        const struct row *row = &rows[k];
        const unsigned header = row->shape * VARIANTS;
        char kernel[64];
        struct sm_fault fault = {0};
        const struct input *in = module_host(module, inputs);
        const uint32_t(*out)[4] = module_host(module, outputs);
        snprintf(kernel, sizeof kernel, "%s_%s", row->name, forms[f].name);
        const unsigned form = form_of(kernel);
        if (form != f && f != 1) /* compilers may keep uniform values in any register */
          fail_msg("%s has the handle in a form for \"%s\"", kernel, forms[form].name);
        uniform += form == 1;
        if (!run(kernel, header | (uint64_t)sampler << TEXTURE_HANDLE_HEADER_BITS, &fault))
          fail_msg("%s: %s", kernel, fault.message);
        for (unsigned i = 0; i < LANES; i++) {
          uint32_t expected[4];
          expect(row, &in[i], header + (f == 2 ? i % 2 : 0), sampler, expected);
          for (unsigned c = 0; c < 4; c++)
            if (out[i][c] != (row->mask >> c & 1 ? expected[c] : 7))
              fail_msg("%s, work-item %u: component %u is 0x%08x, expected 0x%08x", kernel, i, c,
                       out[i][c], row->mask >> c & 1 ? expected[c] : 7);
        }
      }
  print_message("%u of %d with a uniform handle\n", uniform, ROWS * VARIANTS);
}

static void bad_handles_and_headers_fault(void **state) {
  (void)state;
  const uint64_t last = SHAPES * VARIANTS - 1;
  const struct {
    const char *kernel, *words;
    uint64_t handle;
    enum sm_fault_kind kind;
  } wrong[] = {
      {"tex_2d_constant", "texture header 10: the last index of the pool is 9", last + 1,
       SM_FAULT_TEXTURE},
      {"tex_2d_constant", "sampler 2: the last index of the pool is 1",
       2u << TEXTURE_HANDLE_HEADER_BITS, SM_FAULT_TEXTURE},
      {"tex_2d_constant", "TEXTURE_TYPE is 2", VOLUME * VARIANTS, SM_FAULT_TEXTURE},
      {"tex_3d_constant", "TEXTURE_TYPE is 7", FLAT, SM_FAULT_TEXTURE},
      {"tex_2d_constant", "TEXTURE_TYPE is 5", ARRAY * VARIANTS, SM_FAULT_TEXTURE},
      {"tex_2d_constant", "which cannot be sampled", BUFFER * VARIANTS, SM_FAULT_TEXTURE},
  };
  for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    struct sm_fault fault = {0};
    assert_false(run(wrong[k].kernel, wrong[k].handle, &fault));
    assert_int_equal(fault.kind, wrong[k].kind);
    if (!strstr(fault.message, wrong[k].words))
      fail_msg("row %u: \"%s\" has no \"%s\"", k, fault.message, wrong[k].words);
  }
  uint32_t *header = module_host(module, headers);
  struct sm_fault fault = {0};
  hw_set(header, TIC_ADDRESS_BITS48TO32, 0x7f);
  assert_false(run("tld_2d_constant", 0, &fault));
  assert_int_equal(fault.kind, SM_FAULT_MMU);
  make_header(header, FLAT, 0, data);
  module_textures(module, (struct sm_pool){0}, (struct sm_pool){samplers, 1});
  assert_false(run("tld_2d_constant", 0, &fault));
  assert_non_null(strstr(fault.message, "no pool is bound to the channel"));
}

static uint32_t random_word(void) {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16);
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  char *source = make_source();
  module = module_compile(source, NULL);
  free(source);
  if (!module)
    return 1;
  headers = module_alloc(module, SHAPES * VARIANTS * TEXTURE_BYTES);
  samplers = module_alloc(module, VARIANTS * TEXTURE_BYTES);
  data = (module_alloc(module, TEXTURE_DATA + 512) + 511) & ~UINT64_C(511);
  inputs = module_alloc(module, LANES * sizeof(struct input));
  outputs = module_alloc(module, LANES * 16);
  uint32_t *words = module_host(module, data);
  for (unsigned k = 0; k < TEXTURE_DATA / 4; k++)
    words[k] = random_word();
  for (unsigned k = 0; k < SHAPES * VARIANTS; k++)
    make_header(module_host(module, headers + k * TEXTURE_BYTES), (enum shape)(k / VARIANTS),
                k % VARIANTS, data);
  for (unsigned k = 0; k < VARIANTS; k++)
    make_sampler(module_host(module, samplers + k * TEXTURE_BYTES), k);
  struct input *in = module_host(module, inputs);
  for (unsigned i = 0; i < LANES; i++) {
    in[i] = (struct input){.layer = random_word() % 6,
                           .level = (float)(random_word() % 3) - 1,
                           .integer_level = random_word() % 4 == 0};
    for (unsigned k = 0; k < 3; k++) {
      in[i].at[k] = (float)(random_word() % 20000) / 1000 - 3;
      in[i].texel[k] = (int32_t)(random_word() % 15) - 1;
    }
  }
  module_textures(module, (struct sm_pool){headers, SHAPES * VARIANTS - 1},
                  (struct sm_pool){samplers, VARIANTS - 1});
  const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_match_texture_units),
                                     cmocka_unit_test(bad_handles_and_headers_fault)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  module_free(module);
  return failures;
}
