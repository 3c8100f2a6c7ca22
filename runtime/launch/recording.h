/* A recording: grids and copies as one piece of GPU memory, descriptors and constant banks
 * first and the pushbuffer after them. It is written in the host's memory, as if the
 * piece were at address 0, and moved to its place when all of it is known.
 */
#ifndef TEGRACL_RUNTIME_RECORDING_H
#define TEGRACL_RUNTIME_RECORDING_H

#include "runtime/queue/queue.h"

enum rt_engine { RT_ENGINE_NONE, RT_ENGINE_COMPUTE, RT_ENGINE_COPY };

/* Room for one command of at most 32 words, and what comes before it. */
int rt_recording_begin(struct rt_recording *recording, enum rt_engine next);
void rt_recording_put(struct rt_recording *recording, uint32_t word);

struct rt_context *rt_recording_context(const struct rt_recording *recording);

/* Room for a grid's QMD and constant bank 0 (payload_bytes, a multiple of 256), and what is
 * due in the pushbuffer before it; slice.gpu is relative. */
int rt_recording_begin_grid(struct rt_recording *recording, uint64_t payload_bytes,
                            struct rt_slice *slice);
/* What starts the grid is in the slice. local_bytes as in struct rt_kernel. */
void rt_recording_end_grid(struct rt_recording *recording, const struct rt_slice *slice,
                           const char *kernel, uint32_t local_bytes);
/* How many so far. */
uint32_t rt_recording_grids(const struct rt_recording *recording);

#endif
