/* Fuzzing the readers of binaries: random changes to good CUBINs and program
 * binaries. A reader must refuse or give a module that keeps the promises of
 * kernel_code.h; sanitizer builds see stray reads. Arguments: number of rounds,
 * seed (both optional). Prints the seed, so that a failure can be repeated. */
#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/binary.h"
#include "compiler/compiler.h"
#include "tests/compiler/cubin_file.h"

enum {
  DEFAULT_ROUNDS = 20000,
  CONTAINER_HASH_AT = 24, /* compiler/binary.c */
  CONTAINER_HASHED_FROM = 32,
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

/* The line table of an unchanged CUBIN: small, so random places seldom hit it. */
static struct range find_lines(const struct cubin_file *file) {
  Elf64_Ehdr elf;
  Elf64_Shdr names, section;
  if (file->size < sizeof(elf) || memcmp(file->bytes, ELFMAG, SELFMAG))
    return (struct range){0};
  memcpy(&elf, file->bytes, sizeof(elf));
  const unsigned char *table = file->bytes + elf.e_shoff;
  memcpy(&names, table + elf.e_shstrndx * sizeof(names), sizeof(names));
  for (unsigned i = 0; i < elf.e_shnum; i++) {
    memcpy(&section, table + i * sizeof(section), sizeof(section));
    if (!strcmp((const char *)file->bytes + names.sh_offset + section.sh_name, ".debug_line"))
      return (struct range){section.sh_offset, section.sh_size};
  }
  return (struct range){0};
}

/* Overwrites a few places, more often in the tables than in code. */
static void change(unsigned char *bytes, size_t size, const struct range *lines) {
  for (size_t changes = 1 + below(6); changes > 0; changes--) {
    size_t width = (size_t)1 << below(4);
    size_t at = below(size);
    Elf64_Ehdr header;
    if (size > sizeof(header) && below(2)) {
      memcpy(&header, bytes, sizeof(header));
      size_t table = (size_t)header.e_shnum * sizeof(Elf64_Shdr);
      if (header.e_shoff < size && table < size - header.e_shoff)
        at = header.e_shoff + (below(table) & ~(width - 1));
    }
    if (lines->size && below(2)) {
      at = lines->at + below(lines->size);
      width = 1;
    }
    uint64_t value = odd_value();
    if (at + width <= size)
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
  return (code->bank3 == MODULE_NO_SECTION || code->bank3 < code->section_count) &&
         (code->bank4 == MODULE_NO_SECTION || code->bank4 < code->section_count);
}

static bool check_kernels(const struct module_code *code) {
  for (uint32_t i = 0; i < code->kernel_count; i++) {
    const struct kernel_code *k = &code->kernels[i];
    if (!k->name[0] || k->text >= code->section_count ||
        code->sections[k->text].kind != MODULE_TEXT || k->entry >= code->sections[k->text].size ||
        k->registers == 0 || k->registers > 255 || k->barriers > 16 ||
        (k->bank2 != MODULE_NO_SECTION && k->bank2 >= code->section_count) ||
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

/* One input. False if the reader broke a promise. */
static bool feed(const unsigned char *bytes, size_t size, unsigned *accepted) {
  char error[128];
  struct module_code *code = NULL;
  unsigned char *exact = malloc(size ? size : 1); /* no slack behind it, for ASan */
  memcpy(exact, bytes, size);
  enum cc_status status = cc_module_read(exact, size, &code, error, sizeof(error));
  free(exact);
  if (status != CC_OK)
    return status == CC_INVALID_BINARY || status == CC_WRONG_DEVICE || status == CC_OUT_OF_MEMORY;
  bool good = check_sections(code) && check_kernels(code) && check_lines(code);
  cc_module_free(code);
  ++*accepted;
  return good;
}

/* A program binary around a CUBIN made for the purpose: its kernels take what
 * the container says, and the hidden block. */
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

static void fix_checksum(unsigned char *bytes, size_t size) {
  if (size < CONTAINER_HASHED_FROM)
    return;
  uint64_t hash = XXH64(bytes + CONTAINER_HASHED_FROM, size - CONTAINER_HASHED_FROM, 0);
  memcpy(bytes + CONTAINER_HASH_AT, &hash, sizeof(hash));
}

int main(int argc, char **argv) {
  static const char *const names[] = {"sample-11.8.cubin", "sample-12.4.cubin",
                                      "sample-13.0.cubin", "debug-13.0.cubin",
                                      "lines-13.0.cubin",  "hidden-13.0.cubin"};
  enum { FILES = sizeof(names) / sizeof(names[0]) };
  unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : DEFAULT_ROUNDS;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
  seed = seed ? seed : 1;
  printf("seed %llu\n", (unsigned long long)seed);
  struct cubin_file files[FILES + 1];
  unsigned accepted = 0;
  for (int i = 0; i <= FILES; i++) {
    files[i] = i < FILES ? cubin_file_read(names[i]) : make_container(&files[FILES - 1]);
    if (!files[i].bytes || !feed(files[i].bytes, files[i].size, &accepted) ||
        accepted != (unsigned)i + 1) {
      printf("FAILED: the unchanged file %d is not read\n", i);
      return 1;
    }
  }
  accepted = 0;
  for (unsigned round = 0; round < rounds; round++) {
    const int which = (int)below(FILES + 1);
    struct cubin_file *file = &files[which];
    unsigned char *copy = malloc(file->size);
    memcpy(copy, file->bytes, file->size);
    const size_t head = which == FILES && below(2) ? 512 : file->size;
    const struct range lines = find_lines(file);
    change(copy, head, &lines);
    size_t size = below(8) ? file->size : below(file->size);
    if (which == FILES)
      fix_checksum(copy, size);
    bool good = feed(copy, size, &accepted);
    free(copy);
    if (!good) {
      printf("FAILED in round %u\n", round);
      return 1;
    }
  }
  for (int i = 0; i <= FILES; i++)
    free(files[i].bytes);
  printf("%u changed files, %u accepted, every promise kept\n", rounds, accepted);
  return 0;
}
