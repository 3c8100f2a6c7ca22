/* Prints structs of the kernel interface, field by field. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "tools/doctor/explain.h"

static uint64_t read_little_endian(const unsigned char *bytes, unsigned size) {
  uint64_t value = 0;
  for (unsigned i = size; i > 0; i--)
    value = value << 8 | bytes[i - 1];
  return value;
}

static void put_value(FILE *out, const struct nvgpu_field *f, const unsigned char *at) {
  uint64_t value = read_little_endian(at, f->size);
  unsigned unused = f->size && f->size < sizeof(value) ? 64 - 8 * f->size : 0;
  if (f->bits)
    value = value >> f->low_bit & ((UINT64_C(1) << f->bits) - 1);
  if (f->is_signed && (int64_t)(value << unused) < 0)
    fprintf(out, "%" PRId64, (int64_t)(value << unused) >> unused);
  else
    fprintf(out, value < 10 ? "%" PRIu64 : "0x%" PRIx64, value);
}

/* Whether the field is an array of bytes with a string, such as chipname. */
static bool is_text(const struct nvgpu_field *f, const unsigned char *text) {
  return f->size == 1 && f->count > 1 && isalpha(text[0]) && memchr(text, 0, f->count);
}

/* bytes is the size of data. Elements beyond it are printed as '?'. */
static void put_field(FILE *out, const struct nvgpu_field *f, const unsigned char *data,
                      size_t bytes) {
  if (f->offset + (size_t)f->size * f->count <= bytes && is_text(f, data + f->offset)) {
    fprintf(out, "\"%s\"", (const char *)data + f->offset);
    return;
  }
  fprintf(out, "%s", f->count > 1 ? "{" : "");
  for (unsigned i = 0; i < f->count; i++) {
    size_t at = f->offset + (size_t)i * f->size;
    fprintf(out, "%s", i ? " " : "");
    if (at + f->size > bytes)
      fprintf(out, "?");
    else if (f->type)
      explain_struct(out, f->type, data + at, NULL, f->size);
    else
      put_value(out, f, data + at);
  }
  fprintf(out, "%s", f->count > 1 ? "}" : "");
}

static bool has_nonzero(const unsigned char *data, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++)
    if (data[i])
      return true;
  return false;
}

void explain_struct(FILE *out, const struct nvgpu_struct *type, const unsigned char *before,
                    const unsigned char *after, size_t bytes) {
  for (unsigned i = 0; i < type->field_count; i++) {
    const struct nvgpu_field *f = &type->fields[i];
    size_t end = f->offset + (size_t)f->size * f->count;
    end = end < bytes ? end : bytes;
    if (f->offset >= end)
      continue;
    bool changed = after && memcmp(before + f->offset, after + f->offset, end - f->offset) != 0;
    if (!changed && !has_nonzero(before, f->offset, end))
      continue;
    fprintf(out, " %s=", f->name);
    put_field(out, f, before, bytes);
    if (changed) {
      fprintf(out, "->");
      put_field(out, f, after, bytes);
    }
  }
}
