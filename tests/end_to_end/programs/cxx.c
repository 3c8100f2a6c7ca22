/* C++ for OpenCL (cl_ext_cxx_for_opencl): language versions, features that C lacks, linking with
 * C, and constructors at program scope, which the driver does not run. */
#include "tests/end_to_end/opencl.h"

#define CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT 0x4230

enum { ITEMS = 64 };

static char log_text[16384];

static cl_int build(const struct opencl *opencl, cl_program program, const char *options) {
  const cl_int error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
  CHECK_CL(clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log_text,
                                 log_text, NULL),
           CL_SUCCESS);
  return error;
}

static cl_program built(const struct opencl *opencl, const char *source, const char *options) {
  cl_program program = opencl_program(opencl, source);
  const cl_int error = build(opencl, program, options);
  if (error)
    fprintf(stderr, "%s: %s\n", options, log_text);
  CHECK_CL(error, CL_SUCCESS);
  return program;
}

static void run(const struct opencl *opencl, cl_program program, cl_int *data) {
  const size_t items = ITEMS;
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem mem =
      clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, ITEMS * sizeof *data, data, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof mem, &mem), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mem, CL_TRUE, 0, ITEMS * sizeof *data, data, 0, NULL,
                               NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(mem), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* The macro states the language. For CLC++ it is the version that the device reports. */
static void check_versions(const struct opencl *opencl) {
  static const struct {
    const char *options;
    cl_int version;
  } rows[] = {{"-cl-std=CLC++", 100}, {"-cl-std=CLC++1.0", 100}, {"-cl-std=CLC++2021", 202100}};
  char names[16384];
  cl_version reported;
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT,
                           sizeof reported, &reported, NULL),
           CL_SUCCESS);
  CHECK(reported == CL_MAKE_VERSION(1, 0, 0));
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL),
           CL_SUCCESS);
  CHECK(strstr(names, "cl_ext_cxx_for_opencl"));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_int data[ITEMS] = {0};
    run(opencl,
        built(opencl,
              "#ifdef cl_ext_cxx_for_opencl\n#error an extension of no language\n#endif\n"
              "kernel void k(global int *p) { p[get_global_id(0)] = __OPENCL_CPP_VERSION__; }",
              rows[i].options),
        data);
    CHECK(data[0] == rows[i].version && data[ITEMS - 1] == rows[i].version);
  }
  cl_program other = opencl_program(opencl, "kernel void k() {}");
  CHECK_CL(build(opencl, other, "-cl-std=CLC++17"), CL_INVALID_BUILD_OPTIONS);
  CHECK_CL(clReleaseProgram(other), CL_SUCCESS);
}

static const char language[] =
    "namespace shapes {\n"
    "enum class kind : int { round = 3, square };\n"
    "template <typename T, int N> struct tuple {\n"
    "  T values[N];\n"
    "  T &operator[](int i) { return values[i]; }\n"
    "  template <typename F> T fold(F f, T x) { for (T v : values) x = f(x, v); return x; }\n"
    "};\n"
    "class base { protected: int a = 1; public: int get() const { return a; } };\n"
    "class derived : public base {\n"
    "  int b;\n"
    "public:\n"
    "  derived(int x) : b(x) {}\n"
    "  ~derived() { b = 0; }\n"
    "  int sum() const { return a + b + get(); }\n"
    "  derived operator+(const derived &other) const { return derived(b + other.b); }\n"
    "};\n"
    "}\n"
    "template <typename T> T twice(T x) { return x + x; }\n"
    "int overloaded(int) { return 1; }\n"
    "int overloaded(float) { return 2; }\n"
    "void add(int &to, int x = 5) { to += x; }\n"
    "struct counter { int value; constexpr counter(int x) __constant : value(x * 2) {} };\n"
    "__constant counter start(21);\n"
    "kernel void k(global int *p) {\n"
    "  local int near[64];\n"
    "  int i = get_global_id(0), x = p[i];\n"
    "  using namespace shapes;\n"
    "  tuple<int, 4> t{{1, 2, 3, i}};\n"
    "  t[1] = x;\n"
    "  derived d(4), e = d + derived(i);\n"
    "  auto times = [=](int a, int b) { return a * 2 + b; };\n"
    "  near[i] = t.fold(times, 0);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  add(x, near[63 - i]);\n"
    "  add(x);\n"
    "  if constexpr (sizeof(long) == 8) x += e.sum();\n"
    "  static int calls = 0;\n"
    "  if (i == 0) calls++;\n"
    "  float2 v = static_cast<float2>(0.5f) * 4.0f;\n"
    "  p[i] = x + twice<int>(i) + overloaded(i) * overloaded(1.0f) + start.value +\n"
    "         static_cast<int>(kind::square) + (int)v.y + sub_group_reduce_add(1);\n"
    "}\n";

