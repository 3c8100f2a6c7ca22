/* A growing string. A zeroed struct is an empty string. If memory is exhausted or a format is
 * invalid, failed is set and later calls append nothing, so it is enough to check once at the
 * end. */
#ifndef TEGRACL_TEXT_H
#define TEGRACL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
  char *data;  /* NUL-terminated; NULL until something is appended */
  size_t size; /* in bytes, without the NUL */
  size_t capacity;
  bool failed;
};

void text_add(struct text *text, const char *bytes, size_t size);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Frees the string and leaves it empty. */
void text_finish(struct text *text);

#endif
