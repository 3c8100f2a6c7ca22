/* Lowering of texture and surface instructions. Operands of texture instructions are in two lists:
 * layer and coordinates in the first; handle (register form), level and offsets in the second
 * (docs/hardware/textures.md 5.2 to 5.4). */
#include "emulator/sm/lower/lower.h"

/* Returns the offset of count consecutive registers, the first of which must be a multiple of count
 * (of 4 if count is 3). */
static uint16_t vector_slot(struct lowering *l, const struct sm_operand *o, unsigned count,
                            bool written) {
  unsigned slot = written ? SM_SLOT_DISCARD : SM_SLOT_ZERO;
  if (o->reg != SM_RZ && count) {
    slot = SM_SLOT_R + o->reg;
    l->out_of_range |= o->reg % (count == 3 ? 4 : count) || o->reg + count > l->registers;
    if (l->note)
      sm_note_slot(l->note, slot, count, written, l->address);
  }
  return (uint16_t)(slot * SM_REG_BYTES);
}

/* Lowers the handle of an instruction that does not have it in the second list. */
static void place_handle(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  if (o->kind == SM_OPERAND_UREG) {
    u->s[2] = reg_slot(l, o, 2, false);
    u->texture.handle = SM_HANDLE_PAIR;
    l->unsupported |= next_operand(l)->value != 0;
    return;
  }
  l->unsupported |= o->value >= SM_BANKS;
  u->scalar_slot = 2;
  u->scalar_kind = (uint8_t)o->value;
  u->imm = (uint32_t)next_operand(l)->value * sizeof(uint32_t);
  u->texture.handle = SM_HANDLE_WORD;
}

static void place_shape(struct lowering *l) {
  static const uint8_t coordinates[] = {
      [SM_TEXDIM_1D] = 1,       [SM_TEXDIM_2D] = 2,       [SM_TEXDIM_3D] = 3,
      [SM_TEXDIM_ARRAY_1D] = 1, [SM_TEXDIM_ARRAY_2D] = 2, [SM_TEXDIM_ARRAY_CUBE] = 0};
  struct sm_uop *u = l->u;
  const uint64_t dimension = (uint64_t)next_operand(l)->value;
  u->texture.layer = dimension == SM_TEXDIM_ARRAY_1D || dimension == SM_TEXDIM_ARRAY_2D;
  u->texture.coordinates = coordinates[dimension];
  l->unsupported |= !coordinates[dimension];
}

/* Returns whether the instruction has modifiers that compute code does not need. These are not
 * supported. */
static bool is_rare(const struct lowering *l) {
  return modifier(l, SM_MOD_F16) || modifier(l, SM_MOD_DC) || modifier(l, SM_MOD_MS) ||
         modifier(l, SM_MOD_NDV) || modifier(l, SM_MOD_LC) ||
         modifier(l, SM_MOD_TOFF) == SM_TOFF_PTP;
}

unsigned sm_lower_texture(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const unsigned op = l->insn->op, level = modifier(l, SM_MOD_LOD);
  const bool is_query = u->texture.operation == SM_TEXTURE_TXQ;
  const bool has_gradients = u->texture.operation == SM_TEXTURE_TXD;
  const bool in_list = op == SM_OP_TEX_B || op == SM_OP_TLD_B || op == SM_OP_TLD4_B ||
                       op == SM_OP_TXQ_B || op == SM_OP_TXD_B;
  if (!is_query)
    u->pd = lower_result_predicate(l);
  const struct sm_operand *second = next_operand(l), *first = next_operand(l), *a = next_operand(l);
  const struct sm_operand *b = is_query ? NULL : next_operand(l);
  if (is_query)
    l->unsupported |= next_operand(l)->value != SM_TXQ_TEX_HEADER_DIMENSION;
  if (!in_list)
    place_handle(l);
  if (!is_query)
    place_shape(l);
  u->texture.component = (uint8_t)modifier(l, SM_MOD_COMP);
  u->texture.has_level = is_query || level == SM_LOD_LL;
  u->texture.has_offsets = modifier(l, SM_MOD_AOFFI) || modifier(l, SM_MOD_TOFF);
  u->texture.clamps = modifier(l, SM_MOD_CL);
  u->texture.mask = (uint8_t)next_operand(l)->value;
  l->unsupported |= is_rare(l) || (u->texture.operation <= SM_TEXTURE_TLD && level != SM_LOD_LZ &&
                                   level != SM_LOD_LL);
  const unsigned place = u->texture.layer + u->texture.coordinates;
  unsigned count = place + in_list + u->texture.has_level + u->texture.has_offsets;
  if (has_gradients) /* layer and offsets share a register, which follows the coordinates */
    count = in_list + 3u * u->texture.coordinates + (u->texture.layer || u->texture.has_offsets);
  const unsigned results = (unsigned)__builtin_popcount(u->texture.mask);
  l->unsupported |= modifier(l, SM_MOD_SCR) && count > 4;
  u->texture.first = (uint8_t)(is_query                   ? count
                               : has_gradients            ? count - 2u * u->texture.coordinates
                               : !modifier(l, SM_MOD_SCR) ? place
                               : count <= 2               ? 1
                                                          : 2);
  u->texture.count = (uint8_t)count;
  u->s[0] = vector_slot(l, a, u->texture.first, false);
  if (b)
    u->s[1] = vector_slot(l, b, count - u->texture.first, false);
  u->d = vector_slot(l, first, results < 2 ? results : 2, true);
  u->texture.second = vector_slot(l, second, results < 2 ? 0 : results - 2, true);
  return handler;
}

