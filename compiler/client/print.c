/* The host's part of printf: formats the records that calls in kernels have written. See the
 * OpenCL C 3.0 specification, 6.15.14. A conversion without a length modifier prints all bits of
 * the argument. C leaves mismatched types undefined, but this is what users expect. */
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "base/text.h"
#include "compiler/compiler.h"

enum {
  FIELD_MAX = 4095, /* largest width and precision, the minimum that C requires */
  EMIT_BYTES = 1 << 16,
  LANES_MAX = 16,
  FLAGS_MAX = 5,
};

static const unsigned char type_bytes[] = {
    [PRINT_I8] = 1,   [PRINT_I16] = 2,   [PRINT_I32] = 4,    [PRINT_I64] = 8,
    [PRINT_HALF] = 2, [PRINT_FLOAT] = 4, [PRINT_DOUBLE] = 8, [PRINT_POINTER] = 8,
};

/* An argument with its values, one for each lane. */
struct argument {
  enum print_type type;
  unsigned lanes;
  const unsigned char *values;
};

/* A record and the position in it. */
struct record {
  const unsigned char *types, *types_end;
  const unsigned char *at, *end; /* arguments */
};

struct conversion {
  char flags[FLAGS_MAX + 1];
  int width;
  int precision;  /* -1: none */
  unsigned lanes; /* 0: a scalar */
  unsigned bits;  /* width of an integer; 0: that of the argument */
  char letter;
};

/* Collects the output and emits it in pieces, which limits memory to a few fields. */
struct printer {
  const struct cc_print_reader *reader;
  struct text text;
  locale_t user_locale;
};

static size_t round_up(size_t bytes) {
  return (bytes + PRINT_ALIGN - 1) / PRINT_ALIGN * PRINT_ALIGN;
}

/* ---- arguments --------------------------------------------------------------- */

static bool take_argument(struct record *record, struct argument *argument) {
  if (record->types == record->types_end)
    return false;
  unsigned byte = *record->types++;
  argument->type = byte % PRINT_LANES;
  argument->lanes = byte / PRINT_LANES;
  argument->values = record->at;
  size_t bytes = (size_t)argument->lanes * type_bytes[argument->type];
  if (argument->lanes == 0 || argument->lanes > LANES_MAX ||
      (size_t)(record->end - record->at) < round_up(bytes))
    return false;
  record->at += round_up(bytes);
  return true;
}

static uint64_t raw_bits(const struct argument *argument, unsigned lane) {
  uint64_t value = 0; /* little-endian, like the GPU's memory */
  unsigned bytes = type_bytes[argument->type];
  memcpy(&value, argument->values + (size_t)lane * bytes, bytes);
  return value;
}

static bool is_float(const struct argument *argument) {
  return argument->type >= PRINT_HALF && argument->type <= PRINT_DOUBLE;
}

static int64_t sign_extend(uint64_t value, unsigned bits) {
  const unsigned above = 64 - bits;
  return (int64_t)(value << above) >> above;
}

static double half_value(uint64_t bits) {
  enum { EXPONENT = 0x7c00, MANTISSA = 0x3ff, SIGN = 0x8000 };
  const uint32_t sign = (uint32_t)(bits & SIGN) << 16;
  float value;
  if ((bits & EXPONENT) == 0) {
    value = (float)(bits & MANTISSA) * 0x1p-24f;
    return sign ? -value : value;
  }
  /* The exponent's bias is 15 in a half and 127 in a float. */
  uint32_t word = (uint32_t)(bits & (EXPONENT | MANTISSA)) << 13;
  word += (bits & EXPONENT) == EXPONENT ? (255u - 31u) << 23 : (127u - 15u) << 23;
  word |= sign;
  memcpy(&value, &word, sizeof value);
  return value;
}

