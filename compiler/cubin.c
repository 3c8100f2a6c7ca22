/* The CUBIN reader. Three passes: sections (which of them become GPU memory and
 * which describe a kernel), symbols (kernels), then attributes and relocations.
 * Every number from the file is checked where it is read.
 */
#include "compiler/cubin.h"

#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cubin_format.h"

#define NONE MODULE_NO_SECTION

/* What one ELF section is to us. */
struct section {
  Elf64_Shdr header;
  const char *name;
  uint32_t module; /* number in module_code.sections, or NONE */
  /* Of a .text section: the other sections of the same kernel, or 0. */
  uint32_t info, constant0, constant2, shared;
  uint32_t kernel; /* of a .text section: number of its kernel, or NONE */
};

/* What .nv.info says about one symbol. */
struct symbol_facts {
  uint32_t registers;
  uint32_t frame_bytes;
  uint32_t stack_bytes;
};

struct reader {
  const unsigned char *data;
  uint64_t size;
  struct arena *arena;
  struct module_code *code;
  char *error;
  size_t error_size;
  enum cc_status status;

  bool abi_7;
  struct section *sections;
  uint32_t section_count;
  uint32_t symtab; /* section number */
  uint32_t symbol_count;
  struct symbol_facts *facts; /* one for each symbol */

  struct module_section *module_sections;
  struct module_reloc *relocs;
  struct kernel_code *kernels;
};

__attribute__((format(printf, 3, 4))) static bool refuse(struct reader *r, enum cc_status status,
                                                         const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (r->error_size)
    vsnprintf(r->error, r->error_size, format, arguments);
  va_end(arguments);
  r->status = status;
  return false;
}

static bool no_memory(struct reader *r) {
  return refuse(r, CC_OUT_OF_MEMORY, "out of memory while reading a CUBIN of %llu bytes",
                (unsigned long long)r->size);
}

