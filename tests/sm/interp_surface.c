/* Surface instructions, compiled from PTX with the handle in a constant, a uniform register and a
 * register, against a reference: loads, stores and reductions of bytes and of texels, inside and
 * outside of the surface; faults.
 */
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

enum { LANES = 32, SURFACE_BYTES = 1 << 14, SOURCE_BYTES = 1 << 18, ROUNDS = 4 };

enum shape { FLAT, LINE, PLAIN, VOLUME, LAYERS, LINES, FLOATS, SHAPES };
static const struct {
  uint8_t version, type, components, data;
  uint32_t width, height, depth;
} shapes[SHAPES] = {
    [FLAT] = {2, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP, TIC_COMPONENTS_A8B8G8R8,
              TIC_R_DATA_TYPE_NUM_UNORM, 16, 5, 1},
    [LINE] = {2, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP, TIC_COMPONENTS_R32, TIC_R_DATA_TYPE_NUM_SINT, 16,
              1, 1},
    [PLAIN] = {2, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP, TIC_COMPONENTS_R32, TIC_R_DATA_TYPE_NUM_UINT,
               12, 4, 1},
    [VOLUME] = {3, TIC_TEXTURE_TYPE_THREE_D, TIC_COMPONENTS_R32, TIC_R_DATA_TYPE_NUM_UINT, 12, 5,
                3},
    [LAYERS] = {3, TIC_TEXTURE_TYPE_TWO_D_ARRAY, TIC_COMPONENTS_R16_G16, TIC_R_DATA_TYPE_NUM_SNORM,
                12, 5, 3},
    [LINES] = {3, TIC_TEXTURE_TYPE_ONE_D_ARRAY, TIC_COMPONENTS_R32_G32_B32_A32,
               TIC_R_DATA_TYPE_NUM_FLOAT, 9, 1, 4},
    [FLOATS] = {2, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP, TIC_COMPONENTS_R16_G16_B16_A16,
                TIC_R_DATA_TYPE_NUM_FLOAT, 9, 5, 1},
};

