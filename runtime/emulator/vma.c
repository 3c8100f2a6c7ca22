/* The caller's mappings, as the kernel's find_vma sees them: from /proc/self/maps.
 */
#include "runtime/emulator/vma.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

bool emu_vma_find(uint64_t address, struct emu_vma *vma) {
  bool found = false;
  char line[4352]; /* the fields, and a path */
  FILE *f = fopen("/proc/self/maps", "re");
  if (!f)
    return false;
  while (!found && fgets(line, sizeof(line), f)) {
    unsigned device_major, device_minor;
    char access[5];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %ju", &vma->start, &vma->end, access,
               &device_major, &device_minor, &vma->inode) != 6)
      break;
    vma->writable = access[1] == 'w';
    vma->shared = access[3] == 's';
    vma->device = makedev(device_major, device_minor);
    found = address < vma->end;
  }
  fclose(f);
  return found;
}