static uint16_t read16(const unsigned char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static uint32_t read32(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static uint64_t read64(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static bool in_file(const struct reader *r, uint64_t offset, uint64_t size) {
  return offset <= r->size && size <= r->size - offset;
}

/* The part of name behind prefix, or NULL. */
static const char *behind(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static bool no_bits(const Elf64_Shdr *header) {
  return header->sh_type == SHT_NOBITS || header->sh_type == CUBIN_SHT_GLOBAL ||
         header->sh_type == CUBIN_SHT_SHARED;
}

/* A NUL-terminated string of a string table, or NULL. */
static const char *string_at(const struct reader *r, uint32_t table, uint32_t offset) {
  if (table >= r->section_count)
    return NULL;
  const Elf64_Shdr *header = &r->sections[table].header;
  if (header->sh_type != SHT_STRTAB || offset >= header->sh_size)
    return NULL;
  const char *text = (const char *)r->data + header->sh_offset + offset;
  return memchr(text, 0, header->sh_size - offset) ? text : NULL;
}

static bool read_header(struct reader *r, Elf64_Ehdr *header) {
  if (!in_file(r, 0, sizeof(*header)) || !cubin_is_elf(r->data, r->size))
    return refuse(r, CC_INVALID_BINARY, "not a CUBIN: no ELF header in %llu bytes",
                  (unsigned long long)r->size);
  memcpy(header, r->data, sizeof(*header));
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != CUBIN_MACHINE)
    return refuse(r, CC_INVALID_BINARY, "not a CUBIN: an ELF file for machine %u",
                  header->e_machine);
  unsigned osabi = header->e_ident[EI_OSABI];
  unsigned abi = header->e_ident[EI_ABIVERSION];
  unsigned sm;
  if (osabi == CUBIN_OSABI_8 && abi == CUBIN_ABI_8) {
    sm = (header->e_flags >> CUBIN_ABI_8_SM_SHIFT) & CUBIN_SM_MASK;
  } else if (osabi == CUBIN_OSABI_7 && abi == CUBIN_ABI_7) {
    sm = header->e_flags & CUBIN_SM_MASK;
    r->abi_7 = true;
  } else {
    return refuse(r, CC_INVALID_BINARY, "a CUBIN of unknown ABI 0x%x, version %u", osabi, abi);
  }
  if (sm != 87 && sm != 86 && sm != 80)
    return refuse(r, CC_WRONG_DEVICE, "a CUBIN for sm_%u; this device runs sm_80, sm_86 and sm_87",
                  sm);
  if (header->e_type != ET_EXEC)
    return refuse(r, CC_INVALID_BINARY,
                  "a relocatable CUBIN (type %u); link it to an executable one first",
                  header->e_type);
  return true;
}

static bool read_section_headers(struct reader *r, const Elf64_Ehdr *elf) {
  r->section_count = elf->e_shnum;
  if (r->section_count == 0 || elf->e_shentsize != sizeof(Elf64_Shdr) ||
      !in_file(r, elf->e_shoff, (uint64_t)r->section_count * sizeof(Elf64_Shdr)))
    return refuse(r, CC_INVALID_BINARY, "truncated CUBIN: its section table is outside the file");
  r->sections = arena_alloc(r->arena, r->section_count, sizeof(*r->sections));
  if (!r->sections)
    return no_memory(r);
  for (uint32_t i = 0; i < r->section_count; i++) {
    struct section *s = &r->sections[i];
    memcpy(&s->header, r->data + elf->e_shoff + (uint64_t)i * sizeof(s->header), sizeof(s->header));
    s->module = NONE;
    s->kernel = NONE;
    if (s->header.sh_type == SHT_NULL) {
      s->header.sh_size = 0;
      continue;
    }
    if (!no_bits(&s->header) && !in_file(r, s->header.sh_offset, s->header.sh_size))
      return refuse(r, CC_INVALID_BINARY, "truncated CUBIN: section %u is outside the file", i);
    if (s->header.sh_size > CUBIN_MAX_SECTION)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: section %u is too large", i);
    if (s->header.sh_type == SHT_SYMTAB) {
      if (r->symtab)
        return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: two symbol tables");
      r->symtab = i;
    }
  }
  for (uint32_t i = 0; i < r->section_count; i++) {
    r->sections[i].name = "";
    if (r->sections[i].header.sh_type == SHT_NULL)
      continue;
    r->sections[i].name = string_at(r, elf->e_shstrndx, r->sections[i].header.sh_name);
    if (!r->sections[i].name)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: section %u has no name", i);
  }
  if (!r->symtab || r->sections[r->symtab].header.sh_entsize != sizeof(Elf64_Sym))
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: no symbol table");
  uint64_t count = r->sections[r->symtab].header.sh_size / sizeof(Elf64_Sym);
  r->symbol_count = (uint32_t)count;
  r->facts = arena_alloc(r->arena, r->symbol_count, sizeof(*r->facts));
  return r->facts ? true : no_memory(r);
}

/* Which section becomes memory of which kind; false: none. */
static bool module_kind(const struct section *s, enum module_section_kind *kind) {
  if (behind(s->name, ".text."))
    *kind = MODULE_TEXT;
  else if (strcmp(s->name, ".nv.global") == 0 || strcmp(s->name, ".nv.global.init") == 0)
    *kind = MODULE_GLOBAL;
  else if (behind(s->name, ".nv.constant2"))
    *kind = MODULE_BANK2;
  else if (strcmp(s->name, ".nv.constant3") == 0)
    *kind = MODULE_BANK3;
  else if (strcmp(s->name, ".nv.constant4") == 0)
    *kind = MODULE_BANK4;
  else
    return false;
  return true;
}

static bool add_module_section(struct reader *r, struct section *s, enum module_section_kind kind) {
  const Elf64_Shdr *header = &s->header;
  uint64_t align = header->sh_addralign ? header->sh_addralign : 1;
  if ((align & (align - 1)) || align > CUBIN_MAX_ALIGN)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: section %s is aligned to %llu", s->name,
                  (unsigned long long)align);
  bool bank = kind == MODULE_BANK2 || kind == MODULE_BANK3 || kind == MODULE_BANK4;
  if (bank && header->sh_size > CUBIN_BANK_BYTES)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: constant bank %s has %llu bytes", s->name,
                  (unsigned long long)header->sh_size);
  if (kind == MODULE_TEXT && (no_bits(header) || header->sh_size % CUBIN_INSN_BYTES))
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: code section %s has a broken size",
                  s->name);
  uint32_t *one = kind == MODULE_BANK3   ? &r->code->bank3
                  : kind == MODULE_BANK4 ? &r->code->bank4
                                         : NULL;
  if (one && *one != NONE)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: two sections %s", s->name);
  s->module = r->code->section_count++;
  if (one)
    *one = s->module;
  r->module_sections[s->module] = (struct module_section){
      .kind = kind,
      .size = header->sh_size,
      .align = align,
      .data = no_bits(header) ? NULL : r->data + header->sh_offset,
  };
  return true;
}

