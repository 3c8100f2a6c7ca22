/* Shared by the files of the CUBIN reader: cubin.c reads header, sections and symbols, cubin_info.c
 * attribute records, cubin_kernels.c kernels, cubin_relocs.c relocations, and cubin_lines.c source
 * lines. Functions that return false have called cubin_refuse, which sets status and error. */
#ifndef TEGRACL_CUBIN_READER_H
#define TEGRACL_CUBIN_READER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "gpu/cubin/cubin.h"
#include "gpu/cubin/cubin_format.h"

#define NONE MODULE_NO_SECTION

/* A section of the ELF file. */
struct cubin_section {
  Elf64_Shdr header;
  const char *name;
  uint32_t module; /* index in module_code.sections, or NONE */
  /* For a .text section: indices of the kernel's other sections, or 0. */
  uint32_t info, constant0, constant2, shared;
  uint32_t kernel; /* for a .text section: index of its kernel, or NONE */
};

/* Attributes of one symbol from .nv.info. */
struct cubin_symbol_facts {
  uint32_t registers;
  uint32_t frame_bytes;
  uint32_t stack_bytes;
};

struct cubin {
  const unsigned char *data;
  uint64_t size;
  struct arena *arena;
  struct module_code *code;
  char *error;
  size_t error_size;
  enum cubin_status status;
  bool is_ours;

  bool abi_7;
  struct cubin_section *sections;
  uint32_t section_count;
  uint32_t symtab; /* section number */
  struct cubin_strings {
    uint32_t section; /* section index; 0 if end is not known yet */
    uint64_t end;     /* offset after the table's last NUL */
  } strings[2];       /* the tables of section names and of symbol names */
  uint32_t symbol_count;
  uint32_t bank3, bank4;            /* indices in module_code.sections, or NONE */
  struct cubin_symbol_facts *facts; /* indexed by symbol */

  struct module_section *module_sections;
  struct module_reloc *relocs;
  struct kernel_code *kernels;
};

/* Sets status and error. */
__attribute__((format(printf, 3, 4))) void cubin_fail(struct cubin *r, enum cubin_status status,
                                                      const char *format, ...);
#define cubin_refuse(...) (cubin_fail(__VA_ARGS__), false)
bool cubin_no_memory(struct cubin *r);

/* Returns the part of name after prefix, or NULL if it begins differently. */
const char *cubin_after_prefix(const char *name, const char *prefix);

bool cubin_read_symbol(struct cubin *r, uint32_t number, Elf64_Sym *symbol, const char **name);

/* Reads .nv.info into r->facts. */
bool cubin_read_module_info(struct cubin *r, const struct cubin_section *s);

/* Read .nv.info.<kernel>. The first function counts the arguments, the second reads them. */
bool cubin_read_kernel_info(struct cubin *r, const struct cubin_section *s,
                            struct kernel_code *kernel);
bool cubin_read_arguments(struct cubin *r, const struct cubin_section *s,
                          struct kernel_code *kernel);

bool cubin_read_kernels(struct cubin *r);
bool cubin_read_relocs(struct cubin *r);
bool cubin_read_lines(struct cubin *r);

/* Read little-endian numbers at any alignment. The caller has checked the bounds. */
static inline uint16_t cubin_read16(const unsigned char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static inline uint32_t cubin_read32(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static inline uint64_t cubin_read64(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

#endif
