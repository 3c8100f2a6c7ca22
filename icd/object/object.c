/* Memory, reference counts and validity of OpenCL objects. An object lives until its last reference
 * is released. Applications only see the count of their own references.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/icd.h"

union icd_table icd_dispatch;
uint32_t icd_generation;

/* ---- memory --------------------------------------------------------------------- */

/* The objects of a kind are in slabs, each about as large as all earlier ones together, so that
 * a few comparisons tell whether a number is the address of an object. Freed objects keep their
 * dispatch pointers, so that the ICD loader and the driver recognise a stale handle as invalid.
 * They are reused as late as possible, in the order in which they were freed. */
struct freed_object {
  struct icd_object object;
  struct freed_object *next;
};

enum {
  LEAST_FREED = 64,   /* freed objects that are kept before one is reused */
  FIRST_OBJECTS = 64, /* in the first slab */
  SLABS = 32,
  CACHE_LINE_BYTES = 64,
  KINDS = 16, /* maximum number; a power of two makes the division cheap */
};
_Static_assert(ICD_MAGIC_END - ICD_MAGIC_PLATFORM <= KINDS, "KINDS is too small");

struct pool {
  struct freed_object *first, *last;
  size_t freed;
  size_t object_bytes; /* 0 if no object has been created */
  size_t used;         /* number of objects in the last slab */
  unsigned slab_count;
  void *slabs[SLABS];
};

static struct base_mutex lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_OBJECTS); /* guards what follows */
static struct pool pools[KINDS];

static void *_Atomic dispatch_data;                 /* of new objects */
static const struct icd_kind *_Atomic kinds[KINDS]; /* kinds of which there have been objects */

static struct pool *pool_of(enum icd_magic kind) {
  return &pools[(int)kind - ICD_MAGIC_PLATFORM];
}

static size_t slab_objects(unsigned slab) {
  return (size_t)FIRST_OBJECTS << slab;
}