/* Ties a section that describes or serves one kernel to its .text section. */
static bool tie_to_text(struct reader *r, uint32_t number) {
  struct section *s = &r->sections[number];
  size_t member;
  if (behind(s->name, ".nv.info."))
    member = offsetof(struct section, info);
  else if (behind(s->name, ".nv.constant0"))
    member = offsetof(struct section, constant0);
  else if (behind(s->name, ".nv.constant2"))
    member = offsetof(struct section, constant2);
  else if (behind(s->name, ".nv.shared."))
    member = offsetof(struct section, shared);
  else
    return true;
  uint32_t text = s->header.sh_info;
  if (member == offsetof(struct section, info) && s->header.sh_type != CUBIN_SHT_INFO)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: section %s has type 0x%x", s->name,
                  s->header.sh_type);
  if (text >= r->section_count || !behind(r->sections[text].name, ".text."))
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: section %s belongs to no code", s->name);
  uint32_t *place = (uint32_t *)((char *)&r->sections[text] + member);
  if (*place)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: sections %s and %s are of the same code",
                  s->name, r->sections[*place].name);
  *place = number;
  return true;
}

static bool sort_sections(struct reader *r) {
  r->module_sections = arena_alloc(r->arena, r->section_count, sizeof(*r->module_sections));
  if (!r->module_sections)
    return no_memory(r);
  for (uint32_t i = 1; i < r->section_count; i++) {
    struct section *s = &r->sections[i];
    enum module_section_kind kind;
    if (module_kind(s, &kind) && !add_module_section(r, s, kind))
      return false;
    if (!tie_to_text(r, i))
      return false;
  }
  r->code->sections = r->module_sections;
  return true;
}

static bool read_symbol(struct reader *r, uint32_t number, Elf64_Sym *symbol, const char **name) {
  if (number >= r->symbol_count)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: symbol %u of %u", number, r->symbol_count);
  const Elf64_Shdr *table = &r->sections[r->symtab].header;
  memcpy(symbol, r->data + table->sh_offset + (uint64_t)number * sizeof(*symbol), sizeof(*symbol));
  *name = string_at(r, table->sh_link, symbol->st_name);
  if (!*name)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: symbol %u has no name", number);
  return true;
}

/* ---- attributes ---------------------------------------------------------- */

struct record {
  unsigned format, code;
  uint32_t value;               /* of formats BYTE and HALF */
  const unsigned char *payload; /* of format SIZED */
  uint32_t size;
};

/* Takes the next record off [*at, end). False at the end and on damage (then
 * r->status is set). */
