/* Searches the generated tables. */
#include "gpu/hw/tables.h"

#include <stddef.h>

const struct hw_method *hw_method_find(uint32_t class_id, uint32_t offset, uint32_t *index) {
  for (unsigned i = 0; i < hw_method_count; i++) {
    const struct hw_method *m = &hw_methods[i];
    if (m->class_id != class_id || offset < m->offset)
      continue;
    uint32_t distance = offset - m->offset;
    if (distance % m->step == 0 && distance / m->step < m->count) {
      if (index)
        *index = distance / m->step;
      return m;
    }
  }
  return NULL;
}

const char *hw_value_find(const struct hw_field_name *field, uint32_t value) {
  for (unsigned i = 0; i < field->value_count; i++)
    if (field->values[i].value == value)
      return field->values[i].name;
  return NULL;
}
