/* Finds mappings of this process in /proc/self/maps, like find_vma in the kernel. */
#include "emulator/kernel/vma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Parses START-END rwxp OFFSET MAJOR:MINOR INODE PATH. Returns false if the line has a different
 * form. */
static bool read_line(const char *line, struct emu_vma *vma) {
  enum { ACCESS_LENGTH = 4, HEX = 16, DECIMAL = 10 };
  char *at;
  vma->start = strtoull(line, &at, HEX);
  if (*at != '-')
    return false;
  vma->end = strtoull(at + 1, &at, HEX);
  if (*at != ' ' || strlen(at) <= 1 + ACCESS_LENGTH)
    return false;
  const char *access = at + 1;
  vma->writable = access[1] == 'w';
  vma->shared = access[3] == 's';
  strtoull(access + ACCESS_LENGTH, &at, HEX); /* offset in the file */
  unsigned long device_major = strtoul(at, &at, HEX);
  if (*at != ':')
    return false;
  unsigned long device_minor = strtoul(at + 1, &at, HEX);
  vma->device = makedev(device_major, device_minor);
  vma->inode = strtoull(at, &at, DECIMAL);
  return true;
}

bool emu_vma_find(uint64_t address, struct emu_vma *vma) {
  bool found = false;
  char line[4352]; /* room for the fields and a path */
  FILE *f = fopen("/proc/self/maps", "re");
  if (!f)
    return false;
  while (!found && fgets(line, sizeof(line), f) && read_line(line, vma))
    found = address < vma->end;
  fclose(f);
  return found;
}
