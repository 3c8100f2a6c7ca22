/* Redirected: dlopen of the C library. Who looks functions up in a handle of it, as
 * Python's ctypes.CDLL("libc.so.6") does, would get its own, not ours. A handle of
 * this library leads to ours first, and to the C library's for all else.
 */
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stddef.h>
#include <string.h>

#include "emulator/preload/next.h"

static const char *instead_of(const char *file) {
  Dl_info self;
  const char *slash = file ? strrchr(file, '/') : NULL;
  if (!file || strcmp(slash ? slash + 1 : file, LIBC_SO) != 0 || !dladdr(instead_of, &self))
    return file;
  return self.dli_fname;
}

/* The loader looks where the caller's RUNPATH says: optimized, the call is a jump, and
 * so comes from the program. */
REDIRECT void *dlopen(const char *file, int mode) {
  return NEXT(dlopen)(instead_of(file), mode);
}
