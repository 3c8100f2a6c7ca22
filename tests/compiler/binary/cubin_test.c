/* The CUBIN reader: compares its results for files of CUDA 11.8 to 13.0 with the source of these
 * files (data/sample.cu) and with libelf's results, and checks what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>
#include <gelf.h>

#include "compiler/compiler.h"
#include "gpu/cubin/cubin_format.h"
#include "tests/compiler/binary/cubin_file.h"

static struct module_code *read_good(const char *name) {
  struct cubin_file file = cubin_file_read(name);
  assert_non_null(file.bytes);
  char error[256] = "";
  struct module_code *code = NULL;
  enum cc_status status = cc_module_read(file.bytes, file.size, &code, error, sizeof(error));
  /* The reader must have copied the bytes. */
  memset(file.bytes, 0xee, file.size);
  free(file.bytes);
  if (status != CC_OK)
    print_error("%s: %s\n", name, error);
  assert_int_equal(status, CC_OK);
  return code;
}

static enum cc_status read_bytes(const void *bytes, size_t size, char error[256]) {
  struct module_code *code = NULL;
  enum cc_status status = cc_module_read(bytes, size, &code, error, 256);
  if (status == CC_OK)
    cc_module_free(code);
  return status;
}

static const struct kernel_code *kernel_named(const struct module_code *code, const char *name) {
  for (uint32_t i = 0; i < code->kernel_count; i++)
    if (strcmp(code->kernels[i].name, name) == 0)
      return &code->kernels[i];
  fail_msg("no kernel %s", name);
  return NULL;
}

static void check_arg(const struct kernel_code *kernel, uint32_t i, uint32_t offset,
                      uint32_t size) {
  assert_true(i < kernel->arg_count);
  assert_int_equal(kernel->args[i].offset, offset);
  assert_int_equal(kernel->args[i].size, size);
}

/* Checks properties that are independent of the compiler version. */
static void check_sample(const char *name, bool big) {
  struct module_code *code = read_good(name);
  assert_int_equal(code->kernel_count, big ? 7 : 6);
  assert_int_not_equal(code->kernels[0].bank3, MODULE_NO_SECTION);
  assert_int_equal(code->sections[code->kernels[0].bank3].kind, MODULE_BANK3);
  const float table[4] = {1, 2, 3, 4};
  assert_memory_equal(code->sections[code->kernels[0].bank3].data, table, sizeof(table));

  const struct kernel_code *add = kernel_named(code, "k_add");
  assert_int_equal(add->arg_count, 5);
  check_arg(add, 0, 0, 8);
  check_arg(add, 1, 8, 8);
  check_arg(add, 2, 16, 4);
  check_arg(add, 3, 32, 16);
  check_arg(add, 4, 48, 4);
  assert_int_equal(add->param_offset, 0x160);
  assert_int_equal(add->param_bytes, 52);
  assert_int_equal(add->bank0_bytes, 0x160 + 52);
  assert_int_equal(add->shared_bytes, 144); /* float[33], aligned to 16 */
  assert_int_equal(add->barriers, 1);
  assert_int_equal(add->max_threads, 256);
  assert_int_equal(add->hidden_offset, UINT32_MAX);
  assert_int_equal(add->args_known, 0);
  assert_int_equal(add->frame_unknown, 0);
  assert_in_range(add->registers, 8, 32);
  assert_int_equal(code->sections[add->text].kind, MODULE_TEXT);
  assert_true(add->entry < code->sections[add->text].size);

  assert_int_equal(kernel_named(code, "k_recursive")->frame_unknown, 1);
  assert_int_equal(kernel_named(code, "k_pointer")->frame_unknown, 1);
  assert_true(kernel_named(code, "k_stack")->stack_bytes >= 200); /* volatile int[50] */
  const struct kernel_code *nothing = kernel_named(code, "k_nothing");
  assert_int_equal(nothing->arg_count, 0);
  assert_int_equal(nothing->param_bytes, 0);
  assert_int_equal(nothing->shared_bytes, 0);
  assert_int_equal(nothing->barriers, 0);
  if (big) {
    const struct kernel_code *kernel = kernel_named(code, "k_big");
    assert_int_equal(kernel->param_offset, 0x1a80);
    check_arg(kernel, 1, 8, 5000);
    check_arg(kernel, 2, 5008, 4);
  }
  cc_module_free(code);
}

