/* Compiled objects and libraries. All integers are little-endian.
 *
 *   offset  bytes  what
 *        0      8  magic
 *        8      4  format version
 *       12      4  kind: enum cc_binary_kind
 *       16      8  size of the whole file
 *       24      8  xxHash64 of everything from offset 32 on
 *       32      8  size of the options with their NUL
 *       40         options, bitcode
 */
#include "compiler/client/object.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/client/binary.h"
#include "gpu/cubin/cubin.h"

static const char magic[8] = {'T', 'E', 'G', 'C', 'L', 'O', 'B', 'J'};

enum { FORMAT_VERSION = 1, HASHED_FROM = 32 };

struct header {
  char magic[8];
  uint32_t format;
  uint32_t kind;
  uint64_t size;
  uint64_t hash;
  uint64_t options_size;
};
_Static_assert(sizeof(struct header) == 40, "layout above");
_Static_assert(offsetof(struct header, options_size) == HASHED_FROM, "layout above");

int cc_object_write(const struct object *object, void **bytes, size_t *size) {
  struct header header = {
      .format = FORMAT_VERSION, .kind = object->kind, .options_size = strlen(object->options) + 1};
  header.size = sizeof header + header.options_size + object->bitcode_size;
  unsigned char *file = malloc(header.size);
  if (!file)
    return -ENOMEM;
  memcpy(header.magic, magic, sizeof magic);
  memcpy(file, &header, sizeof header);
  memcpy(file + sizeof header, object->options, header.options_size);
  memcpy(file + sizeof header + header.options_size, object->bitcode, object->bitcode_size);
  header.hash = XXH64(file + HASHED_FROM, header.size - HASHED_FROM, 0);
  memcpy(file, &header, sizeof header);
  *bytes = file;
  *size = header.size;
  return 0;
}

bool cc_object_read(const void *bytes, size_t size, struct object *object) {
  const unsigned char *file = bytes;
  struct header header;
  if (size < sizeof header)
    return false;
  memcpy(&header, file, sizeof header);
  if (memcmp(header.magic, magic, sizeof magic) != 0 || header.format != FORMAT_VERSION ||
      (header.kind != CC_BINARY_OBJECT && header.kind != CC_BINARY_LIBRARY) ||
      header.size != size || header.hash != XXH64(file + HASHED_FROM, size - HASHED_FROM, 0))
    return false;
  const size_t rest = size - sizeof header;
  if (!header.options_size || header.options_size > rest ||
      file[sizeof header + header.options_size - 1] != 0)
    return false;
  *object = (struct object){.kind = (enum cc_binary_kind)header.kind,
                            .options = (const char *)file + sizeof header,
                            .bitcode = file + sizeof header + header.options_size,
                            .bitcode_size = rest - header.options_size};
  return true;
}

enum cc_binary_kind cc_binary_kind(const void *binary, size_t size) {
  struct object object;
  if (cc_object_read(binary, size, &object))
    return object.kind;
  return cc_binary_is_container(binary, size) || cubin_is_elf(binary, size) ? CC_BINARY_PROGRAM
                                                                            : CC_BINARY_UNKNOWN;
}
