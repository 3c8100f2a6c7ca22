/* Reads a CUBIN's ELF header, symbols, and sections, which become GPU memory or describe kernels.
 * Every number from the file is checked where it is read. */
#include "gpu/cubin/cubin.h"

#include <stdarg.h>
#include <stdio.h>

#include "gpu/cubin/cubin_reader.h"

void cubin_fail(struct cubin *r, enum cubin_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (r->error_size)
    vsnprintf(r->error, r->error_size, format, arguments);
  va_end(arguments);
  r->status = status;
}

bool cubin_no_memory(struct cubin *r) {
  return cubin_refuse(r, CUBIN_OUT_OF_MEMORY, "out of memory while reading a CUBIN of %llu bytes",
                      (unsigned long long)r->size);
}

static bool in_file(const struct cubin *r, uint64_t offset, uint64_t size) {
  return offset <= r->size && size <= r->size - offset;
}

const char *cubin_after_prefix(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static bool has_no_bytes(const Elf64_Shdr *header) {
  return header->sh_type == SHT_NOBITS || header->sh_type == CUBIN_SHT_GLOBAL ||
         header->sh_type == CUBIN_SHT_SHARED;
}

/* Returns a NUL-terminated string of a string table, or NULL. The end of the table's last string is
 * searched for only once; with a search for each string, a table without terminators would take
 * quadratic time. */
static const char *string_at(const struct cubin *r, struct cubin_strings *strings, uint32_t table,
                             uint32_t offset) {
  if (table == 0 || table >= r->section_count || r->sections[table].header.sh_type != SHT_STRTAB)
    return NULL;
  const Elf64_Shdr *header = &r->sections[table].header;
  const char *text = (const char *)r->data + header->sh_offset;
  if (strings->section != table) {
    const char *last = memrchr(text, 0, header->sh_size);
    *strings = (struct cubin_strings){table, last ? (uint64_t)(last - text) + 1 : 0};
  }
  return offset < strings->end ? text + offset : NULL;
}

static bool read_header(struct cubin *r, Elf64_Ehdr *header) {
  if (!in_file(r, 0, sizeof(*header)) || !cubin_is_elf(r->data, r->size))
    return cubin_refuse(r, CUBIN_INVALID, "not a CUBIN: no ELF header (%llu bytes)",
                        (unsigned long long)r->size);
  memcpy(header, r->data, sizeof(*header));
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != CUBIN_MACHINE)
    return cubin_refuse(r, CUBIN_INVALID,
                        "not a CUBIN (nvcc -cubin -arch=sm_87), but an ELF file for machine %u",
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
    return cubin_refuse(r, CUBIN_INVALID, "unsupported CUBIN: unknown ABI 0x%x, version %u", osabi,
                        abi);
  }
  if (sm != 87 && sm != 86 && sm != 80)
    return cubin_refuse(r, CUBIN_WRONG_DEVICE,
                        "unsupported CUBIN for sm_%u; this device runs sm_80, sm_86 and sm_87", sm);
  if (header->e_type != ET_EXEC)
    return cubin_refuse(
        r, CUBIN_INVALID,
        "unsupported relocatable CUBIN (type %u); link it to an executable one first",
        header->e_type);
  return true;
}