static bool next_record(struct reader *r, const char *section, const unsigned char **at,
                        const unsigned char *end, struct record *record) {
  enum { HEAD = 4 };
  if (*at == end)
    return false;
  if (end - *at < HEAD)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: %s ends inside a record", section);
  *record = (struct record){.format = (*at)[0], .code = (*at)[1]};
  uint16_t half = read16(*at + 2);
  *at += HEAD;
  switch (record->format) {
  case EIFMT_NONE:
    return true;
  case EIFMT_BYTE:
    record->value = half & 0xff;
    return true;
  case EIFMT_HALF:
    record->value = half;
    return true;
  case EIFMT_SIZED:
    if (end - *at < half)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: %s ends inside attribute 0x%x", section,
                    record->code);
    record->payload = *at;
    record->size = half;
    *at += half;
    return true;
  default:
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: %s has a record of unknown format %u",
                  section, record->format);
  }
}

/* A sized record of at least size bytes. */
static bool check_record(struct reader *r, const char *section, const struct record *record,
                         uint32_t size) {
  if (record->format == EIFMT_SIZED && record->size >= size)
    return true;
  return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: attribute 0x%x in %s is too short",
                record->code, section);
}

/* .nv.info: registers, frames and stacks by symbol. */
static bool read_module_info(struct reader *r, const struct section *s) {
  const unsigned char *at = r->data + s->header.sh_offset;
  const unsigned char *end = at + s->header.sh_size;
  struct record record = {0};
  while (next_record(r, s->name, &at, end, &record)) {
    if (record.code != EIATTR_REGCOUNT && record.code != EIATTR_FRAME_SIZE &&
        record.code != EIATTR_MIN_STACK_SIZE)
      continue;
    if (!check_record(r, s->name, &record, 2 * sizeof(uint32_t)))
      return false;
    uint32_t symbol = read32(record.payload);
    uint32_t value = read32(record.payload + sizeof(uint32_t));
    if (symbol >= r->symbol_count)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: attribute 0x%x of symbol %u of %u",
                    record.code, symbol, r->symbol_count);
    if (record.code == EIATTR_REGCOUNT)
      r->facts[symbol].registers = value;
    else if (record.code == EIATTR_FRAME_SIZE)
      r->facts[symbol].frame_bytes = value;
    else
      r->facts[symbol].stack_bytes = value;
  }
  return r->status == CC_OK;
}

static bool read_product(struct reader *r, const char *section, const struct record *record,
                         uint32_t dimensions[3], uint32_t *product) {
  if (!check_record(r, section, record, 3 * sizeof(uint32_t)))
    return false;
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    dimensions[i] = read32(record->payload + sizeof(uint32_t) * (size_t)i);
    if (dimensions[i] == 0 || __builtin_mul_overflow(threads, dimensions[i], &threads) ||
        threads > UINT32_MAX)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: impossible block size in %s", section);
  }
  *product = (uint32_t)threads;
  return true;
}

/* Counts the arguments of a kernel and finds where its parameters are. */
static bool read_kernel_info(struct reader *r, const struct section *s,
                             struct kernel_code *kernel) {
  const unsigned char *at = r->data + s->header.sh_offset;
  const unsigned char *end = at + s->header.sh_size;
  struct record record = {0};
  uint32_t unused[3];
  while (next_record(r, s->name, &at, end, &record)) {
    switch (record.code) {
    case EIATTR_PARAM_CBANK:
      if (!check_record(r, s->name, &record, 8))
        return false;
      kernel->param_offset = read16(record.payload + 4);
      kernel->param_bytes = read16(record.payload + 6);
      break;
    case EIATTR_KPARAM_INFO:
    case EIATTR_KPARAM_INFO_V2:
      if (!check_record(r, s->name, &record, CUBIN_KPARAM_BYTES))
        return false;
      kernel->arg_count++;
      break;
    case EIATTR_NUM_BARRIERS:
      kernel->barriers = record.value;
      break;
    case EIATTR_MAX_THREADS:
      if (!read_product(r, s->name, &record, unused, &kernel->max_threads))
        return false;
      break;
    case EIATTR_REQNTID: {
      uint32_t threads;
      if (!read_product(r, s->name, &record, kernel->required_block, &threads))
        return false;
      break;
    }
    case EIATTR_CRS_STACK_SIZE:
      if (!check_record(r, s->name, &record, sizeof(uint32_t)))
        return false;
      if (read32(record.payload) == CUBIN_STACK_UNKNOWN)
        kernel->frame_unknown = 1;
      break;
    case EIATTR_EXTERNS: {
      if (!check_record(r, s->name, &record, sizeof(uint32_t)))
        return false;
      Elf64_Sym symbol;
      const char *name;
      if (!read_symbol(r, read32(record.payload), &symbol, &name))
        return false;
      return refuse(r, CC_INVALID_BINARY, "kernel %s calls %s, which this CUBIN does not define",
                    kernel->name, name);
    }
    default:
      break;
    }
  }
  return r->status == CC_OK;
}

