/* Check mode: the buffer to which an address belongs.
 *
 * A parameter whose value is an address in a mapping is a pointer into that mapping. So are values
 * computed from it by moves and additions. The result of combining two pointers, or of extracting a
 * part of one, has no known buffer and is not checked. Neither are pointers that were read from
 * memory. */
#include "emulator/sm/check/watch.h"

enum { PARAMETERS_AT = 0x160 }; /* docs/hardware/command-stream.md 6 */

/* --- the parameters ---------------------------------------------------------------- */

static void find_parameters(struct sm_shadow *s, const struct sm_grid *grid) {
  const uint32_t most = sizeof s->pointer_at / sizeof s->pointer_at[0] * 4;
  const uint32_t end = grid->bank[0].size < most ? grid->bank[0].size : most;
  memset(s->pointer_at, SM_POINTER_NONE, sizeof s->pointer_at);
  s->parameter_count = 0;
  for (uint32_t at = PARAMETERS_AT; grid->bank[0].data && at + 8 <= end; at += 8) {
    uint64_t value;
    struct sm_range range;
    memcpy(&value, grid->bank[0].data + at, sizeof value);
    if (!grid->memory.find(grid->memory.space, value, &range))
      continue;
    uint8_t id = SM_POINTER_MANY;
    if (s->parameter_count < SM_PARAMETERS) {
      s->parameter[s->parameter_count] = (struct sm_parameter){range.gpu, range.size, at};
      id = (uint8_t)(SM_POINTER_FIRST + s->parameter_count++);
    }
    s->pointer_at[at / 4] = s->pointer_at[at / 4 + 1] = id;
  }
}

void sm_pointers_start(struct sm_cta *cta) {
  struct sm_shadow *s = cta->shadow;
  if (s->parameters_of == cta->grid->first_number && s->parameters_known)
    return;
  find_parameters(s, cta->grid);
  s->parameters_known = true;
  s->parameters_of = cta->grid->first_number;
}

/* --- registers ----------------------------------------------------------------------- */

static uint8_t join_pointers(uint8_t a, uint8_t b) {
  return !a ? b : !b || a == b ? a : SM_POINTER_MANY;
}

/* The pointers of all lanes. */
struct pointers {
  uint8_t all;         /* that of all lanes, or SM_POINTER_LANES */
  uint8_t l[SM_LANES]; /* of each lane; only valid in the latter case */
};

static struct pointers pointers_in(const struct sm_warp_shadow *ws, unsigned place) {
  struct pointers p;
  p.all = ws->state[place] & SM_PLACE_POINTER ? ws->pointer[place] : SM_POINTER_NONE;
  if (p.all == SM_POINTER_LANES)
    memcpy(p.l, ws->lane_pointer[place], sizeof p.l);
  return p;
}

/* Makes the pointers of each lane valid. */
static void use_lanes(struct pointers *p) {
  if (p->all != SM_POINTER_LANES)
    memset(p->l, p->all, sizeof p->l);
  p->all = SM_POINTER_LANES;
}

static void add_pointers(struct pointers *p, struct pointers of) {
  if (p->all != SM_POINTER_LANES && of.all != SM_POINTER_LANES) {
    p->all = join_pointers(p->all, of.all);
    return;
  }
  use_lanes(p);
  use_lanes(&of);
  FOR_LANES
  p->l[i] = join_pointers(p->l[i], of.l[i]);
}

static void add_all(struct pointers *p, uint8_t of) {
  add_pointers(p, (struct pointers){.all = of});
}

/* Makes all pointers unknown ones. */
static void forget_buffers(struct pointers *p) {
  if (p->all == SM_POINTER_LANES)
    FOR_LANES
  p->l[i] = p->l[i] ? SM_POINTER_MANY : SM_POINTER_NONE;
  else if (p->all) p->all = SM_POINTER_MANY;
}

static uint8_t scalar_pointer(const struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_shadow *s = w->cta->shadow;
  return u->scalar_kind == 0 && u->imm / 4 < SM_PARAMETER_WORDS ? s->pointer_at[u->imm / 4]
                                                                : SM_POINTER_NONE;
}

