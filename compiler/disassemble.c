/* Prints machine code as text, using the instruction table of gpu/isa/. */
#include "compiler/disassemble.h"

#include <inttypes.h>
#include <string.h>

#include "gpu/cubin/cubin_format.h"
#include "gpu/isa/insn.h"

enum {
  TEXT_SIZE = 256,
  GUARD_WIDTH = 19, /* columns from the address to the operation, as in nvdisasm's output */
};

static void add_instruction(const uint64_t word[2], uint64_t offset, struct text *out) {
  struct sm_insn instruction;
  char text[TEXT_SIZE];
  text_printf(out, "        /*%04" PRIx64 "*/", offset);
  if (!sm_decode(word, &instruction)) {
    text_printf(out, "%*s.dword 0x%016" PRIx64 ", 0x%016" PRIx64 " ; // not an instruction\n",
                GUARD_WIDTH, "", word[0], word[1]);
    return;
  }
  sm_disassemble(&instruction, offset, text, sizeof text);
  bool is_guarded = *text == '@' && !instruction.guard_uniform;
  size_t guard = is_guarded ? strcspn(text, " ") + 1 : 0;
  text_printf(out, "%*.*s%s ;\n", GUARD_WIDTH, (int)guard, text, text + guard);
}

static void add_section(const struct module_code *module, uint32_t number, struct text *out) {
  const struct module_section *section = &module->sections[number];
  const struct module_line *line = module->lines, *end = line + module->line_count;
  while (line < end && line->section < number)
    line++;
  for (uint64_t offset = 0; offset < section->size; offset += CUBIN_INSN_BYTES) {
    uint64_t word[2];
    for (uint32_t i = 0; i < module->kernel_count; i++)
      if (module->kernels[i].text == number && module->kernels[i].entry == offset)
        text_printf(out, "%s:\n", module->kernels[i].name);
    for (; line < end && line->section == number && line->offset <= offset; line++)
      if (line->line)
        text_printf(out, "\t//## line %" PRIu32 " of %s\n", line->line,
                    *module->files[line->file] ? module->files[line->file] : SOURCE_NAME);
    memcpy(word, (const char *)section->data + offset, sizeof word);
    add_instruction(word, offset, out);
  }
}

void disassemble_module(const struct module_code *module, struct text *out) {
  for (uint32_t i = 0; i < module->kernel_count; i++) {
    const struct kernel_code *kernel = &module->kernels[i];
    text_printf(out, "\n//--------------------- .text.%s --------------------------\n",
                kernel->name);
    add_section(module, kernel->text, out);
  }
}