static void test_reads_all_cuda_versions(void **state) {
  (void)state;
  check_sample("sample-11.8.cubin", false);
  check_sample("sample-12.4.cubin", true);
  check_sample("sample-13.0.cubin", true);
  check_sample("debug-13.0.cubin", false);
  check_sample("sm86-13.0.cubin", true);
}

static void test_reads_required_work_group_size(void **state) {
  (void)state;
  static const char *const names[] = {"sample-11.8.cubin", "sample-12.4.cubin",
                                      "sample-13.0.cubin"};
  for (size_t i = 0; i < 3; i++) {
    struct module_code *code = read_good(names[i]);
    const struct kernel_code *kernel = kernel_named(code, "k_required");
    assert_int_equal(kernel->required_block[0], 32);
    assert_int_equal(kernel->required_block[1], 2);
    assert_int_equal(kernel->required_block[2], 1);
    cc_module_free(code);
  }
}

/* counter_address (.nv.global.init) must point to counter (.nv.global). */
static void test_relocates_initial_values(void **state) {
  (void)state;
  struct module_code *code = read_good("sample-13.0.cubin");
  unsigned found = 0;
  for (uint32_t i = 0; i < code->reloc_count; i++) {
    const struct module_reloc *reloc = &code->relocs[i];
    const struct module_section *place = &code->sections[reloc->section];
    if (place->kind != MODULE_GLOBAL)
      continue;
    assert_non_null(place->data);
    assert_int_equal(reloc->kind, MODULE_RELOC_ABS64);
    assert_int_equal(code->sections[reloc->target].kind, MODULE_GLOBAL);
    assert_null(code->sections[reloc->target].data);
    assert_int_equal(code->sections[reloc->target].size, sizeof(int));
    assert_int_equal(reloc->value, 0);
    found++;
  }
  assert_int_equal(found, 1);
  cc_module_free(code);
}

/* In debug code, the instructions contain relocated calls and addresses. */
static void test_relocates_instructions(void **state) {
  (void)state;
  struct module_code *code = read_good("debug-13.0.cubin");
  unsigned kinds[MODULE_RELOC_ABS47_34 + 1] = {0};
  for (uint32_t i = 0; i < code->reloc_count; i++) {
    const struct module_reloc *reloc = &code->relocs[i];
    kinds[reloc->kind]++;
    if (reloc->kind >= MODULE_RELOC_LO32_32) {
      assert_int_equal(code->sections[reloc->section].kind, MODULE_TEXT);
      assert_int_equal(reloc->offset % 16, 0);
    }
  }
  assert_int_equal(kinds[MODULE_RELOC_LO32_32], kinds[MODULE_RELOC_HI32_32]);
  assert_true(kinds[MODULE_RELOC_LO32_32] > 0);
  assert_true(kinds[MODULE_RELOC_ABS47_34] > 0);
  cc_module_free(code);
}

/* ---- the second opinion ------------------------------------------------------ */

struct elf_view {
  uint64_t text_bytes, global_bytes;
  unsigned kernels, relocs;
};

