/* Programs with headers, on disk and from the application: which one is used, that builds are
 * cached, and that each change of a header is detected. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"
#include "tests/tick.h"

static const char source[] = "#include \"value.h\"\n"
                             "kernel void k(global int *out) { *out = VALUE; }\n";

static cl_int run(const struct opencl *opencl, cl_program program) {
  cl_int value = -1;
  opencl_once(opencl, program, "k", &value, sizeof value);
  return value;
}

/* Runs the program with the headers on disk and returns its result. */
static cl_int built(const struct opencl *opencl, const char *options) {
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  return run(opencl, program);
}

/* Runs the program with a header of the application, which it releases. */
static cl_int compiled_with(const struct opencl *opencl, cl_program text) {
  cl_int error;
  const char *name = "value.h";
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clCompileProgram(program, 1, &opencl->device, "", 1, &text, &name, NULL, NULL),
           CL_SUCCESS);
  cl_program linked =
      clLinkProgram(opencl->context, 1, &opencl->device, "", 1, &program, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(text), CL_SUCCESS);
  return run(opencl, linked);
}

static cl_int compiled(const struct opencl *opencl, const char *header) {
  return compiled_with(opencl, opencl_program(opencl, header));
}

/* A build is not cached if a header may have changed during it. */
static void put_header(const char *name, int value) {
  FILE *file = fopen(name, "w");
  CHECK(file);
  fprintf(file, "#define VALUE %d\n", value);
  fclose(file);
  wait_for_tick();
}

/* Returns the number of new entries in the cache since the last call. */
static int new_entries(void) {
  static int last;
  int count = 0;
  DIR *folder = opendir("cache");
  CHECK(folder);
  for (const struct dirent *item; (item = readdir(folder));)
    count += strstr(item->d_name, ".bin") != NULL;
  closedir(folder);
  const int more = count - last;
  last = count;
  return more;
}

static void test_disk(const struct opencl *opencl) {
  put_header("inc/value.h", 1);
  CHECK(built(opencl, "-I inc") == 1);
  CHECK(new_entries() == 2); /* entries for the build and for the list of its headers */
  CHECK(built(opencl, "-I inc") == 1);
  CHECK(new_entries() == 0);
  put_header("inc/value.h", 2);
  CHECK(built(opencl, "-I inc") == 2);
  CHECK(new_entries() == 1);
  put_header("inc/value.h", 1);
  CHECK(built(opencl, "-I inc") == 1);
  CHECK(new_entries() == 0);
  put_header("value.h", 3); /* found before the other one */
  CHECK(built(opencl, "-I inc") == 3);
  CHECK(new_entries() == 1);
  CHECK(unlink("value.h") == 0);
  CHECK(built(opencl, "-I inc") == 1);
  put_header("front/value.h", 4);
  CHECK(built(opencl, "-I front -I inc") == 4);
  CHECK(unlink("front/value.h") == 0);
  CHECK(built(opencl, "-I front -I inc") == 1);
  put_header("front/value.h", 5);
  CHECK(built(opencl, "-I front -I inc") == 5);
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  new_entries();
}

/* Messages contain the names of the headers and no other names. */
static void test_messages(const struct opencl *opencl) {
  const char *name = "folder/value.h";
  cl_program program = opencl_program(opencl, "#include \"folder/value.h\"\n"),
             text = opencl_program(opencl, "wrong\n");
  CHECK_CL(clCompileProgram(program, 1, &opencl->device, "", 1, &text, &name, NULL, NULL),
           CL_COMPILE_PROGRAM_FAILURE);
  char log[1024];
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  CHECK(strstr(log, "\nfolder/value.h:1:1: error: unknown type name 'wrong'\n"));
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(text), CL_SUCCESS);
}

static void test_given(const struct opencl *opencl) {
  CHECK(compiled(opencl, "#define VALUE 7\n") == 7);
  CHECK(new_entries() == 3); /* including the link */
  CHECK(compiled(opencl, "#define VALUE 7\n") == 7);
  CHECK(new_entries() == 0);
  CHECK(compiled(opencl, "#define VALUE 8\n") == 8);
  put_header("value.h", 9); /* the application's header is found first */
  CHECK(compiled(opencl, "#define VALUE 7\n") == 7);
  CHECK(compiled(opencl, "#include \"front/value.h\"\n") == 5);
  CHECK(compiled(opencl, "constant char name[] = __FILE__;\n"
                         "#define VALUE (sizeof name - 1)\n") == sizeof("value.h") - 1);

  /* The length of the first string counts its NUL. */
  static const char first[] = "#define SEVEN 7\n";
  const char *parts[] = {first, "#define VALUE SEVEN\n"};
  const size_t lengths[] = {sizeof first, 0};
  cl_int error;
  cl_program text = clCreateProgramWithSource(opencl->context, 2, parts, lengths, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK(compiled_with(opencl, text) == 7);
}

int main(void) {
  char folder[] = "/tmp/tegracl-headers-XXXXXX";
  CHECK(mkdtemp(folder) && chdir(folder) == 0);
  CHECK(mkdir("inc", S_IRWXU) == 0 && mkdir("front", S_IRWXU) == 0);
  char cache[sizeof folder + 8];
  snprintf(cache, sizeof cache, "%s/cache", folder);
  setenv("TEGRACL_CACHE_DIR", cache, 1);
  struct opencl opencl;
  opencl_open(&opencl);
  test_disk(&opencl);
  test_given(&opencl);
  test_messages(&opencl);
  opencl_close(&opencl);
  CHECK(chdir("/") == 0);
  char command[sizeof folder + 16];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) ? 1 : 0;
}
