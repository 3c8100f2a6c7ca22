/* Adversarial mode's L1 caches, as OpenCL C meets them: work-groups that communicate
 * without the fences which that needs read stale data under some seeds; with them
 * under none.
 *
 *   stale STALE.CL KERNEL LOCAL_SIZE [right]   right: there is no wrong way
 */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/road/road.h"

enum { SEEDS = 12, GROUPS = 24, WORDS = 4096, SOURCE_BYTES = 1 << 16, STALE = 99 };

/* The exit status of a child process. */
static int run(const char *source, const char *name, size_t local, const char *options) {
  struct road road;
  cl_int error;
  static cl_uint words[WORDS], result[GROUPS];
  road_open(&road);
  cl_program program = road_program(&road, source);
  CHECK_CL(clBuildProgram(program, 1, &road.device, options, NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem buffer[2] = {clCreateBuffer(road.context, CL_MEM_COPY_HOST_PTR, sizeof words, words, NULL),
                      clCreateBuffer(road.context, 0, sizeof result, NULL, NULL)};
  for (cl_uint k = 0; k < 2; k++)
    CHECK_CL(clSetKernelArg(kernel, k, sizeof buffer[k], &buffer[k]), CL_SUCCESS);
  const size_t global = GROUPS * local;
  CHECK_CL(clEnqueueNDRangeKernel(road.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(road.queue, buffer[1], CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
      CL_SUCCESS);
  for (int k = 0; k < GROUPS; k++)
    if (result[k] != 1)
      return STALE;
  return 0;
}

/* The number of seeds under which something stale was read. */
static int stale(const char *source, const char *name, size_t local, const char *options) {
  int count = 0;
  for (int seed = 1; seed <= SEEDS; seed++) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      char word[64];
      snprintf(word, sizeof word, "adversarial:%d", seed);
      setenv("TEGRACL_EMULATOR", word, 1);
      _exit(run(source, name, local, options));
    }
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == STALE));
    count += status != 0;
  }
  return count;
}

int main(int argc, char **argv) {
  static char source[SOURCE_BYTES];
  FILE *file = argc > 3 ? fopen(argv[1], "r") : NULL;
  CHECK(file && fread(source, 1, sizeof source - 1, file) > 0);
  fclose(file);
  const size_t local = strtoul(argv[3], NULL, 10);
  CHECK(stale(source, argv[2], local, "-cl-std=CL3.0") == 0);
  if (argc > 4)
    return 0;
  const int count = stale(source, argv[2], local, "-cl-std=CL3.0 -DWRONG");
  printf("stale under %d of %d seeds\n", count, SEEDS);
  CHECK(count > 0);
  return 0;
}
