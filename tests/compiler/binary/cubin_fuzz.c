/* Fuzzes the readers of binaries with random changes to valid CUBINs, program binaries
 * and compiled objects. A reader must refuse the input or return a module that
 * satisfies the guarantees of kernel_code.h. Sanitizer builds detect invalid reads.
 *
 *   cubin_fuzz [rounds [seed]]
 *
 * All runs with the same seed are equal. */
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/client/binary.h"
#include "compiler/client/object.h"
#include "compiler/compiler.h"
#include "tests/compiler/binary/cubin_file.h"

enum {
  DEFAULT_ROUNDS = 20000,
  /* Layout of program binaries and objects (compiler/client/binary.c, object.c). */
  HASH_AT = 24,
  HASHED_FROM = 32,
};

static uint64_t seed;

static uint64_t random_number(void) { /* xorshift64* */
  seed ^= seed >> 12;
  seed ^= seed << 25;
  seed ^= seed >> 27;
  return seed * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t limit) {
  return limit ? (size_t)(random_number() % limit) : 0;
}

static uint64_t odd_value(void) {
  static const uint64_t values[] = {0,          1,          0x7f,       0xff,          0xffff,
                                    0x7fffffff, 0xfffffffe, 0xffffffff, UINT64_MAX,    1ull << 63,
                                    1ull << 40, 16,         65536,      UINT64_MAX - 7};
  return below(2) ? values[below(sizeof(values) / sizeof(values[0]))] : random_number();
}

struct range {
  size_t at, size;
};

enum { MAX_TABLES = 64 };

struct input {
  struct cubin_file file;
  size_t cubin_at; /* offset of the CUBIN */
  struct range tables[MAX_TABLES];
  size_t table_count;
};

/* Whether the section is a table that the reader interprets. Tables are
 * small, so random places rarely hit them. */
static bool is_table(const char *name, const Elf64_Shdr *section) {
  return !strcmp(name, ".debug_line") || !strncmp(name, ".nv.info", strlen(".nv.info")) ||
         section->sh_type == SHT_SYMTAB || section->sh_type == SHT_REL ||
         section->sh_type == SHT_RELA;
}

/* Finds the tables of an unchanged CUBIN. */
static void find_tables(struct input *input) {
  const unsigned char *cubin = input->file.bytes + input->cubin_at;
  Elf64_Ehdr elf;
  Elf64_Shdr names, section;
  if (input->file.size - input->cubin_at < sizeof(elf) || memcmp(cubin, ELFMAG, SELFMAG))
    return;
  memcpy(&elf, cubin, sizeof(elf));
  const unsigned char *headers = cubin + elf.e_shoff;
  memcpy(&names, headers + elf.e_shstrndx * sizeof(names), sizeof(names));
  for (unsigned i = 0; i < elf.e_shnum && input->table_count < MAX_TABLES; i++) {
    memcpy(&section, headers + i * sizeof(section), sizeof(section));
    const char *name = (const char *)cubin + names.sh_offset + section.sh_name;
    if (is_table(name, &section) && section.sh_size)
      input->tables[input->table_count++] =
          (struct range){input->cubin_at + section.sh_offset, section.sh_size};
  }
}

