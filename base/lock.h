/* Locks, and the order in which threads take them to prevent deadlocks. A thread that holds a lock
 * takes only locks of later rows of BASE_LOCKS, and never a second lock of the same row. Trylocks
 * are exempt, because they do not wait. Debug builds and builds with sanitizers check the order
 * before each lock (BASE_LOCK_ORDER); a thread that violates the order prints both locks and
 * aborts. In other builds these functions only call pthread functions. */
#ifndef TEGRACL_BASE_LOCK_H
#define TEGRACL_BASE_LOCK_H

#include <pthread.h>
#include <stdint.h>

#include "base/thread.h"

/* All locks of icd/ and runtime/ with their names. The comment at each lock says what it
 * protects. */
#define BASE_LOCKS(X)                                                                              \
  X(HOST_PAGES, "host_pages.c: contexts with pages of the application")                            \
  X(DEVICE_OPEN, "icd/platform/device.c: opening of the device")                                   \
  X(PROGRAM, "objects.h: program")                                                                 \
  X(COMMAND_BUFFER, "command_buffer.h: command buffer")                                            \
  X(KERNEL, "objects.h: kernel")                                                                   \
  X(QUEUE, "objects.h: command queue")                                                             \
  X(RECORDING, "command_buffer.h: recording of a command buffer")                                  \
  X(RECORDED_KERNEL, "objects.h: kernel of a recorded launch")                                     \
  X(SEMAPHORE, "semaphore.c: semaphore")                                                           \
  X(MEM, "objects.h: memory object")                                                               \
  X(PRINTS, "objects.h: printf output of a context")                                               \
  X(CONTEXT, "objects.h: context")                                                                 \
  X(WATCHER, "watcher.c: watched events")                                                          \
  X(DELIVERIES, "deliver.c: calls of callbacks")                                                   \
  X(DEVICE_CLOCK, "objects.h: clock of the device")                                                \
  X(OBJECTS, "object.c: memory of objects")                                                        \
  X(RT_TEXTURE_UNITS, "texture_answers.h: self-check of the texture units")                        \
  X(RT_CONTEXTS, "device.h: list of contexts")                                                     \
  X(RT_CHANNELS, "context.h: channels of a context")                                               \
  X(RT_POOL, "context.h: local memory of a TSG")                                                   \
  X(RT_CHANNEL, "queue.h: channel")                                                                \
  X(RT_CONTEXT, "context.h: lists of a context")                                                   \
  X(RT_TIMELINE_LANE, "timeline_gpu.c: launches of a queue")                                       \
  X(RT_SLOTS, "slots.h: pages of slots")                                                           \
  X(RT_TEXTURES, "textures.h: headers of images")                                                  \
  X(RT_HEAP_GROWTH, "heap.h: blocks and records of the heap")                                      \
  X(RT_ADDRESSES, "device.h: mappings for GPU and CPU")                                            \
  X(RT_ALLOCATION, "device.h: large allocation")                                                   \
  X(RT_USERMODE, "device.h: user-mode register page")                                              \
  X(RT_HEAP, "heap.h: chunks of the heap")                                                         \
  X(RT_TIMELINE_CLOCK, "timeline_gpu.c: clock of the timeline")                                    \
  X(RT_TIMELINE_FILE, "timeline.c: file of the timeline")

enum base_lock_kind {
  BASE_LOCK_NONE, /* zeroed memory: an uninitialised lock */
#define X(name, where) BASE_LOCK_##name,
  BASE_LOCKS(X)
#undef X
};

#ifndef BASE_LOCK_ORDER
#define BASE_LOCK_ORDER 0
#endif

