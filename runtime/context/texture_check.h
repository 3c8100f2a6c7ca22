/* The self-check of the texture units, because no board has proven them. docs/texels.md says what
 * it tests, within which bounds, and what each failure means for images. */
#ifndef TEGRACL_RUNTIME_TEXTURE_CHECK_H
#define TEGRACL_RUNTIME_TEXTURE_CHECK_H

#include "runtime/device/device.h"

/* Returns the index of a kernel_image.format in TEXTURE_FORMATS, or -1. */
int rt_texture_format(uint32_t format);

/* Stores the formats that the device reports (runtime/image_formats.h), and returns their number.
 */
size_t rt_texture_reported(uint32_t formats[RT_TEXTURE_FORMATS]);

/* Runs the self-check on the device, in a context that it creates and destroys, and stores the
 * answers. The caller guarantees that nothing else runs on the GPU. Returns -errno if that is
 * impossible now: without memory, without channels, or if it takes longer than limit_ns. */
int rt_texture_check_run(struct rt_device *device, uint64_t limit_ns,
                         struct rt_texture_answers *answers);

#endif
