/* Writes headers of images, and samplers, into memory that the texture units read. */
#include "runtime/context/textures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hw/methods.h"
#include "gpu/hw/texture.h"
#include "runtime/context/texture_check.h"
#include "runtime/image_formats.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

enum {
  HEADERS_FIRST_BITS = 11, /* log2 of the number of headers in the first chunk */
  HEADERS_MAX = 1 << TEXTURE_HANDLE_HEADER_BITS,
  POOL_BYTES = HEADERS_MAX * TEXTURE_BYTES,
};
_Static_assert(1 << (HEADERS_FIRST_BITS + RT_HEADER_CHUNKS - 1) == HEADERS_MAX, "all headers");
enum { PITCH_MAX = 2097120 }; /* NVIDIA's limit: docs/hardware/textures.md 1.4 */

#define FLOAT_1 0x3f800000u

/* ---- formats ----------------------------------------------------------------------------- */

/* OpenCL's channel orders and types, numbered as in kernel_image.format and named as in
 * texture-formats.csv. */
enum order {
  ORDER_R,
  ORDER_A,
  ORDER_RG,
  ORDER_RA,
  ORDER_RGB,
  ORDER_RGBA,
  ORDER_BGRA,
  ORDER_ARGB,
  ORDER_INTENSITY,
  ORDER_LUMINANCE,
  ORDER_Rx,
  ORDER_RGx,
  ORDER_RGBx,
  ORDER_DEPTH,
  ORDER_DEPTH_STENCIL,
  ORDER_sRGB,
  ORDER_sRGBx,
  ORDER_sRGBA,
  ORDER_sBGRA,
  ORDER_ABGR,
  ORDERS
};
enum type {
  TYPE_SNORM_INT8,
  TYPE_SNORM_INT16,
  TYPE_UNORM_INT8,
  TYPE_UNORM_INT16,
  TYPE_UNORM_SHORT_565,
  TYPE_UNORM_SHORT_555,
  TYPE_UNORM_INT_101010,
  TYPE_SIGNED_INT8,
  TYPE_SIGNED_INT16,
  TYPE_SIGNED_INT32,
  TYPE_UNSIGNED_INT8,
  TYPE_UNSIGNED_INT16,
  TYPE_UNSIGNED_INT32,
  TYPE_HALF_FLOAT,
  TYPE_FLOAT,
  TYPE_UNORM_INT_101010_2 = 16,
  TYPE_UNORM_INT_2_101010_EXT = 21,
  TYPES
};

