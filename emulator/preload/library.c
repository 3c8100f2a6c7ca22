/* Redirects dlopen of the C library. Programs that look up functions in a handle of the C library,
 * as Python's ctypes.CDLL("libc.so.6") does, would bypass our functions. A look-up in a handle of
 * this library finds ours first, then those of the C library. */
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stddef.h>
#include <string.h>

#include "emulator/preload/next.h"

static const char *substitute_library(const char *file) {
  Dl_info self;
  const char *slash = file ? strrchr(file, '/') : NULL;
  if (!file || strcmp(slash ? slash + 1 : file, LIBC_SO) != 0 || !dladdr(substitute_library, &self))
    return file;
  return self.dli_fname;
}

/* The loader searches the RUNPATH of the caller. In an optimised build this is a tail call, so the
 * caller is the program. */
REDIRECT void *dlopen(const char *file, int mode) {
  return NEXT(dlopen)(substitute_library(file), mode);
}
