/* Parses the subset of Itanium C++ name mangling that OpenCL C needs: builtin types, vectors,
 * qualified pointers with address spaces, and substitutions. Sources: Itanium C++ ABI, section 5.1
 * "External Names", and clang's extensions (the vendor qualifiers U3AS1 and U7_Atomic). */
#include "compiler/lower/mangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SUBSTITUTIONS_MAX = 64, DEPTH_MAX = 16 };

struct parser {
  const char *at;
  struct mangle_type seen[SUBSTITUTIONS_MAX];
  unsigned seen_count;
};

static const struct {
  char code;
  enum mangle_base base;
} builtin_types[] = {
    {'v', MANGLE_VOID},  {'b', MANGLE_BOOL},  {'c', MANGLE_CHAR},   {'a', MANGLE_CHAR},
    {'h', MANGLE_UCHAR}, {'s', MANGLE_SHORT}, {'t', MANGLE_USHORT}, {'i', MANGLE_INT},
    {'j', MANGLE_UINT},  {'l', MANGLE_LONG},  {'m', MANGLE_ULONG},  {'x', MANGLE_LONG},
    {'y', MANGLE_ULONG}, {'f', MANGLE_FLOAT}, {'d', MANGLE_DOUBLE}, {'z', MANGLE_VARIADIC},
};

static bool remember_substitution(struct parser *parser, const struct mangle_type *type) {
  if (parser->seen_count == SUBSTITUTIONS_MAX)
    return false;
  parser->seen[parser->seen_count++] = *type;
  return true;
}

/* <length><name> */
static bool parse_name(struct parser *parser, char *name) {
  size_t length = 0;
  if (!isdigit((unsigned char)*parser->at))
    return false;
  while (isdigit((unsigned char)*parser->at) && length < MANGLE_NAME_MAX)
    length = length * 10 + (size_t)(*parser->at++ - '0');
  if (length == 0 || length >= MANGLE_NAME_MAX || strnlen(parser->at, length) < length)
    return false;
  memcpy(name, parser->at, length);
  name[length] = 0;
  parser->at += length;
  return true;
}

/* S_ is the first substitution candidate and S0_ the second; numbers are in base 36. */
static bool parse_substitution(struct parser *parser, struct mangle_type *type) {
  unsigned index = 0;
  if (*parser->at != '_') {
    while (isdigit((unsigned char)*parser->at) || isupper((unsigned char)*parser->at)) {
      char c = *parser->at++;
      index = index * 36 + (unsigned)(isdigit((unsigned char)c) ? c - '0' : c - 'A' + 10);
      if (index > SUBSTITUTIONS_MAX)
        return false;
    }
    index++;
  }
  if (*parser->at++ != '_' || index >= parser->seen_count)
    return false;
  *type = parser->seen[index];
  return true;
}

static bool parse_type(struct parser *parser, struct mangle_type *type, unsigned depth);

/* D: half and vectors. */
static bool parse_extended(struct parser *parser, struct mangle_type *type, unsigned depth) {
  char code = *parser->at++;
  if (code == 'h') {
    *type = (struct mangle_type){.base = MANGLE_HALF, .lanes = 1};
    return true;
  }
  if (code != 'v')
    return false;
  char *end;
  unsigned long lanes = strtoul(parser->at, &end, 10);
  if (end == parser->at || *end != '_' || lanes < 2 || lanes > 16)
    return false;
  parser->at = end + 1;
  if (!parse_type(parser, type, depth + 1) || type->pointers || type->lanes != 1)
    return false;
  type->lanes = (unsigned)lanes;
  return remember_substitution(parser, type);
}

/* _Atomic makes a separate type, although its mangling looks like that of a qualifier. */
static const char atomic_prefix[] = "U7_Atomic";

static bool at_atomic(const struct parser *parser) {
  return !strncmp(parser->at, atomic_prefix, strlen(atomic_prefix));
}

static bool parse_atomic(struct parser *parser, struct mangle_type *type, unsigned depth) {
  parser->at += strlen(atomic_prefix);
  if (!parse_type(parser, type, depth + 1))
    return false;
  type->is_atomic = true;
  return remember_substitution(parser, type);
}

/* clang's qualifier of a pointee in local memory */
static const char local_space[] = "AS3";

/* Parses the qualifiers r, V, K and those of vendors before a type.
 * Together they are one substitution candidate. */
static bool parse_qualified(struct parser *parser, struct mangle_type *type, unsigned depth) {
  bool is_const = false, is_volatile = false, is_local = false;
  for (; !at_atomic(parser); parser->at++) {
    char name[MANGLE_NAME_MAX];
    if (*parser->at == 'K')
      is_const = true;
    else if (*parser->at == 'V')
      is_volatile = true;
    else if (*parser->at == 'U') {
      parser->at++;
      if (!parse_name(parser, name))
        return false;
      is_local |= !strcmp(name, local_space);
      parser->at--;
    } else if (*parser->at != 'r')
      break;
  }
  if (!parse_type(parser, type, depth + 1))
    return false;
  type->is_const |= is_const;
  type->is_volatile |= is_volatile;
  type->is_local |= is_local;
  type->is_qualified = true;
  return remember_substitution(parser, type);
}

/* Every pointee in OpenCL C has an address space. The target's space 0 is
 * not mangled, but the qualified pointee is still a substitution candidate
 * (clang's CXXNameMangler::mangleQualifiers). */
static bool parse_pointer(struct parser *parser, struct mangle_type *type, unsigned depth) {
  if (!parse_type(parser, type, depth + 1))
    return false;
  if (!type->is_qualified) {
    type->is_qualified = true;
    if (!remember_substitution(parser, type))
      return false;
  }
  type->pointers++;
  type->is_qualified = false;
  return remember_substitution(parser, type);
}

static bool parse_type(struct parser *parser, struct mangle_type *type, unsigned depth) {
  if (depth > DEPTH_MAX)
    return false;
  char code = *parser->at;
  for (size_t i = 0; i < sizeof builtin_types / sizeof builtin_types[0]; i++)
    if (builtin_types[i].code == code) {
      parser->at++;
      *type = (struct mangle_type){.base = builtin_types[i].base, .lanes = 1};
      return true;
    }
  switch (code) {
  case 'D':
    parser->at++;
    return parse_extended(parser, type, depth);
  case 'S':
    parser->at++;
    return parse_substitution(parser, type);
  case 'P':
    parser->at++;
    return parse_pointer(parser, type, depth);
  case 'K':
  case 'V':
  case 'U':
  case 'r':
    return at_atomic(parser) ? parse_atomic(parser, type, depth)
                             : parse_qualified(parser, type, depth);
  default:
    *type = (struct mangle_type){.base = MANGLE_NAMED, .lanes = 1};
    return parse_name(parser, type->name) && remember_substitution(parser, type);
  }
}

bool mangle_parse(const char *symbol, struct mangle *out) {
  struct parser parser = {.at = symbol};
  *out = (struct mangle){0};
  if (strncmp(symbol, "_Z", 2))
    return false;
  parser.at += 2;
  if (!parse_name(&parser, out->base))
    return false;
  while (*parser.at) {
    if (out->arg_count == MANGLE_ARGS_MAX)
      return false;
    struct mangle_type *type = &out->args[out->arg_count];
    if (!parse_type(&parser, type, 0))
      return false;
    if (type->base != MANGLE_VOID || type->pointers)
      out->arg_count++;
    else if (*parser.at)
      return false;
  }
  return true;
}
