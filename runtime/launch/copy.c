/* Copies and fills with the kernels of copy_kernels.cu. */
#include "runtime/launch/copy.h"

#include <string.h>

#include "gpu/hw/constant_bank.h"
#include "runtime/launch/copy_kernels.h"

enum { THREADS = 256, GROUPS_X_MAX = 1024, PATTERN_BYTES = 128 };

/* Element sizes in bytes, widest first. The kernels are numbered in this order: copies, then
 * fills. */
static const size_t widths[] = {16, 4, 1};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

#define SECTION(name)                                                                              \
  { .kind = MODULE_TEXT, .size = sizeof(text_##name), .align = 128, .data = text_##name }
#define KERNEL(number, NAME, label)                                                                \
  {                                                                                                \
    .name = label, .text = (number), .registers = REGISTERS_##NAME,                                \
    .bank0_bytes = BANK0_PARAMS + PARAMS_##NAME, .param_offset = BANK0_PARAMS,                     \
    .param_bytes = PARAMS_##NAME, .hidden_offset = UINT32_MAX, .bank2 = MODULE_NO_SECTION,         \
    .bank3 = MODULE_NO_SECTION, .bank4 = MODULE_NO_SECTION                                         \
  }

static const struct module_section sections[] = {
    SECTION(copy_16), SECTION(copy_4), SECTION(copy_1),
    SECTION(fill_16), SECTION(fill_4), SECTION(fill_1),
};
static const struct kernel_code kernels[] = {
    KERNEL(0, COPY_16, "copy"), KERNEL(1, COPY_4, "copy"), KERNEL(2, COPY_1, "copy"),
    KERNEL(3, FILL_16, "fill"), KERNEL(4, FILL_4, "fill"), KERNEL(5, FILL_1, "fill"),
};
static const struct module_code code = {.sections = sections,
                                        .section_count = 2 * WIDTHS,
                                        .kernels = kernels,
                                        .kernel_count = 2 * WIDTHS};

/* Parameters of the kernels; they match copy_kernels.cu. */
struct copy_box {
  uint64_t target, source;
  uint64_t width, rows, slices;
  uint64_t target_row_bytes, target_slice_bytes, source_row_bytes, source_slice_bytes;
};
struct fill_box {
  _Alignas(16) unsigned char pattern[PATTERN_BYTES];
  uint64_t target;
  uint64_t width, rows, slices;
  uint64_t row_bytes, slice_bytes;
  uint64_t mask;
};
_Static_assert(sizeof(struct copy_box) == PARAMS_COPY_16, "layout of the kernels' parameters");
_Static_assert(sizeof(struct fill_box) == PARAMS_FILL_16, "layout of the kernels' parameters");

/* Returns the context's module with the kernels, and creates it on first use. */
static int get_module(struct rt_context *c, struct rt_module **module) {
  struct rt_module *made, *none = NULL;
  *module = atomic_load(&c->copy_module);
  if (*module)
    return 0;
  const int error = rt_module_create(c, &code, &made);
  if (error)
    return error;
  if (atomic_compare_exchange_strong(&c->copy_module, &none, made)) {
    *module = made;
  } else { /* another thread was faster */
    rt_module_destroy(made);
    *module = none;
  }
  return 0;
}

static uint32_t count_groups(uint64_t count, uint32_t size, uint64_t most) {
  const uint64_t wanted = (count - 1) / size + 1;
  return (uint32_t)(wanted < most ? wanted : most);
}

/* Records a launch of the kernel over box. If rows are short, a block covers several rows. */
static int launch_copy(struct rt_context *c, struct rt_recording *r, uint32_t kernel,
                       const void *params, const uint64_t box[3]) {
  struct rt_launch l = {.kernel = kernel, .params = params, .block = {THREADS, 1, 1}};
  const uint32_t *most = c->device->info.max_grid;
  const int error = get_module(c, &l.module);
  if (error)
    return error;
  while (l.block[0] / 2 >= box[0] && box[1] > l.block[1] && l.block[0] > 1) {
    l.block[0] /= 2;
    l.block[1] *= 2;
  }
  l.grid[0] = count_groups(box[0], l.block[0], GROUPS_X_MAX);
  l.grid[1] = count_groups(box[1], l.block[1], most[1]);
  l.grid[2] = count_groups(box[2], 1, most[2]);
  return rt_recording_launch(r, &l);
}

/* Returns the index of the widest element size that divides all values which were ORed into
 * bits. */
static unsigned widest_element(uint64_t bits) {
  unsigned i = 0;
  while (bits % widths[i])
    i++;
  return i;
}

int rt_copy_by_kernel(struct rt_context *c, struct rt_recording *r, const struct rt_copy *copy) {
  struct copy_box b = {copy->target,
                       copy->source,
                       copy->region[0],
                       copy->region[1],
                       copy->region[2],
                       copy->target_row_bytes,
                       copy->target_slice_bytes,
                       copy->source_row_bytes,
                       copy->source_slice_bytes};
  if (!b.width || !b.rows || !b.slices)
    return 0;
  if (b.target_row_bytes == b.width && b.source_row_bytes == b.width) {
    b.width *= b.rows;
    b.rows = 1;
  }
  if (b.rows == 1)
    b.target_row_bytes = b.source_row_bytes = 0;
  if (b.slices == 1)
    b.target_slice_bytes = b.source_slice_bytes = 0;
  const unsigned i =
      widest_element(b.target | b.source | b.width | b.target_row_bytes | b.source_row_bytes |
                     b.target_slice_bytes | b.source_slice_bytes);
  b.width /= widths[i];
  return launch_copy(c, r, i, &b, (uint64_t[]){b.width, b.rows, b.slices});
}

int rt_fill_by_kernel(struct rt_context *c, struct rt_recording *r, const struct rt_fill *fill) {
  struct fill_box b = {.target = fill->target,
                       .width = fill->region[0],
                       .rows = fill->region[1],
                       .slices = fill->region[2],
                       .row_bytes = fill->row_bytes,
                       .slice_bytes = fill->slice_bytes};
  if (!b.width || !b.rows || !b.slices)
    return 0;
  for (size_t i = 0; i < PATTERN_BYTES; i += fill->pattern_size)
    memcpy(b.pattern + i, fill->pattern, fill->pattern_size);
  if (b.row_bytes == b.width) {
    b.width *= b.rows;
    b.rows = 1;
  }
  if (b.rows == 1)
    b.row_bytes = 0;
  if (b.slices == 1)
    b.slice_bytes = 0;
  const unsigned i = widest_element(b.target | b.width | b.row_bytes | b.slice_bytes);
  b.width /= widths[i];
  b.mask = fill->pattern_size > widths[i] ? fill->pattern_size / widths[i] - 1 : 0;
  return launch_copy(c, r, WIDTHS + i, &b, (uint64_t[]){b.width, b.rows, b.slices});
}