/* Second walk over the same records: the arguments themselves. */
static bool read_arguments(struct reader *r, const struct section *s, struct kernel_code *kernel) {
  struct kernel_arg *args = arena_alloc(r->arena, kernel->arg_count, sizeof(*args));
  unsigned char *seen = arena_alloc(r->arena, kernel->arg_count, 1);
  if (!args || !seen)
    return no_memory(r);
  const unsigned char *at = r->data + s->header.sh_offset;
  const unsigned char *end = at + s->header.sh_size;
  struct record record = {0};
  while (next_record(r, s->name, &at, end, &record)) {
    if (record.code != EIATTR_KPARAM_INFO && record.code != EIATTR_KPARAM_INFO_V2)
      continue;
    uint32_t ordinal = read16(record.payload + 4);
    uint32_t offset = read16(record.payload + 6);
    uint32_t size = read32(record.payload + 8);
    if (record.code == EIATTR_KPARAM_INFO)
      size >>= CUBIN_KPARAM_SIZE_SHIFT;
    if (ordinal >= kernel->arg_count || seen[ordinal] || size == 0 ||
        offset > kernel->param_bytes || size > kernel->param_bytes - offset)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: argument %u of kernel %s is impossible",
                    ordinal, kernel->name);
    seen[ordinal] = 1;
    args[ordinal] = (struct kernel_arg){
        .name = "",
        .type_name = "",
        .kind = KERNEL_ARG_VALUE,
        .access = KERNEL_ARG_ACCESS_NONE,
        .offset = offset,
        .size = size,
    };
  }
  kernel->args = args;
  return r->status == CC_OK;
}

/* ---- kernels ------------------------------------------------------------- */

/* Whether a helper function of kernel's code may need more stack than ptxas
 * counted. ptxas marks recursion and indirect calls in debugging output, and up
 * to 12.x in all; 13.0 counts each function once in optimised output and leaves
 * no mark, so any function with a frame counts here unless it is one of ptxas's
 * own helpers. */
static bool helper_needs_stack(const char *name, const struct symbol_facts *facts) {
  return facts->frame_bytes > 0 && !strstr(name, "$__internal_") && !strstr(name, "$__cuda_");
}

