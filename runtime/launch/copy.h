/* Copies and fills with kernels. They replace the copy engine's methods, which have failed on every
 * board on which they were tried on a compute channel (docs/hardware/bring-up.md trap 43). */
#ifndef TEGRACL_RUNTIME_COPY_H
#define TEGRACL_RUNTIME_COPY_H

#include "runtime/context/context.h"

/* Like rt_recording_copy and rt_recording_fill, but with kernels. */
int rt_copy_by_kernel(struct rt_context *context, struct rt_recording *recording,
                      const struct rt_copy *copy);
int rt_fill_by_kernel(struct rt_context *context, struct rt_recording *recording,
                      const struct rt_fill *fill);

#endif
