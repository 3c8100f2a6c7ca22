/* A recording: grids and copies in one piece of GPU memory, first QMDs and constant banks and then
 * the pushbuffer. It is built in host memory with addresses relative to 0, and relocated when it is
 * complete. */
#ifndef TEGRACL_RUNTIME_RECORDING_H
#define TEGRACL_RUNTIME_RECORDING_H

#include "runtime/queue/queue.h"

enum rt_engine { RT_ENGINE_NONE, RT_ENGINE_COMPUTE, RT_ENGINE_COPY };

/* Makes room for one command of at most 32 words and the commands that must precede it. */
int rt_recording_begin(struct rt_recording *recording, enum rt_engine next);
void rt_recording_put(struct rt_recording *recording, uint32_t word);

struct rt_context *rt_recording_context(const struct rt_recording *recording);

/* Allocates a grid's QMD and constant bank 0 (payload_bytes, a multiple of 256), and writes the
 * commands that must precede the grid. slice.gpu is relative to the recording. */
int rt_recording_begin_grid(struct rt_recording *recording, uint64_t payload_bytes,
                            struct rt_slice *slice);
/* Appends the slice's words, which start the grid. local_bytes is the member of struct
 * rt_kernel. */
void rt_recording_end_grid(struct rt_recording *recording, const struct rt_slice *slice,
                           const char *kernel, uint32_t local_bytes);
/* Returns the number of grids recorded so far. */
uint32_t rt_recording_grids(const struct rt_recording *recording);

#endif
