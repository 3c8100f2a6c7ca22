/* Strings whose capacity doubles as they grow. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

static bool reserve(struct text *text, size_t more) {
  if (text->failed)
    return false;
  size_t needed = text->size + more + 1;
  if (needed <= text->capacity)
    return true;
  size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
  while (capacity < needed)
    capacity *= 2;
  char *data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void text_add(struct text *text, const char *bytes, size_t size) {
  if (!reserve(text, size))
    return;
  if (size)
    memcpy(text->data + text->size, bytes, size);
  text->size += size;
  text->data[text->size] = 0;
}

void text_puts(struct text *text, const char *string) {
  text_add(text, string, strlen(string));
}

void text_vprintf(struct text *text, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, arguments);
  if (size < 0) {
    text->failed = true;
  } else if (reserve(text, (size_t)size)) {
    vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
    text->size += (size_t)size;
  }
  va_end(again);
}

void text_printf(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(text, format, arguments);
  va_end(arguments);
}

void text_finish(struct text *text) {
  free(text->data);
  *text = (struct text){0};
}
