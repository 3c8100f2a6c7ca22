/* Check mode: the buffer to which an address belongs.
 *
 * A parameter whose value is an address in a mapping is a pointer into that mapping. So are values
 * computed from it by moves and additions. The result of combining two pointers, or of extracting a
 * part of one, has no known buffer and is not checked. Neither are pointers that were read from
 * memory. */
#include "emulator/sm/check/watch.h"

/* --- the parameters ---------------------------------------------------------------- */

static void find_parameters(struct sm_shadow *s, const struct sm_grid *grid) {
  const uint32_t most = sizeof s->pointer_at / sizeof s->pointer_at[0] * 4;
  const uint32_t end = grid->bank[0].size < most ? grid->bank[0].size : most;
  memset(s->pointer_at, SM_POINTER_NONE, sizeof s->pointer_at);
  s->parameter_count = 0;
  for (uint32_t at = SM_PARAMETERS_AT; grid->bank[0].data && at + 8 <= end; at += 8) {
    uint64_t value;
    struct sm_range range;
    memcpy(&value, grid->bank[0].data + at, sizeof value);
    if (!grid->memory.find(grid->memory.space, value, &range))
      continue;
    uint8_t id = SM_POINTER_MANY;
    if (s->parameter_count < SM_PARAMETERS) {
      s->parameter[s->parameter_count] = (struct sm_parameter){range, at};
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

static struct pointers pointers_in(const struct sm_records *r, unsigned place) {
  struct pointers p;
  p.all = r->pointer[place];
  if (p.all == SM_POINTER_LANES)
    memcpy(p.l, r->lane_pointer[place], sizeof p.l);
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

/* Returns the pointer of the scalar operand. */
static inline uint8_t scalar_pointer(const struct sm_warp *w, const struct sm_note *note) {
  return w->cta->shadow->pointer_at[note->parameter]; /* pointer_at[0] is no pointer */
}

/* Joins the pointers of one operand. If !propagates, its pointers become unknown ones. */
static void add_operand(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u,
                        const struct sm_note *note, unsigned slot, unsigned words,
                        bool propagates) {
  const struct sm_records *r = w->records;
  const unsigned first = u->s[slot] / SM_REG_BYTES;
  struct pointers p = {.all = SM_POINTER_NONE};
  if (u->scalar_slot == slot)
    add_all(&p, scalar_pointer(w, note));
  else
    for (unsigned k = 0; k < words; k++)
      if (r->pointer[first + k])
        add_pointers(&p, pointers_in(r, first + k));
  if (!propagates)
    forget_buffers(&p);
  add_pointers(out, p);
}

static void add_select(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u,
                       const struct sm_note *note) {
  struct pointers a = {.all = SM_POINTER_NONE}, b = {.all = SM_POINTER_NONE};
  const uint32_t p = w->pred[u->pp] ^ (0u - (u->pnot & 1u));
  add_operand(&a, w, u, note, 0, 1, !(u->mods & 3u));
  add_operand(&b, w, u, note, 1, 1, !(u->mods >> 2 & 3u));
  *out = a;
  if (a.all == b.all && a.all != SM_POINTER_LANES)
    return;
  use_lanes(out);
  use_lanes(&b);
  FOR_LANES
  out->l[i] = p & sm_lane_bit[i] ? out->l[i] : b.l[i];
}

/* Returns the pointer of a register or scalar, for all lanes or SM_POINTER_LANES. */
static inline uint8_t operand_pointer(const struct sm_warp *w, const struct sm_uop *u,
                                      const struct sm_note *note, const struct sm_records *r,
                                      unsigned slot) {
  return u->scalar_slot == slot ? scalar_pointer(w, note) : r->pointer[u->s[slot] / SM_REG_BYTES];
}

/* Returns whether a sum, or a move, has one pointer for all lanes. Sets *all to it. */
static inline bool is_one_pointer(const struct sm_warp *w, const struct sm_uop *u,
                                  const struct sm_note *note, uint8_t *all) {
  const struct sm_records *r = w->records;
  uint8_t a = operand_pointer(w, u, note, r, 0), b = operand_pointer(w, u, note, r, 1),
          c = operand_pointer(w, u, note, r, 2), high = SM_POINTER_NONE;
  if (note->pointer_rule == SM_POINTERS_WIDE_SUM && u->scalar_slot != 2)
    high = r->pointer[u->s[2] / SM_REG_BYTES + 1];
  *all = SM_POINTER_NONE;
  if (!(a | b | c | high))
    return true;
  if (a == SM_POINTER_LANES || b == SM_POINTER_LANES || c == SM_POINTER_LANES ||
      high == SM_POINTER_LANES)
    return false;
  c = join_pointers(c, high);
  a = !a || note->pointer_operands & 1 ? a : SM_POINTER_MANY;
  b = !b || note->pointer_operands & 2 ? b : SM_POINTER_MANY;
  c = !c || note->pointer_operands & 4 ? c : SM_POINTER_MANY;
  *all = join_pointers(join_pointers(a, b), c);
  if (*all && note->subtracts)
    *all = SM_POINTER_MANY;
  return true;
}

/* Joins the pointer in a word of constant bank 0. */
static void add_constant(struct pointers *out, const struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_shadow *s = w->cta->shadow;
  const uint32_t at = sm_file_at(w, u->ldc.uniform)[0] + (uint32_t)u->ldc.offset;
  if (u->ldc.bank == 0 && u->s[0] == 0 && at < SM_PARAMETERS_END)
    add_all(out, s->pointer_at[at / 4]);
}

/* Joins the pointers of a register's lanes in m to that of all. */
static uint8_t join_lanes(const struct sm_records *r, unsigned place, uint32_t m, uint8_t all) {
  const struct pointers p = pointers_in(r, place);
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
  uint8_t all = scalar_pointer(w, note);
  for (unsigned k = 0; k < note->read_count; k++)
    for (unsigned word = 0; word < note->read[k].count; word++)
      all = join_lanes(w->records, note->read[k].slot + word, m, all);
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

/* Sets the pointer of a register in all lanes. */
static inline void set_pointer(struct sm_records *r, unsigned place, uint8_t all) {
  r->pointer[place] = all;
  r->state[place] = (uint8_t)((r->state[place] & ~SM_PLACE_POINTER) | (all ? SM_PLACE_POINTER : 0));
}

/* Sets the pointers of a register in lanes. */
static __attribute__((noinline)) void set_pointers(struct sm_records *r, unsigned place,
                                                   const struct pointers *p, uint32_t lanes) {
  struct pointers new = *p;
  if (lanes != SM_ALL_LANES) {
    struct pointers old = pointers_in(r, place);
    use_lanes(&old);
    use_lanes(&new);
    FOR_LANES
    new.l[i] = lanes &sm_lane_bit[i] ? new.l[i] : old.l[i];
  }
  set_pointer(r, place, is_none(&new) ? SM_POINTER_NONE : new.all);
  if (r->pointer[place] == SM_POINTER_LANES)
    memcpy(r->lane_pointer[place], new.l, sizeof new.l);
}

/* Sets the pointers of the results of u. */
static void set_results(struct sm_records *r, const struct sm_note *note, const struct pointers *p,
                        uint32_t m) {
  for (unsigned k = 0; k < note->write_count; k++)
    for (unsigned word = 0; word < note->write[k].count; word++)
      set_pointers(r, note->write[k].slot + word, p,
                   note->write[k].slot < SM_SLOT_R ? SM_ALL_LANES : m);
}

/* Sets the pointer of the results of u, for all lanes. Returns false, and may have done a part, if
 * some of them keep another one in lanes that are not in m. */
static inline bool set_one_pointer(struct sm_records *r, const struct sm_note *note, uint8_t all,
                                   uint32_t m) {
  for (unsigned k = 0; k < note->write_count; k++)
    for (unsigned place = note->write[k].slot; place < note->write[k].slot + note->write[k].count;
         place++) {
      if (m != SM_ALL_LANES && place >= SM_SLOT_R && r->pointer[place] != all)
        return false;
      set_pointer(r, place, all);
    }
  return true;
}

/* Notes whether a store to private memory stores a pointer. */
static void note_spill(const struct sm_note *note, struct sm_records *r) {
  for (unsigned k = 0; k < note->read_count; k++)
    for (unsigned word = 0; word < note->read[k].count && !note->read[k].address; word++)
      r->spilled = r->spilled || r->pointer[note->read[k].slot + word];
}

/* Computes the pointers of a sum, which has not one for all lanes. */
static __attribute__((noinline)) void add_sum(struct pointers *out, const struct sm_warp *w,
                                              const struct sm_uop *u, const struct sm_note *note) {
  for (unsigned slot = 0; slot < 3; slot++)
    add_operand(out, w, u, note, slot,
                slot == 2 && note->pointer_rule == SM_POINTERS_WIDE_SUM ? 2 : 1,
                note->pointer_operands >> slot & 1);
  if (note->subtracts)
    forget_buffers(out);
}

static __attribute__((noinline)) void propagate(struct sm_warp *w, const struct sm_uop *u,
                                                const struct sm_note *note, uint32_t m) {
  struct sm_records *r = w->records;
  struct pointers out;
  out.all = SM_POINTER_NONE;
  switch ((enum sm_pointer_rule)note->pointer_rule) {
  case SM_POINTERS_NONE:
    break;
  case SM_POINTERS_SUM:
  case SM_POINTERS_WIDE_SUM:
    if (!is_one_pointer(w, u, note, &out.all))
      add_sum(&out, w, u, note);
    break;
  case SM_POINTERS_SELECT:
    add_select(&out, w, u, note);
    break;
  case SM_POINTERS_CONSTANT:
    add_constant(&out, w, u);
    break;
  case SM_POINTERS_PRIVATE:
    out.all = r->spilled ? SM_POINTER_MANY : SM_POINTER_NONE;
    break;
  case SM_POINTERS_COPY:
  case SM_POINTERS_UNKNOWN:
    add_reads(&out, w, u, note, m, note->pointer_rule == SM_POINTERS_COPY);
    break;
  }
  const uint32_t lanes = m | ~w->lanes;
  if (out.all == SM_POINTER_LANES || !set_one_pointer(r, note, out.all, lanes))
    set_results(r, note, &out, lanes);
}

void sm_check_pointers(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                       uint32_t m, uint8_t state) {
  struct sm_records *r = w->records;
  const enum sm_pointer_rule rule = note->pointer_rule;
  if (!m)
    return;
  const uint32_t lanes = m | ~w->lanes; /* what does not exist may have any pointer */
  uint8_t all = SM_POINTER_NONE;
  if (rule == SM_POINTERS_SUM || rule == SM_POINTERS_WIDE_SUM) {
    if (is_one_pointer(w, u, note, &all) && set_one_pointer(r, note, all, lanes))
      return;
  } else {
    if (rule == SM_POINTERS_PRIVATE && note->access != SM_ACCESS_LOAD)
      note_spill(note, r);
    if (!(state & SM_PLACE_POINTER || rule == SM_POINTERS_CONSTANT || scalar_pointer(w, note) ||
          (rule == SM_POINTERS_PRIVATE && r->spilled)))
      return;
    if (rule == SM_POINTERS_NONE && set_one_pointer(r, note, all, lanes))
      return;
  }
  propagate(w, u, note, m);
}

/* --- addresses ----------------------------------------------------------------------- */

/* Returns the pointers from which the addresses of all lanes were computed. */
static struct pointers address_pointers(const struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_records *r = w->records;
  const unsigned reg = u->s[0] / SM_REG_BYTES, uniform = u->memory.uniform / SM_REG_BYTES;
  struct pointers p = pointers_in(r, reg);
  add_pointers(&p, pointers_in(r, uniform));
  add_pointers(&p, pointers_in(r, uniform + 1));
  if (!u->memory.narrow)
    add_pointers(&p, pointers_in(r, reg + 1));
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
  const struct sm_records *r = w->records;
  const unsigned reg = u->s[0] / SM_REG_BYTES, uniform = u->memory.uniform / SM_REG_BYTES;
  const uint8_t low = r->pointer[reg], high = u->memory.narrow ? low : r->pointer[reg + 1],
                base = r->pointer[uniform], base_high = r->pointer[uniform + 1];
  if (low != SM_POINTER_LANES && high != SM_POINTER_LANES && base != SM_POINTER_LANES &&
      base_high != SM_POINTER_LANES) {
    *of = parameter_of(w, join_pointers(join_pointers(low, high), join_pointers(base, base_high)));
    return true;
  }
  const struct pointers p = address_pointers(w, u);
  *of = NULL;
  for (unsigned i = 1; i < SM_LANES; i++)
    if (p.l[i] != p.l[0])
      return false;
  *of = parameter_of(w, p.l[0]);
  return true;
}
