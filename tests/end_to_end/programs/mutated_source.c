/* OpenCL C with random changes, from the loader to the end of its kernels. Each source is refused
 * with a log, fails or runs. The process and the device continue to work.
 *
 *   mutated_source COUNT SEED FILE.cl...
 *
 * A source is one of the files with a few of its tokens dropped, repeated, or replaced by
 * tokens of any of the files; its kernels get a buffer and small numbers. Sources that the
 * compiler neither compiles nor refuses are counted, and written to the folder that
 * MUTATED_KEEP names. Kernels may run forever: TEGRACL_EMULATOR=check:watchdog=N ends them.
 */
#include <ctype.h>

#include "tests/end_to_end/programs/mutate.h"

enum { BUFFER_BYTES = 65536, MOST_FILES = 64, MOST_CHANGES = 4 };

/* A token of a file: a word, a number, punctuation or white space. */
struct token {
  const char *at;
  size_t size;
};

struct tokens {
  char *text;
  struct token *items;
  size_t count;
};

static struct tokens files[MOST_FILES], all;
static int file_count;
static unsigned stuck; /* number of sources that the compiler neither compiled nor refused */

static void add_token(struct tokens *tokens, struct token token) {
  if (!(tokens->count & (tokens->count - 1))) {
    tokens->items =
        realloc(tokens->items, (tokens->count ? 2 * tokens->count : 1) * sizeof *tokens->items);
    CHECK(tokens->items);
  }
  tokens->items[tokens->count++] = token;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static void read_tokens(const char *name, struct tokens *tokens) {
  enum { MOST_BYTES = 1 << 20 };
  char *text = calloc(1, MOST_BYTES);
  FILE *file = fopen(name, "rb");
  CHECK(text && file && fread(text, 1, MOST_BYTES - 1, file) > 0);
  fclose(file);
  tokens->text = text;
  for (const char *at = text; *at;) {
    size_t size = 1;
    while (at[size] && ((is_word(*at) && is_word(at[size])) ||
                        (isspace((unsigned char)*at) && isspace((unsigned char)at[size]))))
      size++;
    add_token(tokens, (struct token){at, size});
    add_token(&all, (struct token){at, size});
    at += size;
  }
}

static void change(struct token *tokens, size_t count) {
  const size_t at = random64() % count;
  struct token *other = &tokens[random64() % count];
  switch (random64() % 6) {
  case 0:
    tokens[at].size = 0;
    break;
  case 1:
    tokens[at] = *other;
    break;
  case 2: {
    const struct token kept = tokens[at];
    tokens[at] = *other;
    *other = kept;
    break;
  }
  case 3: /* replaces several adjacent tokens */
    for (size_t i = 0; i < random64() % 16 && at + i < count && other + i < tokens + count; i++)
      tokens[at + i] = other[i];
    break;
  default:
    tokens[at] = all.items[random64() % all.count];
  }
}

static char *make_source(void) {
  const struct tokens *file = &files[random64() % (uint64_t)file_count];
  struct token *tokens = malloc(file->count * sizeof *tokens);
  CHECK(tokens);
  memcpy(tokens, file->items, file->count * sizeof *tokens);
  for (uint64_t changes = random64() % MOST_CHANGES; changes; changes--)
    change(tokens, file->count);
  size_t size = 1;
  for (size_t i = 0; i < file->count; i++)
    size += tokens[i].size;
  char *source = malloc(size), *at = source;
  CHECK(source);
  for (size_t i = 0; i < file->count; i++) {
    memcpy(at, tokens[i].at, tokens[i].size);
    at += tokens[i].size;
  }
  *at = 0;
  free(tokens);
  return source;
}

/* If the build failed, the log must not report an internal error of the compiler. */
static void check_log(const struct opencl *opencl, cl_program program, const char *source) {
  static const char *const ours[] = {
      "is a bug in tegracl", "killed by signal", "did not finish", "crashed",
      "ran out of memory",   "malformed answer", "damaged"};
  static char log[1 << 16];
  cl_build_status status;
  CHECK_CL(clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                                 &status, NULL),
           CL_SUCCESS);
  if (status != CL_BUILD_ERROR ||
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL))
    return;
  CHECK(*log);
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
    char *words = strstr(log, ours[i]);
    if (!words)
      continue;
    printf("%u: %.200s\n", stuck, words);
    const char *folder = getenv("MUTATED_KEEP");
    char name[4096];
    snprintf(name, sizeof name, "%s/%u.cl", folder ? folder : "", stuck++);
    FILE *file = folder ? fopen(name, "w") : NULL;
    if (file) {
      fputs(source, file);
      fclose(file);
    }
    return;
  }
}

static const char *pick_options(void) {
  static const char *const options[] = {"", "-cl-std=CL3.0", "-cl-std=CL3.0 -cl-opt-disable",
                                        "-cl-std=CL3.0 -cl-fast-relaxed-math -Werror"};
  return options[random64() % (sizeof options / sizeof options[0])];
}

int main(int argc, char **argv) {
  CHECK(argc > 3 && argc - 3 <= MOST_FILES);
  seed_random(argv[2]);
  for (int i = 3; i < argc; i++)
    read_tokens(argv[i], &files[file_count++]);
  struct opencl opencl;
  opencl_open(&opencl);
  const long count = atol(argv[1]);
  for (long n = 0; n < count; n++) {
    begin_input(n);
    char *source = make_source();
    cl_program program = opencl_program(&opencl, source);
    CHECK_CL(clRetainProgram(program), CL_SUCCESS);
    cl_context context = opencl.context;
    build_options = pick_options();
    try_program(&opencl, program, BUFFER_BYTES);
    if (opencl.context == context)
      check_log(&opencl, program, source);
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
    free(source);
  }
  printf("%ld sources: %u not built, %u of them the compiler did not get through; kernels: %u "
         "failed, %u ran\n",
         count, counts.not_built, stuck, counts.failed, counts.ran);
  CHECK(counts.not_built && counts.ran);
  for (int i = 0; i < file_count; i++) {
    free(files[i].items);
    free(files[i].text);
  }
  free(all.items);
  opencl_close(&opencl);
  return 0;
}
