/* Places modules in GPU memory, relocates them, and prepares their kernels for launches. */
#include "runtime/context/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/hw/memory.h"
#include "runtime/context/notes.h"
#include "runtime/message.h"

/* Larger than any real module, and small enough that sums of section sizes do not overflow. */
#define MODULE_BYTES_MAX (UINT64_C(1) << 32)

static bool is_bank(enum module_section_kind kind) {
  return kind == MODULE_BANK2 || kind == MODULE_BANK3 || kind == MODULE_BANK4;
}

/* Assigns an offset to each section. Code comes first, followed by at least TEXT_TAIL_BYTES that
 * the instruction prefetcher may read. Returns the size of the module, or 0 if a size or an
 * alignment is invalid. */
static uint64_t lay_out(const struct module_code *code, uint64_t *offsets) {
  uint64_t at = 0, text_end = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < code->section_count; i++) {
      const struct module_section *s = &code->sections[i];
      bool text = s->kind == MODULE_TEXT;
      if (text != (pass == 0))
        continue;
      uint64_t align = s->align ? s->align : 1;
      if (align > GPU_PAGE_BYTES || (align & (align - 1)) || s->size > MODULE_BYTES_MAX)
        return 0;
      if (text && align < TEXT_ALIGN)
        align = TEXT_ALIGN;
      if (is_bank(s->kind) && align < CONSTANT_BANK_ALIGN)
        align = CONSTANT_BANK_ALIGN;
      at = base_round_up(at, align);
      offsets[i] = at;
      at += s->size;
      if (at > MODULE_BYTES_MAX)
        return 0;
    }
    if (pass == 0)
      text_end = at;
  }
  /* A bank's declared size is rounded up to 16 bytes. */
  at = base_round_up(at, 1u << QMD_CONSTANT_SIZE_SHIFT);
  return at > text_end + TEXT_TAIL_BYTES ? at : text_end + TEXT_TAIL_BYTES;
}

/* Sets bits high:low of the 128-bit instruction at place. */
static void put_bits(void *place, unsigned high, unsigned low, uint64_t value) {
  uint32_t words[4];
  memcpy(words, place, sizeof(words));
  for (unsigned bit = low; bit <= high; bit++) {
    uint32_t mask = 1u << (bit % 32);
    words[bit / 32] = value >> (bit - low) & 1 ? words[bit / 32] | mask : words[bit / 32] & ~mask;
  }
  memcpy(place, words, sizeof(words));
}

static uint64_t reloc_bytes(enum module_reloc_kind kind) {
  switch (kind) {
  case MODULE_RELOC_ABS32:
    return 4;
  case MODULE_RELOC_ABS64:
    return 8;
  default:
    return 16;
  }
}

static int relocate_module(struct rt_module *m) {
  for (uint32_t i = 0; i < m->code->reloc_count; i++) {
    const struct module_reloc *r = &m->code->relocs[i];
    const struct module_section *section = &m->code->sections[r->section];
    uint64_t bytes = reloc_bytes(r->kind);
    if (r->offset > section->size || section->size - r->offset < bytes)
      return rt_fail(-EINVAL, "relocation %u is outside its section", i);
    char *place = (char *)m->memory.cpu + (m->addresses[r->section] - m->memory.gpu) + r->offset;
    uint64_t value = m->addresses[r->target] + (uint64_t)r->value;
    switch (r->kind) {
    case MODULE_RELOC_ABS32:
      if (value > UINT32_MAX)
        return rt_fail(-EINVAL, "relocation %u: address 0x%llx does not fit in 32 bits", i,
                       (unsigned long long)value);
      memcpy(place, &(uint32_t){(uint32_t)value}, 4);
      break;
    case MODULE_RELOC_ABS64:
      memcpy(place, &value, 8);
      break;
    case MODULE_RELOC_LO32_32:
      put_bits(place, 63, 32, (uint32_t)value);
      break;
    case MODULE_RELOC_HI32_32:
      put_bits(place, 63, 32, value >> 32);
      break;
    case MODULE_RELOC_ABS47_34:
      put_bits(place, 80, 34, value >> 2);
      break;
    default:
      return rt_fail(-EINVAL, "relocation %u has the unknown kind %d", i, (int)r->kind);
    }
  }
  return 0;
}

