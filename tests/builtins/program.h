/* Kernels that call built-in functions: one for each form and width of a row. */
#ifndef TEGRACL_TESTS_BUILTINS_PROGRAM_H
#define TEGRACL_TESTS_BUILTINS_PROGRAM_H

#include "tests/builtins/builtins.h"

enum { FORM_LETTERS = 8 };

/* A form taken apart: letters of the result and of what it is called with. */
struct form {
  char letters[FORM_LETTERS];
  unsigned arguments; /* without the pointer */
  bool has_second;
};
/* Reads the next form from the text; false at its end. */
bool next_form(const char **text, struct form *form);

/* What a letter stands for in functions of the type, in vectors of the width. */
enum type letter_type(char letter, enum type type, unsigned width);
bool letter_is_vector(char letter);

bool width_allowed(const struct builtin *b, const struct form *form, unsigned width);

/* The kernel's name, good until the next call. */
const char *kernel_name(const struct builtin *b, unsigned form, unsigned width);
/* Its text. It takes an array for each argument, one for the result, and one for
 * the second result. */
void add_kernel(struct device_text *text, const struct builtin *b, unsigned form_index,
                const struct form *form, enum type type, unsigned width);
/* "float4 fmax(float4, float)" */
void list_overload(FILE *file, const struct builtin *b, const struct form *form, enum type type,
                   unsigned width);
/* The source before the kernels. */
extern const char program_head[];

#endif