static bool add_kernel(struct reader *r, uint32_t number, const Elf64_Sym *symbol,
                       const char *name) {
  if (symbol->st_shndx >= r->section_count || r->sections[symbol->st_shndx].module == NONE ||
      r->module_sections[r->sections[symbol->st_shndx].module].kind != MODULE_TEXT)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: kernel %s has no code", name);
  struct section *text = &r->sections[symbol->st_shndx];
  if (text->kernel != NONE)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: two kernels in section %s", text->name);
  if (symbol->st_value >= text->header.sh_size || symbol->st_value % CUBIN_INSN_BYTES)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: kernel %s starts outside its code", name);
  text->kernel = r->code->kernel_count++;
  struct kernel_code *kernel = &r->kernels[text->kernel];
  const struct symbol_facts *facts = &r->facts[number];
  *kernel = (struct kernel_code){
      .name = name,
      .text = text->module,
      .entry = (uint32_t)symbol->st_value,
      .registers =
          facts->registers ? facts->registers : text->header.sh_info >> CUBIN_TEXT_REGISTERS_SHIFT,
      .stack_bytes = facts->stack_bytes,
      .param_offset = CUBIN_PARAM_BASE,
      .hidden_offset = UINT32_MAX,
      .bank2 = text->constant2 ? r->sections[text->constant2].module : NONE,
      .attributes = "",
      .args = NULL,
  };
  if (r->abi_7)
    kernel->barriers =
        (text->header.sh_flags >> CUBIN_TEXT_BARRIERS_SHIFT) & CUBIN_TEXT_BARRIERS_MASK;
  if (kernel->stack_bytes == CUBIN_STACK_UNKNOWN) {
    kernel->stack_bytes = facts->frame_bytes;
    kernel->frame_unknown = 1;
  }
  if (!text->info)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: no attributes for kernel %s", name);
  if (!read_kernel_info(r, &r->sections[text->info], kernel))
    return false;
  if (kernel->registers == 0 || kernel->registers > CUBIN_MAX_REGISTERS ||
      kernel->barriers > CUBIN_MAX_BARRIERS || kernel->stack_bytes > CUBIN_MAX_STACK)
    return refuse(
        r, CC_INVALID_BINARY,
        "damaged CUBIN: kernel %s wants %u registers, %u barriers and a stack of %u bytes", name,
        kernel->registers, kernel->barriers, kernel->stack_bytes);
  uint32_t bank0 = kernel->param_offset + kernel->param_bytes;
  uint64_t image = text->constant0 ? r->sections[text->constant0].header.sh_size : bank0;
  if (image < bank0 || image > CUBIN_BANK_BYTES)
    return refuse(r, CC_INVALID_BINARY,
                  "damaged CUBIN: the parameters of kernel %s do not fit its constant bank", name);
  kernel->bank0_bytes = (uint32_t)image;
  uint64_t shared = text->shared ? r->sections[text->shared].header.sh_size : 0;
  if (shared > CUBIN_MAX_SHARED)
    return refuse(r, CC_INVALID_BINARY,
                  "damaged CUBIN: kernel %s wants %llu bytes of shared memory", name,
                  (unsigned long long)shared);
  kernel->shared_bytes = (uint32_t)shared;
  return read_arguments(r, &r->sections[text->info], kernel);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_unique(struct reader *r) {
  uint32_t count = r->code->kernel_count;
  const char **names = arena_alloc(r->arena, count, sizeof(*names));
  if (!names)
    return no_memory(r);
  for (uint32_t i = 0; i < count; i++)
    names[i] = r->kernels[i].name;
  qsort(names, count, sizeof(*names), compare_names);
  for (uint32_t i = 1; i < count; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: two kernels named %s", names[i]);
  return true;
}

static bool read_kernels(struct reader *r) {
  /* At most one kernel for each section. */
  r->kernels = arena_alloc(r->arena, r->section_count, sizeof(*r->kernels));
  if (!r->kernels)
    return no_memory(r);
  Elf64_Sym symbol;
  const char *name;
  for (uint32_t i = 0; i < r->symbol_count; i++) {
    if (!read_symbol(r, i, &symbol, &name))
      return false;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & CUBIN_STO_ENTRY))
      continue;
    if (!*name)
      return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: a kernel without a name");
    if (!add_kernel(r, i, &symbol, name))
      return false;
  }
  for (uint32_t i = 0; i < r->symbol_count; i++) {
    if (!read_symbol(r, i, &symbol, &name))
      return false;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || (symbol.st_other & CUBIN_STO_ENTRY) ||
        symbol.st_shndx >= r->section_count)
      continue;
    uint32_t kernel = r->sections[symbol.st_shndx].kernel;
    if (kernel != NONE && helper_needs_stack(name, &r->facts[i]))
      r->kernels[kernel].frame_unknown = 1;
  }
  r->code->kernels = r->kernels;
  return check_unique(r);
}