static int bind_bank(const struct rt_module *m, uint32_t *qmd, unsigned bank, uint32_t section) {
  if (section == MODULE_NO_SECTION)
    return 0;
  uint64_t size = base_round_up(m->code->sections[section].size, 1u << QMD_CONSTANT_SIZE_SHIFT);
  if (size > CONSTANT_BANK_BYTES_MAX)
    return rt_fail(-EINVAL, "constant bank %u of %llu bytes is larger than %d", bank,
                   (unsigned long long)size, CONSTANT_BANK_BYTES_MAX);
  uint64_t address = m->addresses[section];
  qmd_set(qmd, QMD_CONSTANT_BUFFER_VALID(bank), 1);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(bank), (uint32_t)address);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(bank), (uint32_t)(address >> 32));
  qmd_set(qmd, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(bank),
          (uint32_t)(size >> QMD_CONSTANT_SIZE_SHIFT));
  return 0;
}

static void put64(uint32_t *bank, unsigned offset, uint64_t value) {
  memcpy((char *)bank + offset, &value, sizeof(value));
}

/* Fields of the QMD: docs/hardware/command-stream.md 5.1 to 5.5; of bank 0: section 6. */
static int describe_kernel(struct rt_module *m, const struct kernel_code *k, struct rt_kernel *r) {
  const struct module_section *text = &m->code->sections[k->text];
  if (k->entry >= text->size || k->entry % TEXT_ALIGN)
    return rt_fail(-EINVAL, "kernel %s: entry point 0x%x is not in its code, or not aligned",
                   k->name, k->entry);
  if (k->registers > REGISTERS_MAX || k->barriers > BARRIERS_MAX ||
      (k->param_offset != BANK0_PARAMS && k->param_offset != BANK0_PARAMS_BIG) ||
      k->param_bytes > BANK0_PARAMS_BIG_BYTES_MAX ||
      k->bank0_bytes < k->param_offset + k->param_bytes || k->bank0_bytes > CONSTANT_BANK_BYTES_MAX)
    return rt_fail(-EINVAL,
                   "kernel %s: %u registers, %u barriers, %u parameter bytes at 0x%x of a bank of "
                   "%u bytes cannot be launched",
                   k->name, k->registers, k->barriers, k->param_bytes, k->param_offset,
                   k->bank0_bytes);
  r->entry = m->addresses[k->text] + k->entry;
  r->local_bytes = rt_kernel_local_bytes(k);
  uint64_t code_bytes = (text->size - k->entry) >> QMD_PREFETCH_SIZE_SHIFT;

  uint32_t *q = r->qmd;
  qmd_set(q, QMD_QMD_MAJOR_VERSION, QMD_MAJOR_VERSION_VALUE);
  qmd_set(q, QMD_QMD_VERSION, QMD_VERSION_VALUE);
  qmd_set(q, QMD_SASS_VERSION, QMD_SASS_VERSION_87);
  qmd_set(q, QMD_QMD_GROUP_ID, QMD_GROUP_COMPUTE);
  qmd_set(q, QMD_SM_GLOBAL_CACHING_ENABLE, 1);
  qmd_set(q, QMD_API_VISIBLE_CALL_LIMIT, QMD_CALL_LIMIT_NO_CHECK);
  qmd_set(q, QMD_SAMPLER_INDEX, QMD_SAMPLER_INDEPENDENTLY);
  /* As CUDA does: invalidate the caches, so that the kernel sees writes of the CPU and of other
   * grids. */
  qmd_set(q, QMD_INVALIDATE_TEXTURE_HEADER_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_SAMPLER_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_TEXTURE_DATA_CACHE, 1);
  qmd_set(q, QMD_INVALIDATE_SHADER_DATA_CACHE, 1);
  qmd_set(q, QMD_CWD_MEMBAR_TYPE, QMD_MEMBAR_L1_SYSMEMBAR);
  qmd_set(q, QMD_PROGRAM_ADDRESS_LOWER, (uint32_t)r->entry);
  qmd_set(q, QMD_PROGRAM_ADDRESS_UPPER, (uint32_t)(r->entry >> 32));
  qmd_set(q, QMD_PROGRAM_PREFETCH_ADDR_LOWER_SHIFTED, (uint32_t)(r->entry >> QMD_ADDRESS_SHIFT));
  qmd_set(q, QMD_PROGRAM_PREFETCH_ADDR_UPPER_SHIFTED,
          (uint32_t)(r->entry >> (QMD_ADDRESS_SHIFT + 32)));
  qmd_set(q, QMD_PROGRAM_PREFETCH_SIZE,
          code_bytes < QMD_PREFETCH_SIZE_MAX ? (uint32_t)code_bytes : QMD_PREFETCH_SIZE_MAX);
  qmd_set(q, QMD_REGISTER_COUNT_V, k->registers > REGISTERS_MIN ? k->registers : REGISTERS_MIN);
  qmd_set(q, QMD_BARRIER_COUNT, k->barriers ? k->barriers : 1);
  qmd_set(q, QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE, r->local_bytes);
  qmd_set(q, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE, shared_carveout_for(SM_SHARED_BYTES));
  qmd_set(q, QMD_CONSTANT_BUFFER_VALID(0), 1);
  qmd_set(q, QMD_CONSTANT_BUFFER_INVALIDATE(0), 1);
  qmd_set(q, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(0),
          (uint32_t)(base_round_up(k->bank0_bytes, 1u << QMD_CONSTANT_SIZE_SHIFT) >>
                     QMD_CONSTANT_SIZE_SHIFT));
  int error = bind_bank(m, q, 2, k->bank2);
  if (error == 0)
    error = bind_bank(m, q, 3, k->bank3);
  if (error == 0)
    error = bind_bank(m, q, 4, k->bank4);

  put64(r->bank0, BANK0_SHARED_WINDOW, RT_SHARED_WINDOW);
  put64(r->bank0, BANK0_LOCAL_WINDOW, RT_LOCAL_WINDOW);
  r->bank0[BANK0_STACK_POINTER / 4] = STACK_POINTER_START;
  r->bank0[BANK0_SM_COUNT / 4] = m->context->device->info.sm_count;
  if (k->bank3 != MODULE_NO_SECTION)
    put64(r->bank0, BANK0_BANK3_ADDRESS, m->addresses[k->bank3]);
  return error;
}

