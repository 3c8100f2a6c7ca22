/* Prints a decoded instruction from its row of the table, in the format of NVIDIA's nvdisasm
 * (13.1). */
#include "gpu/isa/insn.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/isa/isa_table.h"

#define RZ               255
#define URZ              63
#define PT               7
#define INSTRUCTION_SIZE 16

struct text {
  char *at;
  size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *t, const char *format, ...) {
  size_t room = t->length < t->size ? t->size - t->length : 0;
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(room ? t->at + t->length : NULL, room, format, arguments);
  va_end(arguments);
  if (n > 0)
    t->length += (size_t)n;
}

static void append_suffix(struct text *t, const char *name) {
  if (*name)
    append(t, ".%s", name);
}

static void append_hex(struct text *t, int64_t value) {
  if (value < 0)
    append(t, "-0x%" PRIx64, -(uint64_t)value);
  else
    append(t, "0x%" PRIx64, (uint64_t)value);
}

static void append_reg(struct text *t, const char *name, unsigned reg, unsigned zero) {
  if (reg == zero)
    append(t, "%sZ", name);
  else
    append(t, "%s%u", name, reg);
}

static void append_pred(struct text *t, const char *name, const struct sm_operand *o) {
  append(t, o->not_ ? "!" : "");
  if (o->reg == PT)
    append(t, "%sT", name);
  else
    append(t, "%s%u", name, o->reg);
}

/* Like nvdisasm, prints a space after special values, and large numbers with 21 digits. */
static void append_double(struct text *t, double x, bool quiet) {
  const double with_exponent = 1e9;
  const char *sign = signbit(x) ? "-" : "+";
  if (isnan(x))
    append(t, "%s%cNAN ", sign, quiet ? 'Q' : 'S');
  else if (isinf(x))
    append(t, "%sINF ", sign);
  else if (x == 0 && signbit(x))
    append(t, "-0.0 ");
  else if (fabs(x) >= with_exponent)
    append(t, "%.20e", x);
  else
    append(t, "%.20g", x);
}

static void append_float(struct text *t, uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  /* The conversion turns a signalling NaN into a quiet one, but keeps its sign. */
  append_double(t, (double)x, bits >> 22 & 1);
}

static void append_half(struct text *t, uint32_t bits) {
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  double x;
  if (exponent == 0x1f)
    x = mantissa ? (double)NAN : (double)INFINITY;
  else if (exponent)
    x = ldexp(mantissa | 0x400, (int)exponent - 25);
  else
    x = ldexp(mantissa, -24);
  append_double(t, copysign(x, bits >> 15 ? -1.0 : 1.0), mantissa >> 9);
}

static void append_immediate(struct text *t, const struct sm_insn *insn,
                             const struct sm_isa_operand *d, const struct sm_operand *o) {
  uint32_t bits = (uint32_t)o->value;
  uint64_t wide = (uint64_t)bits << 32;
  double x;
  switch (d->style) {
  case SM_STYLE_SIGNED:
    append_hex(t, (int32_t)bits);
    break;
  case SM_STYLE_F32:
    append_float(t, bits);
    break;
  case SM_STYLE_F64:
    memcpy(&x, &wide, sizeof(x));
    append_double(t, x, bits >> 19 & 1);
    break;
  case SM_STYLE_F16:
    if (insn->mod[SM_MOD_OFMT] == SM_OFMT_BF16_V2) {
      append_float(t, bits & 0xffff0000);
      append(t, ", ");
      append_float(t, bits << 16);
    } else {
      append_half(t, bits >> 16);
      append(t, ", ");
      append_half(t, bits & 0xffff);
    }
    break;
  case SM_STYLE_HALF:
    append_half(t, bits & 0xffff);
    break;
  default:
    append_hex(t, o->value);
  }
}

/* Returns whether a space precedes the offset: if the operand can select a half or a byte. */
static bool has_space(const struct sm_isa_operand *d) {
  return d->style == SM_STYLE_F16 || d->select_values;
}

static void append_const(struct text *t, const struct sm_isa_operand *d,
                         const struct sm_operand *o) {
  int64_t offset = (int16_t)o->value;
  append(t, has_space(d) ? "c[0x%x] [" : "c[0x%x][", o->bank);
  if (d->uindex.piece[0].length)
    append_reg(t, "UR", o->ureg, URZ);
  else if (o->index != RZ || (d->index.piece[0].length && !offset))
    append_reg(t, "R", o->index, RZ);
  else {
    append_hex(t, offset);
    append(t, "]");
    return;
  }
  if (offset) {
    append(t, "+");
    append_hex(t, offset);
  }
  append(t, "]");
}

