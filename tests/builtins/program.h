/* Kernels that call built-in functions: one for each form and width of a row. */
#ifndef TEGRACL_TESTS_BUILTINS_PROGRAM_H
#define TEGRACL_TESTS_BUILTINS_PROGRAM_H

#include "tests/builtins/builtins.h"

enum { FORM_LETTERS = 8 };

/* A parsed form: the letters of its result and parameters. */
struct form {
  char letters[FORM_LETTERS];
  unsigned arguments; /* without the pointer */
  bool has_second;
};
/* Parses the next form of the text. Returns false at the end. */
bool next_form(const char **text, struct form *form);

/* Returns the type that a letter denotes in functions of the given type and width. */
enum type letter_type(char letter, enum type type, unsigned width);
bool letter_is_vector(char letter);

bool width_allowed(const struct builtin *b, const struct form *form, unsigned width);

/* Returns the kernel's name, which is valid until the next call. */
const char *kernel_name(const struct builtin *b, unsigned form, unsigned width);
/* Adds the kernel. Its parameters are an array for each argument, one for
 * the result, and one for the second result. */
void add_kernel(struct device_text *text, const struct builtin *b, unsigned form_index,
                const struct form *form, enum type type, unsigned width);
/* Prints an overload, for example "float4 fmax(float4, float)". */
void list_overload(FILE *file, const struct builtin *b, const struct form *form, enum type type,
                   unsigned width);
/* Source code before the kernels. */
extern const char program_head[];

#endif