static const struct format {
  uint8_t order, type; /* enum order, enum type */
  uint8_t components;  /* TIC_COMPONENTS_* */
  uint8_t data_type;   /* TIC_R_DATA_TYPE_* */
  uint8_t sources[4];  /* TIC_X_SOURCE_* */
  bool srgb;
  uint8_t bytes; /* of a texel */
} formats[] = {
#define FORMAT(order, type, bytes, components, data_type, x, y, z, w, srgb)                        \
  {ORDER_##order, TYPE_##type, components, data_type, {x, y, z, w}, srgb, bytes},
    TEXTURE_FORMATS(FORMAT)
#undef FORMAT
};

_Static_assert(sizeof formats / sizeof *formats == RT_TEXTURE_FORMATS, "all formats");

int rt_texture_format(uint32_t format) {
  const uint8_t order = (uint8_t)(format >> KERNEL_IMAGE_ORDER);
  const uint8_t type = (uint8_t)(format >> KERNEL_IMAGE_TYPE);
  for (int i = 0; i < RT_TEXTURE_FORMATS; i++)
    if (formats[i].order == order && formats[i].type == type)
      return i;
  return -1;
}

size_t rt_texture_reported(uint32_t list[RT_TEXTURE_FORMATS]) {
#define SETS(type, kind, bytes, sets) [TYPE_##type] = (sets),
  static const uint8_t types[TYPES] = {RT_CHANNEL_TYPES(SETS)};
#undef SETS
#define SETS(order, sets, uses, ...) [ORDER_##order] = (uses) ? (sets) : 0,
  static const uint8_t orders[ORDERS] = {RT_CHANNEL_ORDERS(SETS)};
#undef SETS
  size_t count = 0;
  for (int i = 0; i < RT_TEXTURE_FORMATS; i++)
    if (orders[formats[i].order] & types[formats[i].type] & ~RT_TYPES_UNSUPPORTED)
      list[count++] = (uint32_t)formats[i].order << KERNEL_IMAGE_ORDER |
                      (uint32_t)formats[i].type << KERNEL_IMAGE_TYPE |
                      (uint32_t)__builtin_ctz(formats[i].bytes) << KERNEL_IMAGE_TEXEL_SHIFT;
  return count;
}

static bool is_aligned(const struct format *format) {
  return !(format->bytes & (format->bytes - 1));
}

/* Stores ignore the header's sources, so the channels must be in the order of colours. They need
 * texels whose size is a power of 2. They truncate halves, which software rounds to nearest.
 * Whether they encode sRGB is unknown. */
static bool can_store(const struct format *format, enum kernel_arg_image type) {
  return format->sources[0] == TIC_X_SOURCE_IN_R && format->order != ORDER_RA && !format->srgb &&
         format->type != TYPE_HALF_FLOAT && is_aligned(format) &&
         type != KERNEL_ARG_IMAGE_1D_BUFFER;
}

/* ---- headers ----------------------------------------------------------------------------- */

static void set_format(uint32_t *header, const struct format *format) {
  hw_set(header, TIC_COMPONENTS, format->components);
  hw_set(header, TIC_R_DATA_TYPE, format->data_type);
  hw_set(header, TIC_G_DATA_TYPE, format->data_type);
  hw_set(header, TIC_B_DATA_TYPE, format->data_type);
  hw_set(header, TIC_A_DATA_TYPE, format->data_type);
  hw_set(header, TIC_X_SOURCE, format->sources[0]);
  hw_set(header, TIC_Y_SOURCE, format->sources[1]);
  hw_set(header, TIC_Z_SOURCE, format->sources[2]);
  hw_set(header, TIC_W_SOURCE, format->sources[3]);
  hw_set(header, TIC_S_R_G_B_CONVERSION, format->srgb);
}

/* Makes a header that belongs to no image. Reads through it return 0 (docs/hardware/textures.md
 * 1.3); check mode reports them. */
static void make_null_header(uint32_t *header) {
  memset(header, 0, TEXTURE_BYTES);
  set_format(header, &(struct format){.components = TIC_COMPONENTS_R8,
                                      .data_type = TIC_R_DATA_TYPE_NUM_UNORM});
  hw_set(header, TIC_HEADER_VERSION, TIC_HEADER_VERSION_SELECT_BLOCKLINEAR);
  hw_set(header, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_ARRAY);
  hw_set(header, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(header, TIC_RES_VIEW_MIN_MIP_LEVEL, 1);
}

/* Returns the bytes from one layer or slice to the next. */
static uint64_t layer_bytes(const struct kernel_image *image, enum kernel_arg_image type) {
  return (uint64_t)image->row_pitch * (type == KERNEL_ARG_IMAGE_1D_ARRAY ? 1 : image->slice_rows);
}

/* Returns the pitch for the headers. A single row has none. */
static uint32_t find_pitch(const struct kernel_image *image) {
  const uint32_t shift = image->format >> KERNEL_IMAGE_TEXEL_SHIFT;
  const uint32_t row = image->width << shift;
  return image->height == 1
             ? (row + RT_TEXTURE_PITCH_ALIGN - 1) / RT_TEXTURE_PITCH_ALIGN * RT_TEXTURE_PITCH_ALIGN
             : image->row_pitch;
}

/* Returns 0, or -EINVAL if headers cannot describe the layout of the rows. */
static int check_rows(const struct kernel_image *image, enum kernel_arg_image type,
                      uint32_t pitch) {
  const uint64_t layer = layer_bytes(image, type);
  if (pitch % RT_TEXTURE_PITCH_ALIGN || pitch > PITCH_MAX)
    return rt_fail(-EINVAL, "the row pitch is %u bytes; it must be a multiple of %d, at most %d",
                   pitch, RT_TEXTURE_PITCH_ALIGN, PITCH_MAX);
  if (image->base % RT_TEXTURE_BASE_ALIGN)
    return rt_fail(-EINVAL, "the address is 0x%llx; it must be a multiple of %d",
                   (unsigned long long)image->base, RT_TEXTURE_BASE_ALIGN);
  if (image->depth > 1 && layer % RT_TEXTURE_BASE_ALIGN)
    return rt_fail(-EINVAL, "the slice pitch is %llu bytes; it must be a multiple of %d",
                   (unsigned long long)layer, RT_TEXTURE_BASE_ALIGN);
  return 0;
}

/* Fills in the header of a layer, which consists of rows of texels, except for its address. */
static void make_rows(uint32_t *header, const struct kernel_image *image, uint32_t pitch) {
  hw_set(header, TIC_HEADER_VERSION, TIC_HEADER_VERSION_SELECT_PITCH);
  hw_set(header, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP);
  hw_set(header, TIC_PITCH_BITS20TO5, pitch / RT_TEXTURE_PITCH_ALIGN);
  hw_set(header, TIC_WIDTH_MINUS_ONE, image->width - 1);
  hw_set(header, TIC_HEIGHT_MINUS_ONE, image->height - 1u);
  hw_set(header, TIC_LOD_ANISO_QUALITY2, 1); /* these three fields are as in NVK */
  hw_set(header, TIC_LOD_ANISO_QUALITY, TIC_LOD_ANISO_QUALITY_LOD_QUALITY_HIGH);
  hw_set(header, TIC_LOD_ISO_QUALITY, TIC_LOD_ISO_QUALITY_LOD_QUALITY_HIGH);
  hw_set(header, TIC_BORDER_SIZE, TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR);
  hw_set(header, TIC_NORMALIZED_COORDS, 1);
}

static void make_buffer(uint32_t *header, const struct kernel_image *image) {
  const uint32_t last = image->width - 1;
  hw_set(header, TIC_HEADER_VERSION, TIC_HEADER_VERSION_SELECT_ONE_D_BUFFER);
  hw_set(header, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_ONE_D_BUFFER);
  hw_set(header, TIC_WIDTH_MINUS_ONE_BITS15TO0, last & UINT16_MAX);
  hw_set(header, TIC_WIDTH_MINUS_ONE_BITS31TO16, last >> 16);
}

/* Makes the header of an image's first layer. Returns -EINVAL if the texture units cannot read the
 * image. */
static int make_header(const struct kernel_image *image, enum kernel_arg_image type,
                       const struct format *format, uint32_t header[TEXTURE_WORDS]) {
  memset(header, 0, TEXTURE_BYTES);
  set_format(header, format);
  if (type == KERNEL_ARG_IMAGE_1D_BUFFER) {
    make_buffer(header, image);
    return image->base % RT_TEXTURE_BUFFER_ALIGN
               ? rt_fail(-EINVAL, "the address is 0x%llx; it must be a multiple of %d",
                         (unsigned long long)image->base, RT_TEXTURE_BUFFER_ALIGN)
               : 0;
  }
  const uint32_t pitch = find_pitch(image);
  make_rows(header, image, pitch);
  return check_rows(image, type, pitch);
}

/* PITCH headers contain bits 31:5 of the address, others all bits. */
static void set_address(uint32_t *header, uint64_t address) {
  hw_set(header, TIC_ADDRESS_BITS31TO0, (uint32_t)address);
  hw_set(header, TIC_ADDRESS_BITS48TO32, (uint32_t)(address >> 32));
}

/* ---- samplers ---------------------------------------------------------------------------- */

static uint32_t address_mode(uint32_t bits) {
  enum { ADDRESS = KERNEL_SAMPLER_REPEAT | KERNEL_SAMPLER_MIRRORED_REPEAT };
  switch (bits & ADDRESS) {
  case KERNEL_SAMPLER_CLAMP:
    return TSC_ADDRESS_U_BORDER;
  case KERNEL_SAMPLER_REPEAT:
    return TSC_ADDRESS_U_WRAP;
  case KERNEL_SAMPLER_MIRRORED_REPEAT:
    return TSC_ADDRESS_U_MIRROR;
  default:
    return TSC_ADDRESS_U_CLAMP_TO_EDGE;
  }
}

/* Makes a sampler. index is the sampler's part of a handle: the bits of enum kernel_texture from
 * KERNEL_TEXTURE_SAMPLER on. A flat image is a 2D texture with a single row. The next row must be
 * finite and have weight 0, so it is the border. */
static void make_sampler(uint32_t *sampler, uint32_t index) {
  const uint32_t texture = index << KERNEL_TEXTURE_SAMPLER, mode = address_mode(index);
  const bool linear = index & KERNEL_SAMPLER_LINEAR, flat = texture >> KERNEL_TEXTURE_FLAT & 1;
  const uint32_t border = texture >> KERNEL_TEXTURE_BORDER & 3;
  hw_set(sampler, TSC_ADDRESS_U, mode);
  hw_set(sampler, TSC_ADDRESS_V, flat ? TSC_ADDRESS_U_BORDER : mode);
  hw_set(sampler, TSC_ADDRESS_P, mode);
  hw_set(sampler, TSC_S_R_G_B_CONVERSION, 1);
  hw_set(sampler, TSC_MAG_FILTER, linear ? TSC_MAG_FILTER_MAG_LINEAR : TSC_MAG_FILTER_MAG_POINT);
  hw_set(sampler, TSC_MIN_FILTER, linear ? TSC_MIN_FILTER_MIN_LINEAR : TSC_MIN_FILTER_MIN_POINT);
  hw_set(sampler, TSC_MIP_FILTER, TSC_MIP_FILTER_MIP_NONE);
  hw_set(sampler, TSC_FLOAT_COORD_NORMALIZATION, !(index & KERNEL_SAMPLER_NORMALIZED));
  hw_set(sampler, TSC_BORDER_COLOR_A,
         border == KERNEL_BORDER_FLOAT_1     ? FLOAT_1
         : border == KERNEL_BORDER_INTEGER_1 ? 1
                                             : 0);
}

/* The bits of a handle above this one say nothing about samplers. */
enum { DISTINCT_SAMPLERS = 1 << (KERNEL_TEXTURE_STORES - KERNEL_TEXTURE_SAMPLER) };

static int make_samplers(struct rt_context *c) {
  struct rt_memory *memory = &c->textures.samplers;
  if (memory->cpu)
    return 0;
  int error = rt_memory_create(c->device, c->as_fd, KERNEL_TEXTURE_SAMPLERS * TEXTURE_BYTES,
                               RT_MEMORY_CACHED, memory);
  if (error)
    return error;
  rt_memory_drop_fd(c->device, memory);
  for (uint32_t i = 0; i < KERNEL_TEXTURE_SAMPLERS; i++)
    if (i < DISTINCT_SAMPLERS)
      make_sampler((uint32_t *)memory->cpu + (size_t)i * TEXTURE_WORDS, i);
    else
      memcpy((uint32_t *)memory->cpu + (size_t)i * TEXTURE_WORDS,
             (uint32_t *)memory->cpu + (size_t)(i % DISTINCT_SAMPLERS) * TEXTURE_WORDS,
             TEXTURE_BYTES);
  return 0;
}

/* ---- the pool of headers; the caller holds textures.lock --------------------------------------
 */

/* Returns the number of headers in the first chunks. */
static uint32_t count_room(unsigned chunks) {
  return chunks ? 1u << (HEADERS_FIRST_BITS + chunks - 1) : 0;
}

static uint32_t *header_at(const struct rt_textures *t, uint32_t index) {
  const uint32_t beyond_first = index >> HEADERS_FIRST_BITS;
  const unsigned chunk = beyond_first ? 32 - (unsigned)__builtin_clz(beyond_first) : 0;
  return (uint32_t *)t->chunk[chunk].cpu + (size_t)(index - count_room(chunk)) * TEXTURE_WORDS;
}

static int reserve_pool(struct rt_context *c) {
  return c->textures.headers
             ? 0
             : rt_memory_reserve(c->device, c->as_fd, POOL_BYTES, &c->textures.headers);
}

/* Maps one more chunk. */
static int grow_pool(struct rt_context *c) {
  struct rt_textures *t = &c->textures;
  const uint32_t old = count_room(t->chunks), room = count_room(t->chunks + 1);
  if (t->chunks == RT_HEADER_CHUNKS)
    return rt_fail(-ENOMEM, "all %d texture headers are in use", HEADERS_MAX);
  int error = make_samplers(c);
  if (error == 0)
    error = reserve_pool(c);
  if (error)
    return error;
  uint32_t *next = realloc(t->next, room * sizeof(*next));
  if (!next)
    return rt_fail(-ENOMEM, "out of memory for texture headers");
  t->next = next;
  struct rt_memory *memory = &t->chunk[t->chunks];
  const uint64_t at = t->headers + (uint64_t)old * TEXTURE_BYTES;
  const uint64_t bytes = (uint64_t)(room - old) * TEXTURE_BYTES;
  error = rt_memory_create_at(c->device, c->as_fd, at, bytes, RT_MEMORY_CACHED, memory);
  if (error)
    return error;
  rt_memory_drop_fd(c->device, memory);
  t->chunks++;
  for (uint32_t i = old; i < room; i++)
    make_null_header(header_at(t, i));
  if (old)
    return 0;
  t->used = 1;
  atomic_store(&t->ready, true);
  atomic_fetch_add(&c->code_generation, 1);
  return 0;
}

static unsigned class_of(uint32_t count) {
  return count > 1 ? 32 - (unsigned)__builtin_clz(count - 1) : 0;
}

static void put_run(struct rt_textures *t, uint32_t first, unsigned class) {
  t->next[first] = t->free[class];
  t->free[class] = first;
}

/* Allocates 2^class headers, and stores the index of the first one. */
static int get_run(struct rt_context *c, unsigned class, uint32_t *index) {
  struct rt_textures *t = &c->textures;
  unsigned from = class;
  while (from < RT_HEADER_CLASSES && !t->free[from])
    from++;
  if (from < RT_HEADER_CLASSES) {
    *index = t->free[from];
    t->free[from] = t->next[*index];
    while (from > class) {
      from--;
      put_run(t, *index + (1u << from), from);
    }
    return 0;
  }
  while (count_room(t->chunks) - t->used < 1u << class) {
    const int error = grow_pool(c);
    if (error)
      return error;
  }
  *index = t->used;
  t->used += 1u << class;
  return 0;
}

/* ---- images -------------------------------------------------------------------------------- */

static bool can_filter(const struct format *format) {
  return format->data_type != TIC_R_DATA_TYPE_NUM_SINT &&
         format->data_type != TIC_R_DATA_TYPE_NUM_UINT;
}

/* Whether linear filters are as exact as OpenCL's conformance tests demand. Filtered sRGB is
 * truncated to 7 bits, and a texel of -128 counts as -128/127 (docs/hardware/textures.md 6.4). */
static bool filters_exactly(const struct format *format) {
  return !format->srgb && format->type != TYPE_SNORM_INT8;
}

static bool has_layers(enum kernel_arg_image type) {
  return type == KERNEL_ARG_IMAGE_3D || type == KERNEL_ARG_IMAGE_2D_ARRAY ||
         type == KERNEL_ARG_IMAGE_1D_ARRAY;
}

/* Returns what the texture units do right, or NULL if that is undecided. The self-check's own
 * images use everything. */
static const struct rt_texture_answers *find_answers(const struct rt_context *c) {
  return c->textures.unchecked ? &rt_texture_all_right
                               : rt_texture_units_answers(&c->device->textures);
}

/* Returns 0, or an error if the texture units must not read such images. */
static int check_answers(const struct rt_texture_answers *answers, enum kernel_arg_image type,
                         int format) {
  if (!answers)
    return rt_fail(-EBUSY, "the texture units have not been tested yet");
  const bool is_buffer = type == KERNEL_ARG_IMAGE_1D_BUFFER;
  const bool needs[RT_TEXTURE_PARTS] = {[RT_TEXTURE_CACHES] = true,
                                        [RT_TEXTURE_BUFFERS] = is_buffer,
                                        [RT_TEXTURE_ROWS] = !is_buffer,
                                        [RT_TEXTURE_SAMPLERS] = !is_buffer,
                                        [RT_TEXTURE_LAYERS] = has_layers(type)};
  for (int i = 0; i < RT_TEXTURE_PARTS; i++)
    if (needs[i] && !answers->part[i])
      return rt_fail(-ENOTSUP, "the self-check of the texture units failed: %s",
                     rt_texture_part_name(i));
  if (!(answers->format[format] & RT_FORMAT_READS))
    return rt_fail(-ENOTSUP, "the self-check of the texture units failed: the format");
  return 0;
}

/* Returns the bits of enum kernel_texture that tell kernels what works. */
static uint32_t answer_bits(const struct rt_texture_answers *answers, enum kernel_arg_image type,
                            int number) {
  const bool *part = answers->part;
  const struct format *format = &formats[number];
  const uint8_t works = answers->format[number];
  const bool stores = can_store(format, type) && works & RT_FORMAT_STORES &&
                      part[RT_TEXTURE_STORES] && part[RT_TEXTURE_LAYERS];
  const bool filters =
      !can_filter(format) ||
      (filters_exactly(format) && works & RT_FORMAT_FILTERS && part[RT_TEXTURE_FILTERS]);
  return (uint32_t)stores << KERNEL_TEXTURE_STORES | (uint32_t)filters << KERNEL_TEXTURE_FILTERS |
         (uint32_t)part[RT_TEXTURE_LAYERS] << KERNEL_TEXTURE_VARIES;
}

int rt_texture_create(struct rt_context *c, const struct kernel_image *image,
                      enum kernel_arg_image type, uint32_t *texture) {
  struct rt_textures *t = &c->textures;
  const int number = rt_texture_format(image->format);
  uint32_t header[TEXTURE_WORDS], first = 0;
  *texture = 0;
  if (c->device->textures.wanted == BASE_IMAGES_SOFTWARE && !t->unchecked)
    return 0;
  if (number < 0)
    return rt_fail(-EINVAL, "the texture units do not have the format");
  const struct format *format = &formats[number];
  const struct rt_texture_answers *answers = find_answers(c);
  int error = check_answers(answers, type, number);
  if (error)
    return error;
  error = make_header(image, type, format, header);
  if (error)
    return error;
  base_mutex_lock(&t->lock);
  error = get_run(c, class_of(image->depth), &first);
  for (uint32_t i = 0; !error && i < image->depth; i++) {
    set_address(header, image->base + i * layer_bytes(image, type));
    memcpy(header_at(t, first + i), header, sizeof(header));
  }
  base_mutex_unlock(&t->lock);
  if (error)
    return error;
  const uint32_t border = format->sources[3] == TIC_X_SOURCE_IN_ONE_FLOAT ? KERNEL_BORDER_FLOAT_1
                          : format->sources[3] == TIC_X_SOURCE_IN_ONE_INT ? KERNEL_BORDER_INTEGER_1
                                                                          : KERNEL_BORDER_0;
  const bool flat = type == KERNEL_ARG_IMAGE_1D || type == KERNEL_ARG_IMAGE_1D_ARRAY;
  *texture = first << KERNEL_TEXTURE_HEADER | border << KERNEL_TEXTURE_BORDER |
             (uint32_t)flat << KERNEL_TEXTURE_FLAT | answer_bits(answers, type, number);
  return 0;
}

void rt_texture_destroy(struct rt_context *c, const struct kernel_image *image) {
  struct rt_textures *t = &c->textures;
  const uint32_t first = image->texture & (HEADERS_MAX - 1);
  if (!first)
    return;
  base_mutex_lock(&t->lock);
  for (uint32_t i = 0; i < image->depth; i++)
    make_null_header(header_at(t, first + i));
  put_run(t, first, class_of(image->depth));
  base_mutex_unlock(&t->lock);
}

/* ---- contexts and channels ------------------------------------------------------------------ */

void rt_textures_init(struct rt_textures *t) {
  base_mutex_init(&t->lock, BASE_LOCK_RT_TEXTURES);
}

void rt_textures_finish(struct rt_device *device, int as_fd, struct rt_textures *t) {
  for (unsigned i = 0; i < t->chunks; i++)
    rt_memory_destroy(device, &t->chunk[i]);
  if (t->headers)
    rt_memory_unreserve(device, as_fd, t->headers, POOL_BYTES);
  rt_memory_destroy(device, &t->samplers);
  free(t->next);
  base_mutex_destroy(&t->lock);
}

static void put_pool(struct rt_slice *s, uint32_t method, uint64_t address, uint32_t entries) {
  *s->at++ = method_header(METHOD_INC, SUBCHANNEL_COMPUTE, method, 3);
  *s->at++ = (uint32_t)(address >> 32);
  *s->at++ = (uint32_t)address;
  *s->at++ = entries - 1;
}

/* The bank is for instructions that the compiler does not use; NVK sends it, and no source says
 * that it is not needed (docs/hardware/textures.md 4.2). */
void rt_slice_textures(const struct rt_textures *t, struct rt_slice *s) {
  *s->at++ = method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_WAIT_FOR_IDLE, 0);
  *s->at++ = method_header(METHOD_IMMD, SUBCHANNEL_COMPUTE, NVC7C0_SET_BINDLESS_TEXTURE, 0);
  put_pool(s, NVC7C0_SET_TEX_SAMPLER_POOL_A, t->samplers.gpu, KERNEL_TEXTURE_SAMPLERS);
  put_pool(s, NVC7C0_SET_TEX_HEADER_POOL_A, t->headers, HEADERS_MAX);
}
