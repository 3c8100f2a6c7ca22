/* Notes of clients on ranges of their address spaces (EMULATOR_IOCTL_NOTE): names, source lines and
 * parameters of code, and names of buffers. They are kept only in check and profile modes. */
#include "emulator/modes/notes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/kernel/user_copy.h"
#include "emulator/modes/checks.h"
#include "emulator/modes/shadow.h"
#include "emulator/options.h"
#include "gpu/hw/host.h"
#include "gpu/nvgpu/emulator_node.h"

enum { NOTE_BYTES_MAX = 1 << 26 }; /* more than the lines of any program need */

struct note {
  struct note *next;
  const struct emu_as *as;
  uint32_t kind;
  uint64_t address, size, bytes;
  _Alignas(8) char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note *notes;

/* Removes the notes of a kind (EMULATOR_NOTE_KINDS means all) about an address range. The caller
 * holds lock. */
static void drop_notes(const struct emu_as *as, uint32_t kind, uint64_t address, uint64_t size) {
  for (struct note **link = &notes; *link;) {
    struct note *n = *link;
    if (n->as == as && (kind == EMULATOR_NOTE_KINDS || n->kind == kind) &&
        n->address < address + size && address < n->address + n->size) {
      *link = n->next;
      free(n);
    } else {
      link = &n->next;
    }
  }
}

void emu_notes_forget(const struct emu_as *as, uint64_t address, uint64_t size) {
  pthread_mutex_lock(&lock);
  drop_notes(as, EMULATOR_NOTE_KINDS, address, size);
  pthread_mutex_unlock(&lock);
}

void emu_notes_forked(void) {
  pthread_mutex_init(&lock, NULL);
  notes = NULL;
}

static int keep_note(const struct emu_as *as, const struct emulator_note *from) {
  if (from->bytes > NOTE_BYTES_MAX)
    return -EINVAL;
  struct note *n = calloc(1, sizeof(*n) + from->bytes + 1); /* texts are NUL-terminated */
  if (!n)
    return -ENOMEM;
  if (emu_copy_from_user(n->data, from->data, from->bytes)) {
    free(n);
    return -EFAULT;
  }
  n->as = as;
  n->kind = from->kind;
  n->address = from->address;
  n->size = from->size;
  n->bytes = from->bytes;
  pthread_mutex_lock(&lock);
  drop_notes(as, n->kind, n->address, n->size);
  n->next = notes;
  notes = n;
  pthread_mutex_unlock(&lock);
  return 0;
}

int emu_note(struct emu_as *as, const struct emulator_note *from) {
  const struct emu_options *o = emu_options();
  if (from->kind >= EMULATOR_NOTE_KINDS || !from->size || from->address >= GPU_VA_END ||
      from->size > GPU_VA_END - from->address)
    return -EINVAL;
  if (!o->check && !o->profile)
    return 0;
  switch (from->kind) {
  case EMULATOR_NOTE_READ_ONLY:
  case EMULATOR_NOTE_WRITE_ONLY:
  case EMULATOR_NOTE_UNWRITTEN:
  case EMULATOR_NOTE_WRITTEN:
    return emu_shadow_note(as, from);
  case EMULATOR_NOTE_KERNEL:
    emu_checks_forget(as, from->address, from->size);
    return keep_note(as, from);
  default:
    return keep_note(as, from);
  }
}

/* Returns the note of a kind on a range that contains address, or NULL. The caller holds lock. */
static const struct note *find_note(const struct emu_as *as, uint32_t kind, uint64_t address) {
  const struct note *n = notes;
  while (n && (n->as != as || n->kind != kind || address - n->address >= n->size))
    n = n->next;
  return n;
}

bool emu_note_name(const struct emu_as *as, enum emulator_note_kind kind, uint64_t address,
                   char *text, size_t size, uint64_t *offset) {
  pthread_mutex_lock(&lock);
  const struct note *n = find_note(as, kind, address);
  if (n) {
    snprintf(text, size, "%s", n->data);
    *offset = address - n->address;
  }
  pthread_mutex_unlock(&lock);
  return n != NULL;
}

/* Returns entry number of a list of NUL-terminated names. */
static const char *name_at(const struct note *names, uint32_t number) {
  const char *at = names->data, *end = names->data + names->bytes;
  while (number && at < end) {
    at += strlen(at) + 1;
    number--;
  }
  return at < end ? at : "";
}

bool emu_note_line(const struct emu_as *as, uint64_t address, uint32_t *line, char *file,
                   size_t size) {
  pthread_mutex_lock(&lock);
  const struct note *lines = find_note(as, EMULATOR_NOTE_LINES, address);
  const struct note *files = find_note(as, EMULATOR_NOTE_FILES, address);
  const struct emulator_line *last = NULL;
  if (lines) {
    const struct emulator_line *l = (const struct emulator_line *)(const void *)lines->data;
    size_t low = 0, high = lines->bytes / sizeof(*l);
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (l[middle].offset <= address - lines->address)
        low = middle + 1;
      else
        high = middle;
    }
    last = low && l[low - 1].line ? &l[low - 1] : NULL;
  }
  if (last) {
    *line = last->line;
    snprintf(file, size, "%s", files ? name_at(files, last->file) : "");
  }
  pthread_mutex_unlock(&lock);
  return last != NULL;
}

bool emu_note_parameter(const struct emu_as *as, uint64_t program, uint32_t offset, char *text,
                        size_t size) {
  bool found = false;
  pthread_mutex_lock(&lock);
  const struct note *n = find_note(as, EMULATOR_NOTE_PARAMETERS, program);
  const struct emulator_parameter *p = n ? (const void *)n->data : NULL;
  for (size_t k = 0; n && !found && k < n->bytes / sizeof(*p); k++)
    if (p[k].offset == offset) {
      snprintf(text, size, "%.*s", (int)sizeof(p[k].name), p[k].name);
      found = true;
    }
  pthread_mutex_unlock(&lock);
  return found;
}
