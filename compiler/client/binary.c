/* The program binary. All integers are little-endian.
 *
 *   offset  bytes  what
 *        0      8  magic
 *        8      4  format version
 *       12      4  SM of the code
 *       16      8  size of the whole file
 *       24      8  xxHash64 of everything from offset 32 on
 *       32     16  version of tegracl that wrote it, NUL-padded
 *       48      4  number of kernels
 *       52      4  bytes of program-scope variables in the global address space
 *       56      8  offset of the CUBIN (16-aligned)
 *       64      8  size of the CUBIN
 *       72         kernels, one after the other
 *
 * kernel: name, attributes, 3 u32 required block, 3 u32 hinted block, u32 flags (1:
 * prints, 2: uniform, 4: ignores groups), u32 number of sub-groups (0: any), u32 number of
 * arguments, arguments. Argument: name, type name, u32 kind, access, qualifiers, size, alignment,
 * type of image. String: u32 length, bytes, NUL.
 *
 * A program binary made of units has another format version, their number for that of the
 * kernels, and from offset 72 on for each unit its offset (16-aligned) and size, offset and
 * number of its places, offset and size of its names of files: 6 u64. Units are program
 * binaries as above.
 */
#include "compiler/client/binary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gpu/cubin/cubin.h"
#include "gpu/cubin/cubin_format.h"

static const char magic[8] = {'T', 'E', 'G', 'C', 'L', 'B', 'I', 'N'};

enum {
  FORMAT_VERSION = 11,
  FORMAT_UNITS = 12,
  FLAG_PRINTS = 1,
  FLAG_UNIFORM = 2,
  FLAG_IGNORES_GROUPS = 4,
  HASHED_FROM = 32, /* offset of the first hashed byte */
  CUBIN_ALIGN = 16,
  MIN_KERNEL_BYTES = 2 * 5 + 9 * 4, /* size of a kernel without arguments whose strings are empty */
  DEFAULT_LOCAL_ALIGN = 16,
  BINARY_SM = 87,
  DELETE = 0x7f, /* the only ASCII control character above ' ' */
};

struct header {
  char magic[8];
  uint32_t format;
  uint32_t sm;
  uint64_t size;
  uint64_t hash;
  char version[16];
  uint32_t kernel_count;
  uint32_t global_bytes;
  uint64_t cubin_offset;
  uint64_t cubin_size;
};
_Static_assert(sizeof(struct header) == 72, "layout above");
_Static_assert(offsetof(struct header, version) == HASHED_FROM, "layout above");
_Static_assert(sizeof(struct kernel_hidden) == 80, "kernel_hidden is part of the format");

