/* Options of clLinkProgram: which are known, and to which code they apply; and symbols that
 * several objects may define. */
#include <float.h>
#include <stdbool.h>

#include "tests/end_to_end/opencl.h"

static const char caller[] = "float halved(float x);\n"
                             "kernel void k(global float *x) { *x = halved(*x); }\n";
static const char callee[] = "float halved(float x) { return x * 0.5f; }\n";

static char last_error[1024]; /* the last message of the context's callback */

static void CL_CALLBACK keep_error(const char *text, const void *info, size_t size, void *data) {
  snprintf(last_error, sizeof last_error, "%s", text);
}

static cl_program object(const struct opencl *opencl, const char *source, const char *options) {
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clCompileProgram(program, 1, &opencl->device, options, 0, NULL, NULL, NULL, NULL),
           CL_SUCCESS);
  return program;
}

static cl_program linked(const struct opencl *opencl, const char *options, const cl_program *parts,
                         cl_uint count) {
  cl_int error;
  cl_program program =
      clLinkProgram(opencl->context, 1, &opencl->device, options, count, parts, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  return program;
}

/* Whether half of the smallest normal number is flushed to zero. Releases the program. */
static bool flushes(const struct opencl *opencl, cl_program program) {
  float x = FLT_MIN;
  opencl_once(opencl, program, "k", &x, sizeof x);
  CHECK(x == 0 || x == FLT_MIN / 2);
  return x == 0;
}

static void accepted(const struct opencl *opencl) {
  static const char *const options[] = {
      "-cl-denorms-are-zero",
      "-cl-no-signed-zeros -cl-unsafe-math-optimizations",
      " -cl-finite-math-only  -cl-fast-relaxed-math ",
      "-cl-no-subgroup-ifp",
      "-cl-nv-maxrregcount=32 -cl-nv-verbose -cl-nv-opt-level 3",
      "-create-library",
      "-enable-link-options -create-library -cl-denorms-are-zero",
  };
  cl_program part = object(opencl, "kernel void k() {}", "");
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    CHECK_CL(clReleaseProgram(linked(opencl, options[i], &part, 1)), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(part), CL_SUCCESS);
}

static void refused(const struct opencl *opencl) {
  static const struct {
    const char *options, *named;
  } rows[] = {
      {"-DX=1", "'-DX=1' is only valid for compiling"},
      {"-cl-denorms-are-zero -I include", "'-I' is only valid for compiling"},
      {"-cl-std=CL3.0", "'-cl-std=CL3.0' is only valid for compiling"},
      {"-cl-mad-enable", "'-cl-mad-enable' is only valid for compiling"},
      {"-create-library -Werror", "'-Werror' is only valid for compiling"},
      {"-enable-link-options",
       "'-enable-link-options' is only valid for links with -create-library"},
      {"-cl-unheard-of", "'-cl-unheard-of' is not known"},
      {"-cl-nv-maxrregcount=many", "'-cl-nv-maxrregcount=many' has a missing or malformed value"},
  };
  cl_int error;
  cl_program part = object(opencl, "kernel void k() {}", "");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK(!clLinkProgram(opencl->context, 1, &opencl->device, rows[i].options, 1, &part, NULL, NULL,
                         &error));
    CHECK_CL(error, CL_INVALID_LINKER_OPTIONS);
    CHECK(strstr(last_error, rows[i].named));
  }
  cl_program source = opencl_program(opencl, caller);
  CHECK_CL(clBuildProgram(source, 1, &opencl->device, "-create-library", NULL, NULL),
           CL_INVALID_BUILD_OPTIONS);
  CHECK_CL(clReleaseProgram(source), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(part), CL_SUCCESS);
}

/* An option of the objects applies if all of them have it. An option of the link applies to
 * objects, and to libraries that allow it. */
static void applied(const struct opencl *opencl) {
  static const struct {
    const char *caller, *callee, *library, *link; /* or NULL */
    bool flushes;
  } rows[] = {
      {"", "", NULL, "", false},
      {"", "", NULL, "-cl-denorms-are-zero", true},
      {"-cl-denorms-are-zero", "", NULL, "", false},
      {"-cl-denorms-are-zero", "-cl-denorms-are-zero", NULL, "", true},
      {"", "", "-create-library", "-cl-denorms-are-zero", false},
      {"", "", "-create-library -enable-link-options", "-cl-denorms-are-zero", true},
      {"-cl-denorms-are-zero", "-cl-denorms-are-zero", "-create-library", "", true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_program parts[] = {object(opencl, caller, rows[i].caller),
                          object(opencl, callee, rows[i].callee)};
    if (rows[i].library) {
      cl_program library = linked(opencl, rows[i].library, &parts[1], 1);
      CHECK_CL(clReleaseProgram(parts[1]), CL_SUCCESS);
      parts[1] = library;
    }
    CHECK(flushes(opencl, linked(opencl, rows[i].link, parts, 2)) == rows[i].flushes);
    for (int k = 0; k < 2; k++)
      CHECK_CL(clReleaseProgram(parts[k]), CL_SUCCESS);
  }
}

/* A build of an object accepts the options of builds. */
static void built(const struct opencl *opencl) {
  cl_int error;
  size_t size;
  cl_program part = object(opencl, "kernel void k(global float *x) { *x *= HALF; }", "-DHALF=0.5f");
  unsigned char *binary = opencl_binary_of(part, &size);
  const unsigned char *given = binary;
  cl_program again =
      clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size, &given, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  free(binary);
  CHECK_CL(clBuildProgram(again, 1, &opencl->device,
                          "-DHALF=0.5f -cl-std=CL1.2 -cl-denorms-are-zero", NULL, NULL),
           CL_SUCCESS);
  CHECK(flushes(opencl, again));
  CHECK_CL(clReleaseProgram(part), CL_SUCCESS);
}

/* Both objects have the same inline function, as if from a header, and one calls a function of
 * the other. */
static void shared(const struct opencl *opencl) {
  static const char *const sources[] = {
      "inline int twice(int x) { return 2 * x; }\n"
      "extern inline int next(int x) { return x + 1; }\n"
      "kernel void other(global int *x) { *x = twice(next(*x)); }\n",
      "inline int twice(int x) { return 2 * x; }\n"
      "int next(int x);\n"
      "kernel void k(global int *x) { *x = next(twice(*x)); }\n"};
  static const char *const options[] = {"", "-cl-opt-disable"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    const cl_program parts[] = {object(opencl, sources[0], options[i]),
                                object(opencl, sources[1], options[i])};
    int x = 20;
    opencl_once(opencl, linked(opencl, "", parts, 2), "k", &x, sizeof x);
    CHECK(x == 41);
    for (int k = 0; k < 2; k++)
      CHECK_CL(clReleaseProgram(parts[k]), CL_SUCCESS);
  }
}

int main(void) {
  struct opencl opencl;
  opencl_open_with_notify(&opencl, keep_error);
  accepted(&opencl);
  refused(&opencl);
  applied(&opencl);
  shared(&opencl);
  built(&opencl);
  opencl_close(&opencl);
  return 0;
}