static bool read_section_headers(struct cubin *r, const Elf64_Ehdr *elf) {
  r->section_count = elf->e_shnum;
  if (r->section_count == 0 || elf->e_shentsize != sizeof(Elf64_Shdr) ||
      !in_file(r, elf->e_shoff, (uint64_t)r->section_count * sizeof(Elf64_Shdr)))
    return cubin_refuse(r, CUBIN_INVALID, "truncated CUBIN: its section table is outside the file");
  r->sections = arena_alloc(r->arena, r->section_count, sizeof(*r->sections));
  if (!r->sections)
    return cubin_no_memory(r);
  uint64_t bytes = 0; /* total of all sections, because overlapping ones would be read repeatedly */
  for (uint32_t i = 0; i < r->section_count; i++) {
    struct cubin_section *s = &r->sections[i];
    memcpy(&s->header, r->data + elf->e_shoff + (uint64_t)i * sizeof(s->header), sizeof(s->header));
    s->module = NONE;
    s->kernel = NONE;
    if (s->header.sh_type == SHT_NULL) {
      s->header.sh_size = 0;
      continue;
    }
    if (!has_no_bytes(&s->header) && !in_file(r, s->header.sh_offset, s->header.sh_size))
      return cubin_refuse(r, CUBIN_INVALID, "truncated CUBIN: section %u is outside the file", i);
    if (!has_no_bytes(&s->header))
      bytes += s->header.sh_size;
    if (s->header.sh_size > CUBIN_MAX_SECTION)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: section %u is too large", i);
    if (s->header.sh_type == SHT_SYMTAB) {
      if (r->symtab)
        return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: two symbol tables");
      r->symtab = i;
    }
  }
  if (bytes > r->size)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: its sections overlap");
  for (uint32_t i = 0; i < r->section_count; i++) {
    r->sections[i].name = "";
    if (r->sections[i].header.sh_type == SHT_NULL)
      continue;
    r->sections[i].name =
        string_at(r, &r->strings[0], elf->e_shstrndx, r->sections[i].header.sh_name);
    if (!r->sections[i].name)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: section %u has no name", i);
  }
  if (!r->symtab || r->sections[r->symtab].header.sh_entsize != sizeof(Elf64_Sym))
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: no symbol table");
  uint64_t count = r->sections[r->symtab].header.sh_size / sizeof(Elf64_Sym);
  r->symbol_count = (uint32_t)count;
  r->facts = arena_alloc(r->arena, r->symbol_count, sizeof(*r->facts));
  return r->facts ? true : cubin_no_memory(r);
}

/* Sets the kind of GPU memory that a section becomes. Returns false if it is not loaded. */
static bool module_kind(const struct cubin_section *s, enum module_section_kind *kind) {
  if (cubin_after_prefix(s->name, ".text."))
    *kind = MODULE_TEXT;
  else if (strcmp(s->name, ".nv.global") == 0 || strcmp(s->name, ".nv.global.init") == 0)
    *kind = MODULE_GLOBAL;
  else if (cubin_after_prefix(s->name, ".nv.constant2"))
    *kind = MODULE_BANK2;
  else if (strcmp(s->name, ".nv.constant3") == 0)
    *kind = MODULE_BANK3;
  else if (strcmp(s->name, ".nv.constant4") == 0)
    *kind = MODULE_BANK4;
  else
    return false;
  return true;
}

static bool add_module_section(struct cubin *r, struct cubin_section *s,
                               enum module_section_kind kind) {
  const Elf64_Shdr *header = &s->header;
  uint64_t align = header->sh_addralign ? header->sh_addralign : 1;
  if ((align & (align - 1)) || align > CUBIN_MAX_ALIGN)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: section %s has alignment %llu", s->name,
                        (unsigned long long)align);
  bool is_bank = kind == MODULE_BANK2 || kind == MODULE_BANK3 || kind == MODULE_BANK4;
  if (is_bank && header->sh_size > CUBIN_BANK_BYTES)
    return cubin_refuse(r, CUBIN_INVALID,
                        "damaged CUBIN: constant bank %s has %llu bytes; the limit is %u", s->name,
                        (unsigned long long)header->sh_size, (unsigned)CUBIN_BANK_BYTES);
  if (kind == MODULE_TEXT && (has_no_bytes(header) || header->sh_size % CUBIN_INSN_BYTES))
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: code section %s has %llu bytes", s->name,
                        (unsigned long long)header->sh_size);
  s->module = r->code->section_count++;
  if (kind == MODULE_BANK3 || kind == MODULE_BANK4) {
    uint32_t *bank = kind == MODULE_BANK3 ? &r->bank3 : &r->bank4;
    if (*bank != NONE)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: two sections named %s", s->name);
    *bank = s->module;
  }
  r->module_sections[s->module] = (struct module_section){
      .kind = kind,
      .size = header->sh_size,
      .align = align,
      .data = has_no_bytes(header) ? NULL : r->data + header->sh_offset,
  };
  return true;
}