/* Returns the source operands whose pointer the result keeps, as a mask of slots. */
static unsigned pointer_operands(const struct sm_uop *u, const struct sm_note *note) {
  const bool by_one = u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM && u->imm == 1;
  switch (note->handler) {
  case SM_H_mov_reg:
  case SM_H_mov_scalar:
  case SM_H_iadd3:
  case SM_H_iadd3_plain:
  case SM_H_iadd3_rrr:
  case SM_H_iadd3_rsr:
  case SM_H_iadd_cc:
  case SM_H_iadd_cc_rs:
  case SM_H_iadd_x:
  case SM_H_iadd_x_rs:
  case SM_H_iadd_carry:
    return 7;
  case SM_H_imad:
  case SM_H_imad_rrr:
  case SM_H_imad_rsr:
    return by_one ? 5 : 4;
  case SM_H_imad_wide:
  case SM_H_imad_wide_plain:
    return 4;
  case SM_H_lea:
  case SM_H_lea_plain:
    return 2;
  default:
    return 0;
  }
}

/* Returns whether a sum has a negated register, which may be a pointer that was kept in memory. */
static bool subtracts_register(const struct sm_uop *u) {
  for (unsigned slot = 0; slot < 3; slot++)
    if (u->mods >> (2 * slot) & 3u && u->scalar_slot != slot &&
        u->s[slot] / SM_REG_BYTES >= SM_SLOT_UR)
      return true;
  return false;
}

/* Joins the pointers of one operand. If !propagates, its pointers become unknown ones. */
static void add_operand(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u,
                        unsigned slot, unsigned words, bool propagates) {
  const struct sm_warp_shadow *ws = sm_shadow_of(w);
  const unsigned first = u->s[slot] / SM_REG_BYTES;
  struct pointers p = {.all = SM_POINTER_NONE};
  if (u->scalar_slot == slot)
    add_all(&p, u->scalar_kind == SM_SCALAR_IMM ? SM_POINTER_NONE : scalar_pointer(w, u));
  else
    for (unsigned k = 0; k < words; k++)
      if (ws->state[first + k] & SM_PLACE_POINTER)
        add_pointers(&p, pointers_in(ws, first + k));
  if (!propagates || u->mods >> (2 * slot) & 3u)
    forget_buffers(&p);
  add_pointers(out, p);
}

static void add_select(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u) {
  struct pointers a = {.all = SM_POINTER_NONE}, b = {.all = SM_POINTER_NONE};
  const uint32_t p = w->pred[u->pp] ^ (0u - (u->pnot & 1u));
  add_operand(&a, w, u, 0, 1, true);
  add_operand(&b, w, u, 1, 1, true);
  *out = a;
  if (a.all == b.all && a.all != SM_POINTER_LANES)
    return;
  use_lanes(out);
  use_lanes(&b);
  FOR_LANES
  out->l[i] = p & sm_lane_bit[i] ? out->l[i] : b.l[i];
}

/* Returns whether a sum of slots, or a move, has one pointer for all lanes. Sets *all to it. The
 * third slot has words registers. */
static bool is_one_pointer(const struct sm_warp *w, const struct sm_uop *u, unsigned propagating,
                           unsigned words, uint8_t *all) {
  const struct sm_warp_shadow *ws = sm_shadow_of(w);
  *all = SM_POINTER_NONE;
  for (unsigned slot = 0; slot < 3; slot++) {
    const unsigned first = u->s[slot] / SM_REG_BYTES;
    uint8_t id = SM_POINTER_NONE;
    if (u->scalar_slot == slot)
      id = u->scalar_kind == SM_SCALAR_IMM ? SM_POINTER_NONE : scalar_pointer(w, u);
    else
      for (unsigned k = first; k < first + (slot == 2 ? words : 1); k++)
        if (ws->state[k] & SM_PLACE_POINTER) {
          if (ws->pointer[k] == SM_POINTER_LANES)
            return false;
          id = join_pointers(id, ws->pointer[k]);
        }
    if (id && (!(propagating >> slot & 1) || u->mods >> (2 * slot) & 3u))
      id = SM_POINTER_MANY;
    *all = join_pointers(*all, id);
  }
  return true;
}

