/* Reads the attribute records of .nv.info sections (docs/hardware/cubin.md section 5). */
#include "gpu/cubin/cubin_reader.h"

struct record {
  unsigned format, code;
  uint32_t value;               /* value size of the formats BYTE and HALF */
  const unsigned char *payload; /* of format SIZED */
  uint32_t size;
};

/* Reads the record at *at and advances *at. Returns false at the end, and sets r->status if the
 * record is damaged. */
static bool next_record(struct cubin *r, const char *section, const unsigned char **at,
                        const unsigned char *end, struct record *record) {
  enum { HEAD = 4 };
  if (*at == end)
    return false;
  if (end - *at < HEAD)
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: %s ends inside a record", section);
  *record = (struct record){.format = (*at)[0], .code = (*at)[1]};
  uint16_t half = cubin_read16(*at + 2);
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
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: %s ends inside attribute 0x%x", section,
                          record->code);
    record->payload = *at;
    record->size = half;
    *at += half;
    return true;
  default:
    return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: %s has a record of unknown format %u",
                        section, record->format);
  }
}

/* Checks that a record has the format SIZED and at least size bytes. */
static bool check_record(struct cubin *r, const char *section, const struct record *record,
                         uint32_t size) {
  if (record->format == EIFMT_SIZED && record->size >= size)
    return true;
  return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: attribute 0x%x in %s is too short",
                      record->code, section);
}

bool cubin_read_module_info(struct cubin *r, const struct cubin_section *s) {
  const unsigned char *at = r->data + s->header.sh_offset;
  const unsigned char *end = at + s->header.sh_size;
  struct record record = {0};
  while (next_record(r, s->name, &at, end, &record)) {
    if (record.code != EIATTR_REGCOUNT && record.code != EIATTR_FRAME_SIZE &&
        record.code != EIATTR_MIN_STACK_SIZE)
      continue;
    if (!check_record(r, s->name, &record, 2 * sizeof(uint32_t)))
      return false;
    uint32_t symbol = cubin_read32(record.payload);
    uint32_t value = cubin_read32(record.payload + sizeof(uint32_t));
    if (symbol >= r->symbol_count)
      return cubin_refuse(
          r, CUBIN_INVALID,
          "damaged CUBIN: attribute 0x%x has symbol index %u, but there are only %u symbols",
          record.code, symbol, r->symbol_count);
    if (record.code == EIATTR_REGCOUNT)
      r->facts[symbol].registers = value;
    else if (record.code == EIATTR_FRAME_SIZE)
      r->facts[symbol].frame_bytes = value;
    else
      r->facts[symbol].stack_bytes = value;
  }
  return r->status == CUBIN_OK;
}

/* Reads the three dimensions of a work-group, and computes their product. */
static bool read_block_size(struct cubin *r, const char *section, const struct record *record,
                            uint32_t dimensions[3], uint32_t *product) {
  if (!check_record(r, section, record, 3 * sizeof(uint32_t)))
    return false;
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    dimensions[i] = cubin_read32(record->payload + sizeof(uint32_t) * (size_t)i);
    if (dimensions[i] == 0 || __builtin_mul_overflow(threads, dimensions[i], &threads) ||
        threads > UINT32_MAX)
      return cubin_refuse(r, CUBIN_INVALID, "damaged CUBIN: invalid block size in %s", section);
  }
  *product = (uint32_t)threads;
  return true;
}

bool cubin_read_kernel_info(struct cubin *r, const struct cubin_section *s,
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
      kernel->param_offset = cubin_read16(record.payload + 4);
      kernel->param_bytes = cubin_read16(record.payload + 6);
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
      if (!read_block_size(r, s->name, &record, unused, &kernel->max_threads))
        return false;
      break;
    case EIATTR_REQNTID: {
      uint32_t threads;
      if (!read_block_size(r, s->name, &record, kernel->required_block, &threads))
        return false;
      break;
    }
    case EIATTR_CRS_STACK_SIZE:
      if (!check_record(r, s->name, &record, sizeof(uint32_t)))
        return false;
      if (cubin_read32(record.payload) == CUBIN_STACK_UNKNOWN)
        kernel->frame_unknown = 1;
      break;
    case EIATTR_EXTERNS: {
      if (!check_record(r, s->name, &record, sizeof(uint32_t)))
        return false;
      Elf64_Sym symbol;
      const char *name;
      if (!cubin_read_symbol(r, cubin_read32(record.payload), &symbol, &name))
        return false;
      return cubin_refuse(r, CUBIN_INVALID, "kernel %s calls %s, which this CUBIN does not define",
                          kernel->name, name);
    }
    default:
      break;
    }
  }
  return r->status == CUBIN_OK;
}

bool cubin_read_arguments(struct cubin *r, const struct cubin_section *s,
                          struct kernel_code *kernel) {
  struct kernel_arg *args = arena_alloc(r->arena, kernel->arg_count, sizeof(*args));
  unsigned char *seen = arena_alloc(r->arena, kernel->arg_count, 1);
  if (!args || !seen)
    return cubin_no_memory(r);
  const unsigned char *at = r->data + s->header.sh_offset;
  const unsigned char *end = at + s->header.sh_size;
  struct record record = {0};
  while (next_record(r, s->name, &at, end, &record)) {
    if (record.code != EIATTR_KPARAM_INFO && record.code != EIATTR_KPARAM_INFO_V2)
      continue;
    if (!check_record(r, s->name, &record, CUBIN_KPARAM_BYTES))
      return false;
    uint32_t ordinal = cubin_read16(record.payload + 4);
    uint32_t offset = cubin_read16(record.payload + 6);
    uint32_t size = cubin_read32(record.payload + 8);
    if (record.code == EIATTR_KPARAM_INFO)
      size >>= CUBIN_KPARAM_SIZE_SHIFT;
    if (ordinal >= kernel->arg_count || seen[ordinal] || size == 0 ||
        offset > kernel->param_bytes || size > kernel->param_bytes - offset)
      return cubin_refuse(r, CUBIN_INVALID,
                          "damaged CUBIN: argument %u of kernel %s has %u bytes at offset %u",
                          ordinal, kernel->name, size, offset);
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
  return r->status == CUBIN_OK;
}