static bool is_loaded(const char *name) {
  static const char *const prefixes[] = {".text.", ".nv.global", ".nv.constant2", ".nv.constant3",
                                         ".nv.constant4"};
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

static bool is_hint(unsigned type) {
  return type == R_CUDA_NONE || (type >= R_CUDA_YIELD_OPCODE9_0 && type <= R_CUDA_UNUSED_CLEAR64);
}

static unsigned count_relocs(Elf_Scn *section, const GElf_Shdr *header) {
  unsigned count = 0;
  Elf_Data *data = elf_getdata(section, NULL);
  for (int i = 0; i < (int)(header->sh_size / header->sh_entsize); i++) {
    GElf_Rel rel;
    GElf_Rela rela;
    uint64_t info = header->sh_type == SHT_REL ? gelf_getrel(data, i, &rel)->r_info
                                               : gelf_getrela(data, i, &rela)->r_info;
    count += !is_hint((unsigned)GELF_R_TYPE(info));
  }
  return count;
}

static struct elf_view view_by_libelf(struct cubin_file *file) {
  struct elf_view view = {0};
  assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
  Elf *elf = elf_memory((char *)file->bytes, file->size);
  assert_non_null(elf);
  size_t names;
  assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header, place;
    assert_non_null(gelf_getshdr(section, &header));
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (strncmp(name, ".text.", 6) == 0)
      view.text_bytes += header.sh_size;
    if (strncmp(name, ".nv.global", 10) == 0)
      view.global_bytes += header.sh_size;
    if (header.sh_type == SHT_REL || header.sh_type == SHT_RELA) {
      gelf_getshdr(elf_getscn(elf, header.sh_info), &place);
      if (is_loaded(elf_strptr(elf, names, place.sh_name)))
        view.relocs += count_relocs(section, &header);
    }
    if (header.sh_type == SHT_SYMTAB) {
      Elf_Data *data = elf_getdata(section, NULL);
      for (int i = 0; i < (int)(header.sh_size / header.sh_entsize); i++) {
        GElf_Sym symbol;
        gelf_getsym(data, i, &symbol);
        view.kernels +=
            GELF_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & CUBIN_STO_ENTRY) != 0;
      }
    }
  }
  elf_end(elf);
  return view;
}

/* Returns the line and file of the last instruction with this opcode (bits 11:0). */
static uint32_t line_of(const struct module_code *code, const char *kernel, uint32_t opcode,
                        const char **file) {
  const struct kernel_code *k = kernel_named(code, kernel);
  const struct module_section *s = &code->sections[k->text];
  uint32_t at = UINT32_MAX, line = 0;
  for (uint32_t offset = 0; offset < s->size; offset += CUBIN_INSN_BYTES) {
    uint32_t word;
    memcpy(&word, (const char *)s->data + offset, sizeof(word));
    if ((word & 0xfff) == opcode)
      at = offset;
  }
  assert_int_not_equal(at, UINT32_MAX);
  for (uint32_t i = 0; i < code->line_count; i++)
    if (code->lines[i].section == k->text && code->lines[i].offset <= at) {
      line = code->lines[i].line;
      *file = code->files[code->lines[i].file];
    }
  return line;
}

/* data/lines.cl: code of the device library has the line of its call. */
static void test_reads_line_table(void **state) {
  (void)state;
  enum {
    LDG = 0x981,
    STG = 0x986,
    MUL = 0x820
  }; /* MUL is FMUL with a constant, which sin() contains */
  struct module_code *code = read_good("lines-13.0.cubin");
  const char *file = NULL;
  assert_int_equal(line_of(code, "k_first", STG, &file), 4);
  assert_string_equal(file, "");
  assert_int_equal(line_of(code, "k_second", MUL, &file), 10);
  assert_int_equal(line_of(code, "k_second", STG, &file), 11);
  assert_string_equal(file, "");
  assert_int_equal(line_of(code, "k_third", LDG, &file), 101);
  assert_string_equal(file, "other ?file?.clh");
  for (uint32_t i = 0; i < code->line_count; i++) {
    const struct module_line *l = &code->lines[i];
    assert_true(l->line == 0 || (l->line >= 3 && l->line <= 12) ||
                (l->line >= 100 && l->line <= 102));
  }
  cc_module_free(code);
  /* A CUBIN without line information yields no lines. */
  code = read_good("sample-13.0.cubin");
  assert_int_equal(code->line_count, 0);
  cc_module_free(code);
}