static double float_value(const struct argument *argument, unsigned lane) {
  const uint64_t bits = raw_bits(argument, lane);
  float single;
  double value;
  switch (argument->type) {
  case PRINT_HALF:
    return half_value(bits);
  case PRINT_FLOAT:
    memcpy(&single, &bits, sizeof single);
    return single;
  case PRINT_DOUBLE:
    memcpy(&value, &bits, sizeof value);
    return value;
  default:
    return (double)sign_extend(bits, type_bytes[argument->type] * 8u);
  }
}

static int64_t integer_value(const struct argument *argument, unsigned lane, bool is_signed) {
  if (is_float(argument)) {
    const double value = float_value(argument, lane);
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
  }
  const uint64_t bits = raw_bits(argument, lane);
  return is_signed ? sign_extend(bits, type_bytes[argument->type] * 8u) : (int64_t)bits;
}

/* ---- the format -------------------------------------------------------------- */

/* Reads a number, or takes the next argument for '*'. */
static int read_field(const char **at, struct record *record) {
  int number = 0;
  if (**at == '*') {
    struct argument argument;
    ++*at;
    const int64_t value = take_argument(record, &argument) ? integer_value(&argument, 0, true) : 0;
    return value < -FIELD_MAX ? -FIELD_MAX : value > FIELD_MAX ? FIELD_MAX : (int)value;
  }
  for (; isdigit((unsigned char)**at); ++*at)
    if (number < FIELD_MAX)
      number = number * 10 + (**at - '0');
  return number < FIELD_MAX ? number : FIELD_MAX;
}

/* The length modifiers of OpenCL C and C, longest first. */
static const struct {
  const char *name;
  unsigned bits;
} lengths[] = {{"hh", 8}, {"hl", 32}, {"ll", 64}, {"h", 16}, {"l", 64},
               {"z", 64}, {"t", 64},  {"j", 64},  {"L", 0}};

/* Reads what follows a '%'. */
static void read_conversion(const char **at, struct record *record, struct conversion *c) {
  *c = (struct conversion){.precision = -1};
  for (size_t count = 0; **at && strchr("-+ #0", **at); ++*at)
    if (!strchr(c->flags, **at))
      c->flags[count++] = **at;
  c->width = read_field(at, record);
  if (**at == '.') {
    ++*at;
    c->precision = read_field(at, record);
  }
  if (**at == 'v') {
    ++*at;
    c->lanes = (unsigned)read_field(at, record);
  }
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    if (!strncmp(*at, lengths[i].name, strlen(lengths[i].name))) {
      c->bits = lengths[i].bits;
      *at += strlen(lengths[i].name);
      break;
    }
  c->letter = **at;
  *at += **at != 0;
}

/* ---- output -------------------------------------------------------------------- */

/* A conversion specification for C's printf, with the given length modifier.
 * Width and precision are passed as arguments. */
struct specification {
  char text[FLAGS_MAX + 8];
};

static struct specification make_format(const struct conversion *c, const char *length,
                                        char letter) {
  struct specification s;
  char *at = stpcpy(stpcpy(stpcpy(stpcpy(s.text, "%"), c->flags), "*.*"), length);
  at[0] = letter;
  at[1] = 0;
  return s;
}

/* Emits the collected text if it has at least the given number of
 * bytes. Calls emit in the user's locale. */
static void emit_text(struct printer *printer, size_t least) {
  if (!printer->text.size || printer->text.size < least)
    return;
  const locale_t plain = uselocale(printer->user_locale);
  printer->reader->emit(printer->reader->data, printer->text.data, printer->text.size);
  uselocale(plain);
  printer->text.size = 0;
}

static void print_element(const struct conversion *c, const struct argument *argument,
                          unsigned lane, struct text *out) {
  const bool is_signed = c->letter == 'd' || c->letter == 'i';
  if (!strchr("diouxX", c->letter)) {
    text_printf(out, make_format(c, "", c->letter).text, c->width, c->precision,
                float_value(argument, lane));
    return;
  }
  uint64_t value = (uint64_t)integer_value(argument, lane, is_signed);
  if (is_signed)
    text_printf(out, make_format(c, "ll", c->letter).text, c->width, c->precision,
                (long long)(c->bits ? sign_extend(value, c->bits) : (int64_t)value));
  else
    text_printf(out, make_format(c, "ll", c->letter).text, c->width, c->precision,
                (unsigned long long)(c->bits ? value & (UINT64_MAX >> (64 - c->bits)) : value));
}

