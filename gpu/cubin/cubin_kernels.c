/* Reads kernels from their symbols, sections and attributes. */
#include <stdlib.h>

#include "gpu/cubin/cubin_reader.h"

/* Returns whether a function called by the kernel may need more stack than ptxas has computed.
 * ptxas up to 12.x marks recursion and indirect calls; 13.0 does so only in debugging output, and
 * otherwise counts each function once. So the answer is yes for any function with a stack frame,
 * except the helper functions of ptxas. */
static bool callee_may_recurse(const char *name, const struct cubin_symbol_facts *facts) {
  return facts->frame_bytes > 0 && !strstr(name, "$__internal_") && !strstr(name, "$__cuda_");
}

static bool add_kernel(struct cubin *r, uint32_t number, const Elf64_Sym *symbol,
                       const char *name) {
  if (symbol->st_shndx >= r->section_count || r->sections[symbol->st_shndx].module == NONE ||
      r->module_sections[r->sections[symbol->st_shndx].module].kind != MODULE_TEXT)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: kernel %s has no code", name);
  struct cubin_section *text = &r->sections[symbol->st_shndx];
  if (text->kernel != NONE)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: two kernels in section %s", text->name);
  if (symbol->st_value >= text->header.sh_size || symbol->st_value % CUBIN_INSN_BYTES)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: kernel %s starts outside its code", name);
  text->kernel = r->code->kernel_count++;
  struct kernel_code *kernel = &r->kernels[text->kernel];
  const struct cubin_symbol_facts *facts = &r->facts[number];
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
      .bank3 = r->bank3,
      .bank4 = r->bank4,
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
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: no attributes for kernel %s", name);
  if (!cubin_read_kernel_info(r, &r->sections[text->info], kernel))
    return false;
  if (kernel->stack_bytes > CUBIN_MAX_STACK)
    return cubin_refuse(
        r, CUBIN_INVALID,
        "kernel %s needs %u bytes of private memory for a work-item; the limit is %u", name,
        kernel->stack_bytes, CUBIN_MAX_STACK);
  if (kernel->registers == 0 || kernel->registers > CUBIN_MAX_REGISTERS ||
      kernel->barriers > CUBIN_MAX_BARRIERS)
    return cubin_refuse(r, CUBIN_INVALID,
                        "damaged CUBIN: kernel %s has %u registers and %u barriers", name,
                        kernel->registers, kernel->barriers);
  uint32_t bank0 = kernel->param_offset + kernel->param_bytes;
  uint64_t image = text->constant0 ? r->sections[text->constant0].header.sh_size : bank0;
  if (image < bank0 || image > CUBIN_BANK_BYTES)
    return cubin_refuse(
        r, CUBIN_INVALID,
        "damaged CUBIN: the parameters of kernel %s do not fit in its constant bank", name);
  kernel->bank0_bytes = (uint32_t)image;
  uint64_t shared = text->shared ? r->sections[text->shared].header.sh_size : 0;
  if (shared > CUBIN_MAX_SHARED)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: kernel %s has %llu bytes of local memory",
                        name, (unsigned long long)shared);
  kernel->shared_bytes = (uint32_t)shared;
  return cubin_read_arguments(r, &r->sections[text->info], kernel);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_unique(struct cubin *r) {
  uint32_t count = r->code->kernel_count;
  const char **names = arena_alloc(r->arena, count, sizeof(*names));
  if (!names)
    return cubin_no_memory(r);
  for (uint32_t i = 0; i < count; i++)
    names[i] = r->kernels[i].name;
  qsort(names, count, sizeof(*names), compare_names);
  for (uint32_t i = 1; i < count; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: two kernels named %s", names[i]);
  return true;
}

bool cubin_read_kernels(struct cubin *r) {
  /* A section contains at most one kernel. */
  r->kernels = arena_alloc(r->arena, r->section_count, sizeof(*r->kernels));
  if (!r->kernels)
    return cubin_no_memory(r);
  Elf64_Sym symbol;
  const char *name;
  /* Rejects overlapping function names, which would let a small file take a long time to read. */
  uint64_t names_left = r->size;
  for (uint32_t i = 0; i < r->symbol_count; i++) {
    if (!cubin_read_symbol(r, i, &symbol, &name))
      return false;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
      continue;
    const size_t length = strlen(name);
    if (length > names_left)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: function names overlap");
    names_left -= length;
    if (!(symbol.st_other & CUBIN_STO_ENTRY))
      continue;
    if (!*name)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: kernel without a name");
    if (!add_kernel(r, i, &symbol, name))
      return false;
  }
  for (uint32_t i = 0; i < r->symbol_count; i++) {
    if (!cubin_read_symbol(r, i, &symbol, &name))
      return false;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || (symbol.st_other & CUBIN_STO_ENTRY) ||
        symbol.st_shndx >= r->section_count)
      continue;
    uint32_t kernel = r->sections[symbol.st_shndx].kernel;
    if (kernel != NONE && callee_may_recurse(name, &r->facts[i]))
      r->kernels[kernel].frame_unknown = 1;
  }
  r->code->kernels = r->kernels;
  return check_unique(r);
}