/* Joins the pointer in a word of constant bank 0. */
static void add_constant(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_shadow *s = w->cta->shadow;
  const uint32_t at = sm_file_at(w, u->ldc.uniform)[0] + (uint32_t)u->ldc.offset;
  if (u->ldc.bank == 0 && u->s[0] == 0 && at / 4 < SM_PARAMETER_WORDS)
    add_all(out, s->pointer_at[at / 4]);
}

/* Joins the pointers of a register's lanes in m to that of all. */
static uint8_t join_lanes(const struct sm_warp_shadow *ws, unsigned place, uint32_t m,
                          uint8_t all) {
  const struct pointers p = pointers_in(ws, place);
  if (p.all != SM_POINTER_LANES)
    return join_pointers(all, p.all);
  for (; m && all != SM_POINTER_MANY; m &= m - 1)
    all = join_pointers(all, p.l[__builtin_ctz(m)]);
  return all;
}

/* Joins the pointers of all operands and lanes. If !propagates, the result is an unknown
 * pointer. */
static void add_reads(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u,
                      const struct sm_note *note, uint32_t m, bool propagates) {
  uint8_t all = u->scalar_slot == SM_NO_SLOT || u->scalar_kind == SM_SCALAR_IMM
                    ? SM_POINTER_NONE
                    : scalar_pointer(w, u);
  for (unsigned k = 0; k < note->read_count; k++)
    for (unsigned word = 0; word < note->read[k].count; word++)
      all = join_lanes(sm_shadow_of(w), note->read[k].slot + word, m, all);
  add_all(out, all && !propagates ? SM_POINTER_MANY : all);
}

static bool is_none(const struct pointers *p) {
  uint8_t any = p->all;
  if (p->all == SM_POINTER_LANES) {
    any = 0;
    FOR_LANES
    any |= p->l[i];
  }
  return !any;
}

/* Sets the pointers of a register in lanes. */
static void set_pointers(struct sm_warp_shadow *ws, unsigned place, const struct pointers *p,
                         uint32_t lanes) {
  const bool had = ws->state[place] & SM_PLACE_POINTER;
  if (p->all != SM_POINTER_LANES &&
      (lanes == SM_ALL_LANES || p->all == (had ? ws->pointer[place] : SM_POINTER_NONE))) {
    ws->pointer[place] = p->all;
    ws->state[place] =
        (uint8_t)((ws->state[place] & ~SM_PLACE_POINTER) | (p->all ? SM_PLACE_POINTER : 0));
    return;
  }
  struct pointers new = *p;
  if (lanes != SM_ALL_LANES) {
    struct pointers old = pointers_in(ws, place);
    use_lanes(&old);
    use_lanes(&new);
    FOR_LANES
    new.l[i] = lanes &sm_lane_bit[i] ? new.l[i] : old.l[i];
  }
  ws->state[place] = (uint8_t)(ws->state[place] & ~SM_PLACE_POINTER);
  if (is_none(&new))
    return;
  ws->state[place] |= SM_PLACE_POINTER;
  ws->pointer[place] = new.all;
  if (new.all == SM_POINTER_LANES)
    memcpy(ws->lane_pointer[place], new.l, sizeof new.l);
}

static bool is_private(const struct sm_note *note) {
  return note->space == SM_SPACE_LOCAL || note->space == SM_SPACE_GENERIC;
}

/* Notes whether a store to private memory stores a pointer. */
static void note_spill(const struct sm_note *note, struct sm_warp_shadow *ws) {
  for (unsigned k = 0; k < note->read_count; k++)
    for (unsigned word = 0; word < note->read[k].count && !note->read[k].address; word++)
      ws->spilled = ws->spilled || ws->state[note->read[k].slot + word] & SM_PLACE_POINTER;
}

