/* Tests the pool of texture headers: its address, its growth, and what happens when it is full or
 * cannot grow; which formats and layouts get headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "gpu/hw/methods.h"
#include "gpu/hw/texture.h"
#include "runtime/context/context.h"
#include "runtime/context/texture_check.h"
#include "runtime/image_formats.h"
#include "runtime/queue/queue.h"
#include "tests/runtime/fake_os.h"

enum { FIRST_CHUNK = 2048, SLICES_MAX = 16384, HEADERS_MAX = 1 << 20 };

struct opened {
  struct rt_device *device;
  struct rt_context *context;
};

static void open_context(struct opened *o) {
  fake_os_reset(0, 0, false);
  assert_int_equal(setenv("TEGRACL_IMAGES", "hardware", 1), 0);
  assert_int_equal(rt_device_create(&fake_os, &o->device), 0);
  assert_int_equal(rt_context_create(o->device, &o->context), 0);
}

static void close_context(const struct opened *o) {
  rt_context_destroy(o->context);
  rt_device_close(o->device);
  const struct fake_alive alive = fake_os_alive();
  assert_int_equal(alive.fds, 0);
  assert_int_equal(alive.gpu_mappings, 0);
  assert_int_equal(alive.cpu_mappings, 0);
  assert_int_equal(alive.reservations, 0);
}

/* Makes the headers of a volume of RGBA8. */
static struct kernel_image make_volume(const struct opened *o, uint64_t base, uint32_t slices) {
  struct kernel_image image = {.base = base,
                               .width = 8,
                               .height = 16,
                               .depth = (uint16_t)slices,
                               .row_pitch = 32,
                               .slice_rows = 16,
                               .format = 5 << KERNEL_IMAGE_ORDER | 2 << KERNEL_IMAGE_TYPE |
                                         2 << KERNEL_IMAGE_TEXEL_SHIFT};
  const int error = rt_texture_create(o->context, &image, KERNEL_ARG_IMAGE_3D, &image.texture);
  assert_int_equal(error, image.texture ? 0 : -ENOMEM);
  return image;
}

static uint32_t index_of(const struct kernel_image *image) {
  return image->texture & (HEADERS_MAX - 1);
}

/* Returns how often the channel was given a pool of headers, and the last pool. */
static unsigned count_pools(const struct rt_queue *q, uint64_t *address, uint32_t *last) {
  const struct rt_channel *ch = q->channel;
  const uint32_t *words = ch->slices.cpu;
  unsigned count = 0;
  for (size_t i = 0; i < ch->slice_head / sizeof(*words); i++)
    if (words[i] ==
        method_header(METHOD_INC, SUBCHANNEL_COMPUTE, NVC7C0_SET_TEX_HEADER_POOL_A, 3)) {
      *address = (uint64_t)words[i + 1] << 32 | words[i + 2];
      *last = words[i + 3];
      count++;
    }
  return count;
}

static struct rt_queue *new_queue(const struct opened *o) {
  struct rt_queue *q = NULL;
  assert_int_equal(rt_queue_create(o->context, RT_PRIORITY_MEDIUM, &q), 0);
  return q;
}

/* Submits work, which ends at once. */
static void submit(struct rt_queue *q) {
  uint64_t point = 0;
  assert_int_equal(rt_queue_marker(q, NULL, &point), 0);
  *(volatile uint64_t *)q->timeline = point;
}

/* Whether a pool's address is state of a channel or of all channels of a TSG is unknown, so it may
 * not change. */
static void each_channel_gets_the_pool_once(void **state) {
  (void)state;
  struct opened o;
  open_context(&o);
  struct rt_queue *queues[3] = {new_queue(&o), new_queue(&o)};
  const uint32_t slices[] = {1, 2048, 5000, SLICES_MAX};
  uint64_t address = 0, first = 0;
  uint32_t last = 0;
  submit(queues[0]);
  assert_int_equal(count_pools(queues[0], &address, &last), 0);
  for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
    assert_int_not_equal(make_volume(&o, 0x10000, slices[i]).texture, 0);
    if (i == 2)
      queues[2] = new_queue(&o);
    for (size_t k = 0; k < 3 && queues[k]; k++) {
      submit(queues[k]);
      assert_int_equal(count_pools(queues[k], &address, &last), 1);
      first = first ? first : address;
      assert_true(first && address == first);
      assert_int_equal(last, HEADERS_MAX - 1);
    }
  }
  for (int i = 0; i < 3; i++)
    rt_queue_destroy(queues[i]);
  close_context(&o);
}

/* Runs cross the borders of chunks, whose memory need not be contiguous for the CPU. Each header
 * must be at its index from the pool's address on. */
