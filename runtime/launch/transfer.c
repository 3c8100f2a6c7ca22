/* Records copies and fills, with the copy engine (docs/hardware/command-stream.md 7) or with
 * kernels. */
#include <string.h>

#include "base/number.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "runtime/launch/copy.h"
#include "runtime/launch/recording.h"

enum {
  LINE_BYTES_MAX = 1 << 30, /* longest line of a copy; the field has 32 bits */
  FILL_SIDE_MAX = 1 << 15,  /* most elements per line, and lines, of a fill; NVK's limit */
  COMPONENT_BYTES = 4,      /* component size for fills with patterns of 4 or more bytes */
  CONSTANT_BYTES = 8,       /* longest pattern that the copy engine repeats */
};

static void put_copy(struct rt_recording *r, uint32_t method, uint32_t count) {
  rt_recording_put(r, method_header(METHOD_INC, SUBCHANNEL_COPY, method, count));
}

static void put_address(struct rt_recording *r, uint64_t address) {
  rt_recording_put(r, (uint32_t)(address >> 32));
  rt_recording_put(r, (uint32_t)address);
}

/* A transfer of lines. */
struct transfer {
  uint64_t target, source;
  size_t target_pitch, source_pitch;
  size_t length; /* elements per line */
  size_t lines;
  bool remap; /* write constants instead of a source */
};

static int put_transfer(struct rt_recording *r, const struct transfer *t) {
  int error = rt_recording_begin(r, RT_ENGINE_COPY);
  if (error)
    return error;
  put_copy(r, NVC7B5_OFFSET_IN_UPPER, 8);
  put_address(r, t->source);
  put_address(r, t->target);
  rt_recording_put(r, (uint32_t)t->source_pitch);
  rt_recording_put(r, (uint32_t)t->target_pitch);
  rt_recording_put(r, (uint32_t)t->length);
  rt_recording_put(r, (uint32_t)t->lines);
  put_copy(r, NVC7B5_LAUNCH_DMA, 1);
  rt_recording_put(r, hw_bits(NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE, COPY_NON_PIPELINED) |
                          hw_bits(NVC7B5_LAUNCH_DMA_SRC_MEMORY_LAYOUT, LAYOUT_PITCH) |
                          hw_bits(NVC7B5_LAUNCH_DMA_DST_MEMORY_LAYOUT, LAYOUT_PITCH) |
                          hw_bits(NVC7B5_LAUNCH_DMA_MULTI_LINE_ENABLE, 1) |
                          hw_bits(NVC7B5_LAUNCH_DMA_REMAP_ENABLE, t->remap));
  return 0;
}

/* Records copies of a rectangle of bytes. */
static int copy_lines(struct rt_recording *r, const struct transfer *whole) {
  const bool pitched = whole->target_pitch <= UINT32_MAX && whole->source_pitch <= UINT32_MAX;
  const size_t most = pitched ? UINT32_MAX : 1;
  int error = 0;
  for (size_t y = 0; y < whole->lines && !error; y += base_min(most, whole->lines - y))
    for (size_t x = 0; x < whole->length && !error; x += LINE_BYTES_MAX) {
      const struct transfer part = {.target = whole->target + y * whole->target_pitch + x,
                                    .source = whole->source + y * whole->source_pitch + x,
                                    .target_pitch = pitched ? whole->target_pitch : 0,
                                    .source_pitch = pitched ? whole->source_pitch : 0,
                                    .length = base_min(LINE_BYTES_MAX, whole->length - x),
                                    .lines = base_min(most, whole->lines - y)};
      error = put_transfer(r, &part);
    }
  return error;
}

/* The copy engine's methods are used only if a board has shown that its channels accept them. In
 * check mode they are used as well: the software Orin does not report copies of uninitialised bytes
 * by the copy engine, but would report a kernel's loads. */
static bool takes_methods(const struct rt_recording *r) {
  const struct rt_device *d = rt_recording_context(r)->device;
  return rt_choice_proven(&d->choices, RT_CHOICE_COPY_METHODS) ||
         (d->notes && rt_choice_may(&d->choices, RT_CHOICE_COPY_METHODS));
}

