/* The lists of mapped regions. See mapping.h. */
#include "icd/memory/mapping.h"
#include "icd/memory/box.h"

/* Returns the object that owns the memory. Its list has all mapped regions, including those of
 * its sub-buffers and images. */
static cl_mem owner_of(cl_mem mem) {
  while (mem->parent)
    mem = mem->parent;
  return mem;
}

/* Passes the list's reference to the caller, who holds the owner's lock. */
static struct icd_mapping *unlink_mapping(struct icd_mapping **link) {
  struct icd_mapping *mapping = *link;
  *link = mapping->next;
  mapping->mapped = false;
  mapping->mem->map_count--;
  return mapping;
}

struct icd_mapping *icd_mapping_remove(cl_mem mem, const void *pointer) {
  cl_mem owner = owner_of(mem);
  struct icd_mapping *found = NULL;
  icd_lock(&owner->lock);
  for (struct icd_mapping **link = &owner->mappings; *link; link = &(*link)->next)
    if ((*link)->mem == mem && (*link)->pointer == pointer) {
      found = unlink_mapping(link);
      break;
    }
  icd_unlock(&owner->lock);
  return found;
}

void icd_forget_mappings(cl_mem mem) {
  cl_mem owner = owner_of(mem);
  icd_lock(&owner->lock);
  for (struct icd_mapping **link = &owner->mappings; *link;)
    if ((*link)->mem == mem)
      icd_mapping_drop(unlink_mapping(link));
    else
      link = &(*link)->next;
  icd_unlock(&owner->lock);
}

cl_uint icd_map_count(cl_mem mem) {
  cl_mem owner = owner_of(mem);
  icd_lock(&owner->lock);
  const cl_uint count = mem->map_count;
  icd_unlock(&owner->lock);
  return count;
}

/* Adds the mapping to the owner's list. The caller holds the owner's lock. */
static void link_mapping(cl_mem owner, struct icd_mapping *mapping) {
  icd_mapping_hold(mapping);
  mapping->next = owner->mappings;
  owner->mappings = mapping;
  mapping->mapped = true;
  mapping->mem->map_count++;
}

void icd_map_terminated(const struct icd_operation *operation) {
  struct icd_mapping *mapping = operation->mapping;
  cl_mem owner = owner_of(mapping->mem);
  icd_lock(&owner->lock);
  if (operation->type == CL_COMMAND_UNMAP_MEM_OBJECT) {
    link_mapping(owner, mapping);
  } else if (mapping->mapped) {
    struct icd_mapping **link = &owner->mappings;
    while (*link != mapping)
      link = &(*link)->next;
    icd_mapping_drop(unlink_mapping(link));
  }
  icd_unlock(&owner->lock);
}

static bool mappings_overlap(const struct icd_mapping *a, const struct icd_mapping *b) {
  return icd_boxes_overlap(a->mem->cpu + a->box.offset, &a->box, b->mem->cpu + b->box.offset,
                           &b->box);
}

bool icd_mapping_add(struct icd_mapping *mapping) {
  cl_mem owner = owner_of(mapping->mem);
  bool overlaps = false;
  icd_lock(&owner->lock);
  if (mapping->flags & ICD_MAP_WRITES)
    for (const struct icd_mapping *other = owner->mappings; other && !overlaps; other = other->next)
      overlaps = other->flags & ICD_MAP_WRITES && mappings_overlap(mapping, other);
  if (!overlaps)
    link_mapping(owner, mapping);
  icd_unlock(&owner->lock);
  return !overlaps;
}