static void make_header(uint32_t *h, enum shape shape, uint64_t address) {
  memset(h, 0, TEXTURE_BYTES);
  hw_set(h, TIC_COMPONENTS, shapes[shape].components);
  hw_set(h, TIC_R_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_G_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_B_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_A_DATA_TYPE, shapes[shape].data);
  hw_set(h, TIC_X_SOURCE, TIC_X_SOURCE_IN_R);
  hw_set(h, TIC_HEADER_VERSION, shapes[shape].version);
  hw_set(h, TIC_TEXTURE_TYPE, shapes[shape].type);
  hw_set(h, TIC_ADDRESS_BITS48TO32, (uint32_t)(address >> 32));
  hw_set(h, TIC_WIDTH_MINUS_ONE, shapes[shape].width - 1);
  hw_set(h, TIC_HEIGHT_MINUS_ONE, shapes[shape].height - 1);
  hw_set(h, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(h, TIC_NORMALIZED_COORDS, 1);
  if (shapes[shape].version == TIC_HEADER_VERSION_SELECT_PITCH) {
    hw_set(h, TIC_ADDRESS_BITS31TO5, (uint32_t)address >> 5);
    hw_set(h, TIC_PITCH_BITS20TO5, 3);
    return;
  }
  hw_set(h, TIC_ADDRESS_BITS31TO9, (uint32_t)address >> 9);
  hw_set(h, TIC_DEPTH_MINUS_ONE, shapes[shape].depth - 1);
}

/* --- instructions ---------------------------------------------------------- */

enum action { LOAD, STORE, STORE_TEXEL, REDUCE, REDUCE_TEXEL };
enum operation { ADD, MIN, MAX, AND, OR };
enum type { U32, S32, U64 };

/* text: H is the handle, X the coordinates, 1, 2 or 4 the data of so many registers, D the data as
 * 64 bits; Z: what happens outside. bytes: of the access. */
static const struct row {
  const char *name, *text;
  enum shape shape;
  enum action action;
  unsigned coordinates;
  bool layer;
  unsigned bytes, words;
  enum operation operation;
  enum type type;
} rows[] = {
    /* clang-format off */
    {"ld8", "suld.b.2d.b8Z 1, [H, X];", FLAT, LOAD, 2, false, 1, 1, 0, 0},
    {"ld16", "suld.b.2d.b16Z 1, [H, X];", FLAT, LOAD, 2, false, 2, 1, 0, 0},
    {"ld32", "suld.b.2d.b32Z 1, [H, X];", FLAT, LOAD, 2, false, 4, 1, 0, 0},
    {"ld64", "suld.b.2d.b64Z D, [H, X];", FLAT, LOAD, 2, false, 8, 2, 0, 0},
    {"ld2x32", "suld.b.2d.v2.b32Z {2}, [H, X];", FLAT, LOAD, 2, false, 8, 2, 0, 0},
    {"ld4x32", "suld.b.2d.v4.b32Z {4}, [H, X];", FLAT, LOAD, 2, false, 16, 4, 0, 0},
    {"ld_edge", "suld.b.2d.v4.b32Z {4}, [H, X];", FLOATS, LOAD, 2, false, 16, 4, 0, 0},
    {"ld_1d", "suld.b.1d.b32Z 1, [H, X];", LINE, LOAD, 1, false, 4, 1, 0, 0},
    {"ld_3d", "suld.b.3d.b32Z 1, [H, X];", VOLUME, LOAD, 3, false, 4, 1, 0, 0},
    {"ld_a2d", "suld.b.a2d.b32Z 1, [H, X];", LAYERS, LOAD, 2, true, 4, 1, 0, 0},
    {"ld_a1d", "suld.b.a1d.v4.b32Z {4}, [H, X];", LINES, LOAD, 1, true, 16, 4, 0, 0},
    {"st8", "sust.b.2d.b8Z [H, X], 1;", FLAT, STORE, 2, false, 1, 1, 0, 0},
    {"st16", "sust.b.2d.b16Z [H, X], 1;", FLAT, STORE, 2, false, 2, 1, 0, 0},
    {"st64", "sust.b.2d.v2.b32Z [H, X], {2};", FLAT, STORE, 2, false, 8, 2, 0, 0},
    {"st_1d", "sust.b.1d.b32Z [H, X], 1;", LINE, STORE, 1, false, 4, 1, 0, 0},
    {"st_3d", "sust.b.3d.b32Z [H, X], 1;", VOLUME, STORE, 3, false, 4, 1, 0, 0},
    {"st_a2d", "sust.b.a2d.b32Z [H, X], 1;", LAYERS, STORE, 2, true, 4, 1, 0, 0},
    {"st_a1d", "sust.b.a1d.v4.b32Z [H, X], {4};", LINES, STORE, 1, true, 16, 4, 0, 0},
    {"stp_2d", "sust.p.2d.v4.b32Z [H, X], {4};", FLAT, STORE_TEXEL, 2, false, 4, 4, 0, 0},
    {"stp_r", "sust.p.2d.b32Z [H, X], 1;", PLAIN, STORE_TEXEL, 2, false, 4, 1, 0, 0},
    {"stp_rg", "sust.p.a2d.v2.b32Z [H, X], {2};", LAYERS, STORE_TEXEL, 2, true, 4, 2, 0, 0},
    {"stp_half", "sust.p.2d.v4.b32Z [H, X], {4};", FLOATS, STORE_TEXEL, 2, false, 8, 4, 0, 0},
    {"stp_3d", "sust.p.3d.b32Z [H, X], 1;", VOLUME, STORE_TEXEL, 3, false, 4, 1, 0, 0},
    {"add", "sured.b.add.2d.u32Z [H, X], 1;", PLAIN, REDUCE, 2, false, 4, 1, ADD, U32},
    {"add64", "sured.b.add.2d.u64Z [H, X], D;", FLAT, REDUCE, 2, false, 8, 2, ADD, U64},
    {"min", "sured.b.min.2d.u32Z [H, X], 1;", PLAIN, REDUCE, 2, false, 4, 1, MIN, U32},
    {"max_s", "sured.b.max.2d.s32Z [H, X], 1;", PLAIN, REDUCE, 2, false, 4, 1, MAX, S32},
    {"and", "sured.b.and.1d.b32Z [H, X], 1;", LINE, REDUCE, 1, false, 4, 1, AND, U32},
    {"or", "sured.b.or.3d.b32Z [H, X], 1;", VOLUME, REDUCE, 3, false, 4, 1, OR, U32},
    {"addp", "sured.p.add.2d.b32Z [H, X], 1;", PLAIN, REDUCE_TEXEL, 2, false, 4, 1, ADD, U32},
    {"minp", "sured.p.min.2d.b32Z [H, X], 1;", PLAIN, REDUCE_TEXEL, 2, false, 4, 1, MIN, U32},
    {"minp_s", "sured.p.min.1d.b32Z [H, X], 1;", LINE, REDUCE_TEXEL, 1, false, 4, 1, MIN, S32},
    /* clang-format on */
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const forms[] = {"t", "t + blockIdx.x", "t + threadIdx.x * zero"};
static const char *const form_names[] = {"constant", "uniform", "general"};
enum { FORMS = 3 };
enum { ZERO, CLAMP, TRAP, MODES };
static const char *const modes[MODES] = {".zero", ".clamp", ".trap"};

struct input {
  int32_t at[3]; /* x as the instruction counts it; layer last */
  uint32_t data[4];
};

static bool counts_bytes(const struct row *row) {
  return row->action != STORE_TEXEL && row->action != REDUCE_TEXEL;
}

static void append(char *out, const char *text) {
  strncat(out, text, SOURCE_BYTES - strlen(out) - 1);
}

static void append_coordinates(char *out, const struct row *row) {
  const unsigned count = row->coordinates + row->layer;
  /* PTX has the layer first, and vectors of 1, 2 or 4. */
  static const char *const plain[] = {"", "{%6}", "{%6,%7}", "{%6,%7,%8,%8}"};
  static const char *const layered[] = {"", "", "{%7,%6}", "{%8,%6,%7,%7}"};
  append(out, (row->layer ? layered : plain)[count]);
}

static void append_instruction(char *out, const struct row *row, unsigned mode) {
  for (const char *c = row->text; *c; c++) {
    const bool data = (c > row->text) && (c[-1] == ' ' || c[-1] == '{');
    char piece[8] = {*c, 0};
    if (*c == 'H')
      append(out, "%5");
    else if (*c == 'X')
      append_coordinates(out, row);
    else if (*c == 'Z')
      append(out, modes[mode]);
    else if (data && *c == 'D')
      append(out, "%4");
    else if (data && *c == '1')
      append(out, row->bytes == 1 || row->bytes == 2 ? "h" : "%0");
    else if (data && *c == '2')
      append(out, "%0,%1");
    else if (data && *c == '4')
      append(out, "%0,%1,%2,%3");
    else
      append(out, piece);
  }
}

/* Data of 8 or 16 bits are in a 16-bit register. */
static void append_kernel(char *out, const struct row *row, unsigned form, unsigned mode) {
  const bool narrow = row->bytes < 4;
  char line[400];
  snprintf(
      line, sizeof line,
      "extern \"C\" __global__ void %s_%s%s(u64 t, const input *in, uint4 *out, int zero) {\n"
      "  input i = in[threadIdx.x]; u64 h = %s, d = (u64)i.data[1] << 32 | i.data[0];\n"
      "  uint4 r = make_uint4(i.data[0], i.data[1], i.data[2], i.data[3]);\n  asm volatile(\"%s",
      row->name, form_names[form], modes[mode] + 1, forms[form],
      narrow ? "{.reg .b16 h; cvt.u16.u32 h, %0; " : "");
  append(out, line);
  append_instruction(out, row, mode);
  append(out, narrow ? " cvt.u32.u16 %0, h;}" : "");
  append(out, "\" : \"+r\"(r.x), \"+r\"(r.y), \"+r\"(r.z), \"+r\"(r.w), \"+l\"(d) : \"l\"(h), "
              "\"r\"(i.at[0]), \"r\"(i.at[1]), \"r\"(i.at[2]) : \"memory\");\n");
  append(out, strchr(row->text, 'D') ? "  r.x = (unsigned)d; r.y = (unsigned)(d >> 32);\n" : "");
  append(out, "  out[threadIdx.x] = r;\n}\n");
}

static char *make_source(void) {
  char *source = calloc(1, SOURCE_BYTES);
  assert_non_null(source);
  append(source,
         "struct input { int at[3]; unsigned data[4]; };\ntypedef unsigned long long u64;\n");
  for (unsigned k = 0; k < ROWS; k++)
    for (unsigned form = 0; form < FORMS; form++)
      for (unsigned mode = 0; mode < MODES; mode++)
        append_kernel(source, &rows[k], form, mode);
  return source;
}

/* --- the reference ---------------------------------------------------------- */

static struct module *module;
static uint64_t headers, data, inputs, outputs;
static uint8_t reference[SURFACE_BYTES];
static uint32_t results[LANES][4];

static uint64_t reduced(uint64_t old, uint64_t value, const struct row *row) {
  const bool less = row->type == S32 ? (int32_t)value < (int32_t)old : value < old;
  switch (row->operation) {
  case ADD:
    return old + value;
  case MIN:
    return less ? value : old;
  case MAX:
    return less ? old : value;
  case AND:
    return old & value;
  default:
    return old | value;
  }
}

/* Computes what one lane does. Returns false if it traps. */
static bool act(const struct row *row, unsigned mode, const struct input *in, uint32_t *result) {
  struct emu_texture t;
  char wrong[EMU_TEXTURE_MESSAGE];
  const uint32_t *h = module_host(module, headers + row->shape * TEXTURE_BYTES);
  if (!emu_texture_decode(h, &t, wrong))
    fail_msg("%s", wrong);
  const int sides[] = {(int)t.width, row->coordinates > 1 ? (int)t.height : 1,
                       row->coordinates > 2 ? (int)t.depth : 1};
  const int texel = t.format.bytes, bytes = (int)row->bytes;
  const int unit = counts_bytes(row) ? 1 : texel;
  int at[3] = {in->at[0] * unit, row->coordinates > 1 ? in->at[1] : 0,
               row->coordinates > 2 ? in->at[2]
               : row->layer         ? in->at[row->coordinates]
                                    : 0};
  const int last[] = {sides[0] * texel - bytes, sides[1] - 1,
                      row->layer ? (int)t.layers - 1 : sides[2] - 1};
  bool outside = false;
  for (unsigned k = 0; k < 3; k++) {
    const int edge = k || bytes >= texel ? last[k] / (k ? 1 : bytes) * (k ? 1 : bytes) : last[k];
    outside |= at[k] < 0 || at[k] > last[k];
    at[k] = at[k] < 0 ? 0 : at[k] > last[k] ? edge : at[k];
  }
  memcpy(result, in->data, sizeof in->data);
  if (row->bytes < 4 && row->action != LOAD)
    result[0] &= 0xffff; /* the kernel converts it */
  if (outside && mode == TRAP)
    return false;
  if (outside && mode == ZERO) {
    if (row->action == LOAD)
      memset(result, 0, row->words * sizeof *result);
    return true;
  }
  const uint64_t offset =
      emu_texture_address(&t, (uint32_t)(at[0] / texel), (uint32_t)at[1], (uint32_t)at[2]) - data +
      (unsigned)(at[0] % texel);
  assert_true(offset + row->bytes <= SURFACE_BYTES);
  uint8_t *memory = reference + offset;
  uint64_t old = 0, value = in->data[0];
  switch (row->action) {
  case LOAD:
    memset(result, 0, row->words * sizeof *result);
    memcpy(result, memory, row->bytes);
    break;
  case STORE:
    memcpy(memory, in->data, row->bytes);
    break;
  case STORE_TEXEL: {
    uint32_t components[4] = {0};
    memcpy(components, in->data, row->words * sizeof *components);
    emu_texel_pack(&t.format, components, memory);
    break;
  }
  default:
    memcpy(&old, memory, row->bytes);
    if (row->bytes == 8)
      value |= (uint64_t)in->data[1] << 32;
    value = reduced(old, value, row);
    memcpy(memory, &value, row->bytes);
  }
  return true;
}

/* --- running ----------------------------------------------------------------- */

static uint32_t random_word(void) {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16);
}

static void make_inputs(const struct row *row, bool inside) {
  struct input *in = module_host(module, inputs);
  const unsigned texel_bytes[] = {4, 4, 4, 4, 4, 16, 8};
  const unsigned row_bytes = shapes[row->shape].width * texel_bytes[row->shape];
  const unsigned count[] = {counts_bytes(row) ? row_bytes / row->bytes : shapes[row->shape].width,
                            row->layer && row->coordinates == 1 ? shapes[row->shape].depth
                                                                : shapes[row->shape].height,
                            shapes[row->shape].depth};
  for (unsigned i = 0; i < LANES; i++)
    for (unsigned k = 0; k < 4; k++) {
      in[i].data[k] = k || row->shape != FLOATS ? random_word() : 0x3f800000 + random_word() % 4096;
      if (k < 3) {
        const int32_t range = (int32_t)count[k] + (inside ? 0 : 4);
        in[i].at[k] = (int32_t)(random_word() % (uint32_t)range) - (inside ? 0 : 2);
        if (k == 0 && counts_bytes(row))
          in[i].at[k] *= (int32_t)row->bytes;
      }
    }
}

static bool run(const char *kernel, uint64_t handle, struct sm_fault *fault) {
  struct {
    uint64_t handle, inputs, outputs;
    int zero;
  } parameters = {handle, inputs, outputs, 0};
  const struct launch l = {.grid = {1, 1, 1},
                           .block = {LANES, 1, 1},
                           .params = &parameters,
                           .param_bytes = sizeof parameters};
  return module_run(module, kernel, &l, fault, NULL) == SM_DONE;
}

static void name_kernel(char *name, size_t size, const struct row *row, unsigned form,
                        unsigned mode) {
  snprintf(name, size, "%s_%s%s", row->name, form_names[form], modes[mode] + 1);
}

static void compare(const char *kernel) {
  const uint32_t(*out)[4] = module_host(module, outputs);
  const uint8_t *memory = module_host(module, data);
  for (unsigned i = 0; i < LANES; i++)
    for (unsigned k = 0; k < 4; k++)
      if (out[i][k] != results[i][k])
        fail_msg("%s, work-item %u: word %u is 0x%08x, expected 0x%08x", kernel, i, k, out[i][k],
                 results[i][k]);
  for (unsigned k = 0; k < SURFACE_BYTES; k++)
    if (memory[k] != reference[k])
      fail_msg("%s: byte %u is 0x%02x, expected 0x%02x", kernel, k, memory[k], reference[k]);
}

static void loads_and_stores_match_reference(void **state) {
  (void)state;
  for (unsigned k = 0; k < ROWS * FORMS * MODES * ROUNDS; k++) {
    const struct row *row = &rows[k / (FORMS * MODES * ROUNDS)];
    const unsigned form = k / (MODES * ROUNDS) % FORMS, mode = k / ROUNDS % MODES;
    const bool inside = k % ROUNDS == 0;
    const struct input *in = module_host(module, inputs);
    uint32_t *memory = module_host(module, data);
    char kernel[64];
    struct sm_fault fault = {0};
    bool traps = false;
    for (unsigned w = 0; w < SURFACE_BYTES / 4; w++)
      memory[w] = random_word();
    memcpy(reference, memory, SURFACE_BYTES);
    make_inputs(row, inside);
    name_kernel(kernel, sizeof kernel, row, form, mode);
    for (unsigned i = 0; i < LANES && !traps; i++)
      traps = !act(row, mode, &in[i], results[i]);
    const bool ended = run(kernel, row->shape, &fault);
    if (traps) {
      assert_false(ended);
      assert_int_equal(fault.kind, SM_FAULT_TRAP);
      continue;
    }
    if (!ended)
      fail_msg("%s: %s", kernel, fault.message);
    compare(kernel);
  }
}

/* SULD.P, which ptxas never emits. The test changes the word of a load of 128 bits into one. */
static void typed_load_unpacks_texels(void **state) {
  (void)state;
  size_t count;
  uint64_t(*code)[2] = module_code(module, "ld4x32_generalzero", &count);
  struct sm_insn insn;
  size_t k = 0;
  while (k < count && !(sm_decode(code[k], &insn) && insn.op == SM_OP_SULD))
    k++;
  assert_true(k < count);
  const uint64_t saved[2] = {code[k][0], code[k][1]};
  code[k][0] = (code[k][0] & ~UINT64_C(0xfff)) | 0x998;
  code[k][1] |= 0xf00;
  assert_true(sm_decode(code[k], &insn) && insn.op == SM_OP_SULD_P);
  struct input *in = module_host(module, inputs);
  for (unsigned i = 0; i < LANES; i++)
    in[i] = (struct input){.at = {(int32_t)i % 18 - 1, (int32_t)i % 5, 0}};
  struct sm_fault fault = {0};
  module_forget_code(module);
  if (!run("ld4x32_generalzero", FLAT, &fault))
    fail_msg("%s", fault.message);
  struct emu_texture t;
  char wrong[EMU_TEXTURE_MESSAGE];
  assert_true(emu_texture_decode(module_host(module, headers), &t, wrong));
  for (unsigned i = 0; i < LANES; i++) {
    uint32_t expected[4] = {0};
    const uint32_t(*out)[4] = module_host(module, outputs);
    if (in[i].at[0] >= 0 && in[i].at[0] < 16)
      emu_texel_unpack(&t.format,
                       module_host(module, emu_texture_address(&t, (uint32_t)in[i].at[0],
                                                               (uint32_t)in[i].at[1], 0)),
                       expected);
    assert_memory_equal(out[i], expected, sizeof expected);
  }
  memcpy(code[k], saved, sizeof saved);
  module_forget_code(module);
}

static void reports_invalid_surface_accesses(void **state) {
  (void)state;
  struct input *in = module_host(module, inputs);
  const struct {
    const char *kernel, *words;
    uint32_t handle;
    int32_t x;
    enum sm_fault_kind kind;
  } wrong[] = {
      {"ld32_constantzero", "a misaligned address", FLAT, 2, SM_FAULT_MISALIGNED},
      {"ld32_constantzero", "TEXTURE_TYPE is 2", VOLUME, 0, SM_FAULT_TEXTURE},
      {"ld_3d_constantzero", "TEXTURE_TYPE is 7", FLAT, 0, SM_FAULT_TEXTURE},
      {"ld_1d_constantzero", "TEXTURE_TYPE is 7", FLAT, 0, SM_FAULT_TEXTURE},
      {"ld32_constantzero", "texture header 99: the last index of the pool", 99, 0,
       SM_FAULT_TEXTURE},
      {"minp_constantzero", "its texels are not integers", FLAT, 0, SM_FAULT_TEXTURE},
      {"addp_constantzero", "its texels have 8 bytes", FLOATS, 0, SM_FAULT_TEXTURE},
  };
  for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    struct sm_fault fault = {0};
    for (unsigned i = 0; i < LANES; i++)
      in[i] = (struct input){.at = {wrong[k].x, 0, 0}};
    assert_false(run(wrong[k].kernel, wrong[k].handle, &fault));
    assert_int_equal(fault.kind, wrong[k].kind);
    if (!strstr(fault.message, wrong[k].words))
      fail_msg("row %u: \"%s\" has no \"%s\"", k, fault.message, wrong[k].words);
  }
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  char *source = make_source();
  module = module_compile(source, NULL);
  free(source);
  if (!module)
    return 1;
  headers = module_alloc(module, SHAPES * TEXTURE_BYTES);
  data = (module_alloc(module, SURFACE_BYTES + 512) + 511) & ~UINT64_C(511);
  inputs = module_alloc(module, LANES * sizeof(struct input));
  outputs = module_alloc(module, LANES * 16);
  for (unsigned k = 0; k < SHAPES; k++)
    make_header(module_host(module, headers + k * TEXTURE_BYTES), (enum shape)k, data);
  module_textures(module, (struct sm_pool){headers, SHAPES - 1}, (struct sm_pool){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_and_stores_match_reference),
                                     cmocka_unit_test(typed_load_unpacks_texels),
                                     cmocka_unit_test(reports_invalid_surface_accesses)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  module_free(module);
  return failures;
}