static void append_mem(struct text *t, const struct sm_isa_operand *d, const struct sm_operand *o,
                       const uint64_t word[2]) {
  bool described = o->described;
  bool has_ureg = d->ureg.piece[0].length && !described && !d->next;
  bool named = false;
  if (described && o->policy) {
    append(t, "desc[");
    append_reg(t, "UR", o->desc, URZ);
    append(t, "]");
  }
  append(t, "[");
  if (o->reg != RZ || described || (has_ureg && o->scale != 1)) {
    append_reg(t, "R", o->reg, RZ);
    if (o->scale != 1)
      append(t, ".X%u", o->scale);
    if (d->wide_bit)
      append(t, o->base64 ? ".64" : ".U32");
    named = true;
  }
  if (has_ureg) {
    append(t, named ? "+" : "");
    append_reg(t, "UR", o->ureg, URZ);
    named = true;
  }
  if (!named && o->value)
    append_hex(t, (int64_t)sm_isa_field(word, d->value));
  else if (!named)
    append(t, "RZ");
  else if (o->value) {
    append(t, "+");
    append_hex(t, o->value);
  }
  append(t, "]");
}

static void append_special(struct text *t, const struct sm_isa_operand *d, unsigned number) {
  const struct sm_isa_values *names = &sm_isa_values[d->values - 1];
  const char *name = number < names->count ? names->text[number] : NULL;
  /* Two names have no prefix. */
  bool bare = number == SM_SR_SRZ || number == SM_SR_SM_SHADER_TYPE;
  if (name)
    append(t, bare ? "%s" : "SR_%s", name);
  else
    append(t, "SR%u", number);
}

static void append_scoreboards(struct text *t, unsigned mask) {
  const char *comma = "";
  append(t, "{");
  for (int i = 5; i >= 0; i--) {
    if (mask >> i & 1) {
      append(t, "%s%d", comma, i);
      comma = ",";
    }
  }
  append(t, "}");
}

static void append_swizzle(struct text *t, unsigned codes) {
  static const char *const names[] = {"PP", "PN", "NP", "ZP"};
  for (int lane = 3; lane >= 0; lane--)
    append(t, "%s", names[codes >> 2 * lane & 3]);
}

static void append_target(struct text *t, const struct sm_isa_operand *d,
                          const struct sm_operand *o, uint64_t pc) {
  if (d->bits.piece[0].length || d->ureg.piece[0].length) {
    if (d->ureg.piece[0].length)
      append_reg(t, "UR", o->ureg, URZ);
    else
      append_reg(t, "R", o->reg, RZ);
    if (d->offset && !o->value)
      return;
    append(t, " ");
  }
  append_hex(t, o->absolute || d->offset ? o->value
                                         : (int64_t)(pc + INSTRUCTION_SIZE + (uint64_t)o->value));
}

static void append_operand(struct text *t, const struct sm_insn *insn,
                           const struct sm_isa_operand *d, const struct sm_operand *o,
                           uint64_t pc) {
  if (o->neg)
    append(t, "-");
  if (o->inv)
    append(t, "~");
  if (o->abs)
    append(t, "|");
  switch (d->kind) {
  case SM_ISA_REG:
    append_reg(t, "R", o->reg, RZ);
    break;
  case SM_ISA_UREG:
    append_reg(t, "UR", o->reg, URZ);
    break;
  case SM_ISA_PRED:
    append_pred(t, "P", o);
    break;
  case SM_ISA_UPRED:
    append_pred(t, "UP", o);
    break;
  case SM_ISA_IMM:
    append_immediate(t, insn, d, o);
    break;
  case SM_ISA_CONST:
    append_const(t, d, o);
    break;
  case SM_ISA_BINDLESS:
    append(t, "cx[");
    append_reg(t, "UR", o->reg, URZ);
    append(t, has_space(d) ? "] [0x%" PRIx64 "]" : "][0x%" PRIx64 "]", (uint64_t)o->value);
    break;
  case SM_ISA_MEM:
    append_mem(t, d, o, insn->word);
    break;
  case SM_ISA_TARGET:
    append_target(t, d, o, pc);
    break;
  case SM_ISA_BARRIER:
    if (d->values)
      append(t, "%s", sm_isa_values[d->values - 1].text[o->value]);
    else
      append(t, "B%d", (int)o->value);
    break;
  case SM_ISA_SPECIAL:
    append_special(t, d, (unsigned)o->value);
    break;
  case SM_ISA_SCOREBOARD:
    append(t, "SB%d", (int)o->value);
    break;
  case SM_ISA_PR:
    append(t, "PR");
    break;
  case SM_ISA_UPR:
    append(t, "UPR");
    break;
  case SM_ISA_ENUM:
    append(t, "%s", sm_isa_values[d->values - 1].text[o->value]);
    break;
  case SM_ISA_SBSET:
    append_scoreboards(t, (unsigned)o->value);
    break;
  case SM_ISA_SWIZZLE:
    append_swizzle(t, (unsigned)o->value);
    break;
  default:
    break;
  }
  const char *select = d->select_values ? sm_isa_values[d->select_values - 1].text[o->select] : "";
  const bool inside =
      d->kind != SM_ISA_REG; /* the selected half is printed inside the bars of |abs| */
  if (inside)
    append_suffix(t, select);
  if (o->abs)
    append(t, "|");
  if (d->reuse && insn->reuse >> (d->reuse - 1) & 1)
    append(t, ".reuse");
  if (d->style == SM_STYLE_ROW || d->style == SM_STYLE_COL)
    append(t, d->style == SM_STYLE_ROW ? ".ROW" : ".COL");
  if (!inside)
    append_suffix(t, select);
}