/* Coordinates and layer, of which the layer is the last; docs/hardware/textures.md 5.4. */
static void place_surface_coordinates(struct lowering *l, unsigned dimension) {
  static const struct {
    uint8_t coordinates, layer;
  } shapes[] = {
      [SM_DIM_1D] = {1, 0}, [SM_DIM_1D_BUFFER] = {1, 0}, [SM_DIM_1D_ARRAY] = {1, 1},
      [SM_DIM_2D] = {2, 0}, [SM_DIM_2D_ARRAY] = {2, 1},  [SM_DIM_3D] = {3, 0},
  };
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  if (dimension >= sizeof shapes / sizeof *shapes || o->kind != SM_OPERAND_MEM) {
    l->unsupported = true;
    return;
  }
  const struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = o->reg};
  u->surface.coordinates = shapes[dimension].coordinates;
  u->surface.layer = shapes[dimension].layer;
  l->address = true;
  u->s[0] = vector_slot(l, &reg, u->surface.coordinates + u->surface.layer, false);
  l->address = false;
}

static void place_surface_handle(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  if (o->kind != SM_OPERAND_REG && o->kind != SM_OPERAND_UREG) {
    l->unsupported |= o->value >= SM_BANKS;
    u->scalar_slot = 2;
    u->scalar_kind = (uint8_t)o->value;
    u->imm = (uint32_t)next_operand(l)->value * sizeof(uint32_t);
    return;
  }
  l->address = true;
  u->s[2] = reg_slot(l, o, 1, false);
  l->address = false;
  if (o->kind == SM_OPERAND_UREG)
    l->unsupported |= next_operand(l)->value != 0;
}

/* Lowers SURED. It has the types of ATOM, and types that take the sign from the header. */
static void place_reduction(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->surface.type = (uint8_t)modifier(l, SM_MOD_SZ);
  u->surface.operation = (uint8_t)modifier(l, SM_MOD_OP);
  const bool is_float =
      u->surface.type == SM_SURED_F32_FTZ_RN || u->surface.type == SM_SURED_F16X2_RN;
  const bool is_wide = u->surface.type == SM_SURED_U64 || u->surface.type == SM_SURED_S64;
  u->surface.size = is_wide ? SM_SZ_64 : SM_SZ_NONE;
  l->unsupported |= u->surface.type == SM_SURED_SD64 ||
                    (is_float && u->surface.operation != SM_RED_OP_ADD) ||
                    u->surface.operation == SM_RED_OP_INC || u->surface.operation == SM_RED_OP_DEC;
}

unsigned sm_lower_surface(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const unsigned op = l->insn->op, size = modifier(l, SM_MOD_SZ);
  const bool is_load = op == SM_OP_SULD || op == SM_OP_SULD_P;
  u->surface.access = is_load             ? SM_ACCESS_LOAD
                      : op == SM_OP_SURED ? SM_ACCESS_ATOMIC
                                          : SM_ACCESS_STORE;
  u->surface.typed = op == SM_OP_SULD_P || op == SM_OP_SUST_P;
  u->surface.in_bytes = !u->surface.typed && modifier(l, SM_MOD_BA);
  u->surface.outside = (uint8_t)modifier(l, SM_MOD_CLAMP);
  u->surface.cached = sm_is_cached(l->insn);
  if (op == SM_OP_SURED)
    place_reduction(l);
  else if (!u->surface.typed)
    u->surface.size = (uint8_t)size;
  const unsigned mask = modifier(l, SM_MOD_RGBA);
  u->surface.components = mask == SM_RGBA_R ? 1 : mask == SM_RGBA_RG ? 2 : 4;
  const unsigned words = u->surface.typed               ? u->surface.components
                         : u->surface.size == SM_SZ_128 ? 4
                         : u->surface.size == SM_SZ_64  ? 2
                                                        : 1;
  /* Without .BA only reductions are made by a compiler. */
  l->unsupported |= !u->surface.typed && !u->surface.in_bytes && op != SM_OP_SURED;
  if (is_load) {
    u->pd = lower_result_predicate(l);
    u->d = vector_slot(l, next_operand(l), words, true);
  }
  place_surface_coordinates(l, modifier(l, SM_MOD_DIM));
  if (!is_load)
    u->s[1] = vector_slot(l, next_operand(l), words, false);
  place_surface_handle(l);
  return handler;
}
