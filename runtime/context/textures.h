/* Texture unit state of a context: headers of its images, and samplers. */
#ifndef TEGRACL_RUNTIME_TEXTURES_H
#define TEGRACL_RUNTIME_TEXTURES_H

#include <stdatomic.h>

#include "base/lock.h"
#include "runtime/memory/memory.h"

enum {
  RT_HEADER_CHUNKS = 10,  /* per context; from the third on, each is twice as large */
  RT_HEADER_CLASSES = 15, /* runs of 2^0 to 2^14 headers, one for each layer or slice */
};

/* The samplers never change: there is one for each combination of enum kernel_sampler and the other
 * bits of enum kernel_texture. Headers are allocated in runs of 2^class.
 *
 * The pool of headers never moves, so channels are given its address once. A new address would be
 * state of all channels of a TSG, or of a single one: that is unknown (docs/emulator/textures.md).
 * Therefore the addresses for all headers are reserved, and memory is mapped there in chunks. */
struct rt_textures {
  struct base_mutex lock; /* protects the rest, except for ready */
  struct rt_memory samplers;
  uint64_t headers; /* address of the pool; 0 until an image needs a header */
  struct rt_memory chunk[RT_HEADER_CHUNKS];
  unsigned chunks;
  uint32_t used; /* headers allocated so far, including the first, which is reserved */
  uint32_t free[RT_HEADER_CLASSES]; /* heads of the lists of free runs; 0 if empty */
  uint32_t *next;                   /* per header: the next one in its list */
  bool unchecked;                   /* for the self-check: images may use everything */
  atomic_bool ready;                /* the fields that rt_slice_textures reads are constant */
};

struct rt_slice;

void rt_textures_init(struct rt_textures *textures);
void rt_textures_finish(struct rt_device *device, int as_fd, struct rt_textures *textures);

/* Sends the addresses of the pools to a channel, which needs them once. textures.ready must be
 * true. */
void rt_slice_textures(const struct rt_textures *textures, struct rt_slice *slice);

#endif