/* Returns whether an optional operand has its default value, which is not printed. */
static bool is_neutral(const struct sm_isa_operand *d, const struct sm_operand *o) {
  if (!d->optional)
    return false;
  switch (d->kind) {
  case SM_ISA_PRED:
  case SM_ISA_UPRED:
    return o->reg == PT && !o->not_;
  case SM_ISA_REG:
    return o->reg == RZ;
  case SM_ISA_UREG:
    return o->reg == URZ;
  default:
    return o->value == d->neutral;
  }
}

/* IMAD is printed under another name if it is a move, an addition or a shift. A multiplication by
 * 0x10000 is not printed as a shift. */
static void append_imad_use(struct text *t, const struct sm_insn *insn) {
  enum { SHIFT_EXCEPTION = 0x10000 };
  const struct sm_operand *a = &insn->operand[1], *b = &insn->operand[2], *c = &insn->operand[3];
  bool c_zero = c->kind == SM_OPERAND_REG && c->reg == RZ;
  bool b_zero = b->kind == SM_OPERAND_REG && b->reg == RZ;
  bool immediate = b->kind == SM_OPERAND_IMM;
  if (b->kind == SM_OPERAND_UREG || c->kind == SM_OPERAND_UREG ||
      b->kind == SM_OPERAND_CONST_BINDLESS || c->kind == SM_OPERAND_CONST_BINDLESS)
    return;
  if (a->reg == RZ || b_zero || (immediate && (!b->value || (b->value == 1 && c_zero))))
    append(t, ".MOV");
  else if (immediate && b->value == 1)
    append(t, ".IADD");
  else if (immediate && c_zero && b->value < 1ll << 31 && b->value != SHIFT_EXCEPTION &&
           !(b->value & (b->value - 1)))
    append(t, ".SHL");
}

static void append_name(struct text *t, const struct sm_insn *insn, const struct sm_isa_row *row) {
  const struct sm_isa_mod *m = &sm_isa_mods[row->first_mod];
  for (const char *c = row->text; *c; c++) {
    if (*c != '\1') {
      append(t, "%c", *c);
      continue;
    }
    if (row->op == SM_OP_IMAD)
      append_imad_use(t, insn);
    const char *value = sm_isa_values[m->values].text[insn->mod[m->mod]];
    append_suffix(t, value);
    m++;
  }
}

size_t sm_disassemble(const struct sm_insn *insn, uint64_t pc, char *text, size_t size) {
  const struct sm_isa_row *row = &sm_isa_rows[insn->row];
  struct text t = {text, size, 0};
  if (size)
    text[0] = 0;
  if (insn->guard != PT || insn->guard_not) {
    struct sm_operand guard = {.reg = insn->guard, .not_ = insn->guard_not};
    append(&t, "@");
    append_pred(&t, insn->guard_uniform ? "UP" : "P", &guard);
    append(&t, " ");
  }
  append_name(&t, insn, row);
  const char *separator = " ";
  for (unsigned i = 0; i < insn->operand_count; i++) {
    const struct sm_isa_operand *d = &sm_isa_operands[sm_isa_operand_refs[row->first_operand + i]];
    if (is_neutral(d, &insn->operand[i]))
      continue;
    append(&t, "%s", separator);
    append_operand(&t, insn, d, &insn->operand[i], pc);
    separator = ", ";
  }
  return t.length;
}