/* ---- relocations --------------------------------------------------------- */

struct reloc_form {
  uint32_t type; /* R_CUDA_* */
  enum module_reloc_kind kind;
  uint32_t bytes; /* of the place that is patched */
};

static const struct reloc_form reloc_forms[] = {
    {R_CUDA_32, MODULE_RELOC_ABS32, 4},
    {R_CUDA_64, MODULE_RELOC_ABS64, 8},
    {R_CUDA_G32, MODULE_RELOC_ABS32, 4},
    {R_CUDA_G64, MODULE_RELOC_ABS64, 8},
    {R_CUDA_ABS32_LO_32, MODULE_RELOC_LO32_32, CUBIN_INSN_BYTES},
    {R_CUDA_ABS32_HI_32, MODULE_RELOC_HI32_32, CUBIN_INSN_BYTES},
    {R_CUDA_ABS47_34, MODULE_RELOC_ABS47_34, CUBIN_INSN_BYTES},
};

static bool reloc_is_hint(uint32_t type) {
  return type == R_CUDA_NONE || type == R_CUDA_YIELD_OPCODE9_0 ||
         type == R_CUDA_YIELD_CLEAR_PRED4_87 || type == R_CUDA_UNUSED_CLEAR32 ||
         type == R_CUDA_UNUSED_CLEAR64;
}

/* The addend that a REL relocation keeps in the place it patches. */
static int64_t addend_in_place(const unsigned char *place, enum module_reloc_kind kind) {
  switch (kind) {
  case MODULE_RELOC_ABS32:
    return (int32_t)read32(place);
  case MODULE_RELOC_ABS64:
    return (int64_t)read64(place);
  case MODULE_RELOC_LO32_32:
  case MODULE_RELOC_HI32_32:
    return (int32_t)read32(place + 4);
  case MODULE_RELOC_ABS47_34: {
    uint64_t field = read64(place) >> 34 | (read64(place + 8) & 0x1ffff) << 30;
    return (int64_t)(field << 17) >> 15; /* 47 bits, signed, times 4 */
  }
  }
  return 0;
}

static bool add_reloc(struct reader *r, const struct section *s, const Elf64_Rela *entry,
                      bool explicit_addend) {
  uint32_t type = (uint32_t)ELF64_R_TYPE(entry->r_info);
  if (reloc_is_hint(type))
    return true;
  const struct reloc_form *form = NULL;
  for (size_t i = 0; i < sizeof(reloc_forms) / sizeof(reloc_forms[0]); i++)
    if (reloc_forms[i].type == type)
      form = &reloc_forms[i];
  if (!form)
    return refuse(r, CC_INVALID_BINARY, "section %s has a relocation of unsupported type %u",
                  s->name, type);
  const struct section *place = &r->sections[s->header.sh_info];
  const struct module_section *patched = &r->module_sections[place->module];
  bool instruction = form->bytes == CUBIN_INSN_BYTES;
  if (!patched->data || entry->r_offset > patched->size ||
      patched->size - entry->r_offset < form->bytes ||
      (instruction && (patched->kind != MODULE_TEXT || entry->r_offset % CUBIN_INSN_BYTES != 0)))
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: a relocation outside section %s",
                  place->name);
  Elf64_Sym symbol;
  const char *name;
  if (!read_symbol(r, (uint32_t)ELF64_R_SYM(entry->r_info), &symbol, &name))
    return false;
  if (symbol.st_shndx == SHN_UNDEF)
    return refuse(r, CC_INVALID_BINARY, "the CUBIN uses %s, which it does not define", name);
  if (symbol.st_shndx >= r->section_count || r->sections[symbol.st_shndx].module == NONE)
    return refuse(r, CC_INVALID_BINARY, "the CUBIN takes the address of %s, which has none", name);
  const struct section *target = &r->sections[symbol.st_shndx];
  if (symbol.st_value > target->header.sh_size)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: symbol %s lies outside section %s", name,
                  target->name);
  int64_t addend =
      explicit_addend
          ? entry->r_addend
          : addend_in_place((const unsigned char *)patched->data + entry->r_offset, form->kind);
  r->relocs[r->code->reloc_count++] = (struct module_reloc){
      .section = place->module,
      .target = target->module,
      .offset = entry->r_offset,
      .value = (int64_t)(symbol.st_value + (uint64_t)addend),
      .kind = form->kind,
  };
  return true;
}