static cl_int expect(cl_int i) {
  const cl_int other = ITEMS - 1 - i, old_of_other = 7 * other;
  /* 1, p[other], 3 and other; each step doubles the previous value and adds one of these */
  const cl_int near = ((1 * 2 + old_of_other) * 2 + 3) * 2 + other;
  const cl_int sum = 1 + (4 + i) + 1;
  return 7 * i + near + 5 + sum + 2 * i + 1 * 2 + 42 + 4 + 2 + 32;
}

static void check_language(const struct opencl *opencl) {
  static const char *const options[] = {"-cl-std=CLC++", "-cl-std=CLC++2021",
                                        "-cl-std=CLC++2021 -cl-opt-disable"};
  for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
    cl_int data[ITEMS];
    for (cl_int i = 0; i < ITEMS; i++)
      data[i] = 7 * i;
    run(opencl, built(opencl, language, options[o]), data);
    for (cl_int i = 0; i < ITEMS; i++)
      if (data[i] != expect(i)) {
        fprintf(stderr, "%s: item %d is %d, not %d\n", options[o], i, data[i], expect(i));
        exit(1);
      }
  }
}

static void check_link(const struct opencl *opencl) {
  const char *const sources[] = {
      "extern \"C\" int of_c(int x);\n"
      "extern \"C\" int of_cxx(int x) { auto f = [](int y) { return y * 10; }; return f(x); }\n"
      "kernel void k(global int *p) { int i = get_global_id(0); p[i] = of_c(i); }\n",
      "int of_cxx(int x);\n"
      "int of_c(int x) { return of_cxx(x) + 3; }\n"};
  cl_program parts[2];
  cl_int error, data[ITEMS];
  for (int i = 0; i < 2; i++) {
    parts[i] = opencl_program(opencl, sources[i]);
    CHECK_CL(clCompileProgram(parts[i], 0, NULL, i ? "-cl-std=CL3.0" : "-cl-std=CLC++", 0, NULL,
                              NULL, NULL, NULL),
             CL_SUCCESS);
  }
  cl_program whole = clLinkProgram(opencl->context, 0, NULL, "", 2, parts, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  run(opencl, whole, data);
  for (cl_int i = 0; i < ITEMS; i++)
    CHECK(data[i] == 10 * i + 3);
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseProgram(parts[i]), CL_SUCCESS);
}

/* Objects at program scope with values that are known at compile time, and others. */
static void check_constructors(const struct opencl *opencl) {
  static const char *const options[] = {"-cl-std=CLC++2021", "-cl-std=CLC++2021 -cl-opt-disable"};
  static const char *const refused[] = {"struct s { int v; s() : v(get_global_id(0)) {} };\n"
                                        "s object;\n"
                                        "kernel void k(global int *p) { p[0] = object.v; }\n",
                                        "struct s { int v; ~s() { v = 0; } };\n"
                                        "s object;\n"
                                        "kernel void k(global int *p) { p[0] = object.v; }\n"};
  for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
    cl_int data[ITEMS] = {0};
    run(opencl,
        built(opencl,
              "int next(int x);\n"
              "struct s { int v; s() : v(next(41)) {} };\n"
              "s object;\n"
              "int next(int x) { return x + 1; }\n"
              "kernel void k(global int *p) { p[get_global_id(0)] = object.v; }\n",
              options[o]),
        data);
    CHECK(data[0] == 42);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
      cl_program program = opencl_program(opencl, refused[i]);
      CHECK_CL(build(opencl, program, options[o]), CL_BUILD_PROGRAM_FAILURE);
      if (!strstr(log_text, "constructors or destructors")) {
        fprintf(stderr, "%s\n", log_text);
        exit(1);
      }
      CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
    }
  }
}

int main(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  check_versions(&opencl);
  check_language(&opencl);
  check_link(&opencl);
  check_constructors(&opencl);
  opencl_close(&opencl);
  return 0;
}