/* Returns whether u may load a pointer from a constant bank or from private memory. */
static bool loads_pointer(const struct sm_warp *w, const struct sm_uop *u,
                          const struct sm_note *note) {
  return (is_private(note) && sm_shadow_of(w)->spilled) || note->handler == SM_H_ldc ||
         (u->scalar_slot != SM_NO_SLOT && u->scalar_kind != SM_SCALAR_IMM && scalar_pointer(w, u));
}

void sm_check_pointers(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                       uint32_t m, uint8_t state) {
  if (m && is_private(note) && note->access != SM_ACCESS_LOAD)
    note_spill(note, sm_shadow_of(w));
  if (!m || !note->write_count || !(state & SM_PLACE_POINTER || loads_pointer(w, u, note)))
    return;
  struct pointers out;
  out.all = SM_POINTER_NONE;
  const unsigned propagating = pointer_operands(u, note);
  const bool is_wide = note->handler == SM_H_imad_wide || note->handler == SM_H_imad_wide_plain;
  const unsigned third_words = is_wide ? 2 : 1;
  if (is_private(note))
    add_all(&out, sm_shadow_of(w)->spilled ? SM_POINTER_MANY : SM_POINTER_NONE);
  else if (note->handler == SM_H_ldc)
    add_constant(&out, w, u);
  else if (note->handler == SM_H_sel)
    add_select(&out, w, u);
  else if (propagating && is_one_pointer(w, u, propagating, third_words, &out.all)) {
    if (out.all && subtracts_register(u))
      out.all = SM_POINTER_MANY;
  } else if (propagating) {
    for (unsigned slot = 0; slot < 3; slot++)
      add_operand(&out, w, u, slot, slot == 2 ? third_words : 1, propagating >> slot & 1);
    if (subtracts_register(u))
      forget_buffers(&out);
  } else if (note->space == SM_SPACE_NONE)
    add_reads(&out, w, u, note, m, note->handler == SM_H_shfl || note->handler == SM_H_r2ur);
  for (unsigned k = 0; k < note->write_count; k++)
    for (unsigned word = 0; word < note->write[k].count; word++)
      set_pointers(sm_shadow_of(w), note->write[k].slot + word, &out,
                   note->write[k].slot < SM_SLOT_R ? SM_ALL_LANES : m);
}

/* Returns the pointers from which the addresses of all lanes were computed. */
static struct pointers address_pointers(const struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_warp_shadow *ws = sm_shadow_of(w);
  const unsigned reg = u->s[0] / SM_REG_BYTES, uniform = u->memory.uniform / SM_REG_BYTES;
  struct pointers p = pointers_in(ws, reg);
  add_pointers(&p, pointers_in(ws, uniform));
  add_pointers(&p, pointers_in(ws, uniform + 1));
  if (!u->memory.narrow)
    add_pointers(&p, pointers_in(ws, reg + 1));
  return p;
}

static const struct sm_parameter *parameter_of(const struct sm_warp *w, uint8_t pointer) {
  return pointer && pointer != SM_POINTER_MANY
             ? &w->cta->shadow->parameter[pointer - SM_POINTER_FIRST]
             : NULL;
}

const struct sm_parameter *sm_pointer_of(const struct sm_warp *w, const struct sm_uop *u,
                                         uint32_t lane) {
  const struct pointers p = address_pointers(w, u);
  return parameter_of(w, p.all == SM_POINTER_LANES ? p.l[lane] : p.all);
}

bool sm_pointer_of_all(const struct sm_warp *w, const struct sm_uop *u,
                       const struct sm_parameter **of) {
  struct pointers p = address_pointers(w, u);
  *of = NULL;
  if (p.all == SM_POINTER_LANES) {
    for (unsigned i = 1; i < SM_LANES; i++)
      if (p.l[i] != p.l[0])
        return false;
    p.all = p.l[0];
  }
  *of = parameter_of(w, p.all);
  return true;
}
