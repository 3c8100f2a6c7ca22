/* A two-level segregated fit allocator over blocks of nvmap memory. See heap.h. */
#include "runtime/memory/heap.h"

#include <errno.h>
#include <stdlib.h>

#include "runtime/context/context.h"
#include "runtime/message.h"

enum {
  STEPS = 16,
  STEPS_SHIFT = 4,
  WORD_BITS = 64,
  RECORD_BYTES = 64, /* a cache line */
  BATCH_BYTES = 64 << 10,
  BATCH_RECORDS = BATCH_BYTES / RECORD_BYTES - 1,
};

/* A part of a block: a buffer or free memory. Adjacent free chunks are always merged. */
struct rt_chunk {
  union {
    struct rt_buffer_node node; /* must be first: users have a pointer to it */
    struct {
      struct rt_chunk *next, *previous; /* in its class */
    };
  };
  struct rt_chunk *below, *above; /* neighbours in the block, by address */
  uint32_t offset;                /* in granules, within the block */
  uint32_t granules : 31;
  uint32_t is_free : 1;
};

struct rt_block {
  struct rt_heap *heap;
  struct rt_block *next, *previous;
  struct rt_memory memory;
  struct rt_chunk first; /* at offset 0; has no chunk below, so it is never merged into one */
};

_Static_assert(sizeof(struct rt_chunk) <= RECORD_BYTES, "each record is one cache line");

/* A batch of chunk records. Batches are freed with the heap. */
struct rt_records {
  struct rt_records *next;
  _Alignas(RECORD_BYTES) struct {
    _Alignas(RECORD_BYTES) struct rt_chunk chunk;
  } records[BATCH_RECORDS];
};

_Static_assert(sizeof(struct rt_records) == BATCH_BYTES,
               "a batch has an integral number of records");

/* ---- size classes of free chunks, protected by the heap's lock -------------------- */

/* Returns the size class of a free chunk. Each size below 2 * STEPS has its own class; larger sizes
 * have STEPS classes for each power of two. */
static unsigned class_of(uint32_t granules) {
  if (granules < STEPS)
    return granules;
  const unsigned top = 31 - (unsigned)__builtin_clz(granules);
  return (top - STEPS_SHIFT + 1) * STEPS + ((granules >> (top - STEPS_SHIFT)) & (STEPS - 1));
}

/* Returns the smallest class in which every chunk has at least this many granules. */
static unsigned class_for(uint32_t granules) {
  if (granules < STEPS)
    return granules;
  const unsigned top = 31 - (unsigned)__builtin_clz(granules);
  return class_of(granules + (1u << (top - STEPS_SHIFT)) - 1);
}

static void insert_free(struct rt_heap *heap, struct rt_chunk *chunk) {
  const unsigned class = class_of(chunk->granules);
  chunk->is_free = true;
  chunk->previous = NULL;
  chunk->next = heap->free[class];
  if (chunk->next)
    chunk->next->previous = chunk;
  heap->free[class] = chunk;
  heap->filled[class / WORD_BITS] |= UINT64_C(1) << class % WORD_BITS;
}

static void remove_free(struct rt_heap *heap, struct rt_chunk *chunk) {
  const unsigned class = class_of(chunk->granules);
  if (chunk->next)
    chunk->next->previous = chunk->previous;
  if (chunk->previous)
    chunk->previous->next = chunk->next;
  else
    heap->free[class] = chunk->next;
  if (!heap->free[class])
    heap->filled[class / WORD_BITS] &= ~(UINT64_C(1) << class % WORD_BITS);
  chunk->is_free = false;
}

/* Returns a free chunk that is large enough, or NULL. First tries the first chunk in the class of
 * the size itself, because programs often have many buffers of one size. */
static struct rt_chunk *find_free(const struct rt_heap *heap, uint32_t granules) {
  struct rt_chunk *same = heap->free[class_of(granules)];
  if (same && same->granules >= granules)
    return same;
  const unsigned least = class_for(granules);
  uint64_t word = ~UINT64_C(0) << least % WORD_BITS;
  for (unsigned i = least / WORD_BITS; i < sizeof(heap->filled) / sizeof(heap->filled[0]); i++) {
    word &= heap->filled[i];
    if (word)
      return heap->free[i * WORD_BITS + (unsigned)__builtin_ctzll(word)];
    word = ~UINT64_C(0);
  }
  return NULL;
}

/* ---- blocks -------------------------------------------------------------------------- */

static void free_block(struct rt_block *block) {
  if (block)
    rt_memory_destroy(block->heap->device, &block->memory);
  free(block);
}

