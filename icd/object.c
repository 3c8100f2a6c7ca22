/* Reference counts and validity of OpenCL objects. An object lives as long as
 * anybody refers to it; its handle count is what the application sees.
 */
#include "icd/icd.h"

void icd_object_init(struct icd_object *object, enum icd_magic magic) {
  object->dispatch = &icd_dispatch;
  atomic_init(&object->references, 1);
  atomic_init(&object->handles, 1);
  atomic_store_explicit(&object->magic, (uint32_t)magic, memory_order_release);
}

void icd_object_hold(struct icd_object *object) {
  atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

bool icd_object_try_hold(struct icd_object *object) {
  uint32_t count = atomic_load_explicit(&object->references, memory_order_relaxed);
  while (count)
    if (atomic_compare_exchange_weak_explicit(&object->references, &count, count + 1,
                                              memory_order_relaxed, memory_order_relaxed))
      return true;
  return false;
}

bool icd_object_drop(struct icd_object *object) {
  if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) != 1)
    return false;
  atomic_store_explicit(&object->magic, 0, memory_order_relaxed);
  return true;
}

void icd_object_retain(struct icd_object *object) {
  icd_object_hold(object);
  atomic_fetch_add_explicit(&object->handles, 1, memory_order_relaxed);
}

cl_int icd_object_release(struct icd_object *object, cl_int invalid, bool *last) {
  *last = false;
  uint32_t handles = atomic_load_explicit(&object->handles, memory_order_relaxed);
  do {
    if (!handles)
      return invalid;
  } while (!atomic_compare_exchange_weak_explicit(&object->handles, &handles, handles - 1,
                                                  memory_order_relaxed, memory_order_relaxed));
  *last = icd_object_drop(object);
  return CL_SUCCESS;
}
