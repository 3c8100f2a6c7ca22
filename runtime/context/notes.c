/* Sends notes to the software Orin's check and profile modes. See notes.h. */
#include "runtime/context/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/nvgpu/emulator_node.h"

bool rt_notes_wanted(const struct nvgpu_os *os, int emulator_fd, bool *checks) {
  struct emulator_modes modes = {0};
  const bool known = emulator_fd >= 0 && os->ioctl(emulator_fd, EMULATOR_IOCTL_MODES, &modes) == 0;
  *checks = known && modes.check;
  return known && (modes.check || modes.profile);
}

/* Errors are ignored: without the note a report only has less detail. */
static void put_note(const struct rt_context *c, enum emulator_note_kind kind, uint64_t address,
                     uint64_t size, const void *data, uint64_t bytes) {
  struct emulator_note note = {.as_fd = c->as_fd,
                               .kind = kind,
                               .address = address,
                               .size = size,
                               .data = (uintptr_t)data,
                               .bytes = bytes};
  c->device->os->ioctl(c->device->emulator_fd, EMULATOR_IOCTL_NOTE, &note);
}

static void put_kernel(const struct rt_module *m, const struct rt_kernel *r,
                       const struct kernel_code *k) {
  const uint64_t bytes = m->code->sections[k->text].size - k->entry;
  struct emulator_parameter *p = calloc(k->arg_count ? k->arg_count : 1, sizeof(*p));
  uint32_t count = 0;
  for (uint32_t i = 0; p && i < k->arg_count; i++) {
    const struct kernel_arg *a = &k->args[i];
    if (a->size != sizeof(uint64_t))
      continue;
    p[count].offset = k->param_offset + a->offset;
    snprintf(p[count].name, sizeof(p[count].name), *a->name ? "argument %u (%s)" : "argument %u", i,
             a->name);
    count++;
  }
  put_note(m->context, EMULATOR_NOTE_KERNEL, r->entry, bytes, k->name, strlen(k->name));
  put_note(m->context, EMULATOR_NOTE_PARAMETERS, r->entry, bytes, p, count * sizeof(*p));
  free(p);
}

/* Sends the line entries of one section. The entries are sorted by section. */
static void put_lines(const struct rt_module *m, const char *files, size_t files_bytes,
                      uint32_t first, uint32_t count) {
  const struct module_line *from = &m->code->lines[first];
  const uint64_t address = m->addresses[from->section];
  const uint64_t size = m->code->sections[from->section].size;
  struct emulator_line *lines = calloc(count, sizeof(*lines));
  for (uint32_t i = 0; lines && i < count; i++)
    lines[i] = (struct emulator_line){from[i].offset, from[i].line, from[i].file};
  if (lines) {
    put_note(m->context, EMULATOR_NOTE_LINES, address, size, lines, count * sizeof(*lines));
    put_note(m->context, EMULATOR_NOTE_FILES, address, size, files, files_bytes);
  }
  free(lines);
}

static void put_all_lines(const struct rt_module *m) {
  const struct module_code *code = m->code;
  char *files = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&files, &bytes);
  if (!out)
    return;
  for (uint32_t i = 0; i < code->file_count; i++)
    fwrite(code->files[i], strlen(code->files[i]) + 1, 1, out);
  if (fclose(out) == 0)
    for (uint32_t first = 0, end; first < code->line_count; first = end) {
      for (end = first + 1; end < code->line_count; end++)
        if (code->lines[end].section != code->lines[first].section)
          break;
      put_lines(m, files, bytes, first, end - first);
    }
  free(files);
}

void rt_note_module(const struct rt_module *m) {
  if (!m->context->device->notes)
    return;
  for (uint32_t i = 0; i < m->code->kernel_count; i++)
    put_kernel(m, &m->kernels[i], &m->code->kernels[i]);
  put_all_lines(m);
}

void rt_note_buffer_name(const struct rt_own_buffer *own, unsigned number) {
  const struct rt_buffer *b = &own->node.buffer;
  char name[32];
  if (!own->context->device->notes)
    return;
  snprintf(name, sizeof(name), "buffer %u", number);
  put_note(own->context, EMULATOR_NOTE_BUFFER, b->gpu, b->size, name, strlen(name));
}

/* Returns the buffer's context if the software Orin accepts notes about buffers, else NULL. In
 * those modes buffers do not share blocks. */
static const struct rt_context *noted_context(const struct rt_buffer *b) {
  const struct rt_own_buffer *own = (const struct rt_own_buffer *)b;
  return !own->node.block && own->context->device->notes ? own->context : NULL;
}

void rt_buffer_note(const struct rt_buffer *b, enum rt_buffer_news news) {
  static const enum emulator_note_kind kinds[] = {
      [RT_BUFFER_UNWRITTEN] = EMULATOR_NOTE_UNWRITTEN,
      [RT_BUFFER_KERNELS_READ] = EMULATOR_NOTE_READ_ONLY,
      [RT_BUFFER_KERNELS_WRITE] = EMULATOR_NOTE_WRITE_ONLY,
  };
  const struct rt_context *c = noted_context(b);
  if (c)
    put_note(c, kinds[news], b->gpu, b->size, NULL, 0);
}

void rt_buffer_note_written(const struct rt_buffer *b, const void *at, uint64_t size) {
  const uint64_t offset = (uint64_t)((const char *)at - (const char *)b->cpu);
  const struct rt_context *c = noted_context(b);
  if (c && size && offset < b->size && size <= b->size - offset)
    put_note(c, EMULATOR_NOTE_WRITTEN, b->gpu + offset, size, NULL, 0);
}