static void headers_are_at_their_indices(void **state) {
  (void)state;
  struct opened o;
  open_context(&o);
  for (uint32_t round = 0; round < 12; round++) {
    const uint64_t base = UINT64_C(0x10000000) * (round + 1);
    const struct kernel_image image = make_volume(&o, base, 3000);
    assert_int_not_equal(image.texture, 0);
    for (uint32_t i = 0; i < 3000; i++) {
      const struct rt_textures *t = &o.context->textures;
      const uint64_t gpu = t->headers + (uint64_t)(index_of(&image) + i) * TEXTURE_BYTES;
      const uint32_t *header = NULL;
      for (unsigned k = 0; k < t->chunks; k++)
        if (gpu >= t->chunk[k].gpu && gpu < t->chunk[k].gpu + t->chunk[k].size)
          header = (const uint32_t *)((const char *)t->chunk[k].cpu + (gpu - t->chunk[k].gpu));
      assert_non_null(header);
      assert_int_equal((uint64_t)hw_get(header, TIC_ADDRESS_BITS31TO0), base + i * 512);
    }
  }
  close_context(&o);
}

static void full_pool_takes_images_again(void **state) {
  (void)state;
  struct opened o;
  open_context(&o);
  struct kernel_image images[HEADERS_MAX / SLICES_MAX] = {0};
  unsigned made = 0;
  while (made < HEADERS_MAX / SLICES_MAX &&
         (images[made] = make_volume(&o, 0x10000, SLICES_MAX)).texture)
    made++;
  assert_int_equal(made, HEADERS_MAX / SLICES_MAX - 1); /* header 0 is reserved */
  rt_texture_destroy(o.context, &images[7]);
  assert_int_not_equal(make_volume(&o, 0x10000, SLICES_MAX).texture, 0);
  close_context(&o);
}

/* The formats that typed stores do not write, and those that have no header: the table of
 * docs/images.md. Orders and types are numbered as in OpenCL from CL_R and CL_SNORM_INT8 on. */
static void formats_are_read_and_written_as_documented(void **state) {
  (void)state;
  enum { R, A, RG, RA, RGB, RGBA, BGRA, ARGB, INTENSITY, LUMINANCE, Rx, RGx, RGBx, DEPTH };
  enum { sRGBx = 16, sRGBA, sBGRA, ABGR, ORDERS, HALF_FLOAT = 13, TYPES = 22 };
  static const bool is_read[ORDERS] = {
      [R] = true,     [A] = true,     [RG] = true,   [RA] = true,        [RGB] = true,
      [RGBA] = true,  [BGRA] = true,  [ARGB] = true, [INTENSITY] = true, [LUMINANCE] = true,
      [Rx] = true,    [RGx] = true,   [RGBx] = true, [DEPTH] = true,     [sRGBx] = true,
      [sRGBA] = true, [sBGRA] = true, [ABGR] = true};
  static const bool is_written[ORDERS] = {
      [R] = true,         [RG] = true, [RGBA] = true, [INTENSITY] = true,
      [LUMINANCE] = true, [Rx] = true, [RGx] = true,  [DEPTH] = true};
  struct opened o;
  open_context(&o);
  for (uint32_t order = 0; order < ORDERS; order++) {
    bool read = false, written = false, not_written = false;
    for (uint32_t type = 0; type < TYPES; type++) {
      struct kernel_image image = {.base = 512,
                                   .width = 1,
                                   .height = 1,
                                   .depth = 1,
                                   .row_pitch = 32,
                                   .slice_rows = 1,
                                   .format =
                                       order << KERNEL_IMAGE_ORDER | type << KERNEL_IMAGE_TYPE};
      uint32_t texture = 0;
      const int error = rt_texture_create(o.context, &image, KERNEL_ARG_IMAGE_2D, &texture);
      assert_int_equal(error, texture ? 0 : -EINVAL);
      read |= texture;
      if (type == HALF_FLOAT) { /* stores would truncate */
        assert_false(texture >> KERNEL_TEXTURE_STORES & 1);
        continue;
      }
      written |= texture >> KERNEL_TEXTURE_STORES & 1;
      not_written |= texture && !(texture >> KERNEL_TEXTURE_STORES & 1);
    }
    if (read != is_read[order] || written != is_written[order] || (written && not_written))
      fail_msg("order %u: %d %d %d", order, read, written, not_written);
  }
  close_context(&o);
}

/* The self-check has a launch with room for 128 images. */
static void all_reported_formats_are_tested(void **state) {
  (void)state;
#define TYPE(type, kind, bytes, sets) sets,
#define ORDER(order, sets, uses, ...) (uses) ? (sets) : 0,
  static const uint8_t types[] = {RT_CHANNEL_TYPES(TYPE)}, orders[] = {RT_CHANNEL_ORDERS(ORDER)};
  uint32_t list[RT_TEXTURE_FORMATS];
  size_t reported = 0;
  for (size_t i = 0; i < sizeof orders; i++)
    for (size_t k = 0; k < sizeof types; k++)
      reported += (orders[i] & types[k] & ~RT_TYPES_UNSUPPORTED) != 0;
  assert_int_equal(rt_texture_reported(list), reported);
  assert_in_range(reported, 60, 128);
}