static bool is_reloc_section(const struct section *s) {
  return s->header.sh_type == SHT_REL || s->header.sh_type == SHT_RELA;
}

/* Relocations of sections that are not loaded (debugging) do not matter. */
static bool reloc_section_matters(struct reader *r, const struct section *s, bool *matters) {
  *matters = false;
  if (!is_reloc_section(s))
    return true;
  if (s->header.sh_info >= r->section_count)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: section %s relocates section %u of %u",
                  s->name, s->header.sh_info, r->section_count);
  const struct section *place = &r->sections[s->header.sh_info];
  *matters = place->module != NONE;
  if (!*matters && (place->header.sh_flags & SHF_ALLOC) && s->header.sh_size > 0)
    return refuse(r, CC_INVALID_BINARY, "relocations of section %s are not supported", place->name);
  return true;
}

static uint64_t reloc_entry_bytes(const struct section *s) {
  return s->header.sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
}

static bool read_relocs(struct reader *r) {
  uint64_t count = 0;
  bool matters;
  for (uint32_t i = 1; i < r->section_count; i++) {
    if (!reloc_section_matters(r, &r->sections[i], &matters))
      return false;
    if (matters)
      count += r->sections[i].header.sh_size / reloc_entry_bytes(&r->sections[i]);
  }
  /* Sections may overlap in a hostile file, so the count is not bounded by its
   * size; no sound module comes near this. */
  enum { MAX_RELOCS = 1 << 24 };
  if (count > MAX_RELOCS)
    return refuse(r, CC_INVALID_BINARY, "damaged CUBIN: %llu relocations",
                  (unsigned long long)count);
  r->relocs = arena_alloc(r->arena, (size_t)count, sizeof(*r->relocs));
  if (!r->relocs)
    return no_memory(r);
  for (uint32_t i = 1; i < r->section_count; i++) {
    const struct section *s = &r->sections[i];
    if (!reloc_section_matters(r, s, &matters))
      return false;
    uint64_t bytes = reloc_entry_bytes(s);
    for (uint64_t at = 0; matters && s->header.sh_size - at >= bytes; at += bytes) {
      Elf64_Rela entry = {0};
      memcpy(&entry, r->data + s->header.sh_offset + at, bytes);
      if (!add_reloc(r, s, &entry, s->header.sh_type == SHT_RELA))
        return false;
    }
  }
  r->code->relocs = r->relocs;
  return true;
}

static bool read_all(struct reader *r) {
  Elf64_Ehdr header;
  if (!read_header(r, &header) || !read_section_headers(r, &header) || !sort_sections(r))
    return false;
  for (uint32_t i = 1; i < r->section_count; i++) {
    const struct section *s = &r->sections[i];
    if (s->header.sh_type == CUBIN_SHT_INFO && strcmp(s->name, ".nv.info") == 0 &&
        !read_module_info(r, s))
      return false;
  }
  return read_kernels(r) && read_relocs(r);
}

bool cubin_is_elf(const void *data, size_t size) {
  return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

enum cc_status cubin_read(const void *data, size_t size, struct arena *arena,
                          struct module_code *code, char *error, size_t error_size) {
  *code = (struct module_code){.bank3 = NONE, .bank4 = NONE, .cubin_bytes = size};
  if (error_size)
    error[0] = 0;
  struct reader r = {
      .data = data,
      .size = size,
      .arena = arena,
      .code = code,
      .error = error,
      .error_size = error_size,
      .status = CC_OK,
  };
  read_all(&r);
  return r.status;
}