static int place_sections(struct rt_module *m) {
  const struct module_code *code = m->code;
  struct rt_device *d = m->context->device;
  m->addresses = calloc(code->section_count ? code->section_count : 1, sizeof(*m->addresses));
  m->kernels = calloc(code->kernel_count ? code->kernel_count : 1, sizeof(*m->kernels));
  if (!m->addresses || !m->kernels)
    return rt_fail(-ENOMEM, "out of memory while loading a module");
  uint64_t bytes = lay_out(code, m->addresses);
  if (bytes == 0)
    return rt_fail(-EINVAL, "a section of the program has an invalid size or alignment");
  int error = rt_memory_create(d, m->context->as_fd, bytes, RT_MEMORY_CACHED, &m->memory);
  if (error)
    return error;
  rt_memory_drop_fd(d, &m->memory);
  for (uint32_t i = 0; i < code->section_count; i++) {
    const struct module_section *s = &code->sections[i];
    if (s->data)
      memcpy((char *)m->memory.cpu + m->addresses[i], s->data, s->size);
    m->addresses[i] += m->memory.gpu;
  }
  error = relocate_module(m);
  for (uint32_t i = 0; i < code->kernel_count && error == 0; i++)
    error = describe_kernel(m, &code->kernels[i], &m->kernels[i]);
  return error;
}

static void release_module(struct rt_module *m) {
  rt_memory_destroy(m->context->device, &m->memory);
  free(m->addresses);
  free(m->kernels);
  free(m);
}

