/* Compiled objects with damaged LLVM bitcode and a correct checksum: object_fuzz
 * COUNT [SEED]. LLVM's reader may crash on them, in the helper process. Each
 * object must be built or refused with a log, the next valid object must link, and
 * no file may be created or changed. Uses the real compiler. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/client/object.h"
#include "compiler/compiler.h"

static const char source[] =
    "typedef struct { float4 v; int n[3]; } part;\n"
    "constant int table[] = {1, 2, 3, 5, 8};\n"
    "float help(global part *p, int i) { return i ? p[i].v.x + sin(p[i].v.y) : table[i]; }\n"
    "kernel void k(global part *p, local float *l, image2d_t read_only image) {\n"
    "  int i = get_global_id(0);\n"
    "  l[i] = help(p, i); barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  switch (p[i].n[1]) { case 0: l[1] += 1; case 7: atomic_add(&p[i].n[2], 3); break;\n"
    "  default: printf(\"%d %v4f\\n\", i, p[i].v); }\n"
    "  for (int j = 0; j < p[i].n[0]; j++) p[j].v += l[j];\n"
    "}\n";

static const struct cc_device device = {.sm = 87,
                                        .version = 310,
                                        .extensions = "cl_khr_fp64",
                                        .c_features = "",
                                        .local_mem_bytes = 49152};

static uint64_t state;

static uint64_t random_below(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

static enum cc_status build(enum cc_action action, const void *bytes, size_t size,
                            struct cc_result *result) {
  const struct cc_source text = {bytes, size};
  const struct cc_job job = {
      .action = action, .device = &device, .sources = &text, .source_count = 1};
  return cc_build(&job, result);
}

static void damage(unsigned char *bytes, size_t size) {
  enum { CHANGES = 6, BITS = 8, BYTE_VALUES = 256 };
  for (uint64_t left = 1 + random_below(CHANGES); left; left--) {
    unsigned char *at = bytes + random_below(size);
    switch (random_below(3)) {
    case 0:
      *at ^= (unsigned char)(1u << random_below(BITS));
      break;
    case 1:
      *at = (unsigned char)random_below(BYTE_VALUES);
      break;
    default:
      *at = bytes[random_below(size)];
    }
  }
}

/* Whether the folder only contains the unchanged file. */
static bool is_untouched(const char *folder, const char *file) {
  char text[16] = "";
  int count = 0;
  DIR *directory = opendir(folder);
  while (directory && readdir(directory))
    count++;
  if (directory)
    closedir(directory);
  FILE *stream = fopen(file, "r");
  const bool same = stream && fgets(text, sizeof(text), stream) && strcmp(text, "untouched") == 0;
  if (stream)
    fclose(stream);
  return same && count == 3; /* with . and .. */
}

int main(int argc, char **argv) {
  enum { STATUSES = CC_INTERNAL_ERROR + 1, LINK_EVERY = 16, LOOK_EVERY = 256 };
  const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
  unsigned long outcomes[STATUSES] = {0}, crashes = 0;
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  state = (state + 1) * 0x9e3779b97f4a7c15u;
  setenv("TEGRACL_CACHE", "0", 1);
  setenv("TEGRACL_COMPILER_TIMEOUT", "60", 0);
  setenv("TEGRACL_COMPILER_MEMORY", "2048", 0);
  char folder[] = "/tmp/tegracl-object-fuzz-XXXXXX", file[64];
  if (!mkdtemp(folder) || chdir(folder) != 0)
    return 1;
  setenv("TMPDIR", folder, 1);
  snprintf(file, sizeof(file), "%s/file", folder);
  FILE *stream = fopen(file, "w");
  if (!stream || fputs("untouched", stream) < 0 || fclose(stream) != 0)
    return 1;

  struct cc_result good, result;
  struct object object;
  bool failed = build(CC_COMPILE, source, strlen(source), &good) != CC_OK ||
                !cc_object_read(good.binary, good.binary_size, &object);
  if (failed)
    fprintf(stderr, "%s\n", good.log);
  unsigned char *bytes = failed ? NULL : malloc(object.bitcode_size);
  for (unsigned long i = 0; bytes && i < count && !failed; i++) {
    void *damaged;
    size_t size;
    memcpy(bytes, object.bitcode, object.bitcode_size);
    damage(bytes, object.bitcode_size);
    const struct object other = {object.kind, object.options, bytes, object.bitcode_size};
    if (cc_object_write(&other, &damaged, &size) != 0)
      return 1;
    const enum cc_action action = i % LINK_EVERY ? CC_LINK_LIBRARY : CC_LINK;
    const enum cc_status status = build(action, damaged, size, &result);
    outcomes[status]++;
    crashes += status == CC_INTERNAL_ERROR && strstr(result.log, "crashed");
    failed = status != CC_OK && !*result.log;
    if (failed)
      fprintf(stderr, "input %lu fails without a log\n", i);
    cc_result_finish(&result);
    free(damaged);
    if (i % LOOK_EVERY && i + 1 < count)
      continue;
    if (build(CC_LINK_LIBRARY, good.binary, good.binary_size, &result) != CC_OK ||
        !is_untouched(folder, file)) {
      fprintf(stderr, "after input %lu: %s\n", i, result.log);
      failed = true;
    }
    cc_result_finish(&result);
  }
  printf("%lu objects: %lu linked, %lu refused, %lu crashes of the helper, %lu others\n", count,
         outcomes[CC_OK], outcomes[CC_INVALID_BINARY] + outcomes[CC_BUILD_FAILURE], crashes,
         count - outcomes[CC_OK] - outcomes[CC_INVALID_BINARY] - outcomes[CC_BUILD_FAILURE] -
             crashes);
  free(bytes);
  cc_result_finish(&good);
  unlink(file);
  return rmdir(folder) != 0 || failed;
}
