/* What is mapped of memory objects. */
#ifndef TEGRACL_MAPPING_H
#define TEGRACL_MAPPING_H

#include <stdlib.h>

#include "icd/queue/command.h"

#define ICD_MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

static inline void icd_mapping_hold(struct icd_mapping *mapping) {
  atomic_fetch_add(&mapping->references, 1);
}

static inline void icd_mapping_drop(struct icd_mapping *mapping) {
  if (atomic_fetch_sub(&mapping->references, 1) == 1)
    free(mapping);
}

/* Adds a new mapping; false: it and another, both for writing, overlap. */
bool icd_mapping_add(struct icd_mapping *mapping);

/* Removes the mapping at a pointer, or any one of them if the same region is mapped more than
 * once. The reference is the caller's. NULL: there is none. */
struct icd_mapping *icd_mapping_remove(cl_mem mem, const void *pointer);

/* The map or unmap was terminated, and has changed nothing: what it would have mapped is not
 * mapped, and what it would have unmapped still is. */
void icd_map_terminated(const struct icd_operation *operation);

/* How many regions of mem are mapped; and removes all of them from the list. */
cl_uint icd_map_count(cl_mem mem);
void icd_forget_mappings(cl_mem mem);

#endif