int rt_module_create(struct rt_context *c, const struct module_code *code,
                     struct rt_module **module) {
  struct rt_module *m = calloc(1, sizeof(*m));
  if (!m)
    return rt_fail(-ENOMEM, "out of memory while loading a module");
  m->context = c;
  m->code = code;
  int error = place_sections(m);
  if (error) {
    release_module(m);
    return error;
  }
  rt_note_module(m);
  base_mutex_lock(&c->lock);
  m->next = c->modules;
  if (m->next)
    m->next->previous = m;
  c->modules = m;
  base_mutex_unlock(&c->lock);
  /* Channels may have cached instructions and constants of earlier modules at these addresses. */
  atomic_fetch_add(&c->code_generation, 1);
  *module = m;
  return 0;
}

void rt_module_destroy(struct rt_module *m) {
  if (!m)
    return;
  struct rt_context *c = m->context;
  base_mutex_lock(&c->lock);
  if (m->previous)
    m->previous->next = m->next;
  else
    c->modules = m->next;
  if (m->next)
    m->next->previous = m->previous;
  base_mutex_unlock(&c->lock);
  release_module(m);
}

const void *rt_module_data(const struct rt_module *m, uint64_t address, uint64_t *size) {
  for (uint32_t i = 0; i < m->code->section_count; i++) {
    const struct module_section *s = &m->code->sections[i];
    if (!s->data || (s->kind != MODULE_GLOBAL && s->kind != MODULE_BANK3) ||
        address < m->addresses[i] || address - m->addresses[i] >= s->size)
      continue;
    *size = s->size - (address - m->addresses[i]);
    return (const char *)s->data + (address - m->addresses[i]);
  }
  return NULL;
}

const struct kernel_code *rt_module_kernel_at(const struct rt_context *c, uint64_t address,
                                              uint64_t *offset) {
  for (const struct rt_module *m = c->modules; m; m = m->next)
    for (uint32_t i = 0; i < m->code->kernel_count; i++) {
      const struct kernel_code *k = &m->code->kernels[i];
      uint64_t text = m->addresses[k->text];
      if (address >= text && address - text < m->code->sections[k->text].size) {
        *offset = address - text;
        return k;
      }
    }
  return NULL;
}

/* Returns the last line entry at or before an offset in the section, or NULL. */
static const struct module_line *find_line(const struct module_code *code, uint32_t section,
                                           uint64_t offset) {
  uint32_t low = 0, high = code->line_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const struct module_line *line = &code->lines[middle];
    if (line->section < section || (line->section == section && line->offset <= offset))
      low = middle + 1;
    else
      high = middle;
  }
  const struct module_line *line = low ? &code->lines[low - 1] : NULL;
  return line && line->section == section && line->line ? line : NULL;
}

const struct module_line *rt_module_line_at(const struct rt_context *c, uint64_t address,
                                            const char **file) {
  for (const struct rt_module *m = c->modules; m; m = m->next)
    for (uint32_t i = 0; i < m->code->section_count; i++) {
      if (m->code->sections[i].kind != MODULE_TEXT || address < m->addresses[i] ||
          address - m->addresses[i] >= m->code->sections[i].size)
        continue;
      const struct module_line *line = find_line(m->code, i, address - m->addresses[i]);
      if (line)
        *file = m->code->files[line->file];
      return line;
    }
  return NULL;
}

/* CUDA's default stack size, for kernels whose stack depth the compiler cannot determine. CUDA
 * reserves STACK_TOP_RESERVED above the initial stack pointer (docs/hardware/command-stream.md
 * 4.3). */
enum { STACK_RESERVE = 1024 };

uint32_t rt_kernel_local_bytes(const struct kernel_code *kernel) {
  uint64_t bytes = (uint64_t)kernel->stack_bytes + (kernel->frame_unknown ? STACK_RESERVE : 0);
  if (bytes == 0)
    return 0;
  bytes = base_round_up(bytes + STACK_TOP_RESERVED, LOCAL_THREAD_UNIT);
  return bytes < SHADER_WINDOW_BYTES ? (uint32_t)bytes : (uint32_t)SHADER_WINDOW_BYTES;
}
