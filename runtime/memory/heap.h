/* Small buffers of one context, in blocks of nvmap memory that they share.
 *
 * A two-level segregated fit (M. Masmano et al., "TLSF: a new dynamic memory allocator for
 * real-time systems", ECRTS 2004): allocation and release take constant time, and no system
 * call while a block has room. The records are in the process's own memory, where no kernel
 * can overwrite them.
 */
#ifndef TEGRACL_RUNTIME_HEAP_H
#define TEGRACL_RUNTIME_HEAP_H

#include "base/lock.h"
#include "runtime/memory/memory.h"

enum {
  RT_HEAP_GRANULE = 256,     /* sizes and addresses are multiples of this number of bytes, or of
                                RT_TEXTURE_BASE_ALIGN if texture units may read the memory */
  RT_HEAP_BUFFER = 1 << 20,  /* size of the largest buffer in bytes */
  RT_HEAP_FIRST = 256 << 10, /* size of the first block in bytes; later blocks have */
  RT_HEAP_SHARE = 4,         /* this fraction of the heap's size, to limit waste, */
  RT_HEAP_BLOCK = 8 << 20,   /* but at most this many bytes */
  RT_HEAP_CLASSES = 13 << 4, /* size classes of free chunks: 16 for each power of two */
};

struct rt_buffer_node {
  struct rt_buffer buffer; /* must be first: users have a pointer to it */
  struct rt_block *block;  /* NULL if the buffer has separate memory */
};

struct rt_heap {
  struct rt_device *device;
  int as_fd;
  uint8_t granule_shift;
  struct base_mutex growing; /* held while blocks and records are created */
  struct base_mutex lock;    /* protects the rest; no system calls while it is held */
  struct rt_block *blocks;
  struct rt_block *spare;                       /* an empty block for the next use, or NULL */
  uint64_t bytes;                               /* of all blocks */
  uint64_t filled[(RT_HEAP_CLASSES + 63) / 64]; /* bitmap of the classes with free chunks */
  struct rt_chunk *free[RT_HEAP_CLASSES];
  struct rt_chunk *records;   /* unused ones */
  struct rt_records *batches; /* allocations with the records; freed with the heap */
};

void rt_heap_init(struct rt_heap *heap, struct rt_device *device, int as_fd);
/* Frees all blocks. Does nothing for a zeroed struct. */
void rt_heap_destroy(struct rt_heap *heap);

/* Allocates a buffer of 1 to RT_HEAP_BUFFER bytes with undefined contents. Returns 0 or -errno. */
int rt_heap_allocate(struct rt_heap *heap, uint64_t size, struct rt_buffer **buffer);
void rt_heap_release(struct rt_buffer *buffer);
/* Frees the empty block that is kept in reserve. Returns false if there is none. */
bool rt_heap_trim(struct rt_heap *heap);

/* Calls visit for each buffer while holding the heap's lock. */
void rt_heap_visit(struct rt_heap *heap, void (*visit)(const struct rt_buffer *, void *),
                   void *data);

#endif
