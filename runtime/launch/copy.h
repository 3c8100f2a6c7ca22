/* Copies and fills by kernels: the copy engine's methods on a compute channel have not run
 * on any board without a fault (docs/hardware/bring-up.md trap 43).
 */
#ifndef TEGRACL_RUNTIME_COPY_H
#define TEGRACL_RUNTIME_COPY_H

#include "runtime/context/context.h"

/* As rt_recording_copy and rt_recording_fill. */
int rt_copy_by_kernel(struct rt_context *context, struct rt_recording *recording,
                      const struct rt_copy *copy);
int rt_fill_by_kernel(struct rt_context *context, struct rt_recording *recording,
                      const struct rt_fill *fill);

#endif
