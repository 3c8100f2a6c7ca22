/* The disassembler: prints a decoded instruction from its row of the table, in
 * the spelling of NVIDIA's nvdisasm (13.1), which is what people know.
 */
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

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...) {
  size_t room = t->length < t->size ? t->size - t->length : 0;
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(room ? t->at + t->length : NULL, room, format, arguments);
  va_end(arguments);
  if (n > 0)
    t->length += (size_t)n;
}

static void put_suffix(struct text *t, const char *name) {
  if (*name)
    put(t, ".%s", name);
}

static void put_hex(struct text *t, int64_t value) {
  if (value < 0)
    put(t, "-0x%" PRIx64, -(uint64_t)value);
  else
    put(t, "0x%" PRIx64, (uint64_t)value);
}

static void put_reg(struct text *t, const char *name, unsigned reg, unsigned zero) {
  if (reg == zero)
    put(t, "%sZ", name);
  else
    put(t, "%s%u", name, reg);
}

static void put_pred(struct text *t, const char *name, const struct sm_operand *o) {
  put(t, o->not_ ? "!" : "");
  if (o->reg == PT)
    put(t, "%sT", name);
  else
    put(t, "%s%u", name, o->reg);
}

/* Special values are followed by a space, large ones have 21 digits. */
static void put_double(struct text *t, double x, bool quiet) {
  const double with_exponent = 1e9;
  const char *sign = signbit(x) ? "-" : "+";
  if (isnan(x))
    put(t, "%s%cNAN ", sign, quiet ? 'Q' : 'S');
  else if (isinf(x))
    put(t, "%sINF ", sign);
  else if (x == 0 && signbit(x))
    put(t, "-0.0 ");
  else if (fabs(x) >= with_exponent)
    put(t, "%.20e", x);
  else
    put(t, "%.20g", x);
}

static void put_float(struct text *t, uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  /* Converting a signalling NaN would make it quiet; its sign survives. */
  put_double(t, (double)x, bits >> 22 & 1);
}

static void put_half(struct text *t, uint32_t bits) {
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  double x;
  if (exponent == 0x1f)
    x = mantissa ? (double)NAN : (double)INFINITY;
  else if (exponent)
    x = ldexp(mantissa | 0x400, (int)exponent - 25);
  else
    x = ldexp(mantissa, -24);
  put_double(t, copysign(x, bits >> 15 ? -1.0 : 1.0), mantissa >> 9);
}

static void put_immediate(struct text *t, const struct sm_insn *insn,
                          const struct sm_isa_operand *d, const struct sm_operand *o) {
  uint32_t bits = (uint32_t)o->value;
  uint64_t wide = (uint64_t)bits << 32;
  double x;
  switch (d->style) {
  case SM_STYLE_SIGNED:
    put_hex(t, (int32_t)bits);
    break;
  case SM_STYLE_F32:
    put_float(t, bits);
    break;
  case SM_STYLE_F64:
    memcpy(&x, &wide, sizeof(x));
    put_double(t, x, bits >> 19 & 1);
    break;
  case SM_STYLE_F16:
    if (insn->mod[SM_MOD_OFMT] == SM_OFMT_BF16_V2) {
      put_float(t, bits & 0xffff0000);
      put(t, ", ");
      put_float(t, bits << 16);
    } else {
      put_half(t, bits >> 16);
      put(t, ", ");
      put_half(t, bits & 0xffff);
    }
    break;
  case SM_STYLE_HALF:
    put_half(t, bits & 0xffff);
    break;
  default:
    put_hex(t, o->value);
  }
}

/* Operands that may select a half or a byte have a space before the offset. */
static bool apart(const struct sm_isa_operand *d) {
  return d->style == SM_STYLE_F16 || d->select_values;
}

static void put_const(struct text *t, const struct sm_isa_operand *d, const struct sm_operand *o) {
  int64_t offset = (int16_t)o->value;
  put(t, apart(d) ? "c[0x%x] [" : "c[0x%x][", o->bank);
  if (d->uindex.piece[0].length)
    put_reg(t, "UR", o->ureg, URZ);
  else if (o->index != RZ || (d->index.piece[0].length && !offset))
    put_reg(t, "R", o->index, RZ);
  else {
    put_hex(t, offset);
    put(t, "]");
    return;
  }
  if (offset) {
    put(t, "+");
    put_hex(t, offset);
  }
  put(t, "]");
}

