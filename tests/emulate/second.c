/* A second client of the device in the process of an OpenCL program, as CUDA's driver would be. It
 * maps the user-mode page, opens and closes channels, and sleeps until the GPU is off: before,
 * between and after the OpenCL program's contexts.
 *
 * second ORDER: opencl-last, opencl-first, both
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

enum { WORDS = 1024, PAGE = 4096 };

/* ---- the stand-in ---- */

static struct {
  int ctrl;
  void *page;
} other = {-1, NULL};

/* Maps the page first, as CUDA may do. */
static void other_begins(void) {
  other.ctrl = open("/dev/nvgpu/igpu0/ctrl", O_RDWR | O_CLOEXEC);
  CHECK(other.ctrl >= 0);
  other.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other.ctrl, 0);
  CHECK(other.page != MAP_FAILED);
}

static void other_has_channels(void) {
  enum { CHANNELS = 4 };
  int fds[CHANNELS];
  for (int i = 0; i < CHANNELS; i++) {
    fds[i] = -1; /* in: the runlist of graphics; out: the fd */
    CHECK(ioctl(other.ctrl, 0xc004470b, &fds[i]) == 0);
  }
  for (int i = 0; i < CHANNELS; i++)
    close(fds[i]);
}

static void other_ends(void) {
  CHECK(munmap(other.page, PAGE) == 0);
  close(other.ctrl);
}

/* Sleeps longer than the GPU stays on (the test sets railgate:100). */
static void sleep_a_while(void) {
  nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
}

/* ---- the OpenCL program ---- */

static void opencl(void) {
  static const char *source = "kernel void k(global int *p) { p[get_global_id(0)] *= 3; }";
  struct opencl opencl;
  cl_int error, numbers[WORDS];
  for (int i = 0; i < WORDS; i++)
    numbers[i] = i;
  opencl_open(&opencl);
  cl_program program = clCreateProgramWithSource(opencl.context, 1, &source, NULL, &error);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  cl_mem buffer =
      clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &error);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  for (int round = 0; round < 2; round++) {
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, (size_t[]){WORDS}, NULL, 0, NULL,
                                    NULL),
             CL_SUCCESS);
    CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
    sleep_a_while(); /* the queue keeps the GPU on and the doorbell page mapped */
  }
  CHECK_CL(
      clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL),
      CL_SUCCESS);
  for (int i = 0; i < WORDS; i++)
    CHECK(numbers[i] == 9 * i);
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(opencl.queue);
  clReleaseContext(opencl.context);
}

int main(int argc, char **argv) {
  const char *order = argc > 1 ? argv[1] : "";
  if (!strcmp(order, "opencl-last")) {
    other_begins();
    other_has_channels();
    sleep_a_while();
    opencl();
  } else if (!strcmp(order, "opencl-first")) {
    opencl();
    sleep_a_while();
    other_begins();
    other_has_channels();
    sleep_a_while();
  } else if (!strcmp(order, "both")) {
    cl_platform_id platform;
    cl_device_id device;
    CHECK_CL(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    CHECK_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), CL_SUCCESS);
    sleep_a_while(); /* the device is open but has no channel */
    other_begins();
    opencl();
    other_has_channels();
    sleep_a_while();
    opencl();
  } else {
    fprintf(stderr, "second: which order?\n");
    return 2;
  }
  other_ends();
  return 0;
}
