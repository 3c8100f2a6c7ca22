/* The L1 caches of adversarial mode in OpenCL C: work-groups that communicate without the required
 * fences read stale data under some seeds. With the fences they never do.
 *
 *   stale STALE.CL KERNEL LOCAL_SIZE PROGRAMS ROUNDS [right]   right: KERNEL has all fences
 */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

enum {
  SEEDS = 12,
  SOURCE_BYTES = 1 << 16,
  STALE = 99,
  /* These must equal the values in stale.cl. */
  GROUPS = 24,
  WORDS = 4096,
  ROUND_AT = 2048,
  VALUE_AT = WORDS - 1,
};

struct client {
  const char *source, *kernel;
  size_t local;
  cl_uint programs, rounds;
};

/* Launches the kernel. Returns false if a result is not 1. */
static bool launch(const struct opencl *opencl, cl_kernel kernel, const cl_mem buffer[2],
                   size_t local, cl_uint value, cl_uint round) {
  const cl_uint words[WORDS] = {[ROUND_AT] = round, [VALUE_AT] = value};
  const size_t global = GROUPS * local;
  cl_uint result[GROUPS];
  CHECK_CL(clEnqueueWriteBuffer(opencl->queue, buffer[0], CL_FALSE, 0, sizeof words, words, 0, NULL,
                                NULL),
           CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof round, &round), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, buffer[1], CL_TRUE, 0, sizeof result, result, 0, NULL,
                               NULL),
           CL_SUCCESS);
  for (int k = 0; k < GROUPS; k++)
    if (result[k] != 1)
      return false;
  return true;
}

/* Builds the program and runs its kernel. */
static bool run(const struct opencl *opencl, const struct client *client, const char *options,
                cl_uint value) {
  cl_int error;
  cl_program program = opencl_program(opencl, client->source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, client->kernel, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem buffer[2] = {clCreateBuffer(opencl->context, 0, WORDS * sizeof(cl_uint), NULL, NULL),
                      clCreateBuffer(opencl->context, 0, GROUPS * sizeof(cl_uint), NULL, NULL)};
  for (cl_uint k = 0; k < 2; k++)
    CHECK_CL(clSetKernelArg(kernel, k, sizeof buffer[k], &buffer[k]), CL_SUCCESS);
  bool good = true;
  for (cl_uint round = 0; good && round < client->rounds; round++)
    good = launch(opencl, kernel, buffer, client->local, value, round);
  for (cl_uint k = 0; k < 2; k++)
    CHECK_CL(clReleaseMemObject(buffer[k]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return good;
}

/* Returns the exit status of a child process. Its programs use the same memory one after
 * another. */
static int child(const struct client *client, const char *more) {
  struct opencl opencl;
  opencl_open(&opencl);
  for (cl_uint value = 0; value < client->programs; value++) {
    char options[64];
    snprintf(options, sizeof options, "-cl-std=CL3.0 -DVALUE=%u %s", value, more);
    if (!run(&opencl, client, options, value))
      return STALE;
  }
  opencl_close(&opencl);
  return 0;
}

/* Returns the number of seeds under which stale data was read. */
static int stale(const struct client *client, const char *options) {
  int count = 0;
  for (int seed = 1; seed <= SEEDS; seed++) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      char word[64];
      snprintf(word, sizeof word, "adversarial:%d", seed);
      setenv("TEGRACL_EMULATOR", word, 1);
      _exit(child(client, options));
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
  FILE *file = argc > 5 ? fopen(argv[1], "r") : NULL;
  CHECK(file && fread(source, 1, sizeof source - 1, file) > 0);
  fclose(file);
  const struct client client = {.source = source,
                                .kernel = argv[2],
                                .local = strtoul(argv[3], NULL, 10),
                                .programs = (cl_uint)strtoul(argv[4], NULL, 10),
                                .rounds = (cl_uint)strtoul(argv[5], NULL, 10)};
  CHECK(stale(&client, "") == 0);
  if (argc > 6)
    return 0;
  const int count = stale(&client, "-DWRONG");
  printf("stale under %d of %d seeds\n", count, SEEDS);
  CHECK(count > 0);
  return 0;
}