static void test_libelf_agrees(void **state) {
  (void)state;
  static const char *const names[] = {"sample-11.8.cubin", "sample-12.4.cubin", "sample-13.0.cubin",
                                      "debug-13.0.cubin",  "lines-13.0.cubin",  "sm86-13.0.cubin"};
  for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
    struct cubin_file file = cubin_file_read(names[n]);
    assert_non_null(file.bytes);
    struct elf_view expected = view_by_libelf(&file), found = {0};
    free(file.bytes);
    struct module_code *code = read_good(names[n]);
    for (uint32_t i = 0; i < code->section_count; i++) {
      if (code->sections[i].kind == MODULE_TEXT)
        found.text_bytes += code->sections[i].size;
      if (code->sections[i].kind == MODULE_GLOBAL)
        found.global_bytes += code->sections[i].size;
    }
    assert_int_equal(found.text_bytes, expected.text_bytes);
    assert_int_equal(found.global_bytes, expected.global_bytes);
    assert_int_equal(code->kernel_count, expected.kernels);
    assert_int_equal(code->reloc_count, expected.relocs);
    cc_module_free(code);
  }
}

/* ---- what is refused ---------------------------------------------------------- */

static void check_refused(const char *name, enum cc_status expected, const char *words) {
  char error[256] = "";
  struct cubin_file file = cubin_file_read(name);
  assert_non_null(file.bytes);
  assert_int_equal(read_bytes(file.bytes, file.size, error), expected);
  if (!strstr(error, words))
    fail_msg("%s: \"%s\" does not say \"%s\"", name, error, words);
  free(file.bytes);
}

static void test_refuses_unsupported_files(void **state) {
  (void)state;
  check_refused("sm90-13.0.cubin", CC_WRONG_DEVICE, "sm_90");
  check_refused("unlinked-13.0.cubin", CC_INVALID_BINARY, "relocatable");
  check_refused("printf-13.0.cubin", CC_INVALID_BINARY, "vprintf");
  check_refused("sample.cu", CC_INVALID_BINARY, "not a tegracl program binary");
}

static void test_refuses_truncated_files(void **state) {
  (void)state;
  struct cubin_file file = cubin_file_read("sample-13.0.cubin");
  assert_non_null(file.bytes);
  char error[256];
  /* After the sections come only the program headers, which are not read. */
  Elf64_Ehdr header;
  memcpy(&header, file.bytes, sizeof(header));
  size_t needed = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
  for (size_t size = 0; size < needed; size += size < 4096 ? 1 : 97) {
    unsigned char *part = malloc(size + 1); /* an exact size lets ASan detect overruns */
    memcpy(part, file.bytes, size);
    error[0] = 0;
    assert_int_equal(read_bytes(part, size, error), CC_INVALID_BINARY);
    assert_true(strlen(error) > 10);
    free(part);
  }
  free(file.bytes);
}

/* ---- inputs that might take long ---------------------------------------------------- */

enum { SECTIONS = 8, NAMES_BYTES = 64 };

/* A CUBIN that consists of sections without code. */
struct made {
  Elf64_Ehdr elf;
  Elf64_Shdr headers[SECTIONS];
  unsigned char bytes[1 << 24];
  size_t used;
};

static void add_section(struct made *made, const char *name, uint32_t type, const void *bytes,
                        size_t size, uint64_t entry_size) {
  Elf64_Shdr *header = &made->headers[made->elf.e_shnum++];
  const unsigned char *found = memmem(made->bytes, NAMES_BYTES, name, strlen(name) + 1);
  assert_non_null(found);
  header->sh_name = (uint32_t)(found - made->bytes);
  header->sh_type = type;
  header->sh_offset = offsetof(struct made, bytes) + made->used;
  header->sh_size = size;
  header->sh_entsize = entry_size;
  header->sh_link = type == SHT_SYMTAB ? made->elf.e_shnum - 2u : 0; /* the section before */
  assert_true(made->used + size <= sizeof made->bytes);
  memcpy(made->bytes + made->used, bytes, size);
  made->used += size;
}

