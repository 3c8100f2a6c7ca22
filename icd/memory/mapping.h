/* Mapped regions of memory objects. */
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

/* Adds a new mapping. Returns false if it overlaps another one and both are for writing. */
bool icd_mapping_add(struct icd_mapping *mapping);

/* Removes the mapping with this address and returns it, with its reference. If a region is
 * mapped more than once, removes any of its mappings. Returns NULL if there is no mapping. */
struct icd_mapping *icd_mapping_remove(cl_mem mem, const void *pointer);

/* Undoes a map or unmap command that was terminated: what it was to map is not mapped, and what
 * it was to unmap is still mapped. */
void icd_map_terminated(const struct icd_operation *operation);

/* Returns the number of mapped regions of mem. */
cl_uint icd_map_count(cl_mem mem);
/* Removes all mappings of mem. */
void icd_forget_mappings(cl_mem mem);

#endif
