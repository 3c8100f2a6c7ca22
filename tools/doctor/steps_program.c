/* Steps about the compiler, and about OpenCL as applications use it. */
#include <stdlib.h>
#include <string.h>

/* Declares clGetExtensionFunctionAddress, which is needed because the loader's extension does not
 * belong to a platform. */
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <dlfcn.h>

#include "compiler/compiler.h"
#include "runtime/device/device.h"
#include "tools/doctor/advice.h"
#include "tools/doctor/doctor.h"

/* ---- compiler ---------------------------------------------------------------------- */

static const char source[] = "kernel void doctor(global uint *out, uint value) {\n"
                             "  size_t i = get_global_id(0);\n"
                             "  out[i] = value * (uint)i + STAMP;\n"
                             "}\n";

static void say_lines(struct doctor *d, const char *text) {
  while (text && *text) {
    size_t n = strcspn(text, "\n");
    doctor_say(d, "  %.*s", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

/* Returns a new number for the source, so that the build is not in the cache. */
static uint32_t new_stamp(void) {
  return (uint32_t)(base_clock_ns() >> 8);
}

static bool read_back(struct doctor *d, const struct cc_result *result) {
  struct module_code *module = NULL;
  char error[256] = "";
  enum cc_status status =
      cc_module_read(result->binary, result->binary_size, &module, error, sizeof(error));
  if (status != CC_OK) {
    doctor_say(d, "cannot read the program binary: %s", error);
    return false;
  }
  bool good = module->kernel_count == 1;
  if (good)
    doctor_say(d, "kernel %s: %u registers, %u bytes of parameters at 0x%x",
               module->kernels[0].name, module->kernels[0].registers,
               module->kernels[0].param_bytes, module->kernels[0].param_offset);
  cc_module_free(module);
  return good;
}

bool step_compiler(struct doctor *d) {
  enum { SM = 87, LOCAL_BYTES = 48 * 1024 };
  static const struct cc_device device = {
      .sm = SM, .version = 300, .extensions = "", .c_features = "", .local_mem_bytes = LOCAL_BYTES};
  struct cc_source text = {source, sizeof(source) - 1};
  char options[64];
  snprintf(options, sizeof(options), "-DSTAMP=%uu", new_stamp());
  struct cc_job job = {.action = CC_BUILD,
                       .device = &device,
                       .sources = &text,
                       .source_count = 1,
                       .options = options};
  struct cc_result result = {0};
  advise_compiler(d);
  uint64_t start = base_clock_ns();
  enum cc_status status = cc_build(&job, &result);
  doctor_say(d, "build of an OpenCL kernel: status %d, %zu bytes, %.0f ms", (int)status,
             result.binary_size, (double)(base_clock_ns() - start) / 1e6);
  say_lines(d, result.log);
  if (status == CC_NOT_AVAILABLE)
    doctor_say(d, "clang or NVRTC is missing; programs built elsewhere (tegraclc) still run");
  bool good = status == CC_OK && read_back(d, &result);
  cc_result_finish(&result);
  return good;
}

/* ---- OpenCL ------------------------------------------------------------------------ */

#define CL_FUNCTIONS(X)                                                                            \
  X(clGetPlatformIDs)                                                                              \
  X(clGetPlatformInfo)                                                                             \
  X(clGetExtensionFunctionAddress)                                                                 \
  X(clGetDeviceIDs)                                                                                \
  X(clGetDeviceInfo)                                                                               \
  X(clCreateContext)                                                                               \
  X(clCreateCommandQueueWithProperties)                                                            \
  X(clCreateBuffer)                                                                                \
  X(clCreateProgramWithSource)                                                                     \
  X(clBuildProgram)                                                                                \
  X(clGetProgramBuildInfo)                                                                         \
  X(clCreateKernel)                                                                                \
  X(clSetKernelArg)                                                                                \
  X(clEnqueueNDRangeKernel)                                                                        \
  X(clEnqueueReadBuffer)                                                                           \
  X(clReleaseKernel)                                                                               \
  X(clReleaseProgram)                                                                              \
  X(clReleaseMemObject)                                                                            \
  X(clReleaseCommandQueue)                                                                         \
  X(clReleaseContext)

#define VENDORS "/etc/OpenCL/vendors"

/* CUDA's toolkit and some programs install their own loaders. */
#define UPDATE_LOADER                                                                              \
  "sudo apt install ocl-icd-libopencl1, and make sure that no other libOpenCL.so.1 is found "      \
  "first "                                                                                         \
  "(LD_LIBRARY_PATH; ldconfig -p | grep libOpenCL)"

static const char loader_name[] = "libOpenCL.so.1";

/* The loader is opened at run time, because this program must also run without it. */
#define CL_MEMBER(name) __typeof__(&name) name;
struct cl {
  void *library;
  CL_FUNCTIONS(CL_MEMBER)
};

/* Queries of clGetICDLoaderInfoOCLICD, which both loaders support (ocl-icd and
 * Khronos). Headers before 2023 do not declare them. */
enum { CL_ICDL_OCL_VERSION = 1, CL_ICDL_VERSION = 2, CL_ICDL_NAME = 3 };
typedef cl_int CL_API_CALL loader_info(cl_uint query, size_t size, void *value, size_t *size_ret);

/* Prints the path, name and versions of the loader. */
static void say_loader(struct doctor *d, const struct cl *cl) {
  loader_info *const query =
      (loader_info *)cl->clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD");
  char name[64] = "", version[64] = "", opencl[64] = "";
  Dl_info where = {0};
  if (query) {
    query(CL_ICDL_NAME, sizeof(name), name, NULL);
    query(CL_ICDL_VERSION, sizeof(version), version, NULL);
    query(CL_ICDL_OCL_VERSION, sizeof(opencl), opencl, NULL);
  }
  dladdr((void *)cl->clGetExtensionFunctionAddress, &where);
  doctor_say(d, "loader: %s, %s %s, %s", where.dli_fname ? where.dli_fname : loader_name,
             *name ? name : "unknown loader", version,
             *opencl ? opencl : "unknown version of OpenCL");
  if (!dlsym(cl->library, "clCreateBufferWithProperties"))
    doctor_say(d, "it lacks OpenCL 3.0 functions; " UPDATE_LOADER);
}

static bool load_loader(struct doctor *d, struct cl *cl) {
  cl->library = dlopen(loader_name, RTLD_NOW | RTLD_LOCAL);
  if (!cl->library) {
    doctor_say(d, "%s: %s", loader_name, dlerror());
    doctor_say(d, "no ICD loader found: sudo apt install ocl-icd-libopencl1");
    return false;
  }
  bool good = true;
#define CL_LOAD(function)                                                                          \
  *(void **)&cl->function = dlsym(cl->library, #function);                                         \
  good = good && cl->function;
  CL_FUNCTIONS(CL_LOAD)
  if (cl->clGetExtensionFunctionAddress)
    say_loader(d, cl);
  if (!good)
    doctor_say(d, "%s lacks functions of OpenCL 2.0 or later; " UPDATE_LOADER, loader_name);
  return good;
}

/* Prints all platforms, because some programs use the first one. */
static bool find_platform(struct doctor *d, const struct cl *cl, cl_platform_id *platform) {
  enum { PLATFORMS = 16 };
  cl_platform_id platforms[PLATFORMS];
  cl_uint count = 0;
  if (cl->clGetPlatformIDs(PLATFORMS, platforms, &count) != CL_SUCCESS)
    count = 0;
  *platform = NULL;
  for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
    char name[128] = "";
    cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
    doctor_say(d, "platform %u: %s", i, name);
    if (strcmp(name, "tegracl") == 0)
      *platform = platforms[i];
  }
  if (!*platform) {
    doctor_say(d, "the loader has %u platforms, but not tegracl", count);
    advise_vendors(d, VENDORS);
  } else if (count > 1) {
    doctor_say(d,
               "there are platforms other than tegracl%s: to show a program only tegracl, run "
               "OCL_ICD_VENDORS=" VENDORS "/tegracl.icd PROGRAM (with Khronos's loader, "
               "OCL_ICD_FILENAMES=libtegracl.so.1 PROGRAM)",
               *platform == platforms[0]
                   ? ""
                   : ", and programs that use the first one do not get tegracl");
  }
  return *platform != NULL;
}

/* Returns whether the code is CL_SUCCESS, and prints the call otherwise. */
static bool check_call(struct doctor *d, const char *call, cl_int code) {
  if (code != CL_SUCCESS)
    doctor_say(d, "%s: OpenCL error %d", call, code);
  return code == CL_SUCCESS;
}

struct session {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem buffer;
};

static bool build_program(struct doctor *d, const struct cl *cl, struct session *s,
                          uint32_t stamp) {
  const char *text = source;
  cl_int code = CL_SUCCESS;
  char options[64], log[2048] = "";
  snprintf(options, sizeof(options), "-DSTAMP=%uu", stamp);
  s->program = cl->clCreateProgramWithSource(s->context, 1, &text, NULL, &code);
  if (!check_call(d, "clCreateProgramWithSource", code))
    return false;
  code = cl->clBuildProgram(s->program, 1, &s->device, options, NULL, NULL);
  cl->clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
  say_lines(d, log);
  if (!check_call(d, "clBuildProgram", code))
    return false;
  s->kernel = cl->clCreateKernel(s->program, "doctor", &code);
  return check_call(d, "clCreateKernel", code);
}

static bool run_kernel(struct doctor *d, const struct cl *cl, struct session *s) {
  enum { ITEMS = 4096, FACTOR = 7 };
  static uint32_t out[ITEMS];
  const size_t global = ITEMS;
  const cl_uint factor = FACTOR;
  const uint32_t stamp = new_stamp();
  cl_int code = CL_SUCCESS;
  s->context = cl->clCreateContext(NULL, 1, &s->device, NULL, NULL, &code);
  if (!check_call(d, "clCreateContext", code))
    return false;
  s->queue = cl->clCreateCommandQueueWithProperties(s->context, s->device, NULL, &code);
  if (!check_call(d, "clCreateCommandQueueWithProperties", code) || !build_program(d, cl, s, stamp))
    return false;
  s->buffer = cl->clCreateBuffer(s->context, CL_MEM_WRITE_ONLY, sizeof(out), NULL, &code);
  if (!check_call(d, "clCreateBuffer", code) ||
      !check_call(d, "clSetKernelArg",
                  cl->clSetKernelArg(s->kernel, 0, sizeof(s->buffer), &s->buffer)) ||
      !check_call(d, "clSetKernelArg", cl->clSetKernelArg(s->kernel, 1, sizeof(factor), &factor)) ||
      !check_call(
          d, "clEnqueueNDRangeKernel",
          cl->clEnqueueNDRangeKernel(s->queue, s->kernel, 1, NULL, &global, NULL, 0, NULL, NULL)) ||
      !check_call(d, "clEnqueueReadBuffer",
                  cl->clEnqueueReadBuffer(s->queue, s->buffer, CL_TRUE, 0, sizeof(out), out, 0,
                                          NULL, NULL)))
    return false;
  for (uint32_t i = 0; i < ITEMS; i++)
    if (out[i] != FACTOR * i + stamp) {
      doctor_say(d, "work-item %u returned %u instead of %u", i, out[i], FACTOR * i + stamp);
      return false;
    }
  doctor_say(d, "all %d results are correct", ITEMS);
  return true;
}

static void release_session(const struct cl *cl, struct session *s) {
  if (s->buffer)
    cl->clReleaseMemObject(s->buffer);
  if (s->kernel)
    cl->clReleaseKernel(s->kernel);
  if (s->program)
    cl->clReleaseProgram(s->program);
  if (s->queue)
    cl->clReleaseCommandQueue(s->queue);
  if (s->context)
    cl->clReleaseContext(s->context);
}

/* Does not close the library, because its driver has threads. */
bool step_opencl(struct doctor *d) {
  struct cl cl = {0};
  struct session s = {0};
  cl_platform_id platform = NULL;
  if (!load_loader(d, &cl) || !find_platform(d, &cl, &platform))
    return false;
  char name[128] = "", version[128] = "";
  if (!check_call(d, "clGetDeviceIDs",
                  cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &s.device, NULL)))
    return false;
  cl.clGetDeviceInfo(s.device, CL_DEVICE_NAME, sizeof(name), name, NULL);
  cl.clGetDeviceInfo(s.device, CL_DRIVER_VERSION, sizeof(version), version, NULL);
  doctor_say(d, "%s, driver %s", name, version);
  bool good = run_kernel(d, &cl, &s);
  release_session(&cl, &s);
  return good;
}