/* Creates a block, which consists of one free chunk that is in no list yet. */
static int make_block(struct rt_heap *heap, uint32_t granules, struct rt_block **made) {
  const uint64_t need = (uint64_t)granules << heap->granule_shift;
  base_mutex_lock(&heap->lock);
  uint64_t bytes = heap->bytes / RT_HEAP_SHARE;
  base_mutex_unlock(&heap->lock);
  bytes = bytes < RT_HEAP_FIRST ? RT_HEAP_FIRST : bytes;
  bytes = bytes > RT_HEAP_BLOCK ? RT_HEAP_BLOCK : bytes;
  bytes = bytes < need ? need : bytes;
  struct rt_block *block = calloc(1, sizeof(*block));
  if (!block)
    return rt_fail(-ENOMEM, "out of memory while adding a block to the heap");
  block->heap = heap;
  const int error =
      rt_memory_create(heap->device, heap->as_fd, bytes, RT_MEMORY_CACHED, &block->memory);
  if (error) {
    free(block);
    return error;
  }
  rt_memory_drop_fd(heap->device, &block->memory);
  block->first.granules = (uint32_t)(block->memory.size >> heap->granule_shift);
  block->first.node.block = block;
  *made = block;
  return 0;
}

static void insert_block(struct rt_heap *heap, struct rt_block *block) {
  block->next = heap->blocks;
  if (block->next)
    block->next->previous = block;
  heap->blocks = block;
  heap->bytes += block->memory.size;
  insert_free(heap, &block->first);
}

static void remove_block(struct rt_heap *heap, struct rt_block *block) {
  if (block->next)
    block->next->previous = block->previous;
  if (block->previous)
    block->previous->next = block->next;
  else
    heap->blocks = block->next;
  heap->bytes -= block->memory.size;
  remove_free(heap, &block->first);
}

/* Keeps the larger of two empty blocks in reserve, so that a program which repeatedly creates and
 * releases one buffer does not allocate a block each time. Returns the other block, removed from
 * the heap, or NULL. */
static struct rt_block *keep_empty_block(struct rt_heap *heap, struct rt_block *empty) {
  struct rt_block *other = heap->spare;
  if (other && other->memory.size > empty->memory.size) {
    other = empty;
    empty = heap->spare;
  }
  heap->spare = empty;
  if (other)
    remove_block(heap, other);
  return other;
}

/* ---- allocation ------------------------------------------------------------------------ */

/* Makes a chunk that is in no list into a buffer. If granules remain, they become a new chunk,
 * which needs a record. */
static struct rt_buffer *cut_buffer(struct rt_heap *heap, struct rt_chunk *chunk, uint64_t size,
                                    uint32_t granules) {
  struct rt_block *block = chunk->node.block;
  if (chunk->granules > granules) {
    struct rt_chunk *left = heap->records;
    heap->records = left->next;
    left->node.block = block;
    left->offset = chunk->offset + granules;
    left->granules = chunk->granules - granules;
    left->below = chunk;
    left->above = chunk->above;
    if (left->above)
      left->above->below = left;
    chunk->above = left;
    chunk->granules = granules;
    insert_free(heap, left);
  }
  const uint64_t offset = (uint64_t)chunk->offset << heap->granule_shift;
  chunk->node.buffer = (struct rt_buffer){
      .gpu = block->memory.gpu + offset, .cpu = (char *)block->memory.cpu + offset, .size = size};
  if (heap->spare == block)
    heap->spare = NULL;
  return &chunk->node.buffer;
}

/* Returns NULL if no chunk is large enough or, with *records set, if a record is needed. */
static struct rt_buffer *take_buffer(struct rt_heap *heap, uint64_t size, uint32_t granules,
                                     bool *records) {
  struct rt_buffer *buffer = NULL;
  base_mutex_lock(&heap->lock);
  *records = !heap->records;
  struct rt_chunk *chunk = *records ? NULL : find_free(heap, granules);
  if (chunk) {
    remove_free(heap, chunk);
    buffer = cut_buffer(heap, chunk, size, granules);
  }
  base_mutex_unlock(&heap->lock);
  return buffer;
}

static int add_records(struct rt_heap *heap) {
  struct rt_records *batch = aligned_alloc(RECORD_BYTES, sizeof(*batch));
  if (!batch)
    return rt_fail(-ENOMEM, "out of memory while creating a buffer");
  for (int i = 0; i < BATCH_RECORDS; i++)
    batch->records[i].chunk.next = i + 1 < BATCH_RECORDS ? &batch->records[i + 1].chunk : NULL;
  base_mutex_lock(&heap->lock);
  batch->records[BATCH_RECORDS - 1].chunk.next = heap->records;
  heap->records = &batch->records[0].chunk;
  batch->next = heap->batches;
  heap->batches = batch;
  base_mutex_unlock(&heap->lock);
  return 0;
}