static void put_mem(struct text *t, const struct sm_isa_operand *d, const struct sm_operand *o,
                    const uint64_t word[2]) {
  bool described = o->described;
  bool has_ureg = d->ureg.piece[0].length && !described && !d->next;
  bool named = false;
  if (described && o->policy) {
    put(t, "desc[");
    put_reg(t, "UR", o->desc, URZ);
    put(t, "]");
  }
  put(t, "[");
  if (o->reg != RZ || described || (has_ureg && o->scale != 1)) {
    put_reg(t, "R", o->reg, RZ);
    if (o->scale != 1)
      put(t, ".X%u", o->scale);
    if (d->wide_bit)
      put(t, o->base64 ? ".64" : ".U32");
    named = true;
  }
  if (has_ureg) {
    put(t, named ? "+" : "");
    put_reg(t, "UR", o->ureg, URZ);
    named = true;
  }
  if (!named && o->value)
    put_hex(t, (int64_t)sm_isa_field(word, d->value));
  else if (!named)
    put(t, "RZ");
  else if (o->value) {
    put(t, "+");
    put_hex(t, o->value);
  }
  put(t, "]");
}

static void put_special(struct text *t, const struct sm_isa_operand *d, unsigned number) {
  const struct sm_isa_values *names = &sm_isa_values[d->values - 1];
  const char *name = number < names->count ? names->text[number] : NULL;
  /* Two names lack the prefix. */
  bool bare = number == SM_SR_SRZ || number == SM_SR_SM_SHADER_TYPE;
  if (name)
    put(t, bare ? "%s" : "SR_%s", name);
  else
    put(t, "SR%u", number);
}

static void put_scoreboards(struct text *t, unsigned mask) {
  const char *comma = "";
  put(t, "{");
  for (int i = 5; i >= 0; i--) {
    if (mask >> i & 1) {
      put(t, "%s%d", comma, i);
      comma = ",";
    }
  }
  put(t, "}");
}

static void put_swizzle(struct text *t, unsigned codes) {
  static const char *const names[] = {"PP", "PN", "NP", "ZP"};
  for (int lane = 3; lane >= 0; lane--)
    put(t, "%s", names[codes >> 2 * lane & 3]);
}

static void put_target(struct text *t, const struct sm_isa_operand *d, const struct sm_operand *o,
                       uint64_t pc) {
  if (d->bits.piece[0].length) {
    put_reg(t, "R", o->reg, RZ);
    if (d->offset && !o->value)
      return;
    put(t, " ");
  }
  put_hex(t, o->absolute || d->offset ? o->value
                                      : (int64_t)(pc + INSTRUCTION_SIZE + (uint64_t)o->value));
}

