/* The hardware tables as data, for dumps and error messages. Generated from qmd-v03.csv,
 * methods.csv and values.csv. */
#ifndef TEGRACL_HW_TABLES_H
#define TEGRACL_HW_TABLES_H

#include <stdint.h>

struct hw_value_name {
  uint32_t value;
  const char *name; /* as in C */
};

struct hw_field_name {
  const char *name;
  uint16_t high;
  uint16_t low;
  const char *meaning;
  const struct hw_value_name *values; /* NULL: a number */
  unsigned value_count;
};

/* An array method has count members, step bytes apart. For other methods count is 1. */
struct hw_method {
  uint16_t class_id;
  uint16_t offset;
  uint16_t count;
  uint16_t step;
  uint16_t field_count;
  const char *name; /* without the class prefix */
  const struct hw_field_name *fields;
};

extern const struct hw_field_name qmd_fields[];
extern const unsigned qmd_field_count;
/* The bits of each QMD word that clients must leave 0. */
extern const uint32_t qmd_reserved[];

/* Sorted by class and offset. */
extern const struct hw_method hw_methods[];
extern const unsigned hw_method_count;

/* Returns the method at a byte offset of a class, or NULL. *index receives the member of an array
 * method; index may be NULL. */
const struct hw_method *hw_method_find(uint32_t class_id, uint32_t offset, uint32_t *index);

/* Returns the name of a field's value, or NULL. */
const char *hw_value_find(const struct hw_field_name *field, uint32_t value);

#endif