bool cc_binary_is_container(const void *bytes, size_t size) {
  return size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

/* ---- writing ------------------------------------------------------------- */

/* Writes the program binary. Only counts the bytes if bytes is
 * NULL, so the layout is described once. */
struct writer {
  unsigned char *bytes;
  size_t at;
};

static void put(struct writer *w, const void *data, size_t size) {
  if (w->bytes && size)
    memcpy(w->bytes + w->at, data, size);
  w->at += size;
}

static void put32(struct writer *w, uint32_t value) {
  put(w, &value, sizeof(value));
}

static void put_string(struct writer *w, const char *text) {
  if (!text)
    text = "";
  size_t length = strlen(text);
  put32(w, (uint32_t)length);
  put(w, text, length + 1);
}

static void put_kernel(struct writer *w, const struct binary_kernel *kernel) {
  put_string(w, kernel->name);
  put_string(w, kernel->attributes);
  for (int i = 0; i < 3; i++)
    put32(w, kernel->required_block[i]);
  for (int i = 0; i < 3; i++)
    put32(w, kernel->hinted_block[i]);
  put32(w, (kernel->prints ? FLAG_PRINTS : 0u) | (kernel->uniform ? FLAG_UNIFORM : 0u) |
               (kernel->ignores_groups ? FLAG_IGNORES_GROUPS : 0u));
  put32(w, kernel->sub_groups);
  put32(w, kernel->arg_count);
  for (uint32_t i = 0; i < kernel->arg_count; i++) {
    const struct binary_arg *arg = &kernel->args[i];
    put_string(w, arg->name);
    put_string(w, arg->type_name);
    put32(w, arg->kind);
    put32(w, arg->access);
    put32(w, arg->qualifiers);
    put32(w, arg->size);
    put32(w, arg->align);
    put32(w, arg->image);
  }
}

static void seal(unsigned char *bytes, struct header *header) {
  memcpy(bytes, header, sizeof(*header));
  header->hash = XXH64(bytes + HASHED_FROM, header->size - HASHED_FROM, 0);
  memcpy(bytes, header, sizeof(*header));
}

static void put_program(struct writer *w, const struct binary_program *program) {
  struct header header = {
      .format = FORMAT_VERSION,
      .sm = program->sm,
      .kernel_count = program->kernel_count,
      .global_bytes = program->global_bytes,
      .cubin_size = program->cubin_size,
  };
  memcpy(header.magic, magic, sizeof(magic));
  snprintf(header.version, sizeof(header.version), "%s", TEGRACL_VERSION);
  w->at = sizeof(header);
  for (uint32_t i = 0; i < program->kernel_count; i++)
    put_kernel(w, &program->kernels[i]);
  w->at = (w->at + CUBIN_ALIGN - 1) & ~(size_t)(CUBIN_ALIGN - 1);
  header.cubin_offset = w->at;
  put(w, program->cubin, program->cubin_size);
  header.size = w->at;
  if (!w->bytes)
    return;
  seal(w->bytes, &header);
}

int cc_binary_write(const struct binary_program *program, void **bytes, size_t *size) {
  struct writer w = {0};
  put_program(&w, program);
  w.bytes = calloc(1, w.at);
  if (!w.bytes)
    return -ENOMEM;
  put_program(&w, program);
  *bytes = w.bytes;
  *size = w.at;
  return 0;
}

int cc_binary_complete(const void *container, size_t container_size, const void *cubin,
                       size_t cubin_size, void **bytes, size_t *size) {
  struct header header;
  if (container_size < sizeof(header) || !cc_binary_is_container(container, container_size))
    return -EINVAL;
  memcpy(&header, container, sizeof(header));
  if (header.cubin_size || header.cubin_offset != container_size)
    return -EINVAL;
  header.cubin_size = cubin_size;
  header.size = container_size + cubin_size;
  unsigned char *whole = malloc(header.size);
  if (!whole)
    return -ENOMEM;
  memcpy(whole, container, container_size);
  memcpy(whole + container_size, cubin, cubin_size);
  seal(whole, &header);
  *bytes = whole;
  *size = header.size;
  return 0;
}

/* Location of a unit's parts in the file. place_count is a number of places; sizes are in bytes. */
struct unit_record {
  uint64_t offset, size, places, place_count, files, files_size;
};

static uint64_t put_aligned(struct writer *w, const void *data, size_t size) {
  w->at = (w->at + CUBIN_ALIGN - 1) & ~(size_t)(CUBIN_ALIGN - 1);
  const uint64_t at = w->at;
  put(w, data, size);
  return at;
}

static void put_units(struct writer *w, const struct binary_unit *units, size_t count) {
  struct header header = {.format = FORMAT_UNITS, .sm = BINARY_SM, .kernel_count = (uint32_t)count};
  memcpy(header.magic, magic, sizeof(magic));
  snprintf(header.version, sizeof(header.version), "%s", TEGRACL_VERSION);
  w->at = sizeof(header) + count * sizeof(struct unit_record);
  for (size_t i = 0; i < count; i++) {
    const struct binary_unit *unit = &units[i];
    const size_t place_bytes = unit->place_count * sizeof(*unit->places);
    struct unit_record record = {
        .size = unit->size, .place_count = unit->place_count, .files_size = unit->files_size};
    record.offset = put_aligned(w, unit->binary, unit->size);
    record.places = put_aligned(w, unit->places, place_bytes);
    record.files = put_aligned(w, unit->files, unit->files_size);
    if (w->bytes)
      memcpy(w->bytes + sizeof(header) + i * sizeof(record), &record, sizeof(record));
  }
  header.size = w->at;
  header.cubin_offset = sizeof(header) + count * sizeof(struct unit_record);
  header.cubin_size = header.size - header.cubin_offset;
  if (w->bytes)
    seal(w->bytes, &header);
}

int cc_binary_join(const struct binary_unit *units, size_t count, void **bytes, size_t *size) {
  struct writer w = {0};
  put_units(&w, units, count);
  w.bytes = calloc(1, w.at);
  if (!w.bytes)
    return -ENOMEM;
  put_units(&w, units, count);
  *bytes = w.bytes;
  *size = w.at;
  return 0;
}

/* ---- reading ------------------------------------------------------------- */

struct reader {
  const unsigned char *bytes;
  size_t at, end; /* end of the kernels part */
  struct arena *arena;
  char *error;
  size_t error_size;
};

__attribute__((format(printf, 3, 4))) static enum cc_status
refuse(struct reader *r, enum cc_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (r->error_size)
    vsnprintf(r->error, r->error_size, format, arguments);
  va_end(arguments);
  return status;
}

static enum cc_status damaged(struct reader *r, const char *what) {
  return refuse(r, CC_INVALID_BINARY, "damaged program binary: %s", what);
}

static enum cc_status no_memory(struct reader *r) {
  return refuse(r, CC_OUT_OF_MEMORY, "out of memory while reading a program binary");
}

static bool take32(struct reader *r, uint32_t *value) {
  if (r->end - r->at < sizeof(*value))
    return false;
  memcpy(value, r->bytes + r->at, sizeof(*value));
  r->at += sizeof(*value);
  return true;
}

static bool take_string(struct reader *r, const char **text) {
  uint32_t length;
  if (!take32(r, &length) || r->end - r->at <= length)
    return false;
  const char *start = (const char *)r->bytes + r->at;
  if (memchr(start, 0, (size_t)length + 1) != start + length)
    return false;
  for (uint32_t i = 0; i < length; i++)
    if ((unsigned char)start[i] < ' ' || start[i] == DELETE)
      return false; /* control characters would reach the user's terminal */
  *text = start;
  r->at += (size_t)length + 1;
  return true;
}

/* ---- values ---------------------------------------------------------------- */

/* The numbers of a kernel and of an argument, in file order. The limits
 * below are the largest values that the compiler writes; the rest of the
 * driver relies on them and does not check again. */
struct kernel_numbers {
  uint32_t required[3], hinted[3], flags, sub_groups, arg_count;
};

struct arg_numbers {
  uint32_t kind, access, qualifiers, size, align, image;
};

struct range {
  const char *what;
  uint32_t most;
};

enum {
  KERNEL_NUMBERS = sizeof(struct kernel_numbers) / sizeof(uint32_t),
  ARG_NUMBERS = sizeof(struct arg_numbers) / sizeof(uint32_t),
};

static const struct range kernel_ranges[KERNEL_NUMBERS] = {
    {"required block, x", UINT32_MAX}, /* check_kernel: all three are zero or none is */
    {"required block, y", UINT32_MAX},
    {"required block, z", UINT32_MAX},
    {"hinted block, x", UINT32_MAX}, /* only reported */
    {"hinted block, y", UINT32_MAX},
    {"hinted block, z", UINT32_MAX},
    {"flags", FLAG_PRINTS | FLAG_UNIFORM | FLAG_IGNORES_GROUPS},
    {"number of sub-groups", KERNEL_SUB_GROUPS_MAX},
    {"number of arguments", CUBIN_BANK_BYTES},
};

static const struct range arg_ranges[ARG_NUMBERS] = {
    {"kind", KERNEL_ARG_SAMPLER},
    {"access", KERNEL_ARG_ACCESS_NONE},
    {"qualifiers", KERNEL_ARG_CONST | KERNEL_ARG_RESTRICT | KERNEL_ARG_VOLATILE},
    {"size", CUBIN_BANK_BYTES},
    {"alignment", UINT32_C(1) << 31}, /* a power of two */
    {"type of image", KERNEL_ARG_IMAGE_DEPTH | (KERNEL_ARG_IMAGE_TYPES - 1)},
};

/* Size of an argument in bytes, by kind; 0 if only the CUBIN determines it. */
static const uint32_t arg_sizes[] = {
    [KERNEL_ARG_VALUE] = 0,
    [KERNEL_ARG_GLOBAL] = sizeof(uint64_t),
    [KERNEL_ARG_CONSTANT] = sizeof(uint64_t),
    [KERNEL_ARG_LOCAL] = sizeof(uint32_t),
    [KERNEL_ARG_IMAGE] = sizeof(struct kernel_image),
    [KERNEL_ARG_SAMPLER] = sizeof(uint32_t),
};

static enum cc_status take_numbers(struct reader *r, const struct range *ranges, int count,
                                   void *numbers) {
  for (int i = 0; i < count; i++) {
    uint32_t value;
    if (!take32(r, &value))
      return damaged(r, "the data ends inside a kernel");
    if (value > ranges[i].most)
      return refuse(r, CC_INVALID_BINARY, "damaged program binary: %s is %u, the maximum is %u",
                    ranges[i].what, value, ranges[i].most);
    memcpy((uint32_t *)numbers + i, &value, sizeof(value));
  }
  return CC_OK;
}

/* ---- kernels --------------------------------------------------------------- */

/* Reads the metadata of one argument. Overwrites what was derived from the CUBIN. */
static enum cc_status read_arg(struct reader *r, struct kernel_arg *arg) {
  struct arg_numbers numbers = {0};
  if (!take_string(r, &arg->name) || !take_string(r, &arg->type_name))
    return damaged(r, "the data ends inside an argument, or the name of an argument contains "
                      "control characters");
  enum cc_status status = take_numbers(r, arg_ranges, ARG_NUMBERS, &numbers);
  if (status != CC_OK)
    return status;
  if ((numbers.align & (numbers.align - 1)) ||
      (numbers.image & ~(uint32_t)KERNEL_ARG_IMAGE_DEPTH) >= KERNEL_ARG_IMAGE_TYPES ||
      (numbers.image && numbers.kind != KERNEL_ARG_IMAGE))
    return damaged(r, "an argument has an unknown kind");
  arg->kind = numbers.kind;
  arg->access = numbers.access;
  arg->qualifiers = numbers.qualifiers;
  arg->align = numbers.align;
  arg->image = numbers.image;
  uint32_t wanted = arg->kind == KERNEL_ARG_VALUE ? numbers.size : arg_sizes[arg->kind];
  if (wanted && wanted != arg->size)
    return damaged(r, "the size of an argument differs from its size in the code");
  if (arg->kind == KERNEL_ARG_LOCAL && arg->align == 0)
    arg->align = DEFAULT_LOCAL_ALIGN;
  return CC_OK;
}

/* The kernels of a CUBIN whose names have our prefix, sorted by name. */
struct kernel_index {
  const struct kernel_code **kernels; /* sorted */
  uint32_t count;
};

static const char *name_of(const struct kernel_code *code) {
  return code->name + strlen(BINARY_KERNEL_PREFIX);
}

static int compare_codes(const void *a, const void *b) {
  return strcmp((*(const struct kernel_code *const *)a)->name,
                (*(const struct kernel_code *const *)b)->name);
}

static bool index_kernels(struct reader *r, const struct module_code *cubin,
                          struct kernel_index *index) {
  *index = (struct kernel_index){
      .kernels = arena_alloc(r->arena, cubin->kernel_count, sizeof(*index->kernels))};
  if (!index->kernels)
    return false;
  for (uint32_t i = 0; i < cubin->kernel_count; i++)
    if (strncmp(cubin->kernels[i].name, BINARY_KERNEL_PREFIX, strlen(BINARY_KERNEL_PREFIX)) == 0)
      index->kernels[index->count++] = &cubin->kernels[i];
  qsort(index->kernels, index->count, sizeof(*index->kernels), compare_codes);
  return true;
}

static const struct kernel_code *find_code(const struct kernel_index *index, const char *name) {
  for (uint32_t first = 0, end = index->count; first < end;) {
    const uint32_t middle = first + (end - first) / 2;
    const int order = strcmp(name, name_of(index->kernels[middle]));
    if (order == 0)
      return index->kernels[middle];
    if (order < 0)
      end = middle;
    else
      first = middle + 1;
  }
  return NULL;
}

/* Checks that the numbers are consistent with each other and with the code. */
static enum cc_status check_kernel(struct reader *r, const struct kernel_code *code,
                                   const struct kernel_numbers *numbers, const char *name) {
  const uint32_t *block = numbers->required;
  if (!block[0] != !block[1] || !block[0] != !block[2])
    return refuse(r, CC_INVALID_BINARY,
                  "damaged program binary: kernel %s requires work-groups of %u x %u x %u", name,
                  block[0], block[1], block[2]);
  /* The last parameter is struct kernel_hidden. */
  if (code->arg_count == 0 || code->arg_count - 1 != numbers->arg_count ||
      code->args[numbers->arg_count].size != sizeof(struct kernel_hidden))
    return refuse(r, CC_INVALID_BINARY,
                  "damaged program binary: the code of kernel %s has %u parameters, its "
                  "description has %u",
                  name, code->arg_count, numbers->arg_count);
  for (uint32_t i = 0; i < numbers->arg_count; i++)
    if (code->args[i].offset + code->args[i].size > code->args[i + 1].offset)
      return refuse(r, CC_INVALID_BINARY,
                    "damaged program binary: parameters %u and %u of kernel %s overlap", i, i + 1,
                    name);
  return CC_OK;
}

static enum cc_status read_kernel(struct reader *r, const struct kernel_index *index,
                                  struct kernel_code *kernel) {
  const char *name, *attributes;
  struct kernel_numbers numbers = {0};
  if (!take_string(r, &name) || !take_string(r, &attributes))
    return damaged(r, "the data ends inside a kernel, or the name of a kernel contains control "
                      "characters");
  enum cc_status status = take_numbers(r, kernel_ranges, KERNEL_NUMBERS, &numbers);
  if (status != CC_OK)
    return status;
  const struct kernel_code *code = find_code(index, name);
  if (!code)
    return refuse(r, CC_INVALID_BINARY, "damaged program binary: kernel %s has no code", name);
  status = check_kernel(r, code, &numbers, name);
  if (status != CC_OK)
    return status;
  struct kernel_arg *args = arena_alloc(r->arena, numbers.arg_count, sizeof(*args));
  if (!args)
    return no_memory(r);
  *kernel = *code;
  kernel->name = name;
  kernel->attributes = attributes;
  kernel->args = args;
  kernel->arg_count = numbers.arg_count;
  kernel->args_known = 1;
  kernel->prints = (numbers.flags & FLAG_PRINTS) != 0;
  kernel->uniform = (numbers.flags & FLAG_UNIFORM) != 0;
  kernel->ignores_groups =
      (numbers.flags & FLAG_IGNORES_GROUPS) && !code->shared_bytes && !code->barriers;
  kernel->sub_groups = numbers.sub_groups;
  kernel->hidden_offset = code->args[numbers.arg_count].offset;
  memcpy(kernel->hinted_block, numbers.hinted, sizeof(numbers.hinted));
  if (numbers.required[0])
    memcpy(kernel->required_block, numbers.required, sizeof(numbers.required));
  for (uint32_t i = 0; i < numbers.arg_count && status == CC_OK; i++) {
    args[i] = code->args[i];
    status = read_arg(r, &args[i]);
  }
  return status;
}

static enum cc_status status_of(enum cubin_status status) {
  switch (status) {
  case CUBIN_OK:
    return CC_OK;
  case CUBIN_WRONG_DEVICE:
    return CC_WRONG_DEVICE;
  case CUBIN_OUT_OF_MEMORY:
    return CC_OUT_OF_MEMORY;
  default:
    return CC_INVALID_BINARY;
  }
}

static enum cc_status read_units(struct reader *r, const struct header *header,
                                 struct module_code *code);

static enum cc_status read_container(struct reader *r, size_t size, bool is_unit,
                                     struct module_code *code) {
  struct header header;
  if (size < sizeof(header))
    return refuse(r, CC_INVALID_BINARY, "truncated program binary: %zu bytes", size);
  memcpy(&header, r->bytes, sizeof(header));
  if (header.format != FORMAT_VERSION && (is_unit || header.format != FORMAT_UNITS))
    return refuse(r, CC_INVALID_BINARY,
                  "unsupported program binary format %u: this version reads formats %d and %d; "
                  "rebuild the program",
                  header.format, FORMAT_VERSION, FORMAT_UNITS);
  if (header.size != size)
    return refuse(r, CC_INVALID_BINARY, "truncated program binary: %zu of %llu bytes", size,
                  (unsigned long long)header.size);
  if (header.hash != XXH64(r->bytes + HASHED_FROM, size - HASHED_FROM, 0))
    return damaged(r, "wrong checksum");
  if (header.sm != BINARY_SM)
    return refuse(r, CC_WRONG_DEVICE, "program binary is for sm_%u, but this device is sm_%d",
                  header.sm, BINARY_SM);
  if (header.cubin_offset < sizeof(header) ||
      (header.format == FORMAT_VERSION && header.cubin_offset % CUBIN_ALIGN) ||
      header.cubin_offset > size || header.cubin_size > size - header.cubin_offset)
    return damaged(r, "the CUBIN is outside the file");
  if (header.format == FORMAT_UNITS)
    return read_units(r, &header, code);
  r->at = sizeof(header);
  r->end = header.cubin_offset;
  if (header.kernel_count > (r->end - r->at) / MIN_KERNEL_BYTES)
    return damaged(r, "the file is too small for its number of kernels");
  struct module_code cubin;
  enum cc_status status = status_of(cubin_read(r->bytes + header.cubin_offset, header.cubin_size,
                                               r->arena, true, &cubin, r->error, r->error_size));
  if (status != CC_OK)
    return status;
  struct kernel_index index;
  struct kernel_code *kernels = arena_alloc(r->arena, header.kernel_count, sizeof(*kernels));
  if (!kernels || !index_kernels(r, &cubin, &index))
    return no_memory(r);
  if (header.kernel_count > index.count)
    return refuse(r, CC_INVALID_BINARY, "damaged program binary: %u kernels, but only %u with code",
                  header.kernel_count, index.count);
  for (uint32_t i = 0; i < header.kernel_count && status == CC_OK; i++)
    status = read_kernel(r, &index, &kernels[i]);
  *code = cubin;
  code->kernels = kernels;
  code->kernel_count = header.kernel_count;
  code->global_bytes = header.global_bytes;
  return status;
}

/* ---- units ------------------------------------------------------------------- */

/* Total sizes of the parts of all units. In struct join: how much of each is filled. */
struct totals {
  uint64_t sections, relocs, kernels, lines, files;
};

/* A program that is assembled from its units. */
struct join {
  struct module_section *sections;
  struct module_reloc *relocs;
  struct kernel_code *kernels;
  struct module_line *lines;
  const char **files;
  struct totals at;
};

static uint32_t count_strings(const char *bytes, size_t size) {
  uint32_t count = 0;
  for (size_t i = 0; i < size; i++)
    count += bytes[i] == 0;
  return count;
}

/* Checks the location of a part of a unit, which must start at
 * *end or later, and moves *end past it. */
static bool take_piece(uint64_t *end, uint64_t size, uint64_t offset, uint64_t count,
                       uint64_t bytes) {
  if (offset < *end || offset % CUBIN_ALIGN || offset > size || count > (size - offset) / bytes)
    return false;
  *end = offset + count * bytes;
  return true;
}

/* Units must not overlap; otherwise a small file could contain a huge number of them. */
static enum cc_status read_unit(struct reader *r, size_t size, uint32_t number, uint64_t *end,
                                struct unit_record *record, struct module_code *code) {
  memcpy(record, r->bytes + sizeof(struct header) + number * sizeof(*record), sizeof(*record));
  const bool good =
      take_piece(end, size, record->offset, record->size, 1) &&
      take_piece(end, size, record->places, record->place_count, sizeof(struct binary_place)) &&
      take_piece(end, size, record->files, record->files_size, 1);
  if (!good || (record->files_size && r->bytes[record->files + record->files_size - 1] != 0))
    return refuse(r, CC_INVALID_BINARY, "damaged program binary: unit %u is outside the file",
                  number);
  struct reader unit = *r;
  unit.bytes += record->offset;
  return read_container(&unit, record->size, true, code);
}

static uint32_t move_section(uint32_t section, uint64_t by) {
  return section == MODULE_NO_SECTION ? section : section + (uint32_t)by;
}

/* Adds the line table of the unit, with its indices of places resolved (see binary.h). */
static void add_unit_lines(struct reader *r, struct join *join, const struct unit_record *record,
                           const struct module_code *code) {
  const struct binary_place *places = (const void *)(r->bytes + record->places);
  const char *files = (const char *)r->bytes + record->files;
  const uint64_t first_file = join->at.files;
  for (size_t i = 0; i < record->files_size; i += strlen(files + i) + 1)
    join->files[join->at.files++] = strcmp(files + i, SOURCE_NAME) == 0 ? "" : files + i;
  for (uint32_t i = 0; i < code->line_count; i++) {
    struct module_line line = code->lines[i];
    const uint32_t place = line.line ? (line.line - 1) / BINARY_LINES_STEP : 0;
    line.section += (uint32_t)join->at.sections;
    if (line.line && place < record->place_count &&
        places[place].file < join->at.files - first_file) {
      line.line = places[place].line + (line.line - 1) % BINARY_LINES_STEP;
      line.file = (uint32_t)first_file + places[place].file;
    } else {
      line.line = line.file = 0;
    }
    join->lines[join->at.lines++] = line;
  }
}

static void add_unit(struct join *join, const struct module_code *code) {
  const uint64_t by = join->at.sections;
  for (uint32_t i = 0; i < code->reloc_count; i++) {
    struct module_reloc *reloc = &join->relocs[join->at.relocs++];
    *reloc = code->relocs[i];
    reloc->section = move_section(reloc->section, by);
    reloc->target = move_section(reloc->target, by);
  }
  for (uint32_t i = 0; i < code->kernel_count; i++) {
    struct kernel_code *kernel = &join->kernels[join->at.kernels++];
    *kernel = code->kernels[i];
    kernel->text = move_section(kernel->text, by);
    kernel->bank2 = move_section(kernel->bank2, by);
    kernel->bank3 = move_section(kernel->bank3, by);
    kernel->bank4 = move_section(kernel->bank4, by);
  }
  memcpy(join->sections + by, code->sections, code->section_count * sizeof(*code->sections));
  join->at.sections += code->section_count;
}

static bool alloc_join(struct reader *r, const struct totals *all, struct join *join) {
  *join = (struct join){
      .sections = arena_alloc(r->arena, all->sections, sizeof(*join->sections)),
      .relocs = arena_alloc(r->arena, all->relocs, sizeof(*join->relocs)),
      .kernels = arena_alloc(r->arena, all->kernels, sizeof(*join->kernels)),
      .lines = arena_alloc(r->arena, all->lines, sizeof(*join->lines)),
      .files = arena_alloc(r->arena, all->files, sizeof(*join->files)),
  };
  return join->sections && join->relocs && join->kernels && join->lines && join->files;
}

static enum cc_status read_units(struct reader *r, const struct header *header,
                                 struct module_code *code) {
  const uint32_t count = header->kernel_count;
  if (!count || count > (header->size - sizeof(*header)) / sizeof(struct unit_record))
    return damaged(r, "the file is too small for its number of units");
  struct module_code *units = arena_alloc(r->arena, count, sizeof(*units));
  struct unit_record *records = arena_alloc(r->arena, count, sizeof(*records));
  struct totals all = {0};
  uint64_t end = sizeof(*header) + count * (uint64_t)sizeof(*records);
  struct join join;
  if (!units || !records)
    return no_memory(r);
  *code = (struct module_code){0};
  for (uint32_t i = 0; i < count; i++) {
    const enum cc_status status = read_unit(r, header->size, i, &end, &records[i], &units[i]);
    if (status != CC_OK)
      return status;
    all.sections += units[i].section_count;
    all.relocs += units[i].reloc_count;
    all.kernels += units[i].kernel_count;
    all.lines += units[i].line_count;
    all.files += count_strings((const char *)r->bytes + records[i].files, records[i].files_size);
    code->cubin_bytes += units[i].cubin_bytes;
    code->global_bytes += units[i].global_bytes;
  }
  if (all.sections >= UINT32_MAX || all.relocs > UINT32_MAX || all.kernels > UINT32_MAX ||
      all.lines > UINT32_MAX || all.files > UINT32_MAX)
    return damaged(r, "the units are too large together");
  if (!alloc_join(r, &all, &join))
    return no_memory(r);
  for (uint32_t i = 0; i < count; i++) {
    add_unit_lines(r, &join, &records[i], &units[i]);
    add_unit(&join, &units[i]);
  }
  code->sections = join.sections;
  code->section_count = (uint32_t)join.at.sections;
  code->relocs = join.relocs;
  code->reloc_count = (uint32_t)join.at.relocs;
  code->kernels = join.kernels;
  code->kernel_count = (uint32_t)join.at.kernels;
  code->lines = join.lines;
  code->line_count = (uint32_t)join.at.lines;
  code->files = join.files;
  code->file_count = (uint32_t)join.at.files;
  return CC_OK;
}

/* Formats that users mistake for program binaries: first bytes and error message. */
static const struct {
  const char *start;
  size_t size;
  const char *what;
} foreign[] = {
    {"\x50\xed\x55\xba", 4,
     "this is a fatbin: extract a CUBIN (cuobjdump -xelf all), or make one (nvcc -cubin "
     "-arch=sm_87)"},
    {"\x03\x02\x23\x07", 4, "this is a SPIR-V module: pass it to clCreateProgramWithIL"},
    {"\x07\x23\x02\x03", 4, "this is a SPIR-V module: pass it to clCreateProgramWithIL"},
    {"BC\xc0\xde", 4, "this is LLVM bitcode: a program binary must contain machine code"},
    {"!<arch>\n", 8, "this is an archive: extract a CUBIN (cuobjdump -xelf all)"},
};

static bool is_ptx(const unsigned char *bytes, size_t size) {
  enum { HEAD = 4096 };
  static const char version[] = ".version ", target[] = ".target sm_";
  const size_t head = size < HEAD ? size : HEAD;
  return memmem(bytes, head, version, sizeof(version) - 1) &&
         memmem(bytes, head, target, sizeof(target) - 1);
}

static enum cc_status refuse_foreign(struct reader *r, size_t size) {
  for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
    if (size >= foreign[i].size && memcmp(r->bytes, foreign[i].start, foreign[i].size) == 0)
      return refuse(r, CC_INVALID_BINARY, "%s", foreign[i].what);
  if (is_ptx(r->bytes, size))
    return refuse(r, CC_INVALID_BINARY,
                  "this is PTX: assemble it (ptxas -arch=sm_87), or pass OpenCL C");
  return refuse(r, CC_INVALID_BINARY, "not a tegracl program binary or CUBIN (%zu bytes)", size);
}

enum cc_status cc_module_read(const void *binary, size_t size, struct module_code **module,
                              char *error, size_t error_size) {
  struct arena *arena = calloc(1, sizeof(*arena));
  struct reader r = {.arena = arena, .error = error, .error_size = error_size};
  struct module_code *code = arena ? arena_alloc(arena, 1, sizeof(*code)) : NULL;
  unsigned char *copy = code ? arena_alloc(arena, size, 1) : NULL;
  enum cc_status status;
  if (!code || !copy) {
    status = no_memory(&r);
  } else if (size == 0 || !binary) {
    status = refuse(&r, CC_INVALID_BINARY, "the program binary is empty");
  } else {
    memcpy(copy, binary, size);
    r.bytes = copy;
    if (cc_binary_is_container(copy, size))
      status = read_container(&r, size, false, code);
    else if (cubin_is_elf(copy, size))
      status = status_of(cubin_read(copy, size, arena, false, code, error, error_size));
    else
      status = refuse_foreign(&r, size);
  }
  if (code && status == CC_OK) {
    code->storage = arena;
    *module = code;
  } else if (arena) {
    arena_finish(arena);
    free(arena);
  }
  return status;
}

/* Recognises our CUBINs by their kernels' names and last parameter, and by the file name
 * tegracl.cuh in the line table. */
bool cc_is_bare_cubin(const void *binary, size_t size, const struct module_code *module) {
  static const char device_library[] = "tegracl.cuh";
  if (!cubin_is_elf(binary, size) || !module->kernel_count ||
      !memmem(binary, size, device_library, sizeof(device_library)))
    return false;
  for (uint32_t i = 0; i < module->kernel_count; i++) {
    const struct kernel_code *kernel = &module->kernels[i];
    if (strncmp(kernel->name, BINARY_KERNEL_PREFIX, strlen(BINARY_KERNEL_PREFIX)) != 0 ||
        kernel->arg_count == 0 ||
        kernel->args[kernel->arg_count - 1].size != sizeof(struct kernel_hidden))
      return false;
  }
  return true;
}

void cc_module_free(struct module_code *module) {
  if (!module)
    return;
  struct arena *arena = module->storage;
  arena_finish(arena); /* also frees the module */
  free(arena);
}