static struct made *make_begin(void) {
  static const char names[] = " .shstrtab\0.strtab\0.symtab\0.debug_line\0";
  struct made *made = calloc(1, sizeof *made);
  struct cubin_file file = cubin_file_read("sample-13.0.cubin");
  assert_non_null(made);
  assert_non_null(file.bytes);
  memcpy(&made->elf, file.bytes, sizeof made->elf);
  free(file.bytes);
  made->elf.e_shnum = 1;
  made->elf.e_shoff = offsetof(struct made, headers);
  made->elf.e_shstrndx = 1;
  memcpy(made->bytes, names, sizeof names);
  add_section(made, ".shstrtab", SHT_STRTAB, names, sizeof names, 0);
  return made;
}

static enum cc_status read_made(struct made *made) {
  char error[256];
  const enum cc_status status = read_bytes(made, offsetof(struct made, bytes) + made->used, error);
  free(made);
  return status;
}

/* Symbols whose names start at successive characters of one string, which may lack a terminator. */
static enum cc_status read_symbols(bool terminated, unsigned char info) {
  enum { TEXT = 4 << 20, SYMBOLS = 300000 };
  struct made *made = make_begin();
  char *text = malloc(TEXT);
  Elf64_Sym *symbols = calloc(SYMBOLS, sizeof *symbols);
  assert_true(text && symbols);
  memset(text, 'a', TEXT);
  text[TEXT - 1] = terminated ? 0 : 'a';
  for (uint32_t i = 1; i < SYMBOLS; i++)
    symbols[i] = (Elf64_Sym){.st_name = i, .st_info = info};
  add_section(made, ".strtab", SHT_STRTAB, text, TEXT, 0);
  add_section(made, ".symtab", SHT_SYMTAB, symbols, SYMBOLS * sizeof *symbols, sizeof *symbols);
  free(text);
  free(symbols);
  return read_made(made);
}

/* A unit of the line table with a long folder name and many files in that folder. */
static enum cc_status read_many_files(void) {
  enum { FOLDER = 1 << 20, FILES = 300000, HEAD = 10, LENGTHS = 12 };
  struct made *made = make_begin();
  const size_t most = HEAD + 16 + LENGTHS + FOLDER + 2 + FILES * 5 + 1;
  unsigned char *unit = calloc(1, most), *at = unit + HEAD;
  const Elf64_Sym none = {0};
  assert_non_null(unit);
  unit[4] = 2; /* version */
  *at++ = 1;
  *at++ = 1;
  *at++ = 0;
  *at++ = 1; /* range */
  *at++ = LENGTHS + 1;
  at += LENGTHS;
  memset(at, 'f', FOLDER);
  at += FOLDER + 2;
  for (int i = 0; i < FILES; i++, at += 5) {
    at[0] = 'n';
    at[2] = 1; /* of the folder */
  }
  at++;
  const uint32_t bytes = (uint32_t)(at - unit - 4), header = bytes - 6;
  memcpy(unit, &bytes, sizeof bytes);
  memcpy(unit + 6, &header, sizeof header);
  add_section(made, ".symtab", SHT_SYMTAB, &none, sizeof none, sizeof none);
  add_section(made, ".debug_line", SHT_PROGBITS, unit, (size_t)(at - unit), 0);
  free(unit);
  return read_made(made);
}

