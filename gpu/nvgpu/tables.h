/* The kernel interface as data, for traces that name requests and fields. Generated from
 * nvgpu-uapi.csv.
 */
#ifndef TEGRACL_NVGPU_TABLES_H
#define TEGRACL_NVGPU_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvgpu_struct;

/* A field of a struct. Fields may share bytes, as members of a union do. */
struct nvgpu_field {
  const char *name; /* with dots where structs are nested */
  uint16_t offset;  /* bytes */
  uint16_t size;    /* bytes of one element */
  uint16_t count;   /* elements of an array, else 1 */
  uint8_t bits;     /* width of a bit field, else 0 */
  uint8_t low_bit;  /* of a bit field */
  bool is_signed;
  const struct nvgpu_struct *type; /* NULL: a number */
};

struct nvgpu_struct {
  const char *name;
  uint16_t size; /* bytes */
  uint16_t field_count;
  const struct nvgpu_field *fields;
};

struct nvgpu_request {
  uint32_t code;
  const char *name;
  const struct nvgpu_struct *argument; /* NULL: a number, or nothing */
};

extern const struct nvgpu_struct *const nvgpu_structs[];
extern const unsigned nvgpu_struct_count;
extern const struct nvgpu_request nvgpu_requests[];
extern const unsigned nvgpu_request_count;

/* NULL if r36 has none. */
const struct nvgpu_request *nvgpu_request_find(uint32_t code);
const struct nvgpu_struct *nvgpu_struct_find(const char *name);

#endif
