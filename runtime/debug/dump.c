/* Prints what a launch submits, using the tables from which the encoders are generated. */
#include <inttypes.h>

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "gpu/hw/tables.h"
#include "runtime/debug/debug.h"

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

/* Methods below METHOD_HOST_END except SET_OBJECT go to host on every subchannel
 * (docs/hardware/command-stream.md 2.2). */
static uint32_t class_of(uint32_t subchannel, uint32_t address) {
  bool host = address != NVC76F_SET_OBJECT && address < METHOD_HOST_END;
  return host ? (uint32_t)CLASS_HOST : subchannel_class(subchannel);
}

void rt_pushbuffer_walk(const uint32_t *words, size_t count, rt_method_fn *method, void *user) {
  size_t i = 0;
  while (i < count) {
    struct rt_method m = {.header = words[i++], .first = true};
    uint32_t op = hw_field(m.header, METHOD_HEADER_SEC_OP);
    uint32_t n = hw_field(m.header, METHOD_HEADER_COUNT);
    uint32_t subchannel = hw_field(m.header, METHOD_HEADER_SUBCHANNEL);
    m.address = hw_field(m.header, METHOD_HEADER_ADDRESS) << 2;
    m.class_id = class_of(subchannel, m.address);
    bool data = op == METHOD_INC || op == METHOD_NON_INC || op == METHOD_ONE_INC;
    if (op == METHOD_IMMD) {
      m.has_data = true;
      m.data = n;
    }
    if (!data || n == 0 || i == count)
      method(user, &m);
    for (uint32_t k = 0; data && k < n && i < count; k++) {
      m.has_data = true;
      m.data = words[i++];
      method(user, &m);
      m.first = false;
      if (op == METHOD_INC || (op == METHOD_ONE_INC && k == 0))
        m.address += 4;
      m.class_id = class_of(subchannel, m.address);
    }
  }
}

static void dump_method(void *user, const struct rt_method *method) {
  FILE *out = user;
  uint32_t index = 0;
  uint32_t class_id = method->class_id, address = method->address, data = method->data;
  if (method->first)
    fprintf(out, "  %08x\n", method->header);
  if (!method->has_data)
    return;
  const struct hw_method *m = hw_method_find(class_id, address, &index);
  if (!m) {
    fprintf(out, "    %08x  %04x.%04x (not in the table)\n", data, class_id, address);
    return;
  }
  fprintf(out, "    %08x  %04X.%s", data, class_id, m->name);
  if (m->count > 1)
    fprintf(out, "(%u)", index);
  for (unsigned f = 0; f < m->field_count; f++) {
    const struct hw_field_name *field = &m->fields[f];
    uint32_t value = hw_field(data, field->high, field->low);
    const char *name = hw_value_find(field, value);
    if (!value && m->field_count > 1)
      continue;
    if (name)
      fprintf(out, " %s=%s", field->name, name);
    else
      fprintf(out, " %s=0x%x", field->name, value);
  }
  fputc('\n', out);
}

void rt_dump_pushbuffer(FILE *out, const uint32_t *words, size_t count) {
  rt_pushbuffer_walk(words, count, dump_method, out);
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
