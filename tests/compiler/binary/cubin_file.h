/* Reads files of tests/compiler/data for the tests of the CUBIN reader. */
#ifndef TEGRACL_TEST_CUBIN_FILE_H
#define TEGRACL_TEST_CUBIN_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct cubin_file {
  unsigned char *bytes;
  size_t size;
};

/* Reads a file in the folder TEGRACL_TEST_DATA. bytes is NULL on failure. */
static inline struct cubin_file cubin_file_read(const char *name) {
  char path[4096];
  struct cubin_file file = {0};
  snprintf(path, sizeof(path), "%s/%s", TEGRACL_TEST_DATA, name);
  FILE *stream = fopen(path, "rb");
  if (!stream)
    return file;
  fseek(stream, 0, SEEK_END);
  long size = ftell(stream);
  rewind(stream);
  file.bytes = size > 0 ? malloc((size_t)size) : NULL;
  if (file.bytes)
    file.size = fread(file.bytes, 1, (size_t)size, stream);
  fclose(stream);
  return file;
}

#endif
