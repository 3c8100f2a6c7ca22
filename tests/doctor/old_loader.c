/* An outdated libOpenCL.so.1 that lacks most functions. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void *clGetExtensionFunctionAddress(const char *name);
EXPORT int clGetPlatformIDs(unsigned room, void **platforms, unsigned *count);

void *clGetExtensionFunctionAddress(const char *name) {
  return NULL;
}

int clGetPlatformIDs(unsigned room, void **platforms, unsigned *count) {
  if (count)
    *count = 0;
  return 0;
}
