/* Reads relocations (docs/hardware/cubin.md section 4). */
#include "gpu/cubin/cubin_reader.h"

struct reloc_form {
  uint32_t type; /* R_CUDA_* */
  enum module_reloc_kind kind;
  uint32_t bytes; /* bytes of the patched location */
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

/* Relocations that are ignored. */
static bool reloc_is_hint(uint32_t type) {
  return type == R_CUDA_NONE || type == R_CUDA_YIELD_OPCODE9_0 ||
         type == R_CUDA_YIELD_CLEAR_PRED4_87 || type == R_CUDA_UNUSED_CLEAR32 ||
         type == R_CUDA_UNUSED_CLEAR64;
}

/* Reads the addend of a REL relocation, which is stored in the patched location. */
static int64_t addend_in_place(const unsigned char *place, enum module_reloc_kind kind) {
  switch (kind) {
  case MODULE_RELOC_ABS32:
    return (int32_t)cubin_read32(place);
  case MODULE_RELOC_ABS64:
    return (int64_t)cubin_read64(place);
  case MODULE_RELOC_LO32_32:
  case MODULE_RELOC_HI32_32:
    return (int32_t)cubin_read32(place + 4);
  case MODULE_RELOC_ABS47_34: {
    uint64_t field = cubin_read64(place) >> 34 | (cubin_read64(place + 8) & 0x1ffff) << 30;
    return (int64_t)(field << 17) >> 15; /* 47 bits, signed, times 4 */
  }
  }
  return 0;
}

static bool add_reloc(struct cubin *r, const struct cubin_section *s, const Elf64_Rela *entry,
                      bool explicit_addend) {
  uint32_t type = (uint32_t)ELF64_R_TYPE(entry->r_info);
  if (reloc_is_hint(type))
    return true;
  const struct reloc_form *form = NULL;
  for (size_t i = 0; i < sizeof(reloc_forms) / sizeof(reloc_forms[0]); i++)
    if (reloc_forms[i].type == type)
      form = &reloc_forms[i];
  if (!form)
    return cubin_refuse(r, CUBIN_INVALID, "section %s has a relocation of unsupported type %u",
                        s->name, type);
  const struct cubin_section *place = &r->sections[s->header.sh_info];
  const struct module_section *patched = &r->module_sections[place->module];
  bool instruction = form->bytes == CUBIN_INSN_BYTES;
  if (!patched->data || entry->r_offset > patched->size ||
      patched->size - entry->r_offset < form->bytes ||
      (instruction && (patched->kind != MODULE_TEXT || entry->r_offset % CUBIN_INSN_BYTES != 0)))
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: a relocation outside section %s",
                        place->name);
  Elf64_Sym symbol;
  const char *name;
  if (!cubin_read_symbol(r, (uint32_t)ELF64_R_SYM(entry->r_info), &symbol, &name))
    return false;
  if (symbol.st_shndx == SHN_UNDEF)
    return cubin_refuse(r, CUBIN_INVALID, "the CUBIN uses %s, which it does not define", name);
  if (symbol.st_shndx >= r->section_count || r->sections[symbol.st_shndx].module == NONE)
    return cubin_refuse(r, CUBIN_INVALID,
                        "the CUBIN takes the address of %s, which does not have one", name);
  const struct cubin_section *target = &r->sections[symbol.st_shndx];
  if (symbol.st_value > target->header.sh_size)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: symbol %s is outside section %s", name,
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

static bool is_reloc_section(const struct cubin_section *s) {
  return s->header.sh_type == SHT_REL || s->header.sh_type == SHT_RELA;
}

/* Returns whether the section relocates a section that is loaded. Returns false if it is
 * damaged. */
static bool reloc_section_matters(struct cubin *r, const struct cubin_section *s, bool *matters) {
  *matters = false;
  if (!is_reloc_section(s))
    return true;
  if (s->header.sh_info >= r->section_count)
    return cubin_refuse(
        r, CUBIN_INVALID,
        "damaged CUBIN: section %s relocates section %u, but there are only %u sections", s->name,
        s->header.sh_info, r->section_count);
  const struct cubin_section *place = &r->sections[s->header.sh_info];
  *matters = place->module != NONE;
  if (!*matters && (place->header.sh_flags & SHF_ALLOC) && s->header.sh_size > 0)
    return cubin_refuse(r, CUBIN_INVALID, "relocations of section %s are not supported",
                        place->name);
  return true;
}

static uint64_t reloc_entry_bytes(const struct cubin_section *s) {
  return s->header.sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
}

bool cubin_read_relocs(struct cubin *r) {
  uint64_t count = 0;
  bool matters;
  for (uint32_t i = 1; i < r->section_count; i++) {
    if (!reloc_section_matters(r, &r->sections[i], &matters))
      return false;
    if (matters)
      count += r->sections[i].header.sh_size / reloc_entry_bytes(&r->sections[i]);
  }
  enum { MAX_RELOCS = 1 << 24 }; /* far more than NVRTC writes */
  if (count > MAX_RELOCS)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: %llu relocations",
                        (unsigned long long)count);
  r->relocs = arena_alloc(r->arena, (size_t)count, sizeof(*r->relocs));
  if (!r->relocs)
    return cubin_no_memory(r);
  for (uint32_t i = 1; i < r->section_count; i++) {
    const struct cubin_section *s = &r->sections[i];
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