static int add_block(struct rt_heap *heap, uint32_t granules) {
  struct rt_block *block = NULL;
  const int error = make_block(heap, granules, &block);
  if (error)
    return error;
  base_mutex_lock(&heap->lock);
  insert_block(heap, block);
  struct rt_block *unused = keep_empty_block(heap, block);
  base_mutex_unlock(&heap->lock);
  free_block(unused);
  return 0;
}

int rt_heap_allocate(struct rt_heap *heap, uint64_t size, struct rt_buffer **buffer) {
  const uint32_t granules =
      (uint32_t)((size + (1u << heap->granule_shift) - 1) >> heap->granule_shift);
  bool records;
  int error = 0;
  *buffer = take_buffer(heap, size, granules, &records);
  if (*buffer)
    return 0;
  /* heap->lock is not held while memory is allocated, so releases, and allocations that fit, do not
   * wait. */
  base_mutex_lock(&heap->growing);
  while (error == 0 && !(*buffer = take_buffer(heap, size, granules, &records)))
    error = records ? add_records(heap) : add_block(heap, granules);
  base_mutex_unlock(&heap->growing);
  return error;
}

/* ---- release --------------------------------------------------------------------------- */

/* Merges the chunk above, which is in no list, into this one and frees its record. */
static void join_above(struct rt_heap *heap, struct rt_chunk *chunk) {
  struct rt_chunk *above = chunk->above;
  chunk->granules += above->granules;
  chunk->above = above->above;
  if (chunk->above)
    chunk->above->below = chunk;
  above->next = heap->records;
  heap->records = above;
}

void rt_heap_release(struct rt_buffer *buffer) {
  struct rt_chunk *chunk = (struct rt_chunk *)buffer;
  struct rt_heap *heap = chunk->node.block->heap;
  struct rt_block *unused = NULL;
  base_mutex_lock(&heap->lock);
  __builtin_prefetch(chunk->below); /* loaded while above is processed */
  if (chunk->above && chunk->above->is_free) {
    remove_free(heap, chunk->above);
    join_above(heap, chunk);
  }
  if (chunk->below && chunk->below->is_free) {
    chunk = chunk->below;
    remove_free(heap, chunk);
    join_above(heap, chunk);
  }
  insert_free(heap, chunk);
  if (!chunk->below && !chunk->above)
    unused = keep_empty_block(heap, chunk->node.block);
  base_mutex_unlock(&heap->lock);
  free_block(unused);
}

bool rt_heap_trim(struct rt_heap *heap) {
  base_mutex_lock(&heap->lock);
  struct rt_block *block = heap->spare;
  heap->spare = NULL;
  if (block)
    remove_block(heap, block);
  base_mutex_unlock(&heap->lock);
  free_block(block);
  return block;
}

/* ---- the whole ------------------------------------------------------------------------- */

void rt_heap_init(struct rt_heap *heap, struct rt_device *device, int as_fd) {
  const unsigned granule =
      device->textures.wanted == BASE_IMAGES_SOFTWARE ? RT_HEAP_GRANULE : RT_TEXTURE_BASE_ALIGN;
  *heap = (struct rt_heap){
      .device = device, .as_fd = as_fd, .granule_shift = (uint8_t)__builtin_ctz(granule)};
  base_mutex_init(&heap->growing, BASE_LOCK_RT_HEAP_GROWTH);
  base_mutex_init(&heap->lock, BASE_LOCK_RT_HEAP);
}

void rt_heap_destroy(struct rt_heap *heap) {
  if (!heap->device)
    return;
  for (struct rt_block *block = heap->blocks, *next; block; block = next) {
    next = block->next;
    free_block(block);
  }
  for (struct rt_records *batch = heap->batches, *next; batch; batch = next) {
    next = batch->next;
    free(batch);
  }
  base_mutex_destroy(&heap->lock);
  base_mutex_destroy(&heap->growing);
}

void rt_heap_visit(struct rt_heap *heap, void (*visit)(const struct rt_buffer *, void *),
                   void *data) {
  base_mutex_lock(&heap->lock);
  for (const struct rt_block *block = heap->blocks; block; block = block->next)
    for (const struct rt_chunk *chunk = &block->first; chunk; chunk = chunk->above)
      if (!chunk->is_free)
        visit(&chunk->node.buffer, data);
  base_mutex_unlock(&heap->lock);
}