/* Picks a place to change: in the section headers, in a table, or anywhere. */
static size_t pick_place(const struct input *input, const unsigned char *bytes, size_t *width) {
  const size_t cubin_size = input->file.size - input->cubin_at;
  Elf64_Ehdr header;
  *width = (size_t)1 << below(4);
  switch (below(4)) {
  case 0:
    if (cubin_size < sizeof(header))
      break;
    memcpy(&header, bytes + input->cubin_at, sizeof(header));
    const size_t table = (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    if (header.e_shoff < cubin_size && table < cubin_size - header.e_shoff)
      return input->cubin_at + header.e_shoff + (below(table) & ~(*width - 1));
    break;
  case 1:
    if (!input->table_count)
      break;
    const struct range *range = &input->tables[below(input->table_count)];
    *width = 1;
    return range->at + below(range->size);
  case 2:
    return below(input->cubin_at ? input->cubin_at : sizeof(header));
  default:
    break;
  }
  return below(input->file.size);
}

/* Overwrites a few places. */
static void change(const struct input *input, unsigned char *bytes) {
  for (size_t changes = 1 + below(6); changes > 0; changes--) {
    size_t width;
    const size_t at = pick_place(input, bytes, &width);
    const uint64_t value = odd_value();
    if (at + width <= input->file.size)
      memcpy(bytes + at, &value, width);
  }
}

static volatile unsigned char sink;

static bool check_sections(const struct module_code *code) {
  for (uint32_t i = 0; i < code->section_count; i++) {
    const struct module_section *s = &code->sections[i];
    if (!s->align || (s->align & (s->align - 1)))
      return false;
    if (s->data && s->size) /* touch both ends */
      sink = ((const unsigned char *)s->data)[0] ^ ((const unsigned char *)s->data)[s->size - 1];
  }
  for (uint32_t i = 0; i < code->reloc_count; i++) {
    const struct module_reloc *r = &code->relocs[i];
    uint64_t width = r->kind == MODULE_RELOC_ABS32 ? 4 : r->kind == MODULE_RELOC_ABS64 ? 8 : 16;
    if (r->section >= code->section_count || r->target >= code->section_count ||
        !code->sections[r->section].data || r->offset > code->sections[r->section].size ||
        width > code->sections[r->section].size - r->offset)
      return false;
  }
  return true;
}

static bool check_kernels(const struct module_code *code) {
  for (uint32_t i = 0; i < code->kernel_count; i++) {
    const struct kernel_code *k = &code->kernels[i];
    if (!k->name[0] || k->text >= code->section_count ||
        code->sections[k->text].kind != MODULE_TEXT || k->entry >= code->sections[k->text].size ||
        k->registers == 0 || k->registers > 255 || k->barriers > 16 ||
        (k->bank2 != MODULE_NO_SECTION && k->bank2 >= code->section_count) ||
        (k->bank3 != MODULE_NO_SECTION && k->bank3 >= code->section_count) ||
        (k->bank4 != MODULE_NO_SECTION && k->bank4 >= code->section_count) ||
        k->bank0_bytes < k->param_offset + k->param_bytes || k->bank0_bytes > 65536)
      return false;
    if (k->hidden_offset != UINT32_MAX &&
        k->hidden_offset + sizeof(struct kernel_hidden) > k->param_bytes)
      return false;
    sink = (unsigned char)strlen(k->attributes);
    for (uint32_t a = 0; a < k->arg_count; a++) {
      const struct kernel_arg *arg = &k->args[a];
      sink = (unsigned char)(strlen(arg->name) + strlen(arg->type_name));
      if (arg->offset > k->param_bytes || arg->size > k->param_bytes - arg->offset ||
          (arg->kind == KERNEL_ARG_LOCAL && !arg->align))
        return false;
    }
  }
  return true;
}

static bool check_lines(const struct module_code *code) {
  for (uint32_t i = 0; i < code->file_count; i++)
    sink = (unsigned char)strlen(code->files[i]);
  for (uint32_t i = 0; i < code->line_count; i++) {
    const struct module_line *line = &code->lines[i];
    if (line->section >= code->section_count || code->sections[line->section].kind != MODULE_TEXT ||
        line->offset > code->sections[line->section].size ||
        (line->line && line->file >= code->file_count) ||
        (i && (line[-1].section > line->section ||
               (line[-1].section == line->section && line[-1].offset >= line->offset))))
      return false;
  }
  return true;
}

/* Checks that the results of the object reader point into the object. */
static bool check_object(const unsigned char *bytes, size_t size) {
  struct object object;
  if (!cc_object_read(bytes, size, &object))
    return true;
  const unsigned char *bitcode = object.bitcode;
  sink = (unsigned char)strlen(object.options);
  return bitcode >= bytes && bitcode <= bytes + size &&
         object.bitcode_size <= (size_t)(bytes + size - bitcode);
}

/* Feeds one input to the readers. Returns false if a reader violated a guarantee. */
static bool feed(const unsigned char *bytes, size_t size, unsigned *accepted) {
  char error[128];
  struct module_code *code = NULL;
  unsigned char *exact =
      malloc(size ? size : 1); /* no slack at the end, so that ASan detects overruns */
  memcpy(exact, bytes, size);
  const enum cc_binary_kind kind = cc_binary_kind(exact, size);
  const bool is_object = kind == CC_BINARY_OBJECT || kind == CC_BINARY_LIBRARY;
  if (is_object || !check_object(exact, size)) {
    const bool good = is_object && check_object(exact, size);
    free(exact);
    ++*accepted;
    return good;
  }
  enum cc_status status = cc_module_read(exact, size, &code, error, sizeof(error));
  free(exact);
  if (status != CC_OK)
    return status == CC_INVALID_BINARY || status == CC_WRONG_DEVICE || status == CC_OUT_OF_MEMORY;
  bool good = check_sections(code) && check_kernels(code) && check_lines(code);
  cc_module_free(code);
  ++*accepted;
  return good;
}

/* Makes a program binary for a CUBIN whose kernels have the
 * container's arguments and the hidden one. */
static struct cubin_file make_container(const struct cubin_file *cubin) {
  static const struct binary_arg args[] = {
      {"a", "float*", KERNEL_ARG_GLOBAL, KERNEL_ARG_ACCESS_NONE, KERNEL_ARG_CONST, 8, 0},
      {"n", "int", KERNEL_ARG_VALUE, KERNEL_ARG_ACCESS_NONE, 0, 4, 0},
      {"l", "int*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE, 0, 4, 16},
  };
  const struct binary_kernel kernel = {.name = "hidden",
                                       .attributes = "reqd_work_group_size(8,1,1)",
                                       .required_block = {8, 1, 1},
                                       .args = args,
                                       .arg_count = 3};
  const struct binary_program program = {.sm = 87,
                                         .kernels = &kernel,
                                         .kernel_count = 1,
                                         .cubin = cubin->bytes,
                                         .cubin_size = cubin->size};
  void *bytes = NULL;
  struct cubin_file file = {0};
  if (cc_binary_write(&program, &bytes, &file.size) == 0)
    file.bytes = bytes;
  return file;
}

static struct cubin_file make_units(const struct cubin_file *container) {
  static const struct binary_place places[] = {{7, 0}, {8, 1}, {1000, 0}};
  static const char files[] = "<program source>\0header.h";
  const struct binary_unit unit = {container->bytes, container->size, places, 3, files,
                                   sizeof(files)};
  const struct binary_unit units[] = {unit, unit, unit};
  void *bytes = NULL;
  struct cubin_file file = {0};
  if (cc_binary_join(units, 3, &bytes, &file.size) == 0)
    file.bytes = bytes;
  return file;
}

static struct cubin_file make_object(void) {
  static const unsigned char bitcode[200] = {'B', 'C', 0xc0, 0xde};
  const struct object object = {CC_BINARY_OBJECT, "-cl-std=CL3.0 -DX", bitcode, sizeof(bitcode)};
  void *bytes = NULL;
  struct cubin_file file = {0};
  if (cc_object_write(&object, &bytes, &file.size) == 0)
    file.bytes = bytes;
  return file;
}

static void fix_checksum(unsigned char *bytes, size_t size) {
  if (size < HASHED_FROM)
    return;
  uint64_t hash = XXH64(bytes + HASHED_FROM, size - HASHED_FROM, 0);
  memcpy(bytes + HASH_AT, &hash, sizeof(hash));
}

/* Updates the checksums of the units at their original places. */
static void fix_units(const struct input *input, unsigned char *bytes, size_t size) {
  enum { RECORDS_AT = 72, RECORD_BYTES = 48 };
  for (int i = 0; i < 3; i++) {
    uint64_t place[2];
    memcpy(place, input->file.bytes + RECORDS_AT + i * RECORD_BYTES, sizeof(place));
    if (place[0] + place[1] <= size)
      fix_checksum(bytes + place[0], place[1]);
  }
}

static const char *const names[] = {"sample-11.8.cubin", "sample-12.4.cubin", "sample-13.0.cubin",
                                    "sm86-13.0.cubin",   "debug-13.0.cubin",  "lines-13.0.cubin",
                                    "kinds-13.0.cubin",  "hidden-13.0.cubin"};
enum {
  FILES = sizeof(names) / sizeof(names[0]),
  CONTAINER = FILES,
  UNITS,
  OBJECT,
  INPUTS,
  OFFSET_OF_CUBIN_AT = 56, /* compiler/client/binary.c */
};

static struct input make_input(int which, const struct input *inputs) {
  struct input input = {.file = which < FILES        ? cubin_file_read(names[which])
                                : which == CONTAINER ? make_container(&inputs[FILES - 1].file)
                                : which == UNITS     ? make_units(&inputs[CONTAINER].file)
                                                     : make_object()};
  if ((which == CONTAINER || which == UNITS) && input.file.bytes)
    memcpy(&input.cubin_at, input.file.bytes + OFFSET_OF_CUBIN_AT, sizeof(input.cubin_at));
  if (input.file.bytes)
    find_tables(&input);
  return input;
}

/* Changes a copy of one of the inputs, and sometimes truncates it.
 * Returns false if a reader violated a guarantee. */
static bool try_one(const struct input *inputs, unsigned *accepted) {
  const size_t which = below(INPUTS);
  const struct input *input = &inputs[which];
  unsigned char *copy = malloc(input->file.size);
  memcpy(copy, input->file.bytes, input->file.size);
  change(input, copy);
  const size_t size = below(8) ? input->file.size : below(input->file.size);
  if (which == UNITS)
    fix_units(input, copy, size);
  if (which >= FILES)
    fix_checksum(copy, size);
  const bool good = feed(copy, size, accepted);
  free(copy);
  return good;
}

int main(int argc, char **argv) {
  const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT_ROUNDS;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  seed = seed ? seed : 1;
  printf("seed %llu\n", (unsigned long long)seed);
  struct input inputs[INPUTS];
  unsigned accepted = 0;
  for (int i = 0; i < INPUTS; i++) {
    inputs[i] = make_input(i, inputs);
    const struct cubin_file *file = &inputs[i].file;
    if (!file->bytes || !feed(file->bytes, file->size, &accepted) || accepted != (unsigned)i + 1) {
      printf("FAILED: the unchanged file %d is not read\n", i);
      return 1;
    }
  }
  accepted = 0;
  for (unsigned long round = 0; round < rounds; round++)
    if (!try_one(inputs, &accepted)) {
      printf("FAILED in round %lu\n", round);
      return 1;
    }
  for (int i = 0; i < INPUTS; i++)
    free(inputs[i].file.bytes);
  printf("%lu changed files, %u accepted, every promise kept\n", rounds, accepted);
  return 0;
}