/* Records a section that belongs to one kernel in the kernel's .text section. */
static bool link_to_text(struct cubin *r, uint32_t number) {
  struct cubin_section *s = &r->sections[number];
  size_t member;
  if (cubin_after_prefix(s->name, ".nv.info."))
    member = offsetof(struct cubin_section, info);
  else if (cubin_after_prefix(s->name, ".nv.constant0"))
    member = offsetof(struct cubin_section, constant0);
  else if (cubin_after_prefix(s->name, ".nv.constant2"))
    member = offsetof(struct cubin_section, constant2);
  else if (cubin_after_prefix(s->name, ".nv.shared."))
    member = offsetof(struct cubin_section, shared);
  else
    return true;
  uint32_t text = s->header.sh_info;
  if (member == offsetof(struct cubin_section, info) && s->header.sh_type != CUBIN_SHT_INFO)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: section %s has type 0x%x", s->name,
                        s->header.sh_type);
  if (text >= r->section_count || !cubin_after_prefix(r->sections[text].name, ".text."))
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: section %s does not belong to any code",
                        s->name);
  uint32_t *place = (uint32_t *)((char *)&r->sections[text] + member);
  if (*place)
    return cubin_refuse(r, CUBIN_INVALID,
                        "damaged CUBIN: sections %s and %s belong to the same code", s->name,
                        r->sections[*place].name);
  *place = number;
  return true;
}

static bool classify_sections(struct cubin *r) {
  r->module_sections = arena_alloc(r->arena, r->section_count, sizeof(*r->module_sections));
  if (!r->module_sections)
    return cubin_no_memory(r);
  for (uint32_t i = 1; i < r->section_count; i++) {
    struct cubin_section *s = &r->sections[i];
    enum module_section_kind kind;
    if (module_kind(s, &kind) && !add_module_section(r, s, kind))
      return false;
    if (!link_to_text(r, i))
      return false;
  }
  r->code->sections = r->module_sections;
  return true;
}

bool cubin_read_symbol(struct cubin *r, uint32_t number, Elf64_Sym *symbol, const char **name) {
  if (number >= r->symbol_count)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: symbol index %u, but only %u symbols",
                        number, r->symbol_count);
  const Elf64_Shdr *table = &r->sections[r->symtab].header;
  memcpy(symbol, r->data + table->sh_offset + (uint64_t)number * sizeof(*symbol), sizeof(*symbol));
  *name = string_at(r, &r->strings[1], table->sh_link, symbol->st_name);
  if (!*name)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: symbol %u has no name", number);
  return true;
}

static bool read_all(struct cubin *r) {
  Elf64_Ehdr header;
  if (!read_header(r, &header) || !read_section_headers(r, &header) || !classify_sections(r))
    return false;
  for (uint32_t i = 1; i < r->section_count; i++) {
    const struct cubin_section *s = &r->sections[i];
    if (s->header.sh_type == CUBIN_SHT_INFO && strcmp(s->name, ".nv.info") == 0 &&
        !cubin_read_module_info(r, s))
      return false;
  }
  return cubin_read_kernels(r) && cubin_read_relocs(r) && cubin_read_lines(r);
}

bool cubin_is_elf(const void *data, size_t size) {
  return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

enum cubin_status cubin_read(const void *data, size_t size, struct arena *arena, bool is_ours,
                             struct module_code *code, char *error, size_t error_size) {
  *code = (struct module_code){.cubin_bytes = size};
  if (error_size)
    error[0] = 0;
  struct cubin r = {
      .data = data,
      .size = size,
      .arena = arena,
      .code = code,
      .error = error,
      .error_size = error_size,
      .bank3 = NONE,
      .bank4 = NONE,
      .status = CUBIN_OK,
      .is_ours = is_ours,
  };
  read_all(&r);
  return r.status;
}
