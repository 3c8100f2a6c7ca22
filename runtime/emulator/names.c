/* Names that a client gave to ranges of its code (EMULATOR_IOCTL_NAME). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/emulator/gpu.h"

struct name {
  struct name *next;
  const struct emu_as *as;
  uint64_t address, size;
  char text[sizeof(((struct emulator_name *)NULL)->name)];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names;

/* Forgets the names of a range. lock held. */
static void forget(const struct emu_as *as, uint64_t address, uint64_t size) {
  for (struct name **link = &names; *link;) {
    struct name *n = *link;
    if (n->as == as && n->address < address + size && address < n->address + n->size) {
      *link = n->next;
      free(n);
    } else {
      link = &n->next;
    }
  }
}

void emu_names_drop(const struct emu_as *as) {
  pthread_mutex_lock(&lock);
  forget(as, 0, GPU_VA_END);
  pthread_mutex_unlock(&lock);
}

int emu_name_set(const struct emu_as *as, const struct emulator_name *from) {
  if (!from->size || from->address >= GPU_VA_END || from->size > GPU_VA_END - from->address)
    return -EINVAL;
  struct name *n = calloc(1, sizeof(*n));
  if (!n)
    return -ENOMEM;
  n->as = as;
  n->address = from->address;
  n->size = from->size;
  snprintf(n->text, sizeof(n->text), "%.*s", (int)sizeof(from->name), from->name);
  pthread_mutex_lock(&lock);
  forget(as, n->address, n->size);
  n->next = names;
  names = n;
  pthread_mutex_unlock(&lock);
  return 0;
}

bool emu_name_find(const struct emu_as *as, uint64_t address, char *text, size_t size,
                   uint64_t *offset) {
  pthread_mutex_lock(&lock);
  const struct name *n = names;
  while (n && (n->as != as || address - n->address >= n->size))
    n = n->next;
  if (n) {
    snprintf(text, size, "%s", n->text);
    *offset = address - n->address;
  }
  pthread_mutex_unlock(&lock);
  return n != NULL;
}
