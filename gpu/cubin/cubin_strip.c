/* Removes the contents of debugging sections. The sections stay in the table with size 0, so the
 * indices of the others do not change. The bytes after a removed section move by a multiple of
 * MOVE_UNIT, which preserves their alignment. */
#include "gpu/cubin/cubin_strip.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* at least the alignment of any section (.text: 128) */
enum { MOVE_UNIT = 128 };

static bool is_wanted(const char *name) {
  static const char *const unwanted[] = {".nv_debug_", ".rel.nv_debug_", ".debug_str",
                                         ".debug_frame", ".rel.debug_frame"};
  for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
    if (!strncmp(name, unwanted[i], strlen(unwanted[i])))
      return false;
  return true;
}

static bool in_file(const struct text *cubin, uint64_t offset, uint64_t size) {
  return offset <= cubin->size && size <= cubin->size - offset;
}

static Elf64_Shdr section_at(const struct text *cubin, const Elf64_Ehdr *elf, unsigned number) {
  Elf64_Shdr section;
  memcpy(&section, cubin->data + elf->e_shoff + number * sizeof section, sizeof section);
  return section;
}

static void set_section(struct text *cubin, const Elf64_Ehdr *elf, unsigned number,
                        const Elf64_Shdr *section) {
  memcpy(cubin->data + elf->e_shoff + number * sizeof *section, section, sizeof *section);
}

/* Returns the section's name, or NULL if it is not a string within the file. */
static const char *section_name(const struct text *cubin, const Elf64_Ehdr *elf,
                                const Elf64_Shdr *section) {
  const Elf64_Shdr names = section_at(cubin, elf, elf->e_shstrndx);
  if (!in_file(cubin, names.sh_offset, names.sh_size) || section->sh_name >= names.sh_size)
    return NULL;
  const char *name = cubin->data + names.sh_offset + section->sh_name;
  return memchr(name, 0, names.sh_size - section->sh_name) ? name : NULL;
}

/* Removes size bytes at offset. size is a multiple of MOVE_UNIT. */
static void remove_bytes(struct text *cubin, Elf64_Ehdr *elf, uint64_t offset, uint64_t size) {
  memmove(cubin->data + offset, cubin->data + offset + size, cubin->size - offset - size);
  cubin->size -= size;
  elf->e_shoff -= elf->e_shoff > offset ? size : 0;
  elf->e_phoff -= elf->e_phoff > offset ? size : 0;
  memcpy(cubin->data, elf, sizeof *elf);
  for (unsigned i = 0; i < elf->e_shnum; i++) {
    Elf64_Shdr section = section_at(cubin, elf, i);
    section.sh_offset -= section.sh_offset > offset ? size : 0;
    set_section(cubin, elf, i, &section);
  }
  for (unsigned i = 0; i < elf->e_phnum; i++) {
    Elf64_Phdr segment;
    char *at = cubin->data + elf->e_phoff + i * sizeof segment;
    memcpy(&segment, at, sizeof segment);
    segment.p_offset -= segment.p_offset > offset ? size : 0;
    memcpy(at, &segment, sizeof segment);
  }
}

void cubin_strip(struct text *cubin) {
  Elf64_Ehdr elf;
  if (cubin->failed || cubin->size < sizeof elf || memcmp(cubin->data, ELFMAG, SELFMAG))
    return;
  memcpy(&elf, cubin->data, sizeof elf);
  if (elf.e_shstrndx >= elf.e_shnum || elf.e_shentsize != sizeof(Elf64_Shdr) ||
      (elf.e_phnum && elf.e_phentsize != sizeof(Elf64_Phdr)) ||
      !in_file(cubin, elf.e_shoff, (uint64_t)elf.e_shnum * sizeof(Elf64_Shdr)) ||
      !in_file(cubin, elf.e_phoff, (uint64_t)elf.e_phnum * sizeof(Elf64_Phdr)))
    return;
  for (unsigned i = 1; i < elf.e_shnum; i++) {
    Elf64_Shdr section = section_at(cubin, &elf, i);
    const char *name = section_name(cubin, &elf, &section);
    if (!name || is_wanted(name) || section.sh_type == SHT_NOBITS ||
        !in_file(cubin, section.sh_offset, section.sh_size))
      continue;
    uint64_t size = section.sh_size / MOVE_UNIT * MOVE_UNIT;
    section.sh_size = 0;
    set_section(cubin, &elf, i, &section);
    if (size)
      remove_bytes(cubin, &elf, section.sh_offset, size);
  }
}
