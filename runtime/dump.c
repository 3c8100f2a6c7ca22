/* What a launch writes, in words: from the tables that also make the encoders. */
#include <inttypes.h>

#include "runtime/debug.h"
#include "runtime/hw/constant_bank.h"
#include "runtime/hw/host.h"
#include "runtime/hw/methods.h"
#include "runtime/hw/qmd.h"
#include "runtime/hw/tables.h"

static uint32_t subchannel_class(uint32_t subchannel) {
  switch (subchannel) {
  case SUBCHANNEL_3D:
    return CLASS_3D;
  case SUBCHANNEL_COMPUTE:
    return CLASS_COMPUTE;
  case SUBCHANNEL_COPY:
    return CLASS_COPY;
  default:
    return 0;
  }
}

static void dump_method(FILE *out, uint32_t subchannel, uint32_t address, uint32_t data) {
  uint32_t index = 0;
  uint32_t class_id = address != NVC76F_SET_OBJECT && address < METHOD_HOST_END
                          ? (uint32_t)CLASS_HOST
                          : subchannel_class(subchannel);
  const struct hw_method *m = hw_method_find(class_id, address, &index);
  if (!m) {
    fprintf(out, "    %08x  %04x.%04x (not in the table)\n", data, class_id, address);
    return;
  }
  fprintf(out, "    %08x  %04X.%s", data, class_id, m->name);
  if (m->count > 1)
    fprintf(out, "(%u)", index);
  for (unsigned f = 0; f < m->field_count; f++) {
    uint32_t value = hw_field(data, m->fields[f].high, m->fields[f].low);
    if (value || m->field_count == 1)
      fprintf(out, " %s=0x%x", m->fields[f].name, value);
  }
  fputc('\n', out);
}

void rt_dump_pushbuffer(FILE *out, const uint32_t *words, size_t count) {
  size_t i = 0;
  while (i < count) {
    uint32_t header = words[i++];
    uint32_t op = hw_field(header, METHOD_HEADER_SEC_OP);
    uint32_t n = hw_field(header, METHOD_HEADER_COUNT);
    uint32_t subchannel = hw_field(header, METHOD_HEADER_SUBCHANNEL);
    uint32_t address = hw_field(header, METHOD_HEADER_ADDRESS) << 2;
    fprintf(out, "  %08x\n", header);
    switch (op) {
    case METHOD_IMMD:
      dump_method(out, subchannel, address, n);
      break;
    case METHOD_INC:
    case METHOD_NON_INC:
    case METHOD_ONE_INC:
      for (uint32_t k = 0; k < n && i < count; k++, i++) {
        dump_method(out, subchannel, address, words[i]);
        if (op == METHOD_INC || (op == METHOD_ONE_INC && k == 0))
          address += 4;
      }
      break;
    default:
      break;
    }
  }
}

void rt_dump_qmd(FILE *out, const uint32_t *qmd) {
  for (unsigned f = 0; f < qmd_field_count; f++) {
    uint32_t value = qmd_get(qmd, qmd_fields[f].high, qmd_fields[f].low);
    if (value)
      fprintf(out, "  %s = 0x%x\n", qmd_fields[f].name, value);
  }
}

static const struct {
  uint16_t offset;
  const char *name;
} bank0_names[] = {
    {BANK0_BLOCK_X, "block x"},
    {BANK0_BLOCK_Y, "block y"},
    {BANK0_BLOCK_Z, "block z"},
    {BANK0_GRID_X, "grid x"},
    {BANK0_GRID_Y, "grid y"},
    {BANK0_GRID_Z, "grid z"},
    {BANK0_SHARED_WINDOW, "shared window, low"},
    {BANK0_SHARED_WINDOW + 4, "shared window, high"},
    {BANK0_LOCAL_WINDOW, "local window, low"},
    {BANK0_LOCAL_WINDOW + 4, "local window, high"},
    {BANK0_STACK_POINTER, "stack pointer"},
    {BANK0_DYNAMIC_SHARED, "dynamic shared bytes"},
    {BANK0_GRID_ID, "grid id, low"},
    {BANK0_GRID_ID + 4, "grid id, high"},
    {BANK0_BANK3_ADDRESS, "bank 3 address, low"},
    {BANK0_BANK3_ADDRESS + 4, "bank 3 address, high"},
    {BANK0_SM_COUNT, "SM count"},
    {BANK0_RESERVED_SHARED, "reserved shared bytes"},
    {BANK0_GLOBAL_DESCRIPTOR, "global descriptor, low"},
    {BANK0_GLOBAL_DESCRIPTOR + 4, "global descriptor, high"},
};

void rt_dump_bank0(FILE *out, const uint32_t *bank, size_t bytes, uint32_t param_offset) {
  for (size_t i = 0; i < bytes / 4; i++) {
    const char *name = NULL;
    for (size_t k = 0; k < sizeof(bank0_names) / sizeof(bank0_names[0]); k++)
      if (bank0_names[k].offset == 4 * i)
        name = bank0_names[k].name;
    if (4 * i >= param_offset)
      fprintf(out, "  c[0][0x%zx] = 0x%08x  parameter byte %zu\n", 4 * i, bank[i],
              4 * i - param_offset);
    else if (name || bank[i])
      fprintf(out, "  c[0][0x%zx] = 0x%08x  %s\n", 4 * i, bank[i], name ? name : "");
  }
}

void rt_dump_gp_entry(FILE *out, uint32_t index, uint64_t entry) {
  fprintf(out, "  GPFIFO entry %u = 0x%016" PRIx64 ": GET=0x%" PRIx64 " LENGTH=%u SYNC=%u\n", index,
          entry, gp_entry_address(entry), gp_entry_words(entry),
          hw_field((uint32_t)(entry >> 32), GP_ENTRY1_SYNC));
}
