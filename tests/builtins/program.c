/* See program.h. */
#include "tests/builtins/program.h"

#include <string.h>

const char program_head[] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                            "#define operator_add(x, y) ((x) + (y))\n"
                            "#define operator_subtract(x, y) ((x) - (y))\n"
                            "#define operator_multiply(x, y) ((x) * (y))\n"
                            "#define operator_divide(x, y) ((x) / (y))\n";

/* Letters for types. g is the type itself, s its scalar, q its values of 24 bits, o a pointer to
 * it; i and j are int, p a pointer to int; x is a number of bits (uint); r is a truth value; k and
 * u are the signed and unsigned integers of the type's size, d is that of twice its size. */
static const char vectors[] = "gqokuripd", second_results[] = "op";

bool letter_is_vector(char letter) {
  return strchr(vectors, letter) != NULL;
}

enum type letter_type(char letter, enum type type, unsigned width) {
  const struct type_info *t = &types[type];
  switch (letter) {
  case 'g':
  case 's':
  case 'q':
  case 'o':
    return type;
  case 'r':
    return width == 1 ? INT : integer_type(t->bits, true);
  case 'k':
    return integer_type(t->bits, true);
  case 'u':
    return integer_type(t->bits, false);
  case 'd':
    return integer_type(2 * t->bits, t->is_signed);
  case 'x':
    return UINT;
  default:
    return INT;
  }
}

bool next_form(const char **text, struct form *form) {
  size_t length = strcspn(*text, " ");
  if (length == 0 || length >= FORM_LETTERS)
    return false;
  *form = (struct form){{0}, 0, false};
  memcpy(form->letters, *text, length);
  form->has_second = strchr(second_results, form->letters[length - 1]) != NULL;
  form->arguments = (unsigned)length - 1 - form->has_second;
  *text += length + ((*text)[length] == ' ');
  return true;
}

/* Returns whether the form exists with this width. For scalars, forms with additional scalar
 * parameters are duplicates. */
bool width_allowed(const struct builtin *b, const struct form *form, unsigned width) {
  if (width == 1 && strpbrk(form->letters + 1, "sj"))
    return false;
  if (b->flags & ONLY_3_4)
    return width == 3 || width == 4;
  return !(b->flags & UP_TO_4) || width <= 4;
}

const char *kernel_name(const struct builtin *b, unsigned form, unsigned width) {
  static char name[64];
  snprintf(name, sizeof name, "test_%s_%u_%u", b->name, form, width);
  return name;
}

const char *type_name(enum type type, unsigned width) {
  static char names[4][16]; /* the last four results are valid */
  static unsigned turn;
  char *name = names[turn++ % 4];
  if (width == 1)
    snprintf(name, sizeof names[0], "%s", types[type].name);
  else
    snprintf(name, sizeof names[0], "%s%u", types[type].name, width);
  return name;
}

void add_load(struct device_text *text, unsigned width, const char *array) {
  if (width == 1)
    device_text_add(text, "%s[i]", array);
  else
    device_text_add(text, "vload%u(i, %s)", width, array);
}

void add_store(struct device_text *text, unsigned width, const char *value, const char *array) {
  if (width == 1)
    device_text_add(text, "  %s[i] = %s;\n", array, value);
  else
    device_text_add(text, "  vstore%u(%s, i, %s);\n", width, value, array);
}

void add_kernel(struct device_text *text, const struct builtin *b, unsigned form_index,
                const struct form *form, enum type type, unsigned width) {
  const char *letters = form->letters;
  const char pointer = letters[1 + form->arguments];
  const enum type result = letter_type(letters[0], type, width);
  const enum type second = letter_type(pointer, type, width);
  const unsigned result_width = letter_is_vector(letters[0]) ? width : 1;
  const bool in_local = width == 3 || width == 16; /* where the second result is stored */
  device_text_add(text, "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void %s(\n", GROUP,
                  kernel_name(b, form_index, width));
  for (unsigned k = 0; k < form->arguments; k++)
    device_text_add(text, "    global const %s *a%u,\n",
                    types[letter_type(letters[1 + k], type, width)].name, k);
  device_text_add(text, "    global %s *r, global %s *s) {\n  size_t i = get_global_id(0);\n",
                  types[result].name, types[second].name);
  if (form->has_second && in_local)
    device_text_add(text, "  local %s cell[%u];\n", type_name(second, width), GROUP);
  else if (form->has_second)
    device_text_add(text, "  %s other;\n", type_name(second, width));
  device_text_add(text, "  %s v = %s(", type_name(result, result_width), b->name);
  for (unsigned k = 0; k < form->arguments; k++) {
    char array[16];
    snprintf(array, sizeof array, "a%u", k);
    device_text_add(text, k ? ", " : "");
    if (letter_is_vector(letters[1 + k]))
      add_load(text, width, array);
    else
      device_text_add(text, "%s[i * %u]", array, width);
  }
  if (form->has_second)
    device_text_add(text, in_local ? ", &cell[get_local_id(0)]" : ", &other");
  device_text_add(text, ");\n");
  add_store(text, result_width, "v", "r");
  if (form->has_second)
    add_store(text, width, in_local ? "cell[get_local_id(0)]" : "other", "s");
  device_text_add(text, "}\n");
}

void list_overload(FILE *file, const struct builtin *b, const struct form *form, enum type type,
                   unsigned width) {
  fprintf(file, "%s(", b->name);
  for (unsigned k = 1; form->letters[k]; k++) {
    const char letter = form->letters[k];
    fprintf(file, "%s%s%s", k > 1 ? ", " : "",
            type_name(letter_type(letter, type, width), letter_is_vector(letter) ? width : 1),
            strchr(second_results, letter) ? " *" : "");
  }
  fprintf(file, ")\n");
}