/* A line program that advances past the largest line must not cause undefined behaviour. */
static void test_ignores_line_number_overflow(void **state) {
  static const unsigned char unit[] = {
      37, 0,    0,    0,             /* number of bytes after this word */
      2,  0,    19,   0,    0,    0, /* version, number of header bytes after this word */
      1,  1,    1,    1,    13,      /* line base 1, line range 1, opcode base 13 */
      0,  1,    1,    1,    1,    0,    0,    0,    1,    0,    0,
      1,  0,    0, /* lengths, no folders, no files */
      3,  0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, /* ADVANCE_LINE to INT64_MAX */
      13, /* a special opcode: advances by one line */
  };
  struct made *made = make_begin();
  const Elf64_Sym none = {0};
  (void)state;
  add_section(made, ".symtab", SHT_SYMTAB, &none, sizeof none, sizeof none);
  add_section(made, ".debug_line", SHT_PROGBITS, unit, sizeof unit, 0);
  assert_int_equal(read_made(made), CC_OK);
}

/* Quadratic algorithms would need minutes and tens of gigabytes. */
static void test_takes_linear_time(void **state) {
  enum { SECONDS = 20 };
  struct rlimit before, limit;
  (void)state;
  const clock_t begin = clock();
  assert_int_equal(read_symbols(true, 0), CC_OK);
  assert_int_equal(read_symbols(false, 0), CC_INVALID_BINARY);
  assert_int_equal(read_symbols(true, STT_FUNC), CC_INVALID_BINARY);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their shadow counts */
  assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
  limit = before;
  limit.rlim_cur = (rlim_t)1 << 30;
  assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
  assert_int_equal(read_many_files(), CC_OK);
  assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
#else
  (void)before, (void)limit;
  assert_int_equal(read_many_files(), CC_OK);
#endif
  assert_true((clock() - begin) / CLOCKS_PER_SEC < SECONDS);
}

/* Section headers that all refer to the same part of the file. */
static void test_refuses_overlapping_sections(void **state) {
  (void)state;
  char error[256];
  struct made *made = make_begin();
  const Elf64_Sym none = {0};
  add_section(made, ".symtab", SHT_SYMTAB, &none, sizeof none, sizeof none);
  assert_int_equal(read_bytes(made, offsetof(struct made, bytes) + made->used, error), CC_OK);
  for (; made->elf.e_shnum < SECTIONS; made->elf.e_shnum++)
    made->headers[made->elf.e_shnum] = (Elf64_Shdr){
        .sh_type = SHT_PROGBITS, .sh_size = offsetof(struct made, bytes) / 2, .sh_name = 1};
  assert_int_equal(read_bytes(made, offsetof(struct made, bytes) + made->used, error),
                   CC_INVALID_BINARY);
  assert_non_null(strstr(error, "overlap"));
  free(made);
}

static void test_refuses_unknown_relocation(void **state) {
  (void)state;
  struct cubin_file file = cubin_file_read("sample-13.0.cubin");
  assert_non_null(file.bytes);
  Elf64_Ehdr header;
  memcpy(&header, file.bytes, sizeof(header));
  bool changed = false;
  for (unsigned i = 0; i < header.e_shnum && !changed; i++) {
    Elf64_Shdr section;
    memcpy(&section, file.bytes + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_REL)
      continue;
    file.bytes[section.sh_offset + offsetof(Elf64_Rel, r_info)] = 64;
    changed = true;
  }
  assert_true(changed);
  char error[256] = "";
  assert_int_equal(read_bytes(file.bytes, file.size, error), CC_INVALID_BINARY);
  assert_non_null(strstr(error, "64"));
  free(file.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_all_cuda_versions),
      cmocka_unit_test(test_reads_required_work_group_size),
      cmocka_unit_test(test_relocates_initial_values),
      cmocka_unit_test(test_relocates_instructions),
      cmocka_unit_test(test_reads_line_table),
      cmocka_unit_test(test_libelf_agrees),
      cmocka_unit_test(test_refuses_unsupported_files),
      cmocka_unit_test(test_refuses_truncated_files),
      cmocka_unit_test(test_refuses_unknown_relocation),
      cmocka_unit_test(test_ignores_line_number_overflow),
      cmocka_unit_test(test_takes_linear_time),
      cmocka_unit_test(test_refuses_overlapping_sections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
