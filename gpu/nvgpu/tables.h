/* The kernel interface as data, for traces that print the names of requests and fields. Generated
 * from nvgpu-uapi.csv. */
#ifndef TEGRACL_NVGPU_TABLES_H
#define TEGRACL_NVGPU_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvgpu_struct;

/* A field of a struct. Members of a union share bytes. */
struct nvgpu_field {
  const char *name; /* nested structs are separated by dots */
  uint16_t offset;  /* bytes */
  uint16_t size;    /* size of one element in bytes */
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
  const struct nvgpu_struct *argument; /* NULL if the argument is a number, or there is none */
};

extern const struct nvgpu_struct *const nvgpu_structs[];
extern const unsigned nvgpu_struct_count;
extern const struct nvgpu_request nvgpu_requests[];
extern const unsigned nvgpu_request_count;

/* Returns NULL if r36 does not define the request. */
const struct nvgpu_request *nvgpu_request_find(uint32_t code);
const struct nvgpu_struct *nvgpu_struct_find(const char *name);

#endif