/* Returns the address of a slab's first object. */
static char *slab_start(void *slab) {
  return (char *)(((uintptr_t)slab + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES);
}

/* Returns zeroed memory that has not been used before, or NULL if there is none. */
static void *carve_object(struct pool *pool, size_t bytes) {
  if (!pool->slab_count || pool->used == slab_objects(pool->slab_count - 1)) {
    if (pool->slab_count == SLABS)
      return NULL;
    void *slab = calloc(1, slab_objects(pool->slab_count) * bytes + CACHE_LINE_BYTES);
    if (!slab)
      return NULL;
    pool->slabs[pool->slab_count++] = slab;
    pool->object_bytes = bytes;
    pool->used = 0;
  }
  return slab_start(pool->slabs[pool->slab_count - 1]) + pool->used++ * bytes;
}

static void set_dispatch(struct icd_object *object) {
  object->dispatch = &icd_dispatch.entries;
  atomic_store_explicit(&object->dispatch_data,
                        atomic_load_explicit(&dispatch_data, memory_order_relaxed),
                        memory_order_relaxed);
}

void *icd_object_new(enum icd_magic kind, size_t size) {
  struct pool *pool = pool_of(kind);
  struct freed_object *freed = NULL;
  void *fresh = NULL;
  base_mutex_lock(&lock);
  if (pool->freed > LEAST_FREED) {
    freed = pool->first;
    pool->first = freed->next;
    pool->freed--;
    __builtin_prefetch(pool->first, 1); /* prepare for the next creation */
  } else {
    fresh = carve_object(pool, size);
  }
  base_mutex_unlock(&lock);
  if (!freed)
    return fresh;
  memset((char *)freed + sizeof(struct icd_object), 0, size - sizeof(struct icd_object));
  return freed;
}

void icd_object_free(enum icd_magic kind, void *object) {
  struct pool *pool = pool_of(kind);
  struct freed_object *freed = object;
  if (!freed)
    return;
  set_dispatch(&freed->object); /* the object may never have been valid */
  freed->next = NULL;
  base_mutex_lock(&lock);
  if (pool->freed)
    pool->last->next = freed;
  else
    pool->first = freed;
  pool->last = freed;
  pool->freed++;
  base_mutex_unlock(&lock);
}

bool icd_object_exists(enum icd_magic kind, uint64_t number) {
  const struct pool *pool = pool_of(kind);
  bool exists = false;
  base_mutex_lock(&lock);
  for (unsigned i = 0; i < pool->slab_count && !exists; i++) {
    const size_t count = i + 1 < pool->slab_count ? slab_objects(i) : pool->used;
    const uint64_t offset = number - (uintptr_t)slab_start(pool->slabs[i]);
    exists = offset % pool->object_bytes == 0 && offset / pool->object_bytes < count &&
             icd_object_is((const struct icd_object *)(uintptr_t)number, kind);
  }
  base_mutex_unlock(&lock);
  return exists;
}

void icd_objects_set_dispatch_data(void *data) {
  base_mutex_lock(&lock);
  atomic_store(&dispatch_data, data);
  for (int i = 0; i < KINDS; i++) {
    struct freed_object *freed = pools[i].first;
    for (size_t left = pools[i].freed; left; left--, freed = freed->next)
      freed->object.dispatch_data = data;
  }
  base_mutex_unlock(&lock);
}

/* Empties the lists in a child of fork, because another thread may have been changing them. */
void icd_objects_forked(void) {
  icd_generation += KINDS;
  base_mutex_init(&lock, BASE_LOCK_OBJECTS);
  memset(pools, 0, sizeof(pools));
}

/* Frees slabs without live objects. Others remain, so that a leak checker reports them. */
__attribute__((destructor)) static void free_slabs(void) {
  base_mutex_lock(&lock);
  for (struct pool *pool = pools; pool < pools + KINDS; pool++) {
    size_t objects = pool->used;
    for (unsigned i = 0; i + 1 < pool->slab_count; i++)
      objects += slab_objects(i);
    for (unsigned i = 0; i < pool->slab_count && pool->freed == objects; i++)
      free(pool->slabs[i]);
    *pool = (struct pool){0};
  }
  base_mutex_unlock(&lock);
}

/* ---- references ------------------------------------------------------------------- */

/* Returns the entry for the kind with that magic number, of any generation. */
static const struct icd_kind *_Atomic *kind_of(uint32_t magic) {
  return &kinds[(magic - ICD_MAGIC_PLATFORM) % KINDS];
}

void icd_object_init(struct icd_object *object, const struct icd_kind *kind) {
  const struct icd_kind *_Atomic *known = kind_of((uint32_t)kind->magic);
  if (atomic_load_explicit(known, memory_order_relaxed) != kind)
    atomic_store_explicit(known, kind, memory_order_relaxed);
  set_dispatch(object);
  atomic_init(&object->references, 1);
  atomic_init(&object->handles, 1);
  atomic_store_explicit(&object->magic, (uint32_t)kind->magic + icd_generation,
                        memory_order_release);
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
  const uint32_t magic = atomic_load_explicit(&object->magic, memory_order_relaxed);
  atomic_store_explicit(&object->magic, 0, memory_order_relaxed);
  atomic_load_explicit(kind_of(magic), memory_order_relaxed)->destroy(object);
  return true;
}

void icd_object_retain(struct icd_object *object) {
  icd_object_hold(object);
  atomic_fetch_add_explicit(&object->handles, 1, memory_order_relaxed);
}

cl_int icd_object_release(struct icd_object *object, cl_int invalid) {
  uint32_t handles = atomic_load_explicit(&object->handles, memory_order_relaxed);
  do {
    if (!handles)
      return invalid;
  } while (!atomic_compare_exchange_weak_explicit(&object->handles, &handles, handles - 1,
                                                  memory_order_relaxed, memory_order_relaxed));
  icd_object_drop(object);
  return CL_SUCCESS;
}
