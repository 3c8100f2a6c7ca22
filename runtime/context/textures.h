/* What the texture units need of a context: headers of its images, and samplers. */
#ifndef TEGRACL_RUNTIME_TEXTURES_H
#define TEGRACL_RUNTIME_TEXTURES_H

#include <stdatomic.h>

#include "base/lock.h"
#include "runtime/memory/memory.h"

enum {
  RT_HEADER_POOLS = 6,    /* of a context, each larger than the one before it */
  RT_HEADER_CLASSES = 15, /* headers of 2^0 to 2^14 layers or slices */
};

/* The samplers never change: there is one for each combination of enum kernel_sampler and of the
 * other bits of enum kernel_texture. Headers are given out in runs of 2^class.
 *
 * A full pool of headers is copied to a larger one. Running grids, and launches whose channels have
 * not yet got the new pool, use the old one, which stays until the context is destroyed. */
struct rt_textures {
  struct base_mutex lock; /* guards the rest; generation is read without it */
  struct rt_memory samplers;
  struct rt_memory headers[RT_HEADER_POOLS];
  unsigned pools;                   /* the last is in use; 0: no image has needed a header */
  uint32_t used;                    /* headers that were ever given out; the first is no image's */
  uint32_t free[RT_HEADER_CLASSES]; /* lists of free runs; 0: empty */
  uint32_t *next;                   /* by header: the next of its list */
  atomic_uint generation;           /* counts the pools */
};

struct rt_channel;
struct rt_slice;

void rt_textures_init(struct rt_textures *textures);
void rt_textures_finish(struct rt_device *device, struct rt_textures *textures);

/* Puts the pools' addresses into the pushbuffer of a channel that does not have the last of them.
 */
void rt_slice_textures(struct rt_textures *textures, struct rt_channel *channel,
                       struct rt_slice *slice);

#endif
