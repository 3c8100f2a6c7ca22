/* Programs that are compiled in units: their results are right, a change of one kernel rebuilds one
 * unit, errors and binaries are the same as for a whole program, and line numbers are those of the
 * source.
 *
 *   units TEGRACLC [prebuild]     prebuild: TEGRACLC can load the driver
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"
#include "tests/end_to_end/programs/container.h"
#include "tests/end_to_end/programs/unit_source.h"

enum { FORMAT_AT = 8, UNITS_AT = 48 };
enum { FORMAT_WHOLE = 11, FORMAT_UNITS = 12, CHANGED = 2 };

/* ---- messages of the driver --------------------------------------------------------- */

struct told {
  unsigned units, cached;
  char words[4096];
};

/* Builds all units while standard error is redirected to a file. */
static cl_program build(const struct opencl *opencl, const char *options, cl_int result,
                        struct told *told) {
  const char *text = source;
  size_t size;
  cl_int error;
  cl_program program = clCreateProgramWithSource(opencl->context, 1, &text, &source_size, &error);
  CHECK_CL(error, CL_SUCCESS);
  fflush(stderr);
  const int old = dup(STDERR_FILENO), file = memfd_create("stderr", MFD_CLOEXEC);
  CHECK(old >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
  error = clBuildProgram(program, 1, &opencl->device, options, NULL, NULL);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
           CL_SUCCESS);
  fflush(stderr);
  CHECK(dup2(old, STDERR_FILENO) >= 0);
  *told = (struct told){0};
  const ssize_t got = pread(file, told->words, sizeof told->words - 1, 0);
  close(file);
  close(old);
  printf("%s", got > 0 ? told->words : "nothing\n");
  const char *units = strstr(told->words, "; ");
  if (units)
    CHECK(sscanf(units, "; %u units, %u from the cache", &told->units, &told->cached) == 2);
  CHECK_CL(error, result);
  return program;
}

/* ---- tests ----------------------------------------------------------------------------- */

static void test_changes(const struct opencl *opencl) {
  struct told first, second;
  make_source("", -1);
  cl_program program = build(opencl, "", CL_SUCCESS, &first);
  CHECK(first.units > 2 && first.units <= KERNELS && first.cached == 0);
  run(opencl, program, -1);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  /* Changes the constant of a kernel, and moves all kernels to other lines. */
  make_source("\n\n/* more */\n", CHANGED);
  program = build(opencl, "", CL_SUCCESS, &second);
  CHECK(second.units == first.units && second.cached == first.units - 1);
  run(opencl, program, CHANGED);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  /* Building the same program again finds one entry in the cache. */
  program = build(opencl, "", CL_SUCCESS, &second);
  CHECK(strstr(second.words, "from the cache") && second.units == 0);
  run(opencl, program, CHANGED);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

static void test_binary(const struct opencl *opencl) {
  struct told told;
  cl_int error, status;
  size_t size;
  char names[256], expected_names[256] = "";
  make_source("", -1);
  cl_program program = build(opencl, "", CL_SUCCESS, &told);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL),
           CL_SUCCESS);
  for (int k = 0; k < KERNELS; k++)
    sprintf(expected_names + strlen(expected_names), "%sk%d", k ? ";" : "", k);
  CHECK(!strcmp(names, expected_names));
  unsigned char *binary = opencl_binary_of(program, &size);
  CHECK(container_word(binary, FORMAT_AT) == FORMAT_UNITS && container_word(binary, UNITS_AT) > 2);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size,
                                      (const unsigned char **)&binary, &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(status, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_SUCCESS);
  run(opencl, program, -1);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(binary);
}

/* A large kernel is a unit even if it is the only one: the text around it can change. */
static void test_single(const struct opencl *opencl) {
  for (unsigned lines = 0; lines < 2; lines++) {
    struct told told;
    cl_int error;
    source_size = 0;
    add("%s%s", lines ? "\n" : "", common);
    add_kernel("single", 1, 7);
    cl_program program = build(opencl, "", CL_SUCCESS, &told);
    CHECK(told.units == 1 && told.cached == lines);
    cl_kernel kernel = clCreateKernel(program, "single", &error);
    CHECK_CL(error, CL_SUCCESS);
    run_kernel(opencl, opencl->queue, kernel, 1, 7);
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  }
}

/* A variable that several kernels use must not be in several units. */
static void test_whole(const struct opencl *opencl) {
  struct told told;
  size_t size;
  make_source("global uint counter = 1;\nkernel void count(global uint *p) { *p = counter++; }\n",
              -1);
  cl_program program = build(opencl, "-cl-std=CL3.0", CL_SUCCESS, &told);
  unsigned char *binary = opencl_binary_of(program, &size);
  CHECK(container_word(binary, FORMAT_AT) == FORMAT_WHOLE && told.units == 0);
  run(opencl, program, -1);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(binary);
}