static void print_string(struct printer *printer, const struct conversion *c,
                         const struct argument *argument) {
  const struct cc_print_reader *reader = printer->reader;
  const uint64_t address = argument->type == PRINT_POINTER ? raw_bits(argument, 0) : 0;
  const char *string = address ? reader->string(reader->data, address) : "(null)";
  text_printf(&printer->text, make_format(c, "", 's').text, c->width, c->precision,
              string ? string : "(not a constant string)");
}

/* Prints one argument. Returns false if none is left or the conversion is unknown. */
static bool print_argument(struct printer *printer, const struct conversion *c,
                           struct record *record) {
  struct text *out = &printer->text;
  struct argument argument;
  if (!c->letter || !strchr("diouxXfFeEgGaAcsp", c->letter) || !take_argument(record, &argument))
    return false;
  switch (c->letter) {
  case 'c':
    text_printf(out, make_format(c, "", 'c').text, c->width, -1,
                (int)(unsigned char)integer_value(&argument, 0, false));
    return true;
  case 's':
    print_string(printer, c, &argument);
    return true;
  case 'p':
    text_printf(out, make_format(c, "", 'p').text, c->width, -1,
                (void *)(uintptr_t)integer_value(&argument, 0, false));
    return true;
  default:
    for (unsigned i = 0; i == 0 || (i < c->lanes && i < argument.lanes); i++) {
      if (i)
        text_puts(out, ",");
      print_element(c, &argument, i, out);
      emit_text(printer, EMIT_BYTES);
    }
    return true;
  }
}

static void print_call(struct printer *printer, const char *format, struct record *record) {
  struct text *out = &printer->text;
  while (*format) {
    emit_text(printer, EMIT_BYTES);
    const size_t plain = strcspn(format, "%");
    text_add(out, format, plain);
    format += plain;
    if (!*format)
      return;
    const char *start = format++;
    struct conversion conversion;
    read_conversion(&format, record, &conversion);
    if (conversion.letter == '%')
      text_puts(out, "%");
    else if (!print_argument(printer, &conversion, record))
      text_add(out, start, (size_t)(format - start));
  }
}

/* Prints the first record of the given bytes. Returns its size,
 * or 0 if there is no complete record. */
static size_t print_record(struct printer *printer, const unsigned char *at, size_t size) {
  struct print_record header;
  if (size < sizeof header)
    return 0;
  memcpy(&header, at, sizeof header);
  if (header.size < sizeof header || header.size > size || header.size % PRINT_ALIGN)
    return 0;
  const size_t head = sizeof header + round_up(header.arg_count);
  const char *format = printer->reader->string(printer->reader->data, header.format);
  if (!format || head > header.size)
    return header.size;
  struct record record = {.types = at + sizeof header,
                          .types_end = at + sizeof header + header.arg_count,
                          .at = at + head,
                          .end = at + header.size};
  print_call(printer, format, &record);
  return header.size;
}

bool cc_print(const struct cc_print_reader *reader, const void *records, size_t size) {
  const locale_t plain = newlocale(LC_ALL_MASK, "C", NULL);
  const unsigned char *at = records;
  struct printer printer = {.reader = reader, .user_locale = uselocale(plain)};
  for (size_t step = 1; step; at += step, size -= step) {
    step = print_record(&printer, at, size);
    emit_text(&printer, step ? EMIT_BYTES : 0);
  }
  uselocale(printer.user_locale);
  if (plain)
    freelocale(plain);
  const bool whole = !printer.text.failed;
  text_finish(&printer.text);
  return whole;
}
