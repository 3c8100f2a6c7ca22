/* Reference counts and validity of OpenCL objects. An object lives until
 * its last reference goes; the application sees only its handle count.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "icd/objects.h"

/* ---- memory --------------------------------------------------------------------- */

/* Dead objects are kept, with their dispatch pointers, so that a stale handle leads to one
 * of them and not into foreign memory, in the ICD loader as well as here. They are used
 * again late, in the order of their death. */
struct grave {
  struct icd_object object;
  struct grave *next;
};

enum {
  LEAST_DEAD = 64, /* before one is used again */
  KINDS = ICD_MAGIC_END - ICD_MAGIC_PLATFORM,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct {
  struct grave *first, *last;
  size_t count;
} graves[KINDS];

static void set_dispatch(struct icd_object *object) {
  object->dispatch = &icd_dispatch.entries;
  atomic_store_explicit(
      &object->dispatch_data,
      atomic_load_explicit(&icd_platform.object.dispatch_data, memory_order_relaxed),
      memory_order_relaxed);
}

void *icd_object_new(enum icd_magic kind, size_t size) {
  const int i = (int)kind - ICD_MAGIC_PLATFORM;
  struct grave *grave = NULL;
  pthread_mutex_lock(&lock);
  if (graves[i].count > LEAST_DEAD) {
    grave = graves[i].first;
    graves[i].first = grave->next;
    graves[i].count--;
  }
  pthread_mutex_unlock(&lock);
  if (!grave)
    return calloc(1, size);
  memset((char *)grave + sizeof(struct icd_object), 0, size - sizeof(struct icd_object));
  return grave;
}

void icd_object_free(enum icd_magic kind, void *object) {
  const int i = (int)kind - ICD_MAGIC_PLATFORM;
  struct grave *grave = object;
  if (!grave)
    return;
  set_dispatch(&grave->object); /* it may never have been valid */
  grave->next = NULL;
  pthread_mutex_lock(&lock);
  if (graves[i].count)
    graves[i].last->next = grave;
  else
    graves[i].first = grave;
  graves[i].last = grave;
  graves[i].count++;
  pthread_mutex_unlock(&lock);
}

void icd_objects_set_dispatch_data(void *data) {
  pthread_mutex_lock(&lock);
  icd_platform.object.dispatch_data = data;
  icd_device_object()->dispatch_data = data;
  for (int i = 0; i < KINDS; i++) {
    struct grave *grave = graves[i].first;
    for (size_t left = graves[i].count; left; left--, grave = grave->next)
      grave->object.dispatch_data = data;
  }
  pthread_mutex_unlock(&lock);
}

/* Another thread may have been about to change the lists. */
void icd_objects_forked(void) {
  pthread_mutex_init(&lock, NULL);
  memset(graves, 0, sizeof graves);
}

__attribute__((destructor)) static void free_graves(void) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < KINDS; i++)
    for (; graves[i].count; graves[i].count--) {
      struct grave *grave = graves[i].first;
      graves[i].first = grave->next;
      free(grave);
    }
  pthread_mutex_unlock(&lock);
}

/* ---- references ------------------------------------------------------------------- */

void icd_object_init(struct icd_object *object, enum icd_magic magic) {
  set_dispatch(object);
  atomic_init(&object->references, 1);
  atomic_init(&object->handles, 1);
  atomic_store_explicit(&object->magic, (uint32_t)magic + icd_generation, memory_order_release);
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