/* Errors that only NVRTC detects are reported for the whole program. */
static void test_error(const struct opencl *opencl) {
  struct told told;
  static char log[65536];
  make_source("", -1);
  add("kernel void big(global uint *p) { local uint l[20000]; l[get_local_id(0)] = *p;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE); *p = l[get_local_id(0) ^ 1]; }\n");
  cl_program program = build(opencl, "", CL_BUILD_PROGRAM_FAILURE, &told);
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  CHECK(strstr(log, "exceed the local memory of the device"));
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* The verbose log lists every kernel in the order of the source. */
static void test_verbose(const struct opencl *opencl) {
  struct told told;
  static char log[65536];
  make_source("", -1);
  cl_program program = build(opencl, "-cl-nv-verbose", CL_SUCCESS, &told);
  CHECK(told.units > 2);
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  const char *at = log;
  for (int k = 0; k < KERNELS; k++) {
    char words[32];
    snprintf(words, sizeof words, "k%d: ", k);
    CHECK((at = strstr(at, words)));
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* The line numbers in the machine code are those of the source, in every unit. */
static void test_lines(const struct opencl *opencl, const char *tegraclc) {
  struct told told;
  size_t size;
  char folder[] = "/tmp/tegracl-units-XXXXXX", file[64], command[512], line[512];
  unsigned found = 0, beyond = 0, last = 0;
  make_source("\n\n\n", -1);
  for (size_t i = 0; i < source_size; i++)
    last += source[i] == '\n';
  cl_program program = build(opencl, "", CL_SUCCESS, &told);
  CHECK(told.units > 2);
  unsigned char *binary = opencl_binary_of(program, &size);
  CHECK(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/units.bin", folder);
  FILE *out = fopen(file, "wb");
  CHECK(out && fwrite(binary, 1, size, out) == size && fclose(out) == 0);
  snprintf(command, sizeof command, "%s --disassemble %s", tegraclc, file);
  FILE *text = popen(command, "r");
  CHECK(text);
  /* Finds, for each kernel, the line of its store in the source. */
  enum { FIRST_LINE = 6, LINES_EACH = 9 + STEPS, STORE = 7 + STEPS - 1 };
  unsigned char seen[KERNELS] = {0};
  while (fgets(line, sizeof line, text)) {
    unsigned number;
    if (sscanf(line, " //## line %u of <program source>", &number) != 1)
      continue;
    beyond += number > last;
    for (int k = 0; k < KERNELS; k++)
      seen[k] |= number == (unsigned)(FIRST_LINE + k * LINES_EACH + STORE - 1);
  }
  CHECK(pclose(text) == 0);
  for (int k = 0; k < KERNELS; k++)
    found += seen[k];
  printf("lines of %u kernels, %u beyond the source\n", found, beyond);
  CHECK(found == KERNELS && beyond == 0);
  CHECK(unlink(file) == 0 && rmdir(folder) == 0);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(binary);
}

static void write_file(const char *folder, const char *name, const char *text, size_t size) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "wb");
  CHECK(out && fwrite(text, 1, size, out) == size && fclose(out) == 0);
}

/* An application finds in the cache the programs that tegraclc --prebuild has built. A file with
 * an error does not keep it from building the others. */
static void test_prebuild(const struct opencl *opencl, const char *tegraclc, const char *folder) {
  static const char bad[] = "kernel void bad(";
  struct told told;
  char command[512];
  make_source("\n\n\n\n", -1);
  write_file(folder, "bad.cl", bad, sizeof bad - 1);
  write_file(folder, "good.cl", source, source_size);
  snprintf(command, sizeof command,
           "cd %s; %s --prebuild -DX=1 -DY bad.cl good.cl >told 2>log; test $? = 1 && "
           "grep -q '^bad.cl: failed' told && grep -q '^good.cl: built' told && grep -q error log",
           folder, tegraclc);
  CHECK(system(command) == 0);
  cl_program program = build(opencl, "-DX=1 -DY", CL_SUCCESS, &told);
  CHECK(strstr(told.words, "from the cache"));
  run(opencl, program, -1);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  snprintf(command, sizeof command, "cd %s; TEGRACL_CACHE=0 %s --prebuild good.cl 2>log", folder,
           tegraclc);
  CHECK(system(command) != 0);
}

static void empty(const char *folder) {
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
}

int main(int argc, char **argv) {
  struct opencl opencl;
  char folder[] = "/tmp/tegracl-cache-XXXXXX";
  CHECK((argc == 2 || argc == 3) && mkdtemp(folder));
  setenv("TEGRACL_CACHE_DIR", folder, 1);
  unsetenv("TEGRACL_CACHE");
  setenv("TEGRACL_DEBUG", "build", 1);
  opencl_open(&opencl);
  test_changes(&opencl);
  test_binary(&opencl);
  test_single(&opencl);
  test_whole(&opencl);
  test_error(&opencl);
  test_verbose(&opencl);
  test_lines(&opencl, argv[1]);
  if (argc == 3)
    test_prebuild(&opencl, argv[1], folder);
  opencl_close(&opencl);
  empty(folder);
  return 0;
}