#if BASE_LOCK_ORDER
/* Called before a lock is taken, after a successful trylock, and before a release. */
void base_lock_take(const void *lock, enum base_lock_kind kind);
void base_lock_took(const void *lock, enum base_lock_kind kind);
void base_lock_release(const void *lock);
#define BASE_LOCK_KIND_FIELD            enum base_lock_kind kind;
#define BASE_LOCK_SET_KIND(lock, value) ((void)((lock)->kind = (value)))
#define BASE_LOCK_KIND_VALUE(value)     .kind = (value),
#else
#define base_lock_take(lock, kind) ((void)0)
#define base_lock_took(lock, kind) ((void)0)
#define base_lock_release(lock)    ((void)0)
#define BASE_LOCK_KIND_FIELD
#define BASE_LOCK_SET_KIND(lock, value) ((void)0)
#define BASE_LOCK_KIND_VALUE(value)
#endif

/* ---- mutexes ------------------------------------------------------------------------ */

struct base_mutex {
  pthread_mutex_t mutex;
  BASE_LOCK_KIND_FIELD
};

#define BASE_MUTEX_INITIALIZER(lock_kind)                                                          \
  { BASE_LOCK_KIND_VALUE(lock_kind).mutex = PTHREAD_MUTEX_INITIALIZER }

static inline void base_mutex_init(struct base_mutex *lock, enum base_lock_kind kind) {
  pthread_mutex_init(&lock->mutex, NULL);
  BASE_LOCK_SET_KIND(lock, kind);
}

static inline void base_mutex_destroy(struct base_mutex *lock) {
  pthread_mutex_destroy(&lock->mutex);
}

static inline void base_mutex_lock(struct base_mutex *lock) {
  base_lock_take(lock, lock->kind);
  pthread_mutex_lock(&lock->mutex);
}

/* 0, or EBUSY. */
static inline int base_mutex_trylock(struct base_mutex *lock) {
  const int error = pthread_mutex_trylock(&lock->mutex);
  if (!error)
    base_lock_took(lock, lock->kind);
  return error;
}

static inline void base_mutex_unlock(struct base_mutex *lock) {
  base_lock_release(lock);
  pthread_mutex_unlock(&lock->mutex);
}

/* Waits for the condition. The caller holds the lock. */
static inline void base_mutex_wait(struct base_mutex *lock, pthread_cond_t *condition) {
  base_lock_release(lock);
  base_lock_take(lock, lock->kind);
  pthread_cond_wait(condition, &lock->mutex);
}

/* Like base_mutex_wait, but at most until the time ns of CLOCK_MONOTONIC. Returns 0 or
 * ETIMEDOUT. */
static inline int base_mutex_wait_until(struct base_mutex *lock, pthread_cond_t *condition,
                                        uint64_t ns) {
  base_lock_release(lock);
  base_lock_take(lock, lock->kind);
  return base_cond_wait_until(condition, &lock->mutex, ns);
}

/* ---- read-write locks --------------------------------------------------------------- */

struct base_rwlock {
  pthread_rwlock_t rwlock;
  BASE_LOCK_KIND_FIELD
};

static inline void base_rwlock_init(struct base_rwlock *lock, enum base_lock_kind kind) {
  pthread_rwlock_init(&lock->rwlock, NULL);
  BASE_LOCK_SET_KIND(lock, kind);
}

static inline void base_rwlock_destroy(struct base_rwlock *lock) {
  pthread_rwlock_destroy(&lock->rwlock);
}

static inline void base_rwlock_read(struct base_rwlock *lock) {
  base_lock_take(lock, lock->kind);
  pthread_rwlock_rdlock(&lock->rwlock);
}

static inline void base_rwlock_write(struct base_rwlock *lock) {
  base_lock_take(lock, lock->kind);
  pthread_rwlock_wrlock(&lock->rwlock);
}

/* 0, or EBUSY. */
static inline int base_rwlock_trywrite(struct base_rwlock *lock) {
  const int error = pthread_rwlock_trywrlock(&lock->rwlock);
  if (!error)
    base_lock_took(lock, lock->kind);
  return error;
}

static inline void base_rwlock_unlock(struct base_rwlock *lock) {
  base_lock_release(lock);
  pthread_rwlock_unlock(&lock->rwlock);
}

#endif