int rt_recording_copy(struct rt_recording *r, const struct rt_copy *copy) {
  if (!takes_methods(r))
    return rt_copy_by_kernel(rt_recording_context(r), r, copy);
  int error = 0;
  for (size_t z = 0; z < copy->region[2] && !error; z++) {
    struct transfer t = {.target = copy->target + z * copy->target_slice_bytes,
                         .source = copy->source + z * copy->source_slice_bytes,
                         .target_pitch = copy->target_row_bytes,
                         .source_pitch = copy->source_row_bytes,
                         .length = copy->region[0],
                         .lines = copy->region[1]};
    if (t.target_pitch == t.length && t.source_pitch == t.length) {
      t.length *= t.lines;
      t.lines = 1;
    }
    error = copy_lines(r, &t);
  }
  return error;
}

/* Sets the constants that the following transfers write. */
static int put_constants(struct rt_recording *r, const unsigned char *pattern, size_t size) {
  uint32_t constants[CONSTANT_BYTES / sizeof(uint32_t)] = {0};
  memcpy(constants, pattern, size);
  const size_t component = base_min(size, COMPONENT_BYTES);
  int error = rt_recording_begin(r, RT_ENGINE_COPY);
  if (error)
    return error;
  put_copy(r, NVC7B5_SET_REMAP_CONST_A, 3);
  rt_recording_put(r, constants[0]);
  rt_recording_put(r, constants[1]);
  rt_recording_put(
      r, hw_bits(NVC7B5_SET_REMAP_COMPONENTS_DST_X, REMAP_CONST_A) |
             hw_bits(NVC7B5_SET_REMAP_COMPONENTS_DST_Y, REMAP_CONST_B) |
             hw_bits(NVC7B5_SET_REMAP_COMPONENTS_COMPONENT_SIZE, (uint32_t)component - 1) |
             hw_bits(NVC7B5_SET_REMAP_COMPONENTS_NUM_DST_COMPONENTS,
                     (uint32_t)(size / component - 1)));
  return 0;
}

/* Writes count elements, one every pitch bytes. Adjacent elements are combined into the longest
 * possible lines. */
static int fill_line(struct rt_recording *r, uint64_t target, size_t element, size_t pitch,
                     size_t count) {
  const size_t line = pitch == element ? base_min(count, FILL_SIDE_MAX) : 1;
  int error = 0;
  for (size_t done = 0; done < count && !error;) {
    struct transfer t = {.target = target + done * pitch,
                         .target_pitch = line * pitch,
                         .length = base_min(line, count - done),
                         .lines = 1,
                         .remap = true};
    if (t.length == line)
      t.lines = base_min((count - done) / line, FILL_SIDE_MAX);
    error = put_transfer(r, &t);
    done += t.length * t.lines;
  }
  return error;
}

/* A longer pattern is written in columns of the width that the engine can repeat. */
int rt_recording_fill(struct rt_recording *r, const struct rt_fill *fill) {
  if (!takes_methods(r))
    return rt_fill_by_kernel(rt_recording_context(r), r, fill);
  const size_t element = base_min(fill->pattern_size, CONSTANT_BYTES);
  const bool packed = fill->row_bytes == fill->region[0];
  const size_t rows = packed ? 1 : fill->region[1];
  const size_t row = packed ? fill->region[0] * fill->region[1] : fill->region[0];
  int error = 0;
  for (size_t column = 0; column < fill->pattern_size && !error; column += element) {
    error = put_constants(r, (const unsigned char *)fill->pattern + column, element);
    for (size_t z = 0; z < fill->region[2] && !error; z++)
      for (size_t y = 0; y < rows && !error; y++)
        error = fill_line(r, fill->target + z * fill->slice_bytes + y * fill->row_bytes + column,
                          element, fill->pattern_size, row / fill->pattern_size);
  }
  return error;
}