static void put_operand(struct text *t, const struct sm_insn *insn, const struct sm_isa_operand *d,
                        const struct sm_operand *o, uint64_t pc) {
  if (o->neg)
    put(t, "-");
  if (o->inv)
    put(t, "~");
  if (o->abs)
    put(t, "|");
  switch (d->kind) {
  case SM_ISA_REG:
    put_reg(t, "R", o->reg, RZ);
    break;
  case SM_ISA_UREG:
    put_reg(t, "UR", o->reg, URZ);
    break;
  case SM_ISA_PRED:
    put_pred(t, "P", o);
    break;
  case SM_ISA_UPRED:
    put_pred(t, "UP", o);
    break;
  case SM_ISA_IMM:
    put_immediate(t, insn, d, o);
    break;
  case SM_ISA_CONST:
    put_const(t, d, o);
    break;
  case SM_ISA_BINDLESS:
    put(t, "cx[");
    put_reg(t, "UR", o->reg, URZ);
    put(t, apart(d) ? "] [0x%" PRIx64 "]" : "][0x%" PRIx64 "]", (uint64_t)o->value);
    break;
  case SM_ISA_MEM:
    put_mem(t, d, o, insn->word);
    break;
  case SM_ISA_TARGET:
    put_target(t, d, o, pc);
    break;
  case SM_ISA_BARRIER:
    if (d->values)
      put(t, "%s", sm_isa_values[d->values - 1].text[o->value]);
    else
      put(t, "B%d", (int)o->value);
    break;
  case SM_ISA_SPECIAL:
    put_special(t, d, (unsigned)o->value);
    break;
  case SM_ISA_SCOREBOARD:
    put(t, "SB%d", (int)o->value);
    break;
  case SM_ISA_PR:
    put(t, "PR");
    break;
  case SM_ISA_UPR:
    put(t, "UPR");
    break;
  case SM_ISA_ENUM:
    put(t, "%s", sm_isa_values[d->values - 1].text[o->value]);
    break;
  case SM_ISA_SBSET:
    put_scoreboards(t, (unsigned)o->value);
    break;
  case SM_ISA_SWIZZLE:
    put_swizzle(t, (unsigned)o->value);
    break;
  default:
    break;
  }
  const char *select = d->select_values ? sm_isa_values[d->select_values - 1].text[o->select] : "";
  const bool inside = d->kind != SM_ISA_REG; /* the choice of a half, of the bars */
  if (inside)
    put_suffix(t, select);
  if (o->abs)
    put(t, "|");
  if (d->reuse && insn->reuse >> (d->reuse - 1) & 1)
    put(t, ".reuse");
  if (d->style == SM_STYLE_ROW || d->style == SM_STYLE_COL)
    put(t, d->style == SM_STYLE_ROW ? ".ROW" : ".COL");
  if (!inside)
    put_suffix(t, select);
}

/* An optional operand is not printed when it says nothing. */
static bool neutral(const struct sm_isa_operand *d, const struct sm_operand *o) {
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

/* IMAD has its own spellings for what it is used as; 0x10000 is none of its
 * shifts. */
static void put_imad_use(struct text *t, const struct sm_insn *insn) {
  enum { SHIFT_EXCEPTION = 0x10000 };
  const struct sm_operand *a = &insn->operand[1], *b = &insn->operand[2], *c = &insn->operand[3];
  bool c_zero = c->kind == SM_OPERAND_REG && c->reg == RZ;
  bool b_zero = b->kind == SM_OPERAND_REG && b->reg == RZ;
  bool immediate = b->kind == SM_OPERAND_IMM;
  if (b->kind == SM_OPERAND_UREG || c->kind == SM_OPERAND_UREG ||
      b->kind == SM_OPERAND_CONST_BINDLESS || c->kind == SM_OPERAND_CONST_BINDLESS)
    return;
  if (a->reg == RZ || b_zero || (immediate && (!b->value || (b->value == 1 && c_zero))))
    put(t, ".MOV");
  else if (immediate && b->value == 1)
    put(t, ".IADD");
  else if (immediate && c_zero && b->value < 1ll << 31 && b->value != SHIFT_EXCEPTION &&
           !(b->value & (b->value - 1)))
    put(t, ".SHL");
}

static void put_name(struct text *t, const struct sm_insn *insn, const struct sm_isa_row *row) {
  const struct sm_isa_mod *m = &sm_isa_mods[row->first_mod];
  for (const char *c = row->text; *c; c++) {
    if (*c != '\1') {
      put(t, "%c", *c);
      continue;
    }
    if (row->op == SM_OP_IMAD)
      put_imad_use(t, insn);
    const char *value = sm_isa_values[m->values].text[insn->mod[m->mod]];
    put_suffix(t, value);
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
    put(&t, "@");
    put_pred(&t, insn->guard_uniform ? "UP" : "P", &guard);
    put(&t, " ");
  }
  put_name(&t, insn, row);
  const char *separator = " ";
  for (unsigned i = 0; i < insn->operand_count; i++) {
    const struct sm_isa_operand *d = &sm_isa_operands[sm_isa_operand_refs[row->first_operand + i]];
    if (neutral(d, &insn->operand[i]))
      continue;
    put(&t, "%s", separator);
    put_operand(&t, insn, d, &insn->operand[i], pc);
    separator = ", ";
  }
  return t.length;
}