/* The limits of docs/images.md. A single row needs no pitch. */
static void layouts_beyond_the_limits_have_no_header(void **state) {
  (void)state;
  enum { PITCH_MAX = 2097120 };
  static const struct {
    uint64_t base;
    uint32_t pitch;
    uint16_t height, depth, slice_rows;
    enum kernel_arg_image type;
    bool read;
  } rows[] = {
      {512, PITCH_MAX, 2, 1, 2, KERNEL_ARG_IMAGE_2D, true},
      {512, PITCH_MAX + 32, 2, 1, 2, KERNEL_ARG_IMAGE_2D, false},
      {512, 48, 2, 1, 2, KERNEL_ARG_IMAGE_2D, false},
      {512, 48, 1, 1, 1, KERNEL_ARG_IMAGE_2D, true},
      {512, PITCH_MAX + 32, 1, 1, 1, KERNEL_ARG_IMAGE_2D, true},
      {256, 64, 2, 1, 2, KERNEL_ARG_IMAGE_2D, false},
      {256, 64, 1, 1, 1, KERNEL_ARG_IMAGE_1D, false},
      {512, 64, 2, 3, 8, KERNEL_ARG_IMAGE_3D, true},
      {512, 64, 2, 3, 2, KERNEL_ARG_IMAGE_3D, false},
      {512, 64, 2, 1, 2, KERNEL_ARG_IMAGE_3D, true},
      {512, 64, 2, 3, 8, KERNEL_ARG_IMAGE_2D_ARRAY, true},
      {512, 64, 2, 3, 7, KERNEL_ARG_IMAGE_2D_ARRAY, false},
      {512, 512, 1, 3, 1, KERNEL_ARG_IMAGE_1D_ARRAY, true},
      {512, 256, 1, 3, 1, KERNEL_ARG_IMAGE_1D_ARRAY, false},
      {16, 64, 1, 1, 1, KERNEL_ARG_IMAGE_1D_BUFFER, true},
      {8, 64, 1, 1, 1, KERNEL_ARG_IMAGE_1D_BUFFER, false},
  };
  struct opened o;
  open_context(&o);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct kernel_image image = {.base = rows[i].base,
                                       .width = 12,
                                       .height = rows[i].height,
                                       .depth = rows[i].depth,
                                       .row_pitch = rows[i].pitch,
                                       .slice_rows = rows[i].slice_rows,
                                       .format = 5 << KERNEL_IMAGE_ORDER | 2 << KERNEL_IMAGE_TYPE |
                                                 2 << KERNEL_IMAGE_TEXEL_SHIFT};
    uint32_t texture = 0;
    const int error = rt_texture_create(o.context, &image, rows[i].type, &texture);
    if (error != (rows[i].read ? 0 : -EINVAL) || (texture != 0) != rows[i].read)
      fail_msg("row %zu: error %d, texture 0x%x", i, error, texture);
  }
  close_context(&o);
}

/* An image gets no headers if a call fails, and the next one gets them. */
static void failed_calls_leave_the_pool_usable(void **state) {
  (void)state;
  static const char *const calls[] = {"NVMAP_IOC_CREATE_64", "NVMAP_IOC_ALLOC", "NVMAP_IOC_GET_FD",
                                      "NVGPU_AS_IOCTL_ALLOC_SPACE", "NVGPU_AS_IOCTL_MAP_BUFFER_EX"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (unsigned nth = 1; nth < 4; nth++) {
      struct opened o;
      open_context(&o);
      fake_os_refuse_named(calls[i], nth, -ENOMEM);
      const struct kernel_image first = make_volume(&o, 0x10000, 1);
      const struct kernel_image large = make_volume(&o, 0x10000, FIRST_CHUNK);
      const bool refused = fake_os_refused();
      fake_os_refuse_named(NULL, 0, 0);
      assert_int_equal(!first.texture || !large.texture, refused);
      assert_int_not_equal(make_volume(&o, 0x10000, 1).texture, 0);
      assert_int_not_equal(make_volume(&o, 0x10000, FIRST_CHUNK).texture, 0);
      close_context(&o);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_channel_gets_the_pool_once),
      cmocka_unit_test(headers_are_at_their_indices),
      cmocka_unit_test(full_pool_takes_images_again),
      cmocka_unit_test(formats_are_read_and_written_as_documented),
      cmocka_unit_test(all_reported_formats_are_tested),
      cmocka_unit_test(layouts_beyond_the_limits_have_no_header),
      cmocka_unit_test(failed_calls_leave_the_pool_usable),
  };
  return cmocka_run_group_tests_name("runtime textures", tests, NULL, NULL);
}
