/* The self-check of the texture units: images of all reported formats, read and stored by the
 * kernels of texture_kernels.cu, compared with texel.c. docs/texels.md explains the bounds. */
#include "runtime/context/texture_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "gpu/hw/constant_bank.h"
#include "runtime/context/context.h"
#include "runtime/context/texel.h"
#include "runtime/context/texture_kernels.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

/* ---- kernels ------------------------------------------------------------------------------- */

enum kernel {
  READ_UNIFORM,
  READ_REGISTER,
  SAMPLE_CONSTANT,
  FETCH_CONSTANT,
  BUFFER_CONSTANT,
  STORE_CONSTANT,
  STORE_REGISTER,
  KERNELS
};

#define SECTION(name)                                                                              \
  { .kind = MODULE_TEXT, .size = sizeof(text_##name), .align = 128, .data = text_##name }
#define KERNEL(number, NAME)                                                                       \
  {                                                                                                \
    .name = "texture self-check", .text = (number), .registers = REGISTERS_##NAME,                 \
    .bank0_bytes = BANK0_PARAMS + PARAMS_##NAME, .param_offset = BANK0_PARAMS,                     \
    .param_bytes = PARAMS_##NAME, .hidden_offset = UINT32_MAX, .bank2 = MODULE_NO_SECTION,         \
    .bank3 = MODULE_NO_SECTION, .bank4 = MODULE_NO_SECTION                                         \
  }

static const struct module_section sections[] = {
    SECTION(read_uniform),   SECTION(read_register),   SECTION(sample_constant),
    SECTION(fetch_constant), SECTION(buffer_constant), SECTION(store_constant),
    SECTION(store_register),
};
static const struct kernel_code kernels[] = {
    KERNEL(0, READ_UNIFORM),   KERNEL(1, READ_REGISTER),   KERNEL(2, SAMPLE_CONSTANT),
    KERNEL(3, FETCH_CONSTANT), KERNEL(4, BUFFER_CONSTANT), KERNEL(5, STORE_CONSTANT),
    KERNEL(6, STORE_REGISTER),
};
static const struct module_code code = {
    .sections = sections, .section_count = KERNELS, .kernels = kernels, .kernel_count = KERNELS};

enum { HANDLES = 128, THREADS = 32, REQUESTS = HANDLES * THREADS };

/* As in texture_kernels.cu. */
enum request_kind { KIND_SAMPLE, KIND_FETCH, KIND_FETCH_BUFFER };
struct request {
  uint32_t handle, kind, x, y;
};
struct arguments {
  uint32_t handle[HANDLES];
  uint64_t constant;
  uint64_t requests;
  uint64_t colours;
};
_Static_assert(sizeof(struct arguments) == PARAMS_READ_UNIFORM,
               "layout of the kernels' parameters");

/* ---- the scratch context --------------------------------------------------------------------- */

enum { TEXEL_BYTES = 512 << 10, MARGIN = 0xa5 };

struct check {
  struct rt_device *device;
  uint32_t formats[RT_TEXTURE_FORMATS]; /* reported ones */
  size_t format_count;
  struct rt_texture_answers *answers;
  uint64_t limit_ns, deadline_ns;
  bool stuck; /* work did not end in time */
  struct rt_context *context;
  struct rt_queue *queue;
  struct rt_module *module;
  struct rt_buffer *texels, *lists;
  struct request *requests; /* in lists */
  uint32_t (*colours)[4];   /* in lists */
  unsigned count;           /* of requests */
  uint64_t used;            /* bytes of texels that have images */
  uint64_t random;
  struct rt_texel want[REQUESTS];
};

static void close_scratch(struct check *k) {
  if (k->stuck) /* its channel is private, because it is the context's only one */
    rt_queue_abandon(k->queue);
  k->stuck = false;
  rt_queue_destroy(k->queue);
  rt_module_destroy(k->module);
  rt_buffer_destroy(k->texels);
  rt_buffer_destroy(k->lists);
  rt_context_destroy_scratch(k->context);
  k->queue = NULL;
  k->module = NULL;
  k->texels = k->lists = NULL;
  k->context = NULL;
}

static int open_scratch(struct check *k) {
  const uint64_t list_bytes = REQUESTS * (sizeof(*k->requests) + sizeof(*k->colours));
  int error = rt_context_create_scratch(k->device, &k->context);
  if (!error)
    error = rt_queue_create(k->context, RT_PRIORITY_MEDIUM, &k->queue);
  if (!error)
    error = rt_module_create(k->context, &code, &k->module);
  if (!error)
    error = rt_buffer_create(k->context, TEXEL_BYTES, RT_MEMORY_CACHED, &k->texels);
  if (!error)
    error = rt_buffer_create(k->context, list_bytes, RT_MEMORY_CACHED, &k->lists);
  if (error)
    return error;
  k->requests = k->lists->cpu;
  k->colours = (uint32_t(*)[4])(k->requests + REQUESTS);
  return 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void begin(struct check *k) {
  k->count = 0;
  k->used = 0;
}

/* Adds an image to the memory of texels, which are zero. Stores its description and its texels. */
static int add_image(struct check *k, enum kernel_arg_image type, const struct kernel_image *like,
                     struct kernel_image *image, uint8_t **texels) {
  const uint64_t bytes = (uint64_t)like->row_pitch * like->slice_rows * like->depth;
  const uint64_t at = base_round_up(k->used, RT_TEXTURE_BASE_ALIGN);
  *texels = (uint8_t *)k->texels->cpu + at;
  if (at + bytes > TEXEL_BYTES)
    return rt_fail(-ENOMEM, "texture self-check: the images are too large");
  k->used = at + bytes;
  *image = *like;
  image->base = k->texels->gpu + at;
  memset(*texels, 0, bytes);
  return rt_texture_create(k->context, image, type, &image->texture);
}

static struct rt_texel *ask(struct check *k, uint32_t handle, enum request_kind kind, uint32_t x,
                            uint32_t y) {
  if (k->count == REQUESTS) /* a request more overwrites the last one; no list is that long */
    k->count--;
  k->requests[k->count] = (struct request){handle, kind, x, y};
  return &k->want[k->count++];
}

/* Repeats the last request until the block is full, because a block has one handle. */
static void end_block(struct check *k) {
  while (k->count % THREADS && k->count < REQUESTS) {
    const struct request r = k->requests[k->count - 1];
    struct rt_texel *last = &k->want[k->count - 1];
    uint32_t colour[4];
    memcpy(colour, k->colours[k->count - 1], sizeof(colour));
    *ask(k, r.handle, r.kind, r.x, r.y) = *last;
    memcpy(k->colours[k->count - 1], colour, sizeof(colour));
  }
}

/* Executes the requests. Returns 0, or -errno: -EIO if the GPU reported a fault. */
static int execute(struct check *k, enum kernel kernel) {
  struct arguments a = {.constant = k->requests[0].handle,
                        .requests = k->lists->gpu,
                        .colours = k->lists->gpu + REQUESTS * sizeof(struct request)};
  uint64_t point;
  end_block(k);
  const uint32_t blocks = k->count / THREADS;
  for (uint32_t i = 0; i < blocks; i++)
    a.handle[i] = k->requests[i * THREADS].handle;
  const struct rt_launch launch = {.module = k->module,
                                   .kernel = kernel,
                                   .grid = {blocks, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .params = &a};
  const uint64_t now = base_clock_ns();
  if (now >= k->deadline_ns)
    return rt_fail(-ETIMEDOUT, "texture self-check: not finished within %llu ms",
                   (unsigned long long)k->limit_ns / 1000000);
  int error = rt_queue_launch(k->queue, &launch, &point);
  if (error == 0)
    error = rt_queue_wait(k->queue, point, k->deadline_ns - now);
  k->stuck = error == -ETIMEDOUT;
  return error;
}

/* Executes requests of reads. */
static int execute_reads(struct check *k, enum kernel kernel) {
  memset(k->colours, 0x5a, REQUESTS * sizeof(*k->colours)); /* no answer of an earlier launch */
  return execute(k, kernel);
}

static bool is_within(const struct rt_texel *want, unsigned i, uint32_t bits) {
  if (!(want->read >> i & 1))
    return true;
  const double got = !want->integer    ? (double)base_float(bits)
                     : want->is_signed ? (double)(int32_t)bits
                                       : (double)bits;
  return got >= want->value[i] - want->accuracy[i] && got <= want->value[i] + want->accuracy[i];
}

/* Returns whether request i was answered as expected. */
static bool is_right(const struct check *k, unsigned i) {
  for (unsigned c = 0; c < 4; c++)
    if (!is_within(&k->want[i], c, k->colours[i][c]))
      return false;
  return true;
}

/* Executes the requests and returns 1 if all answers are right, 0 if one is wrong, or -errno. */
static int compare(struct check *k, enum kernel kernel) {
  const int error = execute_reads(k, kernel);
  for (unsigned i = 0; !error && i < k->count; i++)
    if (!is_right(k, i))
      return 0;
  return error ? error : 1;
}

static uint32_t sampler_handle(const struct kernel_image *image, uint32_t sampler) {
  return image->texture | sampler << KERNEL_TEXTURE_SAMPLER;
}

static uint32_t centre(unsigned i) {
  return base_float_bits((float)i + 0.5f);
}

/* ---- images of integers: headers, handles, layers, buffers, caches ------------------------------
 */

enum { ORDER_R = 0, ORDER_RGBA = 5 };
enum { TYPE_UNORM8 = 2, TYPE_UNORM16 = 3, TYPE_UINT8 = 10, TYPE_UINT32 = 12 };
#define FORMAT(order, type, shift)                                                                 \
  ((order) << KERNEL_IMAGE_ORDER | (type) << KERNEL_IMAGE_TYPE |                                   \
   (shift) << KERNEL_IMAGE_TEXEL_SHIFT)
enum {
  RGBA_UINT8 = FORMAT(ORDER_RGBA, TYPE_UINT8, 2),
  R_UINT8 = FORMAT(ORDER_R, TYPE_UINT8, 0),
  R_UINT32 = FORMAT(ORDER_R, TYPE_UINT32, 2),
  RGBA_UNORM8 = FORMAT(ORDER_RGBA, TYPE_UNORM8, 2),
  R_UNORM8 = FORMAT(ORDER_R, TYPE_UNORM8, 0),
  RGBA_UNORM16 = FORMAT(ORDER_RGBA, TYPE_UNORM16, 3),
  R_UNORM16 = FORMAT(ORDER_R, TYPE_UNORM16, 1),
};

static unsigned texel_bytes(const struct kernel_image *image) {
  return 1u << (image->format >> KERNEL_IMAGE_TEXEL_SHIFT);
}

static uint8_t *texel_at(const struct kernel_image *image, uint8_t *texels, unsigned x, unsigned y,
                         unsigned layer) {
  return texels + (size_t)(layer * image->slice_rows + y) * image->row_pitch +
         (size_t)x * texel_bytes(image);
}

static void decode(const struct kernel_image *image, uint8_t *texels, unsigned x, unsigned y,
                   unsigned layer, struct rt_texel *want) {
  uint8_t bytes[RT_TEXEL_BYTES] = {0};
  memcpy(bytes, texel_at(image, texels, x, y, layer), texel_bytes(image));
  rt_texel_decode(image->format, bytes, want);
}

/* Fills memory with arbitrary texels. What is between the rows is filled, too. */
static void fill(struct check *k, const struct kernel_image *image, bool tame, uint8_t *texels) {
  const size_t all = (size_t)image->row_pitch * image->slice_rows * image->depth;
  const unsigned size = texel_bytes(image);
  uint8_t bytes[RT_TEXEL_BYTES];
  for (size_t at = 0; at + size <= all; at += size) {
    rt_texel_make(image->format, tame, &k->random, bytes);
    memcpy(texels + at, bytes, size);
  }
}

/* Requests all texels of an image. */
static void ask_texels(struct check *k, const struct kernel_image *image, uint8_t *texels,
                       enum request_kind kind) {
  const uint32_t sampler = KERNEL_SAMPLER_NEAREST | KERNEL_SAMPLER_CLAMP_TO_EDGE;
  const uint32_t handle = kind == KIND_SAMPLE ? sampler_handle(image, sampler) : image->texture;
  for (unsigned layer = 0; layer < image->depth; layer++)
    for (unsigned y = 0; y < image->height; y++)
      for (unsigned x = 0; x < image->width; x++)
        decode(image, texels, x, y, layer,
               ask(k, handle + layer, kind, kind == KIND_SAMPLE ? centre(x) : x,
                   kind == KIND_SAMPLE ? centre(y) : y));
  end_block(k);
}

/* Sizes and pitches of images; the last one has a pitch that is no multiple of 64. */
static int check_rows(struct check *k) {
  static const struct {
    uint32_t width, pitch;
    uint16_t height;
  } shapes[] = {{1, 96, 2}, {3, 32, 3}, {16, 64, 7}, {33, 160, 5}};
  struct kernel_image image;
  uint8_t *texels = NULL;
  int right = 1;
  begin(k);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const struct kernel_image like = {.width = shapes[i].width,
                                      .height = shapes[i].height,
                                      .depth = 1,
                                      .row_pitch = shapes[i].pitch,
                                      .slice_rows = shapes[i].height,
                                      .format = RGBA_UINT8};
    const int error = add_image(k, KERNEL_ARG_IMAGE_2D, &like, &image, &texels);
    if (error)
      return error;
    fill(k, &image, false, texels);
    ask_texels(k, &image, texels, KIND_FETCH);
    ask_texels(k, &image, texels, KIND_SAMPLE);
  }
  right = compare(k, READ_UNIFORM);
  if (right == 1)
    right = compare(k, READ_REGISTER);
  for (int kind = KIND_SAMPLE; right == 1 && kind <= KIND_FETCH; kind++) {
    k->count = 0;
    ask_texels(k, &image, texels, kind);
    right = compare(k, kind == KIND_FETCH ? FETCH_CONSTANT : SAMPLE_CONSTANT);
  }
  return right;
}

static int check_buffers(struct check *k) {
  static const struct kernel_image likes[] = {{.width = 70,
                                               .height = 1,
                                               .depth = 1,
                                               .row_pitch = 288,
                                               .slice_rows = 1,
                                               .format = RGBA_UINT8},
                                              {.width = 65600,
                                               .height = 1,
                                               .depth = 1,
                                               .row_pitch = 65600,
                                               .slice_rows = 1,
                                               .format = R_UINT8}};
  struct kernel_image image;
  uint8_t *texels = NULL;
  int right = 1;
  begin(k);
  for (int i = 0; i < 2; i++) {
    const int error = add_image(k, KERNEL_ARG_IMAGE_1D_BUFFER, &likes[i], &image, &texels);
    if (error)
      return error;
    fill(k, &image, false, texels);
    for (uint32_t n = 0; n < 64; n++) {
      const uint32_t x = n < 32 ? n : image.width - 1 - (n - 32);
      decode(&image, texels, x, 0, 0, ask(k, image.texture, KIND_FETCH_BUFFER, x, 0));
    }
    end_block(k);
  }
  right = compare(k, READ_UNIFORM);
  if (right == 1)
    right = compare(k, READ_REGISTER);
  if (right != 1)
    return right;
  k->count = 0;
  for (uint32_t x = 0; x < 32; x++)
    decode(&image, texels, x, 0, 0, ask(k, image.texture, KIND_FETCH_BUFFER, x, 0));
  return compare(k, BUFFER_CONSTANT);
}

/* Handles that differ from thread to thread. */
static int check_layers(struct check *k) {
  enum { LAYERS = 5 };
  const uint32_t sampler = KERNEL_SAMPLER_NEAREST | KERNEL_SAMPLER_CLAMP_TO_EDGE;
  const struct kernel_image like = {.width = 5,
                                    .height = 4,
                                    .depth = LAYERS,
                                    .row_pitch = 32,
                                    .slice_rows = 16,
                                    .format = RGBA_UINT8};
  struct kernel_image image;
  uint8_t *texels = NULL;
  begin(k);
  const int error = add_image(k, KERNEL_ARG_IMAGE_2D_ARRAY, &like, &image, &texels);
  if (error)
    return error;
  fill(k, &image, false, texels);
  for (unsigned i = 0; i < 8 * THREADS; i++) {
    const unsigned x = i % 5, y = i / 7 % 4, layer = (i * 3 + i / 9) % LAYERS;
    const bool sampled = i % 2;
    decode(&image, texels, x, y, layer,
           ask(k, (sampled ? sampler_handle(&image, sampler) : image.texture) + layer,
               sampled ? KIND_SAMPLE : KIND_FETCH, sampled ? centre(x) : x,
               sampled ? centre(y) : y));
  }
  return compare(k, READ_REGISTER);
}

enum { CACHE_BLOCKS = 64, CACHE_ROUNDS = 4 }; /* Orin has at most 16 SMs */

/* Requests the first texel of an image in many blocks, so that all SMs have it in their caches. */
static void ask_everywhere(struct check *k, const struct kernel_image *image, uint8_t *texels,
                           uint32_t sampler, float x) {
  k->count = 0;
  for (unsigned i = 0; i < CACHE_BLOCKS; i++) {
    decode(image, texels, 0, 0, 0,
           ask(k, sampler_handle(image, sampler), KIND_SAMPLE, base_float_bits(x), centre(0)));
    end_block(k);
  }
}

static uint32_t *find_sampler(const struct check *k, uint32_t handle) {
  return (uint32_t *)k->context->textures.samplers.cpu +
         (size_t)(handle >> KERNEL_TEXTURE_SAMPLER) * TEXTURE_WORDS;
}

/* Each launch follows a change by the CPU: of a texel, of a header, of a sampler. */
static int check_caches(struct check *k) {
  const uint32_t clamp = KERNEL_SAMPLER_NEAREST | KERNEL_SAMPLER_CLAMP;
  const uint32_t edge = KERNEL_SAMPLER_NEAREST | KERNEL_SAMPLER_CLAMP_TO_EDGE;
  const struct kernel_image like = {
      .width = 4, .height = 4, .depth = 1, .row_pitch = 32, .slice_rows = 4, .format = RGBA_UINT8};
  struct kernel_image image, other;
  uint8_t *texels = NULL, *others = NULL;
  int right;
  begin(k);
  int error = add_image(k, KERNEL_ARG_IMAGE_2D, &like, &image, &texels);
  if (!error)
    error = add_image(k, KERNEL_ARG_IMAGE_2D, &like, &other, &others);
  if (error)
    return error;
  uint32_t *changed = find_sampler(k, sampler_handle(&image, clamp)), before[TEXTURE_WORDS];
  const uint32_t *edges = find_sampler(k, sampler_handle(&image, edge));
  memcpy(before, changed, sizeof(before));
  right = 1;
  for (int i = 0; i < CACHE_ROUNDS && right == 1; i++) {
    fill(k, &image, false, texels);
    texels[0] = (uint8_t)(i + 1);
    ask_everywhere(k, &image, texels, edge, 0.5f);
    right = compare(k, READ_UNIFORM);
    if (right != 1)
      break;
    /* The new header has the index of the old one. */
    struct kernel_image next = other;
    rt_texture_destroy(k->context, &image);
    error = rt_texture_create(k->context, &next, KERNEL_ARG_IMAGE_2D, &next.texture);
    if (error)
      return error;
    fill(k, &next, false, others);
    others[0] = (uint8_t)(i + 101);
    ask_everywhere(k, &next, others, edge, 0.5f);
    right = compare(k, READ_UNIFORM);
    rt_texture_destroy(k->context, &next);
    error = rt_texture_create(k->context, &image, KERNEL_ARG_IMAGE_2D, &image.texture);
    if (error)
      return error;
    /* A coordinate outside gets the border, or the first texel. */
    memcpy(changed, i % 2 ? edges : before, sizeof(before));
    ask_everywhere(k, &image, texels, clamp, -1.5f);
    for (unsigned n = 0; i % 2 == 0 && n < k->count; n++)
      memset(k->want[n].value, 0, sizeof(k->want[n].value));
    if (right == 1)
      right = compare(k, READ_UNIFORM);
  }
  memcpy(changed, before, sizeof(before));
  return right;
}

/* ---- samplers ----------------------------------------------------------------------------------
 */

/* Returns the texel at index i of n with the address mode, or -1 for the border. */
static int find_index(int i, int n, uint32_t sampler) {
  enum { MODES = KERNEL_SAMPLER_REPEAT | KERNEL_SAMPLER_MIRRORED_REPEAT };
  const int whole = (i % n + n) % n;
  switch (sampler & MODES) {
  case KERNEL_SAMPLER_CLAMP:
    return i < 0 || i >= n ? -1 : i;
  case KERNEL_SAMPLER_REPEAT:
    return whole;
  case KERNEL_SAMPLER_MIRRORED_REPEAT:
    return (((i - whole) / n) & 1) ? n - 1 - whole : whole;
  default:
    return i < 0 ? 0 : i < n ? i : n - 1;
  }
}

/* Computes what OpenCL defines for integer coordinates: a texel, or the border colour. */
static void decode_at(const struct kernel_image *image, uint8_t *texels, int x, int y,
                      uint32_t sampler, struct rt_texel *want) {
  const int u = find_index(x, (int)image->width, sampler);
  const int v = find_index(y, image->height, sampler);
  decode(image, texels, u < 0 ? 0 : (unsigned)u, v < 0 ? 0 : (unsigned)v, 0, want);
  if (u >= 0 && v >= 0)
    return;
  memset(want->accuracy, 0, sizeof(want->accuracy));
  memset(want->value, 0, sizeof(want->value));
  want->value[3] = !(want->stored >> 3 & 1);
}

static const uint32_t modes[] = {KERNEL_SAMPLER_CLAMP_TO_EDGE,
                                 KERNEL_SAMPLER_CLAMP,
                                 KERNEL_SAMPLER_CLAMP_TO_EDGE | KERNEL_SAMPLER_NORMALIZED,
                                 KERNEL_SAMPLER_CLAMP | KERNEL_SAMPLER_NORMALIZED,
                                 KERNEL_SAMPLER_REPEAT | KERNEL_SAMPLER_NORMALIZED,
                                 KERNEL_SAMPLER_MIRRORED_REPEAT | KERNEL_SAMPLER_NORMALIZED};
enum { MODES = sizeof modes / sizeof *modes };

static uint32_t coordinate(double texels, uint32_t size, uint32_t sampler) {
  return base_float_bits(
      (float)(sampler & KERNEL_SAMPLER_NORMALIZED ? texels / (double)size : texels));
}

/* Nearest texels, at their centres and a quarter beside them: docs/images.md promises a tenth. */
static int check_samplers(struct check *k) {
  static const uint32_t formats[] = {RGBA_UNORM8, R_UNORM8, R_UINT32};
  static const enum kernel_arg_image types[] = {KERNEL_ARG_IMAGE_2D, KERNEL_ARG_IMAGE_1D};
  struct kernel_image image;
  uint8_t *texels = NULL;
  begin(k);
  for (int i = 0; i < 6; i++) {
    const bool flat = i >= 3;
    const struct kernel_image like = {.width = 5,
                                      .height = flat ? 1 : 3,
                                      .depth = 1,
                                      .row_pitch = 32,
                                      .slice_rows = 3,
                                      .format = formats[i % 3]};
    const int error = add_image(k, types[flat], &like, &image, &texels);
    if (error)
      return error;
    fill(k, &image, false, texels);
    for (int m = 0; m < MODES; m++) {
      const uint32_t sampler = modes[m] | KERNEL_SAMPLER_NEAREST;
      const uint32_t handle = sampler_handle(&image, sampler);
      for (int n = 0; n < THREADS; n++) {
        const int x = n % 17 - 6, y = flat ? 0 : n % 11 - 4;
        const double aside = n % 3 * 0.25 - 0.25;
        decode_at(&image, texels, x, y, sampler,
                  ask(k, handle, KIND_SAMPLE, coordinate(x + 0.5 + aside, image.width, sampler),
                      flat ? centre(0) : coordinate(y + 0.5 - aside, image.height, sampler)));
      }
    }
  }
  return compare(k, READ_UNIFORM);
}

/* ---- formats ------------------------------------------------------------------------------------
 */

enum { FORMAT_WIDTH = 8, FORMAT_HEIGHT = 4 };
_Static_assert(FORMAT_WIDTH *FORMAT_HEIGHT == THREADS, "a block reads all texels of an image");

static struct kernel_image format_image(uint32_t format) {
  const uint32_t row = FORMAT_WIDTH << (format >> KERNEL_IMAGE_TEXEL_SHIFT);
  return (struct kernel_image){.width = FORMAT_WIDTH,
                               .height = FORMAT_HEIGHT,
                               .depth = 1,
                               .row_pitch = row < 32 ? 32 : row,
                               .slice_rows = FORMAT_HEIGHT,
                               .format = format};
}

/* Adds an image of the format at the next place. */
static int add_format(struct check *k, size_t i, bool tame, struct kernel_image *image,
                      uint8_t **texels) {
  const struct kernel_image like = format_image(k->formats[i]);
  const int error = add_image(k, KERNEL_ARG_IMAGE_2D, &like, image, texels);
  if (!error)
    fill(k, image, tame, *texels);
  return error;
}

/* Executes the requests, a block for each format. Clears bit in the answers of formats with wrong
 * results. */
static int compare_formats(struct check *k, enum kernel kernel, uint8_t bit) {
  const int error = execute_reads(k, kernel);
  for (unsigned i = 0; !error && i < k->count; i++)
    if (!is_right(k, i))
      k->answers->format[rt_texture_format(k->formats[i / THREADS])] &= (uint8_t)~bit;
  return error ? error : 1;
}

static int check_formats(struct check *k) {
  struct kernel_image image;
  uint8_t *texels = NULL;
  int right = 1;
  for (int kind = KIND_SAMPLE; right == 1 && kind <= KIND_FETCH; kind++) {
    begin(k);
    for (size_t i = 0; i < k->format_count; i++) {
      const int error = add_format(k, i, false, &image, &texels);
      if (error)
        return error;
      ask_texels(k, &image, texels, kind);
    }
    right = compare_formats(k, READ_UNIFORM, RT_FORMAT_READS);
  }
  return right;
}

/* ---- linear filters
 * ------------------------------------------------------------------------------ */

/* Bounds of linear filters, as shares of the difference between the texels that are blended. A
 * weight has 8 bits: it is exact if the coordinate is a multiple of 1/256 of a texel, and less than
 * 1/256 wrong otherwise, rounded or truncated. Between four texels the weights are products, each
 * of which is rounded to 8 bits, too: 1/512 of the sum of two differences. */
static const double weight_error = 1.0 / 256, product_error = 1.0 / 256;

/* Blends four texels. x and y are in texels, with 0.5 at the first centre. */
static void blend(const struct kernel_image *image, uint8_t *texels, double x, double y,
                  uint32_t sampler, bool flat, struct rt_texel *want) {
  struct rt_texel corner[4];
  const int left = (int)(x + 15.5) - 16, top = (int)(y + 15.5) - 16; /* floor(x - 0.5) */
  const double a = x - 0.5 - left, b = flat ? 0 : y - 0.5 - top;
  const double exact_a = a * 256 - (int)(a * 256), exact_b = b * 256 - (int)(b * 256);
  for (int i = 0; i < 4; i++)
    decode_at(image, texels, left + i % 2, flat ? 0 : top + i / 2, sampler, &corner[i]);
  *want = corner[0];
  for (int c = 0; c < 4; c++) {
    double low = corner[0].value[c], high = low, accuracy = 0, loss = 0;
    for (int i = 0; i < 4; i++) {
      const double v = corner[i].value[c];
      low = v < low ? v : low;
      high = v > high ? v : high;
      accuracy = corner[i].accuracy[c] > accuracy ? corner[i].accuracy[c] : accuracy;
      loss = corner[i].loss[c] > loss ? corner[i].loss[c] : loss;
    }
    want->value[c] = (corner[0].value[c] * (1 - a) + corner[1].value[c] * a) * (1 - b) +
                     (corner[2].value[c] * (1 - a) + corner[3].value[c] * a) * b;
    want->accuracy[c] =
        accuracy + loss +
        (high - low) * ((a > 0 && b > 0) * product_error + (exact_a > 0) * weight_error +
                        (exact_b > 0) * weight_error);
  }
}

/* Requests THREADS positions between the centres of texels. Three of four are multiples of 1/256,
 * and two of these are between only two texels. */
static void ask_blends(struct check *k, const struct kernel_image *image, uint8_t *texels) {
  const uint32_t sampler = KERNEL_SAMPLER_LINEAR | KERNEL_SAMPLER_CLAMP_TO_EDGE;
  for (int n = 0; n < THREADS; n++) {
    enum { INEXACT, ROW, COLUMN };
    const double a = n % 4 == COLUMN ? 0 : (n * 37 % 256) / 256.0;
    const double b = n % 4 == ROW ? 0 : (n * 91 % 256) / 256.0;
    const double x = 0.5 + n % (FORMAT_WIDTH - 1) + a + (n % 4 == INEXACT ? 0.0013 : 0);
    const double y = 0.5 + n % (FORMAT_HEIGHT - 1) + b + (n % 4 == INEXACT ? 0.0021 : 0);
    const float at[2] = {(float)x, (float)y};
    blend(image, texels, (double)at[0], (double)at[1], sampler, false,
          ask(k, sampler_handle(image, sampler), KIND_SAMPLE, base_float_bits(at[0]),
              base_float_bits(at[1])));
  }
}

static int check_filtered_formats(struct check *k) {
  struct kernel_image image;
  struct rt_texel texel;
  uint8_t *texels = NULL;
  begin(k);
  for (size_t i = 0; i < k->format_count; i++) {
    const int error = add_format(k, i, true, &image, &texels);
    if (error)
      return error;
    decode(&image, texels, 0, 0, 0, &texel);
    if (texel.integer) /* cannot be filtered */
      ask_texels(k, &image, texels, KIND_FETCH);
    else
      ask_blends(k, &image, texels);
  }
  return compare_formats(k, READ_UNIFORM, RT_FORMAT_FILTERS);
}

/* Address modes and images with one row. */
static int check_filters(struct check *k) {
  static const uint32_t formats[] = {RGBA_UNORM16, R_UNORM16};
  struct kernel_image image;
  uint8_t *texels = NULL;
  begin(k);
  for (int i = 0; i < 4; i++) {
    const bool flat = i >= 2;
    const struct kernel_image like = {.width = 8,
                                      .height = flat ? 1 : 4,
                                      .depth = 1,
                                      .row_pitch = 64,
                                      .slice_rows = 4,
                                      .format = formats[i % 2]};
    const int error =
        add_image(k, flat ? KERNEL_ARG_IMAGE_1D : KERNEL_ARG_IMAGE_2D, &like, &image, &texels);
    if (error)
      return error;
    fill(k, &image, false, texels);
    for (int m = 0; m < MODES; m++) {
      const uint32_t sampler = modes[m] | KERNEL_SAMPLER_LINEAR;
      for (int n = 0; n < THREADS; n++) {
        const double x = n % 23 - 6 + (n * 37 % 256) / 256.0;
        const double y = flat ? 0.5 : n % 13 - 4 + (n * 91 % 256) / 256.0;
        blend(&image, texels, x, y, sampler, flat,
              ask(k, sampler_handle(&image, sampler), KIND_SAMPLE,
                  coordinate(x, image.width, sampler),
                  flat ? centre(0) : coordinate(y, image.height, sampler)));
      }
    }
  }
  return compare(k, READ_UNIFORM);
}

/* ---- stores
 * --------------------------------------------------------------------------------------- */

/* Returns the colour component that thread n stores: inside of the format's range, outside of it,
 * its limits. Half of the fractions would be rounded down, and half up. */
static uint32_t colour_of(const struct rt_texel *like, unsigned n, unsigned component,
                          double *stored) {
  const double least = like->least[component], most = like->most[component];
  const unsigned turn = n + 7 * component;
  double v;
  if (like->integer)
    v = turn % 8 == 6   ? (like->is_signed ? -2147483648.0 : 0)
        : turn % 8 == 7 ? (like->is_signed ? 2147483647.0 : 4294967295.0)
                        : least + (double)(uint64_t)((most - least) * (turn * 11 % 64) / 64.0);
  else
    v = turn % 8 == 6 ? -2.5
        : turn % 8 == 7
            ? 2.5
            : (turn * 0.3713 - (double)(int)(turn * 0.3713)) * (least < 0 && turn % 2 ? -1 : 1);
  const float f = (float)v;
  if (!like->integer)
    v = (double)f;
  *stored = v < least ? least : v > most ? most : v;
  return !like->integer ? base_float_bits(f) : like->is_signed ? (uint32_t)(int32_t)v : (uint32_t)v;
}

/* Returns whether the memory has what the threads stored. */
static bool has_stored(const struct kernel_image *image, uint8_t *texels) {
  for (unsigned n = 0; n < THREADS; n++) {
    struct rt_texel got;
    decode(image, texels, n % FORMAT_WIDTH, n / FORMAT_WIDTH, 0, &got);
    for (unsigned c = 0; c < 4; c++) {
      double v;
      colour_of(&got, n, c, &v);
      if ((got.stored >> c & 1) &&
          (got.value[c] < v - got.step[c] || got.value[c] > v + got.step[c]))
        return false;
    }
  }
  return true;
}

/* Stores all texels of an image, and outside of it, with a form of handles. Returns 1 if the memory
 * is right, 0 if it is wrong, or -errno. */
static int check_store(struct check *k, const struct kernel_image *image, uint8_t *texels,
                       const struct kernel_image *guard, const uint8_t *after, enum kernel kernel) {
  uint8_t guarded[2 * FORMAT_WIDTH * FORMAT_HEIGHT * RT_TEXEL_BYTES];
  const uint8_t *end = texels + (size_t)image->row_pitch * FORMAT_HEIGHT;
  const size_t size = (size_t)(after - end) + (size_t)guard->row_pitch * FORMAT_HEIGHT;
  struct rt_texel like;
  double ignored;
  k->count = 0;
  fill(k, image, true, texels); /* no result of the other form */
  decode(image, texels, 0, 0, 0, &like);
  for (unsigned n = 0; n < 2 * THREADS; n++) {
    const unsigned m = n % THREADS;
    const bool outside = n >= THREADS;
    ask(k, image->texture, KIND_FETCH, outside && n % 2 ? UINT32_MAX - m : m % FORMAT_WIDTH,
        m / FORMAT_WIDTH + (outside && n % 2 == 0 ? FORMAT_HEIGHT : 0));
    for (unsigned c = 0; c < 4; c++)
      k->colours[n][c] = colour_of(&like, m, c, &ignored);
  }
  memcpy(guarded, end, size);
  const int error = execute(k, kernel);
  return error ? error : has_stored(image, texels) && memcmp(guarded, end, size) == 0;
}

/* Tests the stores of each format with both forms of handles that the compiler emits. */
static int check_stores(struct check *k) {
  static const enum kernel forms[] = {STORE_CONSTANT, STORE_REGISTER};
  for (size_t i = 0; i < k->format_count; i++) {
    const int number = rt_texture_format(k->formats[i]);
    struct kernel_image image, guard;
    uint8_t *texels = NULL, *after = NULL;
    begin(k);
    int right = add_format(k, i, true, &image, &texels);
    if (!right)
      right = add_format(k, i, true, &guard, &after);
    if (right)
      return right;
    if (!(image.texture >> KERNEL_TEXTURE_STORES & 1))
      continue;
    right = 1;
    for (size_t form = 0; right == 1 && form < sizeof forms / sizeof *forms; form++)
      right = check_store(k, &image, texels, &guard, after, forms[form]);
    if (right < 0)
      return right;
    if (!right)
      k->answers->format[number] &= (uint8_t)~RT_FORMAT_STORES;
  }
  return 1;
}

/* ---- the check
 * ----------------------------------------------------------------------------------- */

/* The first of them that fails decides about its part. A part that fails rules out tests of what
 * needs it. */
static const struct step {
  enum rt_texture_part part, needs; /* equal: needs nothing */
  int (*run)(struct check *k);
} steps[] = {
    {RT_TEXTURE_ROWS, RT_TEXTURE_ROWS, check_rows},
    {RT_TEXTURE_BUFFERS, RT_TEXTURE_BUFFERS, check_buffers},
    {RT_TEXTURE_LAYERS, RT_TEXTURE_ROWS, check_layers},
    {RT_TEXTURE_CACHES, RT_TEXTURE_ROWS, check_caches},
    {RT_TEXTURE_SAMPLERS, RT_TEXTURE_ROWS, check_samplers},
    {RT_TEXTURE_SAMPLERS, RT_TEXTURE_ROWS, check_formats},
    {RT_TEXTURE_FILTERS, RT_TEXTURE_SAMPLERS, check_filters},
    {RT_TEXTURE_FILTERS, RT_TEXTURE_SAMPLERS, check_filtered_formats},
    {RT_TEXTURE_STORES, RT_TEXTURE_ROWS, check_stores},
};

/* Runs a step, and opens a new scratch context if the last one has faulted. */
static int run_step(struct check *k, const struct step *step) {
  bool *answer = &k->answers->part[step->part];
  *answer = *answer && k->answers->part[step->needs];
  if (!*answer)
    return 0;
  int right = k->context ? 0 : open_scratch(k);
  if (right < 0) /* nothing is known of the texture units */
    return right;
  right = step->run(k);
  if (right == -EIO)
    close_scratch(k);
  else if (right < 0)
    return right;
  *answer = right == 1;
  return 0;
}

/* Begins with all answers "right". */
static void assume_right(struct rt_texture_answers *answers, const struct check *k) {
  memset(answers, 0, sizeof(*answers));
  for (int i = 0; i < RT_TEXTURE_PARTS; i++)
    answers->part[i] = true;
  for (size_t i = 0; i < k->format_count; i++) {
    const int format = rt_texture_format(k->formats[i]);
    answers->tested[format] = true;
    answers->format[format] = RT_FORMAT_READS | RT_FORMAT_FILTERS | RT_FORMAT_STORES;
  }
}

int rt_texture_check_run(struct rt_device *device, uint64_t limit_ns,
                         struct rt_texture_answers *answers) {
  struct check *k = calloc(1, sizeof(*k));
  int error = 0;
  if (!k)
    return rt_fail(-ENOMEM, "out of memory for the self-check of textures");
  k->device = device;
  k->format_count = rt_texture_reported(k->formats);
  if (k->format_count > HANDLES) /* a launch reads an image of each format */
    k->format_count = HANDLES;
  k->answers = answers;
  k->limit_ns = limit_ns;
  k->deadline_ns = base_clock_ns() + limit_ns;
  assume_right(answers, k);
  for (size_t i = 0; !error && i < sizeof steps / sizeof *steps; i++)
    error = run_step(k, &steps[i]);
  close_scratch(k);
  free(k);
  return error;
}
