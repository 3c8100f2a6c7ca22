/* Texture unit state of a context: headers of its images, and samplers. */
#ifndef TEGRACL_RUNTIME_TEXTURES_H
#define TEGRACL_RUNTIME_TEXTURES_H

#include <stdatomic.h>

#include "base/lock.h"
#include "runtime/memory/memory.h"

enum {
  RT_HEADER_POOLS = 6,    /* per context, each larger than the previous one */
  RT_HEADER_CLASSES = 15, /* runs of 2^0 to 2^14 headers, one for each layer or slice */
};

/* The samplers never change: there is one for each combination of enum kernel_sampler and the other
 * bits of enum kernel_texture. Headers are allocated in runs of 2^class.
 *
 * A full pool of headers is copied to a larger one. The old pool is kept until the context is
 * destroyed, because running grids use it, and so do launches on channels that have not been given
 * the new pool. */
struct rt_textures {
  struct base_mutex lock; /* protects the rest; generation is read without it */
  struct rt_memory samplers;
  struct rt_memory headers[RT_HEADER_POOLS];
  unsigned pools; /* the last one is in use; 0 until an image needs a header */
  uint32_t used;  /* headers allocated so far, including the first, which is reserved */
  uint32_t free[RT_HEADER_CLASSES]; /* heads of the lists of free runs; 0 if empty */
  uint32_t *next;                   /* per header: the next one in its list */
  atomic_uint generation;           /* number of pools created */
};

struct rt_channel;
struct rt_slice;

void rt_textures_init(struct rt_textures *textures);
void rt_textures_finish(struct rt_device *device, struct rt_textures *textures);

/* Sends the pools' addresses to a channel that does not have the newest ones. */
void rt_slice_textures(struct rt_textures *textures, struct rt_channel *channel,
                       struct rt_slice *slice);

#endif
